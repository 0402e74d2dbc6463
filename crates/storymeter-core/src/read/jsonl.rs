//! Reads one JSON object per line: storymeter's own layout.
//!
//! The fields are `id`, `system`, `item`, `prompt`, `story`, `reference` (a text or a list of
//! texts) and `human` (`{criterion: number | [numbers]}`, or a list of such objects with one per
//! rater). Only `story` is required. Files of others may also say `story_id` (for `id`), `model`
//! (`system`), `prompt_index` (`item`) and `ratings` (`human`); storymeter's own name counts if
//! both are there. `null` is the same as no field, and in a list it is a missing rating. Other
//! fields are ignored.
//!
//! The types below have visitors of their own, because the errors of serde's untagged enums do not
//! say what is wrong.

use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{Error, Place, Ratings, Result, Story};

/// Parses one line.
pub(super) fn parse(line: &str, place: &Place) -> Result<Story> {
    let mut json = serde_json::Deserializer::from_str(line);
    parse_with(place, |object| {
        object.deserialize(&mut json).and_then(|story| json.end().map(|()| story))
    })
}

/// Parses a record of another layout that was turned into JSON.
#[cfg(feature = "parquet")]
pub(super) fn parse_value(value: serde_json::Value, place: &Place) -> Result<Story> {
    parse_with(place, |object| object.deserialize(value))
}

/// Whether a name is the name of a field.
#[cfg(feature = "parquet")]
pub(super) fn is_field(name: &str) -> bool {
    use serde::de::value::{Error, StrDeserializer};
    Key::deserialize(StrDeserializer::<Error>::new(name)).is_ok_and(|key| key.name().is_some())
}

fn parse_with(
    place: &Place,
    parse: impl FnOnce(Object<'_>) -> serde_json::Result<Option<Story>>,
) -> Result<Story> {
    let field = Cell::new(None);
    match parse(Object { field: &field }) {
        Ok(Some(story)) => Ok(story),
        Ok(None) => Err(Error::invalid(place.clone().in_field("story"), "the field is missing")),
        Err(e) => {
            let place = match field.get() {
                Some(name) => place.clone().in_field(name),
                None => place.clone(),
            };
            Err(Error::invalid(place, describe(&e)))
        }
    }
}

/// The message of serde_json without its line, which is always 1. The place has the line of the
/// file.
pub(super) fn describe(e: &serde_json::Error) -> String {
    let message = e.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    match e.column() {
        0 => message[..end].to_owned(),
        column => format!("wrong JSON at column {column}: {}", &message[..end]),
    }
}

/// The names of the fields.
#[derive(Deserialize, Clone, Copy)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
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
    #[serde(other)]
    Unknown,
}

impl Key {
    fn name(self) -> Option<&'static str> {
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
            Self::Unknown => return None,
        })
    }
}

/// Reads a story from an object; `None` if the field `story` is missing.
struct Object<'f> {
    /// The field that is being read, which an error names.
    field: &'f Cell<Option<&'static str>>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Option<Story>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Option<Story>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the field `story`")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        let mut text: Option<String> = None;
        let mut prompt: Option<String> = None;
        let mut references: Option<References> = None;
        let [mut id, mut story_id, mut system, mut model, mut item, mut prompt_index]: [Option<
            Label,
        >;
            6] = Default::default();
        let [mut human, mut ratings]: [Option<Judgments>; 2] = Default::default();
        while let Some(key) = map.next_key::<Key>()? {
            self.field.set(key.name());
            match key {
                Key::Id => id = map.next_value()?,
                Key::StoryId => story_id = map.next_value()?,
                Key::System => system = map.next_value()?,
                Key::Model => model = map.next_value()?,
                Key::Item => item = map.next_value()?,
                Key::PromptIndex => prompt_index = map.next_value()?,
                Key::Prompt => prompt = map.next_value()?,
                Key::Story => text = Some(map.next_value()?),
                Key::Reference => references = map.next_value()?,
                Key::Human => human = map.next_value()?,
                Key::Ratings => ratings = map.next_value()?,
                Key::Unknown => drop(map.next_value::<IgnoredAny>()?),
            }
            self.field.set(None);
        }
        Ok(text.map(|text| Story {
            id: id.or(story_id).map(|label| label.0).unwrap_or_default(),
            system: system.or(model).map(|label| label.0),
            item: item.or(prompt_index).map(|label| label.0),
            prompt,
            text,
            references: references.map(|references| references.0).unwrap_or_default(),
            ratings: human.or(ratings).map(|judgments| judgments.0).unwrap_or_default(),
            ..Story::default()
        }))
    }
}

