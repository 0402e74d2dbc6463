//! Strips the release binary, which would otherwise be twice as large: the line tables that
//! profilers need are kept for all other targets of the release profile. Other systems than Linux
//! keep them in files of their own.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is =
        |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}
