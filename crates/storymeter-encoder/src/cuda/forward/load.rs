//! Brings the weights of a model to the GPU, as the description of its architecture names them.

use super::Forward;
use super::heads::{Head, MaskedWord};
use super::stack::{Block, Cross, Rotary, Stack};
use super::steps::{Heads, Linear, Norm, Steps};
use crate::config::Config;
use crate::cuda::Number;
use crate::cuda::device::Device;
use crate::cuda::memory::Buffer;
use crate::family::{self, Architecture, Order, Qkv};
use crate::source::{Named, Tensors};
use crate::{Error, Result, relative};
use std::rc::Rc;

/// The weights of one model, and where they go.
struct Loader<'a, N> {
    steps: &'a Steps<N>,
    config: &'a Config,
    architecture: &'static Architecture,
    named: Named<'a>,
}

/// A matrix of `outputs` rows, and its bias.
struct Matrix {
    weight: Vec<f32>,
    bias: Option<Vec<f32>>,
}

/// The sizes of the blocks of a stack.
#[derive(Clone, Copy)]
struct Sizes {
    layers: usize,
    heads: usize,
    /// The heads of keys and of values.
    own: usize,
    intermediate: usize,
}

/// Takes the weights of a model to a device.
pub(super) fn forward<N: Number>(
    device: &Rc<Device>,
    config: &Config,
    tensors: &dyn Tensors,
) -> Result<Forward<N>> {
    let (steps, architecture) = (Steps::new(Rc::clone(device)), config.family.architecture());
    let named = Named::new(tensors, architecture.words);
    named.check_layers(architecture.encoder.before, config.layers)?;
    if let (Some(stack), Some(decoder)) = (&architecture.decoder, &config.decoder) {
        named.check_layers(stack.before, decoder.layers)?;
    }
    let loader = Loader { steps: &steps, config, architecture, named };
    let words = Rc::new(loader.words()?);
    let sizes = Sizes {
        layers: config.layers,
        heads: config.heads,
        own: config.heads / config.shared_heads,
        intermediate: config.intermediate,
    };
    let encoder = loader.stack(&architecture.encoder, sizes, &words)?;
    let decoder = match (&architecture.decoder, config.decoder) {
        (Some(names), Some(sizes)) => {
            let sizes = Sizes {
                layers: sizes.layers,
                heads: sizes.heads,
                own: sizes.heads,
                intermediate: sizes.intermediate,
            };
            Some(loader.stack(names, sizes, &words)?)
        }
        _ => None,
    };
    let masked_word = loader.masked_word(&words)?;
    let next_token = loader.next_token(&words)?;
    let answer = loader.answer()?;
    device.check()?;
    Ok(Forward { config: config.clone(), encoder, decoder, masked_word, next_token, answer, steps })
}

