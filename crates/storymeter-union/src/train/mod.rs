//! Training: human stories in, a model folder out.
//!
//! Every epoch makes fresh negatives, one for each human story, while the epoch before still runs. All that is random
//! follows from the seed, the record number and the epoch, so a run stopped after any epoch and resumed ends with the
//! same weights, to the bit, as one that was not, for any number of threads.

mod checkpoint;
mod dev;
mod example;
mod objective;
mod settings;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use storymeter_core::Story;
use storymeter_core::split::{Split, assign};
use storymeter_encoder::train::{AdamW, Cpu, Network, Optimiser, warm_up_then_linear};
use storymeter_encoder::{Config, Stream, Tokenizer, load_parameters};
use storymeter_perturb::{DEFAULT_SAMPLE, DonorSampler, Perturber};
use storymeter_text::{lexicon::Lexicon, tagger::Tagger};

use crate::card::Reconstruction;
use crate::model::tokenizer_files;
use crate::{Card, Error, Heads, Model, Result};
use checkpoint::{Checkpoint, RunState};
use example::{Example, Record, batches, examples};
use objective::{head_tensors, heads_of, learn, take_losses};

pub use dev::{DevReport, Quality};
pub use objective::Losses;
pub use settings::Settings;

/// Negatives of the dev stories: a draw that no epoch counts up to, the same in every epoch.
const DEV_DRAW: u64 = u64::MAX - 1;

/// The learning rate's way is cut into this many steps, whatever the number of batches.
const SCHEDULE: u64 = 1_000_000;

/// What an epoch brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// Its number, from 1.
    pub epoch: u64,
    /// Steps taken in it.
    pub steps: usize,
    /// Tokens read in it.
    pub tokens: usize,
    /// Mean training loss of an example: score, reconstruction, diagnosis.
    pub losses: [f64; 3],
    /// The dev stories after it.
    pub dev: DevReport,
    /// Whether the model folder now holds this epoch's weights.
    pub best: bool,
}

/// A run: where it starts, what it reads, where its model goes.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// A Hugging Face style folder with the encoder to start from.
    pub init: &'a Path,
    /// The human stories, in the order of their record numbers; split 90/5/5 by the seed.
    pub stories: &'a [Story],
    /// An existing folder for model and checkpoint.
    pub out: &'a Path,
    /// The settings.
    pub settings: &'a Settings,
    /// Go on where the checkpoint in `out` stands, if there is one.
    pub resume: bool,
}

/// Trains; `watch` hears of every epoch (those of a resumed run's past first). The folder holds the epoch with the
/// smallest dev loss.
///
/// # Errors
/// For settings that do not fit, too few stories, a checkpoint of another run, a loss that is no longer a number, and
/// what the system says of files.
pub fn train(job: &Job<'_>, watch: &mut dyn FnMut(&EpochReport)) -> Result<Vec<EpochReport>> {
    let settings = job.settings;
    let config = Config::load(job.init)?;
    if let Some(problem) = settings.problem(config.max_tokens()) {
        return Err(Error::Training(problem));
    }
    let tokenizer = Tokenizer::load(job.init, &config)?;
    let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
    let records = |part: Split| -> Vec<Record<'_>> {
        let numbered = job.stories.iter().enumerate().map(|(i, story)| Record { story, number: i as u64 });
        numbered.filter(|record| assign(settings.seed, record.number) == part).collect()
    };
    let (train, dev) = (records(Split::Train), records(Split::Dev));
    let mut sampler = DonorSampler::new(settings.seed, DEFAULT_SAMPLE);
    train.iter().for_each(|record| sampler.offer(record.number, record.story));
    let donors = sampler.finish(tagger, lexicon);
    let perturber = Perturber::new(settings.perturb.clone(), &donors, lexicon, tagger);
    let make = |records: &[Record<'_>], draw: u64| {
        examples(records, &tokenizer, &perturber, (settings.seed, draw), settings.max_tokens)
    };
    let dev: Vec<Example> = make(&dev, DEV_DRAW).into_iter().flatten().collect();
    let mut pairs = make(&train, 0);
    if pairs.is_empty() || dev.is_empty() {
        let problem = format!(
            "{} stories give {} training pairs and {} dev examples; both need some",
            job.stories.len(),
            pairs.len(),
            dev.len()
        );
        return Err(Error::Training(problem));
    }

    let mut run = Run::start(job, config)?;
    run.reports.iter().for_each(&mut *watch);
    let first = run.reports.len() as u64;
    if first > 0 {
        pairs = make(&train, first);
    }
    for epoch in first..settings.epochs {
        if run.should_stop() {
            break;
        }
        let batches = batches(pairs, settings.tokens_a_batch, (settings.seed, epoch));
        let next = epoch + 1;
        let (outcome, fresh) = std::thread::scope(|scope| {
            let fresh = (next < settings.epochs).then(|| scope.spawn(|| make(&train, next)));
            let outcome = run.epoch(epoch, &batches);
            (outcome, fresh.and_then(|fresh| fresh.join().ok()).unwrap_or_default())
        });
        pairs = fresh;
        let (losses, tokens) = outcome?;
        run.finish_epoch(epoch, (batches.len(), tokens, losses), &dev)?;
        if let Some(report) = run.reports.last() {
            watch(report);
        }
    }
    Ok(run.reports)
}

