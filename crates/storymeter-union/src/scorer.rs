//! From stories to scores.

#[cfg(feature = "cuda")]
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use storymeter_core::{Signature, Story};
#[cfg(feature = "cuda")]
use storymeter_encoder::cuda::{CudaEncoder, Pending};
use storymeter_encoder::{Batch, Encoder, Isa, Precision, Tokenizer, Workspace};
use storymeter_perturb::sentences_of;
use storymeter_text::Span;

#[cfg(feature = "cuda")]
use crate::Reconstruction;
use crate::engine::{Engine, States};
#[cfg(feature = "cuda")]
use crate::engine::{GpuPrecision, pooled_by};
use crate::overlap::{overlap, repeated};
use crate::window::{Window, prompt_of, windows};
use crate::{Card, Error, Heads, Model, Result, StoredModel, normalise};

/// Tokens that go through the encoder together on the CPU. Scores do not depend on it.
const TOKENS_A_BATCH: usize = 1 << 14;
/// The same on a GPU, which wants more at a time.
#[cfg(feature = "cuda")]
const TOKENS_A_GPU_BATCH: usize = 1 << 15;
/// Stories that are read together while a GPU works on those before.
#[cfg(feature = "cuda")]
const STORIES_A_PART: usize = 256;
/// Batches whose scores have not been asked for yet; the GPU's own queue is within.
#[cfg(feature = "cuda")]
const AHEAD: usize = 4;

/// What the model says of a story.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The calibrated probability that it is a human story and no damaged one: the UNION score; 0 for a story without a letter
    /// or digit.
    pub probability: f64,
    /// The logit before calibration.
    pub logit: f64,
    /// The calibrated probability of each kind of damage, in the order of `Technique::ALL`; `None` without that head.
    pub damage: Option<[f64; 4]>,
    /// The logits of [`Score::damage`] before calibration.
    pub damage_logits: Option<[f64; 4]>,
    /// How much two sentences of a window at most have in common, from 0 to 1, as the mean of the windows weighted by
    /// tokens; see [`crate::DamageCalibration::overlap`].
    pub overlap: f64,
    /// The share of a window's pieces that occur in it before, beyond what is usual, as the mean of the windows weighted by
    /// tokens; see [`Card::repetition`].
    pub repeated: f64,
    /// Number of windows the story was cut into.
    pub windows: usize,
}

/// A model ready to score.
pub struct Scorer {
    pub(crate) engine: Engine,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) heads: Heads,
    pub(crate) card: Card,
    fingerprint: String,
    /// See [`Scorer::tokens_read`].
    tokens_read: AtomicU64,
}

/// A story as the model reads it.
pub(crate) struct Reading {
    pub text: String,
    pub sentences: Vec<Span>,
    pub windows: Vec<Window>,
    pub measures: Vec<Measure>,
}

