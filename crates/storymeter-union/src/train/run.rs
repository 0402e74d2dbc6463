//! The run itself, on any device: takes steps, evaluates epochs, and saves the best model and
//! checkpoints.

use std::time::Instant;

use serde_json::json;
use storymeter_core::Signature;
use storymeter_core::rng::CounterId;
use storymeter_encoder::train::{
    Backend, Exchange, Network, Optimiser, OptimiserState, SavedTensors, warm_up_then_linear,
};
use storymeter_encoder::{Config, Parameters, Stream, Tokenizer, tokenizer_files};

use super::checkpoint::{Checkpoint, RunState};
use super::event::{End, EpochReport, Event, Spent, Start, StepReport};
use super::example::Example;
use super::feed::{EpochEnd, Fed, Feed};
use super::objective::{Losses, head_tensors, heads_of, learn, take_losses};
use super::teacher::{Teacher, advise};
use super::{Job, Watch, dev, hash, names, new_heads, pooler_of};
use crate::{Card, Error, Kind, Model, Pooling, Result, TrainingRecord};

/// The number of steps in the schedule of the learning rate, for any number of batches.
const SCHEDULE: u64 = 1_000_000;

/// The number of steps between two reports of the losses. Each report waits for the device.
const STEPS_PER_REPORT: u64 = 20;

/// The state of a run.
pub(super) struct TrainingRun<'a, B: Backend> {
    job: &'a Job<'a>,
    start: &'a Start,
    card: Card,
    network: Network<B>,
    exchange: &'a dyn Exchange<B>,
    teachers: Vec<Teacher<B>>,
    optimiser: Optimiser,
    pub reports: Vec<EpochReport>,
    steps: u64,
    spent: Spent,
    /// The temperature of the model in the checkpoint, if that model is the best so far and may not
    /// have been saved.
    unsaved: Option<f64>,
    clock: Instant,
}

/// How far an epoch is.
#[derive(Default)]
struct Pass {
    steps: u64,
    tokens: u64,
    losses: Losses,
}

