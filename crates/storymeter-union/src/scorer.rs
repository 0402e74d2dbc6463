//! Scores stories with a loaded model.

#[cfg(feature = "cuda")]
use std::collections::VecDeque;
use std::path::Path;
use std::sync::OnceLock;

use rayon::prelude::*;
use storymeter_core::{Signature, Story};
#[cfg(feature = "cuda")]
use storymeter_encoder::cuda::{CudaEncoder, Pending};
use storymeter_encoder::{Batch, Model as Encoder, PackedRows, Precision, portions};
use storymeter_perturb::sentences_of;
use storymeter_text::Span;

use crate::engine::{Engine, pooled};
#[cfg(feature = "cuda")]
use crate::engine::{GpuPrecision, pooled_by};
use crate::normalise::normalised;
#[cfg(feature = "cuda")]
use crate::opened::{AHEAD, TOKENS_PER_GPU_BATCH};
use crate::opened::{Opened, TOKENS_PER_BATCH};
use crate::origin::Origin;
use crate::overlap::{overlap, repeated};
use crate::window::{Window, prompt_of, windows};
use crate::{Card, Kind, Result, StoredModel};

/// The number of stories that are tokenised together while a GPU works on earlier ones.
#[cfg(feature = "cuda")]
const STORIES_PER_PART: usize = 256;

/// The score of one story, and what it was computed from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The UNION score: the calibrated probability that this is a human story that nobody damaged.
    /// It is 0 for a story without a letter or digit.
    pub probability: f64,
    /// The logit before calibration.
    pub logit: f64,
    /// The calibrated probability of each kind of damage, in the order of `Technique::ALL`. `None`
    /// if the model has no diagnosis head, or the story has no letter or digit.
    pub damage: Option<[f64; 4]>,
    /// The logits of [`Score::damage`] before calibration.
    pub damage_logits: Option<[f64; 4]>,
    /// The largest share of word pairs that two sentences of a window have in common, from 0 to 1:
    /// the mean over the windows, weighted by tokens. See [`crate::DamageCalibration::overlap`].
    pub overlap: f64,
    /// The share of a window's word pieces that occur earlier in it, as far as it exceeds a
    /// quarter: the mean over the windows, weighted by tokens. See [`Card::repetition`].
    pub repeated: f64,
    /// The number of windows in which the story was read. A text is never cut off: a story that
    /// does not fit into one window is read in several that overlap.
    pub windows: usize,
}

/// A loaded model that scores stories.
///
/// ```
/// use storymeter_core::Story;
/// use storymeter_union::UnionScorer;
///
/// # if !storymeter_union::HAS_EMBEDDED { return Ok(()); }
/// let scorer = UnionScorer::embedded()?;
/// let text = "Ken lost his kite. He looked in the barn. It hung there.";
/// let story = Story { text: text.into(), ..Story::default() };
/// let scores = scorer.score(&[&story])?;
/// assert!(scores[0].probability > 0.0 && scores[0].windows == 1);
/// assert!(scorer.signature().to_string().starts_with("union|model:"));
/// # Ok::<(), storymeter_union::Error>(())
/// ```
pub struct UnionScorer {
    pub(crate) model: Opened,
    /// The reconstruction matrix of [`Heads::reconstruction`], laid out for products when an
    /// explanation first needs it.
    pub(crate) own_matrix: OnceLock<PackedRows>,
}

/// A story in the form in which the model reads it.
pub(crate) struct Reading {
    pub text: String,
    /// Where the parts of `text` are in the story as it was given.
    pub origin: Origin,
    pub sentences: Vec<Span>,
    pub windows: Vec<Window>,
    pub measures: Vec<Measure>,
}

impl Reading {
    /// How many tokens all windows have.
    #[cfg(feature = "cuda")]
    fn tokens(&self) -> usize {
        self.windows.iter().map(|window| window.ids.len()).sum()
    }
}

/// What a window contributes to the score besides its vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub tokens: usize,
    /// Whether it has no letter or digit.
    pub wordless: bool,
    pub overlap: f64,
    pub repeated: f64,
}

impl Reading {
    /// Whether the story has no letter or digit. The model was never trained on such a text, so its
    /// logit means nothing there.
    pub(crate) fn is_wordless(&self) -> bool {
        self.measures.iter().all(|measure| measure.wordless)
    }
}

impl UnionScorer {
    /// Loads the model that is part of the program. If the program was built without it
    /// ([`crate::HAS_EMBEDDED`]), the file `union-compact.smq` is read from one of the
    /// [`crate::search_folders`].
    ///
    /// # Errors
    /// Returns [`Error::MissingModel`](crate::Error::MissingModel) if the program has no embedded
    /// model and no folder has its file.
    pub fn embedded() -> Result<Self> {
        Self::from_stored(&StoredModel::embedded()?)
    }

