//! BERTScore, MoverScore, BaryScore and DepthScore as users run them.

mod edges;
mod golden;
mod peer;
#[path = "../support/scoring.rs"]
mod scoring;
#[path = "../support/mod.rs"]
mod support;

use std::path::PathBuf;

/// The folder of a real model, or nothing where `STORYMETER_TEST_WEIGHTS` is not set.
fn weights(model: &str) -> Option<PathBuf> {
    std::env::var_os("STORYMETER_TEST_WEIGHTS").map(|folder| PathBuf::from(folder).join(model))
}
