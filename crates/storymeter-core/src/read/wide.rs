//! Which columns of a wide table are systems: those whose cells look like stories.
//!
//! A column is left out if its name says that it has prompts, if most of its cells are numbers, if
//! fewer than half of them differ, or if most of them have fewer than [`WORDS`] words. If no column
//! has cells of so many words, the stories are short, and two words are enough. Only the first rows
//! are looked at. Columns that the user names are systems, whatever is in them.

use std::collections::HashSet;
use std::io::Cursor;
use std::path::Path;

use super::cutter::{Cut, Cutter, first_record};
use super::delimited::{Dialect, fields};
use super::lines::LineReader;

/// Most stories have more words than this, and most labels, titles and instructions fewer.
const WORDS: usize = 20;

/// The number of words of the shortest stories.
const FEWEST_WORDS: usize = 2;

/// How many rows, and of how many bytes, are looked at.
const ROWS: usize = 200;
pub(super) const BYTES: usize = 1 << 20;

/// The last word of names of columns that have what a writer was given.
const GIVEN: [&str; 11] = [
    "prompt",
    "prompts",
    "instruction",
    "instructions",
    "question",
    "topic",
    "title",
    "context",
    "premise",
    "constraint",
    "constraints",
];

/// What is known about a wide table before its rows are read.
pub(super) struct Wide<'a> {
    /// The columns that the user names. If there are none, they are found.
    pub chosen: &'a [String],
    /// The cells of the first rows.
    pub rows: Vec<Vec<String>>,
}

impl<'a> Wide<'a> {
    /// Cuts the first rows out of the beginning of a file.
    pub fn new(start: &[u8], dialect: Dialect, chosen: &'a [String], path: &Path) -> Self {
        let mut rows = Vec::new();
        if chosen.is_empty() {
            // The last row may be cut off, and so may the last line of a row.
            let end = memchr::memrchr(b'\n', start).filter(|_| start.len() >= BYTES);
            let whole = &start[..end.map_or(start.len(), |end| end + 1)];
            let mut lines = LineReader::new(Box::new(Cursor::new(whole.to_vec())), path, BYTES);
            let mut cutter = Cutter::of(dialect);
            if let Ok(Some(_)) = first_record(&mut lines, dialect, path) {
                while rows.len() < ROWS
                    && let Ok(Some(Cut { body: Ok(bytes), .. })) = cutter.next(&mut lines)
                    && let Ok(record) = String::from_utf8(bytes)
                {
                    rows.push(fields(&record, dialect).map(|cell| cell.into_owned()).collect());
                }
            }
        }
        Self { chosen, rows }
    }

    /// Why a column is no system, for each of the columns that could be one.
    pub fn judge(&self, columns: &[(usize, &str)]) -> Vec<Option<&'static str>> {
        let counts: Vec<CellCounts> =
            columns.iter().map(|&(column, _)| self.count(column)).collect();
        let is_candidate = |(counts, (_, name)): (&CellCounts, &(usize, &str))| {
            counts.problem(WORDS).is_none() && !has_prompts(name)
        };
        let long = counts.iter().zip(columns).any(is_candidate);
        let least = if long { WORDS } else { FEWEST_WORDS };
        let judge = |(counts, (_, name)): (&CellCounts, &(usize, &str))| {
            if has_prompts(name) { Some("prompts") } else { counts.problem(least) }
        };
        counts.iter().zip(columns).map(judge).collect()
    }

    fn count(&self, column: usize) -> CellCounts {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
        let mut counts = CellCounts { rows: self.rows.len(), ..CellCounts::default() };
        let mut distinct = HashSet::new();
        for cell in cells.filter(|cell| !cell.is_empty()) {
            counts.words.push(cell.split_whitespace().count());
            counts.numbers += usize::from(cell.replace(',', ".").parse::<f64>().is_ok());
            distinct.insert(cell);
        }
        counts.words.sort_unstable();
        counts.distinct = distinct.len();
        counts
    }
}

/// What the cells of a column look like.
#[derive(Default)]
struct CellCounts {
    rows: usize,
    /// The numbers of words of the cells that are not empty, sorted.
    words: Vec<usize>,
    numbers: usize,
    distinct: usize,
}

impl CellCounts {
    /// Why these are no stories of so many words.
    fn problem(&self, least: usize) -> Option<&'static str> {
        let cells = self.words.len();
        if self.rows == 0 {
            // Nothing is known.
            None
        } else if cells == 0 {
            Some("no text")
        } else if self.numbers * 2 > cells {
            Some("numbers")
        } else if self.words[cells / 2] < least {
            Some("few words")
        } else if self.distinct * 2 < cells {
            Some("repeated texts")
        } else {
            None
        }
    }
}

/// Whether the last word of a name says that the column has what a writer was given.
fn has_prompts(name: &str) -> bool {
    let last = name.rsplit(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    last.is_some_and(|last| GIVEN.iter().any(|given| given.eq_ignore_ascii_case(last)))
}
