//! Reads HANNA's annotations: a CSV file with one row per rater, in which the rows of a story stand
//! together.
//!
//! The columns are Story ID, Prompt, Human, Story, Model, the six criteria, and some that are not
//! needed here (worker, assignment, time). The human story becomes the reference. The criteria keep
//! their names.

use std::collections::HashSet;

use super::Format;
use super::cutter::Cut;
use super::delimited::{self, Dialect, cut_csv, fields, is_open_after, names_of};
use super::lines::LineReader;
use super::shown::{listed, quoted};
use crate::{Error, Place, Ratings, Result, Story};

/// The six criteria, in the order of the paper and of its files.
pub(super) const CRITERIA: [&str; 6] =
    ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"];

/// The other columns that are used.
const COLUMNS: [&str; 5] = ["Story ID", "Prompt", "Human", "Story", "Model"];

/// The positions of the columns.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    width: usize,
    id: usize,
    prompt: usize,
    human: usize,
    story: usize,
    model: usize,
    criteria: [usize; 6],
}

impl Columns {
    /// Finds the columns in the header.
    pub fn new(header: &str, place: &Place) -> Result<Self> {
        let names = names_of(header, Format::Csv, MAX_COLUMNS, place)?;
        let find = |wanted: &str| {
            let mut columns = (0..).zip(&names).filter(|(_, name)| *name == wanted);
            let problem = match (columns.next(), columns.next()) {
                (Some((column, _)), None) => return Ok(column),
                (Some(_), Some(_)) => format!("there are two columns \"{wanted}\""),
                (None, _) => {
                    let columns = listed(&names);
                    format!("there is no column \"{wanted}\"; the columns are: {columns}")
                }
            };
            Err(Error::invalid(place.clone(), problem))
        };
        let [id, prompt, human, story, model] = COLUMNS.map(find);
        let mut criteria = [0; 6];
        for (column, name) in criteria.iter_mut().zip(CRITERIA) {
            *column = find(name)?;
        }
        Ok(Self {
            width: names.len(),
            id: id?,
            prompt: prompt?,
            human: human?,
            story: story?,
            model: model?,
            criteria,
        })
    }

    /// Makes a story from its rows, which [`Grouper`] has put together.
    pub fn parse(&self, rows: &str, place: &Place) -> Result<Story> {
        let mut story = Story::default();
        let mut ratings = Ratings::new();
        let mut place = place.clone();
        for (rater, row) in split_rows(rows).enumerate() {
            let cells = delimited::cells(row, self.width, &place)?;
            if rater == 0 {
                let cell = |column: usize| cells[column].to_string();
                story = Story {
                    id: cell(self.id),
                    system: Some(cell(self.model)),
                    prompt: Some(cell(self.prompt)),
                    text: cell(self.story),
                    references: vec![cell(self.human)],
                    ..Story::default()
                };
            }
            for (name, column) in CRITERIA.into_iter().zip(self.criteria) {
                ratings.push(
                    name,
                    rating(&cells[column]).ok_or_else(|| {
                        let problem = format!("{} is not a number", quoted(&cells[column]));
                        Error::invalid(place.clone().in_field(name), problem)
                    })?,
                );
            }
            let lines = 1 + memchr::memchr_iter(b'\n', row.as_bytes()).count() as u64;
            place.line = place.line.map(|line| line + lines);
        }
        story.ratings = ratings;
        Ok(story)
    }
}

/// The rating in a cell: `Some(None)` for an empty cell, and `None` for one that is not a number.
fn rating(cell: &str) -> Option<Option<f64>> {
    let cell = cell.trim();
    if cell.is_empty() {
        return Some(None);
    }
    cell.parse().ok().filter(|number: &f64| number.is_finite()).map(Some)
}

/// The largest number of columns. HANNA's file has 17.
const MAX_COLUMNS: usize = 10_000;

/// The rows of one story, which stand one after the other. A row ends with the first line that
/// leaves no quotation mark open.
fn split_rows(mut unread: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if unread.is_empty() {
            return None;
        }
        let mut open = false;
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', unread.as_bytes()) {
            open = is_open_after(&unread.as_bytes()[begin..end], open, Dialect::CSV.delimiter);
            begin = end + 1;
            if !open {
                let row = &unread[..end];
                unread = &unread[begin..];
                return Some(row);
            }
        }
        Some(std::mem::take(&mut unread))
    })
}

/// Puts consecutive rows with the same story id together.
pub(super) struct Grouper {
    columns: Columns,
    /// The first row of the next story.
    waiting: Option<(u64, Vec<u8>, String)>,
    seen: HashSet<String>,
}

impl Grouper {
    pub fn new(columns: Columns) -> Self {
        Self { columns, waiting: None, seen: HashSet::new() }
    }

    /// The rows of the next story.
    pub fn next(&mut self, lines: &mut LineReader) -> Result<Option<Cut>> {
        let mut group: Option<(u64, Vec<u8>, String)> = self.waiting.take();
        loop {
            let (line, row) = match cut_csv(lines)? {
                None => break,
                Some(Cut { line, body: Ok(row) }) => (line, row),
                // A bad row makes the story before it bad as well. The row may belong to that
                // story, which must not pass with fewer ratings than it was given.
                Some(broken) => {
                    self.seen.extend(group.map(|(_, _, id)| id));
                    return Ok(Some(broken));
                }
            };
            let id = self.id_of(&row);
            match &mut group {
                None => group = Some((line, row, id)),
                Some((_, rows, same)) if *same == id => {
                    if rows.len() + row.len() > lines.max() {
                        let problem =
                            format!("the rows of the story have more than {} bytes", lines.max());
                        self.seen.insert(id);
                        return Ok(Some(Cut { line, body: Err(problem) }));
                    }
                    rows.push(b'\n');
                    rows.extend_from_slice(&row);
                }
                Some(_) => {
                    self.waiting = Some((line, row, id));
                    break;
                }
            }
        }
        let Some((line, rows, id)) = group else { return Ok(None) };
        let body = if self.seen.insert(id.clone()) {
            Ok(rows)
        } else {
            Err(format!(
                "duplicate story id {}: it was used further up, and the rows of a story must stand \
                 together",
                quoted(&id)
            ))
        };
        Ok(Some(Cut { line, body }))
    }

    fn id_of(&self, row: &[u8]) -> String {
        let text = String::from_utf8_lossy(row);
        fields(&text, Format::Csv).nth(self.columns.id).unwrap_or_default().into_owned()
    }
}

/// Whether the first line of a file is the header of this layout.
pub(super) fn is_header(line: &[u8]) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let names: HashSet<String> =
        fields(line, Format::Csv).map(|name| name.trim().to_owned()).collect();
    COLUMNS.iter().chain(&CRITERIA).all(|&name| names.contains(name))
}
