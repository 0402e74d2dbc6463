//! `storymeter correlate`: how scores agree with human judgments.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use storymeter_core::file;
use storymeter_core::spreadsheet::TextCells;
use storymeter_meta::correlate::{Judgments, Source, correlate};
use storymeter_meta::view::{Sheet, text};
use storymeter_meta::{DrawOptions, PairOptions};

use super::meta::settings::CompareArgs;
use crate::Outcome;
use crate::args::Common;
use crate::format::{PrintFormat, emphasis};
use crate::output::{Output, stdout_path};
use crate::progress;

/// Arguments of `storymeter correlate`.
#[derive(Debug, Args)]
pub struct CorrelateArgs {
    /// Human judgments: `ID ||| story ||| r1 .. r7` (their mean counts), JSONL with `human`, or CSV
    /// or TSV with columns `human/CRITERION`
    #[arg(long, value_name = "FILE")]
    human: PathBuf,
    /// Which criterion of `human` to use, where there are several
    #[arg(long, value_name = "C")]
    criterion: Option<String>,
    /// Scores: one number per line, joined by order, or what `score` wrote or any CSV or TSV,
    /// joined by system and id
    #[arg(
        long,
        value_name = "NAME=FILE[#METRIC]",
        required = true,
        num_args = 1..,
        value_parser = source
    )]
    scores: Vec<Source>,
    /// Print one JSON object, as `--format json` does; `=tests` in it has the tests between scores
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = PrintFormat::Table)]
    format: PrintFormat,
    /// Write to this file instead of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The seed of bootstrap intervals and permutation tests
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    compare: CompareArgs,
}

/// Reads `NAME=FILE` or `NAME=FILE#METRIC`.
fn source(text: &str) -> Result<Source, String> {
    let Some((name, file)) =
        text.split_once('=').filter(|(name, file)| !name.is_empty() && !file.is_empty())
    else {
        return Err(format!("\"{text}\" is not of the form NAME=FILE or NAME=FILE#METRIC"));
    };
    // A file name may have a `#` in it. A file that exists under the whole name is that file.
    let (file, metric) = match file.rsplit_once('#') {
        Some((before, metric)) if !Path::new(file).exists() => (before, Some(metric.to_owned())),
        _ => (file, None),
    };
    if file.is_empty() || metric.as_deref() == Some("") {
        return Err(format!("\"{text}\" names no file before the #, or no metric after it"));
    }
    Ok(Source { name: name.into(), file: file.into(), metric })
}

/// Correlates each score file with the human judgments and prints the result.
pub fn run(args: &CorrelateArgs, common: &Common) -> anyhow::Result<Outcome> {
    let inputs = args.scores.iter().map(|source| source.file.as_path()).chain([&*args.human]);
    let output = args.output.as_deref().unwrap_or(stdout_path());
    file::distinct(&[output], &inputs.collect::<Vec<_>>())?;
    let catalogue = storymeter::catalogue();
    let pairs = PairOptions { seed: args.seed, ..PairOptions::default() };
    let settings = args.compare.settings(pairs, DrawOptions::default());
    let judgments =
        Judgments::read(&args.human, args.criterion.as_deref(), &catalogue).context("--human")?;
    let bar = progress::Shown::new(common);
    let found = correlate(&judgments, &args.scores, &catalogue, &settings, bar.progress())
        .context("--scores")?;
    drop(bar);
    let format = if args.json { PrintFormat::Json } else { args.format };
    let mut out = Output::open(args.output.as_deref(), format.reader())?;
    match format {
        PrintFormat::Json => writeln!(out, "{}", serde_json::to_string_pretty(&found.to_json())?)?,
        PrintFormat::Jsonl => writeln!(out, "{}", serde_json::to_string(&found.to_json())?)?,
        PrintFormat::Csv => write!(out, "{}", text::csv(&found.flat_sheet(), TextCells::Marked))?,
        PrintFormat::Table | PrintFormat::Markdown | PrintFormat::Latex => {
            let sheets = found.sheets();
            let sheets: Vec<&Sheet> = sheets.iter().collect();
            let tables = format.tables(&sheets, emphasis(args.output.is_some()));
            let trust = format.trust(&found.trust(), common.quiet);
            write!(out, "{}{trust}", tables.unwrap_or_default())?;
        }
    }
    out.finish()?;
    Ok(Outcome::Done)
}
