//! Finds the model that becomes part of the program: `models/union-compact.smq` of the repository, or the file that
//! `STORYMETER_EMBEDDED_MODEL` names. Without one the library builds too, and says so when it is asked for the model.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded_model)");
    println!("cargo::rerun-if-env-changed=STORYMETER_EMBEDDED_MODEL");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    // The folder, not the file: a file that is not there yet would make every build run this again.
    if models.is_dir() {
        println!("cargo::rerun-if-changed={}", models.display());
    } else {
        println!("cargo::rerun-if-changed=build.rs");
    }
    let file = match std::env::var_os("STORYMETER_EMBEDDED_MODEL") {
        Some(path) => PathBuf::from(path),
        None => models.join("union-compact.smq"),
    };
    if let Ok(file) = file.canonicalize() {
        println!("cargo::rustc-cfg=embedded_model");
        println!("cargo::rustc-env=STORYMETER_EMBEDDED_FILE={}", file.display());
        println!("cargo::rerun-if-changed={}", file.display());
    }
}
