//! The card of a model, `storymeter.json`: everything about the model besides its weights.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use storymeter_core::ScoreColumn;
use storymeter_encoder::{Config, Grid, Tokenizer};

use crate::about::About;
use crate::criteria::CriteriaCard;
use crate::reference_scores::ReferenceScores;
use crate::{DamageCalibration, logistic};

/// How the vectors of a story's tokens are combined into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The vector of the first token, as in the paper.
    #[default]
    Cls,
    /// The vector of the first token, taken through a dense layer with the hyperbolic tangent
    /// (BERT's pooler), as in the released code.
    Pooler,
    /// The mean over all tokens, including the special ones.
    Mean,
}

/// The reconstruction head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reconstruction {
    /// There is no such head (`-Recon` in Table 5 of the paper).
    None,
    /// The matrix of the word embeddings.
    #[default]
    Tied,
    /// A matrix of its own, as in equation 4.
    Own,
    /// A dense layer, the activation of the encoder, a layer norm, and then the matrix of the word
    /// embeddings, as in the released code.
    Dense,
}

/// What a model was trained for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// To tell human stories from damaged ones: the metric `union`.
    #[default]
    Union,
    /// To tell human stories from those that machines wrote: the metric `disscore`.
    DisScore,
    /// To predict the ratings of readers: the metric `criteria`.
    Criteria,
}

impl Kind {
    /// The id of the metric.
    pub fn metric(self) -> &'static str {
        match self {
            Self::Union => "union",
            Self::DisScore => "disscore",
            Self::Criteria => "criteria",
        }
    }
}

/// How a model reads stories, how its scores are calibrated, and how it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The version of the layout; see [`Card::FORMAT`].
    pub format: u32,
    /// What the model was trained for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: Kind,
    /// How the vectors of the tokens are combined.
    pub pooling: Pooling,
    /// Which reconstruction head the model has.
    pub reconstruction: Reconstruction,
    /// Whether the model has a diagnosis head.
    pub diagnosis: bool,
    /// The temperature of the calibrated score. The score is
    /// sigmoid((logit - bias) / temperature - repetition * repeated), where `repeated` is
    /// [`crate::Score::repeated`].
    pub temperature: f64,
    /// The bias of the calibrated score; see [`Card::temperature`].
    pub bias: f64,
    /// How much repeated words lower the calibrated logit; see [`Card::temperature`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub repetition: f64,
    /// The calibration of each output of the diagnosis, in the order of `Technique::ALL`. The
    /// default is the plain sigmoid of the logit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub diagnosis_calibration: [DamageCalibration; 4],
    /// Texts that are one token, with the number of the token: the placeholders of masked names.
    pub name_tokens: BTreeMap<String, u32>,
    /// Whether different forms of quotes, split words and placeholders are made alike before the
    /// text is tokenised; see [`crate::normalise`].
    #[serde(default)]
    pub normalise: bool,
    /// Whether person names are masked before the text is tokenised.
    pub delexicalise: bool,
    /// The largest number of tokens in a window, including the special ones.
    pub max_tokens: usize,
    /// Whether the model reads the prompt of a story before the story. It is what the setting
    /// `prompts` of `train::Settings` was in training. A model that was trained without
    /// prompts takes a prompt for a strange first sentence, and then agrees less with readers.
    #[serde(default)]
    pub prompts: bool,
    /// The criteria that the model predicts, if it is of the kind [`Kind::Criteria`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<CriteriaCard>,
    /// The grid to which the weights are rounded. Without it, a model file keeps its weights in
    /// eight bits, and a folder keeps them in full precision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// The model card of a released model. It is empty for a model that was not released.
    #[serde(default, skip_serializing_if = "is_default")]
    pub about: About,
    /// How the model was trained: all settings, hashes of the data, and the signature. Nothing is
    /// computed from it.
    pub training: TrainingRecord,
}

/// How a model was trained, as its card keeps it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrainingRecord(pub(crate) Map<String, Value>);

impl TrainingRecord {
    /// Takes an object. Anything else is an empty record.
    pub fn new(record: impl Serialize) -> Self {
        match serde_json::to_value(record) {
            Ok(Value::Object(record)) => Self(record),
            _ => Self::default(),
        }
    }

    /// The settings in one line, if the model was trained by this program.
    pub fn signature(&self) -> Option<&str> {
        self.0.get("signature")?.as_str()
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(feature = "cuda")]
impl Reconstruction {
    /// Whether the head uses the matrix of the word embeddings.
    pub(crate) fn uses_words(self) -> bool {
        matches!(self, Self::Tied | Self::Dense)
    }
}

impl Default for Card {
    fn default() -> Self {
        Self {
            format: Self::FORMAT,
            kind: Kind::default(),
            pooling: Pooling::default(),
            reconstruction: Reconstruction::default(),
            diagnosis: true,
            temperature: 1.0,
            bias: 0.0,
            repetition: 0.0,
            diagnosis_calibration: Default::default(),
            name_tokens: BTreeMap::new(),
            normalise: false,
            delexicalise: false,
            max_tokens: 200,
            prompts: false,
            criteria: None,
            grid: None,
            about: About::default(),
            training: TrainingRecord::default(),
        }
    }
}

impl Card {
    /// The version of the layout that this release writes and reads.
    pub const FORMAT: u32 = 1;

