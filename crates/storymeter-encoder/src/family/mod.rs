//! The architectures. Each is a description in data: how its blocks are built, what `config.json`
//! calls its sizes, and what files call its tensors. One forward pass runs all of them.

mod bart;
mod bert;
mod distilbert;
mod gpt2;
mod llama;
mod mpnet;
mod roberta;

/// The architectures that there are descriptions of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// BERT and MiniLM.
    Bert,
    /// RoBERTa, whose positions start after the row of padding.
    Roberta,
    /// DistilBERT, which has no segments and other names.
    DistilBert,
    /// MPNet, whose positions start at 2 and whose attention has a relative position bias.
    Mpnet,
    /// GPT-2: a language model with a norm before each part of a block.
    Gpt2,
    /// Llama, Mistral and Qwen 2: language models with rotary positions and gated blocks.
    Llama,
    /// BART: an encoder and a decoder.
    Bart,
}

impl Family {
    const ALL: [Family; 7] = [
        Family::Bert,
        Family::Roberta,
        Family::DistilBert,
        Family::Mpnet,
        Family::Gpt2,
        Family::Llama,
        Family::Bart,
    ];

    /// The family that `config.json` calls `model_type`.
    pub(crate) fn of_type(model_type: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|f| f.architecture().model_types.contains(&model_type))
    }

    /// All words for `model_type`, separated by commas.
    pub(crate) fn known_types() -> String {
        let types = Family::ALL.iter().flat_map(|family| family.architecture().model_types);
        types.copied().collect::<Vec<_>>().join(", ")
    }

    /// The description.
    pub(crate) fn architecture(self) -> &'static Architecture {
        match self {
            Family::Bert => &bert::BERT,
            Family::Roberta => &roberta::ROBERTA,
            Family::DistilBert => &distilbert::DISTILBERT,
            Family::Mpnet => &mpnet::MPNET,
            Family::Gpt2 => &gpt2::GPT2,
            Family::Llama => &llama::LLAMA,
            Family::Bart => &bart::BART,
        }
    }
}

/// Everything in which an architecture differs from others.
pub(crate) struct Architecture {
    /// What `config.json` calls it.
    pub(crate) model_types: &'static [&'static str],
    pub(crate) fields: FieldNames,
    pub(crate) defaults: Defaults,
    /// Where the norms of a block are.
    pub(crate) order: Order,
    /// Whether norms are RMS norms, which have no shift.
    pub(crate) rms: bool,
    pub(crate) positions: Positions,
    /// Whether a linear map must have a bias. Otherwise it has one if the file does.
    pub(crate) biased: bool,
    /// Whether matrices have one row per input, and not one per output.
    pub(crate) transposed: bool,
    /// The word embeddings, under any of these names.
    pub(crate) words: &'static [&'static str],
    pub(crate) segments: Option<&'static str>,
    /// The relative position bias, one row per bucket.
    pub(crate) relative: Option<&'static str>,
    /// The blocks that read the sequences.
    pub(crate) encoder: Stack,
    /// The blocks that read the targets.
    pub(crate) decoder: Option<Stack>,
    pub(crate) masked_word: Option<MaskedWord>,
    /// Whether the next token is predicted, with `lm_head.weight` or with the word embeddings.
    pub(crate) next_token: bool,
}

/// What `config.json` calls the sizes.
pub(crate) struct FieldNames {
    pub(crate) hidden: &'static str,
    pub(crate) layers: &'static str,
    pub(crate) heads: &'static str,
    pub(crate) intermediate: &'static str,
    pub(crate) positions: &'static str,
    pub(crate) activation: &'static str,
    pub(crate) norm_eps: &'static str,
    pub(crate) hidden_dropout: &'static str,
    pub(crate) attention_dropout: &'static str,
}

/// What holds if `config.json` does not say it.
pub(crate) struct Defaults {
    pub(crate) activation: &'static str,
    pub(crate) norm_eps: f64,
    pub(crate) padding: usize,
    pub(crate) segments: usize,
    /// How many times as wide as the hidden states the feed-forward part is, where the field may
    /// be missing.
    pub(crate) widening: Option<usize>,
    /// The share of numbers that training drops.
    pub(crate) dropout: f64,
}

/// Where the norms of a block are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Before each part, whose result is then added.
    Before,
    /// After the result of each part has been added.
    After,
}

/// How a model knows where a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Positions {
    /// A table whose first row belongs to the first token.
    Table,
    /// A table in which the first token has the row after that of padding.
    AfterPadding,
    /// A table with two more rows than the configuration says, for the first of which there is no
    /// use.
    AfterTwo,
    /// Queries and keys are turned.
    Rotary,
}

/// The tensors of a stack of blocks.
pub(crate) struct Stack {
    /// Whether a token attends only to itself and those before it.
    pub(crate) causal: bool,
    pub(crate) positions: Option<&'static str>,
    /// The norm of the embeddings.
    pub(crate) norm: Option<&'static str>,
    /// What stands before the number of a block.
    pub(crate) before: &'static str,
    pub(crate) attention: Attention,
    /// Attention to what the encoder made of the sequence.
    pub(crate) cross: Option<Attention>,
    /// The gate of the feed-forward part.
    pub(crate) gate: Option<&'static str>,
    pub(crate) up: &'static str,
    pub(crate) down: &'static str,
    pub(crate) output_norm: &'static str,
    /// The norm after all blocks.
    pub(crate) last_norm: Option<&'static str>,
}

/// The tensors of one attention.
pub(crate) struct Attention {
    pub(crate) qkv: Qkv,
    pub(crate) output: &'static str,
    pub(crate) norm: &'static str,
}

/// Queries, keys and values.
#[derive(Clone, Copy)]
pub(crate) enum Qkv {
    /// Three matrices.
    Apart([&'static str; 3]),
    /// One matrix.
    Together(&'static str),
}

/// The tensors of a head for masked words: a linear map, a norm, and the products with all words.
pub(crate) struct MaskedWord {
    pub(crate) dense: &'static str,
    pub(crate) norm: &'static str,
    /// The words; where it is missing, the word embeddings.
    pub(crate) words: &'static str,
    pub(crate) bias: &'static str,
}

/// The fields of BERT, which many follow.
const BERT_FIELDS: FieldNames = FieldNames {
    hidden: "hidden_size",
    layers: "num_hidden_layers",
    heads: "num_attention_heads",
    intermediate: "intermediate_size",
    positions: "max_position_embeddings",
    activation: "hidden_act",
    norm_eps: "layer_norm_eps",
    hidden_dropout: "hidden_dropout_prob",
    attention_dropout: "attention_probs_dropout_prob",
};

/// The head of RoBERTa for masked words, which MPNet has too.
const ROBERTA_HEAD: MaskedWord = MaskedWord {
    dense: "lm_head.dense",
    norm: "lm_head.layer_norm",
    words: "lm_head.decoder.weight",
    bias: "lm_head.bias",
};
