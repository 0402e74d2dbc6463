//! Leaves line tables out of the release binary: with the embedded model it would be twice as large. Function names stay,
//! for backtraces and profilers. (Elsewhere than on Linux they are in files of their own anyway.)

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is =
        |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-debug");
    }
}
