//! `storymeter suite run`: says what metrics see.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use storymeter::core::spreadsheet::TextCells;
use storymeter::core::terminal::plain;
use storymeter::core::{Aspect, Header, file};
use storymeter::meta::suite::{SuiteOptions, SuiteResult, prepare};
use storymeter::meta::view::{self, Sheet, text, typeset};
use storymeter::suite::{Suite, TextScores};

use super::{aspect, chosen};
use crate::Outcome;
use crate::args::{Common, count};
use crate::format::{PrintFormat, emphasis};
use crate::output::{Output, failed, stdout_path};
use crate::progress;
use crate::scorer::ScorerArgs;

/// Say what metrics see in the pairs of a suite, and what disturbs them
///
/// Prints one row per aspect for each metric: the AUC (how often a story scores above a twin; 0.5
/// is blind), the shift (by how many standard deviations the twins score lower, with its interval),
/// the share of pairs in the right order, and OpenMEVA's point-biserial r. Aspects of damage come
/// first, where large numbers are good. Below them stand the aspects that leave the meaning alone,
/// where a shift of 0 is best. The last column compares each shift with the one that typos cause.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter suite run suite
  storymeter suite run suite --metric union,criteria,repetition-3 -o result
  storymeter suite run suite --scores my-scores.jsonl
  storymeter suite run suite --metric union --compat --format markdown")]
pub struct RunArgs {
    /// A folder that `suite make` wrote
    #[arg(value_name = "DIR")]
    suite: PathBuf,
    #[command(flatten)]
    scorer: ScorerArgs,
    /// Scores of the texts by other programs: any score file whose rows have the system and the id
    /// of texts.jsonl. With --scores, metrics are computed only if --metric names them. The option
    /// may be given several times
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    /// The aspects, separated by commas. The default is all
    #[arg(long, value_name = "ASPECT", value_delimiter = ',', value_parser = aspect)]
    aspects: Vec<Aspect>,
    /// Repeat OpenMEVA's own reading, which does not use the pairs: r over all originals and all
    /// twins, as if they were different stories
    #[arg(long)]
    compat: bool,
    /// The seed of the intervals, and of metrics that draw a sample
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The number of resamples for intervals
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count())]
    resamples: u64,
    /// How to print
    #[arg(long, value_enum, default_value_t = PrintFormat::Table)]
    format: PrintFormat,
    /// Write the result to this folder: result.json for programs and `storymeter report`, and
    /// result.csv for spreadsheets
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write names to CSV as they are. By default a name that a spreadsheet would run as a formula,
    /// such as =1+1, gets an apostrophe in front
    #[arg(long)]
    raw_csv: bool,
}

/// Scores the texts and says what the metrics see.
pub fn run(args: &RunArgs, common: &Common) -> anyhow::Result<Outcome> {
    let suite = Suite::read_aspects(&args.suite, &chosen(&args.aspects))?;
    let headers: Vec<PathBuf> = args.scores.iter().map(|path| Header::path_of(path)).collect();
    let read = suite.files.iter().chain(&args.scores).chain(&headers).map(PathBuf::as_path);
    let inputs: Vec<&Path> = read.chain(args.scorer.files()).collect();
    file::distinct(&[stdout_path()], &inputs)?;

    let bar = progress::Shown::new(common);
    let mut scores: Option<TextScores> = None;
    if args.scores.is_empty() || !args.scorer.metrics.is_empty() || args.scorer.model.is_some() {
        let scorer = args.scorer.scorer().seed(args.seed).build()?;
        args.scorer.refuse_unused_model(&scorer, false)?;
        scores = Some(suite.score(&scorer, bar.progress())?);
    }
    if !args.scores.is_empty() {
        let given = suite.join(&storymeter::read_all(&args.scores)?)?;
        scores = Some(match scores {
            Some(scores) => scores.and(given)?,
            None => given,
        });
    }
    let scores = scores.unwrap_or_default();
    let options = SuiteOptions {
        compat: args.compat,
        resamples: args.resamples as usize,
        seed: args.seed,
        progress: bar.progress().clone(),
        ..SuiteOptions::default()
    };
    let result = scores.analyse(&suite, &options)?;
    drop(bar);

    let names = if args.raw_csv { TextCells::Raw } else { TextCells::Marked };
    let folder = args.output.as_ref();
    let folder = folder.map(|path| prepare(&result, path, &inputs, names)).transpose()?;
    let mut out = Output::open(None, args.format.reader())?;
    out.write_all(printed(&result, args, names)?.as_bytes())?;
    let written = out.finish();
    if !failed(&written)
        && let Some(folder) = folder
    {
        folder.commit()?;
    }
    written?;
    if !common.quiet {
        scores.notes.iter().for_each(|note| crate::note(note));
    }
    Ok(Outcome::Done)
}

fn printed(result: &SuiteResult, args: &RunArgs, names: TextCells) -> anyhow::Result<String> {
    Ok(match args.format {
        PrintFormat::Json => format!("{}\n", serde_json::to_string_pretty(result)?),
        PrintFormat::Jsonl => {
            let mut lines = String::new();
            for cell in &result.cells {
                lines += &serde_json::to_string(cell)?;
                lines.push('\n');
            }
            lines
        }
        PrintFormat::Csv => text::csv(&view::suite_cells(result), names),
        PrintFormat::Table | PrintFormat::Markdown | PrintFormat::Latex => {
            let sheets = view::suite_sheets(result);
            let sheets: Vec<&Sheet> = sheets.iter().collect();
            let words = words(result, args.format);
            let tables = args.format.tables(&sheets, emphasis(false)).unwrap_or_default();
            format!("{words}\n{tables}")
        }
    })
}

/// What each metric sees, in words, and what a reader should know, before all tables.
fn words(result: &SuiteResult, format: PrintFormat) -> String {
    let sentences =
        result.metrics.iter().map(|column| view::suite_sentence(result, column.key.as_str()));
    let warnings = result
        .warnings
        .iter()
        .map(|warning| format!("Warning: {}: {}", warning.subject, warning.message));
    let mut text = String::new();
    for sentence in sentences.chain(warnings) {
        text += &match format {
            // A comment of the document, so that the file can be included as it is.
            PrintFormat::Latex => format!("% {}\n", plain(&sentence)),
            PrintFormat::Markdown => format!("{}\n\n", typeset::markdown_text(&sentence)),
            _ => format!("{}\n", plain(&sentence)),
        };
    }
    text
}
