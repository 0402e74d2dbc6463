//! What the card of a criteria model says beside what every card says.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::share::UnionShare;

/// The largest number of criteria that a model may have.
pub const MOST_CRITERIA: usize = 1000;
/// The longest name of a criterion, in bytes. Names become names of columns.
const LONGEST_NAME: usize = 40;

/// The criteria of a model, and the ratings it learned them from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CriteriaCard {
    /// One criterion per head, in the order of the rows of
    /// [`Heads::criteria`](crate::Heads::criteria).
    pub heads: Vec<Criterion>,
    /// The sets of rated stories that the model was trained on.
    #[serde(default)]
    pub training: Vec<RatedSet>,
    /// The UNION model whose score counts in the outputs, if any does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub union: Option<UnionShare>,
    /// The length of the sentence vectors that the model makes itself, to compare stories with
    /// prompts ([`Heads::sentence`](crate::Heads::sentence)). 0 if it makes none.
    #[serde(default, skip_serializing_if = "is_0")]
    pub sentence: usize,
    /// The stories on which the calibrations were fitted. `None` before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated_on: Option<CalibratedOn>,
}

/// A criterion that a model predicts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Criterion {
    /// Its name, which is also the name of its column: small letters, digits and hyphens.
    pub name: String,
    /// How much UNION's score counts: the output is that of the head plus this times the score in
    /// standard units ([`UnionShare`]).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub union: f64,
    /// How the output of its head becomes a rating. Without it, the metric gives the output itself,
    /// in standard units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

/// How the output of a head becomes a rating on the scale of the readers.
///
/// The prediction is `intercept + head * output + cosine * similarity`, kept within the scale,
/// where `similarity` is that of prompt and story ([`super::SentenceScorer::similarities`]).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Calibration {
    /// The number that is added.
    pub intercept: f64,
    /// The slope of the head's output.
    pub head: f64,
    /// The slope of the cosine of prompt and story. If it is 0, the prompt is not needed.
    #[serde(default)]
    pub cosine: f64,
    /// The lowest rating of the scale.
    pub low: f64,
    /// The highest rating of the scale.
    pub high: f64,
    /// How far ratings were from such predictions, for ranges of the prediction in rising order.
    /// There is no interval if it is empty.
    #[serde(default)]
    pub residuals: Vec<Residual>,
}

/// How far the ratings of held-out stories were from the predictions of one range.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Residual {
    /// The largest prediction of the range. The last range has no upper end, whatever it says here.
    pub up_to: f64,
    /// The 10% quantile of rating minus prediction.
    pub low: f64,
    /// The 90% quantile of rating minus prediction.
    pub high: f64,
}

/// A set of rated stories that a model was trained on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RatedSet {
    /// Its name.
    pub name: String,
    /// The number of stories.
    pub stories: usize,
    /// The number of items: prompts, or beginnings of stories.
    pub items: usize,
    /// The criteria of the model that the set has ratings of.
    pub criteria: Vec<String>,
    /// The mean number of readers who rated a story.
    pub raters: f64,
}

/// The held-out stories on which the calibrations of a model were fitted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CalibratedOn {
    /// The set of rated stories. Predictions are on its scale.
    pub set: String,
    /// The number of stories.
    pub stories: usize,
    /// The number of items: prompts, or beginnings of stories.
    pub items: usize,
}

/// The longest sentence vectors that a model may make.
const LONGEST_VECTOR: usize = 1 << 14;

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

fn is_0(count: &usize) -> bool {
    *count == 0
}

impl CriteriaCard {
    /// Whether UNION's score counts in an output.
    pub fn needs_union(&self) -> bool {
        self.heads.iter().any(|criterion| criterion.union != 0.0)
    }

    /// Whether a criterion needs the cosine of prompt and story.
    pub fn needs_prompt(&self) -> bool {
        self.heads.iter().any(Criterion::needs_prompt)
    }

    /// The names of the criteria, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.heads.iter().map(|criterion| criterion.name.as_str())
    }

    /// Whether this card differs from another one by calibrations alone.
    pub(crate) fn calibrates(&self, other: &Self) -> bool {
        self.names().eq(other.names()) && self.training == other.training
    }

    /// What is wrong with the card, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.heads.is_empty() || self.heads.len() > MOST_CRITERIA {
            return Some(format!(
                "criteria.heads has {} criteria; a model has 1 to {MOST_CRITERIA}",
                self.heads.len()
            ));
        }
        if self.sentence > LONGEST_VECTOR {
            return Some(format!(
                "criteria.sentence is {}; vectors have at most {LONGEST_VECTOR} numbers",
                self.sentence
            ));
        }
        if self.needs_union() && self.union.is_none() {
            return Some("criteria.union is missing, but UNION's score counts".to_owned());
        }
        if let Some(problem) = self.union.as_ref().and_then(UnionShare::problem) {
            return Some(problem.to_owned());
        }
        for (place, criterion) in self.heads.iter().enumerate() {
            let known = &self.heads[..place];
            let problem = match criterion.problem() {
                Some(problem) => Some(problem.to_owned()),
                None if known.iter().any(|other| other.name == criterion.name) => {
                    Some(format!("the name {} is there twice", criterion.name))
                }
                None => None,
            };
            if let Some(problem) = problem {
                return Some(format!("criteria.heads, number {}: {problem}", place + 1));
            }
        }
        None
    }

    /// Adds everything that changes predictions to a hash.
    pub(crate) fn hash(&self, hash: &mut Sha256) {
        if let Some(union) = self.union.as_ref().filter(|_| self.needs_union()) {
            hash.update(union.weights.as_bytes());
            [union.mean, union.deviation].iter().for_each(|x| hash.update(x.to_le_bytes()));
        }
        for Criterion { name, union, calibration } in &self.heads {
            hash.update(name.as_bytes());
            if *union != 0.0 {
                hash.update(union.to_le_bytes());
            }
            let Some(own) = calibration else { continue };
            let numbers = [own.intercept, own.head, own.cosine, own.low, own.high];
            let residuals = own.residuals.iter().flat_map(|r| [r.up_to, r.low, r.high]);
            for number in numbers.into_iter().chain(residuals) {
                hash.update(number.to_le_bytes());
            }
        }
    }
}

