//! `config.json`: the architecture and the sizes of an encoder.

use crate::error::excerpt;
use crate::file::{LARGEST_CONFIG, read_model_file};
use crate::kernel::Activation;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The architectures of the BERT family, which differ in names and details.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// BERT and MiniLM.
    Bert,
    /// DistilBERT, which has no segments and other names.
    DistilBert,
    /// MPNet, whose positions start at 2 and whose attention has a relative position bias.
    Mpnet,
}

/// The sizes and choices of an encoder.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The architecture.
    pub family: Family,
    /// The number of entries of the vocabulary.
    pub vocabulary: usize,
    /// The width of the hidden states.
    pub hidden: usize,
    /// The number of layers.
    pub layers: usize,
    /// The number of attention heads of a layer.
    pub heads: usize,
    /// The width of the feed-forward part.
    pub intermediate: usize,
    /// The number of rows of the table of positions.
    pub positions: usize,
    /// The row of the position of the first token.
    pub first_position: usize,
    /// The number of segments (token types); 0 if the architecture has none.
    pub segments: usize,
    /// The number of buckets of the relative position bias; 0 if the architecture has none.
    pub relative_buckets: usize,
    /// The activation function of the feed-forward part.
    pub activation: Activation,
    /// What layer norm adds to the variance.
    pub norm_eps: f32,
    /// The id of the padding token.
    pub padding: usize,
    /// The dropout of hidden states, which only training uses.
    pub hidden_dropout: f32,
    /// The dropout of attention probabilities, which only training uses.
    pub attention_dropout: f32,
    /// The fields of the file as they were read, for writing the model back.
    pub source: Map<String, Value>,
}

impl Config {
    /// Reads `config.json` of a model folder.
    ///
    /// # Errors
    /// If the file is missing or is not JSON, or if a field is missing, is not supported or
    /// contradicts another one.
    pub fn load(folder: &Path) -> Result<Config> {
        let path = folder.join("config.json");
        Config::from_bytes(&path, &read_model_file(&path, LARGEST_CONFIG)?)
    }

