//! The weights of an encoder that can be trained: which tensors there are, and their shapes.
//!
//! The names are those of Hugging Face's files, so that `transformers` can read the models written
//! here, and the other way round.

use crate::config::Config;
use crate::family::Qkv;
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

    /// How many numbers all tensors have together.
    pub fn count(&self) -> usize {
        self.tensors.iter().map(|t| t.data.len()).sum()
    }
}

/// The places of a weight and its bias (or of the gain and shift of a layer norm) in
/// [`Parameters`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) weight: usize,
    pub(crate) bias: usize,
}

/// The places of the tensors of one layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerPlaces {
    pub(crate) query: Pair,
    pub(crate) key: Pair,
    pub(crate) value: Pair,
    pub(crate) output: Pair,
    pub(crate) attention_norm: Pair,
    pub(crate) up: Pair,
    pub(crate) down: Pair,
    pub(crate) output_norm: Pair,
}

/// Where each tensor of an encoder is in its [`Parameters`].
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) words: usize,
    pub(crate) positions: usize,
    #[cfg_attr(not(feature = "train"), expect(dead_code, reason = "only training reads it"))]
    pub(crate) segments: Option<usize>,
    pub(crate) norm: Pair,
    pub(crate) relative: Option<usize>,
    pub(crate) layers: Vec<LayerPlaces>,
    /// The name and the shape of every tensor, in order.
    pub(crate) expected: Vec<(String, Vec<usize>)>,
}

impl Layout {
    /// The tensors of an encoder that can be trained ([`Config::check_encoder`]).
    pub(crate) fn of(config: &Config) -> Layout {
        let mut expected = Vec::new();
        let mut add = |name: String, shape: &[usize]| {
            expected.push((name, shape.to_vec()));
            expected.len() - 1
        };
        let architecture = config.family.architecture();
        let (stack, h) = (&architecture.encoder, config.hidden);
        let words = add(architecture.words[0].into(), &[config.vocabulary, h]);
        let positions = add(stack.positions.unwrap_or_default().into(), &[config.positions, h]);
        let segments = architecture.segments.map(|name| add(name.into(), &[config.segments, h]));
        let mut pair = |name: &str, shape: &[usize]| Pair {
            weight: add(format!("{name}.weight"), shape),
            bias: add(format!("{name}.bias"), &shape[..1]),
        };
        let norm = pair(stack.norm.unwrap_or_default(), &[h]);
        let [query, key, value] = match stack.attention.qkv {
            Qkv::Apart(names) => names,
            Qkv::Together(name) => [name; 3],
        };
        let layers = (0..config.layers)
            .map(|i| {
                let mut pair = |name: &str, shape: &[usize]| {
                    pair(&format!("{}{i}.{name}", stack.before), shape)
                };
                LayerPlaces {
                    query: pair(query, &[h, h]),
                    key: pair(key, &[h, h]),
                    value: pair(value, &[h, h]),
                    output: pair(stack.attention.output, &[h, h]),
                    attention_norm: pair(stack.attention.norm, &[h]),
                    up: pair(stack.up, &[config.intermediate, h]),
                    down: pair(stack.down, &[h, config.intermediate]),
                    output_norm: pair(stack.output_norm, &[h]),
                }
            })
            .collect();
        let relative = architecture
            .relative
            .map(|name| add(name.into(), &[config.relative_buckets, config.heads]));
        Layout { words, positions, segments, norm, relative, layers, expected }
    }

    /// The order in which a device keeps these tensors, and those that follow them up to `count`.
    /// The weights of query, key and value of a layer come one after the other, so that the three
    /// are one matrix; so do their biases.
    #[cfg(feature = "train")]
    pub(crate) fn memory_order(&self, count: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(count);
        let together = self.layers.iter().flat_map(|LayerPlaces { query, key, value, .. }| {
            [query.weight, key.weight, value.weight, query.bias, key.bias, value.bias]
        });
        order.extend(together);
        let mut placed = vec![false; count];
        order.iter().for_each(|&tensor| placed[tensor] = true);
        order.extend((0..count).filter(|&tensor| !placed[tensor]));
        order
    }
}
