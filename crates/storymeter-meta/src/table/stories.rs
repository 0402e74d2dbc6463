//! Ratings, systems and items from a file of stories, joined to scores by system and id.

use std::path::Path;

use storymeter_core::read::{self, ReadOptions};
use storymeter_core::{Role, Row, ScoreTable};

use crate::error::{Error, Result};
use crate::grid::file_of;
use crate::study::{Warning, WarningKind};

/// Joins stories to a table of scores by system and id, and says what was left out.
///
/// Where the scores or the stories name no system, the id alone decides, as long as it is that of
/// one story.
///
/// A story gives its ratings where it has some, its system where the scores name none, and its item
/// where the scores have no other item than the id.
///
/// # Errors
/// Returns an error if the stories cannot be read, a system has an id twice, or no story is in both
/// files.
pub fn with_stories(scores: &ScoreTable, stories: &Path) -> Result<(ScoreTable, Vec<Warning>)> {
    let known = read_stories(stories)?;
    let all = known.rows().len();
    let (mut rows, mut kept) = (Vec::new(), Vec::new());
    for (at, story) in known.matches(scores)?.into_iter().enumerate() {
        if let Some(story) = story {
            rows.push(joined(&scores.rows()[at], &known.rows()[story]));
            kept.push(at);
        }
    }
    if rows.is_empty() {
        let file = file_of(scores).unwrap_or_else(|| "the scores".into());
        return Err(Error::NothingShared { file, other: stories.to_owned() });
    }
    let mut warnings = Vec::new();
    for (missing, what) in [
        (scores.rows().len() - rows.len(), "scored stories are not in the file of stories"),
        (all - rows.len(), "stories have no scores"),
    ] {
        if missing > 0 {
            let message = format!("{missing} {what} and are left out");
            warnings.push(Warning::new(WarningKind::Missing, "stories", message));
        }
    }
    let mut table = ScoreTable::new(rows);
    for column in scores.of_role(Role::Metric) {
        table.push_from(scores, column, &kept);
    }
    scores.notes().iter().for_each(|note| table.note(note.clone()));
    Ok((table, warnings))
}

/// The stories as rows, without their texts.
fn read_stories(path: &Path) -> Result<ScoreTable> {
    let mut rows = Vec::new();
    for record in read::open(&[path.to_owned()], &ReadOptions::default())? {
        let record = record?;
        let (story, line) = (record.story, record.place.line);
        let item = story.item().to_owned();
        let (id, system, ratings) = (story.id, story.system, story.ratings);
        rows.push(Row { id, system, item, ratings, line, ..Row::default() });
    }
    Ok(ScoreTable::new(rows).read_from(path))
}

fn joined(row: &Row, story: &Row) -> Row {
    let mut row = row.clone();
    if row.item == row.id {
        row.item.clone_from(&story.item);
    }
    row.system = row.system.or_else(|| story.system.clone());
    if !story.ratings.is_empty() {
        row.ratings = story.ratings.clone();
    }
    row
}
