//! Reads a list of keywords of the user's own.

use std::io::BufRead;

use hashbrown::HashSet;

use super::LexiconError;
use super::lines::{Digest, for_each_line};

/// The words of a list, in lower case.
#[derive(Debug, Clone, Default)]
pub(super) struct Keywords {
    /// What the list was read from.
    pub(super) digest: Digest,
    words: HashSet<String>,
}

impl Keywords {
    pub(super) fn read(reader: impl BufRead, place: &str) -> Result<Self, LexiconError> {
        let mut words = HashSet::new();
        let digest = for_each_line(reader, place, |line| {
            let first = line.split("|||").next().unwrap_or_default().split_whitespace().next();
            words.extend(
                first.map(str::to_lowercase).filter(|word| word.chars().any(char::is_alphabetic)),
            );
            Ok(())
        })?;
        words.retain(|word| !super::is_function_word(word));
        if words.is_empty() {
            return Err(LexiconError::Empty { place: place.to_owned() });
        }
        Ok(Self { digest, words })
    }

    pub(super) fn knows(&self, word: &str) -> bool {
        self.words.contains(word)
    }
}
