//! What the scores of a model are compared with: the scores of many stories by people and by
//! machines, and how well the diagnosis agrees with readers.
//!
//! A score of 0.6 says little to someone who has not seen other scores. That it is higher than
//! those of 62% of human stories says more. So a released model comes with histograms of the scores
//! of real stories. `tools/yardstick.py` makes them.

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// The lowest lower end of the 95% interval of an area under the ROC curve with which a diagnosis
/// is trusted. A coin has an area of 0.5. With 0.6, a story that readers found faulty gets the
/// higher number in at least three of five pairs with another story.
pub const TRUSTED_AREA: f64 = 0.6;

/// What the scores of a model are compared with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceScores {
    /// The fingerprint of the model whose scores these are. Those of other weights, or of
    /// another calibration, are not used.
    pub weights: String,
    /// The scores of stories, by who wrote them and how long they are. Of one writer, shorter
    /// stories come first.
    #[serde(default)]
    pub scores: Vec<Histogram>,
    /// How well the diagnosis agrees with readers: each output with the error that it is about.
    #[serde(default)]
    pub diagnosis: Vec<DiagnosisArea>,
}

/// Who wrote a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Writer {
    /// A person.
    Human,
    /// A program.
    Machine,
}

/// The scores of many stories of one writer and of similar length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Who wrote the stories.
    pub writer: Writer,
    /// The largest number of words of a story; `None` if there is no limit. Words are separated by
    /// white space.
    pub longest: Option<usize>,
    /// Where the stories are from.
    pub source: String,
    /// How many scores lie in each of as many equal parts of 0 to 1. A score between two parts
    /// belongs to the higher one.
    pub counts: Vec<u64>,
}

/// The area under the ROC curve of one diagnosis against the error that it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiagnosisArea {
    /// The diagnosis: `repetition`, `incoherence`, `wrong order` or `contradiction`.
    pub output: String,
    /// The error that readers named.
    pub error: String,
    /// The number of rated stories.
    pub stories: usize,
    /// The number of stories with that error.
    pub positives: usize,
    /// The area with its 95% interval.
    pub area: Estimate,
}

impl DiagnosisArea {
    /// Whether readers confirm the diagnosis; see [`TRUSTED_AREA`].
    pub fn is_trusted(&self) -> bool {
        self.area.low > TRUSTED_AREA
    }
}

impl Histogram {
    /// The number of stories.
    pub fn stories(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The share of the stories that have a lower score, from 0 to 1. Inside one part of the
    /// histogram the scores are taken to be spread evenly.
    pub fn share_below(&self, score: f64) -> f64 {
        let position = score.clamp(0.0, 1.0) * self.counts.len() as f64;
        let whole = (position as usize).min(self.counts.len());
        let below: u64 = self.counts[..whole].iter().sum();
        let inside = self.counts.get(whole).map_or(0.0, |count| *count as f64);
        let below = below as f64 + inside * (position - whole as f64);
        below / self.stories().max(1) as f64
    }
}

/// Where a score stands among the stories of about the same length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The share of human stories with a lower score, from 0 to 1.
    pub above_human: f64,
    /// The share of machine stories with a lower score, from 0 to 1.
    pub above_machine: f64,
    /// How many human stories the score is compared with.
    pub human_stories: u64,
    /// How many machine stories the score is compared with.
    pub machine_stories: u64,
    /// The fewest words of these stories.
    pub shortest: usize,
    /// The most words of these stories; `None` if there is no limit.
    pub longest: Option<usize>,
}

impl Standing {
    /// The lengths of the stories, in words.
    pub fn lengths(&self) -> String {
        match (self.shortest, self.longest) {
            (0, Some(longest)) => format!("up to {longest} words"),
            (shortest, Some(longest)) => format!("{shortest} to {longest} words"),
            (0, None) => "any length".to_owned(),
            (shortest, None) => format!("{shortest} words or more"),
        }
    }
}

impl ReferenceScores {
    /// Where a score stands among stories of about as many words. `None` if there are no stories of
    /// that length by people or by machines.
    ///
    /// ```
    /// use storymeter_union::{Histogram, Writer, ReferenceScores};
    ///
    /// let histogram = |writer, counts: &[u64]| Histogram {
    ///     writer,
    ///     longest: None,
    ///     source: "four stories".into(),
    ///     counts: counts.to_vec(),
    /// };
    /// let reference = ReferenceScores {
    ///     scores: vec![
    ///         histogram(Writer::Human, &[0, 1, 1, 2]),
    ///         histogram(Writer::Machine, &[2, 1, 1, 0]),
    ///     ],
    ///     ..ReferenceScores::default()
    /// };
    /// let standing = reference.standing(0.75, 50).unwrap();
    /// assert_eq!((standing.above_human, standing.above_machine), (0.5, 1.0));
    /// ```
    pub fn standing(&self, score: f64, words: usize) -> Option<Standing> {
        let of = |writer: Writer| self.scores.iter().filter(move |one| one.writer == writer);
        let fits = |one: &&Histogram| one.longest.is_none_or(|longest| words <= longest);
        let human = of(Writer::Human).find(fits)?;
        let machine = of(Writer::Machine).find(fits)?;
        let shorter = of(Writer::Human).filter_map(|one| one.longest).filter(|most| *most < words);
        Some(Standing {
            above_human: human.share_below(score),
            above_machine: machine.share_below(score),
            human_stories: human.stories(),
            machine_stories: machine.stories(),
            shortest: shorter.max().map_or(0, |most| most + 1),
            longest: human.longest,
        })
    }

    /// What is wrong with them, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let is_empty = |one: &Histogram| one.counts.is_empty() || one.stories() == 0;
        self.scores.iter().any(is_empty).then_some("a histogram of reference scores has no stories")
    }
}
