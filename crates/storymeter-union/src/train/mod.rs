//! Training: makes a model folder from human stories.
//!
//! Negatives, one per human story, are made while the device works. All random numbers
//! follow from the seed, the record number and the epoch. So a run that was stopped after any epoch
//! and resumed ends with the same weights, to the bit, as one that was not stopped, for any number
//! of threads.

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
mod own_antonyms;
#[cfg(test)]
mod peer;
#[cfg(test)]
mod together;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[cfg(feature = "cuda")]
use half::bf16;
use rand_chacha::rand_core::Rng;
use sha2::{Digest, Sha256};
use storymeter_core::Story;
use storymeter_core::rng::{CounterId, StreamId};
use storymeter_core::split::{Split, assign};
#[cfg(feature = "cuda")]
use storymeter_encoder::cuda::{Cuda, Nccl, Number};
use storymeter_encoder::train::{Alone, Backend, Cpu, Exchange};
use storymeter_encoder::{Config, Stream, Tokenizer, load_parameters, read_tensor_file, source};
use storymeter_perturb::Perturber;
use storymeter_text::{lexicon::Lexicon, tagger::Tagger};

use crate::card::{Pooling, Reconstruction};
use crate::model::hexadecimal;
use crate::window::prompt_of;
use crate::{Error, Heads, Result};
use example::{Example, Maker, Record};
use feed::{Feed, Make};
use run::{TrainingRun, checkpoint_of};

pub use checkpoint::Checkpoint;
pub use dev::{DevReport, Quality};
pub use event::{End, EpochReport, Event, Spent, Start, StepReport, StoryFile};
pub use names::{entries as name_tokens, start as start_name_tokens};
pub use objective::Losses;
pub use settings::{Batches, LongStories, Preset, Settings};
#[cfg(feature = "cuda")]
pub use storymeter_encoder::cuda::{Activations, NcclId};
pub use storymeter_encoder::train::Rank;

/// The name of the checkpoint file in a model folder, from which a resumed run continues.
pub const CHECKPOINT: &str = checkpoint::FILE;

/// The device on which a run computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Device {
    /// The CPU, in single precision.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda {
        /// The number of the GPU, from 0.
        gpu: usize,
        /// The precision of activations. Weights, gradients and sums are in single precision.
        activations: Activations,
        /// The other GPUs that train the same model, if any.
        team: Option<Team>,
    },
}

/// One of several GPUs that train a model together.
///
/// Each GPU has its own process with the same [`Job`], and computes a part of every batch. The
/// first one evaluates the dev stories and writes the files. The result differs from that of one
/// GPU only by the rounding of sums.
#[cfg(feature = "cuda")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Team {
    /// The number of this GPU in the team.
    pub rank: Rank,
    /// The identifier by which the processes find each other.
    pub id: NcclId,
}

/// A training run: what it starts from, what it reads, and where it writes.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The folder of the encoder to start from, in the layout of Hugging Face.
    pub init: &'a Path,
    /// The human stories, in the order of their record numbers. The seed splits them into 90% for
    /// training, 5% for dev and 5% for test.
    pub stories: &'a [Story],
    /// Stories that machines wrote. If they are given, the model learns to tell human stories from
    /// them, and no story is damaged: this is DisScore. Each machine story has one human partner.
    pub machine: Option<&'a [Story]>,
    /// The names of the files from which the stories come, with the number of stories in each, in
    /// order: first the human ones, then those of machines. It may be empty.
    pub files: &'a [(String, usize)],
    /// An existing folder for the model and the checkpoint.
    pub out: &'a Path,
    /// The settings.
    pub settings: &'a Settings,
    /// The antonyms and keywords by which substitution makes negatives.
    pub lexicon: &'a Lexicon,
    /// The folders of trained models whose scores are learned instead of the plain labels. It may
    /// be empty.
    pub teachers: &'a [PathBuf],
    /// The device on which to compute.
    pub device: Device,
    /// Whether to continue from the checkpoint in `out`, if there is one.
    pub resume: bool,
}

