//! Makes a report from result folders, score tables and training logs.
//!
//! ```sh
//! cargo run --release -p storymeter-report --example page -- report.html scores.jsonl
//! ```

use std::path::PathBuf;

use storymeter_core::Catalogue;
use storymeter_report::{Inputs, Report};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let output = paths.next().ok_or("usage: page OUTPUT INPUT...")?;
    let inputs = Inputs::read(&paths.collect::<Vec<_>>(), None, &Catalogue::default())?;
    std::fs::write(output, Report::new(&inputs).html())?;
    Ok(())
}
