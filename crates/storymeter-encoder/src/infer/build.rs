//! Puts a network together: the description of its architecture says which parts it has, and a
//! [`Supply`] finds them by name.

use super::head::{Head, Heads, Projection, Transform};
use super::net::{Block, Cross, Linear, Net, Norm, Shape, Stack, Weights};
use super::words::Words;
use crate::config::Config;
use crate::family::{self, Architecture, MaskedWord, Qkv};
use crate::kernel::Isa;
use crate::kernel::aligned::Aligned;
use crate::kernel::gemm::{pack_columns, packed_len};
use crate::kernel::quantised::PackedI8;
use crate::source::{Named, Tensors};
use crate::{Result, relative};

/// Where the parts of a network come from.
pub(super) trait Supply {
    /// Whether matrices have eight bits.
    fn int8(&self) -> bool;

    /// The word embeddings. With `packed` they can also be multiplied quickly.
    fn words(&self, names: &[&str], entries: usize, width: usize, packed: bool) -> Result<Words>;

    /// The matrices of these names and numbers of outputs, one below the other, packed.
    fn matrix(&self, parts: &[(String, usize)], inputs: usize) -> Result<Weights>;

    /// A tensor of this name and shape.
    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>>;

    /// The tensor of this name and shape, if there is one of this name.
    fn find(&self, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>>;

    /// The heads that there are weights for.
    fn heads(&self, config: &Config, words: &Words) -> Result<Heads>;
}

impl Net {
    pub(super) fn build(config: &Config, supply: &dyn Supply, isa: Isa) -> Result<Net> {
        let builder = Builder { architecture: config.family.architecture(), config, supply };
        builder.net(isa)
    }
}

struct Builder<'a> {
    architecture: &'static Architecture,
    config: &'a Config,
    supply: &'a dyn Supply,
}

impl Builder<'_> {
    fn net(&self, isa: Isa) -> Result<Net> {
        let Builder { architecture, config, supply } = self;
        let packed = architecture.next_token;
        let words = supply.words(architecture.words, config.vocabulary, config.hidden, packed)?;
        let shape = Shape::encoder(config, supply.int8());
        let encoder = self.stack(&architecture.encoder, shape, config.layers)?;
        let decoder = match (&config.decoder, &architecture.decoder) {
            (Some(sizes), Some(stack)) => {
                let shape = Shape::decoder(config, sizes, stack, supply.int8());
                Some(self.stack(stack, shape, sizes.layers)?)
            }
            _ => None,
        };
        let heads = supply.heads(config, &words)?;
        Ok(Net { isa, words, encoder, decoder, heads })
    }

    fn stack(&self, stack: &family::Stack, shape: Shape, blocks: usize) -> Result<Stack> {
        let (config, h) = (self.config, shape.hidden);
        let mut positions = match stack.positions {
            Some(name) => self.supply.numbers(name, &[config.positions, h])?,
            None => Vec::new(),
        };
        let mut second = Vec::new();
        if let Some(name) = self.architecture.segments {
            let segments = self.supply.numbers(name, &[config.segments, h])?;
            let (first, rest) = segments.split_at(h);
            for row in positions.chunks_exact_mut(h) {
                row.iter_mut().zip(first).for_each(|(p, s)| *p += s);
            }
            if rest.len() >= h {
                second = rest[..h].iter().zip(first).map(|(b, a)| b - a).collect();
            }
        }
        let relative = match self.architecture.relative {
            Some(name) => {
                let table = self.supply.numbers(name, &[config.relative_buckets, config.heads])?;
                Some(relative::bias_table(&table, config.heads, shape.longest))
            }
            None => None,
        };
        Ok(Stack {
            shape,
            positions,
            second,
            norm: stack.norm.map(|name| self.norm(name, h)).transpose()?,
            relative,
            blocks: (0..blocks).map(|i| self.block(stack, &shape, i)).collect::<Result<_>>()?,
            last_norm: stack.last_norm.map(|name| self.norm(name, h)).transpose()?,
        })
    }

    fn block(&self, stack: &family::Stack, shape: &Shape, number: usize) -> Result<Block> {
        let name = |name: &str| format!("{}{number}.{name}", stack.before);
        let linear = |part: &str, inputs: usize, outputs: usize| {
            self.linear(&[(name(part), outputs)], inputs)
        };
        let norm = |part: &str| self.norm(&name(part), shape.hidden);
        let (h, wide) = (shape.hidden, shape.intermediate);
        let (queries, keys) = (shape.queries(), shape.keys());
        let cross = |attention: &family::Attention| -> Result<Cross> {
            let [query, key, value] = match attention.qkv {
                Qkv::Apart(names) => names,
                Qkv::Together(name) => [name; 3],
            };
            Ok(Cross {
                query: linear(query, h, queries)?,
                memory: self.linear(&[(name(key), keys), (name(value), keys)], h)?,
                output: linear(attention.output, queries, h)?,
                norm: norm(attention.norm)?,
            })
        };
        Ok(Block {
            qkv: match stack.attention.qkv {
                Qkv::Apart([query, key, value]) => {
                    let parts = [(query, queries), (key, keys), (value, keys)];
                    self.linear(&parts.map(|(part, outputs)| (name(part), outputs)), h)?
                }
                Qkv::Together(part) => linear(part, h, shape.qkv())?,
            },
            output: linear(stack.attention.output, queries, h)?,
            attention_norm: norm(stack.attention.norm)?,
            cross: stack.cross.as_ref().map(cross).transpose()?,
            gate: stack.gate.map(|part| linear(part, h, wide)).transpose()?,
            up: linear(stack.up, h, wide)?,
            down: linear(stack.down, wide, h)?,
            output_norm: norm(stack.output_norm)?,
        })
    }

    fn norm(&self, name: &str, width: usize) -> Result<Norm> {
        let numbers = |part: &str| self.supply.numbers(&format!("{name}.{part}"), &[width]);
        let shift = if self.architecture.rms { None } else { Some(numbers("bias")?) };
        Ok(Norm { gain: numbers("weight")?, shift })
    }

    /// A linear map whose outputs have these names and widths.
    fn linear(&self, parts: &[(String, usize)], inputs: usize) -> Result<Linear> {
        let outputs = parts.iter().map(|(_, outputs)| outputs).sum();
        let mut bias = Vec::with_capacity(outputs);
        for (name, outputs) in parts {
            let name = format!("{name}.bias");
            bias.extend(match self.architecture.biased {
                true => self.supply.numbers(&name, &[*outputs])?,
                false => self.supply.find(&name, &[*outputs])?.unwrap_or(vec![0.0; *outputs]),
            });
        }
        Ok(Linear { inputs, outputs, weights: self.supply.matrix(parts, inputs)?, bias })
    }
}

