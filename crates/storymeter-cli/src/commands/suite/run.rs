//! `storymeter suite run`: says what metrics see.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use storymeter::suite::{OpenMeva, Suite, TextScores};
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::terminal::plain;
use storymeter_core::{Aspect, Header, file};
use storymeter_meta::suite::{SuiteOptions, SuiteResult, prepare};
use storymeter_meta::view::{self, Sheet, TrustWords, text, typeset};

use super::{aspect, chosen, openmeva};
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
/// where a shift of 0 is best. The last numbers compare each shift with the one that typos cause.
///
/// The folder may also be OpenMEVA's own data, as it was released: acts_data for texts made by
/// rule, and mags_data, or a file such as mags_roc.json, for rated stories. Rated stories give the
/// correlation with people: over all stories, by error type, inside each generator and across
/// datasets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter suite run suite
  storymeter suite run suite --metric union,criteria,repetition-3 -o result
  storymeter suite run suite --scores my-scores.jsonl
  storymeter suite run suite --metric union --compat --format markdown
  storymeter suite run OpenMEVA/mags_roc.json --metric union,perplexity")]
pub struct RunArgs {
    /// A folder that `suite make` wrote, or OpenMEVA's data
    #[arg(value_name = "DIR")]
    pub suite: PathBuf,
    #[command(flatten)]
    pub scorer: ScorerArgs,
    /// Scores of the texts by other programs: any score file whose rows have the system and the id
    /// of texts.jsonl, or of the rated stories. With --scores, metrics are computed only if
    /// --metric names them. The option may be given several times
    #[arg(long, value_name = "FILE")]
    pub scores: Vec<PathBuf>,
    /// The aspects, separated by commas. The default is all
    #[arg(long, value_name = "ASPECT", value_delimiter = ',', value_parser = aspect)]
    pub aspects: Vec<Aspect>,
    /// Repeat OpenMEVA's own reading, which does not use the pairs: r over all originals and all
    /// twins, as if they were different stories
    #[arg(long)]
    compat: bool,
    /// The human criterion of rated stories, if there are several
    #[arg(long, value_name = "NAME")]
    pub criterion: Option<String>,
    /// Rated stories have an error type if at least N raters name it, or a majority of fewer raters
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count())]
    pub error_raters: u64,
    /// The seed of the intervals, and of metrics that draw a sample
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The number of resamples for intervals
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count())]
    resamples: u64,
    /// How to print
    #[arg(long, value_enum, default_value_t = PrintFormat::Table)]
    pub format: PrintFormat,
    /// Write the result to this folder: result.json for programs and `storymeter report`, and
    /// result.csv for spreadsheets. OpenMEVA's data have one folder per corpus in it, and
    /// human.json and human.csv for rated stories
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Write names to CSV as they are. By default a name that a spreadsheet would run as a formula,
    /// such as =1+1, gets an apostrophe in front
    #[arg(long)]
    raw_csv: bool,
}

/// Scores the texts and says what the metrics see.
pub fn run(args: &RunArgs, common: &Common) -> anyhow::Result<Outcome> {
    if !Suite::is_in(&args.suite)
        && let Some(data) = OpenMeva::find(&args.suite)?
    {
        return openmeva::run(args, &data, common);
    }
    let suite = Suite::read_aspects(&args.suite, &chosen(&args.aspects))?;
    let inputs = args.inputs(&suite.files)?;
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();

    let bar = progress::Shown::new(common);
    let mut scores: Option<TextScores> = None;
    if args.computes() {
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
    let result = scores.analyse(&suite, &args.options(&bar))?;
    drop(bar);

    let folder = args.output.as_ref();
    let folder = folder.map(|path| prepare(&result, path, &inputs, args.cells())).transpose()?;
    let mut out = Output::open(None, args.format.reader())?;
    out.write_all(args.printed(&result, common.quiet)?.as_bytes())?;
    let written = out.finish();
    if !failed(&written)
        && let Some(folder) = folder
    {
        folder.commit()?;
    }
    written?;
    if !common.quiet {
        crate::notes(&scores.notes);
    }
    Ok(Outcome::Done)
}

impl RunArgs {
    /// Whether metrics are computed, and not only read from files.
    pub fn computes(&self) -> bool {
        self.scores.is_empty() || !self.scorer.metrics.is_empty() || self.scorer.model.is_some()
    }

    /// All files that are read, none of which may be standard output.
    pub fn inputs(&self, own: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
        let headers = self.scores.iter().map(|path| Header::path_of(path));
        let models = self.scorer.files().map(Path::to_owned);
        let inputs: Vec<PathBuf> =
            own.iter().chain(&self.scores).cloned().chain(headers).chain(models).collect();
        let paths: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        file::distinct(&[stdout_path()], &paths)?;
        if self.scores.iter().any(|path| path == Path::new("-")) {
            bail!("--scores -: scores are read from files only");
        }
        Ok(inputs)
    }

    /// How the pairs are analysed.
    pub fn options(&self, bar: &progress::Shown) -> SuiteOptions {
        SuiteOptions::default().with(|it| {
            it.compat = self.compat;
            it.resamples = self.resamples as usize;
            it.seed = self.seed;
            it.progress = bar.progress().clone();
        })
    }

    /// What happens to names in CSV files.
    pub fn cells(&self) -> TextCells {
        if self.raw_csv { TextCells::Raw } else { TextCells::Marked }
    }

    /// The result in the format that the user wants. `is_quiet` keeps the words about how far to
    /// trust it to one line.
    pub fn printed(&self, result: &SuiteResult, is_quiet: bool) -> anyhow::Result<String> {
        Ok(match self.format {
            PrintFormat::Json => format!("{}\n", serde_json::to_string_pretty(result)?),
            PrintFormat::Jsonl => {
                let mut lines = String::new();
                for cell in &result.cells {
                    lines += &serde_json::to_string(cell)?;
                    lines.push('\n');
                }
                lines
            }
            PrintFormat::Csv => text::csv(&view::suite_cells(result), self.cells()),
            PrintFormat::Table | PrintFormat::Markdown | PrintFormat::Latex => {
                let sheets = view::suite_sheets(result);
                let sheets: Vec<&Sheet> = sheets.iter().collect();
                let sentences = result
                    .metrics
                    .iter()
                    .map(|column| view::suite_sentence(result, column.key.as_str()));
                let warnings = result
                    .warnings
                    .iter()
                    .map(|warning| format!("Warning: {}: {}", warning.subject, warning.message));
                let words = words(sentences.chain(warnings), self.format);
                let tables = self.format.tables(&sheets, emphasis(false)).unwrap_or_default();
                let trust = self.format.trust(&TrustWords::of_columns(&result.metrics), is_quiet);
                format!("{words}\n{tables}{trust}")
            }
        })
    }
}

/// Sentences that stand before all tables.
pub fn words(sentences: impl Iterator<Item = String>, format: PrintFormat) -> String {
    let mut text = String::new();
    for sentence in sentences {
        text += &match format {
            // A comment of the document, so that the file can be included as it is.
            PrintFormat::Latex => format!("% {}\n", plain(&sentence)),
            PrintFormat::Markdown => format!("{}\n\n", typeset::markdown_text(&sentence)),
            _ => format!("{}\n", plain(&sentence)),
        };
    }
    text
}
