//! A causal language model, fine-tuned on stories. The metric `perplexity` reads what is saved.
//!
//! UNION's perplexity is that of a GPT-2 which was fine-tuned on the training stories (Guan and
//! Huang, EMNLP 2020, section 4.1 and Table 4). The paper says neither for how long nor how fast.
//! OpenMEVA (Guan et al., ACL 2021), by the same authors, takes five epochs, a learning rate of
//! 5e-5 and one story per sequence; that is the default here.
//!
//! Each story is a sequence of its own, framed as `perplexity` frames it: the token that begins a
//! text, if the tokeniser has one, and then the story. The loss is the mean over all predicted
//! tokens of a batch.

use std::path::Path;

use rayon::prelude::*;
use serde_json::{Map, Value};
use storymeter_core::Story;
use storymeter_core::configuration::LARGEST_SEED;
use storymeter_core::split::{Split, assign};
use storymeter_encoder::train::{
    AdamW, Backend, ForwardOptions, LanguageModelWeights, Network, Trace,
};
use storymeter_encoder::{Batch, Config, Tokenizer, portions};
use storymeter_text::names::Delexicaliser;

use crate::configuration::{Configuration, Fault};
use crate::device::Device;
use crate::fine_tune::{EpochReport, Event, Identity, Job, Plan, Quality, Task, Watch, fine_tune};
use crate::folder;
use crate::{Error, Result};

/// The sum of losses that the loss is added to.
const LOSS: usize = 0;

/// The most tokens of a sequence that a setting may name.
const MOST_TOKENS: u64 = 1 << 20;

storymeter_core::documented_settings! {
    /// The settings of a run. A field that a file does not name has its default.
    ///
    /// ```
    /// use storymeter_baselines::configuration::Configuration;
    /// use storymeter_baselines::language_model::Settings;
    ///
    /// let settings = Settings { epochs: 3, ..Settings::default() };
    /// assert!(settings.to_toml().contains("epochs = 3"));
    /// ```
    pub struct Settings;

    /// Everything random follows from the seed: the split, the order of the stories and dropout.
    seed: u64 = 1;
    /// The number of passes over the training stories. The paper does not say how many there were;
    /// OpenMEVA, by the same authors, takes 5. The model of the epoch with the smallest loss on the
    /// dev stories is kept.
    epochs: u64 = 5;
    /// Stop after this number of epochs without a smaller loss on the dev stories. 0 never stops
    /// early.
    patience: u64 = 0;
    /// The highest learning rate. The paper does not say what it was; 5e-5 is OpenMEVA's.
    learning_rate: f64 = 5e-5;
    /// The share of all steps in which the learning rate rises from 0. After that it falls in a
    /// straight line to 0.
    warm_up: f64 = 0.05;
    /// The weight decay of AdamW, for matrices.
    weight_decay: f64 = 0.01;
    /// Gradients with a larger norm are scaled down to it.
    clip: f64 = 1.0;
    /// The largest number of stories in a batch; 0 sets no limit besides tokens_a_batch. OpenMEVA
    /// takes 2, which leaves a GPU mostly idle.
    stories_a_batch: usize = 8;
    /// The largest number of tokens in a batch. A longer story is a batch of its own.
    tokens_a_batch: usize = 8192;
    /// The largest number of tokens in a story, the token that begins it included. The end of a
    /// longer story is not read.
    max_tokens: usize = 512;
    /// Whether the token that ends a text is learnt after each story, where the tokeniser has one.
    /// The metric perplexity does not count it, but a model that is to write stories needs it.
    end_token: bool = false;
    /// Whether names become [MALE], [FEMALE] and [NEUTRAL], as in the data of UNION. Stories that
    /// are masked already do not need it, and stories with names should be scored by a model that
    /// has read names.
    delexicalise: bool = false;
    /// Whether training uses the dropout that the configuration of the model names.
    dropout: bool = true;
    /// Whether activations are computed again in the backward pass. This needs about a tenth of the
    /// memory and a third more time.
    recompute: bool = false;
}

impl Configuration for Settings {
    fn fault(&self) -> Option<Fault> {
        Fault::number("seed", self.seed, 0, LARGEST_SEED)
            .or_else(|| Fault::number("epochs", self.epochs, 1, 1_000_000))
            .or_else(|| Fault::positive("learning_rate", self.learning_rate, 1.0))
            .or_else(|| Fault::within("warm_up", self.warm_up, 0.0, 1.0))
            .or_else(|| Fault::within("weight_decay", self.weight_decay, 0.0, 1e6))
            .or_else(|| Fault::positive("clip", self.clip, 1e6))
            .or_else(|| Fault::number("tokens_a_batch", self.tokens_a_batch as u64, 2, 1 << 24))
            .or_else(|| Fault::number("max_tokens", self.max_tokens as u64, 2, MOST_TOKENS))
    }
}

