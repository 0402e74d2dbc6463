//! RoBERTa (Liu et al. 2019): BERT with other positions, one segment and another head.

use super::{Architecture, Defaults, Positions, ROBERTA_HEAD, bert};

pub(super) const ROBERTA: Architecture = Architecture {
    model_types: &["roberta"],
    defaults: Defaults {
        activation: "gelu",
        norm_eps: 1e-5,
        padding: 1,
        segments: 1,
        widening: None,
        dropout: 0.1,
    },
    positions: Positions::AfterPadding,
    masked_word: Some(ROBERTA_HEAD),
    ..bert::BERT
};
