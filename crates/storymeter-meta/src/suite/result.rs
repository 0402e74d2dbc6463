//! The result of a suite, as types.

use serde::{Deserialize, Serialize};
use storymeter_core::{Aspect, AspectTest, Column, Key, Signature};

use crate::outcome::{Absence, Outcome, written};
use crate::study::Warning;

/// The mark by which `result.json` of a suite is told from other files of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuiteKind {
    /// The result of a suite.
    #[default]
    Suite,
}

/// What metrics see and what disturbs them: the whole result of `suite run`.
///
/// In JSON, `kind` comes first and is always `"suite"`. A number that does not exist is written as
/// `{"absent": reason}`; see [`Outcome`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteResult {
    /// Always `"suite"`.
    pub kind: SuiteKind,
    /// The version of storymeter that made the result.
    pub version: String,
    /// Every parameter that can change a number.
    pub signature: Signature,
    /// How the numbers were made.
    pub method: SuiteMethod,
    /// The aspects that were tested, in the order of [`Aspect::ALL`].
    pub aspects: Vec<AspectSummary>,
    /// The aspects that were left out altogether, in the order of [`Aspect::ALL`].
    pub missing: Vec<MissingAspect>,
    /// The metrics.
    pub metrics: Vec<Column>,
    /// One entry per metric and aspect: all aspects of the first metric, then those of the second.
    pub cells: Vec<SuiteCell>,
    /// What a metric would get that gives all texts the same score, one entry per aspect. It is the
    /// baseline of a metric that sees nothing.
    pub constant: Vec<SuiteCell>,
    /// Some pairs with their scores, for readers.
    #[serde(default)]
    pub examples: Vec<Example>,
    /// What a reader must know before trusting a number.
    pub warnings: Vec<Warning>,
}

/// How the numbers of a suite were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteMethod {
    /// Whether the numbers are those of OpenMEVA's own reading, which does not use the pairs.
    pub compat: bool,
    /// The number of resamples behind each interval.
    pub resamples: usize,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The seed of all draws.
    pub seed: u64,
}

/// Whether each twin has its original beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pairing {
    /// Original `i` belongs to twin `i`.
    #[default]
    Paired,
    /// Originals and twins are two samples of different stories, as in the files of OpenMEVA's
    /// discrimination test.
    Unpaired,
}

/// The texts of one aspect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AspectSummary {
    /// The aspect.
    pub aspect: Aspect,
    /// What the aspect asks of a metric.
    pub test: AspectTest,
    /// Whether originals and twins belong together.
    pub pairing: Pairing,
    /// The number of pairs; 0 where the texts are not in pairs.
    pub pairs: usize,
    /// The number of originals.
    pub originals: usize,
    /// The number of twins.
    pub twins: usize,
    /// The number of stories that were offered to the aspect.
    pub stories: usize,
    /// Why stories are without a pair, and how many of them.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Which rule made how many pairs.
    #[serde(default)]
    pub rules: Vec<RuleCount>,
}

/// Stories without a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Why they have none, in words.
    pub reason: String,
    /// How many stories.
    pub stories: usize,
}

/// The pairs that one rule made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCount {
    /// The name of the rule.
    pub rule: String,
    /// How many pairs.
    pub pairs: usize,
}

/// An aspect without any pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingAspect {
    /// The aspect.
    pub aspect: Aspect,
    /// Why it was left out, in words, such as "needs a file of paraphrases".
    pub reason: String,
}

/// One metric on one aspect.
///
/// `auc`, `shift`, `right_order` and `r` are turned by the direction of the metric: whatever the
/// metric calls better, they are large where it prefers the original. The two means are those of
/// the scores as the metric gives them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteCell {
    /// The metric.
    pub metric: Key,
    /// The aspect.
    pub aspect: Aspect,
    /// What the aspect asks of the metric.
    pub test: AspectTest,
    /// The number of pairs behind the numbers, which are those with both scores; 0 where the
    /// numbers do not use pairs.
    pub pairs: usize,
    /// The number of originals behind the numbers.
    pub originals: usize,
    /// The number of twins behind the numbers.
    pub twins: usize,
    /// The number of pairs that were left out because a score is absent. Where the numbers do not
    /// use pairs, the number of texts.
    pub absent: usize,
    /// The probability that an original scores above a twin, any original and any twin, where a tie
    /// counts half. 0.5 is chance.
    #[serde(with = "written")]
    pub auc: Outcome<f64>,
    /// The mean of original less twin, divided by [`Self::sd`]. 0 where nothing differs at all.
    #[serde(with = "written")]
    pub shift: Outcome<f64>,
    /// The lower end of the percentile bootstrap interval of the shift.
    #[serde(with = "written")]
    pub shift_low: Outcome<f64>,
    /// The upper end of the percentile bootstrap interval of the shift.
    #[serde(with = "written")]
    pub shift_high: Outcome<f64>,
    /// The share of pairs in which the original scores higher.
    #[serde(with = "written")]
    pub right_order: Outcome<f64>,
    /// The share of pairs with equal scores.
    #[serde(with = "written")]
    pub ties: Outcome<f64>,
    /// Pearson's correlation of the score with the label, which is 1 for originals and 0 for twins.
    #[serde(with = "written")]
    pub r: Outcome<f64>,
    /// The two-sided p-value of `r`, as scipy computes it. It takes all texts for independent of
    /// each other, which pairs are not.
    #[serde(with = "written")]
    pub p_r: Outcome<f64>,
    /// The shift divided by the absolute shift that typos cause in the same metric.
    #[serde(with = "written")]
    pub times_typo: Outcome<f64>,
    /// The mean score of the originals.
    #[serde(with = "written")]
    pub mean_original: Outcome<f64>,
    /// The mean score of the twins.
    #[serde(with = "written")]
    pub mean_twin: Outcome<f64>,
    /// The standard deviation by which the difference is divided: the root of the mean of the two
    /// variances, that of the originals and that of the twins. Both are divided by n and not by
    /// n - 1, so that `r = shift / sqrt(shift² + 4)` holds exactly for equally many of both.
    #[serde(with = "written")]
    pub sd: Outcome<f64>,
}

