//! How `meta`, `correlate` and `compare` print tables.

use std::io::IsTerminal as _;

use clap::ValueEnum;
use storymeter_meta::view::text::Emphasis;
use storymeter_meta::view::{Sheet, text, typeset};

use crate::output::Reader;

/// How tables are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrintFormat {
    /// Aligned text
    Table,
    /// Markdown tables
    Markdown,
    /// LaTeX tables, which need the package booktabs
    Latex,
    /// One JSON document with numbers in full precision
    Json,
    /// The same with one part per line
    Jsonl,
    /// CSV with numbers in full precision
    Csv,
}

impl PrintFormat {
    /// Whom a text of this format is for. In Markdown and LaTeX, names are escaped and plain.
    pub fn reader(self) -> Reader {
        match self {
            Self::Table | Self::Markdown | Self::Latex => Reader::Person,
            Self::Json | Self::Jsonl | Self::Csv => Reader::Program,
        }
    }

    /// Whether the format is for people, and has room for headings.
    pub fn is_for_people(self) -> bool {
        self.reader() == Reader::Person
    }

    /// The sheets as tables for people, one below the other; `None` for the formats of programs.
    pub fn tables(self, sheets: &[&Sheet], emphasis: Emphasis) -> Option<String> {
        let parts: Vec<String> = match self {
            Self::Table => sheets.iter().map(|sheet| text::emphasised(sheet, emphasis)).collect(),
            Self::Markdown => sheets.iter().map(|sheet| typeset::markdown(sheet)).collect(),
            Self::Latex => sheets.iter().map(|sheet| typeset::latex(sheet)).collect(),
            Self::Json | Self::Jsonl | Self::Csv => return None,
        };
        Some(parts.join("\n"))
    }
}

/// Whether bold can be shown where standard output goes. NO_COLOR is respected.
pub fn emphasis(to_file: bool) -> Emphasis {
    let stdout = std::io::stdout();
    let colours = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    if !to_file && stdout.is_terminal() && colours { Emphasis::Terminal } else { Emphasis::None }
}
