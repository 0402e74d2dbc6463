//! The two samples of scores that one entry of the result compares.

use storymeter_core::{Aspect, AspectTest, Value};

use super::{AspectScores, MetricScores, Pairing};

/// The scores of originals and twins that are present.
pub struct Samples {
    pub originals: Vec<f64>,
    pub twins: Vec<f64>,
    /// Whether numbers may use that original `i` belongs to twin `i`.
    pub paired: bool,
    /// Pairs that were left out, or texts where `paired` is false.
    pub absent: usize,
}

impl Samples {
    /// The samples of one aspect and one metric. `all` are the scores of all originals of the
    /// suite, which OpenMEVA compares the repetition aspects with.
    pub fn new(own: &AspectScores, scores: &MetricScores, all: &[Value], compat: bool) -> Self {
        let repetition =
            matches!(own.aspect, Aspect::LexicalRepetition | Aspect::SemanticRepetition);
        match (own.pairing, compat, own.aspect.test()) {
            (Pairing::Unpaired, _, _) => Self::apart(&scores.originals, &scores.twins),
            (Pairing::Paired, false, _) => Self::pairs(scores),
            (Pairing::Paired, true, AspectTest::Invariance) => Self::pairs(scores).without_pairs(),
            (Pairing::Paired, true, AspectTest::Discrimination) => {
                let originals = if repetition { all } else { &scores.originals };
                Self::apart(originals, &scores.twins)
            }
        }
    }

    /// The pairs that have both scores.
    fn pairs(scores: &MetricScores) -> Self {
        let (originals, twins): (Vec<f64>, Vec<f64>) =
            std::iter::zip(&scores.originals, &scores.twins)
                .filter_map(|(original, twin)| Some((present(original)?, present(twin)?)))
                .unzip();
        let absent = scores.twins.len() - twins.len();
        Self { originals, twins, paired: true, absent }
    }

    /// All texts that have a score.
    fn apart(originals: &[Value], twins: &[Value]) -> Self {
        let kept = |values: &[Value]| values.iter().filter_map(present).collect::<Vec<f64>>();
        let all = originals.len() + twins.len();
        let (originals, twins) = (kept(originals), kept(twins));
        let absent = all - originals.len() - twins.len();
        Self { originals, twins, paired: false, absent }
    }

    /// The same texts, which are no longer taken as pairs.
    fn without_pairs(self) -> Self {
        Self { paired: false, absent: 2 * self.absent, ..self }
    }

    /// The same scores in the direction in which more is better.
    #[must_use]
    pub fn turned(mut self, sign: f64) -> Self {
        self.originals.iter_mut().chain(&mut self.twins).for_each(|value| *value *= sign);
        self
    }
}

/// A score that is there. NaN, which no metric may give, counts as absent.
fn present(value: &Value) -> Option<f64> {
    value.as_ref().ok().copied().filter(|value| !value.is_nan())
}
