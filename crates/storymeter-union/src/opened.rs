//! A model that is ready to compute: what the scorers of all metrics share.

#[cfg(feature = "cuda")]
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use storymeter_core::Signature;
use storymeter_encoder::{Batch, Device, Model as Encoder, Precision, Tokenizer, portions};

use crate::criteria::SentenceScorer;
use crate::engine::{Engine, States, pooled};
#[cfg(feature = "cuda")]
use crate::engine::{GpuPrecision, pooled_by};
use crate::{Card, EmbeddedModel, Error, Heads, Kind, Model, Result, StoredModel, UnionScorer};

/// The largest number of tokens in a batch on the CPU. Scores do not depend on it.
pub(crate) const TOKENS_PER_BATCH: usize = 1 << 14;
/// The largest number of tokens in a batch on a GPU, which works better on larger batches.
#[cfg(feature = "cuda")]
pub(crate) const TOKENS_PER_GPU_BATCH: usize = 1 << 15;
/// The largest number of batches that a GPU has been given and whose scores are not collected yet.
#[cfg(feature = "cuda")]
pub(crate) const AHEAD: usize = 4;

/// A model on the device on which it computes, with its tokeniser, heads and card.
pub(crate) struct Opened {
    pub engine: Engine,
    pub tokenizer: Tokenizer,
    pub heads: Heads,
    pub card: Card,
    /// The sentence encoder of a criteria model.
    pub sentences: Option<Box<SentenceScorer>>,
    /// The UNION model whose score counts in the outputs of a criteria model.
    pub union: Option<Box<UnionScorer>>,
    fingerprint: String,
    tokens_read: AtomicU64,
}

impl Opened {
    /// Loads a model from a folder that training wrote, or from a model file.
    pub fn load(path: &Path, precision: Precision) -> Result<Self> {
        if path.is_file() {
            let stored = StoredModel::open(path)?;
            if precision == Precision::F32 {
                return Err(Error::OnlyInt8 { path: path.to_owned() });
            }
            return Self::from_stored(&stored);
        }
        let model = Model::load(path)?;
        let tokenizer = model.tokenizer(path)?;
        let fingerprint = model.fingerprint();
        let (config, weights) = (model.config.clone(), model.scoring_parameters());
        let encoder = Encoder::from_tensors(config, &*weights, Device::Cpu, precision)?;
        let engine = Engine::Cpu(encoder);
        let sentences = model.sentences.as_ref().map(|own| own.scorer_at(path, precision));
        let sentences = sentences.transpose()?;
        let opened = Self::assemble((engine, tokenizer, model.heads), model.card, fingerprint);
        opened.with_sentences(sentences).with_union(UnionScorer::from_stored)
    }

    /// Loads a model to compute on the NVIDIA GPU with this number.
    #[cfg(feature = "cuda")]
    pub fn load_on_gpu(path: &Path, gpu: usize, precision: GpuPrecision) -> Result<Self> {
        if path.is_file() {
            return Self::from_stored_on_gpu(&StoredModel::open(path)?, gpu, precision);
        }
        let model = Model::load(path)?;
        let tokenizer = model.tokenizer(path)?;
        let fingerprint = model.fingerprint();
        let tied = model.card.reconstruction.uses_words();
        let parameters = model.scoring_parameters().into_owned();
        let engine = Engine::cuda((model.config, parameters), tied, gpu, precision)?;
        let sentences = model.sentences.map(|own| own.scorer_on_gpu(path, gpu, precision));
        let sentences = sentences.transpose()?;
        let opened = Self::assemble((engine, tokenizer, model.heads), model.card, fingerprint);
        opened
            .with_sentences(sentences)
            .with_union(|union| UnionScorer::from_stored_on_gpu(union, gpu, precision))
    }

