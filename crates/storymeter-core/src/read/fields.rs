//! The fields of a JSON object that is a story or a line of scores, and what their values may be.
//!
//! No field may be given twice under one name, because one of the values would be lost. Under two
//! names, the more usual one is taken ([`names`](super::names)). `null` is the same as no field.
//!
//! The types below have visitors of their own, because the errors of serde's untagged enums do not
//! say what is wrong.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::Visitor;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::names::{Candidate, Field, FieldNames, UsedNames, rated};
use super::shown::{cut, quoted, shortened};
use crate::{Place, Ratings};

/// What the name of a field of an object stands for.
pub(super) enum Named {
    /// A field of stories.
    Field(Candidate),
    /// Ratings on one criterion, with the whole name.
    Ratings(String),
    /// Any other name.
    Other(String),
}

/// Reads the name of a field.
pub(super) struct NameSeed<'n>(pub &'n FieldNames);

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = Named;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Named, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Named, E> {
        Ok(match self.0.find(name) {
            Some(candidate) => Named::Field(candidate),
            None if rated(name).is_some() => Named::Ratings(name.to_owned()),
            None => Named::Other(name.to_owned()),
        })
    }
}

/// The field that is being read, which an error names.
#[derive(Default)]
pub(super) struct Current(RefCell<Option<String>>);

impl Current {
    pub fn set(&self, name: &str) {
        let mut current = self.0.borrow_mut();
        let name_now = current.get_or_insert_default();
        name_now.clear();
        name_now.push_str(name);
    }

    pub fn clear(&self) {
        // The room for the next name is kept.
        if let Some(name) = self.0.borrow_mut().as_mut() {
            name.clear();
        }
    }

    /// A place, narrowed to the field.
    pub fn place(&self, place: &Place) -> Place {
        match self.0.borrow().as_deref() {
            None | Some("") => place.clone(),
            Some(name) => place.clone().in_field(cut(name)),
        }
    }
}

/// A value under a name that need not be the most usual one of its field.
pub(super) struct Held {
    pub candidate: Candidate,
    value: Box<RawValue>,
    twice: bool,
}

impl Held {
    /// The value. A field that is given twice is an error.
    pub fn read<T: DeserializeOwned, E: de::Error>(&self) -> Result<T, E> {
        if self.twice {
            return Err(E::custom(TWICE));
        }
        serde_json::from_str(self.value.get()).map_err(|e| E::custom(problem(&e)))
    }

    /// The ratings in a field of all criteria. Numbers without a criterion are on one that is
    /// called like the field.
    pub fn ratings<E: de::Error>(&self, name: &str) -> Result<Ratings, E> {
        match self.read::<_, E>() {
            Ok(Numbers(numbers)) => Ok(numbers_on(name, numbers)),
            Err(_) => Ok(self.read::<Judgments, E>()?.0),
        }
    }
}

fn numbers_on(criterion: &str, numbers: Vec<Option<f64>>) -> Ratings {
    let mut ratings = Ratings::new();
    numbers.into_iter().for_each(|number| ratings.push(criterion, number));
    ratings
}

/// What is wrong with a field that is given twice.
pub(super) const TWICE: &str = "the field is given twice";

/// By field: the value under the most usual of the names that are there.
#[derive(Default)]
pub(super) struct HeldFields([Option<Held>; Field::ALL.len()]);

impl HeldFields {
    /// Takes a value, unless there is one under a more usual name. `null` is no value.
    pub fn offer(&mut self, candidate: Candidate, value: Box<RawValue>, used: &mut UsedNames) {
        let held = &mut self.0[candidate.field as usize];
        match held {
            _ if value.get() == "null" => {}
            Some(better) if better.candidate.position < candidate.position => {
                used.pass_over(candidate.field, candidate.position);
            }
            Some(same) if same.candidate.position == candidate.position => same.twice = true,
            _ => {
                if let Some(worse) = held.take() {
                    used.pass_over(candidate.field, worse.candidate.position);
                }
                *held = Some(Held { candidate, value, twice: false });
            }
        }
    }

