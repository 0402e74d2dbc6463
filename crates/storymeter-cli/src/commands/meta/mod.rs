//! `storymeter meta`: how good the measures are.

mod hanna;
mod picture;
mod table;
mod union;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use storymeter::meta::{Document, Sheet, folder, render};

use crate::Outcome;

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
    /// Tables 2, 5 to 7, Figures 2, 3 and appendix D of the UNION paper, on a folder of its layout
    Union(union::UnionArgs),
    /// The same analysis on your own scores, as `score -o` writes them
    Table(table::TableArgs),
}

/// What every analysis accepts.
#[derive(Debug, Clone, Args)]
struct Output {
    /// Write every table and the numbers behind every figure as CSV, and all of it as JSON, to this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print these sheets only (`table-5`, `figure-14`, ..., or `all`)
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    show: Vec<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t = PrintFormat::Table)]
    format: PrintFormat,
}

/// How to print sheets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrintFormat {
    /// Aligned text
    Table,
    /// One sheet a line, as JSON
    Jsonl,
    /// One long table: sheet, row, column, value
    Csv,
}

/// Runs the analysis asked for.
pub fn run(args: &MetaArgs) -> anyhow::Result<Outcome> {
    match &args.analysis {
        Analysis::Hanna(args) => hanna::run(args),
        Analysis::Union(args) => union::run(args),
        Analysis::Table(args) => table::run(args),
    }
}

/// Writes the folder first, so that nothing is printed for a result that could not be kept.
fn emit(document: &Document, output: &Output) -> anyhow::Result<Outcome> {
    let known = |id: &String| id == "all" || document.sheet(id).is_some();
    if let Some(unknown) = output.show.iter().find(|id| !known(id)) {
        let ids: Vec<&str> = document.sheets.iter().map(|sheet| sheet.id.as_str()).collect();
        anyhow::bail!("--show {unknown}: no such sheet; there are: {}", ids.join(", "));
    }
    if let Some(path) = &output.output {
        folder::write(document, path)?;
    }
    let all = output.show.is_empty() || output.show.iter().any(|id| id == "all");
    let wanted = || document.sheets.iter().filter(|sheet| all || output.show.contains(&sheet.id));
    let mut out = std::io::stdout().lock();
    match output.format {
        PrintFormat::Table => {
            write!(out, "{}", render::document(document, &output.show))?;
            drop(out);
            return draw(document, &output.show).map(|()| Outcome::Done);
        }
        PrintFormat::Csv => write!(out, "{}", render::long_csv(wanted()))?,
        PrintFormat::Jsonl => {
            for sheet in wanted() {
                writeln!(out, "{}", serde_json::to_string(sheet)?)?;
            }
        }
    }
    Ok(Outcome::Done)
}

/// On a terminal, the same sheets as small pictures under the tables; in a pipe, nothing more.
fn draw(document: &Document, show: &[String]) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return Ok(());
    }
    // Never on NO_COLOR and on terminals that cannot.
    let paint = match anstream::AutoStream::choice(&stdout) {
        anstream::ColorChoice::Never => picture::Paint::Plain,
        _ => picture::Paint::Colour,
    };
    let all = show.iter().any(|id| id == "all");
    let asked = |sheet: &&Sheet| {
        all || if show.is_empty() { sheet.brief } else { show.contains(&sheet.id) }
    };
    let mut out = anstream::AutoStream::auto(stdout.lock());
    for sheet in document.sheets.iter().filter(asked) {
        if let Some(text) = picture::picture(sheet, paint) {
            writeln!(out, "\n{}: {}\n{text}", sheet.id, sheet.title)?;
        }
    }
    Ok(())
}
