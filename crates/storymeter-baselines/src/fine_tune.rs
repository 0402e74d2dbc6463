//! The training loop of the baselines that fine-tune a whole network.
//!
//! A [`Task`] knows the examples and their loss; [`fine_tune()`] does the rest: batches, the
//! learning rate, the optimiser, the choice of the best epoch, checkpoints and reports. Everything
//! random follows from the seed, the epoch and the step. So a run that was stopped after any epoch
//! and resumed ends with the same files, to the bit, as one that was not stopped, for any number of
//! threads.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use storymeter_core::rng::{CounterId, StreamId, shuffled};
use storymeter_core::{AtomicFile, Place, Signature};
#[cfg(feature = "cuda")]
use storymeter_encoder::cuda::Cuda;
use storymeter_encoder::train::{
    AdamW, Backend, Cpu, ForwardOptions, Network, Optimiser, OptimiserState, SavedState,
    SavedTensors, Skipped, warm_up_then_linear,
};
use storymeter_encoder::{Config, Parameters, Stream, Tensor, read_tensor_file};

#[cfg(feature = "cuda")]
use crate::device::Activations;
use crate::device::Device;
use crate::folder::sha256;
use crate::{Error, Result};

/// The name of the file in the output folder from which a resumed run continues.
pub const CHECKPOINT: &str = "training.safetensors";

/// The number of steps in the schedule of the learning rate, for any number of batches.
const SCHEDULE: u64 = 1_000_000;

/// The number of steps between two reports of the loss. Each report waits for the device.
const STEPS_PER_REPORT: u64 = 20;

/// What is learned.
pub trait Task {
    /// The number of examples to learn from.
    fn examples(&self) -> usize;

    /// The number of examples by which epochs are compared.
    fn dev_examples(&self) -> usize;

    /// Whether the model of the last epoch is kept and no epoch is chosen by dev examples, of which
    /// there may be none then.
    fn keeps_last_epoch(&self) -> bool {
        false
    }

    /// The number of tokens of an example.
    fn tokens(&self, example: usize) -> usize;

    /// Adds the gradients of the mean loss of some examples, and that loss to any of the network's
    /// sums of losses.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    fn learn<B: Backend>(
        &self,
        network: &mut Network<B>,
        examples: &[usize],
        options: ForwardOptions,
    ) -> Result<()>;

    /// How good the network is on the dev examples. What this leaves in the gradients and in the
    /// sums of losses is cleared afterwards.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    fn evaluate<B: Backend>(&self, network: &mut Network<B>) -> Result<Quality>;

    /// Writes the model into the output folder ([`crate::folder::save`]), with this record of its
    /// training. Weights that are rounded meanwhile are exact again afterwards.
    ///
    /// # Errors
    /// Returns an error if the device fails, or a file cannot be written.
    fn save<B: Backend>(&self, network: &mut Network<B>, record: Map<String, Value>) -> Result<()>;
}

/// How good a network is on the dev examples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Quality {
    /// The mean loss.
    pub loss: f64,
    /// By what epochs are compared: the one with the largest rank is the best, and of equal ones
    /// the one with the smallest loss.
    pub rank: f64,
    /// What else there is to report, by name. A figure that is not finite, such as a perplexity
    /// beyond all numbers, is not reported.
    #[serde(deserialize_with = "known")]
    pub figures: BTreeMap<String, f64>,
}

/// Reads figures. Checkpoints of older versions have `null` for those that were not finite.
fn known<'d, D: Deserializer<'d>>(
    source: D,
) -> std::result::Result<BTreeMap<String, f64>, D::Error> {
    let figures = BTreeMap::<String, Option<f64>>::deserialize(source)?;
    Ok(figures.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect())
}

impl Quality {
    /// A quality that is compared by the loss alone.
    pub fn of_loss(loss: f64) -> Self {
        Self { loss, ..Self::default() }
    }

    fn is_better_than(&self, other: &Self) -> bool {
        self.rank > other.rank || (self.rank == other.rank && self.loss < other.loss)
    }
}