    pub fn into_values(self) -> impl Iterator<Item = Held> {
        self.0.into_iter().flatten()
    }
}

/// The ratings of fields such as `human.plot`.
#[derive(Default)]
pub(super) struct FlatRatings {
    ratings: Ratings,
    criteria: usize,
    /// The name of the first field that cannot be anything else.
    first: Option<String>,
}

impl FlatRatings {
    /// Takes the value of a field.
    pub fn take<'de, A: MapAccess<'de>>(
        &mut self,
        name: &str,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let value: Box<RawValue> = map.next_value()?;
        let Some(rated) = rated(name) else { return Ok(()) };
        let given = match serde_json::from_str(value.get()) {
            // There may be no number because there never is one under this name.
            Ok(Numbers(numbers)) if !rated.certain && numbers == [None] => return Ok(()),
            Ok(Numbers(numbers)) => numbers_on(rated.criterion, numbers),
            Err(e) if rated.certain => return Err(de::Error::custom(problem(&e))),
            // The name alone stands for all criteria. A text under such a name is no rating.
            Err(_) if rated.criterion == name => match serde_json::from_str(value.get()) {
                Ok(Judgments(given)) => given,
                Err(_) => return Ok(()),
            },
            Err(_) => return Ok(()),
        };
        for (criterion, numbers) in given.iter() {
            limit(self.criteria, MAX_CRITERIA, "criteria")?;
            if self.ratings.get(criterion).is_some() {
                return Err(twice(criterion));
            }
            numbers.iter().for_each(|number| self.ratings.push(criterion, *number));
            self.criteria += 1;
        }
        if rated.certain && self.first.is_none() {
            self.first = Some(name.to_owned());
        }
        Ok(())
    }

    /// All ratings, of which some may stand in one field. There must not be both.
    pub fn join<E: de::Error>(
        self,
        judged: Option<Ratings>,
        current: &Current,
    ) -> Result<Ratings, E> {
        match (judged, self.first) {
            (Some(_), Some(first)) => {
                current.set(&first);
                Err(E::custom("there is also a field with all ratings; keep one of them"))
            }
            (Some(judged), None) => Ok(judged),
            (None, _) => Ok(self.ratings),
        }
    }
}

/// The number of characters of a message of serde_json that is shown. It can quote the input.
const MESSAGE: usize = 200;

/// The message of serde_json without its line, which is always 1. The place has the line of the
/// file.
pub(super) fn describe(e: &serde_json::Error) -> String {
    match e.column() {
        0 => problem(e),
        column => format!("wrong JSON at column {column}: {}", problem(e)),
    }
}

/// The message of serde_json without the place, which is not that of the file, and not too long.
pub(crate) fn problem(e: &serde_json::Error) -> String {
    let message = e.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    shortened(&message[..end], MESSAGE).into_owned()
}

/// An id or a name: a string, or a number, whose digits are kept as they stand in the file. As
/// floats, `1` and `1.0` would be the same, and so would two ids of 20 digits.
#[derive(Clone)]
pub(super) struct Label(pub String);

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        match raw.get().as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw.get())
                .map(Label)
                .map_err(|e| de::Error::custom(problem(&e))),
            Some(b'-' | b'0'..=b'9') => Ok(Label(raw.get().to_owned())),
            _ => Err(de::Error::custom(format!(
                "{} is neither a string nor a number",
                quoted(raw.get())
            ))),
        }
    }
}

/// One text or a list of texts.
pub(super) struct References(pub Vec<String>);

impl<'de> Deserialize<'de> for References {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReferencesVisitor;
        impl<'de> Visitor<'de> for ReferencesVisitor {
            type Value = References;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<References, E> {
                Ok(References(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<References, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    limit(texts.len(), MAX_REFERENCES, "references")?;
                    texts.push(text);
                }
                Ok(References(texts))
            }
        }
        deserializer.deserialize_any(ReferencesVisitor)
    }
}

