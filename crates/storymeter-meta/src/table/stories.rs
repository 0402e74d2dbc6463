//! Ratings, systems and items from a file of stories, joined to scores by id.

use std::collections::HashMap;
use std::path::Path;

use storymeter_core::read::{self, ReadOptions};
use storymeter_core::terminal::excerpt;
use storymeter_core::{Error as CoreError, Role, Row, ScoreTable, Story};

use crate::error::{Error, Result};
use crate::grid::file_of;
use crate::study::{Warning, WarningKind};

/// Joins stories to a table of scores by id, and says what was left out.
///
/// A story gives its ratings where it has some, its system where the scores name none, and its item
/// where the scores have no other item than the id.
///
/// # Errors
/// Where the stories cannot be read, an id is there twice, or no id is in both files.
pub fn with_stories(scores: &ScoreTable, stories: &Path) -> Result<(ScoreTable, Vec<Warning>)> {
    scores.positions()?;
    let mut known = read_stories(stories)?;
    let all = known.len();
    let (mut rows, mut kept) = (Vec::new(), Vec::new());
    for (at, row) in scores.rows().iter().enumerate() {
        if let Some(story) = known.remove(&row.id) {
            rows.push(joined(row, story));
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
    if let Some(file) = file_of(scores) {
        table = table.read_from(&file);
    }
    for column in scores.of_role(Role::Metric) {
        let values = kept.iter().map(|&row| scores.values(column)[row].clone()).collect();
        table.push(scores.columns()[column].clone(), values);
    }
    scores.notes().iter().for_each(|note| table.note(note.clone()));
    Ok((table, warnings))
}

fn read_stories(path: &Path) -> Result<HashMap<String, Story>> {
    let mut stories = HashMap::new();
    for record in read::open(&[path.to_owned()], &ReadOptions::default())? {
        let record = record?;
        let id = record.story.id.clone();
        if stories.insert(id.clone(), record.story).is_some() {
            let problem = format!("duplicate id {}", excerpt(&id, 80));
            return Err(CoreError::invalid(record.place, problem).into());
        }
    }
    Ok(stories)
}

fn joined(row: &Row, story: Story) -> Row {
    let mut row = row.clone();
    if row.item == row.id {
        row.item = story.item().to_owned();
    }
    row.system = row.system.or(story.system);
    if !story.ratings.is_empty() {
        row.ratings = story.ratings;
    }
    row
}
