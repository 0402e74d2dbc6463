//! What a run reports while it trains.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use storymeter_encoder::train::Skipped;

use super::dev::DevReport;
use super::objective::Losses;
use super::settings::Settings;

/// A report from a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Everything is loaded, and the first step is next.
    Start(&'a Start),
    /// Some steps were taken.
    Steps(&'a StepReport),
    /// An epoch is over.
    Epoch(&'a EpochReport),
    /// The run is over.
    End(&'a End),
}

/// A file of training stories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoryFile {
    /// The name of the file.
    pub name: String,
    /// The number of stories in it.
    pub stories: usize,
    /// The SHA-256 of their prompts and texts.
    pub sha256: String,
}

/// What a run starts from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Start {
    /// The version of this crate.
    pub version: &'static str,
    /// The device on which it trains.
    pub device: String,
    /// All settings.
    pub settings: Settings,
    /// The files of stories.
    pub files: Vec<StoryFile>,
    /// The SHA-256 of all prompts and texts.
    pub stories_sha256: String,
    /// The SHA-256 of the weights from which training starts.
    pub init_sha256: String,
    /// Where antonyms and keywords come from ([`Lexicon::description`]).
    ///
    /// [`Lexicon::description`]: storymeter_text::lexicon::Lexicon::description
    pub lexicon: String,
    /// The fingerprints of the teachers.
    pub teachers: Vec<String>,
    /// The number of stories to learn from ("train"), to choose the best epoch by ("dev"), and to
    /// report on ("test", not used in the run).
    pub split: BTreeMap<&'static str, usize>,
    /// The number of stories that have a prompt which they do not begin with. It is read only if
    /// [`Settings::prompts`] is set.
    pub stories_with_prompts: usize,
    /// The number of dev examples by which epochs are compared: stories and negatives.
    pub dev_examples: usize,
    /// The number of weights of the encoder.
    pub parameters: usize,
    /// Texts that are one token, with the number of the token.
    pub name_tokens: BTreeMap<String, u32>,
    /// The number of epochs that were finished before this run resumed.
    pub epochs_done: u64,
}

/// A report on the steps since the last such report. Losses are means over these steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepReport {
    /// The epoch, from 1.
    pub epoch: u64,
    /// The number of steps since the beginning of the first epoch.
    pub step: u64,
    /// The sum of all losses.
    pub loss: f64,
    /// The single losses.
    #[serde(flatten)]
    pub losses: Losses,
    /// The learning rate of the last step.
    pub learning_rate: f32,
    /// The norm of the gradients of the last step, before clipping.
    pub gradient_norm: f64,
    /// The steps since the beginning of the first epoch that were skipped, because their gradients
    /// were not finite.
    #[serde(skip_serializing_if = "Skipped::is_none")]
    pub skipped: Skipped,
    /// The number of tokens per second.
    pub tokens_per_second: f64,
    /// The share of the whole run that is done.
    #[serde(skip)]
    pub progress: f64,
}

/// A report on one epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// The number of the epoch, from 1.
    pub epoch: u64,
    /// The number of its steps.
    pub steps: u64,
    /// How many of them were skipped, because their gradients were not finite.
    #[serde(default)]
    pub skipped: u64,
    /// The number of its tokens.
    pub tokens: u64,
    /// The number of stories that were left out because they have no negative that the model could
    /// tell apart from them.
    pub left_out: usize,
    /// The number of stories of which a window was used.
    pub windows: usize,
    /// The mean training losses over its steps.
    pub losses: Losses,
    /// The quality on the dev stories after it.
    pub dev: DevReport,
    /// Whether it is the best epoch so far. If it is, the model folder now holds its weights.
    pub best: bool,
}

/// The time and the tokens that a run took, including what it took before it was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// All seconds from the start to the end of the last epoch.
    pub seconds: f64,
    /// Seconds in which negatives were made, mostly while the device was busy.
    pub negatives_seconds: f64,
    /// Seconds in which the device waited for batches.
    pub waiting_seconds: f64,
    /// Seconds in which the dev stories were evaluated.
    pub dev_seconds: f64,
    /// The number of tokens in all batches.
    pub tokens: u64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct End {
    /// The time and the tokens that it took.
    #[serde(flatten)]
    pub spent: Spent,
    /// The number of steps.
    pub steps: u64,
    /// How many of them were skipped, because their gradients were not finite.
    pub skipped: u64,
    /// The number of epochs.
    pub epochs: usize,
    /// The best epoch, whose weights the model folder holds.
    pub best_epoch: u64,
    /// The loss of the best epoch on the dev stories.
    pub dev_loss: f64,
    /// The accuracy of the best epoch on the dev stories.
    pub dev_accuracy: f64,
    /// The signature of the training: settings, data and version.
    pub signature: String,
}
