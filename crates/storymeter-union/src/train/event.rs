//! What a run tells whoever watches it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::dev::DevReport;
use super::objective::Losses;
use super::settings::Settings;

/// Something happened.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// All is read; the first step is next.
    Start(&'a Start),
    /// Some steps were taken.
    Steps(&'a StepReport),
    /// An epoch is over.
    Epoch(&'a EpochReport),
    /// The run is over.
    End(&'a End),
}

/// One file of stories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file's name.
    pub name: String,
    /// Stories in it.
    pub stories: usize,
    /// SHA-256 of their prompts and texts.
    pub sha256: String,
}

/// What a run starts with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Start {
    /// The release that trains.
    pub version: &'static str,
    /// Where it trains.
    pub device: String,
    /// The full configuration.
    pub settings: Settings,
    /// The stories by file.
    pub files: Vec<Source>,
    /// SHA-256 of all prompts and texts.
    pub stories_sha256: String,
    /// SHA-256 of the weights it starts from.
    pub init_sha256: String,
    /// The fingerprints of its teachers.
    pub teachers: Vec<String>,
    /// The number of stories to learn from ("train"), to choose the best epoch by ("dev"), and to
    /// report on ("test", not used in the run).
    pub split: BTreeMap<&'static str, usize>,
    /// The number of stories that have a prompt which they do not begin with. It is read only if
    /// [`Settings::prompts`] is set.
    pub stories_with_prompts: usize,
    /// Examples by which epochs are compared: stories and negatives.
    pub dev_examples: usize,
    /// Numbers the encoder learns.
    pub parameters: usize,
    /// Texts that are one token.
    pub name_tokens: BTreeMap<String, u32>,
    /// Epochs that were already done, in a resumed run.
    pub epochs_done: u64,
}

/// Some steps of an epoch; losses are means over them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepReport {
    /// The epoch, from 1.
    pub epoch: u64,
    /// Steps taken since the very beginning.
    pub step: u64,
    /// All losses together.
    pub loss: f64,
    /// The losses one by one.
    #[serde(flatten)]
    pub losses: Losses,
    /// Learning rate of the last step.
    pub learning_rate: f32,
    /// Gradient norm of the last step, before clipping.
    pub gradient_norm: f64,
    /// Tokens a second over these steps.
    pub tokens_per_second: f64,
    /// The share of the whole run that is done.
    #[serde(skip)]
    pub progress: f64,
}

/// What an epoch brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// Its number, from 1.
    pub epoch: u64,
    /// Steps taken in it.
    pub steps: u64,
    /// Tokens read in it.
    pub tokens: u64,
    /// Stories without a negative that the model could tell apart, which were left out.
    pub left_out: usize,
    /// Stories of which a window was used.
    pub windows: usize,
    /// Mean training losses over its steps.
    pub losses: Losses,
    /// The dev stories after it.
    pub dev: DevReport,
    /// Whether the model folder now holds this epoch's weights.
    pub best: bool,
}

/// Time and tokens, summed up over the parts of a run that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// From the start to the end of an epoch, all included.
    pub seconds: f64,
    /// Making negatives, most of it while the device worked.
    pub negatives_seconds: f64,
    /// The device waited for batches.
    pub waiting_seconds: f64,
    /// Looking at the dev stories.
    pub dev_seconds: f64,
    /// Tokens trained on.
    pub tokens: u64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct End {
    /// What it took.
    #[serde(flatten)]
    pub spent: Spent,
    /// Steps taken.
    pub steps: u64,
    /// Epochs done.
    pub epochs: usize,
    /// The epoch whose weights the folder holds.
    pub best_epoch: u64,
    /// Its dev loss.
    pub dev_loss: f64,
    /// Its dev accuracy.
    pub dev_accuracy: f64,
    /// How the model came about.
    pub signature: String,
}
