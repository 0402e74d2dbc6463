//! Trains a model on what readers said about stories: one head for each criterion, and one for all.
//!
//! Sets of rated stories differ in their scales, raters and questions, so ratings are standardised
//! inside each set, and criteria that mean the same are joined by a [`CriteriaMap`]. The encoder
//! reads a story in windows of whole sentences, and linear heads on the mean of its vectors learn
//! the ratings by squared errors. A story weighs more if more people rated it.
//!
//! The best epoch is chosen by the stories of some prompts of which nothing is learned, never by
//! other stories of the same prompt. What a model says about stories that were left out of training
//! ([`LeftOut`]) is written to [`HELD_OUT`]; `storymeter_union::criteria` calibrates models with
//! it.

mod damage;
mod map;
mod preference;
mod rated;
mod sets;
mod settings;
mod start;
mod task;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use rand_chacha::rand_core::Rng;
use rayon::prelude::*;
use serde_json::json;
use storymeter_core::Story;
use storymeter_core::rng::{CounterId, StreamId};
use storymeter_encoder::{Stream, Tensor};
#[cfg(feature = "cuda")]
use storymeter_union::GpuPrecision;
use storymeter_union::criteria::{SentenceModel, UnionShare, placed_windows};
use storymeter_union::{Card, EmbeddedModel, Kind, Location, Pooling, Precision, Reconstruction};

use crate::configuration::Configuration;
use crate::device::Device;
use crate::fine_tune::{self, EpochReport, Event, Identity, Watch, fine_tune};
use crate::folder;
use crate::{Error, Result};
use rated::{Prepared, prepare};
use start::Beginning;
use task::{Example, Lesson, Lessons, Reading, Text, parts};

pub use map::CriteriaMap;
pub use rated::{LeftOut, OVERALL, Set};
pub use settings::Settings;
pub use storymeter_union::criteria::HeldOut;

/// The file in the output folder with what the model says about the stories that were left out: one
/// [`HeldOut`] per line.
pub const HELD_OUT: &str = "held-out.jsonl";

/// How many examples the sentence encoder reads at once.
const EXAMPLES_AT_ONCE: usize = 4096;

/// A training run: what it starts from, what it reads, and where it writes.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// What training starts from: the folder of an encoder, or a learned model, by its folder, file
    /// or name.
    pub init: &'a Path,
    /// The sets of rated stories.
    pub sets: &'a [Set<'a>],
    /// Which of their criteria mean the same.
    pub map: &'a CriteriaMap,
    /// What is left out of training.
    pub left_out: LeftOut<'a>,
    /// Human stories, which are damaged and learned from beside the ratings. There may be none.
    pub stories: &'a [Story],
    /// The folder of a sentence encoder, which compares stories with their prompts. It becomes part
    /// of the model, as it is, unless the model learns its vectors ([`Settings::sentence_weight`]).
    pub sentences: Option<&'a Path>,
    /// An existing folder for the model and the checkpoint.
    pub out: &'a Path,
    /// The settings.
    pub settings: &'a Settings,
    /// The device on which to compute.
    pub device: Device,
    /// Whether to continue from the checkpoint in `out`, if there is one.
    pub resume: bool,
}

