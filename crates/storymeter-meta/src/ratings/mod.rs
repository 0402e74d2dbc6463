//! Single ratings, before they are averaged: how far raters agree, and how sure a system's mean is.

mod agreement;
mod averages;
mod csv;

use storymeter_core::{Error as CoreError, Key, Row};

pub(crate) use self::averages::quantile;
use crate::error::Result;
use crate::grid::NO_SYSTEM;
pub use crate::study::Raters;

/// The ratings of many stories on the same criteria.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RatingTable {
    /// The criteria.
    pub criteria: Vec<Key>,
    /// The stories, in input order.
    pub stories: Vec<RatedStory>,
    /// What is known about who rated.
    pub raters: Raters,
}

/// The ratings of one story.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RatedStory {
    /// The id of the story.
    pub id: String,
    /// Who wrote it.
    pub system: String,
    /// `[criterion][rater]`; `None` where a rater skipped the criterion.
    pub ratings: Vec<Vec<Option<f64>>>,
}

impl RatingTable {
    /// The ratings of the rows of a score table. Their order says nothing about who gave them.
    pub fn of_rows(rows: &[Row], criteria: Vec<Key>) -> Self {
        let of = |row: &Row, criterion: &Key| {
            row.ratings.get(criterion.as_str()).unwrap_or_default().to_vec()
        };
        let story = |row: &Row| RatedStory {
            id: row.id.clone(),
            system: row.system.clone().unwrap_or_else(|| NO_SYSTEM.into()),
            ratings: criteria.iter().map(|criterion| of(row, criterion)).collect(),
        };
        Self { stories: rows.iter().map(story).collect(), criteria, raters: Raters::Anonymous }
    }

    /// The systems, in order of appearance.
    pub fn systems(&self) -> Vec<&str> {
        let mut systems: Vec<&str> = Vec::new();
        for story in &self.stories {
            if !systems.contains(&story.system.as_str()) {
                systems.push(&story.system);
            }
        }
        systems
    }

    /// All ratings of a system on a criterion.
    pub fn of_system(&self, system: &str, criterion: usize) -> Vec<f64> {
        let stories = self.stories.iter().filter(|story| story.system == system);
        stories.flat_map(|story| story.ratings[criterion].iter().copied().flatten()).collect()
    }

    /// All ratings that were given.
    pub fn all(&self) -> impl Iterator<Item = f64> {
        self.stories.iter().flat_map(|story| story.ratings.iter().flatten().copied().flatten())
    }

    /// The largest number of raters of a story.
    pub fn most_raters(&self) -> usize {
        self.stories.iter().flat_map(|story| story.ratings.iter().map(Vec::len)).max().unwrap_or(0)
    }

    /// Checks that every story is by one of these systems.
    ///
    /// # Errors
    /// For the first story by another system, with the nearest known name.
    pub fn check_systems(&self, known: &[String]) -> Result<()> {
        match self.stories.iter().find(|story| !known.contains(&story.system)) {
            None => Ok(()),
            Some(story) => {
                let known = known.iter().map(String::as_str);
                Err(CoreError::unknown("system", &story.system, known).into())
            }
        }
    }
}
