//! Trains BLEURT (Sellam, Das and Parikh, ACL 2020): BERT reads a reference and a story, and learns
//! the human rating of the story (UNION, section 4.1).
//!
//! The recipe is that of the authors' code: `[CLS] reference [SEP] story [SEP]` with segments 0 and
//! 1, the longer text cut at its end, the pooler with its hyperbolic tangent, one output, squared
//! errors, and the optimiser of BERT. The model of the epoch with the largest Kendall correlation
//! on the dev stories is kept. Stories of one item are in the same part of the split, of which nine
//! tenths are learned from.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use storymeter_core::Story;
use storymeter_core::configuration::LARGEST_SEED;
use storymeter_core::rng::CounterId;
use storymeter_core::split::{Split, assign};
use storymeter_core::terminal::excerpt;
use storymeter_encoder::train::{AdamW, Backend, ForwardOptions, LabelLoss, Network};
use storymeter_encoder::{
    Batch, Config, Family, LabelParts, LabelWeights, LinearWeights, Stream, Tensor, TextPair,
    Tokenizer, portions, tokenizer_files,
};
use storymeter_stats::correlation::{kendall, pearson};

use crate::configuration::{Configuration, Fault};
use crate::device::Device;
use crate::fine_tune::{self, EpochReport, Event, Identity, Plan, Quality, Task, Watch, fine_tune};
use crate::folder;
use crate::{Error, Result};

/// About how many tokens of dev stories go through the network at once.
const TOKENS_AT_ONCE: usize = 16 << 10;

/// What the bias of a new head starts from, as in the authors' code.
const FIRST_BIAS: f32 = 0.15;

/// The fewest tokens of a pair: three special ones, and some of each text.
const LEAST_TOKENS: u64 = 8;

storymeter_core::documented_settings! {
    /// The settings of training BLEURT. A field that a file does not name has its default.
    ///
    /// ```
    /// use storymeter_baselines::bleurt::Settings;
    /// use storymeter_baselines::configuration::Configuration;
    ///
    /// let settings = Settings { epochs: 10, ..Settings::default() };
    /// assert!(settings.to_toml().contains("epochs = 10"));
    /// ```
    pub struct Settings;

    /// Everything random follows from the seed: the split, the order of the examples, dropout and
    /// new weights.
    seed: u64 = 1;
    /// The number of passes over the training stories. Neither the UNION nor the BLEURT paper gives
    /// a number for a few hundred stories; 20 is our choice.
    epochs: u64 = 20;
    /// Stop after this number of epochs that are not better than an earlier one on the dev stories.
    /// 0 never stops early. The best epoch is saved in any case.
    patience: u64 = 0;
    /// The criterion whose mean rating is learned. If it is empty, the mean over all criteria of a
    /// story is learned, which is the rating itself where there is one criterion.
    criterion: String = String::new();
    /// The number of pairs of a reference and a story in a batch.
    batch: usize = 16;
    /// The largest number of tokens of a reference and its story together, special tokens included.
    /// Released checkpoints were trained with 128 or 512. A model that reads fewer has its own
    /// limit.
    max_tokens: usize = 512;
    /// The highest learning rate.
    learning_rate: f64 = 1e-5;
    /// The share of all steps in which the learning rate rises. After that it falls linearly.
    warm_up: f64 = 0.1;
    /// The weight decay. Biases and layer norms do not decay.
    weight_decay: f64 = 0.01;
    /// Gradients with a larger norm than this are scaled down to it.
    clip: f64 = 1.0;
    /// The epsilon of the optimiser, which is added to the root of the mean square.
    adam_epsilon: f64 = 1e-6;
    /// Whether the optimiser corrects its means for their start at zero. The authors' code, which
    /// uses that of BERT, does not.
    bias_correction: bool = false;
    /// Whether the encoder uses dropout. There is none after the pooler, as in the authors' code.
    dropout: bool = true;
    /// Whether activations are computed again in the backward pass. This takes about a tenth of the
    /// memory and a third more time.
    recompute: bool = false;
}