/// An id or a name: a string, or a number, which is turned into text.
pub(super) struct Label(pub String);

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct LabelVisitor;
        impl Visitor<'_> for LabelVisitor {
            type Value = Label;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Label, E> {
                Ok(Label(text.to_owned()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Label, E> {
                Ok(Label(number.to_string()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Label, E> {
                Ok(Label(number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Label, E> {
                Ok(Label(number.to_string()))
            }
        }
        deserializer.deserialize_any(LabelVisitor)
    }
}

/// One text or a list of texts.
struct References(Vec<String>);

impl<'de> Deserialize<'de> for References {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ReferencesVisitor;
        impl<'de> Visitor<'de> for ReferencesVisitor {
            type Value = References;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<References, E> {
                Ok(References(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> std::result::Result<References, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(References(texts))
            }
        }
        deserializer.deserialize_any(ReferencesVisitor)
    }
}

/// `{criterion: number | [numbers]}`, or a list of `{criterion: number}` with one per rater.
pub(super) struct Judgments(pub Ratings);

impl<'de> Deserialize<'de> for Judgments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct JudgmentsVisitor;
        impl<'de> Visitor<'de> for JudgmentsVisitor {
            type Value = Judgments;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "an object of numbers by criterion, or a list of such objects, one per rater",
                )
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Judgments, A::Error> {
                let mut ratings = Ratings::new();
                while let Some((criterion, Numbers(numbers))) = map.next_entry::<String, _>()? {
                    for number in numbers {
                        ratings.push(&criterion, number);
                    }
                    limit_criteria::<A::Error>(&ratings)?;
                }
                Ok(Judgments(ratings))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> std::result::Result<Judgments, A::Error> {
                let mut ratings = Ratings::new();
                let mut raters = 0;
                while let Some(OneRater(given)) = list.next_element()? {
                    raters += 1;
                    if raters > MAX_RATERS {
                        return Err(de::Error::custom(format!("more than {MAX_RATERS} raters")));
                    }
                    for (criterion, number) in given {
                        ratings.push_as(raters - 1, &criterion, number);
                    }
                    limit_criteria::<A::Error>(&ratings)?;
                }
                ratings.pad(raters);
                Ok(Judgments(ratings))
            }
        }
        deserializer.deserialize_any(JudgmentsVisitor)
    }
}

/// Limits that are far above any study. Because missing ratings are stored, a hostile line of a few
/// megabytes could fill the memory without them.
const MAX_RATERS: usize = 10_000;
const MAX_CRITERIA: usize = 1_000;

fn limit_criteria<E: de::Error>(ratings: &Ratings) -> std::result::Result<(), E> {
    if ratings.iter().count() > MAX_CRITERIA {
        return Err(E::custom(format!("more than {MAX_CRITERIA} criteria")));
    }
    Ok(())
}

/// The ratings of one rater, in order.
struct OneRater(Vec<(String, Option<f64>)>);

impl<'de> Deserialize<'de> for OneRater {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct OneRaterVisitor;
        impl<'de> Visitor<'de> for OneRaterVisitor {
            type Value = OneRater;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of numbers by criterion")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<OneRater, A::Error> {
                let mut given = Vec::new();
                while let Some((criterion, number)) = map.next_entry::<String, Option<f64>>()? {
                    given.push((criterion, number));
                }
                Ok(OneRater(given))
            }
        }
        deserializer.deserialize_map(OneRaterVisitor)
    }
}

/// A number or a list of numbers. `null` is a missing number.
#[derive(Default)]
struct Numbers(Vec<Option<f64>>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct NumbersVisitor;
        impl<'de> Visitor<'de> for NumbersVisitor {
            type Value = Numbers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }

            fn visit_unit<E: de::Error>(self) -> std::result::Result<Numbers, E> {
                Ok(Numbers(vec![None]))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Numbers, E> {
                Ok(Numbers(vec![Some(number)]))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Numbers, E> {
                Ok(Numbers(vec![Some(number as f64)]))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Numbers, E> {
                Ok(Numbers(vec![Some(number as f64)]))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> std::result::Result<Numbers, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = list.next_element::<Option<f64>>()? {
                    numbers.push(number);
                }
                Ok(Numbers(numbers))
            }
        }
        deserializer.deserialize_any(NumbersVisitor)
    }
}
