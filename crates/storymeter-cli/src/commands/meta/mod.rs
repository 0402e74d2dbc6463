//! `storymeter meta`: how good the metrics are.

mod hanna;
mod picture;
pub mod settings;
mod table;
mod union;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::terminal::plain;
use storymeter_core::{Error, file};
use storymeter_meta::Study;
use storymeter_meta::folder::{self, SheetSet};
use storymeter_meta::view::text::Emphasis;
use storymeter_meta::view::{self, Sheet, TrustWords, text};

use crate::Outcome;
use crate::args::Common;
use crate::format::PrintFormat;
use crate::output::{Output, failed, stdout_path};

/// Arguments of `storymeter meta`.
#[derive(Debug, Args)]
pub struct MetaArgs {
    #[command(subcommand)]
    analysis: Analysis,
}

/// The analyses.
#[derive(Debug, Subcommand)]
enum Analysis {
    /// Tables 3 to 6, 8, 9 and the numbers behind Figures 1 to 38 of the HANNA paper
    Hanna(hanna::HannaArgs),
    /// Tables 2, 5 to 7 and 11, Figures 2, 3 and appendix D of the UNION paper, on a folder of its
    /// layout
    Union(union::UnionArgs),
    /// The same analysis on your own scores, as `score -o` writes them
    Table(table::TableArgs),
}

/// What every analysis accepts.
#[derive(Debug, Clone, Args)]
struct OutputArgs {
    /// Write the whole study as `study.json`, and the sheets that people open first as CSV, to
    /// this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write all sheets there: every table, and the numbers behind every figure
    #[arg(long, requires = "output")]
    all: bool,
    /// Print these sheets only (`table-5`, `figure-14`, ..., or `all`)
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    show: Vec<String>,
    /// How to print. CSV is one long table: sheet, row, column, value
    #[arg(long, value_enum, default_value_t = PrintFormat::Table)]
    format: PrintFormat,
    /// Write names to CSV as they are. By default a name that a spreadsheet would run as a formula,
    /// such as =1+1, gets an apostrophe in front
    #[arg(long)]
    raw_csv: bool,
}

/// Runs the analysis asked for.
pub fn run(args: &MetaArgs, common: &Common) -> anyhow::Result<Outcome> {
    match &args.analysis {
        Analysis::Hanna(args) => hanna::run(args, common),
        Analysis::Union(args) => union::run(args, common),
        Analysis::Table(args) => table::run(args, common),
    }
}

/// Writes the folder and prints. The folder is complete, but has no name, before anything is
/// printed, and gets its name afterwards: a run that fails leaves neither.
///
/// `inputs` are the files that the study was made from, none of which is overwritten.
fn emit(
    study: &Study,
    inputs: &[PathBuf],
    output: &OutputArgs,
    common: &Common,
) -> anyhow::Result<Outcome> {
    let sheets = view::sheets(study);
    let ids = || sheets.iter().map(|sheet| sheet.id.as_str());
    let known = |id: &String| id == "all" || ids().any(|known| known == id);
    if let Some(unknown) = output.show.iter().find(|id| !known(id)) {
        return Err(Error::unknown("sheet", unknown, ids()).into());
    }
    let names = if output.raw_csv { TextCells::Raw } else { TextCells::Marked };
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    file::distinct(&[stdout_path()], &inputs)?;
    let set = if output.all { SheetSet::All } else { SheetSet::Main };
    let prepare = |path: &PathBuf| folder::prepare(study, path, set, &inputs, names);
    let folder = output.output.as_ref().map(prepare).transpose()?;
    let wanted = || {
        sheets.iter().filter(|sheet| output.show.is_empty() || text::is_wanted(sheet, &output.show))
    };
    let trust = output.format.trust(&TrustWords::of_columns(&study.columns), common.quiet);
    let mut out = Output::open(None, output.format.reader())?;
    match output.format {
        PrintFormat::Table => {
            write!(out, "{}{trust}", text::study(study, &sheets, &output.show))?;
            if std::io::stdout().is_terminal() {
                write!(out, "{}", pictures(&sheets, &output.show))?;
            }
        }
        PrintFormat::Markdown | PrintFormat::Latex => {
            let shown = sheets.iter().filter(|sheet| text::is_wanted(sheet, &output.show));
            let tables = output.format.tables(&shown.collect::<Vec<_>>(), Emphasis::None);
            write!(out, "{}{trust}", tables.unwrap_or_default())?;
        }
        PrintFormat::Csv => write!(out, "{}", text::long_csv(wanted(), names))?,
        PrintFormat::Json => {
            writeln!(out, "{}", serde_json::to_string_pretty(&wanted().collect::<Vec<_>>())?)?;
        }
        PrintFormat::Jsonl => {
            for sheet in wanted() {
                writeln!(out, "{}", serde_json::to_string(sheet)?)?;
            }
        }
    }
    let printed = out.finish();
    if !failed(&printed)
        && let Some(folder) = folder
    {
        folder.commit()?;
    }
    printed?;
    Ok(Outcome::Done)
}

/// The same sheets as small pictures, which stand under the tables on a terminal and not in a pipe.
fn pictures(sheets: &[Sheet], show: &[String]) -> String {
    // NO_COLOR and terminals without colours are respected.
    let paint = match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => picture::Paint::Plain,
        _ => picture::Paint::Colour,
    };
    let mut text = String::new();
    for sheet in sheets.iter().filter(|sheet| text::is_wanted(sheet, show)) {
        if let Some(drawn) = picture::picture(sheet, paint) {
            let (id, title) = (plain(&sheet.id), plain(&sheet.title));
            text += &format!("\n{id}: {title}\n{drawn}\n");
        }
    }
    text
}