impl Criterion {
    /// Whether its prediction needs the cosine of prompt and story.
    pub fn needs_prompt(&self) -> bool {
        self.calibration.as_ref().is_some_and(|calibration| calibration.cosine != 0.0)
    }

    fn problem(&self) -> Option<&'static str> {
        let usual = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        if self.name.is_empty() || self.name.len() > LONGEST_NAME || !self.name.bytes().all(usual) {
            return Some(
                "name must have 1 to 40 characters, which are small letters, digits or hyphens",
            );
        }
        if !self.union.is_finite() {
            return Some("union must be a finite number");
        }
        self.calibration.as_ref().and_then(Calibration::problem)
    }
}

impl Calibration {
    /// The predicted rating for an output of the head and the cosine of prompt and story.
    pub fn prediction(&self, output: f64, cosine: f64) -> f64 {
        self.unbounded(output, cosine).clamp(self.low, self.high)
    }

    /// The prediction before it is kept within the scale.
    pub(crate) fn unbounded(&self, output: f64, cosine: f64) -> f64 {
        // A cosine that does not count may be unknown, which is NaN.
        let similarity = if self.cosine == 0.0 { 0.0 } else { self.cosine * cosine };
        self.intercept + self.head * output + similarity
    }

    /// The range of ratings that holds 80% of stories with this prediction, kept within the scale.
    /// `None` if nobody has measured it.
    pub fn interval(&self, prediction: f64) -> Option<[f64; 2]> {
        let bin = self.residuals.partition_point(|residual| residual.up_to < prediction);
        let residual = self.residuals.get(bin).or(self.residuals.last())?;
        Some([residual.low, residual.high].map(|by| (prediction + by).clamp(self.low, self.high)))
    }

    fn problem(&self) -> Option<&'static str> {
        let numbers = [self.intercept, self.head, self.cosine, self.low, self.high];
        let residuals = self.residuals.iter().flat_map(|r| [r.up_to, r.low, r.high]);
        if !numbers.into_iter().chain(residuals).all(f64::is_finite) {
            return Some("calibration must hold finite numbers");
        }
        if self.low >= self.high {
            return Some("the scale of its calibration ends before it begins");
        }
        let rising = self.residuals.windows(2).all(|pair| pair[0].up_to <= pair[1].up_to);
        if !rising || self.residuals.iter().any(|residual| residual.low > residual.high) {
            return Some("the residuals of its calibration are not in order");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration() -> Calibration {
        let residual = |up_to, low, high| Residual { up_to, low, high };
        Calibration {
            intercept: 3.0,
            head: 0.5,
            cosine: 0.0,
            low: 1.0,
            high: 5.0,
            residuals: vec![residual(2.5, -0.5, 1.0), residual(3.5, -1.0, 0.75)],
        }
    }

    #[test]
    fn a_prediction_stays_on_the_scale() {
        let calibration = calibration();
        assert_eq!(calibration.prediction(1.0, f64::NAN), 3.5);
        assert_eq!(calibration.prediction(-9.0, 0.0), 1.0);
        assert_eq!(calibration.prediction(9.0, 0.0), 5.0);
        let with_prompt = Calibration { cosine: 2.0, ..calibration };
        assert_eq!(with_prompt.prediction(1.0, 0.5), 4.5);
    }

    #[test]
    fn an_interval_is_that_of_the_range_of_the_prediction() {
        let calibration = calibration();
        assert_eq!(calibration.interval(2.5), Some([2.0, 3.5]));
        assert_eq!(calibration.interval(2.6), Some([1.6, 3.35]));
        assert_eq!(calibration.interval(4.5), Some([3.5, 5.0]), "the last range is open");
        assert_eq!(calibration.interval(1.0), Some([1.0, 2.0]), "no rating is below the scale");
        assert_eq!(Calibration { residuals: Vec::new(), ..calibration }.interval(2.0), None);
    }

    #[test]
    fn what_is_wrong_with_a_card_is_said() {
        let criterion = |name: &str| Criterion { name: name.into(), ..Criterion::default() };
        let card = |heads: Vec<Criterion>| CriteriaCard { heads, ..CriteriaCard::default() };
        let problem = |heads| card(heads).problem().unwrap();
        assert!(problem(vec![]).contains("has 0 criteria"));
        assert!(problem(vec![criterion("Coherence")]).contains("small letters"));
        assert!(problem(vec![criterion("a/b")]).starts_with("criteria.heads, number 1"));
        let twice = problem(vec![criterion("overall"), criterion("overall")]);
        assert_eq!(twice, "criteria.heads, number 2: the name overall is there twice");
        let wrong = |calibration| {
            problem(vec![Criterion { calibration: Some(calibration), ..criterion("overall") }])
        };
        assert!(wrong(Calibration { head: f64::NAN, ..calibration() }).contains("finite"));
        assert!(wrong(Calibration { high: 1.0, ..calibration() }).contains("scale"));
        let mut residuals = calibration().residuals;
        residuals.reverse();
        assert!(wrong(Calibration { residuals, ..calibration() }).contains("in order"));
        assert_eq!(
            card(vec![Criterion { calibration: Some(calibration()), ..criterion("overall") }])
                .problem(),
            None
        );
    }
}
