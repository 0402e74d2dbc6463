//! Reads the user's own table of antonyms, in the format of the ConceptNet table that the UNION
//! authors published.

use std::fmt;
use std::io::BufRead;

use hashbrown::{HashMap, HashSet};

use crate::negation::is_negation_word;
use crate::stopwords::is_stop_word;

/// Why a table of antonyms cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LexiconError {
    /// The table could not be read, or is not UTF-8.
    #[error("{place}:{line}: {source}")]
    Io {
        /// The name that the caller gave to the table.
        place: String,
        /// The line, from 1.
        line: u64,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A line is not `head|||relation|||tails`.
    #[error("{place}:{line}: {problem}")]
    Invalid {
        /// The name that the caller gave to the table.
        place: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The table has no lines.
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
    tails: HashMap<String, Vec<String>>,
    words: HashSet<String>,
}

impl Table {
    pub(super) fn read(reader: impl BufRead, place: &str) -> Result<Self, LexiconError> {
        let mut table = Self::default();
        for (line, text) in (1..).zip(reader.lines()) {
            let text =
                text.map_err(|source| LexiconError::Io { place: place.to_owned(), line, source })?;
            let text = text.trim_start_matches('\u{feff}');
            if text.trim().is_empty() {
                continue;
            }
            let problem =
                |problem| LexiconError::Invalid { place: place.to_owned(), line, problem };
            let (head, tails) = parse(text).map_err(problem)?;
            table.words.insert(head.clone());
            for tail in tails {
                table.words.insert(tail.clone());
                push_new(table.tails.entry(head.clone()).or_default(), tail, &head);
            }
        }
        if table.words.is_empty() {
            return Err(LexiconError::Empty { place: place.to_owned() });
        }
        table.words.retain(|word| !is_stop_word(word) && !is_negation_word(word));
        Ok(table)
    }

    /// Adds the tails of another table after those of this one.
    pub(super) fn append(&mut self, other: &Self) {
        // The order of the heads has no influence on the result.
        #[allow(clippy::iter_over_hash_type)]
        for (head, tails) in &other.tails {
            let own = self.tails.entry(head.clone()).or_default();
            for tail in tails {
                push_new(own, tail.clone(), head);
            }
        }
        self.words.extend(other.words.iter().cloned());
    }

    pub(super) fn tails(&self, head: &str) -> impl Iterator<Item = &str> {
        self.tails.get(head).into_iter().flatten().map(String::as_str)
    }

    pub(super) fn knows(&self, word: &str) -> bool {
        self.words.contains(word)
    }
}

fn push_new(tails: &mut Vec<String>, tail: String, head: &str) {
    if tail != head && !tails.contains(&tail) {
        tails.push(tail);
    }
}

fn parse(line: &str) -> Result<(String, Vec<String>), String> {
    let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
    let (head, relation, tails) = match fields.as_slice() {
        [head, relation] => (head, relation, ""),
        [head, relation, tails] => (head, relation, *tails),
        _ => {
            return Err(format!(
                "{} fields; a line is head|||/r/Antonym|||tail tail",
                fields.len()
            ));
        }
    };
    if head.is_empty() {
        return Err("the head is empty; a line is head|||/r/Antonym|||tail tail".to_owned());
    }
    if Relation::parse(relation).is_none() {
        let known: Vec<String> =
            Relation::ALL.iter().map(|relation| format!("/r/{relation}")).collect();
        return Err(format!("unknown relation \"{relation}\"; known are {}", known.join(", ")));
    }
    Ok((head.to_lowercase(), tails.split_whitespace().map(str::to_lowercase).collect()))
}