/// The run's moving parts.
struct Run<'a> {
    job: &'a Job<'a>,
    card: Card,
    data: String,
    network: Network<Cpu>,
    optimiser: Optimiser,
    reports: Vec<EpochReport>,
    steps: u64,
}

impl<'a> Run<'a> {
    fn start(job: &'a Job<'a>, config: Config) -> Result<Self> {
        let settings = job.settings;
        let data = fingerprint(job.stories);
        let adam = AdamW { decay: settings.weight_decay, clip: settings.clip, ..AdamW::default() };
        let mut parameters = load_parameters(job.init, &config)?;
        let heads = new_heads(settings, &config, &parameters.tensors[0].data);
        let mut heads = head_tensors(&heads, config.hidden);
        let (mut means, mut reports, mut steps) = (None, Vec::new(), 0);
        if let Some(kept) = if job.resume { Checkpoint::load(job.out)? } else { None } {
            if kept.state.settings != *settings || kept.state.data != data {
                let problem = "the checkpoint belongs to a run with other settings or stories";
                return Err(Error::Training(problem.to_owned()));
            }
            let tensors = parameters.tensors.iter_mut().chain(&mut heads);
            for (tensor, weight) in tensors.zip(kept.weights) {
                if tensor.data.len() != weight.len() {
                    return Err(Error::Training(format!("the checkpoint has another {}", tensor.name)));
                }
                tensor.data = weight;
            }
            (means, reports, steps) = (Some(kept.optimiser), kept.state.reports, kept.state.steps);
        }
        let card = Card {
            pooling: settings.pooling,
            reconstruction: settings.reconstruction,
            diagnosis: settings.diagnosis,
            max_tokens: settings.max_tokens,
            ..Card::default()
        };
        let mut network = Network::new(Cpu::default(), config, &parameters, &heads)?;
        let optimiser = match means {
            Some(means) => Optimiser::resume(&mut network, adam, &means)?,
            None => Optimiser::new(adam),
        };
        Ok(Self { job, card, data, network, optimiser, reports, steps })
    }

    /// One pass over the batches; returns the mean losses of an example and the tokens read.
    fn epoch(&mut self, epoch: u64, batches: &[Vec<Example>]) -> Result<(Losses, usize)> {
        let settings = self.job.settings;
        let (mut sum, mut tokens, mut count) = (Losses::default(), 0, 0);
        for (step, batch) in batches.iter().enumerate() {
            self.network.clear_gradients();
            let stream = Stream::new(settings.seed).child(epoch).child(step as u64);
            let dropout = settings.dropout.then_some(stream);
            learn(&mut self.network, settings, batch, dropout)?;
            let losses = take_losses(&mut self.network)?;
            if !losses.total().is_finite() {
                let problem =
                    format!("the loss of epoch {}, step {} is {}", epoch + 1, step + 1, losses.total());
                return Err(Error::Training(format!("{problem}; try a smaller learning rate")));
            }
            let done = (epoch as f64 + (step as f64 + 0.5) / batches.len() as f64) / settings.epochs as f64;
            let warm_up = (settings.warm_up * SCHEDULE as f64) as u64;
            let rate = warm_up_then_linear(
                settings.learning_rate,
                (done * SCHEDULE as f64) as u64,
                warm_up,
                SCHEDULE,
            );
            self.optimiser.step(&mut self.network, rate);
            sum += losses.scaled(batch.len() as f64);
            tokens += batch.iter().map(|example| example.ids.len()).sum::<usize>();
            count += batch.len();
            self.steps += 1;
        }
        Ok((sum.scaled(1.0 / count as f64), tokens))
    }

