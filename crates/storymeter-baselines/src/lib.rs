//! Trains the baselines of Table 5 of the UNION paper (Guan and Huang, EMNLP 2020).
//!
//! - [`configuration`]: settings as TOML files that explain every field.
//! - [`ruber`]: the head of RUBER-BERT's unreferenced score.
#![forbid(unsafe_code)]

pub mod configuration;
mod error;
pub mod ruber;

pub use error::{Error, Result};