    /// Loads a model from a folder that training wrote, or from a model file.
    ///
    /// # Errors
    /// Returns an error if it is not a complete model, if a model file is asked to compute in f32,
    /// or if the model predicts ratings ([`crate::criteria::CriteriaScorer`]).
    pub fn load(path: &Path, precision: Precision) -> Result<Self> {
        Self::new(Opened::load(path, precision)?)
    }

    /// Loads a model from a folder that training wrote, or from a model file, to score on the
    /// NVIDIA GPU with this number.
    ///
    /// In int8 the GPU rounds weights, activations and attention as the CPU does, so its scores are
    /// the CPU's, byte for byte. In the other precisions only the weights of a model file are
    /// rounded to eight bits, and nothing else is. Such scores differ from those in int8 by up to a
    /// few hundredths; neither of the two is closer to the model as it was trained.
    ///
    /// # Errors
    /// Returns an error if it is not a complete model, if there is no such GPU or no driver, or if
    /// the model does not fit into the GPU's memory.
    #[cfg(feature = "cuda")]
    pub fn load_on_gpu(path: &Path, gpu: usize, precision: GpuPrecision) -> Result<Self> {
        Self::new(Opened::load_on_gpu(path, gpu, precision)?)
    }

    /// Makes a model file ready to score on an NVIDIA GPU, as [`UnionScorer::load_on_gpu`] does.
    ///
    /// # Errors
    /// As [`UnionScorer::load_on_gpu`].
    #[cfg(feature = "cuda")]
    pub fn from_stored_on_gpu(
        model: &StoredModel,
        gpu: usize,
        precision: GpuPrecision,
    ) -> Result<Self> {
        Self::new(Opened::from_stored_on_gpu(model, gpu, precision)?)
    }

    /// Makes a model file ready to score.
    ///
    /// # Errors
    /// Returns an error if its parts do not fit together.
    pub fn from_stored(model: &StoredModel) -> Result<Self> {
        Self::new(Opened::from_stored(model)?)
    }

    /// A scorer of an open model.
    pub(crate) fn new(model: Opened) -> Result<Self> {
        let model = model.of_kind(&[Kind::Union, Kind::DisScore])?;
        Ok(Self { model, own_matrix: OnceLock::new() })
    }

    /// The same model with windows of another size, in tokens.
    ///
    /// # Errors
    /// Returns [`Error::Window`](crate::Error::Window) if the encoder cannot read windows of this
    /// size.
    pub fn with_window(self, max_tokens: usize) -> Result<Self> {
        Ok(Self { model: self.model.with_window(max_tokens)?, ..self })
    }

    /// The model's card.
    pub fn card(&self) -> &Card {
        &self.model.card
    }

    /// Scores stories, and returns one score per story in the same order.
    ///
    /// On the CPU, and in int8 on a GPU, a story's score does not depend on the other stories or on
    /// the number of threads. In other precisions on a GPU, the last digits may depend on which
    /// stories share a batch; the same call gives the same scores every time.
    ///
    /// # Errors
    /// Fails only on a GPU: [`Error::Encoder`](crate::Error::Encoder) holds what the device
    /// reported, and [`storymeter_encoder::Error::Overflow`] says that the precision is too small
    /// for the model. On the CPU, an inconsistent model is already rejected when it is loaded.
    pub fn score(&self, stories: &[&Story]) -> Result<Vec<Score>> {
        match &self.model.engine {
            Engine::Cpu(encoder) => self.score_on_cpu(encoder, stories),
            #[cfg(feature = "cuda")]
            Engine::Cuda { encoder, .. } => self.score_on_gpu(encoder, stories),
        }
    }

    fn score_on_cpu(&self, encoder: &Encoder, stories: &[&Story]) -> Result<Vec<Score>> {
        let readings: Vec<Reading> = stories.par_iter().map(|story| self.read(story)).collect();
        let outputs = pooled(self.model.card.pooling);
        // A long story has many windows, which need not be in one batch.
        let windows: Vec<&Window> = readings.iter().flat_map(|reading| &reading.windows).collect();
        let mut vectors = Vec::with_capacity(windows.len());
        for now in portions(&windows, TOKENS_PER_BATCH, |window| window.ids.len()) {
            let batch: Batch = now.iter().map(|window| window.ids.as_slice()).collect();
            self.model.count(&batch);
            let run = encoder.run(&batch, &outputs)?;
            vectors.extend((0..now.len()).map(|window| run.pooled(window).to_vec()));
        }
        let mut vectors = vectors.into_iter();
        let score = |Reading { measures, .. }: &Reading| {
            self.combine(vectors.by_ref().take(measures.len()), measures)
        };
        Ok(readings.iter().map(score).collect())
    }

