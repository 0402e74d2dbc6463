//! The weights of a causal language model: as files keep them, and as training needs them.
//!
//! Training has one matrix each for queries, keys and values, with one row per output. GPT-2's
//! files have one for all three, with one row per input.

use crate::config::Config;
use crate::family::{Family, Qkv};
use crate::parameters::{Layout, NEXT_TOKEN, Parameters, SPLIT, Tensor};
use crate::source::{self, Named, Tensors, TokenizerSource};
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};
use serde_json::json;
use std::path::Path;

/// A causal language model to be trained further, with everything that its folder needs.
#[derive(Debug)]
pub struct LanguageModelWeights {
    /// The sizes and choices of the model.
    pub config: Config,
    /// The weights, as [`Network`](super::Network) takes them.
    pub parameters: Parameters,
    tokenizer: TokenizerSource,
    fingerprint: String,
}

impl LanguageModelWeights {
    /// Reads a model: a folder in Hugging Face's layout, or a GGUF file.
    ///
    /// # Errors
    /// Returns an error if a file is missing or broken, and if the model is not a causal language
    /// model.
    pub fn open(path: &Path) -> Result<LanguageModelWeights> {
        let opened = source::open(path)?;
        let config = Config::from_fields(opened.config, opened.config_path)?;
        let parameters = Parameters::of_language_model(&config, &*opened.tensors)?;
        let (tokenizer, fingerprint) = (opened.tokenizer, opened.fingerprint);
        Ok(LanguageModelWeights { config, parameters, tokenizer, fingerprint })
    }

    /// The first eight hexadecimal digits of the SHA-256 of the file of weights.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Reads the tokeniser.
    ///
    /// # Errors
    /// Returns an error if its files are missing or broken, or do not belong to the model.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        self.tokenizer.load(&self.config)
    }

    /// The names and contents of the files of a model folder beside the weights: `config.json`, and
    /// those of the tokeniser. A tokeniser from a GGUF file becomes a `tokenizer.json`.
    ///
    /// # Errors
    /// Returns an error if a file of the tokeniser cannot be read, or if the tokeniser of a GGUF
    /// file cannot be written as a `tokenizer.json`.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let mut config = self.config.clone();
        let tied = !self.parameters.has(NEXT_TOKEN);
        config.source.insert("tie_word_embeddings".into(), tied.into());
        config.source.insert("torch_dtype".into(), "float32".into());
        let class = match config.source.get("model_type").and_then(|name| name.as_str()) {
            Some("gpt2") => "GPT2LMHeadModel",
            Some("mistral") => "MistralForCausalLM",
            Some("qwen2") => "Qwen2ForCausalLM",
            _ => "LlamaForCausalLM",
        };
        config.source.insert("architectures".into(), json!([class]));
        let mut files = self.tokenizer.files(&self.config)?;
        files.push(("config.json".into(), config.to_bytes(Path::new("config.json"))?));
        Ok(files)
    }
}

/// What stands before the names of tensors in the files of a language model.
fn prefix(family: Family) -> &'static str {
    if family == Family::Gpt2 { "transformer." } else { "model." }
}

/// The name of a tensor in files and, if it is a part of that tensor, which third of it.
fn origin(config: &Config, name: &str) -> (String, Option<usize>) {
    if let Qkv::Together(_) = config.family.architecture().encoder.attention.qkv {
        for (part, split) in SPLIT.iter().enumerate() {
            for end in ["weight", "bias"] {
                if let Some(stem) = name.strip_suffix(&format!(".{split}.{end}")) {
                    return (format!("{stem}.{end}"), Some(part));
                }
            }
        }
    }
    (name.into(), None)
}

/// Whether the files of this model have the columns of a tensor as its rows.
fn is_transposed(config: &Config, name: &str, shape: &[usize]) -> bool {
    let architecture = config.family.architecture();
    architecture.transposed && shape.len() == 2 && name.starts_with(architecture.encoder.before)
}

/// The transpose of a matrix of `columns` columns.
fn transposed(data: &[f32], columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| data.iter().skip(column).step_by(columns)).copied().collect()
}

impl Parameters {
    /// Takes the tensors of a causal language model out of others, for training.
    ///
    /// # Errors
    /// Returns an error if the architecture is none of causal language models, or if a tensor is
    /// missing, has the wrong shape or cannot be read.
    pub fn of_language_model(config: &Config, tensors: &dyn Tensors) -> Result<Parameters> {
        config.check_trained()?;
        let architecture = config.family.architecture();
        if !architecture.next_token {
            return Err(Error::Mismatch(format!(
                "a model of the type {} is not a causal language model",
                architecture.model_types[0]
            )));
        }
        let named = Named::new(tensors, architecture.words);
        named.check_layers(architecture.encoder.before, config.layers)?;
        let shape = [config.vocabulary, config.hidden];
        let heads = named.whole();
        // A copy of the table of words is that table.
        let own = heads.has(NEXT_TOKEN)
            && heads.tensor(NEXT_TOKEN, &shape)?.data
                != named.tensor(architecture.words[0], &shape)?.data;
        let has = |name: &str| if name == NEXT_TOKEN { own } else { named.has(name) };
        let tensor = |(name, shape): &(String, Vec<usize>)| -> Result<Tensor> {
            if name == NEXT_TOKEN {
                return heads.tensor(name, shape);
            }
            let (from, part) = origin(config, name);
            let mut whole = shape.clone();
            whole[0] *= if part.is_some() { SPLIT.len() } else { 1 };
            let data = if is_transposed(config, name, shape) {
                let data = named.tensor(&from, &[whole[1], whole[0]])?.data;
                transposed(&data, whole[0])
            } else {
                named.tensor(&from, &whole)?.data
            };
            let count = shape.iter().product::<usize>();
            let data = match part {
                Some(part) => data[part * count..][..count].to_vec(),
                None => data,
            };
            Ok(Tensor { name: name.clone(), shape: shape.clone(), data })
        };
        let expected = Layout::among(config, &has).expected;
        Ok(Parameters { tensors: expected.iter().map(tensor).collect::<Result<_>>()? })
    }

    /// The tensors of a causal language model under the names and in the layout of Hugging Face's
    /// files, for [`Parameters::to_bytes`].
    #[must_use]
    pub fn into_language_model(self, config: &Config) -> Parameters {
        let mut tensors: Vec<Tensor> = Vec::with_capacity(self.tensors.len());
        for mut tensor in self.tensors {
            let (name, part) = origin(config, &tensor.name);
            match tensors.iter_mut().find(|known| part.is_some() && known.name == name) {
                Some(known) => {
                    known.shape[0] += tensor.shape[0];
                    known.data.append(&mut tensor.data);
                }
                None => tensors.push(Tensor { name, ..tensor }),
            }
        }
        for tensor in &mut tensors {
            if is_transposed(config, &tensor.name, &tensor.shape) {
                tensor.data = transposed(&tensor.data, tensor.shape[1]);
                tensor.shape.reverse();
            }
            if tensor.name != NEXT_TOKEN {
                tensor.name.insert_str(0, prefix(config.family));
            }
        }
        Parameters { tensors }
    }
}
