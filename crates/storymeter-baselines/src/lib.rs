//! Trains the baselines of Table 5 of the UNION paper (Guan and Huang, EMNLP 2020).
//!
//! - [`configuration`]: settings as TOML files that explain every field.
#![forbid(unsafe_code)]

pub mod configuration;
mod error;

pub use error::{Error, Result};