impl<'a, B: Backend> TrainingRun<'a, B> {
    /// Starts with the given weights, or with those of the checkpoint.
    pub fn start(
        (backend, exchange, teachers): (B, &'a dyn Exchange<B>, Vec<Teacher<B>>),
        job: &'a Job<'a>,
        start: &'a Start,
        (config, mut parameters, tokenizer): (Config, Parameters, &Tokenizer),
        kept: Option<Checkpoint>,
        clock: Instant,
    ) -> Result<Self> {
        let settings = job.settings;
        let words = &mut parameters.tensors[0].data;
        names::start(&start.name_tokens, tokenizer, words, config.hidden);
        let pooler = match settings.pooling {
            Pooling::Pooler => pooler_of(job.init, &config)?,
            Pooling::Cls | Pooling::Mean => None,
        };
        let heads = new_heads(settings, &config, words, pooler);
        let mut heads = head_tensors(&heads, config.hidden);
        let (mut reports, mut steps, mut spent, mut means, mut unsaved) =
            (Vec::<EpochReport>::new(), 0, Spent::default(), None, None);
        if let Some(mut kept) = kept {
            let put = kept.tensors.put_into(&mut parameters.tensors, &mut heads);
            put.map_err(|difference| other_run(job, difference))?;
            means = Some(OptimiserState {
                steps: kept.state.steps,
                skipped: kept.state.skipped,
                means: kept.tensors.means,
            });
            (reports, steps, spent) = (kept.state.reports, kept.state.steps, kept.state.spent);
            let is_best = reports.last().is_some_and(|report| report.best);
            unsaved = kept.state.temperature.filter(|_| is_best);
        }
        let mut network = Network::new(backend, config, &parameters, &heads)?;
        let optimiser = match means {
            Some(means) => Optimiser::resume(&mut network, settings.adam(), &means)?,
            None => Optimiser::new(settings.adam()),
        };
        let card = Card {
            kind: if job.machine.is_some() { Kind::DisScore } else { Kind::Union },
            pooling: settings.pooling,
            reconstruction: settings.reconstruction,
            diagnosis: settings.diagnosis,
            max_tokens: settings.max_tokens,
            prompts: settings.prompts,
            normalise: settings.normalise,
            delexicalise: settings.delexicalise >= 1.0,
            grid: settings.grid(),
            name_tokens: start.name_tokens.clone(),
            ..Card::default()
        };
        Ok(Self {
            job,
            start,
            card,
            network,
            exchange,
            teachers,
            optimiser,
            reports,
            steps,
            spent,
            unsaved,
            clock,
        })
    }

    /// Saves the model of the checkpoint again if it is the best so far. The run may have been
    /// stopped after it had saved the checkpoint and before it had saved all files of the model.
    pub fn save_model_again(&mut self) -> Result<()> {
        match self.unsaved.take().filter(|_| self.is_first()) {
            Some(temperature) => self.model(temperature)?.save(self.job.out),
            None => Ok(()),
        }
    }

    /// Trains one epoch after the other, until the last one or until the patience runs out.
    pub fn epochs(
        &mut self,
        epochs: std::ops::Range<u64>,
        feed: &mut Feed<'_>,
        dev: &[Example],
        watch: Watch<'_>,
    ) -> Result<()> {
        for epoch in epochs {
            if self.should_stop()? {
                break;
            }
            self.epoch(epoch, feed, dev, watch)?;
        }
        Ok(())
    }

    /// Takes the steps of an epoch. After that the first rank evaluates the dev stories, and saves
    /// the checkpoint and, if it is the best so far, the model.
    fn epoch(
        &mut self,
        epoch: u64,
        feed: &mut Feed<'_>,
        dev: &[Example],
        watch: Watch<'_>,
    ) -> Result<()> {
        let (pass, end) = self.pass(epoch, feed, watch)?;
        if pass.steps == 0 {
            return Err(Error::NothingToLearn { stories: end.left_out });
        }
        if !self.is_first() {
            return Ok(());
        }
        let start = Instant::now();
        let logits = self.rounded(|run| {
            dev::logits(&run.network, run.card.pooling, dev, run.job.settings.tokens_a_batch)
        })?;
        self.spent.dev_seconds += start.elapsed().as_secs_f64();
        let report = dev::report(dev, &logits);
        let best = self.reports.iter().all(|past| report.all.loss < past.dev.all.loss);
        let (_, skipped) = self.network.steps()?;
        self.reports.push(EpochReport {
            epoch: epoch + 1,
            steps: pass.steps,
            skipped: skipped.all.saturating_sub(self.skipped()),
            tokens: pass.tokens,
            left_out: end.left_out,
            windows: end.windows,
            losses: pass.losses.scaled(1.0 / pass.steps as f64),
            dev: report,
            best,
        });
        self.save(best, dev::temperature(dev, &logits))?;
        self.reports.last().map_or(Ok(()), |report| watch(Event::Epoch(report)))
    }

    /// Takes the steps of an epoch.
    fn pass(
        &mut self,
        epoch: u64,
        feed: &mut Feed<'_>,
        watch: Watch<'_>,
    ) -> Result<(Pass, EpochEnd)> {
        let settings = self.job.settings;
        let mut pass = Pass::default();
        let mut seen = Pass::default();
        let (mut since, mut rate, mut progress) =
            (Instant::now(), 0.0, epoch as f64 / settings.epochs as f64);
        loop {
            let waiting = Instant::now();
            let next = feed.next()?;
            self.spent.waiting_seconds += waiting.elapsed().as_secs_f64();
            let is_last = matches!(next, Fed::End(_));
            if pass.steps - seen.steps == STEPS_PER_REPORT || (is_last && pass.steps > seen.steps) {
                let count = (pass.steps - seen.steps) as f64;
                let sums = take_losses(&mut self.network, self.exchange)?;
                let losses = sums.scaled(1.0 / count);
                if !losses.total().is_finite() {
                    let (epoch, step, loss) = (epoch + 1, pass.steps, losses.total());
                    return Err(Error::Diverged { epoch, step, loss });
                }
                pass.losses += sums;
                let (gradient_norm, skipped) = self.network.steps()?;
                watch(Event::Steps(&StepReport {
                    epoch: epoch + 1,
                    step: self.steps,
                    loss: losses.total(),
                    losses,
                    learning_rate: rate,
                    gradient_norm,
                    skipped,
                    tokens_per_second: (pass.tokens - seen.tokens) as f64
                        / since.elapsed().as_secs_f64(),
                    progress,
                }))?;
                seen = Pass { steps: pass.steps, tokens: pass.tokens, ..Pass::default() };
                since = Instant::now();
            }
            let mut portion = match next {
                Fed::Batch(portion) => portion,
                Fed::End(end) => {
                    self.spent.negatives_seconds += end.seconds;
                    self.spent.tokens += pass.tokens;
                    return Ok((pass, end));
                }
            };
            progress = (epoch as f64 + portion.progress) / settings.epochs as f64;
            let warm_up = (settings.warm_up * SCHEDULE as f64) as u64;
            let now = (progress * settings.share_of_schedule() * SCHEDULE as f64) as u64;
            rate = warm_up_then_linear(settings.learning_rate as f32, now, warm_up, SCHEDULE);
            advise(&self.teachers, settings, &mut portion.task)?;
            self.network.clear_gradients();
            let dropout = CounterId::Dropout { epoch, step: pass.steps };
            let stream = dropout.descend(Stream::new(settings.seed), Stream::child);
            self.rounded(|run| {
                learn(&mut run.network, settings, &portion.task, settings.dropout.then_some(stream))
            })?;
            self.network.sum_gradients(self.exchange)?;
            self.optimiser.step(&mut self.network, rate);
            pass.tokens += portion.task.tokens as u64;
            pass.steps += 1;
            self.steps += 1;
        }
    }

    /// Does some work with the weights rounded to the grid, if there is one, and restores the exact
    /// weights after it.
    fn rounded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let Some(grid) = self.card.grid else { return work(self) };
        self.network.round(grid);
        let done = work(self);
        self.network.restore();
        done
    }