/// Tensors in single precision, which are packed as they are found.
pub(super) struct FromTensors<'a> {
    tensors: Named<'a>,
    architecture: &'static Architecture,
    int8: bool,
}

impl<'a> FromTensors<'a> {
    /// # Errors
    /// Returns an error if there are tensors of more layers than the configuration has.
    pub(super) fn new(config: &Config, tensors: &'a dyn Tensors, int8: bool) -> Result<Self> {
        let architecture = config.family.architecture();
        let tensors = Named::new(tensors, architecture.words);
        tensors.check_layers(architecture.encoder.before, config.layers)?;
        if let (Some(stack), Some(decoder)) = (&architecture.decoder, &config.decoder) {
            tensors.check_layers(stack.before, decoder.layers)?;
        }
        Ok(FromTensors { tensors, architecture, int8 })
    }

    /// Packs `rows`, one row per output.
    fn packed(&self, rows: &[f32], inputs: usize) -> Weights {
        let outputs = rows.len() / inputs;
        if self.int8 {
            return Weights::I8(PackedI8::pack(rows, outputs, inputs));
        }
        let mut packed = Aligned::zeros(packed_len(inputs, outputs));
        pack_columns(rows, inputs, inputs, outputs, &mut packed);
        Weights::F32(packed)
    }

    /// A linear map of a head, which is found by its whole name.
    fn head_linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear> {
        let tensors = self.tensors.whole();
        let rows = tensors.tensor(&format!("{name}.weight"), &[outputs, inputs])?.data;
        let bias = tensors.tensor(&format!("{name}.bias"), &[outputs])?.data;
        Ok(Linear { inputs, outputs, weights: self.packed(&rows, inputs), bias })
    }

