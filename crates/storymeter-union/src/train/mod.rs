//! Training: human stories in, a model folder out.
//!
//! Every epoch makes fresh negatives, one for each human story, while the device works. All that is random follows from the
//! seed, the record number and the epoch, so a run stopped after any epoch and resumed ends with the same weights, to the
//! bit, as one that was not, for any number of threads.

mod checkpoint;
mod configuration;
mod dev;
mod event;
mod example;
mod feed;
mod limits;
mod names;
mod objective;
mod run;
mod settings;
mod task;
mod teacher;
mod view;

#[cfg(test)]
mod peer;
#[cfg(test)]
mod together;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use half::bf16;
use sha2::{Digest, Sha256};
use storymeter_core::rng::CounterId;
use storymeter_core::split::{Split, assign};
use storymeter_core::{Place, Story};
use storymeter_encoder::cuda::{Cuda, Nccl, Number};
use storymeter_encoder::train::{Alone, Backend, Cpu, Exchange};
use storymeter_encoder::{Config, Stream, Tokenizer, load_parameters};
use storymeter_perturb::Perturber;
use storymeter_text::{lexicon::Lexicon, tagger::Tagger};

use crate::card::Reconstruction;
use crate::{Error, Heads, Result};
use example::{Example, Maker, Record};
use run::{Run, checkpoint_of};

pub use dev::{DevReport, Quality};
pub use event::{End, EpochReport, Event, Source, Spent, Start, StepReport};
pub use objective::Losses;
pub use settings::{LongStories, Preset, Settings};
pub use storymeter_encoder::cuda::NcclId;
pub use storymeter_encoder::train::Rank;

/// The name of the checkpoint in a model folder: what a resumed run starts from.
pub const CHECKPOINT: &str = checkpoint::FILE;

/// Where a run computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// This machine's processor, in single precision.
    #[default]
    Cpu,
    /// An NVIDIA GPU, by its number.
    Cuda {
        /// Which one, from 0.
        gpu: usize,
        /// How activations are kept; weights, gradients and sums are in single precision.
        activations: Activations,
        /// The other GPUs that train the same model, if any.
        team: Option<Team>,
    },
}

/// One of several GPUs that train a model together, each in a process of its own with the same [`Job`]. Each takes a part of
/// every batch; the first looks at the dev stories and writes the files. The result differs from that of one GPU by the rounding of
/// sums only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Team {
    /// Which one this is.
    pub rank: Rank,
    /// Where they meet.
    pub id: NcclId,
}

/// How a GPU keeps activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activations {
    /// In bf16: several times as fast.
    #[default]
    Bf16,
    /// In single precision.
    F32,
}

/// A run: where it starts, what it reads, where its model goes.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// A Hugging Face style folder with the encoder to start from.
    pub init: &'a Path,
    /// The human stories, in the order of their record numbers; split 90/5/5 by the seed.
    pub stories: &'a [Story],
    /// Names and sizes of the files they come from, in order; may be empty.
    pub files: &'a [(String, usize)],
    /// An existing folder for model and checkpoint.
    pub out: &'a Path,
    /// The settings.
    pub settings: &'a Settings,
    /// Folders of trained models whose judgement is learnt instead of the plain label; may be empty.
    pub teachers: &'a [PathBuf],
    /// Where to compute.
    pub device: Device,
    /// Go on where the checkpoint in `out` stands, if there is one.
    pub resume: bool,
}