impl Configuration for Settings {
    fn fault(&self) -> Option<Fault> {
        let (within, positive, number) = (Fault::within, Fault::positive, Fault::number);
        number("seed", self.seed, 0, LARGEST_SEED)
            .or_else(|| number("epochs", self.epochs, 1, 1_000_000))
            .or_else(|| number("batch", self.batch as u64, 1, 65_536))
            .or_else(|| number("max_tokens", self.max_tokens as u64, LEAST_TOKENS, 1_000_000))
            .or_else(|| positive("learning_rate", self.learning_rate, 1.0))
            .or_else(|| within("warm_up", self.warm_up, 0.0, 1.0))
            .or_else(|| within("weight_decay", self.weight_decay, 0.0, 1e6))
            .or_else(|| positive("clip", self.clip, 1e6))
            .or_else(|| positive("adam_epsilon", self.adam_epsilon, 1.0))
    }
}

impl Settings {
    fn plan(&self) -> Plan {
        Plan {
            seed: self.seed,
            epochs: self.epochs,
            patience: self.patience,
            examples_a_batch: self.batch,
            tokens_a_batch: usize::MAX,
            learning_rate: self.learning_rate,
            warm_up: self.warm_up,
            optimiser: AdamW {
                eps: self.adam_epsilon as f32,
                decay: self.weight_decay as f32,
                bias_correction: self.bias_correction,
                clip: self.clip as f32,
                ..AdamW::default()
            },
            dropout: self.dropout,
            recompute: self.recompute,
            checkpoints: true,
        }
    }
}

/// A training run: what it starts from, what it reads, and where it writes.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The folder of the model to start from: a checkpoint of BLEURT, or any BERT or MPNet.
    pub init: &'a Path,
    /// The stories, each with at least one reference and one rating.
    pub stories: &'a [Story],
    /// The names of their files, and how many stories are in each.
    pub files: &'a [(String, usize)],
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
/// best epoch, which the metric `bleurt` and `transformers` read.
///
/// # Errors
/// - [`Error::Setting`] if a setting is impossible;
/// - [`Error::Model`] if the model to start from is neither a BERT nor an MPNet;
/// - [`Error::Story`] if a story has no reference or no rating;
/// - those of [`fine_tune()`].
pub fn train(job: &Job<'_>, watch: Watch<'_>) -> Result<Vec<EpochReport>> {
    let settings = job.settings;
    if let Some(fault) = settings.fault() {
        return Err(fault.into());
    }
    let LabelWeights { config, encoder, parts } = LabelWeights::open(job.init)?;
    if !matches!(config.family, Family::Bert | Family::Mpnet) {
        let problem = "this model is neither a BERT nor an MPNet, which BLEURT starts from";
        return Err(Error::Model { path: job.init.to_owned(), problem: problem.to_owned() });
    }
    let tokenizer = Tokenizer::load(job.init, &config)?;
    let longest = settings.max_tokens.min(config.max_tokens());
    let rated = rated(job.stories, &settings.criterion)?;
    let examples = examples(&rated, &tokenizer, longest);
    let (train, dev): (Vec<Example>, Vec<Example>) =
        examples.into_iter().partition(|example| is_for_training(example, settings));
    watch(Event::Note(&format!(
        "{} pairs of a reference and a story to learn from, {} to choose the best epoch by",
        train.len(),
        dev.len()
    )))?;
    let found = [&parts.pooler, &parts.labels].into_iter().flatten().flatten();
    let init_sha256 = folder::tensors_hash(encoder.tensors.iter().chain(found));
    let heads = heads(parts, config.hidden, settings.seed, watch)?;
    let task = Pairs {
        train,
        dev,
        longest,
        segments: config.segments,
        job,
        tokenizer_files: tokenizer_files(job.init)?,
    };
    let identity = Identity {
        kind: "bleurt".to_owned(),
        settings: json!(settings),
        stories_sha256: folder::stories_hash(job.stories),
        init_sha256,
    };
    let run = fine_tune::Job {
        device: job.device,
        plan: settings.plan(),
        identity: &identity,
        out: job.out,
        resume: job.resume,
    };
    fine_tune(&run, (config, encoder, heads), &task, watch)
}

/// A story with its rating and the number of its item.
struct Rated<'a> {
    story: &'a Story,
    item: u64,
    rating: f32,
}

/// A reference and a story as the model reads them.
struct Example {
    pair: TextPair,
    story: usize,
    item: u64,
    rating: f32,
}