    /// Saves the checkpoint and then, if it is the best so far, the model. If the run is stopped
    /// between the two, [`TrainingRun::save_model_again`] makes up for it.
    fn save(&mut self, best: bool, temperature: f64) -> Result<()> {
        let model = self.model(temperature)?;
        let state = RunState {
            settings: self.job.settings.clone(),
            data: self.start.stories_sha256.clone(),
            lexicon: self.start.lexicon.clone(),
            init: self.start.init_sha256.clone(),
            teachers: self.start.teachers.clone(),
            reports: self.reports.clone(),
            steps: self.steps,
            skipped: self.network.steps()?.1,
            spent: self.spent_by_now(),
            temperature: Some(temperature),
            sha256: None,
        };
        let tensors = SavedTensors::of(&self.network, &self.optimiser)?;
        Checkpoint { state, tensors }.save(self.job.out)?;
        if best { model.save(self.job.out) } else { Ok(()) }
    }

    /// The model with the weights of this moment.
    fn model(&self, temperature: f64) -> Result<Model> {
        let record = json!({
            "signature": self.signature().to_string(),
            "settings": self.start.settings,
            "files": self.start.files,
            "stories_sha256": self.start.stories_sha256,
            "init_sha256": self.start.init_sha256,
            "lexicon": self.start.lexicon,
            "teachers": self.start.teachers,
            "device": self.start.device,
            "epochs": self.reports,
            "version": self.start.version,
        });
        let training = TrainingRecord::new(record);
        Ok(Model {
            config: self.network.config().clone(),
            parameters: self.network.parameters()?,
            heads: heads_of(&self.network)?,
            card: Card { temperature, training, ..self.card.clone() },
            tokenizer_files: tokenizer_files(self.job.init)?,
            sentences: None,
        })
    }

    fn spent_by_now(&self) -> Spent {
        Spent { seconds: self.spent.seconds + self.clock.elapsed().as_secs_f64(), ..self.spent }
    }

    /// The signature of the training: settings, data and version.
    fn signature(&self) -> Signature {
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        let settings = serde_json::to_vec(self.job.settings).unwrap_or_default();
        Signature::new(format!("{}-training", self.card.kind.metric()))
            .with("preset", "p", self.job.settings.preset.name())
            .with("settings", "c", short(&hash(&settings)))
            .with("stories", "s", short(&self.start.stories_sha256))
            .with("init", "i", short(&self.start.init_sha256))
            .with("lexicon", "l", &self.start.lexicon)
            .with("seed", "seed", self.job.settings.seed)
            .with("device", "d", &self.start.device)
            .with_version()
    }

    /// Whether to stop because the last epochs, as many as the patience, were not better than an
    /// earlier one. The first rank alone has evaluated them, so it tells the others.
    fn should_stop(&self) -> Result<bool> {
        let patience = self.job.settings.patience as usize;
        if patience == 0 {
            return Ok(false);
        }
        let worse = self.reports.iter().rev().take_while(|report| !report.best).count();
        let mut votes = [f64::from(u8::from(self.is_first() && worse >= patience))];
        self.exchange.sum(self.network.backend(), &mut votes)?;
        Ok(votes[0] > 0.0)
    }

    /// The number of steps of finished epochs that were skipped.
    fn skipped(&self) -> u64 {
        self.reports.iter().map(|report| report.skipped).sum()
    }

    /// Whether this is the rank that evaluates the dev stories and writes files.
    fn is_first(&self) -> bool {
        self.exchange.rank().number == 0
    }

    /// The report on the whole run.
    pub fn end(&self) -> End {
        let best = self.reports.iter().rev().find(|report| report.best);
        End {
            spent: self.spent_by_now(),
            steps: self.steps,
            skipped: self.skipped(),
            epochs: self.reports.len(),
            best_epoch: best.map_or(0, |report| report.epoch),
            dev_loss: best.map_or(f64::NAN, |report| report.dev.all.loss),
            dev_accuracy: best.map_or(f64::NAN, |report| report.dev.all.accuracy),
            signature: self.signature().to_string(),
        }
    }
}

/// The checkpoint from which to continue, if there is one.
///
/// # Errors
/// Returns [`Error::OtherRun`] if it belongs to another run.
pub(super) fn checkpoint_of(job: &Job<'_>, start: &Start) -> Result<Option<Checkpoint>> {
    let Some(kept) = (if job.resume { Checkpoint::load(job.out)? } else { None }) else {
        return Ok(None);
    };
    let other = if kept.state.settings != *job.settings {
        "other settings"
    } else if kept.state.data != start.stories_sha256 {
        "other stories"
    } else if kept.state.lexicon != start.lexicon {
        "another lexicon"
    } else if kept.state.init != start.init_sha256 {
        "another encoder to start from"
    } else if kept.state.teachers != start.teachers {
        "other teachers"
    } else {
        return Ok(Some(kept));
    };
    Err(other_run(job, other))
}

/// The error for a checkpoint that belongs to another run.
fn other_run(job: &Job<'_>, difference: impl Into<String>) -> Error {
    Error::OtherRun { folder: job.out.to_owned(), difference: difference.into() }
}
