//! Trains the unreferenced half of RUBER-BERT: a head that tells the true continuation of a context
//! from a random one (Ghazarian et al. 2019; UNION, sections 4.1 and 4.2).
//!
//! The encoder stays as it is. Every context and every continuation goes through it once, and only
//! their pooled vectors are kept, so that the epochs after that take seconds. The negatives are a
//! permutation of the continuations, as many as there are stories, drawn once for the whole run as
//! in the reference, or anew in every epoch if the settings say so. The head of the epoch with the
//! smallest loss on the dev stories is saved.

mod data;
mod folder;
mod learner;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use storymeter_core::rng::{CounterId, StreamId, shuffled};
use storymeter_core::{Signature, Story};
use storymeter_encoder::{Device, Model, Precision, Stream};
use storymeter_neural::ruber::{Card, Head, LEAST_TOKENS, Pool, ReadyHead};

use crate::configuration::{Configuration, Fault};
use crate::folder::stories_hash;
use crate::{Error, Result};
use data::Examples;
pub use folder::{FILES, LAST_FILE};
pub use learner::{AdamSettings, Learner};

/// Each part needs at least two stories, so that a wrong continuation exists.
const LEAST_STORIES: usize = 2;

storymeter_core::documented_settings! {
    /// The settings of training RUBER. A field that a file does not name has its default.
    ///
    /// ```
    /// use storymeter_baselines::configuration::Configuration;
    /// use storymeter_baselines::ruber::Settings;
    ///
    /// let settings = Settings { epochs: 10, ..Settings::default() };
    /// assert!(settings.to_toml().contains("epochs = 10"));
    /// ```
    pub struct Settings;

    /// Everything random follows from the seed: the split, the negatives, the order of the
    /// examples and the first weights.
    seed: u64 = 1;
    /// The largest number of passes over the examples.
    epochs: u64 = 50;
    /// Stop after this number of epochs without a smaller loss on the dev stories. 0 never stops
    /// early. The best epoch is saved in any case.
    patience: u64 = 5;
    /// The number of examples in a batch: true and random continuations together.
    batch: usize = 32;
    /// The learning rate of Adam, which does not change.
    learning_rate: f64 = 1e-4;
    /// Gradients with a larger norm than this are scaled down to it.
    clip: f64 = 5.0;
    /// How the vectors of a text's tokens become one: "max" takes the largest number of each
    /// column, "mean" takes the mean.
    pooling: Pool = Pool::Max;
    /// The largest number of tokens of a context or a continuation, special tokens included. The
    /// reference implementation cuts at 500. An encoder that reads fewer has its own limit.
    max_tokens: usize = 500;
    /// Whether person names are masked (`[MALE]`, `[FEMALE]`, `[NEUTRAL]`) in training and in
    /// scoring, as in UNION's data.
    delexicalise: bool = true;
    /// Whether every epoch has new random continuations. If not, they are drawn once, as in the
    /// reference implementation, so that there are as many negatives as stories.
    fresh_negatives: bool = false;
}

impl Configuration for Settings {
    fn fault(&self) -> Option<Fault> {
        let within = Fault::within;
        within("seed", self.seed as f64, 0.0, i64::MAX as f64)
            .or_else(|| within("epochs", self.epochs as f64, 1.0, 1e6))
            .or_else(|| within("patience", self.patience as f64, 0.0, 1e6))
            .or_else(|| within("batch", self.batch as f64, 1.0, 65536.0))
            .or_else(|| within("learning_rate", self.learning_rate, 1e-12, 1.0))
            .or_else(|| within("clip", self.clip, 1e-6, 1e6))
            .or_else(|| within("max_tokens", self.max_tokens as f64, LEAST_TOKENS as f64, 1e6))
            .or_else(|| {
                let problem = "must be \"max\" or \"mean\"".to_owned();
                (self.pooling == Pool::Min).then_some(Fault { field: "pooling", problem })
            })
    }
}

/// A run.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The folder of the encoder.
    pub init: &'a Path,
    /// The human stories.
    pub stories: &'a [Story],
    /// The names of their files, and how many stories are in each.
    pub files: &'a [(String, usize)],
    /// The folder for the result, which exists.
    pub out: &'a Path,
    /// The settings.
    pub settings: &'a Settings,
    /// Where the encoder computes. The head is trained on the CPU.
    pub device: Device,
}

