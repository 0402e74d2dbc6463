//! A list of words and phrases, and where they occur.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};
use storymeter_core::{Error, Place, Result};

use super::words::{Kind, Words};
use super::{Hit, HitKind};

/// The list that the program comes with.
const EMBEDDED: &str = include_str!("../../data/slop/slop.txt");

/// The most words of an entry.
const LONGEST: usize = 8;
/// The most entries of a list.
const MOST: usize = 100_000;

/// Words and phrases.
pub(crate) struct List {
    entries: FxHashSet<String>,
    /// For the first word of an entry, the number of words and commas of the longest such entry.
    longest: FxHashMap<String, usize>,
    version: Option<String>,
    hash: String,
}

impl List {
    /// The list that the program comes with.
    pub fn embedded() -> Self {
        Self::parse(EMBEDDED, Path::new("slop.txt"))
            .expect("the embedded list is whole; a test reads it")
    }

    /// Reads a list: one entry per line. Empty lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// Returns an error if a line is not a word or a phrase, if an entry stands there twice, or if
    /// there is no entry.
    pub fn parse(text: &str, file: &Path) -> Result<Self> {
        let first = text.lines().next().unwrap_or_default();
        let mut list = Self {
            entries: FxHashSet::default(),
            longest: FxHashMap::default(),
            version: first.strip_prefix("# slop list, version ").map(|v| v.trim().to_owned()),
            hash: Sha256::digest(text)[..4].iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong =
                |problem: String| Error::invalid(Place::file(file).at_line(number), problem);
            list.insert(line).map_err(wrong)?;
            if list.entries.len() > MOST {
                return Err(wrong(format!("a list has at most {MOST} entries")));
            }
        }
        if list.entries.is_empty() {
            let problem = "the list has no entry; write one word or phrase per line";
            return Err(Error::invalid(Place::file(file), problem));
        }
        Ok(list)
    }

    fn insert(&mut self, line: &str) -> std::result::Result<(), String> {
        let words = Words::new(line);
        let number = words.tokens().len();
        let is_part = |kind| matches!(kind, Kind::Word | Kind::Comma);
        if let Some(mark) = words.tokens().iter().find(|token| !is_part(token.kind)) {
            let mark = &line[mark.range.clone()];
            return Err(format!(
                "an entry has only words, apostrophes inside words, and commas, and here is {mark:?}"
            ));
        }
        if words.count() == 0 {
            return Err("there is no word on this line; a comment begins with #".to_owned());
        }
        if number > LONGEST {
            return Err(format!("an entry has at most {LONGEST} words, and this one has {number}"));
        }
        let entry = (0..number).map(|at| words.lower(at)).collect::<Vec<_>>().join(" ");
        let longest = self.longest.entry(words.lower(0).to_owned()).or_default();
        *longest = number.max(*longest);
        if !self.entries.insert(entry) {
            return Err("this entry stands in the list twice; remove one of them".to_owned());
        }
        Ok(())
    }

    /// The version of the list, where its first line says it.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The first 32 bits of the SHA-256 sum of the file.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The entries of a text from left to right, the longest first where several begin.
    pub fn hits(&self, words: &Words) -> Vec<Hit<'_>> {
        let (mut hits, mut at) = (Vec::new(), 0);
        let mut entry = String::new();
        while at < words.tokens().len() {
            let longest = self.longest.get(words.lower(at)).copied().unwrap_or(0);
            let found = (1..=longest).rev().find_map(|number| {
                entry.clear();
                for place in at..at + number {
                    let word = words.lower(place);
                    if word.is_empty() {
                        return None;
                    }
                    if place > at {
                        entry.push(' ');
                    }
                    entry.push_str(word);
                }
                self.entries.get(entry.as_str()).map(|entry| (entry, number))
            });
            let Some((entry, number)) = found else {
                at += 1;
                continue;
            };
            let range = &words.tokens()[at..at + number];
            let range = range[0].range.start..range[number - 1].range.end;
            let kind = if number == 1 { HitKind::Word } else { HitKind::Phrase };
            hits.push(Hit { range, kind, entry });
            at += number;
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(list: &str, text: &str) -> Vec<(String, &'static str)> {
        let list = List::parse(list, Path::new("own.txt")).unwrap();
        let hits = list.hits(&Words::new(text));
        hits.into_iter().map(|hit| (text[hit.range].to_owned(), hit.kind.name())).collect()
    }

    fn problem(list: &str) -> String {
        List::parse(list, Path::new("own.txt")).err().unwrap().to_string()
    }

    #[test]
    fn the_longest_entry_is_taken_and_no_word_counts_twice() {
        let list = "# mine\nweight\nthe weight\nthe weight of\nof dust\n";
        assert_eq!(
            found(list, "The weight of dust, the WEIGHT, weight"),
            [
                ("The weight of".into(), "phrase"),
                ("the WEIGHT".into(), "phrase"),
                ("weight".into(), "word"),
            ]
        );
    }

    #[test]
    fn entries_are_whole_words_and_end_at_marks() {
        assert_eq!(
            found("echo\nheld breath", "Echoes, re-echo. A held. Breath, held “breath”"),
            [("echo".into(), "word")]
        );
    }

    #[test]
    fn apostrophes_of_every_shape_are_one() {
        let list = "city's\n, leaving\nécho";
        assert_eq!(
            found(list, "The city’s lamps, leaving; CITY'S ÉCHO city"),
            [
                ("city’s".into(), "word"),
                (", leaving".into(), "phrase"),
                ("CITY'S".into(), "word"),
                ("ÉCHO".into(), "word"),
            ]
        );
    }

    #[test]
    fn bad_lists_are_refused_with_file_and_line() {
        assert_eq!(
            problem("hum\n\nrust 7\n"),
            "own.txt:3: an entry has only words, apostrophes inside words, and commas, and here is \
             \"7\""
        );
        assert_eq!(
            problem("hum\nHum\n"),
            "own.txt:2: this entry stands in the list twice; remove one of them"
        );
        assert_eq!(
            problem("a b c d e f g h i"),
            "own.txt:1: an entry has at most 8 words, and this one has 9"
        );
        assert_eq!(
            problem(",\n"),
            "own.txt:1: there is no word on this line; a comment begins with #"
        );
        assert_eq!(
            problem("# nothing\n"),
            "own.txt: the list has no entry; write one word or phrase per line"
        );
    }

    #[test]
    fn the_embedded_list_has_words_and_phrases_and_says_its_version() {
        let list = List::embedded();
        assert_eq!(list.version(), Some("1"));
        assert!(list.entries.len() > 500 && list.longest.values().max() == Some(&3));
    }
}
