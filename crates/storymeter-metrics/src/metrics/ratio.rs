//! Metrics that are one number over another, such as new n-grams over all n-grams.

use storymeter_core::{Direction, Metric, Needs, Prepared, Signature};

use crate::registry::{Entry, Request};

/// A metric of one column: `measure` gives numerator and denominator of a story. Nothing over nothing is 0.
pub(super) struct Ratio {
    columns: [String; 1],
    direction: Direction,
    needs: Needs,
    signature: Signature,
    order: usize,
    measure: fn(&Prepared<'_>, usize) -> (f64, f64),
}

impl Ratio {
    /// The metric of an entry; `measure` is told the n of an id such as `novelty-2`, 1 where there is none.
    pub(super) fn new(
        request: &Request<'_>,
        entry: &Entry,
        measure: fn(&Prepared<'_>, usize) -> (f64, f64),
    ) -> Self {
        let order = request.id.rsplit_once('-').and_then(|(_, n)| n.parse().ok()).unwrap_or(1);
        let newline = if request.preset == "hanna" { "yes" } else { "no" };
        Self {
            columns: [request.key.to_owned()],
            direction: entry.direction,
            needs: entry.needs,
            signature: Signature::new(request.id)
                .with("tok", "tok", "spacy")
                .with("newline", "nl", newline),
            order,
            measure,
        }
    }
}

impl Metric for Ratio {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn signature(&self) -> Signature {
        self.signature.clone()
    }

    fn width(&self) -> usize {
        2
    }

    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]) {
        (row[0], row[1]) = (self.measure)(story, self.order);
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = if row[1] == 0.0 { 0.0 } else { row[0] / row[1] };
    }
}

/// The presets of all metrics on spaCy's tokens.
pub(super) const SPACY_PRESETS: &[(&str, &str)] = &[
    ("spacy", "the texts as they are"),
    ("hanna", "each text with a trailing newline, as HANNA's"),
];
