//! A batch: the tokens of several stories, packed one after the other without padding.

use crate::config::Config;
use crate::{Error, Result};
use std::ops::Range;

/// The token ids of several stories, packed one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    ids: Vec<u32>,
    /// Where each story begins, and where the last one ends.
    bounds: Vec<usize>,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch { ids: Vec::new(), bounds: vec![0] }
    }
}

impl Batch {
    /// Makes an empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Adds a story. Its ids include the special tokens.
    pub fn push(&mut self, ids: &[u32]) {
        self.ids.extend_from_slice(ids);
        self.bounds.push(self.ids.len());
    }

    /// Removes all stories. The memory is kept for the next ones.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.bounds.truncate(1);
    }

    /// The number of stories.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there are no stories.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The token ids of all stories.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Where the tokens of a story are in [`Batch::ids`].
    pub fn span(&self, story: usize) -> Range<usize> {
        self.bounds[story]..self.bounds[story + 1]
    }

    /// Checks that the model has an entry for every token and position.
    pub(crate) fn check(&self, config: &Config) -> Result<()> {
        let longest = config.max_tokens();
        for story in 0..self.len() {
            let ids = &self.ids[self.span(story)];
            if ids.len() > longest {
                let problem =
                    format!("{} tokens, but the encoder has {longest} positions", ids.len());
                return Err(Error::Batch { story, problem });
            }
            if let Some(id) = ids.iter().find(|id| **id as usize >= config.vocabulary) {
                let problem =
                    format!("token {id}, but the vocabulary has {} entries", config.vocabulary);
                return Err(Error::Batch { story, problem });
            }
        }
        Ok(())
    }

    /// Where each story begins, and where the last one ends.
    pub fn bounds(&self) -> &[usize] {
        &self.bounds
    }
}

impl<'a> FromIterator<&'a [u32]> for Batch {
    fn from_iter<I: IntoIterator<Item = &'a [u32]>>(stories: I) -> Batch {
        let mut batch = Batch::new();
        stories.into_iter().for_each(|ids| batch.push(ids));
        batch
    }
}
