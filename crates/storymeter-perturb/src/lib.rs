#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod aspect;
mod config;
mod counts;
mod donors;
mod draft;
mod draw;
mod edit;
mod error;
mod names;
pub mod negation;
mod reordering;
mod repetition;
mod replacement;
mod sampler;
mod style;
mod substitution;
mod technique;
mod words;

pub use config::{CheckedConfig, Config, Preset};
pub use counts::DamageCounts;
pub use donors::{DEFAULT_SAMPLE, DonorSampler, Donors};
pub use draft::sentences_of;
pub use edit::{Edit, Stretch, stretches};
pub use error::Error;
pub use names::{delexicalised, delexicalised_with_names};
pub use replacement::{Replacement, apply, undo};
pub use sampler::{Perturbation, Perturber, Unchanged};
pub use technique::Technique;
