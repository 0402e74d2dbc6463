//! `storymeter report`: one HTML file to show to others, and figures for a paper.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use storymeter_core::file::{self, StagedFolder};
use storymeter_report::{Error, FigureSet, Inputs, Report, files};

use crate::Outcome;
use crate::args::Common;
use crate::output::{Output, Reader};
use crate::progress;

/// Arguments of `storymeter report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter meta hanna hanna_metric_scores.csv --ratings ratings.csv -o result
  storymeter report result hanna_metric_scores.csv --stories stories.jsonl -o report.html

  # What changed between two runs on the same stories, with a paired test:
  storymeter report old new old.jsonl new.jsonl -o changes.html

  # Which system is best by its scores alone, with the stories to read:
  storymeter score stories.jsonl -o scores.jsonl
  storymeter report scores.jsonl --stories stories.jsonl -o systems.html

  # What metrics see, and what disturbs them, with pairs to read:
  storymeter report suite-result --figures figures -o seen.html

  storymeter report model/train.jsonl --figures figures -o training.html")]
pub struct ReportArgs {
    /// Folders written by `meta -o` or `suite run -o`, score files, HANNA's score file, and
    /// training logs. Later folders of `meta` are compared with the first; give their score files
    /// in the same order. Otherwise several score files are joined as by `compare`
    #[arg(value_name = "DIR|FILE", required = true)]
    inputs: Vec<PathBuf>,
    /// Stories whose texts the page shows beside their scores. They are joined by id, or by system
    /// and item
    #[arg(long, value_name = "FILE")]
    stories: Option<PathBuf>,
    /// Write the main figures to this folder as SVG, PNG and PDF
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Write every figure there: each level, coefficient, criterion and test
    #[arg(long, requires = "figures")]
    figures_all: bool,
    /// Point out a metric, such as your own, in tables, figures and sentences
    #[arg(long, value_name = "KEY")]
    highlight: Option<String>,
    /// The page: one file that needs no other file and no network
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
}

/// Makes the page and the figures.
///
/// Everything is made and checked before any file gets its name.
pub fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<Outcome> {
    let sources = Inputs::files(&args.inputs, args.stories.as_deref());
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    file::named_once(&sources)?;
    file::distinct(&[&args.output], &sources)?;
    let mut inputs = Inputs::read(&args.inputs, args.stories.as_deref(), &storymeter::catalogue())
        .map_err(with_advice)?;
    if let Some(metric) = &args.highlight {
        inputs.highlight(metric)?;
    }
    let report = Report::new(&inputs);
    let html = report.html();
    let figures = match &args.figures {
        Some(folder) => Some(prepare_figures(&report, args, folder, common)?),
        None => None,
    };
    let mut page = Output::open(Some(&args.output), Reader::Program)?;
    page.write_all(html.as_bytes())
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    let mut said = String::new();
    if let (Some(staged), Some(folder)) = (figures, &args.figures) {
        let paths = staged.paths();
        let outputs: Vec<&Path> =
            [&args.output].into_iter().chain(&paths).map(PathBuf::as_path).collect();
        file::distinct(&outputs, &sources)?;
        staged.check_targets(&[])?;
        page.prepare()?;
        said = format!(", {} files in {}", paths.len(), folder.display());
        page.finish_with(|| {
            staged.commit(&[])?;
            Ok(())
        })?;
    } else {
        page.finish()?;
    }
    if !common.quiet {
        let size = html.len() as f64 / 1e6;
        crate::note(&format!("{}: {size:.1} MB{said}", args.output.display()));
    }
    Ok(Outcome::Done)
}

/// Draws the figures that were asked for. A folder that would stay empty is an error, because the
/// user expects files in it.
fn prepare_figures(
    report: &Report<'_>,
    args: &ReportArgs,
    folder: &Path,
    common: &Common,
) -> anyhow::Result<StagedFolder> {
    let set = if args.figures_all { FigureSet::All } else { FigureSet::Main };
    let figures = report.figures(set);
    anyhow::ensure!(
        !figures.is_empty(),
        "--figures {}: there is nothing to draw: the inputs have no scores of systems, no \
         correlations, no training log and no aspect of a test suite, so no figure was written",
        folder.display()
    );
    let bar = progress::Shown::new(common);
    Ok(files::prepare(&figures, folder, bar.progress())?)
}

/// Adds the command that would help to an error of the library.
fn with_advice(error: Error) -> anyhow::Error {
    let advice = match &error {
        Error::NotAResult(folder) | Error::OldResult(folder) => {
            let folder = folder.display();
            format!(
                "; `storymeter suite run ... -o {folder}` or `storymeter meta ... -o {folder}` \
                 makes one"
            )
        }
        _ => return error.into(),
    };
    anyhow::anyhow!("{error}{advice}")
}
