//! The rated sets of the shared data.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use storymeter::core::Story;
use storymeter::core::read::{Format, ReadOptions, open};

use crate::{Error, Result, shared};

/// Stories with human judgments, one number per story and criterion.
#[derive(Debug, Clone, Default)]
pub struct Rated {
    /// The name of the set.
    pub name: String,
    /// The stories.
    pub stories: Vec<Story>,
    /// The mean rating of every story, by criterion. Where there are several criteria, the last
    /// one, "mean", is their mean.
    pub criteria: Vec<(String, Vec<f64>)>,
}

impl Rated {
    /// The mean rating of every story over all criteria: the last criterion.
    pub fn mean(&self) -> &[f64] {
        self.criteria.last().map_or(&[], |(_, values)| values)
    }

    /// The set without the stories that are not kept.
    fn keep(mut self, kept: impl Fn(&Story) -> bool) -> Self {
        let kept: Vec<bool> = self.stories.iter().map(kept).collect();
        let mut at = kept.iter();
        self.stories.retain(|_| at.next() == Some(&true));
        for (_, values) in &mut self.criteria {
            let mut at = kept.iter();
            values.retain(|_| at.next() == Some(&true));
        }
        self
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
    /// The mean of seven binary ratings of each story.
    pub human: Vec<f64>,
    /// How many of the seven raters gave each answer: reasonable, then the five error types.
    pub answers: Vec<[usize; 6]>,
}

/// Reads `annotated/union_roc`.
///
/// # Errors
/// If the files are absent or do not have their layout.
pub fn union_roc() -> Result<UnionRoc> {
    let folder = shared("data/annotated/union_roc")?;
    let options = ReadOptions { format: Some(Format::UnionAnnotations), ..ReadOptions::default() };
    let (mut stories, mut human) = (Vec::new(), Vec::new());
    for record in open(&[folder.join("ant_data.txt")], &options)? {
        let story = record?.story;
        let criterion = story.ratings.iter().next().map(|(criterion, _)| criterion);
        let mean = criterion.and_then(|criterion| story.ratings.mean(criterion));
        human.push(mean.ok_or_else(|| Error::failed("ant_data.txt: a story without ratings"))?);
        stories.push(story);
    }
    let text = std::fs::read_to_string(folder.join("ant_data_all.txt"))?;
    let answers = text
        .lines()
        .map(|line| {
            let mut counts = [0; 6];
            for answer in line.rsplit("|||").next().unwrap_or_default().split_whitespace() {
                let unknown = || Error::failed("ant_data_all.txt: an unknown error type");
                *counts.get_mut(answer.parse::<usize>()?).ok_or_else(unknown)? += 1;
            }
            Ok(counts)
        })
        .collect::<Result<Vec<_>>>()?;
    if answers.len() != stories.len() {
        return Err(Error::failed("ant_data.txt and ant_data_all.txt differ in length"));
    }
    Ok(UnionRoc { stories, human, answers })
}

/// Reads `annotated/other`, one set per study.
///
/// # Errors
/// If the file is absent or does not have its layout.
pub fn other() -> Result<Vec<Rated>> {
    let path = shared("data/annotated/other/annotated.jsonl.gz")?;
    let mut sets: Vec<Rated> = Vec::new();
    for_each_json(&path, |record| {
        let name = text(record, "dataset");
        let ratings = record["ratings"].as_object().ok_or_else(unrated)?;
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
        let id = format!("{}-{}", sets[at].name, record["id"]);
        let mut story = story(record, id, "model", "prompt");
        story.item.get_or_insert_with(|| record["id"].to_string());
        sets[at].push(story, &ratings);
        Ok(())
    })?;
    Ok(sets)
}

/// Reads the machine-written stories for HANNA's first 48 prompts: 480 stories of ten systems.
///
/// # Errors
/// If the file is absent or does not have its layout.
pub fn hanna_machine() -> Result<Rated> {
    Ok(hanna()?.keep(is_machine_story))
}

/// Whether a story of HANNA was written by a machine.
pub(crate) fn is_machine_story(story: &Story) -> bool {
    story.system.as_deref() != Some("Human")
}

/// The stories for HANNA's first 48 prompts, with the 72 published scores of each.
pub(crate) const HANNA_STORIES: &str = "data/annotated/hanna/stories_first48.jsonl.gz";

/// Reads all stories for HANNA's first 48 prompts: those of ten systems, and one by a person for
/// each prompt.
///
/// # Errors
/// If the file is absent or does not have its layout.
pub fn hanna() -> Result<Rated> {
    let mut set = Rated { name: "hanna".to_owned(), ..Rated::default() };
    for_each_json(&shared(HANNA_STORIES)?, |record| {
        let raters = record["human"].as_array().ok_or_else(unrated)?;
        let first = raters.first().and_then(Value::as_object).ok_or_else(unrated)?;
        let mean = |criterion: &String| {
            let given: Vec<f64> =
                raters.iter().filter_map(|rater| rater[criterion].as_f64()).collect();
            given.iter().sum::<f64>() / given.len() as f64
        };
        let ratings: Vec<(String, f64)> =
            first.keys().map(|criterion| (criterion.clone(), mean(criterion))).collect();
        let id = format!("{}-{}", set.name, record["story_id"]);
        set.push(story(record, id, "system", "prompt_index"), &ratings);
        Ok(())
    })?;
    Ok(set)
}

fn unrated() -> Error {
    Error::failed("a record without ratings")
}

fn story(record: &Value, id: String, system: &str, item: &str) -> Story {
    let given = |field: &str| Some(text(record, field)).filter(|text| !text.trim().is_empty());
    let item = record[item].as_i64().map(|number| number.to_string()).or_else(|| given(item));
    Story {
        id,
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

pub(crate) fn for_each_json(path: &Path, mut each: impl FnMut(&Value) -> Result<()>) -> Result<()> {
    for line in BufReader::new(GzDecoder::new(File::open(path)?)).lines() {
        each(&serde_json::from_str(&line?)?)?;
    }
    Ok(())
}
