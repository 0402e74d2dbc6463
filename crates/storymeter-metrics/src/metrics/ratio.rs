//! Metrics that are one number over another, such as new n-grams over all n-grams.

use storymeter_core::{Choice, Metric, MetricError, Prepared, Request, Signature};

use crate::per_story::{Measure, PerStory};

/// The numerator and the denominator of a story, for n-grams of an order.
pub(super) type Fraction = fn(&Prepared<'_>, usize) -> (f64, f64);

/// A metric of one column that is a fraction. Nothing over nothing is 0.
pub(super) struct Ratio {
    order: usize,
    fraction: Fraction,
}

/// The metric of a request. `fraction` is told the n of an id such as `novelty-2`, and 1 where
/// there is none.
pub(super) fn ratio(
    request: &Request<'_>,
    fraction: Fraction,
) -> Result<Box<dyn Metric>, MetricError> {
    let order = request.id.rsplit_once('-').and_then(|(_, n)| n.parse().ok()).unwrap_or(1);
    let newline = if request.has("hanna") { "yes" } else { "no" };
    let signature =
        Signature::new(request.id).with("tok", "tok", "spacy").with("newline", "nl", newline);
    PerStory::boxed(request.describe().width(2).signature(signature), Ratio { order, fraction })
}

impl Measure for Ratio {
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
        (row[0], row[1]) = (self.fraction)(story, self.order);
    }

    fn scores(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = if row[1] == 0.0 { 0.0 } else { row[0] / row[1] };
    }
}

/// The options of all metrics on spaCy's tokens.
pub(super) const SPACY_CHOICES: &[Choice] = &[
    Choice::preset("spacy", "the texts as they are (the default)"),
    Choice::preset("hanna", "each text with a trailing newline, as in HANNA's published values"),
];
