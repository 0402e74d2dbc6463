//! The weights of a model that can be trained: which tensors there are, and their shapes.
//!
//! The names are those of Hugging Face's files, so that `transformers` can read the models written
//! here, and the other way round. GPT-2's files keep queries, keys and values in one matrix; here
//! they are three, with `.query`, `.key` and `.value` behind its name.

use crate::config::Config;
use crate::family::{Order, Qkv};
use crate::random::Stream;

/// A named tensor of `f32`, row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    /// The name of the tensor in the file.
    pub name: String,
    /// The dimensions.
    pub shape: Vec<usize>,
    /// The numbers.
    pub data: Vec<f32>,
}

/// All tensors of a model, in a fixed order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Parameters {
    /// The tensors.
    pub tensors: Vec<Tensor>,
}

impl Parameters {
    /// Random weights to train from, as BERT began: normal numbers with deviation 0.02, gains of 1,
    /// and biases and shifts of 0.
    pub fn random(config: &Config, seed: u64) -> Parameters {
        let stream = Stream::new(seed);
        let tensor = |(i, (name, shape)): (usize, (String, Vec<usize>))| {
            let stream = stream.child(i as u64);
            let count = shape.iter().product::<usize>() as u64;
            let data = match shape.len() {
                1 if name.ends_with(".weight") => vec![1.0; count as usize],
                1 => vec![0.0; count as usize],
                _ => (0..count).map(|i| 0.02 * stream.normal(i)).collect(),
            };
            Tensor { name, shape, data }
        };
        Parameters {
            tensors: Layout::of(config).expected.into_iter().enumerate().map(tensor).collect(),
        }
    }

    /// Keeps the tensors that `config`, the same encoder with fewer layers, still has.
    #[must_use]
    pub fn with_layers_of(self, config: &Config) -> Parameters {
        let kept = Layout::of(config).expected;
        let tensors = self.tensors.into_iter();
        Parameters {
            tensors: tensors.filter(|t| kept.iter().any(|(name, _)| *name == t.name)).collect(),
        }
    }

    /// Whether there is a tensor of this name.
    #[cfg(feature = "train")]
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.iter().any(|tensor| tensor.name == name)
    }

    /// How many numbers all tensors have together.
    pub fn count(&self) -> usize {
        self.tensors.iter().map(|t| t.data.len()).sum()
    }
}

/// The places of a weight and its bias, if it has one (or of the gain and shift of a norm), in
/// [`Parameters`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) weight: usize,
    pub(crate) bias: Option<usize>,
}

/// The places of the tensors of one layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerPlaces {
    pub(crate) query: Pair,
    pub(crate) key: Pair,
    pub(crate) value: Pair,
    pub(crate) output: Pair,
    pub(crate) attention_norm: Pair,
    /// The gate of the feed-forward part, where it has one.
    pub(crate) gate: Option<Pair>,
    pub(crate) up: Pair,
    pub(crate) down: Pair,
    pub(crate) output_norm: Pair,
}

/// Where each tensor of a model is in its [`Parameters`].
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) words: usize,
    /// The table of positions, where the model has one.
    pub(crate) positions: Option<usize>,
    #[cfg_attr(not(feature = "train"), expect(dead_code, reason = "only training reads it"))]
    pub(crate) segments: Option<usize>,
    /// The norm of the embeddings, where the norms are after the parts of a block.
    pub(crate) norm: Option<Pair>,
    pub(crate) relative: Option<usize>,
    pub(crate) layers: Vec<LayerPlaces>,
    /// The norm after all blocks, where the norms are before their parts.
    #[cfg_attr(not(feature = "train"), expect(dead_code, reason = "only training reads it"))]
    pub(crate) last_norm: Option<Pair>,
    /// The matrix that predicts the next token, where it is not the table of words.
    #[cfg_attr(not(feature = "train"), expect(dead_code, reason = "only training reads it"))]
    pub(crate) next_token: Option<usize>,
    /// The name and the shape of every tensor, in order.
    pub(crate) expected: Vec<(String, Vec<usize>)>,
}

