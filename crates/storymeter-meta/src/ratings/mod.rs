//! Single ratings, before they are averaged: how far raters agree, and how sure a system's mean is.

mod agreement;
mod averages;
mod csv;

pub use agreement::agreement;
pub use averages::{distributions, system_averages};

use crate::error::{Error, Result};

/// The ratings of many stories on the same criteria.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RatingTable {
    /// The criteria.
    pub criteria: Vec<String>,
    /// The stories, in input order.
    pub stories: Vec<RatedStory>,
    /// Whether the n-th rating of every story is the same person's, or that person's in a documented assignment.
    pub raters: Raters,
}

/// What is known about who rated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Raters {
    /// Nothing: the order of a story's ratings means nothing.
    #[default]
    Anonymous,
    /// Ratings carry worker ids, and were put into columns by them.
    Assigned,
}

/// The ratings of one story.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RatedStory {
    /// Its id.
    pub id: String,
    /// Who wrote it.
    pub system: String,
    /// `[criterion][rater]`; NaN where a rater skipped the criterion.
    pub ratings: Vec<Vec<f64>>,
}

impl RatingTable {
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
        stories
            .flat_map(|story| story.ratings[criterion].iter().copied())
            .filter(|r| !r.is_nan())
            .collect()
    }

    /// The most ratings a story has.
    pub fn most_raters(&self) -> usize {
        self.stories.iter().flat_map(|story| story.ratings.iter().map(Vec::len)).max().unwrap_or(0)
    }

    /// An error if a story's system is not one of these.
    pub fn check_systems(&self, known: &[String]) -> Result<()> {
        match self.stories.iter().find(|story| !known.contains(&story.system)) {
            None => Ok(()),
            Some(story) => Err(Error::unfit(format!(
                "ratings: story {} is by the unknown system \"{}\"; known are: {}",
                story.id,
                story.system,
                known.join(", ")
            ))),
        }
    }
}
