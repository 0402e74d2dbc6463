//! How `meta`, `correlate`, `suite` and `compare` print tables, and the sentences around them.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use clap::ValueEnum;
use storymeter_core::terminal::plain;
use storymeter_meta::view::text::Emphasis;
use storymeter_meta::view::{Sheet, TrustWords, text, typeset};

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

    /// Sentences for people, one per line. In Markdown, the first is a paragraph of its own.
    pub fn sentences(self, sentences: &[String]) -> String {
        let mut text = String::new();
        for (at, sentence) in sentences.iter().enumerate() {
            let _ = match self {
                // A comment of the document, so that the file can be included as it is.
                Self::Latex => writeln!(text, "% {}", plain(sentence)),
                Self::Markdown if at > 0 => {
                    writeln!(text, "- {}", typeset::markdown_text(sentence))
                }
                Self::Markdown => writeln!(text, "{}\n", typeset::markdown_text(sentence)),
                _ => writeln!(text, "{}", plain(sentence)),
            };
        }
        text
    }

    /// What stands under tables for people: how far the columns can be trusted, in one line if it
    /// is to be quiet. Nothing for the formats of programs.
    pub fn trust(self, words: &TrustWords, is_quiet: bool) -> String {
        let said: Vec<String> = match is_quiet {
            _ if !self.is_for_people() => Vec::new(),
            true => words.brief.iter().cloned().collect(),
            false => words.lines.iter().map(ToString::to_string).collect(),
        };
        if said.is_empty() { String::new() } else { format!("\n{}", self.sentences(&said)) }
    }
}

/// Whether bold can be shown where standard output goes. NO_COLOR is respected.
pub fn emphasis(to_file: bool) -> Emphasis {
    let stdout = std::io::stdout();
    let colours = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    if !to_file && stdout.is_terminal() && colours { Emphasis::Terminal } else { Emphasis::None }
}
