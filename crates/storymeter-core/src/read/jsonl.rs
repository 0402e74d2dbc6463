//! Reads a JSON object as a story: storymeter's own layout, with one object per line, and the
//! records of other layouts that become objects.
//!
//! The fields are `id`, `system`, `item`, `prompt`, `story`, `reference` (a text or a list of
//! texts) and `human` (`{criterion: number | [numbers]}`, or a list of such objects with one per
//! rater), which may also be fields `human.CRITERION`. Only `story` is required. [`Field::names`]
//! lists the other names that are understood. A field that is given twice under one name is an
//! error. `null` is the same as no field, and in a list it is a missing rating. Other fields are
//! ignored.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::fields::{
    Current, FlatRatings, HeldFields, Label, NameSeed, Named, References, TWICE, describe, problem,
};
use super::names::{Candidate, Field, FieldNames, UsedNames};
use crate::{Error, Place, Ratings, Result, Story};

/// Parses one line.
pub(super) fn parse(line: &str, place: &Place, names: &FieldNames) -> Result<(Story, UsedNames)> {
    let object = Object::new(names);
    match object.read(line) {
        Ok(read) => object.story(read, place, || keys_of(line)),
        Err(e) => Err(Error::invalid(object.current.place(place), describe(&e))),
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
                Err(e) => Err(wrong(&object.current.place(place), &e)),
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
        Err(e) => Err(Error::invalid(object.current.place(place), describe(&e))),
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
    current: Current,
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
    /// The ratings of one field or of several.
    ratings: Option<Ratings>,
    used: UsedNames,
    /// Whether there is a field of each kind, `null` included.
    seen: [bool; Field::ALL.len()],
}

impl<'n> Object<'n> {
    fn new(names: &'n FieldNames) -> Self {
        Self { names, current: Current::default() }
    }

    fn read(&self, text: &str) -> serde_json::Result<Read> {
        let mut json = serde_json::Deserializer::from_str(text);
        let read = self.deserialize(&mut json)?;
        json.end()?;
        Ok(read)
    }

    /// A field begins, which errors name.
    fn begin(&self, candidate: Candidate) {
        self.current.set(self.names.name(candidate.field, candidate.position));
    }

    /// Checks that the fields that must be there are.
    fn story(
        &self,
        read: Read,
        place: &Place,
        keys: impl FnOnce() -> Vec<String>,
    ) -> Result<(Story, UsedNames)> {
        self.names.check(|field| read.seen[field as usize], "field", place, keys)?;
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
            ratings: read.ratings.unwrap_or_default(),
            ..Story::default()
        };
        Ok((story, read.used))
    }

    /// Reads the values that were held back, for fields that have no better name.
    fn finish<E: de::Error>(
        &self,
        mut read: Read,
        held: HeldFields,
        flat: FlatRatings,
    ) -> std::result::Result<Read, E> {
        for held in held.into_values() {
            let (field, position) = (held.candidate.field, held.candidate.position);
            if read.has(field) {
                read.used.pass_over(field, position);
                continue;
            }
            self.begin(held.candidate);
            match field {
                Field::Story => read.text = held.read()?,
                Field::System => read.system = held.read()?,
                Field::Id => read.id = held.read()?,
                Field::Item => read.item = held.read()?,
                Field::Prompt => read.prompt = held.read()?,
                Field::Reference => read.references = held.read()?,
                Field::Ratings => {
                    read.ratings = Some(held.ratings(self.names.name(field, position))?)
                }
            }
            read.used.take(field, position);
            self.current.clear();
        }
        read.ratings = Some(flat.join(read.ratings.take(), &self.current)?);
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
            Field::Ratings => self.ratings.is_some(),
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
        let (mut held, mut flat) = (HeldFields::default(), FlatRatings::default());
        // One bit per field whose most usual name was there.
        let mut standard = 0u8;
        while let Some(named) = map.next_key_seed(NameSeed(self.names))? {
            let candidate = match named {
                Named::Field(candidate) => candidate,
                Named::Ratings(name) => {
                    self.current.set(&name);
                    flat.take(&name, &mut map)?;
                    self.current.clear();
                    continue;
                }
                Named::Other(_) => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let field = candidate.field;
            read.seen[field as usize] = true;
            self.begin(candidate);
            if candidate.position == 0 && field != Field::Ratings {
                if standard >> (field as u8) & 1 == 1 {
                    return Err(de::Error::custom(TWICE));
                }
                standard |= 1 << (field as u8);
                match field {
                    Field::Story => read.text = map.next_value()?,
                    Field::System => read.system = map.next_value()?,
                    Field::Id => read.id = map.next_value()?,
                    Field::Item => read.item = map.next_value()?,
                    Field::Prompt => read.prompt = map.next_value()?,
                    Field::Reference => read.references = map.next_value()?,
                    Field::Ratings => {}
                }
                if read.has(field) {
                    read.used.take(field, 0);
                }
            } else {
                held.offer(candidate, map.next_value()?, &mut read.used);
            }
            self.current.clear();
        }
        self.finish(read, held, flat)
    }
}
