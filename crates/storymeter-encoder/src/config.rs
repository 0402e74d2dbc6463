//! `config.json`: the architecture and the sizes of a model.

use crate::error::excerpt;
pub(crate) use crate::family::Family;
use crate::family::Positions;
use crate::fields::Fields;
use crate::file::{LARGEST_CONFIG, read_model_file};
use crate::kernel::Activation;
use crate::rope::Rope;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The sizes and choices of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The architecture.
    pub family: Family,
    /// The number of entries of the vocabulary.
    pub vocabulary: usize,
    /// The width of the hidden states.
    pub hidden: usize,
    /// The number of layers; of an encoder-decoder model, those of the encoder.
    pub layers: usize,
    /// The number of attention heads of a layer.
    pub heads: usize,
    /// How many heads have the same keys and values. It divides the number of heads.
    pub shared_heads: usize,
    /// The width of one attention head, where it is not the hidden width divided by the heads.
    pub wide_heads: Option<usize>,
    /// The width of the feed-forward part.
    pub intermediate: usize,
    /// The number of rows of the table of positions, or the number of positions without a table.
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
    /// The angles of rotary positions, where the architecture has them.
    pub rope: Option<Rope>,
    /// The decoder of an encoder-decoder model.
    pub decoder: Option<Decoder>,
    /// The fields of the file as they were read, for writing the model back.
    pub source: Map<String, Value>,
}

/// What a decoder has of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decoder {
    /// The number of layers.
    pub layers: usize,
    /// The number of attention heads of a layer.
    pub heads: usize,
    /// The width of the feed-forward part.
    pub intermediate: usize,
    /// The token that the decoder reads first.
    pub start: u32,
}

/// The most layers of a model.
const MOST_LAYERS: usize = 1024;

impl Config {
    /// Reads `config.json` of a model folder.
    ///
    /// # Errors
    /// Returns an error if the file is missing or is not JSON, or if a field is missing, is not
    /// supported or contradicts another one.
    pub fn load(folder: &Path) -> Result<Config> {
        let path = folder.join("config.json");
        Config::from_bytes(&path, &read_model_file(&path, LARGEST_CONFIG)?)
    }