/// The matrix that predicts the next token, where it is not the table of words.
pub(crate) const NEXT_TOKEN: &str = "lm_head.weight";

/// What stands behind the name of a matrix of queries, keys and values that is split here.
pub(crate) const SPLIT: [&str; 3] = ["query", "key", "value"];

impl Layout {
    /// The tensors of a model that can be trained, without those that only some models of its
    /// architecture have.
    pub(crate) fn of(config: &Config) -> Layout {
        Layout::among(config, &|_| false)
    }

    /// The tensors of a model that can be trained. `has` says of a bias, or of a matrix for the
    /// next token, whether the model has it; it is asked where the architecture leaves that open.
    pub(crate) fn among(config: &Config, has: &dyn Fn(&str) -> bool) -> Layout {
        let mut expected = Vec::new();
        let mut add = |name: String, shape: &[usize]| {
            expected.push((name, shape.to_vec()));
            expected.len() - 1
        };
        let architecture = config.family.architecture();
        let (stack, h) = (&architecture.encoder, config.hidden);
        let words = add(architecture.words[0].into(), &[config.vocabulary, h]);
        let positions = stack.positions.map(|name| add(name.into(), &[config.positions, h]));
        let segments = architecture.segments.map(|name| add(name.into(), &[config.segments, h]));
        let mut pair = |name: &str, shape: &[usize]| {
            let weight = add(format!("{name}.weight"), shape);
            // A norm with one number per column has a shift, unless it is an RMS norm.
            let biased = match shape.len() {
                1 => !architecture.rms,
                _ => architecture.biased || has(&format!("{name}.bias")),
            };
            Pair { weight, bias: biased.then(|| add(format!("{name}.bias"), &shape[..1])) }
        };
        let norm = stack.norm.map(|name| pair(name, &[h]));
        let [query, key, value] = match stack.attention.qkv {
            Qkv::Apart(names) => names.map(str::to_owned),
            Qkv::Together(name) => SPLIT.map(|part| format!("{name}.{part}")),
        };
        let queries = config.heads * config.head_width();
        let (keys, wide) = (queries / config.shared_heads, config.intermediate);
        let layers = (0..config.layers)
            .map(|i| {
                let mut pair = |name: &str, shape: &[usize]| {
                    pair(&format!("{}{i}.{name}", stack.before), shape)
                };
                LayerPlaces {
                    query: pair(&query, &[queries, h]),
                    key: pair(&key, &[keys, h]),
                    value: pair(&value, &[keys, h]),
                    output: pair(stack.attention.output, &[h, queries]),
                    attention_norm: pair(stack.attention.norm, &[h]),
                    gate: stack.gate.map(|name| pair(name, &[wide, h])),
                    up: pair(stack.up, &[wide, h]),
                    down: pair(stack.down, &[h, wide]),
                    output_norm: pair(stack.output_norm, &[h]),
                }
            })
            .collect();
        let last_norm = stack
            .last_norm
            .filter(|_| architecture.order == Order::Before)
            .map(|name| pair(name, &[h]));
        let relative = architecture
            .relative
            .map(|name| add(name.into(), &[config.relative_buckets, config.heads]));
        let next_token = (architecture.next_token && has(NEXT_TOKEN))
            .then(|| add(NEXT_TOKEN.into(), &[config.vocabulary, h]));
        Layout {
            words,
            positions,
            segments,
            norm,
            relative,
            layers,
            last_norm,
            next_token,
            expected,
        }
    }

    /// The order in which a device keeps these tensors, and those that follow them up to `count`.
    /// The weights of query, key and value of a layer come one after the other, so that the three
    /// are one matrix; so do their biases.
    #[cfg(feature = "train")]
    pub(crate) fn memory_order(&self, count: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(count);
        for LayerPlaces { query, key, value, .. } in &self.layers {
            order.extend([query.weight, key.weight, value.weight]);
            order.extend([query.bias, key.bias, value.bias].into_iter().flatten());
        }
        let mut placed = vec![false; count];
        order.iter().for_each(|&tensor| placed[tensor] = true);
        order.extend((0..count).filter(|&tensor| !placed[tensor]));
        order
    }
}
