//! Reads the user's own table of antonyms, in the format of the ConceptNet table that the UNION
//! authors published.

use std::fmt;
use std::io::BufRead;

use hashbrown::{HashMap, HashSet};

use super::lines::{Digest, for_each_line};
use crate::negation::is_negation_word;
use crate::stopwords::is_stop_word;

/// Why a table of antonyms or a list of keywords cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LexiconError {
    /// The table could not be read.
    #[error("{place}:{line}: {source}")]
    Io {
        /// The name that the caller gave to the table.
        place: String,
        /// The line, from 1.
        line: u64,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A line is not of the right form, not UTF-8, or too long.
    #[error("{place}:{line}: {problem}")]
    Invalid {
        /// The name that the caller gave to the table.
        place: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The table has no antonym, or the list has no keyword.
    #[error("{place}: the table is empty")]
    Empty {
        /// The name that the caller gave to the table.
        place: String,
    },
}

/// The relations of ConceptNet whose tails contradict their head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `/r/Antonym`
    Antonym,
    /// `/r/NotDesires`
    NotDesires,
    /// `/r/NotCapableOf`
    NotCapableOf,
    /// `/r/NotHasProperty`
    NotHasProperty,
}

impl Relation {
    /// All four.
    pub const ALL: [Self; 4] =
        [Self::Antonym, Self::NotDesires, Self::NotCapableOf, Self::NotHasProperty];

    fn parse(text: &str) -> Option<Self> {
        let name = text.strip_prefix("/r/").unwrap_or(text);
        Self::ALL.into_iter().find(|relation| relation.to_string() == name)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The heads of a table, each with the tails of all its relations, as the metric's authors use
/// them.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// What the table was read from.
    pub(super) digest: Digest,
    tails: HashMap<String, Vec<String>>,
    words: HashSet<String>,
}

impl Table {
    pub(super) fn read(reader: impl BufRead, place: &str) -> Result<Self, LexiconError> {
        let mut table = Self::default();
        table.digest = for_each_line(reader, place, |text| {
            let (head, tails) = parse(text)?;
            table.words.insert(head.clone());
            table.words.extend(tails.iter().cloned());
            table.tails.entry(head).or_default().extend(tails);
            Ok(())
        })?;
        if table.words.is_empty() {
            return Err(LexiconError::Empty { place: place.to_owned() });
        }
        table.words.retain(|word| !is_stop_word(word) && !is_negation_word(word));
        table.remove_repeats();
        // A table without any antonym is a mistake.
        #[allow(clippy::iter_over_hash_type)]
        let has_antonyms = table.tails.values().any(|tails| !tails.is_empty());
        if !has_antonyms {
            return Err(LexiconError::Empty { place: place.to_owned() });
        }
        Ok(table)
    }

    /// Adds the tails of another table after those of this one.
    pub(super) fn append(&mut self, other: &Self) {
        // The order of the heads has no influence on the result.
        #[allow(clippy::iter_over_hash_type)]
        for (head, tails) in &other.tails {
            self.tails.entry(head.clone()).or_default().extend(tails.iter().cloned());
        }
        self.words.extend(other.words.iter().cloned());
        self.digest = self.digest.and(other.digest);
        self.remove_repeats();
    }

    /// Keeps each tail of a head once, and no tail that is the head itself.
    fn remove_repeats(&mut self) {
        // The order of the heads has no influence on the result.
        #[allow(clippy::iter_over_hash_type)]
        for (head, tails) in &mut self.tails {
            let mut seen = HashSet::new();
            tails.retain(|tail| tail != head && seen.insert(tail.clone()));
        }
    }

    pub(super) fn tails(&self, head: &str) -> impl Iterator<Item = &str> {
        self.tails.get(head).into_iter().flatten().map(String::as_str)
    }

    pub(super) fn knows(&self, word: &str) -> bool {
        self.words.contains(word)
    }
}

fn parse(line: &str) -> Result<(String, Vec<String>), String> {
    let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
    let (head, relation, tails) = match fields.as_slice() {
        [head, relation] => (head, relation, ""),
        [head, relation, tails] => (head, relation, *tails),
        _ => {
            let (count, s) = (fields.len(), if fields.len() == 1 { "" } else { "s" });
            return Err(format!("{count} field{s}; a line is head|||/r/Antonym|||tail tail"));
        }
    };
    if head.is_empty() {
        return Err("the head is empty; a line is head|||/r/Antonym|||tail tail".to_owned());
    }
    if Relation::parse(relation).is_none() {
        let known: Vec<String> =
            Relation::ALL.iter().map(|relation| format!("/r/{relation}")).collect();
        let shown: String = relation.chars().take(60).collect();
        let dots = if shown.len() < relation.len() { "..." } else { "" };
        return Err(format!("unknown relation \"{shown}{dots}\"; known are {}", known.join(", ")));
    }
    Ok((head.to_lowercase(), tails.split_whitespace().map(str::to_lowercase).collect()))
}