/// What counts of a window besides its vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub tokens: usize,
    /// Whether no letter or digit of the story is in it.
    pub wordless: bool,
    pub overlap: f64,
    pub repeated: f64,
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
        let encoder = Encoder::new(
            model.config.clone(),
            &model.scoring_parameters(),
            precision,
            Isa::detect(),
        );
        let engine = Engine::Cpu(encoder, precision);
        Ok(Self::assemble((engine, tokenizer, model.heads), model.card, fingerprint))
    }

    /// Loads a model to score on an NVIDIA GPU, by its number: a folder that training wrote, or a model file.
    ///
    /// In int8 the GPU rounds weights, activations and attention as the CPU does, and the scores are those of
    /// [`Scorer::load`] in int8, byte for byte. In the other precisions a model file's weights are taken as the numbers their
    /// eight bits stand for there and nothing else is rounded to eight bits: such scores differ from the CPU's by up to some
    /// hundredths, though neither is further from the model as it was trained.
    ///
    /// # Errors
    /// Where it is not a complete model, where there is no such GPU or no driver, and where the model does not fit into
    /// its memory.
    #[cfg(feature = "cuda")]
    pub fn load_on_gpu(path: &Path, gpu: usize, precision: GpuPrecision) -> Result<Self> {
        if path.is_file() {
            return Self::from_stored_on_gpu(&StoredModel::open(path)?, gpu, precision);
        }
        let model = Model::load(path)?;
        let tokenizer = Tokenizer::load(path, &model.config)?;
        let fingerprint = model.fingerprint();
        let tied = model.card.reconstruction == Reconstruction::Tied;
        let parameters = model.scoring_parameters().into_owned();
        let engine = Engine::cuda((model.config, parameters), tied, gpu, precision)?;
        Ok(Self::assemble((engine, tokenizer, model.heads), model.card, fingerprint))
    }

    /// Gets a model file ready to score on an NVIDIA GPU, as [`Scorer::load_on_gpu`] does.
    ///
    /// # Errors
    /// As [`Scorer::load_on_gpu`].
    #[cfg(feature = "cuda")]
    pub fn from_stored_on_gpu(
        model: &StoredModel,
        gpu: usize,
        precision: GpuPrecision,
    ) -> Result<Self> {
        let (encoder, tokenizer, heads) = model.open_parts()?;
        let tied = model.card().reconstruction == Reconstruction::Tied;
        let engine = Engine::cuda_of(encoder, tied, gpu, precision)?;
        Ok(Self::assemble(
            (engine, tokenizer, heads),
            model.card().clone(),
            model.fingerprint().to_owned(),
        ))
    }

    /// Gets a model file ready to score.
    ///
    /// # Errors
    /// Where its parts do not fit together.
    pub fn from_stored(model: &StoredModel) -> Result<Self> {
        let fingerprint = model.fingerprint().to_owned();
        let (encoder, tokenizer, heads) = model.open_parts()?;
        let engine = Engine::Cpu(encoder, Precision::Int8);
        Ok(Self::assemble((engine, tokenizer, heads), model.card().clone(), fingerprint))
    }

    fn assemble(
        (engine, mut tokenizer, heads): (Engine, Tokenizer, Heads),
        card: Card,
        fingerprint: String,
    ) -> Self {
        for (text, id) in &card.name_tokens {
            tokenizer.add_token(text, *id);
        }
        Self { engine, tokenizer, heads, card, fingerprint, tokens_read: AtomicU64::new(0) }
    }

    /// The same model with windows of another size.
    ///
    /// # Errors
    /// Where its encoder does not take as many tokens.
    pub fn with_window(mut self, max_tokens: usize) -> Result<Self> {
        self.card.max_tokens = max_tokens;
        match self.card.problem(self.engine.config()) {
            Some(problem) => Err(Error::Window(problem)),
            None => Ok(self),
        }
    }

    /// What the model says of itself.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// Scores stories. On the CPU, and in int8 on a GPU, the result does not depend on how they are put together or on
    /// threads; in other precisions on a GPU its last digits may depend on which stories share a batch, and are the same from
    /// run to run.
    ///
    /// # Errors
    /// Never on the CPU for text the tokeniser made, an inconsistent model is noticed at loading; what a GPU says.
    pub fn score(&self, stories: &[&Story]) -> Result<Vec<Score>> {
        match &self.engine {
            Engine::Cpu(encoder, _) => self.score_on_cpu(encoder, stories),
            #[cfg(feature = "cuda")]
            Engine::Cuda { encoder, .. } => self.score_on_gpu(encoder, stories),
        }
    }

    fn score_on_cpu(&self, encoder: &Encoder, stories: &[&Story]) -> Result<Vec<Score>> {
        let readings: Vec<Reading> = stories.par_iter().map(|story| self.read(story)).collect();
        let mut workspace = Workspace::new();
        let mut scores = Vec::with_capacity(stories.len());
        let mut rest = readings.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(batch_size(rest, TOKENS_A_BATCH));
            let batch = batch_of(now);
            self.count(&batch);
            let hidden = encoder.encode(&batch, &mut workspace)?;
            let mut window = 0;
            for reading in now {
                let windows = window..window + reading.windows.len();
                window = windows.end;
                scores.push(
                    self.combine(windows.map(|w| self.pool(hidden.story(w))), &reading.measures),
                );
            }
            rest = later;
        }
        Ok(scores)
    }

    /// Reads stories on all threads while the GPU works on those before.
    #[cfg(feature = "cuda")]
    fn score_on_gpu(&self, encoder: &CudaEncoder, stories: &[&Story]) -> Result<Vec<Score>> {
        let mut scores = Vec::with_capacity(stories.len());
        let mut under_way: VecDeque<(Vec<Vec<Measure>>, Pending)> = VecDeque::new();
        for part in stories.chunks(STORIES_A_PART) {
            let readings: Vec<Reading> = part.par_iter().map(|story| self.read(story)).collect();
            let mut rest = readings.as_slice();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(batch_size(rest, TOKENS_A_GPU_BATCH));
                let batch = batch_of(now);
                self.count(&batch);
                let pending = encoder.submit(batch, pooled_by(self.card.pooling))?;
                under_way.push_back((
                    now.iter().map(|reading| reading.measures.clone()).collect(),
                    pending,
                ));
                rest = later;
                if under_way.len() > AHEAD {
                    self.collect(&mut under_way, &mut scores)?;
                }
            }
        }
        while !under_way.is_empty() {
            self.collect(&mut under_way, &mut scores)?;
        }
        Ok(scores)
    }

    /// The scores of the oldest batch under way, given each story's windows by their measures.
    #[cfg(feature = "cuda")]
    fn collect(
        &self,
        under_way: &mut VecDeque<(Vec<Vec<Measure>>, Pending)>,
        scores: &mut Vec<Score>,
    ) -> Result<()> {
        let Some((stories, pending)) = under_way.pop_front() else { return Ok(()) };
        let vectors = self.engine.finite(pending.wait()?)?;
        let mut vectors = vectors.chunks_exact(self.engine.config().hidden);
        for measures in stories {
            let pooled = vectors.by_ref().take(measures.len());
            scores.push(self.combine(pooled.map(<[f32]>::to_vec), &measures));
        }
        Ok(())
    }

    /// The last hidden states of some windows.
    pub(crate) fn states<'a>(
        &self,
        batch: &'a Batch,
        workspace: &'a mut Workspace,
    ) -> Result<States<'a>> {
        self.count(batch);
        self.engine.states(batch, workspace)
    }

    fn count(&self, batch: &Batch) {
        self.tokens_read.fetch_add(batch.ids().len() as u64, Ordering::Relaxed);
    }

    /// How many tokens have gone through the encoder so far, for scores and explanations together: what the work is
    /// proportional to.
    pub fn tokens_read(&self) -> u64 {
        self.tokens_read.load(Ordering::Relaxed)
    }

    /// A window's vector.
    pub(crate) fn pool(&self, states: &[f32]) -> Vec<f32> {
        Heads::pool(self.card.pooling, states, self.engine.config().hidden)
    }

    /// A story's score from the vectors of its windows: the means of their logits, overlaps and repetitions, weighted by
    /// tokens.
    pub(crate) fn combine(
        &self,
        windows: impl Iterator<Item = Vec<f32>>,
        measures: &[Measure],
    ) -> Score {
        let (mut logit, mut damage, mut overlap, mut repeated, mut tokens) =
            (0.0, [0.0; 4], 0.0, 0.0, 0.0);
        for (pooled, measure) in windows.zip(measures) {
            let weight = measure.tokens as f64;
            logit += weight * self.heads.logit(&pooled);
            let found = self.heads.damage(&pooled).unwrap_or_default();
            damage.iter_mut().zip(found).for_each(|(total, logit)| *total += weight * logit);
            overlap += weight * measure.overlap;
            repeated += weight * measure.repeated;
            tokens += weight;
        }
        let (logit, overlap, repeated) = (logit / tokens, overlap / tokens, repeated / tokens);
        let damage_logits = self.card.diagnosis.then(|| damage.map(|total| total / tokens));
        // A model that never saw a page without a word has no opinion on it.
        let wordless = measures.iter().all(|measure| measure.wordless);
        Score {
            probability: if wordless { 0.0 } else { self.card.probability(logit, repeated) },
            logit,
            damage: damage_logits
                .filter(|_| !wordless)
                .map(|logits| self.card.damage(logits, overlap)),
            damage_logits,
            overlap,
            repeated,
            windows: measures.len(),
        }
    }

    /// Writes the story down as the model wants it, finds sentences and cuts windows.
    pub(crate) fn read(&self, story: &Story) -> Reading {
        let story = normalise(story, &self.card);
        let sentences = sentences_of(&story);
        let prompt = if self.card.prompts { prompt_of(&story) } else { None };
        let windows =
            windows(&self.tokenizer, prompt, &story.text, &sentences, self.card.max_tokens);
        let measure = |window: &Window| Measure {
            tokens: window.ids.len(),
            wordless: !window
                .pieces
                .iter()
                .any(|piece| story.text[piece.start..piece.end].contains(char::is_alphanumeric)),
            overlap: overlap(&window.pieces, &sentences),
            repeated: repeated(&window.pieces),
        };
        let measures = windows.iter().map(measure).collect();
        Reading { text: story.text, sentences, windows, measures }
    }

    /// How its numbers come about.
    pub fn signature(&self) -> Signature {
        let [precision, instructions] = self.engine.names();
        let name = if self.card.about.name.is_empty() { "unnamed" } else { &self.card.about.name };
        Signature::new("union")
            .with("model", "m", name)
            .with("weights", "w", &self.fingerprint)
            .with("precision", "p", precision)
            .with("isa", "isa", instructions)
            .with("text", "t", if self.card.normalise { "normalised" } else { "as-is" })
            .with("names", "n", if self.card.delexicalise { "masked" } else { "kept" })
            .with("prompt", "pr", if self.card.prompts { "read" } else { "left-out" })
            .with("window", "win", self.card.max_tokens)
    }
}

/// All windows of some stories, packed.
fn batch_of(readings: &[Reading]) -> Batch {
    readings
        .iter()
        .flat_map(|reading| &reading.windows)
        .map(|window| window.ids.as_slice())
        .collect()
}

/// How many stories go into the next batch: one at least.
fn batch_size(readings: &[Reading], limit: usize) -> usize {
    let mut tokens = 0;
    let fits = readings.iter().take_while(|reading| {
        tokens += reading.windows.iter().map(|window| window.ids.len()).sum::<usize>();
        tokens <= limit
    });
    fits.count().max(1)
}