    /// The products with all words: those of the embeddings, unless the file has others.
    fn projection(&self, name: &str, config: &Config, words: &Words) -> Result<Projection> {
        let (inputs, outputs) = (config.hidden, config.vocabulary);
        if words.is_packed() || !self.tensors.whole().has(name) {
            return Ok(Projection::Words);
        }
        let rows = self.tensors.whole().tensor(name, &[outputs, inputs])?.data;
        if rows == self.word_rows(self.architecture.words, outputs, inputs)? {
            return Ok(Projection::Words);
        }
        let weights = self.packed(&rows, inputs);
        Ok(Projection::Own(Linear { inputs, outputs, weights, bias: Vec::new() }))
    }

    fn word_rows(&self, names: &[&str], entries: usize, width: usize) -> Result<Vec<f32>> {
        let name = names.iter().find(|name| self.tensors.has(name)).unwrap_or(&names[0]);
        Ok(self.tensors.tensor(name, &[entries, width])?.data)
    }

    fn masked_word(&self, names: &MaskedWord, config: &Config, words: &Words) -> Result<Head> {
        let tensors = self.tensors.whole();
        let (h, vocabulary) = (config.hidden, config.vocabulary);
        let norm = |part: &str| tensors.tensor(&format!("{}.{part}", names.norm), &[h]);
        Ok(Head {
            transform: Some(Transform {
                dense: self.head_linear(names.dense, h, h)?,
                activation: config.activation,
                norm: Norm { gain: norm("weight")?.data, shift: Some(norm("bias")?.data) },
                eps: config.norm_eps,
            }),
            projection: self.projection(names.words, config, words)?,
            bias: tensors.tensor(names.bias, &[vocabulary])?.data,
        })
    }
}

impl Supply for FromTensors<'_> {
    fn int8(&self) -> bool {
        self.int8
    }

    fn words(&self, names: &[&str], entries: usize, width: usize, packed: bool) -> Result<Words> {
        let rows = self.word_rows(names, entries, width)?;
        // With a matrix of its own, the head does not multiply with the embeddings.
        let heads = self.tensors.whole();
        let own =
            packed && heads.has(LM_HEAD) && heads.tensor(LM_HEAD, &[entries, width])?.data != rows;
        Ok(if packed && !own {
            let weights = self.packed(&rows, width);
            Words::Packed(Linear { inputs: width, outputs: entries, weights, bias: Vec::new() })
        } else if self.int8 {
            Words::quantise(&rows, width)
        } else {
            Words::F32(rows)
        })
    }

    fn matrix(&self, parts: &[(String, usize)], inputs: usize) -> Result<Weights> {
        let mut rows = Vec::new();
        for (name, outputs) in parts {
            let name = format!("{name}.weight");
            if self.architecture.transposed {
                let columns = self.tensors.tensor(&name, &[inputs, *outputs])?.data;
                for output in 0..*outputs {
                    rows.extend(columns.iter().skip(output).step_by(*outputs));
                }
            } else {
                rows.append(&mut self.tensors.tensor(&name, &[*outputs, inputs])?.data);
            }
        }
        Ok(self.packed(&rows, inputs))
    }

    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        Ok(self.tensors.tensor(name, shape)?.data)
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>> {
        self.tensors.has(name).then(|| self.numbers(name, shape)).transpose()
    }

    fn heads(&self, config: &Config, words: &Words) -> Result<Heads> {
        let tensors = self.tensors.whole();
        let mut heads = Heads::default();
        if let Some(names) = &self.architecture.masked_word
            && tensors.has(names.bias)
        {
            heads.masked_word = Some(self.masked_word(names, config, words)?);
        }
        if self.architecture.next_token {
            let bias = match tensors.has(FINAL_BIAS) {
                true => tensors.tensor(FINAL_BIAS, &[1, config.vocabulary])?.data,
                false => Vec::new(),
            };
            let projection = self.projection(LM_HEAD, config, words)?;
            heads.next_token = Some(Head { transform: None, projection, bias });
        }
        if tensors.has("qa_outputs.weight") {
            let linear = self.head_linear("qa_outputs", config.hidden, 2)?;
            let bias = linear.bias.clone();
            heads.answer =
                Some(Head { transform: None, projection: Projection::Own(linear), bias });
        }
        Ok(heads)
    }
}

/// The matrix of a head for the next token that is not tied to the word embeddings.
const LM_HEAD: &str = "lm_head.weight";

/// What BART adds to the logits of the next token.
const FINAL_BIAS: &str = "final_logits_bias";
