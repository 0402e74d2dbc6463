//! Metrics on spaCy's tokens that are one number over another, such as new n-grams over all
//! n-grams.

use storymeter_core::{Choice, Metric, MetricError, Prepared, Request, Signature};

use crate::per_story::{Measure, PerStory};
use crate::tokenize::{Spacy, Tokenizer, WithNewline};

/// What a metric puts over what.
pub(super) trait Fraction {
    /// The numerator and the denominator of a story, for n-grams of this order.
    fn of_story<T: Tokenizer>(story: &Prepared<'_>, order: usize) -> (f64, f64);
}

/// The options of metrics on spaCy's tokens.
pub(super) const SPACY_CHOICES: &[Choice] = &[
    Choice::preset("spacy", "the texts as they are (the default)"),
    Choice::preset("hanna", "each text with a newline at its end, as in HANNA's published values"),
];

/// A metric of one column that is a fraction. Nothing over nothing is 0.
struct Ratio {
    fraction: fn(&Prepared<'_>, usize) -> (f64, f64),
    order: usize,
}

/// Builds the metric of a request. The order is the n of an id such as `novelty-2`, and 1 for an id
/// without a number.
pub(super) fn build<F: Fraction>(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let order = request.id.rsplit_once('-').and_then(|(_, n)| n.parse().ok()).unwrap_or(1);
    let hanna = request.has("hanna");
    let signature = Signature::new(request.id).with("tok", "tok", "spacy").with(
        "newline",
        "nl",
        if hanna { "yes" } else { "no" },
    );
    let measure = Ratio {
        fraction: if hanna { F::of_story::<WithNewline<Spacy>> } else { F::of_story::<Spacy> },
        order,
    };
    PerStory::boxed(request.describe().width(2).signature(signature), measure)
}

impl Measure for Ratio {
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
        (row[0], row[1]) = (self.fraction)(story, self.order);
    }

    fn scores(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = if row[1] == 0.0 { 0.0 } else { row[0] / row[1] };
    }
}