/// Limits that are far above any study. A hostile line of a few megabytes could fill the memory
/// without them, because values take more room in memory than in a file, and missing ratings are
/// stored.
pub(super) const MAX_RATERS: usize = 10_000;
pub(super) const MAX_CRITERIA: usize = 1_000;
const MAX_REFERENCES: usize = 10_000;

/// An error if there are `most` things already.
fn limit<E: de::Error>(count: usize, most: usize, things: &str) -> Result<(), E> {
    if count >= most {
        return Err(E::custom(format!("more than {most} {things}")));
    }
    Ok(())
}

/// The names of one object, each of which may be given once.
#[derive(Default)]
struct Once(HashSet<String>);

impl Once {
    fn add<E: de::Error>(&mut self, criterion: &str) -> Result<(), E> {
        limit(self.0.len(), MAX_CRITERIA, "criteria")?;
        if self.0.insert(criterion.to_owned()) {
            return Ok(());
        }
        Err(twice(criterion))
    }
}

fn twice<E: de::Error>(criterion: &str) -> E {
    E::custom(format!("the criterion {} is given twice", quoted(criterion)))
}

/// `{criterion: number | [numbers]}`, or a list of `{criterion: number}` with one per rater.
pub(super) struct Judgments(pub Ratings);

impl<'de> Deserialize<'de> for Judgments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JudgmentsVisitor;
        impl<'de> Visitor<'de> for JudgmentsVisitor {
            type Value = Judgments;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "an object of numbers by criterion, or a list of such objects, one per rater",
                )
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Judgments, A::Error> {
                let mut ratings = Ratings::new();
                let mut once = Once::default();
                while let Some(criterion) = map.next_key::<String>()? {
                    once.add(&criterion)?;
                    let Numbers(numbers) = map.next_value()?;
                    for number in numbers {
                        ratings.push(&criterion, number);
                    }
                }
                Ok(Judgments(ratings))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Judgments, A::Error> {
                let mut ratings = Ratings::new();
                let mut raters = 0;
                while let Some(OneRater(given)) = list.next_element()? {
                    limit(raters, MAX_RATERS, "raters")?;
                    for (criterion, number) in given {
                        ratings.push_as(raters, &criterion, number);
                    }
                    raters += 1;
                    // Each rater has few criteria, but they need not be those of the others.
                    limit(ratings.iter().count(), MAX_CRITERIA + 1, "criteria")?;
                }
                ratings.pad(raters);
                Ok(Judgments(ratings))
            }
        }
        deserializer.deserialize_any(JudgmentsVisitor)
    }
}

/// The ratings of one rater, in order.
struct OneRater(Vec<(String, Option<f64>)>);

impl<'de> Deserialize<'de> for OneRater {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneRaterVisitor;
        impl<'de> Visitor<'de> for OneRaterVisitor {
            type Value = OneRater;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of numbers by criterion")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OneRater, A::Error> {
                let mut given = Vec::new();
                let mut once = Once::default();
                while let Some(criterion) = map.next_key::<String>()? {
                    once.add(&criterion)?;
                    given.push((criterion, map.next_value()?));
                }
                Ok(OneRater(given))
            }
        }
        deserializer.deserialize_map(OneRaterVisitor)
    }
}

/// A number or a list of numbers. `null` is a missing number.
#[derive(Default)]
pub(super) struct Numbers(pub Vec<Option<f64>>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumbersVisitor;
        impl<'de> Visitor<'de> for NumbersVisitor {
            type Value = Numbers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Numbers, E> {
                Ok(Numbers(vec![None]))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Numbers, E> {
                Ok(Numbers(vec![Some(number)]))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Numbers, E> {
                Ok(Numbers(vec![Some(number as f64)]))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Numbers, E> {
                Ok(Numbers(vec![Some(number as f64)]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = list.next_element::<Option<f64>>()? {
                    limit(numbers.len(), MAX_RATERS, "raters")?;
                    numbers.push(number);
                }
                Ok(Numbers(numbers))
            }
        }
        deserializer.deserialize_any(NumbersVisitor)
    }
}
