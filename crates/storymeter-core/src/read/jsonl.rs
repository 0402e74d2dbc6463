//! Reads a JSON object as a story: storymeter's own layout, with one object per line, and the
//! records of other layouts that become objects.
//!
//! The fields are `id`, `system`, `item`, `prompt`, `story`, `reference` (a text or a list of
//! texts) and `human` (`{criterion: number | [numbers]}`, or a list of such objects with one per
//! rater). Only `story` is required. [`Field::names`] lists the other names that are understood. A
//! field that is given twice under one name is an error. `null` is the same as no field, and in a
//! list it is a missing rating. Other fields are ignored.

use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::{Judgments, Label, References, describe, problem};
use super::names::{Candidate, Field, FieldNames, UsedNames};
use crate::{Error, Place, Result, Story};

/// Parses one line.
pub(super) fn parse(line: &str, place: &Place, names: &FieldNames) -> Result<(Story, UsedNames)> {
    let object = Object::new(names);
    match object.read(line) {
        Ok(read) => object.story(read, place, || keys_of(line)),
        Err(e) => Err(Error::invalid(object.place(place), describe(&e))),
    }
}

/// Parses a record of a JSON document: an object, which may span lines, or a text.
pub(super) fn parse_element(
    element: &str,
    place: &Place,
    names: &FieldNames,
) -> Result<(Story, UsedNames)> {
    let wrong = |place: &Place, e: &serde_json::Error| {
        let line = place.line.map(|line| line + (e.line() as u64).saturating_sub(1));
        Error::invalid(Place { line, ..place.clone() }, format!("wrong JSON: {}", problem(e)))
    };
    match element.as_bytes().first() {
        Some(b'"') => {
            let text = serde_json::from_str(element).map_err(|e| wrong(place, &e))?;
            Ok((Story { text, ..Story::default() }, UsedNames::default()))
        }
        Some(b'{') => {
            let object = Object::new(names);
            match object.read(element) {
                Ok(read) => object.story(read, place, || keys_of(element)),
                Err(e) => Err(wrong(&object.place(place), &e)),
            }
        }
        _ => {
            let problem = "the record is neither an object nor a text in quotes";
            Err(Error::invalid(place.clone(), problem))
        }
    }
}

/// Parses a record of another layout that was turned into JSON: an object, or the text of a story.
pub(super) fn parse_value(
    value: Value,
    place: &Place,
    names: &FieldNames,
) -> Result<(Story, UsedNames)> {
    match value {
        Value::String(text) => {
            return Ok((Story { text, ..Story::default() }, UsedNames::default()));
        }
        Value::Null => return Err(Error::invalid(place.clone(), "the story is null")),
        _ => {}
    }
    let object = Object::new(names);
    match (&object).deserialize(value) {
        // That the columns are there was seen before the first row was read.
        Ok(read) => object.story(read, place, Vec::new),
        Err(e) => Err(Error::invalid(object.place(place), describe(&e))),
    }
}

/// The largest number of names that an error collects. It shows fewer.
const MAX_KEYS: usize = 1000;

/// The names of the fields of an object.
fn keys_of(object: &str) -> Vec<String> {
    struct Keys(Vec<String>);
    impl<'de> Deserialize<'de> for Keys {
        fn deserialize<D: Deserializer<'de>>(
            deserializer: D,
        ) -> std::result::Result<Self, D::Error> {
            struct KeysVisitor;
            impl<'de> Visitor<'de> for KeysVisitor {
                type Value = Keys;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> std::result::Result<Keys, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, IgnoredAny)) = map.next_entry::<String, _>()? {
                        if keys.len() < MAX_KEYS {
                            keys.push(key);
                        }
                    }
                    Ok(Keys(keys))
                }
            }
            deserializer.deserialize_map(KeysVisitor)
        }
    }
    serde_json::from_str(object).map_or_else(|_| Vec::new(), |Keys(keys)| keys)
}

/// Reads the fields of an object.
struct Object<'n> {
    names: &'n FieldNames,
    /// The field that is being read, which an error names.
    current: Cell<Option<Candidate>>,
}

/// The fields of an object, each under the most usual of its names.
#[derive(Default)]
struct Read {
    text: Option<String>,
    system: Option<Label>,
    id: Option<Label>,
    item: Option<Label>,
    prompt: Option<String>,
    references: Option<References>,
    judgments: Option<Judgments>,
    used: UsedNames,
    /// Whether there is a field of each kind, `null` included.
    seen: [bool; Field::ALL.len()],
}

/// A value under a name that is not the most usual one. It is read only if no better name is found.
struct Held {
    candidate: Candidate,
    value: Box<RawValue>,
    twice: bool,
}

impl<'n> Object<'n> {
    fn new(names: &'n FieldNames) -> Self {
        Self { names, current: Cell::new(None) }
    }

    fn read(&self, text: &str) -> serde_json::Result<Read> {
        let mut json = serde_json::Deserializer::from_str(text);
        let read = self.deserialize(&mut json)?;
        json.end()?;
        Ok(read)
    }