/// Hears of what happens; an error of its own ends the run.
pub type Watch<'a> = &'a mut dyn FnMut(Event<'_>) -> Result<()>;

/// Trains; `watch` hears of every event. The folder holds the epoch with the smallest dev loss.
///
/// # Errors
/// For settings that do not fit, too few stories, a checkpoint of another run, a loss that is no longer a number, and
/// what the system says of files.
pub fn train(job: &Job<'_>, watch: Watch<'_>) -> Result<Vec<EpochReport>> {
    match job.device {
        Device::Cpu => train_on((&Cpu::default(), &Alone), "cpu", job, watch),
        Device::Cuda { gpu, activations: Activations::Bf16, team } => {
            train_on_gpu(Cuda::<bf16>::open(gpu)?, team, "cuda-bf16", job, watch)
        }
        Device::Cuda { gpu, activations: Activations::F32, team } => {
            train_on_gpu(Cuda::<f32>::open(gpu)?, team, "cuda-f32", job, watch)
        }
    }
}

/// The run on a GPU, alone or together with others.
fn train_on_gpu<N: Number>(
    cuda: Cuda<N>,
    team: Option<Team>,
    name: &str,
    job: &Job<'_>,
    watch: Watch<'_>,
) -> Result<Vec<EpochReport>> {
    match team {
        None => train_on((&cuda, &Alone), name, job, watch),
        Some(Team { rank, id }) => {
            let nccl = Nccl::join(&cuda, rank, id)?;
            train_on((&cuda, &nccl), &format!("{name}-{}-gpus", rank.of), job, watch)
        }
    }
}

/// The run on one device, or one rank's part of it.
fn train_on<B: Backend + Clone>(
    (backend, exchange): (&B, &dyn Exchange<B>),
    name: &str,
    job: &Job<'_>,
    watch: Watch<'_>,
) -> Result<Vec<EpochReport>> {
    let clock = Instant::now();
    let settings = job.settings;
    let config = Config::load(job.init)?;
    settings.check_for(&config)?;
    let mut tokenizer = Tokenizer::load(job.init, &config)?;
    let name_tokens =
        if settings.name_tokens { names::entries(&tokenizer) } else { BTreeMap::new() };
    for (text, id) in &name_tokens {
        tokenizer.add_token(text, *id);
    }
    let records = |part: Split| -> Vec<Record<'_>> {
        let numbered =
            job.stories.iter().enumerate().map(|(i, story)| Record { story, number: i as u64 });
        numbered.filter(|record| assign(settings.seed, record.number) == part).collect()
    };
    let (train, dev, test) = (records(Split::Train), records(Split::Dev), records(Split::Test));
    let mut start = Start {
        version: env!("CARGO_PKG_VERSION"),
        device: name.to_owned(),
        settings: settings.clone(),
        files: sources(job),
        stories_sha256: fingerprint(job.stories),
        init_sha256: weights_hash(job.init)?,
        teachers: Vec::new(),
        split: BTreeMap::from([("train", train.len()), ("dev", dev.len()), ("test", test.len())]),
        dev_examples: 0,
        parameters: 0,
        name_tokens,
        epochs_done: 0,
    };
    let (mut teachers, mut readers) = (Vec::new(), Vec::new());
    for folder in job.teachers {
        let (teacher, reader, fingerprint) = teacher::load(folder, settings, backend.clone())?;
        teachers.push(teacher);
        readers.push(reader);
        start.teachers.push(fingerprint);
    }
    // Before anything that takes long, so that a wrong folder is told at once.
    let kept = checkpoint_of(job, &start)?;
    let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
    let donors = example::donors(&train, settings, tagger, lexicon);
    let damage = settings.perturb.clone().checked();
    let damage = damage.map_err(|problem| Error::Training(problem.to_string()))?;
    let perturber = Perturber::new(damage, &donors, lexicon, tagger);
    let maker = Maker { settings, tokenizer: &tokenizer, perturber, readers };
    let dev: Vec<Example> = maker.make_dev(&dev).pairs.into_iter().flatten().collect();
    if train.is_empty() || dev.is_empty() {
        let problem = format!(
            "{} stories give {} to learn from and {} dev examples; both need some",
            job.stories.len(),
            train.len(),
            dev.len()
        );
        return Err(Error::Training(problem));
    }
    start.dev_examples = dev.len();
    start.epochs_done = kept.as_ref().map_or(0, |kept| kept.state.reports.len() as u64);
    let parameters = load_parameters(job.init, &config)?;
    let config = if settings.layers > 0 { config.with_layers(settings.layers) } else { config };
    let parameters = parameters.with_layers_of(&config);
    start.parameters = parameters.count();

    let mut run = Run::start(
        (backend.clone(), exchange, teachers),
        job,
        &start,
        (config, parameters, &tokenizer),
        kept,
        clock,
    )?;
    watch(Event::Start(&start))?;
    std::thread::scope(|scope| -> Result<()> {
        let epochs = start.epochs_done..settings.epochs;
        let fed = feed::feed(scope, &maker, &train, epochs.clone(), exchange.rank());
        for epoch in epochs {
            if run.should_stop()? {
                break;
            }
            run.epoch(epoch, &fed, &dev, watch)?;
        }
        Ok(())
    })?;
    watch(Event::End(&run.end()))?;
    Ok(run.reports)
}

/// New heads: small random scores, and a reconstruction matrix of its own that starts from the words' embeddings.
///
/// They are the same for every seed: the mean of runs with several seeds ([`crate::Model::average`]) is then one of heads that
/// lie in one place, too.
fn new_heads(settings: &Settings, config: &Config, words: &[f32]) -> Heads {
    let stream = CounterId::NewHeads.descend(Stream::new(0), Stream::child);
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

/// The files of a job, each with the hash of its stories.
fn sources(job: &Job<'_>) -> Vec<Source> {
    let mut rest = job.stories;
    let mut sources = Vec::new();
    for (name, stories) in job.files {
        let (here, later) = rest.split_at((*stories).min(rest.len()));
        sources.push(Source { name: name.clone(), stories: here.len(), sha256: fingerprint(here) });
        rest = later;
    }
    sources
}

/// SHA-256 of prompts and texts.
fn fingerprint(stories: &[Story]) -> String {
    let mut digest = Sha256::new();
    for story in stories {
        for text in [story.prompt.as_deref().unwrap_or_default(), &story.text] {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
    }
    hexadecimal(&digest.finalize())
}

/// SHA-256 of an encoder's file of weights.
fn weights_hash(folder: &Path) -> Result<String> {
    let path = folder.join("model.safetensors");
    let bytes =
        std::fs::read(&path).map_err(|e| storymeter_core::Error::io(Place::file(&path), e))?;
    Ok(hash(&bytes))
}

fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