    /// Reads a configuration from the content of a `config.json`. Errors name `path`.
    ///
    /// # Errors
    /// If the content is not JSON, or if a field is missing, is not supported or contradicts
    /// another one.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Config> {
        let source: Map<String, Value> = serde_json::from_slice(bytes)
            .map_err(|source| Error::Json { path: path.into(), source })?;
        Config::from_fields(source, path.into())
    }

    /// The content of a `config.json` for this configuration. Errors name `path`.
    ///
    /// # Errors
    /// If the fields cannot be written as JSON, which does not happen to fields that were read.
    pub fn to_bytes(&self, path: &Path) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(&self.source)
            .map_err(|source| Error::Json { path: path.into(), source })
    }

    /// Reads a configuration from the fields of a `config.json`. Errors name `path`.
    ///
    /// # Errors
    /// If a field is missing, is not supported or contradicts another one.
    pub fn from_fields(source: Map<String, Value>, path: PathBuf) -> Result<Config> {
        let fields = Fields { source: &source, path };
        let family = match fields.text("model_type")? {
            Some("bert") => Family::Bert,
            Some("distilbert") => Family::DistilBert,
            Some("mpnet") => Family::Mpnet,
            Some(other) => {
                let problem = format!(
                    "{:?} is not one of bert (also MiniLM), distilbert, mpnet",
                    excerpt(other)
                );
                return Err(fields.error("model_type", problem));
            }
            None => return Err(fields.error("model_type", "is missing".into())),
        };
        if let Some(kind) =
            fields.text("position_embedding_type")?.filter(|kind| *kind != "absolute")
        {
            return Err(fields.error(
                "position_embedding_type",
                format!("{:?} is not supported", excerpt(kind)),
            ));
        }
        let distil = family == Family::DistilBert;
        let name =
            |bert: &'static str, distilled: &'static str| if distil { distilled } else { bert };
        let act_field = name("hidden_act", "activation");
        let activation = match fields.text(act_field)?.unwrap_or("gelu") {
            "gelu" => Activation::GeluErf,
            "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => {
                let problem = format!(
                    "{:?} is not one of gelu, gelu_new, gelu_pytorch_tanh, relu",
                    excerpt(other)
                );
                return Err(fields.error(act_field, problem));
            }
        };
        let heads = fields.size(name("num_attention_heads", "n_heads"), None)?;
        let hidden = fields.size(name("hidden_size", "dim"), None)?;
        if hidden % heads != 0 {
            let problem = format!("{hidden} is not a multiple of the {heads} attention heads");
            return Err(fields.error(name("hidden_size", "dim"), problem));
        }
        let mpnet = family == Family::Mpnet;
        let padding = fields.count("pad_token_id", usize::from(mpnet))?;
        let config = Config {
            family,
            vocabulary: fields.size("vocab_size", None)?,
            hidden,
            layers: fields.size(name("num_hidden_layers", "n_layers"), None)?,
            heads,
            intermediate: fields.size(name("intermediate_size", "hidden_dim"), None)?,
            positions: fields.size("max_position_embeddings", None)?,
            // MPNet follows RoBERTa: the id of the padding token is also the row of padding among
            // the positions.
            first_position: if mpnet { padding + 1 } else { 0 },
            segments: if family == Family::Bert {
                fields.size("type_vocab_size", Some(2))?
            } else {
                0
            },
            relative_buckets: if mpnet {
                fields.size("relative_attention_num_buckets", Some(32))?
            } else {
                0
            },
            activation,
            norm_eps: fields.number("layer_norm_eps", 1e-12)? as f32,
            padding,
            hidden_dropout: fields.number(name("hidden_dropout_prob", "dropout"), 0.1)? as f32,
            attention_dropout: fields
                .number(name("attention_probs_dropout_prob", "attention_dropout"), 0.1)?
                as f32,
            source: Map::new(),
        };
        if config.layers > 1024 {
            let problem = format!("{} layers are more than 1024", config.layers);
            return Err(fields.error(name("num_hidden_layers", "n_layers"), problem));
        }
        if config.positions <= config.first_position + 2 {
            let problem = format!("{} leaves no room for a story", config.positions);
            return Err(fields.error("max_position_embeddings", problem));
        }
        Ok(Config { source, ..config })
    }

    /// The most tokens that a story may have, including the special tokens.
    pub fn max_tokens(&self) -> usize {
        self.positions - self.first_position
    }

    /// Whether a token sees only the tokens before it, as in language models.
    pub fn is_causal(&self) -> bool {
        false
    }

    /// Whether the model has a decoder, which reads the targets of a batch.
    pub fn has_decoder(&self) -> bool {
        false
    }

    /// The configuration of the first `layers` layers of the same encoder.
    #[must_use]
    pub fn with_layers(mut self, layers: usize) -> Config {
        let field =
            if self.family == Family::DistilBert { "n_layers" } else { "num_hidden_layers" };
        self.layers = layers.min(self.layers);
        self.source.insert(field.into(), self.layers.into());
        self
    }

    /// The width of one attention head.
    pub fn head_width(&self) -> usize {
        self.hidden / self.heads
    }
}

/// Reads fields, with errors that name them.
struct Fields<'a> {
    source: &'a Map<String, Value>,
    path: PathBuf,
}

impl Fields<'_> {
    fn error(&self, field: &str, problem: String) -> Error {
        Error::Config { path: self.path.clone(), field: field.into(), problem }
    }

    fn text(&self, field: &str) -> Result<Option<&str>> {
        match self.source.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => {
                Err(self.error(field, format!("expected a word, found {}", shown(other))))
            }
        }
    }

    /// A positive whole number of at most 2^24. No real model has a larger one, and no product of
    /// sizes overflows.
    fn size(&self, field: &str, default: Option<usize>) -> Result<usize> {
        match (self.source.get(field), default) {
            (None | Some(Value::Null), Some(default)) => Ok(default),
            (None | Some(Value::Null), None) => Err(self.error(field, "is missing".into())),
            (Some(value), _) => match value.as_u64() {
                Some(n @ 1..=0x100_0000) => Ok(n as usize),
                _ => Err(self.error(
                    field,
                    format!("expected a positive whole number, found {}", shown(value)),
                )),
            },
        }
    }

    fn count(&self, field: &str, default: usize) -> Result<usize> {
        match self.source.get(field) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => {
                match value.as_u64() {
                    Some(n @ 0..=0x100_0000) => Ok(n as usize),
                    _ => Err(self
                        .error(field, format!("expected a whole number, found {}", shown(value)))),
                }
            }
        }
    }

    fn number(&self, field: &str, default: f64) -> Result<f64> {
        match self.source.get(field) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => match value.as_f64() {
                Some(x) if (0.0..1.0).contains(&x) => Ok(x),
                _ => Err(self.error(
                    field,
                    format!("expected a number from 0 to 1, found {}", shown(value)),
                )),
            },
        }
    }
}

/// A value of the file, cut to a line.
fn shown(value: &Value) -> String {
    excerpt(&value.to_string())
}
