//! Finds the model file that becomes part of the program.
//!
//! With the feature `embedded` it is the file that the environment variable
//! `STORYMETER_EMBEDDED_MODEL` names, or else `models/union-compact.smq` in the repository. The
//! published crate has no such file. It then builds without the model, which `src/installed.rs`
//! looks for when the program runs.
//!
//! The facts beside the model file, `NAME.about.json`, become part of the program with it.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded_model)");
    println!("cargo::rustc-check-cfg=cfg(embedded_about)");
    println!("cargo::rerun-if-env-changed=STORYMETER_EMBEDDED_MODEL");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    // Cargo would run this script in every build if it watched a path that does not exist. So the
    // folder is watched for a file that is not there yet.
    if models.is_dir() {
        println!("cargo::rerun-if-changed={}", models.display());
    } else {
        println!("cargo::rerun-if-changed=build.rs");
    }
    if std::env::var_os("CARGO_FEATURE_EMBEDDED").is_none() {
        return;
    }
    let file = match std::env::var_os("STORYMETER_EMBEDDED_MODEL") {
        Some(path) => PathBuf::from(path),
        None => models.join("union-compact.smq"),
    };
    if let Ok(file) = file.canonicalize() {
        println!("cargo::rustc-cfg=embedded_model");
        println!("cargo::rustc-env=STORYMETER_EMBEDDED_FILE={}", file.display());
        println!("cargo::rerun-if-changed={}", file.display());
        let about = file.with_extension("about.json");
        if about.is_file() {
            println!("cargo::rustc-cfg=embedded_about");
            println!("cargo::rustc-env=STORYMETER_EMBEDDED_ABOUT={}", about.display());
            println!("cargo::rerun-if-changed={}", about.display());
        }
    }
}
