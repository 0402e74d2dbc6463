//! From stories to scores.

use std::path::Path;

use rayon::prelude::*;
use storymeter_core::{Signature, Story};
use storymeter_encoder::{Batch, Encoder, Isa, Precision, Tokenizer, Workspace};
use storymeter_perturb::sentences_of;
use storymeter_text::Span;

use crate::window::{Window, prompt_of, windows};
use crate::{Card, Error, Heads, Model, Result, StoredModel, normalise};

/// Tokens that go through the encoder together. Scores do not depend on it.
const TOKENS_A_BATCH: usize = 1 << 14;

/// What the model says of a story.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The calibrated probability that a human wrote it: the UNION score.
    pub probability: f64,
    /// The logit before calibration.
    pub logit: f64,
    /// The probability of each kind of damage, in the order of `Technique::ALL`; `None` without that head.
    pub damage: Option<[f64; 4]>,
    /// Number of windows the story was cut into.
    pub windows: usize,
}

/// A model ready to score.
pub struct Scorer {
    pub(crate) encoder: Encoder,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) heads: Heads,
    pub(crate) card: Card,
    fingerprint: String,
    precision: Precision,
}

/// A story as the model reads it.
pub(crate) struct Reading {
    pub text: String,
    pub sentences: Vec<Span>,
    pub windows: Vec<Window>,
}

impl Scorer {
    /// The model that is part of the program.
    ///
    /// # Errors
    /// [`Error::NoEmbedded`] where it was built without one.
    pub fn embedded() -> Result<Self> {
        Self::from_stored(&StoredModel::embedded()?)
    }

    /// Loads a model: a folder that training wrote, or a model file.
    ///
    /// # Errors
    /// Where it is not a complete model, or a model file is to compute in f32.
    pub fn load(path: &Path, precision: Precision) -> Result<Self> {
        if path.is_file() {
            let stored = StoredModel::open(path)?;
            if precision == Precision::F32 {
                return Err(Error::OnlyInt8 { path: path.to_owned() });
            }
            return Self::from_stored(&stored);
        }
        let model = Model::load(path)?;
        let tokenizer = Tokenizer::load(path, &model.config)?;
        let fingerprint = model.fingerprint();
        let encoder = Encoder::new(model.config, &model.parameters, precision, Isa::detect());
        Ok(Self::assemble((encoder, tokenizer, model.heads), model.card, fingerprint, precision))
    }

    /// Gets a model file ready to score.
    ///
    /// # Errors
    /// Where its parts do not fit together.
    pub fn from_stored(model: &StoredModel) -> Result<Self> {
        let fingerprint = model.fingerprint().to_owned();
        Ok(Self::assemble(model.open_parts()?, model.card().clone(), fingerprint, Precision::Int8))
    }

    fn assemble(
        (encoder, mut tokenizer, heads): (Encoder, Tokenizer, Heads),
        card: Card,
        fingerprint: String,
        precision: Precision,
    ) -> Self {
        for (text, id) in &card.name_tokens {
            tokenizer.add_token(text, *id);
        }
        Self { encoder, tokenizer, heads, card, fingerprint, precision }
    }

    /// What the model says of itself.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// Scores stories; the result does not depend on how they are put together or on threads.
    ///
    /// # Errors
    /// Never for text the tokeniser made; an inconsistent model is noticed at loading.
    pub fn score(&self, stories: &[&Story]) -> Result<Vec<Score>> {
        let readings: Vec<Reading> = stories.par_iter().map(|story| self.read(story)).collect();
        let mut workspace = Workspace::new();
        let mut scores = Vec::with_capacity(stories.len());
        let mut rest = readings.as_slice();
        while !rest.is_empty() {
            let count = batch_size(rest);
            let (now, later) = rest.split_at(count);
            let batch: Batch =
                now.iter().flat_map(|reading| &reading.windows).map(|window| window.ids.as_slice()).collect();
            let hidden = self.encoder.encode(&batch, &mut workspace)?;
            let mut window = 0;
            for reading in now {
                let count = reading.windows.len();
                scores.push(self.combine((window..window + count).map(|w| hidden.story(w))));
                window += count;
            }
            rest = later;
        }
        Ok(scores)
    }

    /// A story's score from the states of its windows: the mean of the logits, weighted by tokens.
    pub(crate) fn combine<'a>(&self, windows: impl Iterator<Item = &'a [f32]>) -> Score {
        let width = self.encoder.config().hidden;
        let (mut logit, mut damage, mut tokens, mut count) = (0.0, [0.0; 4], 0.0, 0);
        for states in windows {
            let pooled = Heads::pool(self.card.pooling, states, width);
            let weight = (states.len() / width) as f64;
            logit += weight * self.heads.logit(&pooled);
            let found = self.heads.damage(&pooled).unwrap_or_default();
            damage.iter_mut().zip(found).for_each(|(total, p)| *total += weight * p);
            tokens += weight;
            count += 1;
        }
        let logit = logit / tokens;
        Score {
            probability: self.card.probability(logit),
            logit,
            damage: self.card.diagnosis.then(|| damage.map(|total| total / tokens)),
            windows: count,
        }
    }

    /// Writes the story down as the model wants it, finds sentences and cuts windows.
    pub(crate) fn read(&self, story: &Story) -> Reading {
        let story = normalise(story, &self.card);
        let sentences = sentences_of(&story);
        let windows =
            windows(&self.tokenizer, prompt_of(&story), &story.text, &sentences, self.card.max_tokens);
        Reading { text: story.text, sentences, windows }
    }

    /// How its numbers come about.
    pub fn signature(&self) -> Signature {
        let precision = match self.precision {
            Precision::F32 => "f32",
            Precision::Int8 => "int8",
        };
        let name = if self.card.about.name.is_empty() { "unnamed" } else { &self.card.about.name };
        Signature::new("union")
            .with("model", "m", name)
            .with("weights", "w", &self.fingerprint)
            .with("precision", "p", precision)
            .with("isa", "isa", self.encoder.isa().name())
            .with("text", "t", if self.card.normalise { "normalised" } else { "as-is" })
            .with("names", "n", if self.card.delexicalise { "masked" } else { "kept" })
            .with("window", "win", self.card.max_tokens)
    }
}

/// How many stories go into the next batch: one at least.
fn batch_size(readings: &[Reading]) -> usize {
    let mut tokens = 0;
    let fits = readings.iter().take_while(|reading| {
        tokens += reading.windows.iter().map(|window| window.ids.len()).sum::<usize>();
        tokens <= TOKENS_A_BATCH
    });
    fits.count().max(1)
}
