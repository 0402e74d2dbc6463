//! What the scores of a model are compared with: the scores of many stories by people and by
//! machines, and how well the diagnosis agrees with readers.
//!
//! A score of 0.6 says little to someone who has not seen other scores. That it is higher than
//! those of 62% of human stories says more. So a released model comes with histograms of the scores
//! of real stories. `tools/reference_scores.py` makes them.

use serde::{Deserialize, Serialize};
use storymeter_core::{Norms, ScoreColumn, Validity, length_range};

use crate::Estimate;

/// The lowest lower end of the 95% interval of an area under the ROC curve with which a diagnosis
/// is trusted. A coin has an area of 0.5. With 0.6, a story that readers found faulty gets the
/// higher number in at least three of five pairs with another story.
pub const TRUSTED_AREA: f64 = 0.6;

/// What the scores of a model are compared with, and how far they can be trusted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceScores {
    /// The fingerprint of the model whose scores these are. Those of other weights, or of
    /// another calibration, are not used.
    pub weights: String,
    /// What is known about the columns of the model's metric.
    #[serde(default)]
    pub columns: Vec<ReferenceColumn>,
    /// How well the diagnosis agrees with readers: each output with the error that it is about.
    #[serde(default)]
    pub diagnosis: Vec<DiagnosisArea>,
}

/// How far the numbers of a column can be trusted, and what they are compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceColumn {
    /// The name of the column: that of a criterion, or that of the metric if it has one column.
    pub name: String,
    /// How far its numbers can be trusted.
    #[serde(default)]
    pub validity: Option<Validity>,
    /// The numbers that stories by people get, by length.
    #[serde(default)]
    pub human: Option<Norms>,
    /// The numbers that stories by programs get, in the same classes of length.
    #[serde(default)]
    pub machine: Option<Norms>,
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
    /// Who wrote the machine stories, and in which years: `models of 2018 to 2021`.
    pub machines: String,
    /// The fewest words of these stories.
    pub shortest: u64,
    /// The most words of these stories; `None` if there is no limit.
    pub longest: Option<u64>,
}

impl Standing {
    /// The lengths of the stories, in words.
    pub fn lengths(&self) -> String {
        length_range((self.shortest, self.longest))
    }
}

impl ReferenceColumn {
    /// Where a score stands among stories of about as many words. `None` if there are no stories of
    /// that length by people or by machines.
    ///
    /// ```
    /// use storymeter_core::{LengthClass, Norms};
    /// use storymeter_union::ReferenceColumn;
    ///
    /// let norms = |counts: &[u64]| Norms {
    ///     source: "four stories".into(),
    ///     low: 0.0,
    ///     high: 1.0,
    ///     classes: vec![LengthClass { longest: None, counts: counts.to_vec() }],
    /// };
    /// let column = ReferenceColumn {
    ///     name: "union".into(),
    ///     validity: None,
    ///     human: Some(norms(&[0, 1, 1, 2])),
    ///     machine: Some(norms(&[2, 1, 1, 0])),
    /// };
    /// let standing = column.standing(0.75, 50).unwrap();
    /// assert_eq!((standing.above_human, standing.above_machine), (0.5, 1.0));
    /// ```
    pub fn standing(&self, score: f64, words: u64) -> Option<Standing> {
        let (human, machine) = (self.human.as_ref()?, self.machine.as_ref()?);
        let (shortest, longest) = human.lengths(words)?;
        Some(Standing {
            above_human: human.share_below(score, words)?,
            above_machine: machine.share_below(score, words)?,
            human_stories: human.stories(words),
            machine_stories: machine.stories(words),
            machines: machine.source.clone(),
            shortest,
            longest,
        })
    }
}

impl ReferenceScores {
    /// What is known about the column of this name.
    pub fn column(&self, name: &str) -> Option<&ReferenceColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Adds what is known about them to the columns of a metric.
    pub(crate) fn describe(&self, columns: &mut [ScoreColumn]) {
        for column in columns {
            let name = column.key.family_member().unwrap_or(column.key.id());
            let Some(known) = self.column(name) else { continue };
            column.validity = known.validity.clone();
            column.norms = known.human.clone();
        }
    }

    /// What is wrong with them, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let norms = self.columns.iter().flat_map(|one| one.human.iter().chain(&one.machine));
        let is_bad = |one: &Norms| {
            one.classes.is_empty()
                || one.low >= one.high
                || one.classes.iter().any(|class| class.counts.is_empty())
        };
        { norms }
            .any(is_bad)
            .then_some("a histogram of reference scores has no bins, or its range is empty")
    }
}