/// A function that is called with every event. If it returns an error, the run ends with that
/// error.
pub type Watch<'a> = &'a mut dyn FnMut(Event<'_>) -> Result<()>;

/// Trains a model, and returns one report per epoch. The output folder then holds the weights of
/// the epoch with the smallest loss on the dev stories.
///
/// # Errors
/// - [`Error::Setting`] if a setting is impossible or does not fit the encoder;
/// - [`Error::TooFewStories`] and [`Error::NothingToLearn`] if the stories do not suffice;
/// - [`Error::OtherRun`] if the checkpoint belongs to another run;
/// - [`Error::Diverged`] if the loss is not finite any more;
/// - [`Error::LostThread`] if a thread that makes examples panicked;
/// - [`Error::Encoder`], [`Error::File`] and [`Error::Model`] for the device and for files;
/// - the error that `watch` returned.
pub fn train(job: &Job<'_>, watch: Watch<'_>) -> Result<Vec<EpochReport>> {
    match job.device {
        Device::Cpu => train_on((&Cpu::default(), &Alone), "cpu", job, watch),
        #[cfg(feature = "cuda")]
        Device::Cuda { gpu, activations: Activations::Bf16, team } => {
            train_on_gpu(Cuda::<bf16>::open(gpu)?, team, "cuda-bf16", job, watch)
        }
        #[cfg(feature = "cuda")]
        Device::Cuda { gpu, activations: Activations::F32, team } => {
            train_on_gpu(Cuda::<f32>::open(gpu)?, team, "cuda-f32", job, watch)
        }
    }
}

/// Runs on one GPU, alone or as part of a team.
#[cfg(feature = "cuda")]
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

/// Runs on one device, or does one rank's part of a run.
fn train_on<B: Backend + Clone>(
    devices: (&B, &dyn Exchange<B>),
    name: &str,
    job: &Job<'_>,
    watch: Watch<'_>,
) -> Result<Vec<EpochReport>> {
    train_making(devices, name, job, watch, &|maker, records, epoch| {
        maker.make_epoch(records, epoch)
    })
}

/// As [`train_on`], with a function that makes the examples of an epoch.
fn train_making<B: Backend + Clone>(
    (backend, exchange): (&B, &dyn Exchange<B>),
    name: &str,
    job: &Job<'_>,
    watch: Watch<'_>,
    make: Make<'_>,
) -> Result<Vec<EpochReport>> {
    let clock = Instant::now();
    let settings = job.settings;
    let config = Config::load(job.init)?;
    settings.check_for(&config, job.init)?;
    if job.machine.is_some() {
        settings.check_for_machine_stories()?;
    }
    let mut tokenizer = Tokenizer::load(job.init, &config)?;
    let name_tokens =
        if settings.name_tokens { names::entries(&tokenizer) } else { BTreeMap::new() };
    for (text, id) in &name_tokens {
        tokenizer.add_token(text, *id);
    }
    let records = |part: Split| -> Vec<Record<'_>> {
        let numbered =
            job.stories.iter().enumerate().map(|(i, story)| Record::new(story, i as u64));
        numbered.filter(|record| assign(settings.seed, record.number) == part).collect()
    };
    let [train, dev, test] =
        [Split::Train, Split::Dev, Split::Test].map(|part| match job.machine {
            Some(machine) => partners(settings.seed, records(part), machine, part),
            None => records(part),
        });
    let mut start = Start {
        version: env!("CARGO_PKG_VERSION"),
        device: name.to_owned(),
        settings: settings.clone(),
        files: sources(job),
        stories_sha256: fingerprint(job.all_stories()),
        init_sha256: weights_hash(job.init)?,
        lexicon: job.lexicon.description(),
        teachers: Vec::new(),
        split: BTreeMap::from([("train", train.len()), ("dev", dev.len()), ("test", test.len())]),
        stories_with_prompts: job.stories.iter().filter(|s| prompt_of(s).is_some()).count(),
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
    // This comes before anything that takes long, so that a wrong folder is reported at once.
    let kept = checkpoint_of(job, &start)?;
    let (tagger, lexicon) = (Tagger::embedded(), job.lexicon);
    let donors = example::donors(&train, settings, tagger, lexicon);
    let damage = settings.perturb.clone().checked();
    let damage = damage
        .map_err(|problem| Error::Setting { field: "perturb", problem: problem.to_string() })?;
    let perturber = Perturber::new(damage, &donors, lexicon, tagger);
    let maker = Maker { settings, tokenizer: &tokenizer, perturber, lexicon, tagger, readers };
    let dev: Vec<Example> = maker.make_dev(&dev).pairs.into_iter().flatten().collect();
    if train.is_empty() || dev.is_empty() {
        return Err(Error::TooFewStories {
            stories: job.stories.len(),
            train: train.len(),
            dev_examples: dev.len(),
        });
    }
    start.dev_examples = dev.len();
    start.epochs_done = kept.as_ref().map_or(0, |kept| kept.state.reports.len() as u64);
    let parameters = load_parameters(job.init, &config)?;
    let config = if settings.layers > 0 { config.with_layers(settings.layers) } else { config };
    let parameters = parameters.with_layers_of(&config);
    start.parameters = parameters.count();

    let mut run = TrainingRun::start(
        (backend.clone(), exchange, teachers),
        job,
        &start,
        (config, parameters, &tokenizer),
        kept,
        clock,
    )?;
    watch(Event::Start(&start))?;
    run.save_model_again()?;
    std::thread::scope(|scope| -> Result<()> {
        let epochs = start.epochs_done..settings.epochs;
        let mut feed = Feed::start(scope, (&maker, make), &train, epochs.clone(), exchange.rank());
        let trained = run.epochs(epochs, &mut feed, &dev, watch);
        // The first error is the cause of the second, if there are two.
        trained.and(feed.finish())
    })?;
    watch(Event::End(&run.end()))?;
    Ok(run.reports)
}

/// The heads before training: small random weights, a reconstruction matrix that starts as a copy
/// of the word embeddings, and the pooler of the encoder if its folder has one.
///
/// They are the same for every seed. So the heads of runs with different seeds stay close to each
/// other, and their mean ([`crate::Model::average`]) makes sense.
fn new_heads(
    settings: &Settings,
    config: &Config,
    words: &[f32],
    pooler: Option<[Vec<f32>; 2]>,
) -> Heads {
    let stream = CounterId::NewHeads.descend(Stream::new(0), Stream::child);
    let random = |part: u64, count: usize| -> Vec<f32> {
        (0..count as u64).map(|i| 0.02 * stream.child(part).normal(i)).collect()
    };
    let width = config.hidden;
    let mut heads = Heads { score: random(0, width), ..Heads::default() };
    if settings.diagnosis {
        heads.diagnosis = random(1, 4 * width);
        heads.diagnosis_bias = vec![0.0; 4];
    }
    if settings.pooling == Pooling::Pooler {
        [heads.pooler, heads.pooler_bias] =
            pooler.unwrap_or_else(|| [random(2, width * width), vec![0.0; width]]);
    }
    match settings.reconstruction {
        Reconstruction::None | Reconstruction::Tied => {}
        Reconstruction::Own => heads.reconstruction = words.to_vec(),
        Reconstruction::Dense => {
            // The released code does not find this layer in BERT's checkpoint, because its name
            // differs, so it starts from random weights there too.
            heads.dense = random(3, width * width);
            heads.dense_bias = vec![0.0; width];
            heads.norm = vec![1.0; width];
            heads.norm_bias = vec![0.0; width];
        }
    }
    if settings.reconstruction != Reconstruction::None {
        heads.reconstruction_bias = vec![0.0; config.vocabulary];
    }
    heads
}

/// The weight and the bias of the pooler that an encoder's folder has, if it has one that fits.
fn pooler_of(folder: &Path, config: &Config) -> Result<Option<[Vec<f32>; 2]>> {
    let tensors = source::open(folder)?.tensors;
    let find = |ending: &str, count: usize| -> Result<Option<Vec<f32>>> {
        let Some(name) = tensors.names().into_iter().find(|name| name.ends_with(ending)) else {
            return Ok(None);
        };
        let found = tensors.get(&name)?;
        Ok(found.map(|tensor| tensor.data).filter(|data| data.len() == count))
    };
    let weight = find("pooler.dense.weight", config.hidden * config.hidden)?;
    let bias = find("pooler.dense.bias", config.hidden)?;
    Ok(weight.zip(bias).map(|(weight, bias)| [weight, bias]))
}

impl<'a> Job<'a> {
    /// The human stories and then those of machines.
    fn all_stories(&self) -> impl Iterator<Item = &'a Story> + use<'a> {
        self.stories.iter().chain(self.machine.unwrap_or_default())
    }
}

/// Gives each machine story of a part a human one, or the other way round if there are fewer human
/// ones, so that both labels are equally frequent.
fn partners<'a>(
    seed: u64,
    mut human: Vec<Record<'a>>,
    machine: &'a [Story],
    part: Split,
) -> Vec<Record<'a>> {
    human.sort_by_cached_key(|record| {
        StreamId::Partner { record: record.number }.rng(seed).next_u64()
    });
    // Machine stories are split by numbers of their own, so that no part shares one with another.
    let machine = machine.iter().enumerate().filter(|(i, _)| assign(seed, !(*i as u64)) == part);
    let pairs = human.into_iter().zip(machine);
    pairs.map(|(record, (_, machine))| Record { machine: Some(machine), ..record }).collect()
}

/// The files of a job with the hash of the stories in each.
fn sources(job: &Job<'_>) -> Vec<StoryFile> {
    let mut remaining = job.all_stories();
    let mut sources = Vec::new();
    for (name, stories) in job.files {
        let here: Vec<&Story> = remaining.by_ref().take(*stories).collect();
        sources.push(StoryFile {
            name: name.clone(),
            stories: here.len(),
            sha256: fingerprint(here.into_iter()),
        });
    }
    sources
}

/// The SHA-256 of the prompts and texts of stories.
fn fingerprint<'a>(stories: impl Iterator<Item = &'a Story>) -> String {
    let mut digest = Sha256::new();
    for story in stories {
        for text in [story.prompt.as_deref().unwrap_or_default(), &story.text] {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
    }
    hexadecimal(&digest.finalize())
}

/// The SHA-256 of the file with the weights of an encoder.
fn weights_hash(folder: &Path) -> Result<String> {
    Ok(hash(&read_tensor_file(&folder.join("model.safetensors"))?))
}

fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