/// A pair that shows what an aspect is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The aspect.
    pub aspect: Aspect,
    /// The rule that made the twin.
    pub rule: String,
    /// The id of the story.
    pub id: String,
    /// The text of the original. The pieces joined are the whole text.
    pub original: Vec<Piece>,
    /// The text of the twin.
    pub twin: Vec<Piece>,
    /// What the metrics say.
    pub scores: Vec<ExampleScore>,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The characters.
    pub text: String,
    /// Whether they differ between original and twin.
    pub changed: bool,
}

/// The scores of one pair by one metric. An absent or infinite score is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExampleScore {
    /// The metric.
    pub metric: Key,
    /// The score of the original.
    pub original: Option<f64>,
    /// The score of the twin.
    pub twin: Option<f64>,
}

impl SuiteResult {
    /// The entry of a metric, named by its key, and an aspect.
    pub fn cell(&self, metric: &str, aspect: Aspect) -> Option<&SuiteCell> {
        self.of_metric(metric).find(|cell| cell.aspect == aspect)
    }

    /// The entries of one metric, in the order of the aspects.
    pub fn of_metric(&self, metric: &str) -> impl Iterator<Item = &SuiteCell> {
        self.cells.iter().filter(move |cell| cell.metric.as_str() == metric)
    }

    /// What is known of an aspect, if it was tested.
    pub fn summary(&self, aspect: Aspect) -> Option<&AspectSummary> {
        self.aspects.iter().find(|summary| summary.aspect == aspect)
    }

    /// All aspects that the result mentions, in the order of [`Aspect::ALL`], each with the reason
    /// why it has no numbers, if it has none.
    pub fn outline(&self) -> Vec<(Aspect, Option<String>)> {
        let reason = |aspect: Aspect| match self.summary(aspect) {
            Some(summary) => Some(summary.why_empty()),
            None => {
                let missing = self.missing.iter().find(|missing| missing.aspect == aspect)?;
                Some(Some(missing.reason.clone()))
            }
        };
        Aspect::ALL.into_iter().filter_map(|aspect| Some((aspect, reason(aspect)?))).collect()
    }
}

impl AspectSummary {
    /// Why there is nothing to compare, where this is so.
    fn why_empty(&self) -> Option<String> {
        if self.originals > 0 && self.twins > 0 {
            return None;
        }
        let reasons: Vec<String> = self
            .left_out
            .iter()
            .map(|left| match left.stories {
                1 => format!("{} (1 story)", left.reason),
                stories => format!("{} ({stories} stories)", left.reason),
            })
            .collect();
        Some(match reasons.is_empty() {
            true => "no pairs".to_owned(),
            false => format!("no pairs: {}", reasons.join("; ")),
        })
    }
}

impl SuiteCell {
    /// The names of the numbers.
    pub(crate) const NUMBERS: [&'static str; 12] = [
        "auc",
        "shift",
        "shift_low",
        "shift_high",
        "right_order",
        "ties",
        "r",
        "p_r",
        "times_typo",
        "mean_original",
        "mean_twin",
        "sd",
    ];

    /// The numbers in the order of their names.
    pub(crate) fn numbers(&self) -> [&Outcome<f64>; 12] {
        [
            &self.auc,
            &self.shift,
            &self.shift_low,
            &self.shift_high,
            &self.right_order,
            &self.ties,
            &self.r,
            &self.p_r,
            &self.times_typo,
            &self.mean_original,
            &self.mean_twin,
            &self.sd,
        ]
    }

    /// Whether the metric gives all texts of the aspect the same score.
    pub fn is_constant(&self) -> bool {
        self.r == Err(Absence::Constant)
    }

    /// The number of texts behind the numbers, as tables show it: pairs, or `originals+twins` where
    /// the numbers do not use pairs.
    pub fn size(&self) -> String {
        match self.pairs {
            0 if self.originals + self.twins > 0 => format!("{}+{}", self.originals, self.twins),
            pairs => pairs.to_string(),
        }
    }
}
