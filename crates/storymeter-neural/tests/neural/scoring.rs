//! Scores stories with metrics and models of a test, from the first pass to the values.

// storymeter-checks shares this module, and uses a part of it.
#![allow(dead_code)]

use std::path::Path;
use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{Catalogue, MetricError, Place, Resources, Settings, Story, Value};
use storymeter_executor::MetricSet;

/// A story with references.
pub fn pair(story: &str, references: &[&str]) -> Story {
    let references = references.iter().map(|text| (*text).to_owned()).collect();
    Story { references, ..Story::from(story) }
}

/// A story with a prompt and references.
pub fn prompted(prompt: &str, story: &str, references: &[&str]) -> Story {
    Story { prompt: Some(prompt.to_owned()), ..pair(story, references) }
}

/// What metrics say about stories.
pub struct Scored {
    /// The keys of the columns.
    pub keys: Vec<String>,
    /// The signatures of the metrics.
    pub signatures: Vec<String>,
    /// One list of values per story.
    pub values: Vec<Vec<Value>>,
    /// The number of stories that each metric read in part.
    pub truncated: Vec<u64>,
}

impl Scored {
    /// The numbers of one column, which must all be present.
    pub fn column(&self, key: &str) -> Vec<f64> {
        let place = self.keys.iter().position(|known| known == key);
        let place = place.unwrap_or_else(|| panic!("{key} is not one of {:?}", self.keys));
        self.values.iter().map(|row| row[place].clone().expect("a number")).collect()
    }
}

/// Scores stories in batches of `batch`, with `folder` as the model of every metric.
pub fn score(
    typed: &[&str],
    folder: &Path,
    stories: &[Story],
    batch: usize,
) -> Result<Scored, MetricError> {
    let id = |typed: &&str| typed.split(':').next().unwrap_or_default().to_owned();
    let weights = typed.iter().map(|typed| (id(typed), folder.to_owned())).collect();
    score_with(typed, Settings { weights, ..Settings::default() }, stories, batch)
}

/// Scores stories in batches of `batch`.
pub fn score_with(
    typed: &[&str],
    settings: Settings,
    stories: &[Story],
    batch: usize,
) -> Result<Scored, MetricError> {
    let catalogue = Catalogue::new(storymeter_neural::entries());
    let set = MetricSet::new(typed, &catalogue, Arc::new(Resources::new(settings)))?;
    let record = |(number, story): (usize, &Story)| Record {
        story: story.clone(),
        number: number as u64,
        place: Place::default(),
    };
    let records: Vec<Record> = stories.iter().enumerate().map(record).collect();
    let set = set.surveyed_on(&records)?;
    let mut scored = Scored {
        keys: set.columns().iter().map(|column| column.key.to_string()).collect(),
        signatures: set
            .parts()
            .map(|part| part.metric.description().signature.to_string())
            .collect(),
        values: Vec::new(),
        truncated: vec![0; typed.len()],
    };
    for records in records.chunks(batch) {
        let batch = set.batch(records)?;
        scored.values.extend((0..records.len()).map(|story| batch.values(story).to_vec()));
        scored.truncated.iter_mut().zip(batch.truncated()).for_each(|(sum, more)| *sum += more);
    }
    Ok(scored)
}
