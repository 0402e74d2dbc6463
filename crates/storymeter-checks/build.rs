//! Tells the checks whether the shared data are there, so that the test runner reports those that
//! need them as ignored where they are not.

use std::path::PathBuf;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(shared_data)");
    println!("cargo::rerun-if-env-changed=STORYMETER_SHARED");
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("STORYMETER_SHARED").map_or(beside, PathBuf::from);
    println!("cargo::rerun-if-changed={}", folder.join("data").display());
    if folder.join("data").is_dir() {
        println!("cargo::rustc-cfg=shared_data");
    }
}
