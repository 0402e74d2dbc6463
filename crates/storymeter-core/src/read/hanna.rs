//! Reads HANNA's annotations: a CSV file with one row per rater, in which the rows of a story stand
//! together.
//!
//! The columns are Story ID, Prompt, Human, Story, Model, the six criteria, and some that are not
//! needed here (worker, assignment, time). The human story becomes the reference. The criteria keep
//! their names.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Format;
use super::delimited::{cut_csv, fields, wrong_width};
use super::lines::LineReader;
use super::raw::Cut;
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
        let names: Vec<_> = fields(header, Format::Csv).collect();
        let find = |wanted: &str| {
            names.iter().position(|name| name.trim() == wanted).ok_or_else(|| {
                let columns = names.join(", ");
                let problem =
                    format!("there is no column \"{wanted}\"; the columns are: {columns}");
                Error::invalid(place.clone(), problem)
            })
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

    fn cells<'a>(&self, row: &'a str, place: &Place) -> Result<Vec<Cow<'a, str>>> {
        let cells: Vec<_> = fields(row, Format::Csv).collect();
        if cells.len() != self.width {
            return Err(wrong_width(place, cells.len(), self.width));
        }
        Ok(cells)
    }

    /// Makes a story from its rows, which [`Grouper`] has put together.
    pub fn parse(&self, rows: &str, place: &Place) -> Result<Story> {
        let mut story = Story::default();
        let mut ratings = Ratings::new();
        let mut place = place.clone();
        for (rater, row) in rows.split(ROW_END).enumerate() {
            let cells = self.cells(row, &place)?;
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
                        let problem = format!("\"{}\" is not a number", cells[column]);
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

/// Stands between the rows of one story: a byte that no text has, and a line break so that lines
/// can still be counted.
const ROW_END: &str = "\0\n";

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
                    rows.extend_from_slice(ROW_END.as_bytes());
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
                "duplicate story id \"{id}\": it was used further up, and the rows of a story must \
                 stand together"
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
    std::str::from_utf8(line).is_ok_and(|line| Columns::new(line, &Place::default()).is_ok())
}