    /// The place, narrowed to the field that was being read.
    fn place(&self, place: &Place) -> Place {
        match self.current.get() {
            Some(candidate) => {
                let name = self.names.name(candidate.field, candidate.position());
                place.clone().in_field(super::shown::cut(name))
            }
            None => place.clone(),
        }
    }

    /// Checks that the fields that must be there are.
    fn story(
        &self,
        read: Read,
        place: &Place,
        keys: impl Fn() -> Vec<String>,
    ) -> Result<(Story, UsedNames)> {
        for field in Field::ALL {
            let needed = field == Field::Story || self.names.given(field).is_some();
            if needed && !read.seen[field as usize] {
                return Err(self.names.missing(field, "field", place.clone(), keys()));
            }
        }
        let Some(text) = read.text else {
            let name = super::shown::cut(self.names.name(Field::Story, 0));
            return Err(Error::invalid(place.clone().in_field(name), "the story is null"));
        };
        let label = |label: Option<Label>| label.map(|label| label.0);
        let story = Story {
            id: label(read.id).unwrap_or_default(),
            system: label(read.system),
            item: label(read.item),
            prompt: read.prompt,
            text,
            references: read.references.map(|references| references.0).unwrap_or_default(),
            ratings: read.judgments.map(|judgments| judgments.0).unwrap_or_default(),
            ..Story::default()
        };
        Ok((story, read.used))
    }

    /// Reads the values that were held back, for fields that have no better name.
    fn finish<E: de::Error>(
        &self,
        mut read: Read,
        held: [Option<Held>; Field::ALL.len()],
    ) -> std::result::Result<Read, E> {
        for held in held.into_iter().flatten() {
            let Held { candidate, value, twice } = held;
            let (field, position) = (candidate.field, candidate.position());
            if read.has(field) {
                read.used.pass_over(field, position);
                continue;
            }
            self.current.set(Some(candidate));
            if twice {
                return Err(E::custom("the field is given twice"));
            }
            let json = value.get();
            let wrong = |e: serde_json::Error| E::custom(problem(&e));
            match field {
                Field::Story => read.text = serde_json::from_str(json).map_err(wrong)?,
                Field::System => read.system = serde_json::from_str(json).map_err(wrong)?,
                Field::Id => read.id = serde_json::from_str(json).map_err(wrong)?,
                Field::Item => read.item = serde_json::from_str(json).map_err(wrong)?,
                Field::Prompt => read.prompt = serde_json::from_str(json).map_err(wrong)?,
                Field::Reference => read.references = serde_json::from_str(json).map_err(wrong)?,
                Field::Ratings => read.judgments = serde_json::from_str(json).map_err(wrong)?,
            }
            read.used.take(field, position);
            self.current.set(None);
        }
        Ok(read)
    }
}

impl Read {
    fn has(&self, field: Field) -> bool {
        match field {
            Field::Story => self.text.is_some(),
            Field::System => self.system.is_some(),
            Field::Id => self.id.is_some(),
            Field::Item => self.item.is_some(),
            Field::Prompt => self.prompt.is_some(),
            Field::Reference => self.references.is_some(),
            Field::Ratings => self.judgments.is_some(),
        }
    }
}

impl<'de> DeserializeSeed<'de> for &Object<'_> {
    type Value = Read;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Read, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &Object<'_> {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the field `story`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Read, A::Error> {
        let mut read = Read::default();
        let mut held: [Option<Held>; Field::ALL.len()] = Default::default();
        // One bit per field whose most usual name was there.
        let mut standard = 0u8;
        while let Some(found) = map.next_key_seed(Key(self.names))? {
            let Some(candidate) = found else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let field = candidate.field;
            read.seen[field as usize] = true;
            self.current.set(Some(candidate));
            if candidate.rank == 0 {
                if standard >> (field as u8) & 1 == 1 {
                    return Err(de::Error::custom("the field is given twice"));
                }
                standard |= 1 << (field as u8);
                match field {
                    Field::Story => read.text = map.next_value()?,
                    Field::System => read.system = map.next_value()?,
                    Field::Id => read.id = map.next_value()?,
                    Field::Item => read.item = map.next_value()?,
                    Field::Prompt => read.prompt = map.next_value()?,
                    Field::Reference => read.references = map.next_value()?,
                    Field::Ratings => read.judgments = map.next_value()?,
                }
                if read.has(field) {
                    read.used.take(field, 0);
                }
            } else {
                let value: Box<RawValue> = map.next_value()?;
                let held = &mut held[field as usize];
                match held {
                    _ if value.get() == "null" => {}
                    Some(better) if better.candidate.rank < candidate.rank => {
                        read.used.pass_over(field, candidate.position());
                    }
                    Some(same) if same.candidate.rank == candidate.rank => same.twice = true,
                    _ => {
                        if let Some(worse) = held.take() {
                            read.used.pass_over(field, worse.candidate.position());
                        }
                        *held = Some(Held { candidate, value, twice: false });
                    }
                }
            }
            self.current.set(None);
        }
        self.finish(read, held)
    }
}

/// Reads a key, and says which field it is the name of.
struct Key<'n>(&'n FieldNames);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<Candidate>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<Candidate>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<Self::Value, E> {
        Ok(self.0.find(name))
    }
}
