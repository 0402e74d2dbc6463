//! Files of judgments and scores, each opened once, so that a pipe loses nothing.

use std::io::{Cursor, Read as _};
use std::path::Path;

use storymeter_core::file::{Ending, FileName};
use storymeter_core::read::{self, ReadOptions};
use storymeter_core::{Catalogue, Error as CoreError, Place, Row, ScoreTable, file};

use crate::error::Result;
use crate::union::parse_numbers;

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 30;

/// As much of a file as its layout is found from.
const START: usize = 1 << 16;

/// What a file of scores holds.
pub(super) enum Scores {
    /// One number per line; NaN where the file says so.
    Numbers(Vec<f64>),
    /// Rows with ids.
    Table(ScoreTable),
}

/// All bytes of a file, or of standard input for `-`.
fn bytes(file: &Path) -> Result<Vec<u8>> {
    if file != Path::new("-") {
        return Ok(file::read(file, MOST_BYTES)?);
    }
    let place = Place::file(file);
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock().take(MOST_BYTES + 1);
    input.read_to_end(&mut bytes).map_err(|e| CoreError::io(place.clone(), e))?;
    if bytes.len() as u64 > MOST_BYTES {
        let problem =
            format!("there are more than {MOST_BYTES} bytes, which is the most that is read");
        return Err(CoreError::invalid(place, problem).into());
    }
    Ok(bytes)
}

/// The first line that is not blank, where the content is text.
fn first_line(bytes: &[u8]) -> Option<&str> {
    let start = &bytes[..bytes.len().min(START)];
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // A character may be cut at the end of the start.
        Err(e) => std::str::from_utf8(&start[..e.valid_up_to()]).ok()?,
    };
    text.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty())
}

/// Whether the content is a score table rather than stories.
fn is_table(file: &Path, bytes: &[u8]) -> bool {
    FileName::of(file).ending() == Some(Ending::Jsonl) || read::is_score_table(bytes)
}

/// Reads scores: numbers where the first line is one, otherwise a score table.
pub(super) fn scores(file: &Path, catalogue: &Catalogue) -> Result<Scores> {
    let bytes = bytes(file)?;
    let is_number = |line: &str| line.parse::<f64>().is_ok();
    match (first_line(&bytes).is_some_and(is_number), std::str::from_utf8(&bytes)) {
        (true, Ok(text)) => Ok(Scores::Numbers(parse_numbers(text, file)?)),
        _ => Ok(Scores::Table(read::scores_from(file, Cursor::new(bytes), catalogue)?)),
    }
}

/// Reads judgments: the ratings of a score table, or of stories in any layout.
pub(super) fn judgments(file: &Path, catalogue: &Catalogue) -> Result<ScoreTable> {
    let bytes = bytes(file)?;
    if is_table(file, &bytes) {
        return Ok(read::scores_from(file, Cursor::new(bytes), catalogue)?);
    }
    let options = ReadOptions::default().with(|it| it.allow_empty = true);
    let mut rows = Vec::new();
    for record in read::from_reader(file, Cursor::new(bytes), &options) {
        let record = record?;
        let story = record.story;
        rows.push(Row {
            item: story.item().to_owned(),
            id: story.id,
            system: story.system,
            ratings: story.ratings,
            line: record.place.line,
            ..Row::default()
        });
    }
    Ok(ScoreTable::new(rows).read_from(file))
}