    /// Makes a model file ready to compute on an NVIDIA GPU.
    #[cfg(feature = "cuda")]
    pub fn from_stored_on_gpu(
        model: &StoredModel,
        gpu: usize,
        precision: GpuPrecision,
    ) -> Result<Self> {
        let (encoder, tokenizer, heads) = model.open_parts()?;
        let tied = model.card().reconstruction.uses_words();
        let engine = Engine::cuda_of(encoder, tied, gpu, precision)?;
        let sentences = model.sentences()?;
        let sentences = sentences.map(|own| own.scorer_on_gpu(model.path(), gpu, precision));
        let sentences = sentences.transpose()?;
        let fingerprint = model.fingerprint().to_owned();
        let card = model.card().clone();
        let opened = Self::assemble((engine, tokenizer, heads), card, fingerprint);
        opened
            .with_sentences(sentences)
            .with_union(|union| UnionScorer::from_stored_on_gpu(union, gpu, precision))
    }

    /// Makes a model file ready to compute.
    pub fn from_stored(model: &StoredModel) -> Result<Self> {
        let fingerprint = model.fingerprint().to_owned();
        let (encoder, tokenizer, heads) = model.open_parts()?;
        let engine = Engine::Cpu(encoder);
        let sentences = model.sentences()?;
        let sentences = sentences.map(|own| own.scorer_at(model.path(), Precision::Int8));
        let sentences = sentences.transpose()?;
        let card = model.card().clone();
        let opened = Self::assemble((engine, tokenizer, heads), card, fingerprint);
        opened.with_sentences(sentences).with_union(UnionScorer::from_stored)
    }

    fn with_sentences(self, sentences: Option<SentenceScorer>) -> Self {
        Self { sentences: sentences.map(Box::new), ..self }
    }

    /// The same model with the embedded UNION model beside it, if its score counts.
    fn with_union(self, open: impl FnOnce(&StoredModel) -> Result<UnionScorer>) -> Result<Self> {
        let criteria = self.card.criteria.as_ref().filter(|criteria| criteria.needs_union());
        let Some(share) = criteria.and_then(|criteria| criteria.union.as_ref()) else {
            return Ok(self);
        };
        let stored = StoredModel::embedded_model(EmbeddedModel::Union)?;
        if stored.fingerprint() != share.weights {
            let (wanted, found) = (share.weights.clone(), stored.fingerprint().to_owned());
            return Err(Error::OtherUnion { wanted, found });
        }
        Ok(Self { union: Some(Box::new(open(&stored)?)), ..self })
    }

    /// A model without a sentence encoder.
    pub fn assemble(
        (engine, mut tokenizer, heads): (Engine, Tokenizer, Heads),
        mut card: Card,
        fingerprint: String,
    ) -> Self {
        card.keep_reference_scores_of(&fingerprint);
        card.add_name_tokens(&mut tokenizer);
        let tokens_read = AtomicU64::new(0);
        Self {
            engine,
            tokenizer,
            heads,
            card,
            sentences: None,
            union: None,
            fingerprint,
            tokens_read,
        }
    }

    /// The same model, if it was trained for one of these metrics.
    ///
    /// # Errors
    /// Returns [`Error::OtherKind`] if it was not. The error names the first of them.
    pub fn of_kind(self, kinds: &[Kind]) -> Result<Self> {
        let found = self.card.kind;
        match kinds.first() {
            Some(wanted) if !kinds.contains(&found) => {
                Err(Error::OtherKind { found, wanted: *wanted })
            }
            _ => Ok(self),
        }
    }

    /// The same model with windows of another size, in tokens.
    ///
    /// # Errors
    /// Returns [`Error::Window`] if the encoder cannot read windows of this size.
    pub fn with_window(mut self, max_tokens: usize) -> Result<Self> {
        let longest = self.engine.config().max_tokens();
        if !(Card::SMALLEST_WINDOW..=longest).contains(&max_tokens) {
            return Err(Error::Window { tokens: max_tokens, longest });
        }
        if max_tokens != self.card.max_tokens {
            // The reference scores were computed with the other window.
            self.card.about.reference_scores = None;
        }
        self.card.max_tokens = max_tokens;
        Ok(self)
    }

