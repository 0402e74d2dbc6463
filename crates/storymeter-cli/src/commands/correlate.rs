//! `storymeter correlate`: how scores agree with human judgments.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use storymeter::core::file;
use storymeter::meta::correlate::{Judgments, Source, correlate};
use storymeter::meta::view::text;
use storymeter::meta::{DrawOptions, DuelOptions};

use super::meta::settings::CompareArgs;
use crate::Outcome;
use crate::output::{Output, stdout_path};

/// Arguments of `storymeter correlate`.
#[derive(Debug, Args)]
pub struct CorrelateArgs {
    /// Human judgments: `ID ||| story ||| r1 .. r7` (their mean counts), or JSONL with `human`
    #[arg(long, value_name = "FILE")]
    human: PathBuf,
    /// Which criterion of `human` to use, where there are several
    #[arg(long, value_name = "C")]
    criterion: Option<String>,
    /// Scores: one number per line, joined by order, or what `score` wrote, joined by id
    #[arg(
        long,
        value_name = "NAME=FILE[#METRIC]",
        required = true,
        num_args = 1..,
        value_parser = source
    )]
    scores: Vec<Source>,
    /// Print one JSON object; `=tests` in it has the tests between scores
    #[arg(long)]
    json: bool,
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
pub fn run(args: &CorrelateArgs) -> anyhow::Result<Outcome> {
    let inputs = args.scores.iter().map(|source| source.file.as_path()).chain([&*args.human]);
    file::distinct(&[stdout_path()], &inputs.collect::<Vec<_>>())?;
    let catalogue = storymeter::catalogue();
    let duels = DuelOptions { seed: args.seed, ..DuelOptions::default() };
    let settings = args.compare.settings(duels, DrawOptions::default());
    let judgments =
        Judgments::read(&args.human, args.criterion.as_deref(), &catalogue).context("--human")?;
    let found = correlate(&judgments, &args.scores, &catalogue, &settings).context("--scores")?;
    if args.json {
        Output::print_data(&format!("{}\n", serde_json::to_string_pretty(&found.to_json())?))?;
    } else {
        let sheets: Vec<String> = found.sheets().iter().map(text::sheet).collect();
        Output::print(&sheets.join("\n"))?;
    }
    Ok(Outcome::Done)
}