    /// Looks at the dev stories, saves the model where it is the best so far, then the checkpoint.
    fn finish_epoch(
        &mut self,
        epoch: u64,
        (steps, tokens, losses): (usize, usize, Losses),
        dev: &[Example],
    ) -> Result<()> {
        let mut model = Model {
            config: self.network.config().clone(),
            parameters: self.network.parameters()?,
            heads: heads_of(&self.network)?,
            card: self.card.clone(),
            tokenizer_files: tokenizer_files(self.job.init)?,
        };
        let logits = dev::logits(&model, dev)?;
        let report = dev::report(dev, &logits);
        let best = self.reports.iter().all(|past| report.all.loss < past.dev.all.loss);
        let losses = [losses.score, losses.reconstruction, losses.diagnosis];
        self.reports.push(EpochReport { epoch: epoch + 1, steps, tokens, losses, dev: report, best });
        if best {
            model.card.temperature = dev::temperature(dev, &logits);
            let record = json!({
                "settings": self.job.settings,
                "stories": self.job.stories.len(),
                "stories_sha256": self.data,
                "epochs": self.reports,
                "version": env!("CARGO_PKG_VERSION"),
            });
            model.card.training = record.as_object().cloned().unwrap_or_default();
            model.save(self.job.out)?;
        }
        let weights = model.parameters.tensors.into_iter().map(|tensor| tensor.data);
        let heads = head_tensors(&model.heads, model.config.hidden).into_iter().map(|tensor| tensor.data);
        let weights = weights.chain(heads).collect();
        let state = RunState {
            settings: self.job.settings.clone(),
            data: self.data.clone(),
            reports: self.reports.clone(),
            steps: self.steps,
        };
        Checkpoint { state, weights, optimiser: self.optimiser.state(&self.network)? }.save(self.job.out)
    }

    /// Whether the last epochs, as many as the patience, were all worse than an earlier one.
    fn should_stop(&self) -> bool {
        let patience = self.job.settings.patience as usize;
        patience > 0 && self.reports.iter().rev().take_while(|report| !report.best).count() >= patience
    }
}

/// New heads: small random scores, and a reconstruction matrix of its own that starts from the words' embeddings.
fn new_heads(settings: &Settings, config: &Config, words: &[f32]) -> Heads {
    let stream = Stream::new(settings.seed).child(u64::MAX);
    let random = |part: u64, count: usize| -> Vec<f32> {
        (0..count as u64).map(|i| 0.02 * stream.child(part).normal(i)).collect()
    };
    let none = settings.reconstruction == Reconstruction::None;
    Heads {
        score: random(0, config.hidden),
        score_bias: 0.0,
        diagnosis: if settings.diagnosis { random(1, 4 * config.hidden) } else { Vec::new() },
        diagnosis_bias: vec![0.0; if settings.diagnosis { 4 } else { 0 }],
        reconstruction: if settings.reconstruction == Reconstruction::Own {
            words.to_vec()
        } else {
            Vec::new()
        },
        reconstruction_bias: vec![0.0; if none { 0 } else { config.vocabulary }],
    }
}

/// SHA-256 of prompts and texts.
fn fingerprint(stories: &[Story]) -> String {
    let mut hash = Sha256::new();
    for story in stories {
        for text in [story.prompt.as_deref().unwrap_or_default(), &story.text] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
