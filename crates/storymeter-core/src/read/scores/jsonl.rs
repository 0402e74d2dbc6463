//! Reads one JSON object per line, as `score -o X.jsonl` writes them.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Lines, MAX_COLUMNS};
use crate::read::fields::{Common, Given, Name, Progress};
use crate::read::lines::{Line, LineReader, is_blank};
use crate::read::shown::{cut, quoted};
use crate::read::utf8::utf8;
use crate::{Absence, Error, Place, Result, Row};

pub(super) fn read(mut lines: LineReader, path: &Path) -> Result<Lines> {
    let mut found = Lines::default();
    while let Some(line) = lines.next()? {
        let place = Place::file(path).at_line(lines.number());
        let text = match line {
            Line::Text(bytes) if is_blank(&bytes) => continue,
            Line::Text(bytes) => utf8(bytes, &place)?,
            Line::Broken(problem) => return Err(Error::invalid(place, problem)),
        };
        let (given, scores, reasons) = parse(&text, &place)?;
        let row = found.rows.len();
        for (key, cell) in scores.0 {
            let wrong = |problem: String| {
                let field = place.clone().in_field(format!("scores.{}", cut(&key)));
                Error::invalid(field, problem)
            };
            let value = match &cell {
                Cell::Number(number) if number.is_finite() => Ok(*number),
                Cell::Null => Err(reasons.get(&key).cloned().unwrap_or(Absence::NotGiven)),
                cell => return Err(wrong(format!("{cell} is not a finite number"))),
            };
            let column = found.column(&key, &place)?;
            if found.values[column].last().is_some_and(|&(last, _)| last == row) {
                return Err(wrong("the field is given twice".into()));
            }
            found.values[column].push((row, value));
        }
        let id = given.id.unwrap_or_else(|| row.to_string());
        found.rows.push(Row {
            item: given.item.unwrap_or_else(|| id.clone()),
            id,
            system: given.system,
            ratings: given.ratings,
            line: Some(lines.number()),
        });
    }
    Ok(found)
}

/// The parts of one line.
type Parts = (Given, Members, HashMap<String, Absence>);

fn parse(line: &str, place: &Place) -> Result<Parts> {
    let progress = Progress::default();
    let mut json = serde_json::Deserializer::from_str(line);
    let object = Object { progress: &progress };
    let parts = object.deserialize(&mut json).and_then(|parts| json.end().map(|()| parts));
    parts.map_err(|e| progress.error(place, &e))
}

struct Object<'p> {
    progress: &'p Progress,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Parts;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Parts, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the fields of a story and `scores`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Parts, A::Error> {
        let mut common = Common::default();
        let [mut scores, mut absent]: [Option<Members>; 2] = Default::default();
        while let Some(name) = map.next_key::<Name>()? {
            // A line of scores may also have the story, whose text is of no use here.
            let ignored = [Name::Story, Name::Prompt, Name::Reference, Name::Unknown];
            if ignored.contains(&name) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            self.progress.begin(name)?;
            match name {
                Name::Scores => scores = map.next_value()?,
                Name::Absent => {
                    absent = map.next_value()?;
                    check_once(absent.as_ref())?;
                }
                name => common.take(name, &mut map)?,
            }
            self.progress.end();
        }
        let reasons = absent.unwrap_or_default().reasons();
        Ok((common.finish(self.progress)?, scores.unwrap_or_default(), reasons))
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
