//! The rated sets of the shared data.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use storymeter::core::Story;
use storymeter::core::read::{Format, ReadOptions, open};

use crate::shared;

/// What reading can fail with.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Stories with human judgments, one number a criterion.
#[derive(Debug, Clone, Default)]
pub struct Rated {
    /// The set's name.
    pub name: String,
    /// The stories.
    pub stories: Vec<Story>,
    /// For each criterion the mean rating of every story; "mean" is the mean of all where there are several.
    pub criteria: Vec<(String, Vec<f64>)>,
}

impl Rated {
    /// The criterion the set is known by: the mean of all, or the only one.
    pub fn overall(&self) -> &[f64] {
        self.criteria.last().map_or(&[], |(_, values)| values)
    }

    fn push(&mut self, story: Story, ratings: &[(String, f64)]) {
        self.stories.push(story);
        let mut put = |name: &str, value: f64| match self
            .criteria
            .iter_mut()
            .find(|(known, _)| known == name)
        {
            Some((_, values)) => values.push(value),
            None => self.criteria.push((name.to_owned(), vec![value])),
        };
        ratings.iter().for_each(|(name, value)| put(name, *value));
        if ratings.len() > 1 {
            put("mean", ratings.iter().map(|(_, value)| value).sum::<f64>() / ratings.len() as f64);
        }
    }
}

/// The UNION authors' 400 rated ROC stories.
#[derive(Debug, Clone)]
pub struct UnionRoc {
    /// The stories.
    pub stories: Vec<Story>,
    /// The mean of seven binary ratings.
    pub human: Vec<f64>,
    /// How many of the seven chose each answer: reasonable, then the five error types.
    pub answers: Vec<[usize; 6]>,
}

/// `annotated/union_roc`, or `None` where it is absent.
///
/// # Errors
/// Where the files are not what they were.
pub fn union_roc() -> Result<Option<UnionRoc>> {
    let Some(folder) = shared("data/annotated/union_roc") else { return Ok(None) };
    let options = ReadOptions { format: Some(Format::UnionAnnotations), ..ReadOptions::default() };
    let (mut stories, mut human) = (Vec::new(), Vec::new());
    for record in open(&[folder.join("ant_data.txt")], &options)? {
        let story = record?.story;
        let name =
            story.ratings.iter().next().map(|(name, _)| name.to_owned()).ok_or("no ratings")?;
        human.push(story.ratings.mean(&name).ok_or("no ratings")?);
        stories.push(story);
    }
    let text = std::fs::read_to_string(folder.join("ant_data_all.txt"))?;
    let answers = text
        .lines()
        .map(|line| {
            let mut counts = [0; 6];
            for answer in line.rsplit("|||").next().unwrap_or_default().split_whitespace() {
                *counts.get_mut(answer.parse::<usize>()?).ok_or("an unknown error type")? += 1;
            }
            Ok(counts)
        })
        .collect::<Result<Vec<_>>>()?;
    if answers.len() != stories.len() {
        return Err("ant_data.txt and ant_data_all.txt differ in length".into());
    }
    Ok(Some(UnionRoc { stories, human, answers }))
}

/// `annotated/other`: one set a study.
///
/// # Errors
/// Where the file is not what it was.
pub fn other() -> Result<Option<Vec<Rated>>> {
    let Some(path) = shared("data/annotated/other/annotated.jsonl.gz") else { return Ok(None) };
    let mut sets: Vec<Rated> = Vec::new();
    for_each_json(&path, |record| {
        let name = text(record, "dataset");
        let ratings = record["ratings"].as_object().ok_or("a record without ratings")?;
        let ratings: Vec<(String, f64)> = ratings
            .iter()
            .map(|(criterion, values)| {
                let values: Vec<f64> =
                    values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
                (criterion.clone(), values.iter().sum::<f64>() / values.len() as f64)
            })
            .collect();
        let at = sets.iter().position(|set| set.name == name).unwrap_or_else(|| {
            sets.push(Rated { name, ..Rated::default() });
            sets.len() - 1
        });
        sets[at].push(story(record, "model", "prompt"), &ratings);
        Ok(())
    })?;
    Ok(Some(sets))
}

/// The machine stories of HANNA's first 48 prompts: 480, ten systems.
///
/// # Errors
/// Where the file is not what it was.
pub fn hanna_machine() -> Result<Option<Rated>> {
    let Some(path) = shared("data/annotated/hanna/stories_first48.jsonl.gz") else {
        return Ok(None);
    };
    let mut set = Rated { name: "hanna".to_owned(), ..Rated::default() };
    for_each_json(&path, |record| {
        if record["system"] == "Human" {
            return Ok(());
        }
        let raters = record["human"].as_array().ok_or("a record without ratings")?;
        let first = raters.first().and_then(Value::as_object).ok_or("a record without ratings")?;
        let mean = |criterion: &String| {
            let given: Vec<f64> =
                raters.iter().filter_map(|rater| rater[criterion].as_f64()).collect();
            given.iter().sum::<f64>() / given.len() as f64
        };
        let ratings: Vec<(String, f64)> =
            first.keys().map(|criterion| (criterion.clone(), mean(criterion))).collect();
        set.push(story(record, "system", "prompt_index"), &ratings);
        Ok(())
    })?;
    Ok(Some(set))
}

fn story(record: &Value, system: &str, item: &str) -> Story {
    let given = |field: &str| Some(text(record, field)).filter(|text| !text.trim().is_empty());
    let item = record[item].as_i64().map(|number| number.to_string()).or_else(|| given(item));
    Story {
        system: given(system),
        item,
        prompt: given("prompt"),
        text: text(record, "story"),
        references: given("reference").into_iter().collect(),
        ..Story::default()
    }
}

fn text(record: &Value, field: &str) -> String {
    record[field].as_str().unwrap_or_default().to_owned()
}

fn for_each_json(path: &Path, mut each: impl FnMut(&Value) -> Result<()>) -> Result<()> {
    for line in BufReader::new(GzDecoder::new(File::open(path)?)).lines() {
        each(&serde_json::from_str(&line?)?)?;
    }
    Ok(())
}
