//! Reads score tables. `meta`, `correlate`, `compare` and `report` all read them with this reader.
//!
//! Four layouts are read, the first three compressed or not, and [`joined_scores`] joins several
//! files:
//!
//! Fields and columns have the same names as those of stories ([`Field::names`](super::Field)).
//!
//! - JSONL, as `score` writes it: `{"id", "system", "item", "words"?, "flags"?, "scores": {KEY:
//!   number}, "human"?}`. `null` is an absent value, and `"absent": {KEY: reason}` gives the
//!   reason. A line without `scores` has only its ratings, so files of ratings are read as well.
//!   Other fields are ignored.
//! - CSV, as `score` writes it: `id,system,item`, then one column per key. An empty cell is an
//!   absent value. Tables of other programs are read as well, with commas, semicolons or tabs, one
//!   column per metric or one row per metric, and columns `human/CRITERION` for ratings.
//! - HANNA's published score file: `Model`, then one column per criterion or metric, whose cells
//!   are JSON lists with one number per prompt.
//!
//! - Parquet, as `score` writes it: `id`, `system`, `item`, `words`, `flags`, one column per key,
//!   and `absent` and `human`; `flags`, `absent` and `human` have the JSON of these fields. Tables
//!   of other programs are read as CSV is.
//!
//! No column, key or field may be given twice. In CSV, the marks that keep a spreadsheet from
//! running a name as a formula are removed ([`spreadsheet`](crate::spreadsheet)).
//!
//! Except for HANNA's, a header ([`Header`]) in a file of its own says what the columns are. A
//! Parquet file has one in its metadata as well, which is read if the other is missing. If both
//! are, the directions come from the catalogue of metrics, and the table has a note about that.

mod csv;
mod explanations;
mod hanna;
mod join;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
mod table;
mod text_fields;

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::io::Read;
use std::path::Path;

pub(super) use csv::number;
pub use explanations::explanations;
pub use hanna::{hanna_metric_name, hanna_scores};
pub use join::{join_scores, joined_scores};
pub use table::{ScoreField, score_fields};

use super::ReadOptions;
use super::lines::LineReader;
use super::names::UsedNames;
use super::shown::listed;
use super::source::{PARQUET_MAGIC, Source};
use crate::file::{Ending, FileName};
use crate::{
    Absence, Catalogue, Column, Direction, Error, Header, Key, Place, Range, Result, Row,
    ScoreTable, Value,
};

/// Reads a score table of any layout.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("scores.jsonl");
/// # std::fs::write(&path, "{\"id\": \"a\", \"scores\": {\"bleu\": 20.5}}\n")?;
/// use storymeter_core::{Catalogue, read};
/// let table = read::scores(&path, &Catalogue::default())?;
/// assert_eq!(table.values(table.find("bleu")?), [Ok(20.5)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the file cannot be read, a value is not a number, or the header belongs to
/// another file.
pub fn scores(path: &Path, catalogue: &Catalogue) -> Result<ScoreTable> {
    read(Source::open(path, &[])?, path, catalogue)
}

/// Reads a score table from any stream. Errors show the name, and the header is looked for beside a
/// file of that name.
///
/// ```
/// use storymeter_core::{Catalogue, read};
/// let lines = "{\"id\": \"a\", \"scores\": {\"bleu\": 20.5}}\n".as_bytes();
/// let table = read::scores_from("scores.jsonl", lines, &Catalogue::default())?;
/// assert_eq!(table.values(table.find("bleu")?), [Ok(20.5)]);
/// # Ok::<(), storymeter_core::Error>(())
/// ```
///
/// # Errors
/// Fails as [`scores`] does.
pub fn scores_from(
    name: impl AsRef<Path>,
    input: impl Read + Send + 'static,
    catalogue: &Catalogue,
) -> Result<ScoreTable> {
    let name = name.as_ref();
    read(Source::from_reader(name, Box::new(input))?, name, catalogue)
}

fn read(source: Source, path: &Path, catalogue: &Catalogue) -> Result<ScoreTable> {
    if source.start.starts_with(PARQUET_MAGIC) {
        return read_parquet(source, path, catalogue);
    }
    source.check_text(path)?;
    let layout = layout(&source.start, path);
    let lines = LineReader::new(source.into_stream(), path, ReadOptions::default().max_line);
    let lines = match layout {
        Layout::Hanna => return hanna::read(lines, path),
        Layout::Jsonl => jsonl::read(lines, path)?,
        Layout::Csv(header) => csv::read(lines, &header, path)?,
    };
    assemble(lines, None, path, catalogue)
}