/// Checks that the stories have references and ratings, and numbers their items.
fn rated<'a>(stories: &'a [Story], criterion: &str) -> Result<Vec<Rated<'a>>> {
    let mut items: HashMap<&str, u64> = HashMap::new();
    let mut rated = Vec::with_capacity(stories.len());
    for (at, story) in stories.iter().enumerate() {
        let lacks =
            |problem: String| Error::Story { number: at + 1, id: excerpt(&story.id, 60), problem };
        if story.references.is_empty() {
            return Err(lacks("has no reference".to_owned()));
        }
        let rating = rating(story, criterion).ok_or_else(|| match criterion {
            "" => lacks("has no rating".to_owned()),
            name => lacks(format!("has no rating of the criterion {}", excerpt(name, 60))),
        })?;
        let next = items.len() as u64;
        let item = *items.entry(story.item()).or_insert(next);
        rated.push(Rated { story, item, rating: rating as f32 });
    }
    Ok(rated)
}

/// The mean rating of a story on a criterion, or over all criteria if it is empty.
fn rating(story: &Story, criterion: &str) -> Option<f64> {
    if !criterion.is_empty() {
        return story.ratings.mean(criterion);
    }
    let means = story.ratings.iter().filter_map(|(name, _)| story.ratings.mean(name));
    let means: Vec<f64> = means.collect();
    (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
}

/// One example per reference.
fn examples(rated: &[Rated<'_>], tokenizer: &Tokenizer, longest: usize) -> Vec<Example> {
    let of_story = |(at, rated): (usize, &Rated<'_>)| -> Vec<Example> {
        let own = tokenizer.encode_plain(&rated.story.text);
        let example = |reference: &String| Example {
            pair: tokenizer.pair(&tokenizer.encode_plain(reference), &own, longest),
            story: at,
            item: rated.item,
            rating: rated.rating,
        };
        rated.story.references.iter().map(example).collect()
    };
    rated.par_iter().enumerate().flat_map_iter(of_story).collect()
}

/// Whether an example is learned from: nine tenths are. The dev and the test part of the usual
/// split choose the best epoch, as UNION's 40 of 400 stories do.
fn is_for_training(example: &Example, settings: &Settings) -> bool {
    assign(settings.seed, example.item) == Split::Train
}

/// The tensors of the head, some of which may be new.
fn heads(parts: LabelParts, width: usize, seed: u64, watch: Watch<'_>) -> Result<Vec<Tensor>> {
    let stream = CounterId::NewHeads.descend(Stream::new(seed), Stream::child);
    // Uniform within the limit of Glorot and Bengio (2010), the default of the layers in the
    // authors' code.
    let new = |name: &str, outputs: usize, first_bias: f32, stream: Stream| -> LinearWeights {
        let limit = (6.0 / (width + outputs) as f64).sqrt() as f32;
        let weight = |i: usize| limit * (2.0 * stream.uniform(i as u64) - 1.0);
        let data = (0..outputs * width).map(weight).collect();
        let weight = Tensor { name: format!("{name}.weight"), shape: vec![outputs, width], data };
        let data = vec![first_bias; outputs];
        [weight, Tensor { name: format!("{name}.bias"), shape: vec![outputs], data }]
    };
    let pooler = match parts.pooler {
        Some(pooler) => pooler,
        None => {
            watch(Event::Note("the model has no pooler: new weights are drawn for it"))?;
            new("pooler", width, 0.0, stream.child(0))
        }
    };
    let score = match parts.labels.filter(|[_, bias]| bias.data.len() == 1) {
        Some(score) => score,
        None => {
            watch(Event::Note(
                "the model has no head for one score: new weights are drawn for it",
            ))?;
            new("score", 1, FIRST_BIAS, stream.child(1))
        }
    };
    Ok(pooler.into_iter().chain(score).collect())
}

/// What is learned: the ratings of pairs.
struct Pairs<'a> {
    train: Vec<Example>,
    dev: Vec<Example>,
    longest: usize,
    segments: usize,
    job: &'a Job<'a>,
    tokenizer_files: Vec<(&'static str, Vec<u8>)>,
}

impl Pairs<'_> {
    /// Some examples as a batch, and the row of each first token.
    fn batch<'e>(&self, examples: impl Iterator<Item = &'e Example>) -> (Batch, Vec<u32>) {
        let mut batch = Batch::new();
        for Example { pair, .. } in examples {
            match self.segments {
                0 | 1 => batch.push(&pair.ids),
                _ => batch.push_pair(&pair.ids, pair.second),
            }
        }
        let rows = (0..batch.len()).map(|at| batch.span(at).start as u32).collect();
        (batch, rows)
    }
}

