//! Scoring and training with tiny models.
#![allow(clippy::print_stdout)]

#[cfg(feature = "train")]
mod configuration;
mod criteria;
mod criteria_calibration;
mod criteria_shown;
mod folders;
mod model_files;
mod normalised;
mod reference_scores;
mod scoring;
mod sentences;
#[cfg(feature = "train")]
mod settings;
#[cfg(feature = "train")]
mod training;
