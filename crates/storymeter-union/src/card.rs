//! `storymeter.json`: what a model folder says beyond its weights.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use storymeter_encoder::{Config, Grid};

use crate::about::About;
use crate::{DamageCalibration, logistic};

/// How the vectors of a story's tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The first token's, as in the paper.
    #[default]
    Cls,
    /// The mean over all tokens, special ones included.
    Mean,
}

/// The matrix of the reconstruction head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reconstruction {
    /// No such head (`-Recon` of Table 5).
    None,
    /// The word embeddings, as in the released code.
    #[default]
    Tied,
    /// A matrix of its own, as in equation 4.
    Own,
}

/// What is written to `storymeter.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Version of this layout.
    pub format: u32,
    /// How the story's vector is made.
    pub pooling: Pooling,
    /// Which reconstruction head there is.
    pub reconstruction: Reconstruction,
    /// Whether there is a diagnosis head.
    pub diagnosis: bool,
    /// Calibration: the probability is sigmoid((logit - bias) / temperature - repetition * repeated), where `repeated` is
    /// [`crate::Score::repeated`].
    pub temperature: f64,
    /// See [`Card::temperature`].
    pub bias: f64,
    /// What unusual repetition of words costs; see [`Card::temperature`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub repetition: f64,
    /// Calibration of each output of the diagnosis, in the order of `Technique::ALL`; absent is the head's plain sigmoid.
    #[serde(default, skip_serializing_if = "is_default")]
    pub diagnosis_calibration: [DamageCalibration; 4],
    /// Texts that are one token: the placeholders of masked names.
    pub name_tokens: BTreeMap<String, u32>,
    /// Whether quotes, cut words and placeholders are made alike before the tokeniser; see [`crate::normalise`].
    #[serde(default)]
    pub normalise: bool,
    /// Whether names are masked before the tokeniser.
    pub delexicalise: bool,
    /// Most tokens of a window, special ones included.
    pub max_tokens: usize,
    /// Whether a story's prompt is read before it: only by models that were trained on stories with prompts. To others a
    /// prompt is a strange first sentence, and costs agreement with readers.
    #[serde(default)]
    pub prompts: bool,
    /// The grid its weights are kept on where it is one file, and rounded to where it is a folder; absent is eight bits, and
    /// full precision in a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// The model card of a released model; empty for one that is nobody's business yet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub about: About,
    /// How the model was trained: full configuration, data hashes, preset, signature. For people and for the record.
    pub training: Map<String, Value>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Card {
    fn default() -> Self {
        Self {
            format: Self::FORMAT,
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
            grid: None,
            about: About::default(),
            training: Map::new(),
        }
    }
}

impl Card {
    /// The version of the layout that this release writes and reads.
    pub const FORMAT: u32 = 1;

    /// The smallest window in tokens. A smaller one would have little room beside the special tokens.
    pub const SMALLEST_WINDOW: usize = 8;

    /// The calibrated probability of a logit, given how much the story repeats its words.
    pub fn probability(&self, logit: f64, repeated: f64) -> f64 {
        logistic::sigmoid((logit - self.bias) / self.temperature - self.repetition * repeated)
    }

    /// The calibrated probability of each kind of damage, given the story's overlap.
    pub(crate) fn damage(&self, logits: [f64; 4], overlap: f64) -> [f64; 4] {
        std::array::from_fn(|i| self.diagnosis_calibration[i].probability(logits[i], overlap))
    }

    /// Takes up all numbers that calibration sets, those of a diagnosis without one aside.
    pub(crate) fn hash_calibration(&self, hash: &mut Sha256) {
        let counts = self.repetition != 0.0;
        let score =
            [self.temperature, self.bias].into_iter().chain(counts.then_some(self.repetition));
        let fitted = !is_default(&self.diagnosis_calibration);
        let diagnosis = self.diagnosis_calibration.iter().filter(|_| fitted);
        let diagnosis = diagnosis.flat_map(|one| [one.scale, one.overlap, one.bias]);
        score.chain(diagnosis).for_each(|number| hash.update(number.to_le_bytes()));
    }

    /// What is wrong with the card, if anything.
    pub(crate) fn problem(&self, config: &Config) -> Option<String> {
        let longest = config.max_tokens();
        if self.format != Self::FORMAT {
            return Some(format!(
                "format {} is not known; this version reads {}",
                self.format,
                Self::FORMAT
            ));
        }
        if !(self.temperature.is_finite() && self.temperature > 0.0 && self.bias.is_finite()) {
            return Some("temperature must be positive, and bias a number".to_owned());
        }
        if !(self.repetition.is_finite() && self.repetition >= 0.0) {
            return Some("repetition must be 0 or more".to_owned());
        }
        if !self.diagnosis_calibration.iter().all(DamageCalibration::is_finite) {
            return Some("diagnosis_calibration must be of numbers".to_owned());
        }
        if !(Self::SMALLEST_WINDOW..=longest).contains(&self.max_tokens) {
            return Some(format!(
                "max_tokens is {}, but the encoder reads {} to {longest} tokens",
                self.max_tokens,
                Self::SMALLEST_WINDOW
            ));
        }
        self.grid.and_then(|grid| grid.problem().map(str::to_owned))
    }
}
