//! The binary `storymeter`. What it does is in the library of this crate.
#![deny(unsafe_code)]

use std::process::ExitCode;

/// Stories are read on one thread, parsed on another and freed on a third. With the allocator of
/// glibc, these threads wait for each other thousands of times per second. With this one they do
/// not.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(storymeter_cli::run(std::env::args_os()))
}
