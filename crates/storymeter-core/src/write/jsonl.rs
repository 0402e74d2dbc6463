//! Writes stories as one JSON object per line, which [`read`](crate::read) reads.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::{Ratings, Story};

/// Writes one line.
pub(super) fn write(out: &mut impl Write, story: &Story) -> io::Result<()> {
    serde_json::to_writer(&mut *out, story)?;
    out.write_all(b"\n")
}

/// The JSONL layout. Unknown fields are left out, and so are the boundaries of sentences.
impl Serialize for Story {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        for (name, value) in
            [("system", &self.system), ("item", &self.item), ("prompt", &self.prompt)]
        {
            if let Some(value) = value {
                map.serialize_entry(name, value)?;
            }
        }
        map.serialize_entry("story", &self.text)?;
        match self.references.as_slice() {
            [] => {}
            [reference] => map.serialize_entry("reference", reference)?,
            references => map.serialize_entry("reference", references)?,
        }
        if !self.ratings.is_empty() {
            map.serialize_entry("human", &self.ratings)?;
        }
        map.end()
    }
}

/// `{criterion: [numbers]}`. A missing rating is `null`.
impl Serialize for Ratings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
