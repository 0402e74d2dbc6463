//! The command line inside the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these arguments, of which the first is its name, and returns the exit
/// code. A process may call it once.
#[pyfunction]
pub fn run_command_line(py: Python<'_>, args: Vec<OsString>, stdout_is_closed: bool) -> u8 {
    if stdout_is_closed {
        storymeter_cli::stdout_was_closed();
    }
    py.detach(|| storymeter_cli::run(args))
}
