//! Reads one JSON object per line, as `score -o X.jsonl` writes them. Where no line has the field
//! `scores`, other fields with numbers are scores, as columns of numbers are in a table.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Lines, MAX_COLUMNS, text_fields};
use crate::read::fields::{
    Current, FlatRatings, HeldFields, Label, NameSeed, Named, TWICE, describe,
};
use crate::read::lines::{Line, LineReader, is_blank};
use crate::read::names::{Candidate, Field, FieldNames, UsedNames};
use crate::read::shown::{cut, quoted};
use crate::read::utf8::utf8;
use crate::write::{FLAGS, WORDS};
use crate::{Absence, Error, Place, Ratings, Result, Row};

pub(super) fn read(mut lines: LineReader, path: &Path) -> Result<Lines> {
    let (mut found, mut used) = (Lines::default(), UsedNames::default());
    // Scores that stand among the fields count only if no line has the field `scores`.
    let (mut flat, mut has_scores) = (Lines::default(), false);
    let mut has_ids = false;
    while let Some(line) = lines.next()? {
        let place = Place::file(path).at_line(lines.number());
        let text = match line {
            Line::Text(bytes) if is_blank(&bytes) => continue,
            Line::Text(bytes) => utf8(bytes, &place)?,
            Line::Broken(problem) => return Err(Error::invalid(place, problem)),
        };
        let parts = parse(&text, &place)?;
        used.merge(parts.used);
        let row = found.rows.len();
        has_scores |= parts.scores.is_some();
        let scores = parts.scores.unwrap_or_default();
        found.add_scores(row, scores, &parts.reasons, "scores.", &place)?;
        if !has_scores {
            flat.add_scores(row, parts.flat, &parts.reasons, "", &place)?;
        }
        let item = parts.item.or(parts.prompt);
        has_ids |= parts.id.is_some();
        let id = parts.id.or_else(|| item.clone()).map_or_else(|| row.to_string(), |id| id.0);
        found.rows.push(Row {
            item: item.map_or_else(|| id.clone(), |item| item.0),
            id,
            system: parts.system.map(|system| system.0),
            ratings: parts.ratings,
            words: parts.words,
            flags: parts.flags,
            line: Some(lines.number()),
            ..Row::default()
        });
    }
    if !has_scores {
        found.take_scores(flat);
    }
    if !has_ids {
        found.number_repeated_items();
    }
    found.note_names(&used, path);
    Ok(found)
}

impl Lines {
    /// Adds the scores of a row. Errors name them after `field`.
    fn add_scores(
        &mut self,
        row: usize,
        scores: Members,
        reasons: &HashMap<String, Absence>,
        field: &str,
        place: &Place,
    ) -> Result<()> {
        for (key, cell) in scores.0 {
            let wrong = |problem: String| {
                let field = place.clone().in_field(format!("{field}{}", cut(&key)));
                Error::invalid(field, problem)
            };
            let value = match &cell {
                Cell::Number(number) if number.is_finite() => Ok(*number),
                Cell::Null => Err(reasons.get(&key).cloned().unwrap_or(Absence::NotGiven)),
                cell => return Err(wrong(format!("{cell} is not a finite number"))),
            };
            let column = self.column(&key, place)?;
            if self.values[column].last().is_some_and(|&(last, _)| last == row) {
                return Err(wrong(TWICE.into()));
            }
            self.values[column].push((row, value));
        }
        Ok(())
    }

    /// Takes the columns of `other` that have a number.
    fn take_scores(&mut self, other: Self) {
        for (key, values) in other.keys.into_iter().zip(other.values) {
            if values.iter().any(|(_, value)| value.is_ok()) {
                self.columns.insert(key.to_string(), self.keys.len());
                self.keys.push(key);
                self.values.push(values);
            }
        }
    }
}

/// One line.
#[derive(Default)]
struct Parts {
    id: Option<Label>,
    system: Option<Label>,
    item: Option<Label>,
    prompt: Option<Label>,
    ratings: Ratings,
    scores: Option<Members>,
    /// Numbers in other fields, which are scores if there is no field `scores`.
    flat: Members,
    reasons: HashMap<String, Absence>,
    /// What is said about the text; in lines without the field `scores` these are the names of
    /// scores.
    text_fields: Vec<(String, serde_json::Value)>,
    words: Option<u64>,
    flags: Vec<String>,
    used: UsedNames,
}

fn parse(line: &str, place: &Place) -> Result<Parts> {
    let object = Object { names: &FieldNames::default(), current: Current::default() };
    let mut json = serde_json::Deserializer::from_str(line);
    let parts = (&object).deserialize(&mut json).and_then(|parts| json.end().map(|()| parts));
    let mut parts = parts.map_err(|e| Error::invalid(object.current.place(place), describe(&e)))?;
    if parts.scores.is_some() {
        parts.take_text_fields(place)?;
    }
    Ok(parts)
}

impl Parts {
    /// Takes what a line of ours says about the text.
    fn take_text_fields(&mut self, place: &Place) -> Result<()> {
        let fields = std::mem::take(&mut self.text_fields);
        for (at, (name, value)) in fields.iter().enumerate() {
            let wrong = |problem: String| Error::invalid(place.clone().in_field(name), problem);
            if fields[..at].iter().any(|(before, _)| before == name) {
                return Err(wrong(TWICE.to_owned()));
            }
            match name.as_str() {
                WORDS => self.words = text_fields::words(value).map_err(wrong)?,
                _ => self.flags = text_fields::flags(value).map_err(wrong)?,
            }
        }
        Ok(())
    }
}

