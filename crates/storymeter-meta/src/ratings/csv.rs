//! Ratings as CSV, one row per story and rater: HANNA's annotation file, or one without texts.
//!
//! The file must have the story's id and its system, under the names that they have everywhere
//! ([`Field::names`]), and all criteria. It may have a worker id (`Worker ID` or `worker`). Names
//! are compared without regard to case, and a space is the same as `_`.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use storymeter_core::read::{Field, ScoreField, score_fields};
use storymeter_core::terminal::excerpt;
use storymeter_core::{Error as CoreError, Key, Place, file};

use super::{RatedStory, Raters, RatingTable};
use crate::error::{Error, Result};
use crate::scale::Scale;

/// The largest file of ratings that is read.
const MOST_BYTES: u64 = 1 << 30;
/// The most characters of a cell that a message quotes.
const SHOWN: usize = 80;
/// The most column names that a message lists.
const LISTED: usize = 20;

/// One row of the file.
struct Row {
    story: usize,
    worker: Option<String>,
    ratings: Vec<Option<f64>>,
}

impl RatingTable {
    /// Reads the ratings on these criteria.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, lacks a column, or has a rating outside the
    /// scale.
    pub fn read(path: &Path, criteria: &[Key], scale: Scale) -> Result<Self> {
        let place = Place::file(path);
        let broken = |e: csv::Error| {
            let place = match e.position() {
                Some(position) => place.clone().at_line(position.line()),
                None => place.clone(),
            };
            Error::from(CoreError::invalid(place, e.to_string()))
        };
        let content = file::read(path, MOST_BYTES)?;
        let mut reader = csv::Reader::from_reader(content.as_slice());
        let columns = Columns::find(reader.headers().map_err(&broken)?, criteria, &place)?;
        let mut stories: Vec<RatedStory> = Vec::new();
        let mut at: HashMap<String, usize> = HashMap::new();
        let mut rows = Vec::new();
        let mut seen: HashSet<(usize, String)> = HashSet::new();
        for record in reader.records() {
            let record = record.map_err(&broken)?;
            let line = place.clone().at_line(record.position().map_or(0, csv::Position::line));
            let cell = |column: usize| record.get(column).unwrap_or_default().trim();
            let id = cell(columns.id).to_owned();
            if id.is_empty() {
                let field = line.in_field(columns.id_name.as_str());
                return Err(CoreError::invalid(field, "the story has no id").into());
            }
            let story = *at.entry(id.clone()).or_insert_with(|| {
                let system = cell(columns.system).to_owned();
                stories.push(RatedStory {
                    id: id.clone(),
                    system,
                    ratings: vec![Vec::new(); criteria.len()],
                });
                stories.len() - 1
            });
            if stories[story].system != cell(columns.system) {
                let problem = format!(
                    "story {} is by {} in an earlier row",
                    excerpt(&id, SHOWN),
                    excerpt(&stories[story].system, SHOWN)
                );
                return Err(CoreError::invalid(line, problem).into());
            }
            let mut ratings = Vec::with_capacity(criteria.len());
            for (&column, criterion) in columns.criteria.iter().zip(criteria) {
                let field = line.clone().in_field(criterion.as_str());
                let rating = rating(cell(column)).ok_or_else(|| {
                    let problem = format!("{} is not a number", excerpt(cell(column), SHOWN));
                    CoreError::invalid(field.clone(), problem)
                })?;
                scale.check(rating, &field)?;
                ratings.push(rating);
            }
            let worker =
                columns.worker.map(|column| cell(column).to_owned()).filter(|id| !id.is_empty());
            if let Some(worker) =
                worker.clone().filter(|worker| !seen.insert((story, worker.clone())))
            {
                let problem = format!(
                    "worker {} rates story {} twice",
                    excerpt(&worker, SHOWN),
                    excerpt(&id, SHOWN)
                );
                return Err(CoreError::invalid(line, problem).into());
            }
            rows.push(Row { story, worker, ratings });
        }
        if rows.is_empty() {
            return Err(CoreError::invalid(place, "no row of ratings is in the file").into());
        }
        let raters = if rows.iter().all(|row| row.worker.is_some()) {
            Raters::Assigned
        } else {
            Raters::Anonymous
        };
        let mut table = Self { criteria: criteria.to_vec(), stories, raters };
        match raters {
            Raters::Anonymous => rows.iter().for_each(|row| {
                let story = &mut table.stories[row.story];
                story
                    .ratings
                    .iter_mut()
                    .zip(&row.ratings)
                    .for_each(|(all, rating)| all.push(*rating));
            }),
            Raters::Assigned => assign(&mut table, &rows),
        }
        Ok(table)
    }
}