/// How a network is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Everything random follows from it: the order of the examples and dropout.
    pub seed: u64,
    /// The number of passes over the examples.
    pub epochs: u64,
    /// Stop after this number of epochs that are not better than an earlier one; 0 never stops
    /// early.
    pub patience: u64,
    /// The largest number of examples in a batch; 0 sets no limit besides the tokens.
    pub examples_a_batch: usize,
    /// The largest number of tokens in a batch. A longer example is a batch of its own.
    pub tokens_a_batch: usize,
    /// The highest learning rate.
    pub learning_rate: f64,
    /// The share of all steps in which the learning rate rises from 0. After that it falls in a
    /// straight line to 0.
    pub warm_up: f64,
    /// The settings of the optimiser, with the clipping of gradients.
    pub optimiser: AdamW,
    /// Whether the network uses dropout.
    pub dropout: bool,
    /// Whether activations are computed again in the backward pass, which saves memory.
    pub recompute: bool,
    /// Whether there is a checkpoint after every epoch. Without it a run cannot be resumed, and a
    /// short one is over sooner.
    pub checkpoints: bool,
}

/// What a run is: its checkpoint is refused by any other run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// What is trained, such as "bleurt".
    pub kind: String,
    /// All settings.
    pub settings: Value,
    /// The SHA-256 of the stories ([`crate::folder::stories_hash`]).
    pub stories_sha256: String,
    /// The SHA-256 of the weights from which training starts ([`crate::folder::tensors_hash`]).
    pub init_sha256: String,
}

/// A training run: how it trains, what it is, and where it writes.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The device on which to compute.
    pub device: Device,
    /// How to train.
    pub plan: Plan,
    /// What the run is.
    pub identity: &'a Identity,
    /// An existing folder for the model and the checkpoint.
    pub out: &'a Path,
    /// Whether to continue from the checkpoint in `out`, if there is one. If not, a checkpoint that
    /// is there is removed.
    pub resume: bool,
}

