//! Reads one JSON object per line: storymeter's own layout.
//!
//! The fields are `id`, `system`, `item`, `prompt`, `story`, `reference` (a text or a list of
//! texts) and `human` (`{criterion: number | [numbers]}`, or a list of such objects with one per
//! rater). Only `story` is required. Files of others may also say `story_id` (for `id`), `model`
//! (`system`), `prompt_index` (`item`) and `ratings` (`human`). A field that is given twice, under
//! one name or under two, is an error. `null` is the same as no field, and in a list it is a
//! missing rating. Other fields are ignored.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::fields::{Common, Name, Progress, References};
use crate::{Error, Place, Result, Story};

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
    use serde::Deserialize;
    use serde::de::value::{Error, StrDeserializer};
    let name = Name::deserialize(StrDeserializer::<Error>::new(name));
    name.is_ok_and(is_read)
}

/// Whether a story has such a field.
fn is_read(name: Name) -> bool {
    !matches!(name, Name::Scores | Name::Absent | Name::Unknown)
}

fn parse_with(
    place: &Place,
    parse: impl FnOnce(Object<'_>) -> serde_json::Result<Option<Story>>,
) -> Result<Story> {
    let progress = Progress::default();
    match parse(Object { progress: &progress }) {
        Ok(Some(story)) => Ok(story),
        Ok(None) => Err(Error::invalid(place.clone().in_field("story"), "the field is missing")),
        Err(e) => Err(progress.error(place, &e)),
    }
}

/// Reads a story from an object; `None` if the field `story` is missing.
struct Object<'p> {
    progress: &'p Progress,
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
        let mut common = Common::default();
        while let Some(name) = map.next_key::<Name>()? {
            if !is_read(name) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            self.progress.begin(name)?;
            match name {
                Name::Prompt => prompt = map.next_value()?,
                Name::Story => text = Some(map.next_value()?),
                Name::Reference => references = map.next_value()?,
                name => common.take(name, &mut map)?,
            }
            self.progress.end();
        }
        let given = common.finish(self.progress)?;
        Ok(text.map(|text| Story {
            id: given.id.unwrap_or_default(),
            system: given.system,
            item: given.item,
            prompt,
            text,
            references: references.map(|references| references.0).unwrap_or_default(),
            ratings: given.ratings,
            ..Story::default()
        }))
    }
}