struct Object<'n> {
    names: &'n FieldNames,
    current: Current,
}

impl<'de> DeserializeSeed<'de> for &Object<'_> {
    type Value = Parts;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Parts, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &Object<'_> {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a story and `scores`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Parts, A::Error> {
        let mut parts = Parts::default();
        let (mut held, mut flat) = (HeldFields::default(), FlatRatings::default());
        let [mut scores, mut absent]: [Option<Option<Members>>; 2] = Default::default();
        while let Some(named) = map.next_key_seed(NameSeed(self.names))? {
            match named {
                // A line of scores may also have the story, whose text is of no use here.
                Named::Field(Candidate { field: Field::Story | Field::Reference, .. }) => {
                    map.next_value::<IgnoredAny>()?;
                }
                Named::Field(candidate) => {
                    self.current.set(self.names.name(candidate.field, candidate.position));
                    held.offer(candidate, map.next_value()?, &mut parts.used);
                }
                Named::Ratings(name) => {
                    self.current.set(&name);
                    flat.take(&name, &mut map)?;
                }
                Named::Other(name) => {
                    self.current.set(&name);
                    match name.as_str() {
                        "scores" => once(&mut scores, &mut map)?,
                        "absent" => {
                            once(&mut absent, &mut map)?;
                            check_once(absent.as_ref().and_then(Option::as_ref))?;
                        }
                        WORDS | FLAGS => {
                            let value: serde_json::Value = map.next_value()?;
                            if value.is_number() || value.is_null() {
                                let cell = value.as_f64().map_or(Cell::Null, Cell::Number);
                                parts.flat.0.push((name.clone(), cell));
                            }
                            parts.text_fields.push((name, value));
                        }
                        _ => {
                            let cell = map.next_value()?;
                            if matches!(cell, Cell::Number(_) | Cell::Null) {
                                parts.flat.0.push((name, cell));
                            }
                        }
                    }
                }
            }
            self.current.clear();
        }
        let mut judged = None;
        for held in held.into_values() {
            let (field, position) = (held.candidate.field, held.candidate.position);
            self.current.set(self.names.name(field, position));
            match field {
                Field::Id => parts.id = held.read()?,
                Field::System => parts.system = held.read()?,
                Field::Item => parts.item = held.read()?,
                Field::Ratings => judged = Some(held.ratings(self.names.name(field, position))?),
                Field::Prompt => parts.prompt = held.read()?,
                Field::Story | Field::Reference => {}
            }
            parts.used.take(field, position);
            self.current.clear();
        }
        parts.ratings = flat.join(judged, &self.current)?;
        parts.scores = scores.flatten();
        parts.reasons = absent.flatten().unwrap_or_default().reasons();
        Ok(parts)
    }
}

/// Reads the members of a field that may be given once.
fn once<'de, A: MapAccess<'de>>(
    members: &mut Option<Option<Members>>,
    map: &mut A,
) -> std::result::Result<(), A::Error> {
    match members.replace(map.next_value()?) {
        Some(_) => Err(de::Error::custom(TWICE)),
        None => Ok(()),
    }
}

/// The reasons in the JSON object `absent`.
#[cfg(feature = "parquet")]
pub(super) fn reasons(absent: &str) -> serde_json::Result<HashMap<String, Absence>> {
    let absent: Option<Members> = serde_json::from_str(absent)?;
    check_once(absent.as_ref())?;
    Ok(absent.unwrap_or_default().reasons())
}

fn check_once<E: de::Error>(absent: Option<&Members>) -> std::result::Result<(), E> {
    let mut seen = std::collections::HashSet::new();
    let mut keys = absent.into_iter().flat_map(|members| &members.0).map(|(key, _)| key);
    match keys.find(|key| !seen.insert(key.as_str())) {
        Some(key) => Err(E::custom(format!("the key {} is given twice", quoted(key)))),
        None => Ok(()),
    }
}

/// The members of an object, in order.
#[derive(Default)]
struct Members(Vec<(String, Cell)>);

impl Members {
    /// Why values are absent, by key.
    fn reasons(self) -> HashMap<String, Absence> {
        let reason = |(key, cell): (String, Cell)| match cell {
            Cell::Text(reason) => Some((key, Absence::because(reason))),
            _ => None,
        };
        self.0.into_iter().filter_map(reason).collect()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with one member per key")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    if members.len() == MAX_COLUMNS {
                        return Err(de::Error::custom(format!("more than {MAX_COLUMNS} keys")));
                    }
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// The value of a member. Lists and objects have no use here and are not kept.
enum Cell {
    Null,
    Number(f64),
    Text(String),
    Other(&'static str),
}

/// The value as a message shows it.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Other(what) => f.write_str(what),
        }
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct CellVisitor;
        impl<'de> Visitor<'de> for CellVisitor {
            type Value = Cell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or null")
            }

            fn visit_unit<E: de::Error>(self) -> std::result::Result<Cell, E> {
                Ok(Cell::Null)
            }

            fn visit_bool<E: de::Error>(self, truth: bool) -> std::result::Result<Cell, E> {
                Ok(Cell::Other(if truth { "true" } else { "false" }))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Cell, E> {
                Ok(Cell::Number(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Cell, E> {
                Ok(Cell::Number(number as f64))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Cell, E> {
                Ok(Cell::Number(number as f64))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Cell, E> {
                Ok(Cell::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> std::result::Result<Cell, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Cell::Other("a list"))
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Cell, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Cell::Other("an object"))
            }
        }
        deserializer.deserialize_any(CellVisitor)
    }
}