#[cfg(feature = "parquet")]
fn read_parquet(source: Source, path: &Path, catalogue: &Catalogue) -> Result<ScoreTable> {
    let (lines, header) = parquet::read(source, path)?;
    assemble(lines, header, path, catalogue)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(_: Source, path: &Path, _: &Catalogue) -> Result<ScoreTable> {
    let problem = "this program was built without the feature `parquet`, so it cannot read Parquet";
    Err(Error::invalid(Place::file(path), problem))
}

/// As much of a file as its layout is found from.
const START: usize = 1 << 16;

enum Layout {
    Jsonl,
    /// CSV or TSV, with its first line.
    Csv(String),
    Hanna,
}

/// The layout, found from the first line and the name.
fn layout(start: &[u8], path: &Path) -> Layout {
    let text = String::from_utf8_lossy(start);
    let first = text.trim_start_matches('\u{feff}').trim_start();
    let named_table = matches!(FileName::of(path).ending(), Some(Ending::Csv | Ending::Tsv));
    let header = first.lines().next().unwrap_or_default();
    if hanna::is_start(first) {
        Layout::Hanna
    } else if !first.starts_with('{') && (named_table || csv::is_header(header)) {
        Layout::Csv(header.to_owned())
    } else {
        Layout::Jsonl
    }
}

/// Whether a file with this content is a table of scores or ratings, and not one of stories. The
/// first few lines are enough, except for Parquet.
///
/// ```
/// use storymeter_core::read::is_score_table;
/// assert!(is_score_table(b"id;human/fun\n1;3\n"));
/// assert!(!is_score_table(b"id,story\n1,Rain fell.\n"));
/// ```
pub fn is_score_table(content: &[u8]) -> bool {
    #[cfg(feature = "parquet")]
    if content.starts_with(PARQUET_MAGIC) {
        return !parquet::has_stories(content);
    }
    let text = String::from_utf8_lossy(&content[..content.len().min(START)]);
    let first = text.trim_start_matches('\u{feff}').trim_start();
    let header = first.lines().next().unwrap_or_default();
    first.starts_with('{')
        || hanna::is_start(first)
        || csv::is_header(header) && !csv::has_stories(header)
}

/// The rows of a file with their values. What the columns are is not known yet.
#[derive(Default)]
struct Lines {
    rows: Vec<Row>,
    /// The keys, in order of appearance.
    keys: Vec<Key>,
    /// Where each key stands in `keys`.
    columns: HashMap<String, usize>,
    /// For each key, the rows that have a value, and the values.
    values: Vec<Vec<(usize, Value)>>,
    /// What a user should know.
    notes: Vec<String>,
}

/// The largest number of columns of a score file. It is far above what any study has.
const MAX_COLUMNS: usize = 10_000;

/// A table has a cell for each row and column, even if the file has no value there. From this
/// number of cells on, a file must have a value for at least one cell in 64, so that a small file
/// in which every row has a key of its own cannot fill the memory.
const MANY_CELLS: usize = 1 << 24;

impl Lines {
    fn column(&mut self, key: &str, place: &Place) -> Result<usize> {
        if let Some(&column) = self.columns.get(key) {
            return Ok(column);
        }
        let column = self.keys.len();
        if column == MAX_COLUMNS {
            let problem = format!("the file has more than {MAX_COLUMNS} columns");
            return Err(Error::invalid(place.clone(), problem));
        }
        self.keys.push(Key::new(key));
        self.columns.insert(key.to_owned(), column);
        self.values.push(Vec::new());
        Ok(column)
    }

    /// Without ids, the items are the ids, unless a system has several stories for one item. Then
    /// the rows are numbered.
    fn number_repeated_items(&mut self) {
        let mut seen = HashSet::new();
        let mut names = self.rows.iter().map(|row| (row.system.as_deref(), row.id.as_str()));
        if names.any(|name| !seen.insert(name)) {
            self.rows.iter_mut().enumerate().for_each(|(at, row)| row.id = at.to_string());
        }
    }

    /// Notes which names of fields were passed over for more usual ones.
    fn note_names(&mut self, used: &UsedNames, path: &Path) {
        for one in used.preferred() {
            self.notes.push(format!("{}: {one}", path.display()));
        }
    }

    /// Checks that the table is not much larger than the file.
    fn check_size(&self, path: &Path) -> Result<()> {
        let ratings = self.rows.iter().flat_map(|row| row.ratings.iter());
        let mut criteria = HashSet::new();
        let mut present: usize = self.values.iter().map(Vec::len).sum();
        for (criterion, _) in ratings {
            criteria.insert(criterion);
            present += 1;
        }
        let columns = self.keys.len() + criteria.len();
        let cells = columns.saturating_mul(self.rows.len());
        if criteria.len() > MAX_COLUMNS || cells > MANY_CELLS && present < cells / 64 {
            let problem = format!(
                "the file has {} rows and {columns} columns, but only {present} values: almost \
                 every row has keys of its own",
                self.rows.len()
            );
            return Err(Error::invalid(Place::file(path), problem));
        }
        Ok(())
    }
}

/// Makes the table. `inside` is the header that is part of the file.
fn assemble(
    lines: Lines,
    inside: Option<Header>,
    path: &Path,
    catalogue: &Catalogue,
) -> Result<ScoreTable> {
    lines.check_size(path)?;
    let Lines { rows, keys, values, notes, .. } = lines;
    if rows.is_empty() {
        return Err(Error::invalid(Place::file(path), "the file has no line of scores"));
    }
    let beside = Header::read(path)?;
    if let Some(header) = &beside {
        check_header(header, rows.len() as u64, path)?;
    }
    let count = rows.len();
    let mut table = ScoreTable::new(rows).read_from(path);
    let header = beside.or_else(|| {
        // Other programs keep the metadata of a file when they drop rows.
        if let Some(header) = inside.as_ref().filter(|header| header.rows != count as u64) {
            table.note(format!(
                "{}: the header inside the file is of {} rows, but the file has {count}; its \
                 columns are taken from it",
                path.display(),
                header.rows
            ));
        }
        inside
    });
    let mut guessed = Vec::new();
    for (key, present) in keys.into_iter().zip(values) {
        let known = header
            .as_ref()
            .and_then(|header| header.columns.iter().find(|column| column.key == key).cloned());
        let column = known.unwrap_or_else(|| {
            guessed.push(key.to_string());
            let (direction, range) =
                catalogue.column(&key).unwrap_or((Direction::None, Range::ANY));
            Column { range, ..Column::metric(key, direction) }
        });
        let mut values: Vec<Value> = vec![Err(Absence::NotGiven); count];
        present.into_iter().for_each(|(row, value)| values[row] = value);
        table.push(column, values);
    }
    notes.into_iter().for_each(|note| table.note(note));
    if let Some(note) = note(path, header.is_some(), &guessed, &table) {
        table.note(note);
    }
    Ok(table)
}

/// Checks that a header was written with the file beside it.
fn check_header(header: &Header, rows: u64, path: &Path) -> Result<()> {
    let bytes = path.metadata().ok().filter(Metadata::is_file).map(|there| there.len());
    let beside = Header::path_of(path);
    let beside = beside.display();
    let found = match (header.bytes, bytes) {
        _ if header.rows != rows => {
            format!("has {rows} rows, but its header {beside} says {}", header.rows)
        }
        (Some(said), Some(bytes)) if said != bytes => {
            format!("has {bytes} bytes, but its header {beside} says {said}")
        }
        (Some(_), Some(_)) if !header.belongs_to(path)? => {
            format!("does not have the checksum in its header {beside}")
        }
        _ => return Ok(()),
    };
    let problem = format!(
        "the file {found}: one of them was changed or replaced; write the scores again, or remove \
         the header to read the file without it"
    );
    Err(Error::invalid(Place::file(path), problem))
}

/// What a user should know if the header does not cover all columns.
fn note(path: &Path, header: bool, guessed: &[String], table: &ScoreTable) -> Option<String> {
    if guessed.is_empty() {
        return None;
    }
    let unknown = table.columns().iter().filter(|column| {
        column.direction == Direction::None && guessed.iter().any(|key| *key == column.key.as_str())
    });
    let unknown: Vec<&str> = unknown.map(|column| column.key.as_str()).collect();
    let header_path = Header::path_of(path);
    let mut note = if header {
        format!("{} does not list {}", header_path.display(), listed(guessed))
    } else {
        format!("{} has no header ({})", path.display(), header_path.display())
    };
    note.push_str(": the directions come from the catalogue of metrics");
    if !unknown.is_empty() {
        note.push_str(&format!(", which gives none for {}", listed(&unknown)));
    }
    Some(note)
}
