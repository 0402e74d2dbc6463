//! `storymeter report`: one HTML file to show to others, and figures for a paper.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use storymeter::core::AtomicFile;
use storymeter::report::{Inputs, figures, files, page};

use crate::Outcome;
use crate::args::Common;

/// Arguments of `storymeter report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter meta hanna hanna_metric_scores.csv --ratings ratings.csv -o result
  storymeter report result hanna_metric_scores.csv --stories stories.jsonl -o report.html

  storymeter report old new old.jsonl new.jsonl -o changes.html    # what changed, with significance
  storymeter report model/train.jsonl --figures figures -o training.html")]
pub struct ReportArgs {
    /// Folders that `meta -o` wrote, files that `score -o` wrote, HANNA's score file (.csv), training logs (.jsonl);
    /// several folders are compared with the first
    #[arg(value_name = "DIR|FILE", required = true)]
    inputs: Vec<PathBuf>,
    /// Stories to read beside their scores, joined by id, or by system and item
    #[arg(long, value_name = "FILE")]
    stories: Option<PathBuf>,
    /// Write every figure to this folder as SVG, PNG and PDF
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// The page: one file that needs no other and no network
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
}

/// Makes the page and the figures.
pub fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<Outcome> {
    let inputs = Inputs::read(&args.inputs, args.stories.as_deref())?;
    let html = page::html(&inputs);
    let mut drawn = 0;
    if let Some(folder) = &args.figures {
        drawn = files::write(&figures::all(&inputs), folder)?.len();
    }
    let mut file = AtomicFile::create(&args.output)?;
    file.write_all(html.as_bytes())?;
    file.commit()?;
    if !common.quiet {
        let figures =
            args.figures.as_ref().map(|folder| format!(", {drawn} files in {}", folder.display()));
        let size = html.len() as f64 / 1e6;
        crate::note(&format!(
            "{}: {size:.1} MB{}",
            args.output.display(),
            figures.unwrap_or_default()
        ));
    }
    Ok(Outcome::Done)
}