/// A report from a run.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Something that the user should know before the first step.
    Note(&'a str),
    /// Everything is loaded, and the first step is next.
    Start(&'a Start),
    /// Some steps were taken.
    Steps(&'a StepReport),
    /// An epoch is over.
    Epoch(&'a EpochReport),
    /// The run is over.
    End(&'a End),
}

/// A function that is called with every event. If it returns an error, the run ends with that
/// error.
pub type Watch<'a> = &'a mut dyn FnMut(Event<'_>) -> Result<()>;

/// What a run starts from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Start {
    /// The version of this crate.
    pub version: &'static str,
    /// The device on which it trains.
    pub device: String,
    /// What the run is.
    #[serde(flatten)]
    pub identity: Identity,
    /// The number of examples to learn from.
    pub examples: usize,
    /// The number of examples by which epochs are compared.
    pub dev_examples: usize,
    /// The number of weights.
    pub parameters: usize,
    /// The number of epochs that were finished before this run resumed.
    pub epochs_done: u64,
}

/// A report on the steps since the last such report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepReport {
    /// The epoch, from 1.
    pub epoch: u64,
    /// The number of steps since the beginning of the first epoch.
    pub step: u64,
    /// The mean loss over these steps.
    pub loss: f64,
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
    /// The mean training loss over its steps.
    pub loss: f64,
    /// The quality on the dev examples after it.
    pub dev: Quality,
    /// Whether it is the best epoch so far. If it is, the output folder now holds its weights.
    pub best: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct End {
    /// The seconds since the start or the resumption.
    pub seconds: f64,
    /// The number of steps.
    pub steps: u64,
    /// How many of them were skipped, because their gradients were not finite.
    pub skipped: u64,
    /// The number of epochs.
    pub epochs: usize,
    /// The best epoch, whose weights the output folder holds.
    pub best_epoch: u64,
    /// The signature of the training: settings, data and version.
    pub signature: String,
}

/// The part of a checkpoint that is not a tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RunState {
    identity: Identity,
    reports: Vec<EpochReport>,
    steps: u64,
    /// The steps that were skipped. Checkpoints of older versions did not count them.
    #[serde(default)]
    skipped: Skipped,
    /// The SHA-256 of all numbers in the file, so that a damaged checkpoint is not trained on.
    sha256: String,
}

/// A network before training: its configuration, the weights of the encoder, and the heads.
pub type Beginning = (Config, Parameters, Vec<Tensor>);

/// Trains a network on the examples of a task, and returns one report per epoch. The output folder
/// then holds the model of the best epoch, as the task saved it.
///
/// # Errors
/// - [`Error::TooFew`] if there is nothing to learn from or to choose by;
/// - [`Error::OtherRun`] if the checkpoint belongs to another run;
/// - [`Error::Diverged`] if the loss is not finite any more;
/// - [`Error::Encoder`] and [`Error::File`] for the device and for files;
/// - the errors of the task and of `watch`.
pub fn fine_tune<T: Task>(
    job: &Job<'_>,
    beginning: Beginning,
    task: &T,
    watch: Watch<'_>,
) -> Result<Vec<EpochReport>> {
    match job.device {
        Device::Cpu => fine_tune_on((Cpu::default(), "cpu"), job, beginning, task, watch),
        #[cfg(feature = "cuda")]
        Device::Cuda { gpu, activations: Activations::Bf16 } => {
            let backend = Cuda::<half::bf16>::open(gpu)?;
            fine_tune_on((backend, "cuda-bf16"), job, beginning, task, watch)
        }
        #[cfg(feature = "cuda")]
        Device::Cuda { gpu, activations: Activations::F32 } => {
            let backend = Cuda::<f32>::open(gpu)?;
            fine_tune_on((backend, "cuda-f32"), job, beginning, task, watch)
        }
    }
}

fn fine_tune_on<B: Backend, T: Task>(
    (backend, device): (B, &str),
    job: &Job<'_>,
    (config, mut parameters, mut heads): Beginning,
    task: &T,
    watch: Watch<'_>,
) -> Result<Vec<EpochReport>> {
    let clock = Instant::now();
    let (train, dev) = (task.examples(), task.dev_examples());
    if train == 0 || (dev == 0 && !task.keeps_last_epoch()) {
        return Err(Error::TooFew { train, dev, least: 0 });
    }
    let other = |difference: String| Error::OtherRun { folder: job.out.to_owned(), difference };
    let (mut reports, mut steps, mut means) = (Vec::new(), 0, None);
    if let Some((state, mut tensors)) = if job.resume { kept(job)? } else { None } {
        tensors.put_into(&mut parameters.tensors, &mut heads).map_err(other)?;
        (reports, steps) = (state.reports, state.steps);
        means = Some(OptimiserState { steps, skipped: state.skipped, means: tensors.means });
    }
    let start = Start {
        version: env!("CARGO_PKG_VERSION"),
        device: device.to_owned(),
        identity: job.identity.clone(),
        examples: train,
        dev_examples: dev,
        parameters: parameters.tensors.iter().chain(&heads).map(|tensor| tensor.data.len()).sum(),
        epochs_done: reports.len() as u64,
    };
    let mut network = Network::new(backend, config, &parameters, &heads)?;
    drop((parameters, heads));
    let optimiser = match means {
        Some(means) => Optimiser::resume(&mut network, job.plan.optimiser, &means)?,
        None => Optimiser::new(job.plan.optimiser),
    };
    watch(Event::Start(&start))?;
    let mut run = FineTuningRun { job, task, device, network, optimiser, reports, steps };
    match start.epochs_done {
        0 => remove_checkpoint(job.out)?,
        // The run may have been stopped after it had saved the checkpoint and before it had saved
        // the model.
        _ if run.reports.last().is_some_and(|report| report.best) => run.save_model()?,
        _ => {}
    }
    for epoch in start.epochs_done..job.plan.epochs {
        if run.is_out_of_patience() {
            break;
        }
        run.epoch(epoch, watch)?;
    }
    watch(Event::End(&run.end(clock)))?;
    Ok(run.reports)
}

/// The state of a run.
struct FineTuningRun<'a, B: Backend, T> {
    job: &'a Job<'a>,
    task: &'a T,
    device: &'a str,
    network: Network<B>,
    optimiser: Optimiser,
    reports: Vec<EpochReport>,
    steps: u64,
}

impl<B: Backend, T: Task> FineTuningRun<'_, B, T> {
    /// Takes the steps of an epoch, evaluates the dev examples, and saves the checkpoint and, if it
    /// is the best so far, the model.
    fn epoch(&mut self, epoch: u64, watch: Watch<'_>) -> Result<()> {
        let (steps, tokens, loss) = self.pass(epoch, watch)?;
        let mut dev = self.task.evaluate(&mut self.network)?;
        dev.figures.retain(|_, figure| figure.is_finite());
        self.network.take_losses()?;
        if !(dev.loss.is_finite() && dev.rank.is_finite()) {
            return Err(Error::Diverged { epoch: epoch + 1, loss: dev.loss });
        }
        let best = match self.task.keeps_last_epoch() {
            true => epoch + 1 == self.job.plan.epochs,
            false => self.reports.iter().all(|past| dev.is_better_than(&past.dev)),
        };
        let skipped = self.network.steps()?.1.all.saturating_sub(self.skipped());
        let epoch = epoch + 1;
        self.reports.push(EpochReport { epoch, steps, skipped, tokens, loss, dev, best });
        if self.job.plan.checkpoints {
            self.save_checkpoint()?;
        }
        if best {
            self.save_model()?;
        }
        self.reports.last().map_or(Ok(()), |report| watch(Event::Epoch(report)))
    }

    /// Takes the steps of an epoch, and returns their number, the number of tokens and the mean
    /// loss.
    fn pass(&mut self, epoch: u64, watch: Watch<'_>) -> Result<(u64, u64, f64)> {
        let Plan { seed, epochs, warm_up, learning_rate, .. } = self.job.plan;
        let order = shuffled(self.task.examples(), StreamId::EpochOrder { epoch }.rng(seed));
        let batches = self.batches(&order);
        let (mut tokens, mut done, mut sum) = (0, 0, 0.0);
        let (mut since, mut seen_steps, mut seen_tokens) = (Instant::now(), 0, 0);
        for (step, batch) in (0..).zip(&batches) {
            let progress =
                |done: usize| (epoch as f64 + done as f64 / order.len() as f64) / epochs as f64;
            let now = (progress(done) * SCHEDULE as f64) as u64;
            let warm_up = (warm_up * SCHEDULE as f64) as u64;
            let rate = warm_up_then_linear(learning_rate as f32, now, warm_up, SCHEDULE);
            let stream = CounterId::Dropout { epoch, step };
            let stream = stream.descend(Stream::new(seed), Stream::child);
            let options = ForwardOptions {
                dropout: self.job.plan.dropout.then_some(stream),
                recompute: self.job.plan.recompute,
                first_row: 0,
            };
            self.network.clear_gradients();
            self.task.learn(&mut self.network, batch, options)?;
            self.optimiser.step(&mut self.network, rate);
            tokens += batch.iter().map(|example| self.task.tokens(*example) as u64).sum::<u64>();
            done += batch.len();
            self.steps += 1;
            let taken = step + 1 - seen_steps;
            if taken == STEPS_PER_REPORT || done == order.len() {
                let losses = self.network.take_losses()?.iter().sum::<f64>();
                let loss = losses / taken as f64;
                if !loss.is_finite() {
                    return Err(Error::Diverged { epoch: epoch + 1, loss });
                }
                sum += losses;
                let (gradient_norm, skipped) = self.network.steps()?;
                let seconds = since.elapsed().as_secs_f64().max(1e-9);
                watch(Event::Steps(&StepReport {
                    epoch: epoch + 1,
                    step: self.steps,
                    loss,
                    learning_rate: rate,
                    gradient_norm,
                    skipped,
                    tokens_per_second: (tokens - seen_tokens) as f64 / seconds,
                    progress: progress(done),
                }))?;
                (since, seen_steps, seen_tokens) = (Instant::now(), step + 1, tokens);
            }
        }
        let steps = batches.len() as u64;
        Ok((steps, tokens, sum / steps as f64))
    }

    /// Cuts an order of the examples into batches.
    fn batches(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let Plan { examples_a_batch, tokens_a_batch, .. } = self.job.plan;
        let most = if examples_a_batch == 0 { usize::MAX } else { examples_a_batch };
        let (mut batches, mut room) = (Vec::<Vec<usize>>::new(), 0);
        for &example in order {
            let size = self.task.tokens(example);
            match batches.last_mut() {
                Some(batch) if size <= room && batch.len() < most => batch.push(example),
                _ => {
                    batches.push(vec![example]);
                    room = tokens_a_batch;
                }
            }
            room = room.saturating_sub(size);
        }
        batches
    }

    fn save_checkpoint(&self) -> Result<()> {
        let path = self.job.out.join(CHECKPOINT);
        let (_, skipped) = self.network.steps()?;
        let state = |sha256: String| {
            let state = RunState {
                identity: self.job.identity.clone(),
                reports: self.reports.clone(),
                steps: self.steps,
                skipped,
                sha256,
            };
            serde_json::to_string(&state).unwrap_or_default()
        };
        let tensors = SavedTensors::of(&self.network, &self.optimiser)?;
        let bytes = tensors.to_bytes(&path, state)?;
        let mut file = AtomicFile::create(&path)?;
        file.write_all(&bytes).map_err(|e| storymeter_core::Error::io(Place::file(&path), e))?;
        Ok(file.commit()?)
    }

    fn save_model(&mut self) -> Result<()> {
        let identity = self.job.identity;
        let record = json!({
            "kind": identity.kind,
            "signature": self.signature().to_string(),
            "version": env!("CARGO_PKG_VERSION"),
            "device": self.device,
            "settings": identity.settings,
            "stories_sha256": identity.stories_sha256,
            "init_sha256": identity.init_sha256,
            "epochs": self.reports,
        });
        self.task.save(&mut self.network, record.as_object().cloned().unwrap_or_default())
    }

    /// The signature of the training: settings, data and version.
    fn signature(&self) -> Signature {
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        let Identity { kind, settings, stories_sha256, init_sha256 } = self.job.identity;
        Signature::new(format!("{kind}-training"))
            .with("settings", "c", short(&sha256(settings.to_string().as_bytes())))
            .with("stories", "s", short(stories_sha256))
            .with("init", "i", short(init_sha256))
            .with("seed", "seed", self.job.plan.seed)
            .with("device", "d", self.device)
            .with_version()
    }

    /// Whether the last epochs, as many as the patience, were not better than an earlier one.
    fn is_out_of_patience(&self) -> bool {
        let worse = self.reports.iter().rev().take_while(|report| !report.best).count() as u64;
        self.job.plan.patience > 0 && worse >= self.job.plan.patience
    }

    /// The number of steps of finished epochs that were skipped.
    fn skipped(&self) -> u64 {
        self.reports.iter().map(|report| report.skipped).sum()
    }

    fn end(&self, clock: Instant) -> End {
        let best = self.reports.iter().rev().find(|report| report.best);
        End {
            seconds: clock.elapsed().as_secs_f64(),
            steps: self.steps,
            skipped: self.skipped(),
            epochs: self.reports.len(),
            best_epoch: best.map_or(0, |report| report.epoch),
            signature: self.signature().to_string(),
        }
    }
}

/// The checkpoint from which to continue, if there is one.
fn kept(job: &Job<'_>) -> Result<Option<(RunState, SavedTensors)>> {
    let path = job.out.join(CHECKPOINT);
    if !path.exists() {
        return Ok(None);
    }
    let wrong = |problem: String| Error::Model { path: path.clone(), problem };
    let (tensors, saved) = SavedTensors::from_bytes(&path, &read_tensor_file(&path)?)?;
    let SavedState { text, sha256 } = saved;
    let state: RunState = serde_json::from_str(&text)
        .map_err(|_| wrong("it is the checkpoint of another kind of run".to_owned()))?;
    if state.sha256 != sha256 {
        return Err(wrong("the checkpoint is damaged: its checksum does not match".to_owned()));
    }
    let (is, was) = (job.identity, &state.identity);
    let difference = if was.kind != is.kind {
        format!("another kind of model ({})", was.kind.chars().take(40).collect::<String>())
    } else if was.settings != is.settings {
        "other settings".to_owned()
    } else if was.stories_sha256 != is.stories_sha256 {
        "other stories".to_owned()
    } else if was.init_sha256 != is.init_sha256 {
        "other weights to start from".to_owned()
    } else {
        return Ok(Some((state, tensors)));
    };
    Err(Error::OtherRun { folder: job.out.to_owned(), difference })
}

/// Removes the checkpoint of an earlier run, which must not be taken for one of this run.
fn remove_checkpoint(out: &Path) -> Result<()> {
    let path = out.join(CHECKPOINT);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(storymeter_core::Error::io(Place::file(&path), error).into())
        }
        _ => Ok(()),
    }
}