    /// The smallest window in tokens. A smaller one would have little room beside the special
    /// tokens.
    pub const SMALLEST_WINDOW: usize = 8;

    /// The calibrated score for a logit and the story's [`crate::Score::repeated`].
    pub fn probability(&self, logit: f64, repeated: f64) -> f64 {
        logistic::sigmoid((logit - self.bias) / self.temperature - self.repetition * repeated)
    }

    /// The calibrated probability of each kind of damage, for logits and the story's overlap.
    pub(crate) fn damage(&self, logits: [f64; 4], overlap: f64) -> [f64; 4] {
        std::array::from_fn(|i| self.diagnosis_calibration[i].probability(logits[i], overlap))
    }

    /// Makes the placeholders of masked names single tokens of a tokeniser, as the model reads
    /// them.
    pub fn add_name_tokens(&self, tokenizer: &mut Tokenizer) {
        for (text, id) in &self.name_tokens {
            tokenizer.add_token(text, *id);
        }
    }

    /// Adds all numbers of the calibration to a hash. Those that have no effect are left out, so
    /// that models from before these numbers existed keep their fingerprint.
    pub(crate) fn hash_calibration(&self, hash: &mut Sha256) {
        let counts = self.repetition != 0.0;
        let score =
            [self.temperature, self.bias].into_iter().chain(counts.then_some(self.repetition));
        let fitted = !is_default(&self.diagnosis_calibration);
        let diagnosis = self.diagnosis_calibration.iter().filter(|_| fitted);
        let diagnosis = diagnosis.flat_map(|one| [one.scale, one.overlap, one.bias]);
        score.chain(diagnosis).for_each(|number| hash.update(number.to_le_bytes()));
        if let Some(criteria) = &self.criteria {
            criteria.hash(hash);
        }
    }

    /// Adds to the columns of a metric what the card says about them.
    pub(crate) fn describe(&self, columns: &mut [ScoreColumn]) {
        if let Some(reference) = &self.about.reference_scores {
            reference.describe(columns);
        }
    }

    /// Drops reference scores that are about other weights or another calibration.
    pub(crate) fn keep_reference_scores_of(&mut self, fingerprint: &str) {
        let reference = &mut self.about.reference_scores;
        *reference = reference.take().filter(|one| one.weights == fingerprint);
    }

    /// What is wrong with the card for a model with or without a sentence encoder, if anything.
    pub(crate) fn sentences_problem(&self, has_sentences: bool) -> Option<String> {
        match &self.criteria {
            Some(criteria) if has_sentences && criteria.sentence > 0 => {
                Some("a model that makes sentence vectors has no sentence encoder".to_owned())
            }
            Some(criteria)
                if criteria.needs_prompt() && !has_sentences && criteria.sentence == 0 =>
            {
                Some(
                    "a criterion counts the similarity of prompt and story, but the model has no \
                 sentence encoder and makes no sentence vectors"
                        .to_owned(),
                )
            }
            None if has_sentences => {
                Some(format!("a model for {} has no sentence encoder", self.kind.metric()))
            }
            _ => None,
        }
    }

    /// What is wrong with the card for this encoder, if anything.
    pub(crate) fn problem(&self, config: &Config) -> Option<String> {
        let longest = config.max_tokens();
        if self.format != Self::FORMAT {
            return Some(format!(
                "format {} is unknown; this version reads format {}",
                self.format,
                Self::FORMAT
            ));
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0 && self.bias.is_finite()) {
            return Some(
                "temperature must be positive, and bias must be a finite number".to_owned(),
            );
        }
        if !(self.repetition.is_finite() && self.repetition >= 0.0) {
            return Some("repetition must be 0 or more".to_owned());
        }
        if !self.diagnosis_calibration.iter().all(DamageCalibration::is_finite) {
            return Some("diagnosis_calibration must hold finite numbers".to_owned());
        }
        if !(Self::SMALLEST_WINDOW..=longest).contains(&self.max_tokens) {
            return Some(format!(
                "max_tokens is {}, but the encoder reads {} to {longest} tokens",
                self.max_tokens,
                Self::SMALLEST_WINDOW
            ));
        }
        let criteria = match (self.kind, &self.criteria) {
            (Kind::Criteria, Some(criteria)) => criteria.problem().or_else(|| {
                let as_read = self.pooling == Pooling::Mean && !self.prompts;
                let problem = "a criteria model pools by the mean and reads the story alone";
                (!as_read).then(|| problem.to_owned())
            }),
            (Kind::Criteria, None) => Some("criteria is missing".to_owned()),
            (Kind::Union | Kind::DisScore, Some(_)) => {
                Some(format!("a model for {} has no criteria", self.kind.metric()))
            }
            (Kind::Union | Kind::DisScore, None) => None,
        };
        if criteria.is_some() {
            return criteria;
        }
        let reference = self.about.reference_scores.as_ref().and_then(ReferenceScores::problem);
        let grid = self.grid.and_then(|grid| grid.problem());
        reference.or(grid).map(str::to_owned)
    }
}
