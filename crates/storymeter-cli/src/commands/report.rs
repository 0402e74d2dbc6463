//! `storymeter report`: one HTML file to show to others, and figures for a paper.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use storymeter::core::AtomicFile;
use storymeter::report::{Error, Inputs, figures, files, page};

use crate::Outcome;
use crate::args::Common;

/// Arguments of `storymeter report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter meta hanna hanna_metric_scores.csv --ratings ratings.csv -o result
  storymeter report result hanna_metric_scores.csv --stories stories.jsonl -o report.html

  # What changed between two runs on the same stories, with a paired test:
  storymeter report old new old.jsonl new.jsonl -o changes.html

  storymeter report model/train.jsonl --figures figures -o training.html")]
pub struct ReportArgs {
    /// Folders written by `meta -o`, score files, HANNA's score file, and training logs. Later
    /// folders are compared with the first; give their score files in the same order
    #[arg(value_name = "DIR|FILE", required = true)]
    inputs: Vec<PathBuf>,
    /// Stories whose texts the page shows beside their scores. They are joined by id, or by system
    /// and item
    #[arg(long, value_name = "FILE")]
    stories: Option<PathBuf>,
    /// Write every figure to this folder as SVG, PNG and PDF
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// The page: one file that needs no other file and no network
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
}

/// Makes the page and the figures.
pub fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<Outcome> {
    let inputs = Inputs::read(&args.inputs, args.stories.as_deref(), &storymeter::catalogue())
        .map_err(with_advice)?;
    let html = page::html(&inputs);
    let figures = match &args.figures {
        Some(folder) => {
            let count = files::write(&figures::all(&inputs), folder)?.len();
            format!(", {count} files in {}", folder.display())
        }
        None => String::new(),
    };
    let mut file = AtomicFile::create(&args.output)?;
    file.write_all(html.as_bytes())
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    file.commit()?;
    if !common.quiet {
        let size = html.len() as f64 / 1e6;
        crate::note(&format!("{}: {size:.1} MB{figures}", args.output.display()));
    }
    Ok(Outcome::Done)
}

/// Adds the command that would help to an error of the library.
fn with_advice(error: Error) -> anyhow::Error {
    let advice = match &error {
        Error::NotAResult(folder) | Error::OldResult(folder) => {
            format!("; `storymeter meta ... -o {}` makes one", folder.display())
        }
        _ => return error.into(),
    };
    anyhow::anyhow!("{error}{advice}")
}