    /// Reads a configuration from the content of a `config.json`. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if the content is not JSON, or if a field is missing, is not supported or
    /// contradicts another one.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Config> {
        let source: Map<String, Value> = serde_json::from_slice(bytes)
            .map_err(|source| Error::Json { path: path.into(), source })?;
        Config::from_fields(source, path.into())
    }

    /// The content of a `config.json` for this configuration. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if the fields cannot be written as JSON, which does not happen to fields
    /// that were read.
    pub fn to_bytes(&self, path: &Path) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(&self.source)
            .map_err(|source| Error::Json { path: path.into(), source })
    }

    /// Reads a configuration from the fields of a `config.json`. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if a field is missing, is not supported or contradicts another one.
    pub fn from_fields(source: Map<String, Value>, path: PathBuf) -> Result<Config> {
        let fields = Fields { source: &source, path };
        let family = match fields.text("model_type")? {
            Some(name) => Family::of_type(name).ok_or_else(|| {
                let known = Family::known_types();
                let problem = format!("{:?} is not one of {known}", excerpt(name));
                fields.error("model_type", problem)
            })?,
            None => return Err(fields.error("model_type", "is missing".into())),
        };
        fields.only("position_embedding_type", &"absolute".into())?;
        fields.only("partial_rotary_factor", &1.0.into())?;
        fields.only("scale_embedding", &false.into())?;
        fields.only("scale_attn_weights", &true.into())?;
        fields.only("scale_attn_by_inverse_layer_idx", &false.into())?;
        fields.only("use_sliding_window", &false.into())?;
        let architecture = family.architecture();
        let (names, defaults) = (&architecture.fields, &architecture.defaults);
        let heads = fields.size(names.heads, None)?;
        let hidden = fields.size(names.hidden, None)?;
        if family == Family::Bert && fields.size("embedding_size", Some(hidden))? != hidden {
            let problem = format!(
                "word embeddings narrower than the {hidden} of the layers are \
                                   not supported"
            );
            return Err(fields.error("embedding_size", problem));
        }
        let rotary = architecture.positions == Positions::Rotary;
        let wide_heads = match rotary.then(|| fields.value("head_dim")).flatten() {
            Some(_) => Some(fields.size("head_dim", None)?),
            None => None,
        };
        if wide_heads.is_none() && !hidden.is_multiple_of(heads) {
            let problem = format!("{hidden} is not a multiple of the {heads} attention heads");
            return Err(fields.error(names.hidden, problem));
        }
        let padding = fields.count("pad_token_id", defaults.padding)?;
        let positions = fields.size(names.positions, None)?;
        let (positions, first_position) = match architecture.positions {
            Positions::Table => (positions, 0),
            Positions::AfterPadding => (positions, padding + 1),
            Positions::AfterTwo => (positions + 2, 2),
            // Of the models with rotary positions, only Mistral has a sliding window, as in
            // transformers: Llama has no such field, and Qwen 2 has it beside
            // `use_sliding_window`, which is false here. A text that fits the window is read in
            // the same way with it and without.
            Positions::Rotary if fields.text("model_type")? == Some("mistral") => {
                (fields.size("sliding_window", Some(positions))?.min(positions), 0)
            }
            Positions::Rotary => (positions, 0),
        };
        let widened = defaults.widening.map(|times| times * hidden);
        let config = Config {
            family,
            vocabulary: fields.size("vocab_size", None)?,
            hidden,
            layers: layers(&fields, names.layers)?,
            heads,
            shared_heads: shared_heads(&fields, heads, rotary)?,
            wide_heads,
            intermediate: fields.size(names.intermediate, widened)?,
            positions,
            first_position,
            segments: match architecture.segments {
                Some(_) => fields.size("type_vocab_size", Some(defaults.segments))?,
                None => 0,
            },
            relative_buckets: match architecture.relative {
                Some(_) => fields.size("relative_attention_num_buckets", Some(32))?,
                None => 0,
            },
            activation: activation(&fields, names.activation, defaults.activation)?,
            norm_eps: fields.share(names.norm_eps, defaults.norm_eps)? as f32,
            padding,
            hidden_dropout: fields.share(names.hidden_dropout, defaults.dropout)? as f32,
            attention_dropout: fields.share(names.attention_dropout, defaults.dropout)? as f32,
            rope: if rotary { Some(Rope::from_fields(&fields)?) } else { None },
            decoder: match architecture.decoder {
                Some(_) => Some(decoder(&fields, hidden)?),
                None => None,
            },
            source: Map::new(),
        };
        if rotary && !config.head_width().is_multiple_of(2) {
            let problem = format!("heads of {} channels cannot be turned", config.head_width());
            return Err(fields.error(names.hidden, problem));
        }
        if config.decoder.is_some_and(|decoder| decoder.start as usize >= config.vocabulary) {
            let problem = format!("the vocabulary has {} entries", config.vocabulary);
            return Err(fields.error("decoder_start_token_id", problem));
        }
        if config.positions <= config.first_position + 2 {
            let problem = format!("{} leaves no room for a story", config.positions);
            return Err(fields.error(names.positions, problem));
        }
        Ok(Config { source, ..config })
    }

    /// The most tokens that a story may have, including the special tokens.
    pub fn max_tokens(&self) -> usize {
        self.positions - self.first_position
    }

    /// Whether a token sees only the tokens before it, as in language models.
    pub fn is_causal(&self) -> bool {
        self.family.architecture().encoder.causal
    }

    /// Whether the model has a decoder, which reads the targets of a batch.
    pub fn has_decoder(&self) -> bool {
        self.decoder.is_some()
    }

    /// The configuration of the first `layers` layers of the same encoder.
    #[must_use]
    pub fn with_layers(mut self, layers: usize) -> Config {
        let field = self.family.architecture().fields.layers;
        self.layers = layers.min(self.layers);
        self.source.insert(field.into(), self.layers.into());
        self
    }

    /// The width of one attention head.
    pub fn head_width(&self) -> usize {
        self.wide_heads.unwrap_or(self.hidden / self.heads)
    }

    /// Refuses an architecture that cannot be trained: encoders such as BERT and causal language
    /// models can.
    #[cfg(feature = "train")]
    pub(crate) fn check_trained(&self) -> Result<()> {
        let architecture = self.family.architecture();
        let blocks = &architecture.encoder;
        if architecture.decoder.is_none() && (blocks.norm.is_some() || blocks.last_norm.is_some()) {
            return Ok(());
        }
        Err(Error::Mismatch(format!(
            "a model of the type {} cannot be trained; encoders such as BERT and causal language \
             models can",
            architecture.model_types[0]
        )))
    }

    /// Refuses an architecture that cannot be stored as an encoder: only encoders with a norm after
    /// each part can.
    pub(crate) fn check_encoder(&self) -> Result<()> {
        let architecture = self.family.architecture();
        if architecture.encoder.norm.is_some() && architecture.decoder.is_none() {
            return Ok(());
        }
        Err(Error::Mismatch(format!(
            "a model of the type {} is not an encoder such as BERT, which is needed here",
            architecture.model_types[0]
        )))
    }
}

fn layers(fields: &Fields<'_>, field: &str) -> Result<usize> {
    let layers = fields.size(field, None)?;
    if layers > MOST_LAYERS {
        return Err(fields.error(field, format!("{layers} layers are more than {MOST_LAYERS}")));
    }
    Ok(layers)
}

/// How many heads have the same keys and values.
fn shared_heads(fields: &Fields<'_>, heads: usize, rotary: bool) -> Result<usize> {
    let field = "num_key_value_heads";
    let own = if rotary { fields.size(field, Some(heads))? } else { heads };
    if !heads.is_multiple_of(own) {
        let problem = format!("{heads} attention heads are not a multiple of {own}");
        return Err(fields.error(field, problem));
    }
    Ok(heads / own)
}

fn activation(fields: &Fields<'_>, field: &str, default: &str) -> Result<Activation> {
    match fields.text(field)?.unwrap_or(default) {
        "gelu" => Ok(Activation::GeluErf),
        "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => Ok(Activation::GeluTanh),
        "relu" => Ok(Activation::Relu),
        "silu" | "swish" => Ok(Activation::Silu),
        other => {
            let problem = format!(
                "{:?} is not one of gelu, gelu_new, gelu_pytorch_tanh, relu, silu",
                excerpt(other)
            );
            Err(fields.error(field, problem))
        }
    }
}

fn decoder(fields: &Fields<'_>, hidden: usize) -> Result<Decoder> {
    let heads = fields.size("decoder_attention_heads", None)?;
    if !hidden.is_multiple_of(heads) {
        let problem = format!("{hidden} channels are not a multiple of {heads}");
        return Err(fields.error("decoder_attention_heads", problem));
    }
    Ok(Decoder {
        layers: layers(fields, "decoder_layers")?,
        heads,
        intermediate: fields.size("decoder_ffn_dim", None)?,
        // BART begins with the token that ends a text, which is number 2.
        start: fields.count("decoder_start_token_id", 2)? as u32,
    })
}