/// Trains a model, and returns one report per epoch. The output folder then holds the model of the
/// best epoch, which the metric `criteria` reads.
///
/// # Errors
/// - [`Error::Setting`] if a setting is impossible;
/// - [`Error::Story`] if a story has no rating;
/// - [`Error::Ratings`] if the sets do not fit together;
/// - [`Error::Encoder`] and [`Error::Learned`] for what training starts from;
/// - those of [`fine_tune()`].
pub fn train(job: &Job<'_>, watch: Watch<'_>) -> Result<Vec<EpochReport>> {
    let settings = job.settings;
    if let Some(fault) = settings.fault() {
        return Err(fault.into());
    }
    let rated = prepare(job.sets, job.map, job.left_out, settings)?;
    for note in &rated.notes {
        watch(Event::Note(note))?;
    }
    let beginning = Beginning::open(job.init, settings.layers)?;
    let card = card(settings, &beginning);
    if settings.max_tokens > beginning.config.max_tokens() {
        let problem = format!("must be at most {}", beginning.config.max_tokens());
        return Err(Error::Setting { field: "max_tokens", problem });
    }
    let (mut examples, dev, left_out) = readings(&rated, settings, &beginning, &card);
    watch(Event::Note(&said(&rated, &dev, &left_out)))?;
    let damaged = damage::pairs(job.stories, settings, &beginning.tokenizer, &card)?;
    if !job.stories.is_empty() {
        watch(Event::Note(&format!("{} whole and damaged stories beside them", damaged.len())))?;
    }
    let mut sentences = job.sentences.map(SentenceModel::load).transpose()?;
    let described = sentences.as_ref().map(SentenceModel::describe);
    let mut heads = new_heads(&rated.heads, beginning.config.hidden);
    if settings.sentence_weight > 0.0 {
        let Some(teacher) = sentences.take() else {
            let problem = "needs a sentence encoder to learn from".to_owned();
            return Err(Error::Setting { field: "sentence_weight", problem });
        };
        watch(Event::Note("the sentence encoder reads the stories"))?;
        let width = teach_sentences(&teacher, job.device, &rated, &mut examples)?;
        heads.extend(new_head(("sentence", 6), width, beginning.config.hidden));
    }
    let closeness = match &sentences {
        Some(model) => {
            let stories: Vec<&Story> =
                left_out.iter().map(|reading| rated.stories[reading.story].story).collect();
            model.scorer(Precision::Int8)?.closeness(&stories)?
        }
        None => vec![None; left_out.len()],
    };
    let union = union_share(job, &rated)?;
    if !damaged.is_empty() {
        heads.extend(beginning.damage_head());
    }
    let lessons = damaged.into_iter().map(|one| Example {
        texts: vec![Text { ids: one.ids, place: 0..0, vector: Vec::new() }],
        lesson: Lesson::Damage { whole: one.whole },
    });
    let task = Lessons {
        job,
        rated,
        examples: examples.into_iter().chain(lessons).collect(),
        dev,
        left_out,
        card,
        tokenizer_files: beginning.tokenizer_files,
        union,
        sentences,
        closeness,
    };
    let stories: Vec<Story> =
        job.sets.iter().flat_map(|set| set.stories).chain(job.stories).cloned().collect();
    let identity = Identity {
        kind: "criteria".to_owned(),
        settings: json!({
            "training": settings,
            "sets": job.sets.iter().map(|set| (set.name, set.stories.len())).collect::<Vec<_>>(),
            "map": job.map,
            "sentences": described,
            "items": items_hash(job.sets),
            "left_out": match job.left_out {
                LeftOut::Nothing => json!(null),
                LeftOut::Fold { number, of } => json!({ "fold": number, "of": of }),
                LeftOut::Set(name) => json!({ "set": name }),
            },
        }),
        stories_sha256: folder::stories_hash(&stories),
        init_sha256: folder::tensors_hash(&beginning.parameters.tensors),
    };
    drop(stories);
    let run = fine_tune::Job {
        device: job.device,
        plan: settings.plan(),
        identity: &identity,
        out: job.out,
        resume: job.resume,
    };
    fine_tune(&run, (beginning.config, beginning.parameters, heads), &task, watch)
}

