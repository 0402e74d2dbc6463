//! Reads the user's own table of antonyms, in the format of the ConceptNet table that the UNION
//! authors published.

use std::fmt;
use std::io::{BufRead, Read};

use hashbrown::{HashMap, HashSet};

use crate::negation::is_negation_word;
use crate::stopwords::is_stop_word;

/// The most bytes of a line and of a table. Both are far above those of ConceptNet, whose antonyms
/// have a few megabytes. They keep a wrong name, such as `/dev/zero`, from taking all memory.
const MOST_OF_A_LINE: u64 = 1 << 20;
const MOST_OF_A_TABLE: u64 = 256 << 20;

/// Why a table of antonyms cannot be used.
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
    /// A line is not `head|||relation|||tails` in UTF-8, or is too long.
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
    pub(super) fn read(mut reader: impl BufRead, place: &str) -> Result<Self, LexiconError> {
        let mut table = Self::default();
        let mut size = 0;
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let read = reader.by_ref().take(MOST_OF_A_LINE + 1).read_until(b'\n', &mut bytes);
            let failed = |source| LexiconError::Io { place: place.to_owned(), line, source };
            let wrong = |problem| LexiconError::Invalid { place: place.to_owned(), line, problem };
            if read.map_err(failed)? == 0 {
                break;
            }
            size += bytes.len() as u64;
            if bytes.len() as u64 > MOST_OF_A_LINE {
                return Err(wrong(format!("the line has more than {MOST_OF_A_LINE} bytes")));
            }
            if size > MOST_OF_A_TABLE {
                return Err(wrong(format!("the table has more than {MOST_OF_A_TABLE} bytes")));
            }
            let text = std::str::from_utf8(&bytes)
                .map_err(|_| wrong("the line is not UTF-8 text".to_owned()))?;
            let text = text.trim_start_matches('\u{feff}');
            if text.trim().is_empty() {
                continue;
            }
            let (head, tails) = parse(text).map_err(wrong)?;
            table.words.insert(head.clone());
            table.words.extend(tails.iter().cloned());
            table.tails.entry(head).or_default().extend(tails);
        }
        if table.words.is_empty() {
            return Err(LexiconError::Empty { place: place.to_owned() });
        }
        table.words.retain(|word| !is_stop_word(word) && !is_negation_word(word));
        table.remove_repeats();
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
        let shown: String = relation.chars().take(60).collect();
        let dots = if shown.len() < relation.len() { "..." } else { "" };
        return Err(format!("unknown relation \"{shown}{dots}\"; known are {}", known.join(", ")));
    }
    Ok((head.to_lowercase(), tails.split_whitespace().map(str::to_lowercase).collect()))
}
