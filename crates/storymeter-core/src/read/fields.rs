//! The fields of a JSON object that is a story or a line of scores, and what their values may be.
//!
//! No field may be given twice, neither under one name nor under two, because one of the values
//! would be lost. `null` is the same as no field.
//!
//! The types below have visitors of their own, because the errors of serde's untagged enums do not
//! say what is wrong.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::shown::{quoted, shortened};
use crate::{Error, Place, Ratings};

/// The names of the fields.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(field_identifier, rename_all = "snake_case")]
pub(super) enum Name {
    Id,
    StoryId,
    System,
    Model,
    Item,
    PromptIndex,
    Prompt,
    Story,
    Reference,
    Human,
    Ratings,
    Scores,
    Absent,
    #[serde(other)]
    Unknown,
}

impl Name {
    /// The name in the file; nothing for a field that is ignored.
    pub fn text(self) -> Option<&'static str> {
        Some(match self {
            Self::Id => "id",
            Self::StoryId => "story_id",
            Self::System => "system",
            Self::Model => "model",
            Self::Item => "item",
            Self::PromptIndex => "prompt_index",
            Self::Prompt => "prompt",
            Self::Story => "story",
            Self::Reference => "reference",
            Self::Human => "human",
            Self::Ratings => "ratings",
            Self::Scores => "scores",
            Self::Absent => "absent",
            Self::Unknown => return None,
        })
    }
}

/// The field that is being read, which an error names, and those that were read before.
#[derive(Default)]
pub(super) struct Progress {
    current: Cell<Option<&'static str>>,
    /// One bit per name.
    seen: Cell<u32>,
}

impl Progress {
    /// A field begins.
    pub fn begin<E: de::Error>(&self, name: Name) -> Result<(), E> {
        self.current.set(name.text());
        let (seen, bit) = (self.seen.get(), 1 << name as u32);
        if seen & bit != 0 {
            return Err(E::custom("the field is given twice"));
        }
        self.seen.set(seen | bit);
        Ok(())
    }

    /// The field ends.
    pub fn end(&self) {
        self.current.set(None);
    }

    /// The one value of two names for the same thing.
    fn only<T, E: de::Error>(
        &self,
        [(name, value), (alias, other)]: [(Name, Option<T>); 2],
    ) -> Result<Option<T>, E> {
        if value.is_some() && other.is_some() {
            self.current.set(alias.text());
            let name = name.text().unwrap_or_default();
            return Err(E::custom(format!(
                "this is another name of the field \"{name}\", which is given too; keep one of them"
            )));
        }
        Ok(value.or(other))
    }

    /// The error about an object at a place, narrowed to the field.
    pub fn error(&self, place: &Place, e: &serde_json::Error) -> Error {
        let place = match self.current.get() {
            Some(name) => place.clone().in_field(name),
            None => place.clone(),
        };
        Error::invalid(place, describe(e))
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

/// What stories and lines of scores have in common.
#[derive(Default)]
pub(super) struct Common {
    id: [Option<Label>; 2],
    system: [Option<Label>; 2],
    item: [Option<Label>; 2],
    human: [Option<Judgments>; 2],
}

/// The values of [`Common`].
pub(super) struct Given {
    pub id: Option<String>,
    pub system: Option<String>,
    pub item: Option<String>,
    pub ratings: Ratings,
}

impl Common {
    /// Takes the value of a field if it is one of these, and passes over it otherwise.
    pub fn take<'de, A: MapAccess<'de>>(
        &mut self,
        name: Name,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match name {
            Name::Id => self.id[0] = map.next_value()?,
            Name::StoryId => self.id[1] = map.next_value()?,
            Name::System => self.system[0] = map.next_value()?,
            Name::Model => self.system[1] = map.next_value()?,
            Name::Item => self.item[0] = map.next_value()?,
            Name::PromptIndex => self.item[1] = map.next_value()?,
            Name::Human => self.human[0] = map.next_value()?,
            Name::Ratings => self.human[1] = map.next_value()?,
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }

    /// The values, each from the one of its two names that is given.
    pub fn finish<E: de::Error>(self, progress: &Progress) -> Result<Given, E> {
        let label = |names: [Name; 2], [value, other]: [Option<Label>; 2]| {
            let label = progress.only::<_, E>([(names[0], value), (names[1], other)])?;
            Ok(label.map(|label| label.0))
        };
        let [human, ratings] = self.human;
        let judged = progress.only::<_, E>([(Name::Human, human), (Name::Ratings, ratings)])?;
        Ok(Given {
            id: label([Name::Id, Name::StoryId], self.id)?,
            system: label([Name::System, Name::Model], self.system)?,
            item: label([Name::Item, Name::PromptIndex], self.item)?,
            ratings: judged.map(|judgments| judgments.0).unwrap_or_default(),
        })
    }
}

/// An id or a name: a string, or a number, whose digits are kept as they stand in the file. As
/// floats, `1` and `1.0` would be the same, and so would two ids of 20 digits.
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
const MAX_CRITERIA: usize = 1_000;
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
        Err(E::custom(format!("the criterion {} is given twice", quoted(criterion))))
    }
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