impl Settings {
    fn plan(&self) -> Plan {
        Plan {
            seed: self.seed,
            epochs: self.epochs,
            patience: self.patience,
            examples_a_batch: self.stories_a_batch,
            tokens_a_batch: self.tokens_a_batch,
            learning_rate: self.learning_rate,
            warm_up: self.warm_up,
            optimiser: AdamW {
                decay: self.weight_decay as f32,
                clip: self.clip as f32,
                ..AdamW::default()
            },
            dropout: self.dropout,
            recompute: self.recompute,
            checkpoints: true,
        }
    }
}

/// A run: what is trained on what, how, and where.
#[derive(Debug, Clone, Copy)]
pub struct Training<'a> {
    /// The stories. The seed decides which of them are learned from.
    pub stories: &'a [Story],
    /// The model to start from: a folder in Hugging Face's layout, or a GGUF file.
    pub init: &'a Path,
    /// An existing folder for the model and the checkpoint.
    pub out: &'a Path,
    /// How to train.
    pub settings: &'a Settings,
    /// The device on which to compute.
    pub device: Device,
    /// Whether to continue from the checkpoint in `out`, if there is one.
    pub resume: bool,
}

/// Fine-tunes a language model on stories, and returns one report per epoch. The output folder then
/// holds the model of the best epoch, in Hugging Face's layout.
///
/// # Errors
/// Returns an error if a setting is impossible, the model to start from cannot be read or is not a
/// causal language model, there are too few stories, and as [`fine_tune()`].
pub fn train(training: &Training<'_>, watch: Watch<'_>) -> Result<Vec<EpochReport>> {
    let Training { stories, init, out, settings, device, resume } = *training;
    if let Some(fault) = settings.fault() {
        return Err(fault.into());
    }
    let mut weights = LanguageModelWeights::open(init).map_err(|error| match error {
        storymeter_encoder::Error::Mismatch(problem) => {
            Error::Model { path: init.to_owned(), problem }
        }
        other => other.into(),
    })?;
    let tokenizer = weights.tokenizer()?;
    // What cannot be written at the end is refused now.
    let files = weights.files()?;
    let most = settings.max_tokens.min(weights.config.max_tokens());
    let sequences = Sequences::of(stories, &tokenizer, settings, most);
    let identity = Identity {
        kind: "language-model".into(),
        settings: serde_json::to_value(settings).unwrap_or_default(),
        stories_sha256: folder::stories_hash(stories),
        init_sha256: folder::tensors_hash(&weights.parameters.tensors),
    };
    watch(Event::Note(&sequences.note(most)))?;
    let parameters = std::mem::take(&mut weights.parameters);
    let config = weights.config.clone();
    let task = LanguageModelTask { sequences, settings, config: &config, files, out };
    let job = Job { device, plan: settings.plan(), identity: &identity, out, resume };
    fine_tune(&job, (weights.config, parameters, Vec::new()), &task, watch)
}

/// The stories as tokens.
struct Sequences {
    train: Vec<Vec<u32>>,
    dev: Vec<Vec<u32>>,
    /// How many stories have no token that could be predicted.
    left_out: usize,
    /// How many stories were cut.
    cut: usize,
}

impl Sequences {
    fn of(stories: &[Story], tokenizer: &Tokenizer, settings: &Settings, most: usize) -> Self {
        let encode = |(record, story): (usize, &Story)| {
            let split = assign(settings.seed, record as u64);
            (split != Split::Test).then(|| {
                let (ids, cut) = sequence(&story.text, tokenizer, settings, most);
                (split, ids, cut)
            })
        };
        let encoded: Vec<_> = stories.par_iter().enumerate().filter_map(encode).collect();
        let mut all = Self { train: Vec::new(), dev: Vec::new(), left_out: 0, cut: 0 };
        for (split, ids, cut) in encoded {
            // The first token has nothing before it that could predict it.
            if ids.len() < 2 {
                all.left_out += 1;
                continue;
            }
            all.cut += usize::from(cut);
            match split {
                Split::Train => all.train.push(ids),
                _ => all.dev.push(ids),
            }
        }
        all
    }

