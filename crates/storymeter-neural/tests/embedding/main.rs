//! BERTScore, MoverScore, BaryScore and DepthScore as users run them.

mod edges;
mod golden;
mod peer;
#[path = "../support/scoring.rs"]
mod scoring;
#[path = "../support/mod.rs"]
mod support;

use std::path::PathBuf;

/// The folder of a real model, or nothing where the folder that
/// `STORYMETER_TEST_WEIGHTS` names does not have it.
fn weights(model: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("STORYMETER_TEST_WEIGHTS")?).join(model);
    folder.exists().then_some(folder)
}