impl Task for Pairs<'_> {
    fn examples(&self) -> usize {
        self.train.len()
    }

    fn dev_examples(&self) -> usize {
        self.dev.len()
    }

    fn tokens(&self, example: usize) -> usize {
        self.train[example].pair.ids.len()
    }

    fn learn<B: Backend>(
        &self,
        network: &mut Network<B>,
        examples: &[usize],
        options: ForwardOptions,
    ) -> Result<()> {
        let examples = || examples.iter().map(|example| &self.train[*example]);
        let (batch, rows) = self.batch(examples());
        let ratings: Vec<f32> = examples().map(|example| example.rating).collect();
        let weights = vec![1.0 / rows.len() as f32; rows.len()];
        let trace = network.forward(&batch, options)?;
        let (mut states, head) = (network.states(&trace), network.pooled_head(0).without_dropout());
        let kind = LabelLoss::SquaredError;
        network.pooled_loss(&mut states, head, &rows, (&ratings, &weights), kind, 0);
        let gradient = states.into_gradient();
        network.backward(trace, gradient);
        Ok(())
    }

    /// The score of a story is the largest over its references, as in the metric.
    fn evaluate<B: Backend>(&self, network: &mut Network<B>) -> Result<Quality> {
        let mut stories: Vec<(usize, f64, f64)> = Vec::new();
        for now in portions(&self.dev, TOKENS_AT_ONCE, |example| example.pair.ids.len()) {
            let (batch, rows) = self.batch(now.iter());
            let outputs = network.pooled_outputs(&batch, network.pooled_head(0), &rows)?;
            for (example, output) in now.iter().zip(outputs) {
                let (output, rating) = (f64::from(output), f64::from(example.rating));
                match stories.last_mut().filter(|(story, ..)| *story == example.story) {
                    Some((_, best, _)) => *best = best.max(output),
                    None => stories.push((example.story, output, rating)),
                }
            }
        }
        let (scores, ratings): (Vec<f64>, Vec<f64>) =
            stories.iter().map(|(_, score, rating)| (*score, *rating)).unzip();
        let squares = scores.iter().zip(&ratings).map(|(score, rating)| (score - rating).powi(2));
        let mut quality = Quality::of_loss(squares.sum::<f64>() / scores.len().max(1) as f64);
        // Where a correlation is not defined, as with equal ratings, the loss alone counts.
        quality.rank = -1.0;
        if let Some(tau) = kendall(&scores, &ratings).ok().map(|found| found.coefficient)
            && tau.is_finite()
        {
            quality.rank = tau;
            quality.figures.insert("kendall".to_owned(), tau);
        }
        if let Some(r) = pearson(&scores, &ratings).ok().map(|found| found.coefficient)
            && r.is_finite()
        {
            quality.figures.insert("pearson".to_owned(), r);
        }
        Ok(quality)
    }

    fn save<B: Backend>(
        &self,
        network: &mut Network<B>,
        mut record: Map<String, Value>,
    ) -> Result<()> {
        let mut heads = network.heads()?.into_iter();
        let mut pair = || Some([heads.next()?, heads.next()?]);
        let parts = LabelParts { pooler: pair(), labels: pair() };
        let (config, encoder) = (network.config().clone(), network.parameters()?);
        let (config, tensors) = LabelWeights { config, encoder, parts }.to_file()?;
        let config = with_length(config, self.longest);
        let at = |name: &str| self.job.out.join(name);
        let mut files = vec![
            ("config.json", config.to_bytes(&at("config.json"))?),
            ("model.safetensors", tensors.to_bytes(&at("model.safetensors"))?),
        ];
        files.extend(self.tokenizer_files.iter().cloned());
        record.insert("story_files".to_owned(), json!(self.job.files));
        folder::save(self.job.out, &files, record)
    }
}

/// The configuration with the number of tokens that the metric reads.
fn with_length(mut config: Config, longest: usize) -> Config {
    let field = config.source.entry("task_specific_params").or_insert_with(|| json!({}));
    if !field.is_object() {
        *field = json!({});
    }
    field["bleurt"] = json!({ "max_tokens": longest });
    config
}
