//! What `storymeter score` writes: scores, and ratings where the story had some, but no text.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::ReadOptions;
use super::jsonl::{Judgments, Label, describe};
use super::lines::{Line, LineReader, is_blank};
use super::raw::utf8;
use super::source::Source;
use crate::{Error, Place, Ratings, Result};

/// One story's scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The story's id; its 0-based line number where the file gives none.
    pub id: String,
    /// Who wrote the story.
    pub system: Option<String>,
    /// What story-level correlation groups by.
    pub item: Option<String>,
    /// Metric and score in the file's order; NaN where the file says `null`.
    pub scores: Vec<(String, f64)>,
    /// Human ratings, empty where the file has none.
    pub ratings: Ratings,
    /// Where the line stands.
    pub place: Place,
}

#[derive(Deserialize)]
struct Object {
    #[serde(alias = "story_id")]
    id: Option<Label>,
    #[serde(alias = "model")]
    system: Option<Label>,
    #[serde(alias = "prompt_index")]
    item: Option<Label>,
    #[serde(default)]
    scores: Option<Map<String, Value>>,
    #[serde(alias = "ratings")]
    human: Option<Judgments>,
}

/// Reads JSONL of the form `{"id", "system", "item", "scores": {metric: number}, "human"?}`, gzipped or not.
///
/// A line without `scores` has none: so the same function reads ratings given by id. Other fields are ignored.
pub fn scored(path: &Path) -> Result<Vec<Scored>> {
    let max = ReadOptions::default().max_line;
    let mut lines = LineReader::new(Source::open(path, None)?.into_stream(), path, max);
    let mut records = Vec::new();
    while let Some(line) = lines.next()? {
        let place = Place::file(path).at_line(lines.number());
        let text = match line {
            Line::Text(bytes) if is_blank(&bytes) => continue,
            Line::Text(bytes) => utf8(bytes, &place)?,
            Line::Broken(problem) => return Err(Error::invalid(place, problem)),
        };
        let object: Object =
            serde_json::from_str(&text).map_err(|e| Error::invalid(place.clone(), describe(&e)))?;
        let mut scores = Vec::new();
        for (metric, value) in object.scores.unwrap_or_default() {
            let number = match &value {
                Value::Null => f64::NAN,
                value => value.as_f64().ok_or_else(|| {
                    let field = place.clone().in_field(format!("scores.{metric}"));
                    Error::invalid(field, format!("{value} is not a number"))
                })?,
            };
            scores.push((metric, number));
        }
        let label = |label: Option<Label>| label.map(|label| label.0);
        records.push(Scored {
            id: label(object.id).unwrap_or_else(|| records.len().to_string()),
            system: label(object.system),
            item: label(object.item),
            scores,
            ratings: object.human.map(|judgments| judgments.0).unwrap_or_default(),
            place,
        });
    }
    if records.is_empty() {
        return Err(Error::invalid(Place::file(path), "no line of scores is in the file"));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<Vec<Scored>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scores.jsonl");
        std::fs::write(&path, content).unwrap();
        scored(&path)
    }

    #[test]
    fn scores_keep_their_order_and_null_is_missing() {
        let records = read(
            "{\"id\": 7, \"system\": \"GPT\", \"scores\": {\"ter\": 0.5, \"bleu\": null}, \"human\": {\"fun\": [1, 3]}}\n\n\
             {\"scores\": {\"ter\": 2}}\n",
        )
        .unwrap();
        assert_eq!((records[0].id.as_str(), records[1].id.as_str()), ("7", "1"));
        assert_eq!(records[0].scores[0], ("ter".to_owned(), 0.5));
        assert!(records[0].scores[1].1.is_nan());
        assert_eq!(records[0].ratings.mean("fun"), Some(2.0));
    }

    #[test]
    fn a_score_that_is_no_number_is_named() {
        let message =
            read("{\"id\": \"a\", \"scores\": {\"bleu\": \"high\"}}\n").unwrap_err().to_string();
        assert!(
            message.ends_with(":1: field \"scores.bleu\": \"high\" is not a number"),
            "{message}"
        );
        assert!(read("\n").unwrap_err().to_string().ends_with("no line of scores is in the file"));
    }
}
