//! Scores of plain texts by metrics of the catalogue.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{Catalogue, MetricError, Place, Resources, Settings, Story, Value};
use storymeter_metrics::{Batch, MetricSet};

/// The metrics with this model.
pub fn metrics(typed: &[&str], model: &Path) -> Result<MetricSet, MetricError> {
    let catalogue = Catalogue::new(storymeter_neural::entries());
    let ids = typed.iter().map(|typed| typed.split(':').next().unwrap_or(typed));
    let weights = ids.map(|id| (id.to_owned(), model.to_owned())).collect();
    let resources = Resources::new(Settings { weights, ..Settings::default() });
    MetricSet::new(typed, &catalogue, Arc::new(resources))
}

/// Stories, each with its references.
pub fn records(stories: &[(&str, &[&str])]) -> Vec<Record> {
    (0u64..)
        .zip(stories)
        .map(|(number, (text, references))| Record {
            story: Story {
                id: number.to_string(),
                text: (*text).to_owned(),
                references: references.iter().map(|text| (*text).to_owned()).collect(),
                ..Story::default()
            },
            number,
            place: Place::default(),
        })
        .collect()
}

/// The values of all stories, after the first pass if one is needed.
pub fn scored(typed: &[&str], model: &Path, stories: &[(&str, &[&str])]) -> Vec<Vec<Value>> {
    let records = records(stories);
    let set = metrics(typed, model).expect("the model can be opened");
    let set = set.surveyed_on(&records).expect("the first pass");
    rows(&set.batch(&records).expect("the stories can be scored"))
}

/// The values of a batch.
pub fn rows(batch: &Batch) -> Vec<Vec<Value>> {
    (0..batch.len()).map(|story| batch.values(story).to_vec()).collect()
}

/// The folder of a real model, or nothing where `STORYMETER_TEST_WEIGHTS` is not set.
pub fn weights(model: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("STORYMETER_TEST_WEIGHTS")?;
    Some(PathBuf::from(folder).join(model))
}

/// Asserts that values are these numbers.
#[track_caller]
pub fn assert_close(got: &[Value], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{got:?}");
    for (got, expected) in got.iter().zip(expected) {
        match got {
            Ok(got) => assert!(
                (got - expected).abs() <= tolerance,
                "{got} is not {expected}: off by {:e}",
                (got - expected).abs()
            ),
            Err(absence) => panic!("{expected} is absent: {absence}"),
        }
    }
}
