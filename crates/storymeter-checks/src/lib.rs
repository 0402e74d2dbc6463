//! Checks that read the shared data (`../shared` beside the project, or `$STORYMETER_SHARED`).
//!
//! They live in `tests/`, one file a topic, and run with the rest of the tests. Where the data is absent each
//! prints one clear line and passes, so the project's tests work on any machine.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr)]

pub mod evaluate;
pub mod hanna_metrics;
pub mod pairs;

use std::path::{Path, PathBuf};

/// A file or folder of the shared data, or `None` with a line on stderr where it is absent.
///
/// ```no_run
/// let Some(path) = storymeter_checks::shared("data/roc/stories.tsv.gz") else { return };
/// ```
pub fn shared(relative: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("STORYMETER_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let path = root.join(relative);
    if path.exists() {
        Some(path)
    } else {
        eprintln!(
            "skipped: {} is absent (set STORYMETER_SHARED to the folder of the shared data)",
            path.display()
        );
        None
    }
}

/// The folder of METEOR 1.5's tables (`$STORYMETER_METEOR_DATA`), or `None` with a line on stderr where it is not set.
///
/// `pip install pycocoevalcap` brings them, in its folder `meteor`; they are not ours to ship.
pub fn meteor_data() -> Option<PathBuf> {
    let folder = std::env::var_os("STORYMETER_METEOR_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!(
            "skipped: METEOR 1.5 (set STORYMETER_METEOR_DATA to the folder of meteor-1.5.jar and its tables)"
        );
    }
    folder
}

/// The 17 metrics of HANNA's figures in the paper's body (3, 4, 7 and the Williams matrices), in their order, by name
/// without glyphs. The checks have the list on their own: it is what the analysis is held to.
pub const HANNA_SELECTED: [&str; 17] = [
    "BLEU",
    "ROUGE-1 Recall",
    "METEOR",
    "chrF",
    "ROUGE-WE-3 Recall",
    "BERTScore Recall",
    "MoverScore",
    "DepthScore",
    "BaryScore-W",
    "S3-Pyramid",
    "SummaQA",
    "InfoLM-FisherRao",
    "BARTScore-SH",
    "Coverage",
    "Repetition-1",
    "SUPERT-PS",
    "BLANC-Tune-PS",
];
