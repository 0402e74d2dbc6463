//! What a model of criteria is compared with: simple properties of the text, the learned metric
//! that was trained without ratings, and the metrics whose scores HANNA published.

use serde_json::Value;
use storymeter::core::read::{Record, hanna_metric_name};
use storymeter::core::{Place, Settings, Story};
use storymeter::union::{EMBEDDED_NAME, Scorer};
use storymeter_stats::Coefficient;

use super::levels::words;
use super::{Draws, Layout, Level, Sampled};
use crate::evaluate::{HANNA_STORIES, for_each_json, probabilities};
use crate::{Error, Result, present, score, shared};

/// The scores of a metric for a list of stories. More is better.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The name of the metric.
    pub metric: String,
    /// One column for all criteria, or one column per criterion.
    columns: Vec<Vec<f64>>,
}

impl Scores {
    /// A metric that says the same about all criteria.
    pub fn new(metric: &str, values: Vec<f64>) -> Self {
        Self { metric: metric.to_owned(), columns: vec![values] }
    }

    /// A metric that has a score for each criterion.
    pub fn by_criterion(metric: &str, columns: Vec<Vec<f64>>) -> Self {
        Self { metric: metric.to_owned(), columns }
    }

    /// The scores that are compared with the ratings of a criterion, given by its number.
    pub fn against(&self, criterion: usize) -> &[f64] {
        self.columns.get(criterion).unwrap_or(&self.columns[0])
    }
}

/// Scores stories with the baselines that need nothing but the story: a model of UNION, which is
/// the embedded one, the number of words, Distinct-2, and Repetition-3, which is negated so that
/// more is better.
///
/// # Errors
/// If a metric fails.
pub fn baselines(union: &Scorer, stories: &[Story]) -> Result<Vec<Scores>> {
    let record = |(number, story): (u64, &Story)| Record {
        story: story.clone(),
        number,
        place: Place::default(),
    };
    let records: Vec<Record> = (0..).zip(stories).map(record).collect();
    let (_, scored) = score(&["distinct-2", "repetition-3"], Settings::default(), &records)?;
    let (mut distinct, mut repetition) = (Vec::new(), Vec::new());
    for story in 0..records.len() {
        let values = present(scored.values(story))?;
        distinct.push(values[0]);
        repetition.push(-values[1]);
    }
    Ok(vec![
        Scores::new(EMBEDDED_NAME, probabilities(union, stories)?),
        Scores::new("length", stories.iter().map(words).collect()),
        Scores::new("distinct-2", distinct),
        Scores::new("repetition-3", repetition),
    ])
}

/// The scores of the 72 metrics that HANNA published, for some of its stories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Published {
    /// The names of the metrics, without the marks that tell their kind.
    pub names: Vec<String>,
    /// The scores, one column per metric.
    pub columns: Vec<Vec<f64>>,
}

/// The published metric that agrees best with ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The name of the metric.
    pub name: String,
    /// Its scores, negated where fewer is better.
    pub scores: Vec<f64>,
}

impl Published {
    /// Reads the scores of the machine-written stories for HANNA's first 48 prompts.
    ///
    /// # Errors
    /// If the file is absent or does not have its layout.
    pub fn of_hanna() -> Result<Self> {
        let mut found = Self::default();
        for_each_json(&shared(HANNA_STORIES)?, |record| {
            if record["system"] == "Human" {
                return Ok(());
            }
            let broken = || Error::failed("a record without the 72 published scores");
            let metrics = record["metrics"].as_object().ok_or_else(broken)?;
            if found.names.is_empty() {
                let names = metrics.keys().map(|name| hanna_metric_name(name).to_owned());
                found.names = names.collect();
                found.columns = vec![Vec::new(); found.names.len()];
            }
            let values: Vec<f64> = metrics.values().filter_map(Value::as_f64).collect();
            if values.len() != found.columns.len() {
                return Err(broken());
            }
            found.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            Ok(())
        })?;
        Ok(found)
    }

    /// The metric whose correlation at a level, averaged over several lists of ratings, is farthest
    /// from 0. There is none if no correlation is defined.
    pub fn best(
        &self,
        level: Level,
        coefficient: Coefficient,
        ratings: &[&[f64]],
        layout: &Layout,
    ) -> Option<Best> {
        let draws = Draws::none(layout.items());
        let agreement = |scores: &Vec<f64>| {
            let each = ratings.iter().map(|ratings| {
                Sampled::correlation(level, coefficient, (scores, ratings), layout, &draws).value
            });
            each.sum::<f64>() / ratings.len() as f64
        };
        let (at, found) = (self.columns.iter().map(agreement).enumerate())
            .filter(|(_, found)| !found.is_nan())
            .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))?;
        let scores = self.columns[at].iter().map(|score| score * found.signum()).collect();
        Some(Best { name: self.names[at].clone(), scores })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_metric_may_be_one_of_which_less_is_better() {
        let stories: Vec<Story> =
            (0..6).map(|at| Story { id: at.to_string(), ..Story::default() }).collect();
        let ratings = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let published = Published {
            names: ["weak", "distance", "constant"].map(String::from).to_vec(),
            columns: vec![
                vec![1.0, 3.0, 2.0, 6.0, 4.0, 5.0],
                ratings.map(|rating| 10.0 - rating).to_vec(),
                vec![1.0; 6],
            ],
        };
        let layout = Layout::new(&stories);
        let best = published.best(Level::Pooled, Coefficient::Spearman, &[&ratings], &layout);
        let scores = ratings.map(|rating| rating - 10.0).to_vec();
        assert_eq!(best, Some(Best { name: "distance".to_owned(), scores }));
        let none = published.best(Level::Pooled, Coefficient::Spearman, &[&[1.0; 6]], &layout);
        assert_eq!(none, None);
    }
}
