//! `storymeter compare`: which system is better, by scores that were saved.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use storymeter::summary::Resampling;
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::{Header, file};
use storymeter_meta::systems::verdict::{Verdict, verdict};
use storymeter_meta::systems::{Options, SystemComparison, compare};
use storymeter_meta::view::{self, DescribedComparisons, Sheet, Subject, TrustWords, text};

use super::meta::settings::{CorrectionName, DirectionArgs, SidesArgs, share};
use crate::Outcome;
use crate::args::{Common, count};
use crate::format::{PrintFormat, emphasis};
use crate::output::{Output, stdout_path};
use crate::progress;

/// Arguments of `storymeter compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter compare scores.jsonl
  storymeter compare gpt.jsonl llama.jsonl --metric union --format latex -o table.tex
  storymeter compare scores.csv --against baseline

One file may hold several systems. A file that names no system is one system if it has the same
columns as another file, and is named after the file.")]
pub struct CompareArgs {
    /// Scores as `score -o` writes them, or any CSV or TSV with one row per story. Several files
    /// are joined by system and id
    #[arg(value_name = "SCORES", required = true)]
    scores: Vec<PathBuf>,
    /// The metrics or human criteria to compare by. The default is every column
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    metric: Vec<String>,
    /// Test only the pairs with this system, which need a smaller correction
    #[arg(long, value_name = "SYSTEM")]
    against: Option<String>,
    /// Systems to leave out
    #[arg(long, value_name = "SYSTEM", value_delimiter = ',')]
    without: Vec<String>,
    #[command(flatten)]
    directions: DirectionArgs,
    /// How to print. JSON has the verdict and all comparisons. JSONL has one line per metric and
    /// no verdict, so that all lines have the same fields
    #[arg(long, value_enum, default_value_t = PrintFormat::Table)]
    format: PrintFormat,
    /// Print only these tables, below the verdict. CSV has `systems` by default; several tables
    /// become one with the columns sheet, row, column and value
    #[arg(long, value_enum, value_name = "TABLE", value_delimiter = ',')]
    show: Vec<Table>,
    /// Write to this file instead of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The seed of intervals and tests
    #[arg(long, value_name = "N", default_value_t = Resampling::SEED)]
    seed: u64,
    /// The number of resamples of intervals and tests
    #[arg(long, value_name = "N", default_value_t = Resampling::RESAMPLES as u64, value_parser = count())]
    resamples: u64,
    /// The confidence of the intervals; 1 less this is the significance level
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share)]
    confidence: f64,
    #[command(flatten)]
    sides: SidesArgs,
    /// How p-values are corrected for the number of pairs
    #[arg(long, value_enum, default_value_t = CorrectionName::Holm, value_name = "METHOD")]
    correction: CorrectionName,
    /// Write names to CSV as they are. By default a name that a spreadsheet would run as a formula,
    /// such as =1+1, gets an apostrophe in front
    #[arg(long)]
    raw_csv: bool,
}

/// The tables of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// Who leads by what, if there are several metrics
    Leaders,
    /// The means of all systems by all metrics, if there are several metrics
    Means,
    /// The systems by each metric, best first
    Systems,
    /// Every two systems by each metric
    Pairs,
}

/// Compares the systems and prints the result.
pub fn run(args: &CompareArgs, common: &Common) -> anyhow::Result<Outcome> {
    let named: Vec<&Path> = args.scores.iter().map(PathBuf::as_path).collect();
    file::named_once(&named)?;
    let headers: Vec<PathBuf> = args.scores.iter().map(|path| Header::path_of(path)).collect();
    let inputs: Vec<&Path> = args.scores.iter().chain(&headers).map(PathBuf::as_path).collect();
    let output = args.output.as_deref().unwrap_or(stdout_path());
    file::distinct(&[output], &inputs)?;
    let table = storymeter::read_all(&args.scores)?;
    let bar = progress::Shown::new(common);
    let options = Options::default().with(|it| {
        it.columns = args.metric.clone();
        it.without = args.without.clone();
        it.against = args.against.clone();
        it.directions = args.directions.pairs();
        it.resamples = args.resamples as usize;
        it.confidence = args.confidence;
        it.sides = args.sides.sides();
        it.correction = args.correction.into();
        it.seed = args.seed;
        it.progress = bar.progress().clone();
    });
    let found = compare(&table, &options)?;
    let verdict = verdict(&table, &found, &options)?;
    drop(bar);
    let mut out = Output::open(args.output.as_deref(), args.format.reader())?;
    out.write_all(args.text(&found, &verdict, common.quiet)?.as_bytes())?;
    out.finish()?;
    if !common.quiet {
        crate::notes(table.notes());
    }
    Ok(Outcome::Done)
}

impl CompareArgs {
    fn text(
        &self,
        found: &[SystemComparison],
        verdict: &Verdict,
        quiet: bool,
    ) -> anyhow::Result<String> {
        let document = DescribedComparisons::new(verdict, found);
        let names = if self.raw_csv { TextCells::Raw } else { TextCells::Marked };
        Ok(match self.format {
            PrintFormat::Json => format!("{}\n", serde_json::to_string_pretty(&document)?),
            PrintFormat::Jsonl => {
                let mut text = String::new();
                for comparison in &document.comparisons {
                    let _ = writeln!(text, "{}", serde_json::to_string(comparison)?);
                }
                text
            }
            PrintFormat::Csv => match self.flat(found, verdict).as_slice() {
                [sheet] => text::csv(sheet, names),
                several => text::long_csv(several, names),
            },
            PrintFormat::Table | PrintFormat::Markdown | PrintFormat::Latex => {
                let sheets = view::verdict_sheets(verdict, found);
                let wanted: Vec<&Sheet> =
                    sheets.iter().filter(|sheet| self.is_wanted(sheet)).collect();
                let tables = self.format.tables(&wanted, emphasis(self.output.is_some()));
                let sentences = &document.verdict.sentences;
                let mut above = vec![sentences.headline.clone()];
                above.extend(sentences.details.iter().cloned());
                let warnings = document.warnings();
                above.extend(warnings.iter().map(|warning| format!("Warning: {warning}")));
                let trust = TrustWords {
                    lines: sentences.trust.clone(),
                    brief: sentences.trust_in_brief.clone(),
                };
                format!(
                    "{}\n{}{}",
                    self.format.sentences(&above),
                    tables.unwrap_or_default(),
                    self.format.trust(&trust, quiet)
                )
            }
        })
    }

    /// The tables for programs.
    fn flat(&self, found: &[SystemComparison], verdict: &Verdict) -> Vec<Sheet> {
        let mut wanted = Vec::new();
        for table in &self.show {
            if !wanted.contains(table) {
                wanted.push(*table);
            }
        }
        if wanted.is_empty() {
            wanted.push(Table::Systems);
        }
        let flat = |table| match table {
            Table::Leaders => view::leaders(verdict, found),
            Table::Means => view::flat_means(found),
            Table::Systems => view::flat_systems(found),
            Table::Pairs => view::flat_pairs(found),
        };
        wanted.into_iter().map(flat).collect()
    }

    fn is_wanted(&self, sheet: &Sheet) -> bool {
        let table = match sheet.subject {
            Subject::SystemLeaders => Table::Leaders,
            Subject::SystemMeans => Table::Means,
            Subject::SystemPairs { .. } => Table::Pairs,
            _ => Table::Systems,
        };
        self.show.is_empty() || self.show.contains(&table)
    }
}