    /// The vector of every sequence of tokens, in order.
    ///
    /// Memory is bounded: sequences go through the encoder in batches, and only their vectors are
    /// kept.
    pub fn vectors(&self, sequences: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        match &self.engine {
            Engine::Cpu(encoder) => {
                let outputs = pooled(self.card.pooling);
                let mut vectors = Vec::with_capacity(sequences.len());
                for batch in batches(sequences, TOKENS_PER_BATCH) {
                    self.count(&batch);
                    let run = encoder.run(&batch, &outputs)?;
                    vectors.extend((0..batch.len()).map(|at| run.pooled(at).to_vec()));
                }
                Ok(vectors)
            }
            #[cfg(feature = "cuda")]
            Engine::Cuda { encoder, .. } => {
                let mut vectors = Vec::with_capacity(sequences.len());
                let mut under_way = VecDeque::new();
                let width = self.engine.config().hidden;
                let mut batches = batches(sequences, TOKENS_PER_GPU_BATCH);
                loop {
                    let next = batches.next();
                    let is_last = next.is_none();
                    if let Some(batch) = next {
                        self.count(&batch);
                        under_way.push_back(encoder.submit(batch, pooled_by(self.card.pooling))?);
                    }
                    while under_way.len() > if is_last { 0 } else { AHEAD } {
                        let Some(pending) = under_way.pop_front() else { break };
                        let numbers = self.engine.finite(pending.wait()?)?;
                        vectors.extend(numbers.chunks_exact(width).map(<[f32]>::to_vec));
                    }
                    if is_last {
                        return Ok(vectors);
                    }
                }
            }
        }
    }

    /// The last hidden states of the tokens of a batch.
    pub fn states(&self, batch: &Batch) -> Result<States> {
        self.count(batch);
        self.engine.states(batch)
    }

    /// Adds the tokens of a batch to those that were read.
    pub fn count(&self, batch: &Batch) {
        self.tokens_read.fetch_add(batch.ids().len() as u64, Ordering::Relaxed);
    }

    /// The number of tokens that have gone through the encoder so far.
    pub fn tokens_read(&self) -> u64 {
        self.tokens_read.load(Ordering::Relaxed)
    }

    /// The vector of a window, from the states of its tokens.
    pub fn pool(&self, states: &[f32]) -> Vec<f32> {
        Heads::pool(self.card.pooling, states, self.engine.config().hidden)
    }

    /// The hash of the weights.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Everything that a score depends on besides the story: the model, the precision and how the
    /// text is read. In int8 the instruction set is left out, because it changes nothing.
    pub fn signature(&self) -> Signature {
        let name = if self.card.about.name.is_empty() { "unnamed" } else { &self.card.about.name };
        let signature = Signature::new(self.card.kind.metric())
            .with("model", "m", name)
            .with("weights", "w", &self.fingerprint)
            .with("precision", "p", self.engine.precision());
        let signature = match self.engine.instructions() {
            Some(instructions) => signature.with("isa", "isa", instructions),
            None => signature,
        };
        let signature = signature
            .with("text", "t", if self.card.normalise { "normalised" } else { "as-is" })
            .with("names", "n", if self.card.delexicalise { "masked" } else { "kept" });
        let signature = match self.card.kind {
            // Criteria models never read the prompt before the story.
            Kind::Criteria => match &self.union {
                Some(union) => signature.with("union", "u", union.fingerprint()),
                None => signature,
            },
            Kind::Union | Kind::DisScore => {
                signature.with("prompt", "pr", if self.card.prompts { "read" } else { "left-out" })
            }
        };
        signature.with("window", "win", self.card.max_tokens)
    }
}

/// Puts sequences into batches, in order: as many as fit into `limit` tokens, and at least one.
pub(crate) fn batches<'a>(
    sequences: &'a [&'a [u32]],
    limit: usize,
) -> impl Iterator<Item = Batch> + 'a {
    portions(sequences, limit, |ids| ids.len()).map(|now| now.iter().copied().collect())
}