    /// Tokenises stories on all threads while the GPU works on earlier ones.
    #[cfg(feature = "cuda")]
    fn score_on_gpu(&self, encoder: &CudaEncoder, stories: &[&Story]) -> Result<Vec<Score>> {
        let mut scores = Vec::with_capacity(stories.len());
        let mut under_way: VecDeque<(Vec<Vec<Measure>>, Pending)> = VecDeque::new();
        for part in stories.chunks(STORIES_PER_PART) {
            let readings: Vec<Reading> = part.par_iter().map(|story| self.read(story)).collect();
            for now in portions(&readings, TOKENS_PER_GPU_BATCH, Reading::tokens) {
                let batch = batch_of(now);
                self.model.count(&batch);
                let pending = encoder.submit(batch, pooled_by(self.model.card.pooling))?;
                under_way.push_back((
                    now.iter().map(|reading| reading.measures.clone()).collect(),
                    pending,
                ));
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

    /// Waits for the oldest batch under way and adds its scores. The measures tell how many windows
    /// each of its stories has.
    #[cfg(feature = "cuda")]
    fn collect(
        &self,
        under_way: &mut VecDeque<(Vec<Vec<Measure>>, Pending)>,
        scores: &mut Vec<Score>,
    ) -> Result<()> {
        let Some((stories, pending)) = under_way.pop_front() else { return Ok(()) };
        let vectors = self.model.engine.finite(pending.wait()?)?;
        let mut vectors = vectors.chunks_exact(self.model.engine.config().hidden);
        for measures in stories {
            let pooled = vectors.by_ref().take(measures.len());
            scores.push(self.combine(pooled.map(<[f32]>::to_vec), &measures));
        }
        Ok(())
    }

    /// The number of tokens that have gone through the encoder so far, for scores and explanations
    /// together. The work is proportional to it.
    pub fn tokens_read(&self) -> u64 {
        self.model.tokens_read()
    }

    /// The score of a story from the vectors of its windows: their logits, overlaps and repetitions
    /// are averaged, weighted by tokens.
    pub(crate) fn combine(
        &self,
        windows: impl Iterator<Item = Vec<f32>>,
        measures: &[Measure],
    ) -> Score {
        let (mut logit, mut damage, mut overlap, mut repeated, mut tokens) =
            (0.0, [0.0; 4], 0.0, 0.0, 0.0);
        for (pooled, measure) in windows.zip(measures) {
            let weight = measure.tokens as f64;
            logit += weight * self.model.heads.logit(&pooled);
            let found = self.model.heads.damage(&pooled).unwrap_or_default();
            damage.iter_mut().zip(found).for_each(|(total, logit)| *total += weight * logit);
            overlap += weight * measure.overlap;
            repeated += weight * measure.repeated;
            tokens += weight;
        }
        let (logit, overlap, repeated) = (logit / tokens, overlap / tokens, repeated / tokens);
        let damage_logits = self.model.card.diagnosis.then(|| damage.map(|total| total / tokens));
        // The model was never trained on a text without words, so its logit means nothing there.
        let wordless = measures.iter().all(|measure| measure.wordless);
        Score {
            probability: if wordless { 0.0 } else { self.model.card.probability(logit, repeated) },
            logit,
            damage: damage_logits
                .filter(|_| !wordless)
                .map(|logits| self.model.card.damage(logits, overlap)),
            damage_logits,
            overlap,
            repeated,
            windows: measures.len(),
        }
    }

    /// Normalises a story as the model's card asks, finds its sentences, and cuts it into windows.
    pub(crate) fn read(&self, story: &Story) -> Reading {
        let (story, origin) = normalised(story, &self.model.card);
        let sentences = sentences_of(&story);
        let prompt = if self.model.card.prompts { prompt_of(&story) } else { None };
        let windows = windows(
            &self.model.tokenizer,
            prompt,
            &story.text,
            &sentences,
            self.model.card.max_tokens,
        );
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
        Reading { text: story.text, origin, sentences, windows, measures }
    }

    /// The hash of the model's weights and calibration, as signatures name it.
    pub fn fingerprint(&self) -> &str {
        self.model.fingerprint()
    }

    /// Everything that a score depends on besides the story: the model, the precision and how the
    /// text is read. In int8 the instruction set is left out, because it changes nothing.
    pub fn signature(&self) -> Signature {
        self.model.signature()
    }
}

/// A batch of all windows of these stories.
#[cfg(feature = "cuda")]
fn batch_of(readings: &[Reading]) -> Batch {
    readings
        .iter()
        .flat_map(|reading| &reading.windows)
        .map(|window| window.ids.as_slice())
        .collect()
}