impl<N: Number> Loader<'_, N> {
    fn missing(&self, name: &str) -> Error {
        self.named.error(name, "is missing".into())
    }

    /// The word embeddings, under the first of their names.
    fn words(&self) -> Result<Buffer<N>> {
        let shape = [self.config.vocabulary, self.config.hidden];
        let names = self.architecture.words;
        for name in names {
            if self.named.has(name) {
                return Ok(self.steps.keep_active(&self.named.tensor(name, &shape)?.data));
            }
        }
        Err(self.missing(names[0]))
    }

    /// A linear map that a file has under this name.
    fn matrix(
        &self,
        named: &Named<'_>,
        name: &str,
        [outputs, inputs]: [usize; 2],
    ) -> Result<Matrix> {
        let weight = format!("{name}.weight");
        let weight = match self.architecture.transposed {
            true => turned(&named.tensor(&weight, &[inputs, outputs])?.data, outputs),
            false => named.tensor(&weight, &[outputs, inputs])?.data,
        };
        let bias = format!("{name}.bias");
        let bias = match self.architecture.biased || named.has(&bias) {
            true => Some(named.tensor(&bias, &[outputs])?.data),
            false => None,
        };
        Ok(Matrix { weight, bias })
    }

    /// Linear maps of the same inputs as one.
    fn together(&self, parts: Vec<Matrix>, inputs: usize) -> Linear<N> {
        let biased = parts.iter().any(|part| part.bias.is_some());
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for part in parts {
            let outputs = part.weight.len() / inputs;
            bias.extend(part.bias.unwrap_or_else(|| vec![0.0; outputs]));
            weight.extend(part.weight);
        }
        self.steps.linear_map(&weight, biased.then_some(&bias[..]), inputs)
    }

    fn linear(&self, name: &str, [outputs, inputs]: [usize; 2]) -> Result<Linear<N>> {
        Ok(self.together(vec![self.matrix(&self.named, name, [outputs, inputs])?], inputs))
    }

    fn norm_from(&self, named: &Named<'_>, name: &str) -> Result<Norm> {
        let (rms, shape) = (self.architecture.rms, [self.config.hidden]);
        let gain = named.tensor(&format!("{name}.weight"), &shape)?.data;
        let shift = match rms {
            true => None,
            false => Some(named.tensor(&format!("{name}.bias"), &shape)?.data),
        };
        Ok(self.steps.norm_of(&gain, shift.as_deref(), self.config.norm_eps, rms))
    }

    fn norm(&self, name: &str) -> Result<Norm> {
        self.norm_from(&self.named, name)
    }

    fn stack(
        &self,
        names: &family::Stack,
        sizes: Sizes,
        words: &Rc<Buffer<N>>,
    ) -> Result<Stack<N>> {
        let Config { hidden, positions, segments, .. } = *self.config;
        let table = |name: Option<&str>, rows: usize| {
            name.map(|name| self.named.tensor(name, &[rows, hidden]))
                .transpose()
                .map(|tensor| tensor.map(|tensor| self.steps.keep(&tensor.data)))
        };
        let longest = self.config.max_tokens();
        let relative = match self.architecture.relative {
            Some(name) => {
                let shape = [self.config.relative_buckets, sizes.heads];
                let weights = self.named.tensor(name, &shape)?.data;
                let table = relative::bias_table(&weights, sizes.heads, longest);
                Some((self.steps.keep(&table), longest))
            }
            None => None,
        };
        let rope = self.config.rope.as_ref();
        Ok(Stack {
            width: hidden,
            words: Rc::clone(words),
            positions: table(names.positions, positions)?,
            segments: table(self.architecture.segments, segments)?,
            norm: names.norm.map(|name| self.norm(name)).transpose()?,
            norm_first: self.architecture.order == Order::Before,
            blocks: (0..sizes.layers)
                .map(|number| self.block(names, sizes, number))
                .collect::<Result<_>>()?,
            last_norm: names.last_norm.map(|name| self.norm(name)).transpose()?,
            relative,
            rotary: rope.map(|rope| Rotary::new(rope.frequencies(self.config.head_width()))),
        })
    }

    fn block(&self, names: &family::Stack, sizes: Sizes, number: usize) -> Result<Block<N>> {
        let hidden = self.config.hidden;
        let full = |name: &str| format!("{}{number}.{name}", names.before);
        let width = match self.config.rope {
            Some(_) => self.config.head_width(),
            None => hidden / sizes.heads,
        };
        let heads = Heads {
            count: sizes.heads,
            shared: sizes.own,
            width,
            causal: names.causal,
            scale: 1.0 / (width as f32).sqrt(),
        };
        let (queries, keys) = (heads.count * width, heads.shared * width);
        let parts = |attention: &family::Attention| -> Result<[Matrix; 3]> {
            let part = |name: &str, outputs: usize| {
                self.matrix(&self.named, &full(name), [outputs, hidden])
            };
            match attention.qkv {
                Qkv::Apart([query, key, value]) => {
                    Ok([part(query, queries)?, part(key, keys)?, part(value, keys)?])
                }
                Qkv::Together(name) => {
                    let Matrix { mut weight, bias } = part(name, queries + 2 * keys)?;
                    let mut bias = bias.unwrap_or_else(|| vec![0.0; queries + 2 * keys]);
                    let mut behind = |outputs: usize| Matrix {
                        weight: weight.drain(..outputs * hidden).collect(),
                        bias: Some(bias.drain(..outputs).collect()),
                    };
                    Ok([behind(queries), behind(keys), behind(keys)])
                }
            }
        };
        let cross = match &names.cross {
            Some(attention) => {
                let [query, key, value] = parts(attention)?;
                Some(Cross {
                    query: self.together(vec![query], hidden),
                    key_value: self.together(vec![key, value], hidden),
                    output: self.linear(&full(attention.output), [hidden, queries])?,
                    heads: Heads { causal: false, ..heads },
                    norm: self.norm(&full(attention.norm))?,
                })
            }
            None => None,
        };
        let up = [sizes.intermediate, hidden];
        let mut ups = vec![self.matrix(&self.named, &full(names.up), up)?];
        if let Some(gate) = names.gate {
            ups.insert(0, self.matrix(&self.named, &full(gate), up)?);
        }
        Ok(Block {
            qkv: self.together(parts(&names.attention)?.into(), hidden),
            output: self.linear(&full(names.attention.output), [hidden, queries])?,
            heads,
            attention_norm: self.norm(&full(names.attention.norm))?,
            cross,
            up: self.together(ups, hidden),
            down: self.linear(&full(names.down), [hidden, sizes.intermediate])?,
            gated: names.gate.is_some(),
            activation: self.config.activation,
            output_norm: self.norm(&full(names.output_norm))?,
        })
    }

    /// The head for masked words, if its weights are there.
    fn masked_word(&self, words: &Rc<Buffer<N>>) -> Result<Option<MaskedWord<N>>> {
        let (named, Config { hidden, vocabulary, .. }) = (self.named.whole(), self.config);
        let (hidden, vocabulary) = (*hidden, *vocabulary);
        let Some(names) = &self.architecture.masked_word else { return Ok(None) };
        if !named.has(names.bias) {
            return Ok(None);
        }
        let dense = self.matrix(&named, names.dense, [hidden, hidden])?;
        let own = match named.has(names.words) {
            true => {
                let own = named.tensor(names.words, &[vocabulary, hidden])?;
                Some(Rc::new(self.steps.keep_active(&own.data)))
            }
            false => None,
        };
        let bias = named.tensor(names.bias, &[vocabulary])?.data;
        Ok(Some(MaskedWord {
            dense: self.together(vec![dense], hidden),
            activation: self.config.activation,
            norm: self.norm_from(&named, names.norm)?,
            words: Head {
                words: self.steps.weight(own.unwrap_or_else(|| Rc::clone(words)), hidden),
                bias: Some(self.steps.keep(&bias)),
            },
        }))
    }

    /// The head for the next token, which usually has the word embeddings for its weights.
    fn next_token(&self, words: &Rc<Buffer<N>>) -> Result<Option<Head<N>>> {
        if !self.architecture.next_token {
            return Ok(None);
        }
        let (named, Config { hidden, vocabulary, .. }) = (self.named.whole(), self.config);
        let (hidden, vocabulary) = (*hidden, *vocabulary);
        let own = match named.has("lm_head.weight") {
            true => {
                let own = named.tensor("lm_head.weight", &[vocabulary, hidden])?;
                Rc::new(self.steps.keep_active(&own.data))
            }
            false => Rc::clone(words),
        };
        let bias = match named.has("final_logits_bias") {
            true => {
                let bias = named.tensor("final_logits_bias", &[1, vocabulary])?;
                Some(self.steps.keep(&bias.data))
            }
            false => None,
        };
        Ok(Some(Head { words: self.steps.weight(own, hidden), bias }))
    }

    /// The head for answers, if its weights are there.
    fn answer(&self) -> Result<Option<Head<N>>> {
        let (named, hidden) = (self.named.whole(), self.config.hidden);
        if !named.has("qa_outputs.weight") {
            return Ok(None);
        }
        let weight = named.tensor("qa_outputs.weight", &[2, hidden])?.data;
        let bias = named.tensor("qa_outputs.bias", &[2])?.data;
        let weight = Rc::new(self.steps.keep_active(&weight));
        let words = self.steps.weight(weight, hidden);
        Ok(Some(Head { words, bias: Some(self.steps.keep(&bias)) }))
    }
}

/// A matrix with one row per input as one with a row for each of `outputs`.
fn turned(weight: &[f32], outputs: usize) -> Vec<f32> {
    let mut turned = Vec::with_capacity(weight.len());
    for output in 0..outputs {
        turned.extend(weight[output..].iter().step_by(outputs));
    }
    turned
}
