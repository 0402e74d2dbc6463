//! Reads one JSON object per line, as `score -o X.jsonl` writes them.

use std::path::Path;

use serde::Deserialize;
use serde_json::Map;

use super::Lines;
use crate::read::jsonl::{Judgments, Label, describe};
use crate::read::lines::{Line, LineReader, is_blank};
use crate::read::raw::utf8;
use crate::{Absence, Error, Place, Result, Row};

#[derive(Deserialize)]
struct Object {
    #[serde(alias = "story_id")]
    id: Option<Label>,
    #[serde(alias = "model")]
    system: Option<Label>,
    #[serde(alias = "prompt_index")]
    item: Option<Label>,
    #[serde(default)]
    scores: Option<Map<String, serde_json::Value>>,
    #[serde(default)]
    absent: Option<Map<String, serde_json::Value>>,
    #[serde(alias = "ratings")]
    human: Option<Judgments>,
}

pub(super) fn read(mut lines: LineReader, path: &Path) -> Result<Lines> {
    let mut found = Lines { rows: Vec::new(), keys: Vec::new(), values: Vec::new() };
    while let Some(line) = lines.next()? {
        let place = Place::file(path).at_line(lines.number());
        let text = match line {
            Line::Text(bytes) if is_blank(&bytes) => continue,
            Line::Text(bytes) => utf8(bytes, &place)?,
            Line::Broken(problem) => return Err(Error::invalid(place, problem)),
        };
        let object: Object =
            serde_json::from_str(&text).map_err(|e| Error::invalid(place.clone(), describe(&e)))?;
        let row = found.rows.len();
        let reasons = object.absent.unwrap_or_default();
        for (key, value) in object.scores.unwrap_or_default() {
            let value = match &value {
                serde_json::Value::Null => Err(reason(reasons.get(&key))),
                value => {
                    Ok(value.as_f64().filter(|number| number.is_finite()).ok_or_else(|| {
                        let field = place.clone().in_field(format!("scores.{key}"));
                        Error::invalid(field, format!("{value} is not a finite number"))
                    })?)
                }
            };
            let column = found.column(&key);
            found.values[column].push((row, value));
        }
        let label = |label: Option<Label>| label.map(|label| label.0);
        let id = label(object.id).unwrap_or_else(|| row.to_string());
        found.rows.push(Row {
            item: label(object.item).unwrap_or_else(|| id.clone()),
            id,
            system: label(object.system),
            ratings: object.human.map(|judgments| judgments.0).unwrap_or_default(),
            line: Some(lines.number()),
        });
    }
    Ok(found)
}

fn reason(given: Option<&serde_json::Value>) -> Absence {
    match given.and_then(serde_json::Value::as_str) {
        Some(reason) => Absence::because(reason),
        None => Absence::NotGiven,
    }
}
