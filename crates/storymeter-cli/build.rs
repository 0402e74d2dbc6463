//! Does nothing. Without it, cargo would not look at the build dependency, which gives `syn` the
//! same features in every build (Cargo.toml).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
