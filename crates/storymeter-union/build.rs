//! Finds the model files that become part of the program.
//!
//! With the feature `embedded` they are the files that two environment variables name, or else
//! files in the folder `models` of the repository:
//!
//! | model | variable | file |
//! |---|---|---|
//! | of the metric `union` | `STORYMETER_EMBEDDED_MODEL` | `union-compact.smq` |
//! | of the metric `criteria` | `STORYMETER_EMBEDDED_CRITERIA` | `criteria.smq` |
//!
//! The published crate has no such files. It then builds without the models, which
//! `src/installed.rs` looks for when the program runs.
//!
//! The facts beside a model file, `NAME.about.json`, become part of the program with it.

use std::path::{Path, PathBuf};

/// A model that becomes part of the program if its file is there.
struct Embedded {
    /// The environment variable that names another file.
    variable: &'static str,
    /// The file in the folder `models`.
    file: &'static str,
    /// What the code asks for: whether there is a model, and whether there are facts beside it.
    flags: [&'static str; 2],
    /// The variables from which the code learns the paths of the two files.
    paths: [&'static str; 2],
}

const MODELS: [Embedded; 2] = [
    Embedded {
        variable: "STORYMETER_EMBEDDED_MODEL",
        file: "union-compact.smq",
        flags: ["embedded_model", "embedded_about"],
        paths: ["STORYMETER_EMBEDDED_FILE", "STORYMETER_EMBEDDED_ABOUT"],
    },
    Embedded {
        variable: "STORYMETER_EMBEDDED_CRITERIA",
        file: "criteria.smq",
        flags: ["embedded_criteria", "embedded_criteria_about"],
        paths: ["STORYMETER_EMBEDDED_CRITERIA_FILE", "STORYMETER_EMBEDDED_CRITERIA_ABOUT"],
    },
];

fn main() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    // Cargo would run this script in every build if it watched a path that does not exist. So the
    // folder is watched for a file that is not there yet.
    if models.is_dir() {
        println!("cargo::rerun-if-changed={}", models.display());
    } else {
        println!("cargo::rerun-if-changed=build.rs");
    }
    for model in MODELS {
        for flag in model.flags {
            println!("cargo::rustc-check-cfg=cfg({flag})");
        }
        println!("cargo::rerun-if-env-changed={}", model.variable);
        if std::env::var_os("CARGO_FEATURE_EMBEDDED").is_some() {
            embed(&model, &models);
        }
    }
}

/// Makes a model part of the program, and the facts beside it.
fn embed(model: &Embedded, models: &Path) {
    let file = match std::env::var_os(model.variable) {
        Some(path) => PathBuf::from(path),
        None => models.join(model.file),
    };
    let Ok(file) = file.canonicalize() else { return };
    let about = file.with_extension("about.json");
    for ((path, flag), variable) in [file, about].iter().zip(model.flags).zip(model.paths) {
        if path.is_file() {
            println!("cargo::rustc-cfg={flag}");
            println!("cargo::rustc-env={variable}={}", path.display());
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}