/// A report from a run.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Everything is loaded, and the texts are encoded next.
    Start(&'a Start),
    /// So many texts of so many are encoded.
    Encoded(usize, usize),
    /// An epoch is over.
    Epoch(&'a EpochReport),
    /// The run is over, and the folder is complete.
    End(&'a End),
}

/// What a run starts from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Start {
    /// The version of this crate.
    pub version: &'static str,
    /// The kind of model.
    pub kind: &'static str,
    /// All settings.
    pub settings: Settings,
    /// The name of the encoder's folder.
    pub encoder: String,
    /// The fingerprint of its weights.
    pub encoder_weights: String,
    /// The files of stories, and how many stories are in each.
    pub files: Vec<(String, usize)>,
    /// The SHA-256 of all stories.
    pub stories_sha256: String,
    /// The number of stories to learn from ("train"), to choose the best epoch by ("dev"), and to
    /// report on ("test", not used in the run).
    pub split: BTreeMap<&'static str, usize>,
    /// The number of stories that have no continuation, and are not used.
    pub left_out: usize,
    /// The number of stories of which a text is longer than what is read of it.
    pub cut: usize,
}

/// A report on one epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EpochReport {
    /// The number of the epoch, from 1.
    pub epoch: u64,
    /// The mean loss of its examples, while it learned.
    pub train_loss: f64,
    /// The mean loss of the dev examples after it.
    pub dev_loss: f64,
    /// The share of dev examples that are told correctly.
    pub dev_accuracy: f64,
    /// Whether it is the best epoch so far.
    pub best: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct End {
    /// The seconds that the encoder took.
    pub encoding_seconds: f64,
    /// The seconds that the epochs took.
    pub training_seconds: f64,
    /// The number of epochs.
    pub epochs: usize,
    /// The best epoch, whose head is saved.
    pub best_epoch: u64,
    /// Its loss on the dev stories.
    pub dev_loss: f64,
    /// Its accuracy on the dev stories.
    pub dev_accuracy: f64,
    /// The signature of the training: settings, data and version.
    pub signature: String,
}

/// Trains a head and saves it with its encoder. Returns the reports on all epochs.
///
/// # Errors
/// Returns an error if the encoder cannot be used, if there are too few stories, if the loss is not
/// finite, if a file cannot be written, and if `watch` fails.
pub fn train(
    job: &Job<'_>,
    watch: &mut dyn FnMut(Event<'_>) -> Result<()>,
) -> Result<Vec<EpochReport>> {
    let settings = job.settings;
    if let Some(Fault { field, problem }) = settings.fault() {
        return Err(Error::Setting { field, problem });
    }
    let encoder_files = folder::encoder_files(job.init)?;
    let model = Model::open(job.init, job.device, Precision::F32)?;
    model.tokenizer()?;
    if model.config().is_causal() {
        let problem = "this is a causal language model, but RUBER needs an encoder".to_owned();
        return Err(Error::Model { path: job.init.to_owned(), problem });
    }
    let examples = Examples::of(job.stories, settings);
    let mut start = Start {
        version: env!("CARGO_PKG_VERSION"),
        kind: "ruber",
        settings: settings.clone(),
        encoder: folder::name_of(job.init),
        encoder_weights: model.fingerprint().to_owned(),
        files: job.files.to_vec(),
        stories_sha256: stories_hash(job.stories),
        split: examples.split(),
        left_out: examples.left_out,
        cut: 0,
    };
    let (train, dev) = (examples.train.len(), examples.dev.len());
    if train < LEAST_STORIES || dev < LEAST_STORIES {
        return Err(Error::TooFew { train, dev, least: LEAST_STORIES - 1 });
    }
    watch(Event::Start(&start))?;
    let begin = Instant::now();
    let limit = settings.max_tokens.min(model.config().max_tokens());
    let vectors = examples.encode(&model, job.device, limit, settings.pooling, watch)?;
    start.cut = vectors.cut;
    let encoding_seconds = begin.elapsed().as_secs_f64();

    let width = model.config().hidden;
    drop(model);
    let begin = Instant::now();
    let new = CounterId::NewHeads.descend(Stream::new(settings.seed), Stream::child);
    let adam = AdamSettings {
        rate: settings.learning_rate as f32,
        clip: settings.clip,
        ..AdamSettings::default()
    };
    let mut learner = Learner::new(Head::random(width, new), adam);
    let wrong_dev = examples.wrong(&examples.dev, settings.seed, 0)?;
    let dev: Vec<Pair> = vectors.pairs(&examples.dev, &wrong_dev);
    let mut wrong = Vec::new();
    let mut reports: Vec<EpochReport> = Vec::new();
    let mut best: Option<(EpochReport, Head)> = None;
    for epoch in 0..settings.epochs {
        if epoch == 0 || settings.fresh_negatives {
            wrong = examples.wrong(&examples.train, settings.seed, epoch + 1)?;
        }
        let pairs = vectors.pairs(&examples.train, &wrong);
        let order = shuffled(pairs.len(), StreamId::EpochOrder { epoch }.rng(settings.seed));
        let mut loss = 0.0;
        for batch in order.chunks(settings.batch) {
            let batch: Vec<Pair> = batch.iter().map(|&at| pairs[at]).collect();
            let (contexts, continuations, labels) = vectors.rows(&batch);
            loss += learner.learn(&contexts, &continuations, &labels) * batch.len() as f64;
        }
        let train_loss = loss / pairs.len() as f64;
        let (dev_loss, dev_accuracy) = evaluate(&learner, &vectors, &dev);
        if !(train_loss.is_finite() && dev_loss.is_finite()) {
            return Err(Error::Diverged { epoch: epoch + 1, loss: train_loss });
        }
        let is_best = best.as_ref().is_none_or(|(known, _)| dev_loss < known.dev_loss);
        let epoch = epoch + 1;
        let report = EpochReport { epoch, train_loss, dev_loss, dev_accuracy, best: is_best };
        if is_best {
            best = Some((report, learner.head().clone()));
        }
        reports.push(report);
        watch(Event::Epoch(&report))?;
        let since = best.as_ref().map_or(0, |(known, _)| epoch - known.epoch);
        if settings.patience > 0 && since >= settings.patience {
            break;
        }
    }
    // There is at least one epoch, and its loss was finite.
    let Some((report, head)) = best else {
        return Err(Error::Diverged { epoch: 1, loss: f64::NAN });
    };
    let signature = signature(&start).to_string();
    let end = End {
        encoding_seconds,
        training_seconds: begin.elapsed().as_secs_f64(),
        epochs: reports.len(),
        best_epoch: report.epoch,
        dev_loss: report.dev_loss,
        dev_accuracy: report.dev_accuracy,
        signature: signature.clone(),
    };
    let card = Card {
        format: 0,
        encoder: start.encoder.clone(),
        encoder_weights: start.encoder_weights.clone(),
        width,
        pooling: settings.pooling,
        delexicalise: settings.delexicalise,
        max_tokens: limit,
        head_sha256: String::new(),
        training: serde_json::json!({
            "signature": signature,
            "start": start,
            "epochs": reports,
            "best_epoch": report.epoch,
        }),
    };
    folder::save(job.out, &encoder_files, card, &head)?;
    watch(Event::End(&end))?;
    Ok(reports)
}

/// An example: a context, a continuation, and whether they belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    context: usize,
    continuation: usize,
    is_true: bool,
}

/// The mean loss of examples, and the share that is told correctly.
fn evaluate(learner: &Learner, vectors: &data::Vectors, pairs: &[Pair]) -> (f64, f64) {
    const TOGETHER: usize = 1024;
    let (mut loss, mut right) = (0.0, 0);
    let head = ReadyHead::new(learner.head());
    for some in pairs.chunks(TOGETHER) {
        let (contexts, continuations, labels) = vectors.rows(some);
        let forward = head.forward(&contexts, &continuations);
        for (logits, &label) in forward.logits.iter().zip(&labels) {
            loss += learner::loss(*logits, label);
            right += usize::from((logits[1] > logits[0]) == label);
        }
    }
    (loss / pairs.len() as f64, right as f64 / pairs.len() as f64)
}

/// What a trained head depends on.
fn signature(start: &Start) -> Signature {
    let Settings { seed, epochs, patience, batch, learning_rate, clip, .. } = &start.settings;
    Signature::new("ruber-training")
        .with("encoder", "e", &start.encoder_weights)
        .with("stories", "d", &start.stories_sha256[..12])
        .with("seed", "s", seed)
        .with("epochs", "ep", epochs)
        .with("patience", "pat", patience)
        .with("batch", "b", batch)
        .with("rate", "lr", learning_rate)
        .with("clip", "c", clip)
        .with("pooling", "pool", start.settings.pooling.name())
        .with("tokens", "t", start.settings.max_tokens)
        .with("names", "n", if start.settings.delexicalise { "masked" } else { "kept" })
        .with("negatives", "neg", if start.settings.fresh_negatives { "fresh" } else { "once" })
        .with("version", "v", start.version)
}