    /// What the user should know about the stories.
    fn note(&self, most: usize) -> String {
        format!(
            "{} stories to learn from and {} to choose the best epoch by; {} of them are longer \
             than {most} tokens and are cut, and {} without text are left out",
            self.train.len(),
            self.dev.len(),
            self.cut,
            self.left_out
        )
    }
}

/// The tokens of a story, and whether its end was left out.
fn sequence(
    text: &str,
    tokenizer: &Tokenizer,
    settings: &Settings,
    most: usize,
) -> (Vec<u32>, bool) {
    let masked;
    let text = match settings.delexicalise {
        true => {
            masked = Delexicaliser::embedded().delexicalise(text).text;
            masked.trim()
        }
        false => text.trim(),
    };
    if text.is_empty() {
        return (Vec::new(), false);
    }
    let mut ids: Vec<u32> = tokenizer.bos().into_iter().collect();
    ids.extend(tokenizer.encode_plain(text));
    ids.extend(tokenizer.eos().filter(|_| settings.end_token));
    let cut = ids.len() > most;
    ids.truncate(most);
    (ids, cut)
}

/// Predicting the next token.
struct LanguageModelTask<'a> {
    sequences: Sequences,
    settings: &'a Settings,
    config: &'a Config,
    /// The files of the model folder beside the weights.
    files: Vec<(String, Vec<u8>)>,
    out: &'a Path,
}

impl LanguageModelTask<'_> {
    /// Adds the loss of a batch with this weight per predicted token to the sum of losses. Returns
    /// the gradient of the hidden states.
    fn loss<B: Backend>(
        network: &mut Network<B>,
        batch: &Batch,
        trace: &Trace<B>,
        weight: f32,
    ) -> B::Numbers {
        let rows = predicting(batch);
        let targets: Vec<u32> = rows.iter().map(|row| batch.ids()[*row as usize + 1]).collect();
        let weights = vec![weight; rows.len()];
        let (mut states, head) = (network.states(trace), network.next_token_head());
        network.token_loss(&mut states, head, (&rows, &targets, &weights), LOSS);
        states.into_gradient()
    }
}

/// The rows of a batch from which the next token is predicted: all but the last of each sequence.
fn predicting(batch: &Batch) -> Vec<u32> {
    let last = |span: std::ops::Range<usize>| span.start..span.end.saturating_sub(1);
    (0..batch.len()).flat_map(|i| last(batch.span(i))).map(|row| row as u32).collect()
}

impl Task for LanguageModelTask<'_> {
    fn examples(&self) -> usize {
        self.sequences.train.len()
    }

    fn dev_examples(&self) -> usize {
        self.sequences.dev.len()
    }

    fn tokens(&self, example: usize) -> usize {
        self.sequences.train[example].len()
    }

    fn learn<B: Backend>(
        &self,
        network: &mut Network<B>,
        examples: &[usize],
        options: ForwardOptions,
    ) -> Result<()> {
        let batch: Batch =
            examples.iter().map(|example| self.sequences.train[*example].as_slice()).collect();
        let trace = network.forward(&batch, options)?;
        let weight = 1.0 / predicting(&batch).len() as f32;
        let d_hidden = Self::loss(network, &batch, &trace, weight);
        network.backward(trace, d_hidden);
        Ok(())
    }

    fn evaluate<B: Backend>(&self, network: &mut Network<B>) -> Result<Quality> {
        network.take_losses()?;
        let count: usize = self.sequences.dev.iter().map(|ids| ids.len() - 1).sum();
        for now in portions(&self.sequences.dev, self.settings.tokens_a_batch, Vec::len) {
            let batch: Batch = now.iter().map(Vec::as_slice).collect();
            let trace = network
                .forward(&batch, ForwardOptions { recompute: true, ..Default::default() })?;
            Self::loss(network, &batch, &trace, 1.0);
        }
        let loss = network.take_losses()?[LOSS] / count as f64;
        let figures = [("perplexity".to_owned(), loss.exp())].into_iter().collect();
        Ok(Quality { figures, ..Quality::of_loss(loss) })
    }

    fn save<B: Backend>(
        &self,
        network: &mut Network<B>,
        mut record: Map<String, Value>,
    ) -> Result<()> {
        record.insert("stories_cut".into(), self.sequences.cut.into());
        record.insert("stories_left_out".into(), self.sequences.left_out.into());
        let name = "model.safetensors";
        let weights = network.parameters()?.into_language_model(self.config);
        let weights = weights.to_bytes(&self.out.join(name))?;
        let files = self.files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone()));
        let files: Vec<(&str, Vec<u8>)> = files.chain([(name, weights)]).collect();
        folder::save(self.out, &files, record)
    }
}
