//! Training: a model forward and backward, losses, and the optimiser, over the operations of
//! one device.
//!
//! [`Network`] is written once over [`Backend`], the boundary behind which a device lives. [`Cpu`]
//! is one device; with the feature `cuda`, a GPU is another.

mod backend;
mod cpu;
mod exchange;
mod heads;
mod language_model;
mod masked_word;
mod network;
mod optimiser;
mod post_norm;
mod pre_norm;
mod saved;

pub use backend::{
    AdamStep, Attention, Backend, Dropout, Given, LOSSES, LabelLoss, Linear, Norm, Part, Rotary,
    Skipped, TableRows, Tables,
};
pub use cpu::{Cpu, CpuStore};
pub use exchange::{Alone, Exchange, Rank};
pub use heads::{HostLoss, MaskedWordHead, PooledHead, Selection, States};
pub use language_model::LanguageModelWeights;
pub use masked_word::MaskedWordWeights;
pub use network::{ForwardOptions, Network, Trace};
pub use optimiser::{AdamW, MOST_SKIPPED, Optimiser, OptimiserState, warm_up_then_linear};
pub use saved::{SavedState, SavedTensors};