/// Puts ratings into columns by worker, as HANNA's authors did: with k ratings per story, the k
/// busiest workers have a column each, in order of their ids. Everyone else takes the first column
/// that is still empty for the story.
fn assign(table: &mut RatingTable, rows: &[Row]) {
    let mut per_story = vec![0usize; table.stories.len()];
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        per_story[row.story] += 1;
        *counts.entry(row.worker.as_deref().unwrap_or_default()).or_default() += 1;
    }
    let columns = per_story.iter().copied().max().unwrap_or(0);
    let mut busiest: Vec<(&str, usize)> = counts.into_iter().collect();
    busiest.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    busiest.truncate(columns);
    busiest.sort_by(|a, b| a.0.cmp(b.0));
    for story in &mut table.stories {
        story.ratings.iter_mut().for_each(|ratings| ratings.resize(columns, None));
    }
    let mut taken = vec![vec![false; columns]; table.stories.len()];
    let own =
        |row: &Row| busiest.iter().position(|(worker, _)| row.worker.as_deref() == Some(worker));
    for known in [true, false] {
        for row in rows.iter().filter(|row| own(row).is_some() == known) {
            let free = || taken[row.story].iter().position(|taken| !taken);
            let Some(column) = own(row).or_else(free) else { continue };
            taken[row.story][column] = true;
            let story = &mut table.stories[row.story];
            story
                .ratings
                .iter_mut()
                .zip(&row.ratings)
                .for_each(|(all, rating)| all[column] = *rating);
        }
    }
}

struct Columns {
    id: usize,
    /// What the column of ids is called.
    id_name: String,
    system: usize,
    worker: Option<usize>,
    criteria: Vec<usize>,
}

impl Columns {
    fn find(header: &csv::StringRecord, criteria: &[Key], place: &Place) -> Result<Self> {
        let wrong = |problem: String| Error::from(CoreError::invalid(place.clone(), problem));
        // HANNA's authors write "Story ID" and "Worker ID".
        let plain: Vec<String> = header.iter().map(|name| name.trim().replace(' ', "_")).collect();
        let find = |names: &[&str]| -> Result<Option<usize>> {
            let is_wanted = |at: &usize| {
                let there = [header[*at].trim(), plain[*at].as_str()];
                names.iter().any(|name| there.iter().any(|it| it.eq_ignore_ascii_case(name)))
            };
            let mut found = (0..header.len()).filter(is_wanted);
            match (found.next(), found.next()) {
                (Some(first), Some(second)) => Err(wrong(format!(
                    "columns {} and {} are both called {} or the like, and only one can be meant",
                    first + 1,
                    second + 1,
                    excerpt(names[0], SHOWN)
                ))),
                (found, _) => Ok(found),
            }
        };
        let need = |names: &[&str]| {
            find(names)?.ok_or_else(|| {
                let shown = |name| excerpt(name, SHOWN);
                let mut there: Vec<_> = header.iter().take(LISTED).map(shown).collect();
                if header.len() > LISTED {
                    there.push("...".into());
                }
                let (name, there) = (excerpt(names[0], SHOWN), there.join(", "));
                wrong(format!("no column {name}; the columns are: {there}"))
            })
        };
        let fields = score_fields(&plain, place)?;
        let column = |field: Field| {
            let found = fields.iter().position(|one| *one == ScoreField::Story(field));
            found.map_or_else(|| need(field.names()), Ok)
        };
        let id = column(Field::Id)?;
        Ok(Self {
            id,
            id_name: header[id].trim().to_owned(),
            system: column(Field::System)?,
            worker: find(&["worker_id", "worker"])?,
            criteria: criteria.iter().map(|name| need(&[name.as_str()])).collect::<Result<_>>()?,
        })
    }
}

/// A finite number, or `Some(None)` for an empty cell, which is a rating that was not given.
fn rating(cell: &str) -> Option<Option<f64>> {
    match cell {
        "" => Some(None),
        cell => cell.parse().ok().filter(|r: &f64| r.is_finite()).map(Some),
    }
}