/// The SHA-256 of the items of all stories: they decide what is compared and what is left out.
fn items_hash(sets: &[Set<'_>]) -> String {
    let items = sets.iter().flat_map(|set| set.stories).map(Story::item);
    folder::sha256(items.collect::<Vec<_>>().join("\0").as_bytes())
}

/// How many stories the model learns from, and how many it does not.
fn said(rated: &Prepared<'_>, dev: &[Reading], left_out: &[Reading]) -> String {
    let learned = rated.stories.len() - dev.len() - left_out.len();
    let mut said = format!("{learned} rated stories to learn from");
    if !dev.is_empty() {
        said += &format!(", {} of other prompts to choose the best epoch by", dev.len());
    }
    if !left_out.is_empty() {
        said += &format!(", {} left out", left_out.len());
    }
    said
}

/// The card of the model, without its criteria and the record of the training.
fn card(settings: &Settings, beginning: &Beginning) -> Card {
    Card {
        kind: Kind::Criteria,
        pooling: Pooling::Mean,
        reconstruction: Reconstruction::None,
        diagnosis: false,
        name_tokens: beginning.name_tokens.clone(),
        normalise: settings.normalise,
        delexicalise: settings.delexicalise,
        max_tokens: settings.max_tokens,
        prompts: false,
        grid: settings.grid(),
        ..Card::default()
    }
}

/// The windows to learn from, the stories that choose the best epoch, and those left out.
fn readings(
    rated: &Prepared<'_>,
    settings: &Settings,
    beginning: &Beginning,
    card: &Card,
) -> (Vec<Example>, Vec<Reading>, Vec<Reading>) {
    let tokenizer = &beginning.tokenizer;
    let read = |story: usize| placed_windows(tokenizer, card, rated.stories[story].story);
    let all: Vec<Vec<(Vec<u32>, Range<usize>)>> =
        (0..rated.stories.len()).into_par_iter().map(read).collect();
    let (mut examples, mut dev, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    // The number of the example in which the stories of an item are compared.
    let mut compared: HashMap<u64, usize> = HashMap::new();
    for (number, windows) in all.into_iter().enumerate() {
        let story = &rated.stories[number];
        if story.left_out || is_for_choice(story.item, settings) {
            let windows = windows.into_iter().map(|(ids, _)| ids).collect();
            let readings = if story.left_out { &mut left_out } else { &mut dev };
            readings.push(Reading { story: number, windows });
            continue;
        }
        let tokens: usize = windows.iter().map(|(ids, _)| ids.len()).sum();
        let share = |ids: &[u32]| ids.len() as f32 / tokens as f32;
        if !story.is_compared {
            examples.extend(windows.into_iter().map(|(ids, place)| Example {
                lesson: Lesson::Ratings { story: number, share: share(&ids) },
                texts: vec![Text { ids, place, vector: Vec::new() }],
            }));
            continue;
        }
        let at = *compared.entry(story.item).or_insert_with(|| {
            let lesson = Lesson::Preferences { stories: Vec::new() };
            examples.push(Example { texts: Vec::new(), lesson });
            examples.len() - 1
        });
        let Example { texts, lesson } = &mut examples[at];
        let first = texts.len();
        let own = windows.iter().enumerate().map(|(at, (ids, _))| (first + at, share(ids)));
        if let Lesson::Preferences { stories } = lesson {
            stories.push((number, own.collect()));
        }
        texts.extend(windows.into_iter().map(|(ids, place)| Text {
            ids,
            place,
            vector: Vec::new(),
        }));
    }
    (examples, dev, left_out)
}

/// Fills in the vectors that a sentence encoder gives the windows, and returns their length. Every
/// coordinate is about 1 in size, as ratings are.
fn teach_sentences(
    teacher: &SentenceModel,
    device: Device,
    rated: &Prepared<'_>,
    examples: &mut [Example],
) -> Result<usize> {
    let scorer = match device {
        Device::Cpu => teacher.scorer(Precision::Int8)?,
        // In int8 the vectors are those of the CPU.
        #[cfg(feature = "cuda")]
        Device::Cuda { gpu, .. } => teacher.scorer_on(gpu, GpuPrecision::Int8)?,
    };
    let width = teacher.describe().width;
    let scale = (width as f64).sqrt();
    for part in examples.chunks_mut(EXAMPLES_AT_ONCE) {
        let texts = part.iter().flat_map(|Example { texts, lesson }| {
            texts.iter().enumerate().filter_map(move |(at, text)| {
                let story = lesson.story_of(at)?;
                Some(rated.stories[story].story.text.get(text.place.clone()).unwrap_or_default())
            })
        });
        let texts: Vec<&str> = texts.collect();
        let mut vectors = scorer.vectors(&texts)?.into_iter();
        for Example { texts, lesson } in part {
            for (at, text) in texts.iter_mut().enumerate() {
                if lesson.story_of(at).is_some() {
                    let vector = vectors.next().unwrap_or_default();
                    text.vector = vector.into_iter().map(|x| (x * scale) as f32).collect();
                }
            }
        }
    }
    Ok(width)
}

/// Whether the stories of an item choose the best epoch.
fn is_for_choice(item: u64, settings: &Settings) -> bool {
    let draw = StreamId::Split { record: item }.rng(settings.seed).next_u32();
    f64::from(draw) < settings.dev_share * f64::from(u32::MAX)
}

/// What UNION says about the rated stories, if it counts.
fn union_share(job: &Job<'_>, rated: &Prepared<'_>) -> Result<Option<(UnionShare, Vec<f64>)>> {
    let settings = job.settings;
    if settings.union_share == 0.0 && settings.union_share_overall == 0.0 {
        return Ok(None);
    }
    let embedded = Location::Embedded(EmbeddedModel::Union);
    let union = match job.device {
        Device::Cpu => embedded.scorer(Precision::Int8)?,
        // In int8 the scores are those of the CPU, byte for byte.
        #[cfg(feature = "cuda")]
        Device::Cuda { gpu, .. } => embedded.scorer_on_gpu(gpu, GpuPrecision::Int8)?,
    };
    let stories: Vec<&Story> = rated.stories.iter().map(|rated| rated.story).collect();
    Ok(Some(UnionShare::measure(&union, &stories)?))
}

/// The heads for the criteria before training. They are the same for every seed, so that the mean
/// of models with different seeds makes sense.
fn new_heads(names: &[String], width: usize) -> Vec<Tensor> {
    new_head(("criteria", 5), names.len(), width).into()
}

/// A head of this name with small random weights, which are those of this number.
fn new_head((name, number): (&str, u64), count: usize, width: usize) -> [Tensor; 2] {
    let stream = CounterId::NewHeads.descend(Stream::new(0), Stream::child).child(number);
    let data = (0..(count * width) as u64).map(|i| 0.02 * stream.normal(i)).collect();
    let [weight, bias] = parts(name);
    [
        Tensor { name: weight, shape: vec![count, width], data },
        Tensor { name: bias, shape: vec![count], data: vec![0.0; count] },
    ]
}
