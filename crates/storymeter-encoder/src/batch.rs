//! Stories as packed tokens: one after the other, no padding.

use std::ops::Range;

/// Token ids of several stories, packed.
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
    /// An empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Adds a story, special tokens included.
    pub fn push(&mut self, ids: &[u32]) {
        self.ids.extend_from_slice(ids);
        self.bounds.push(self.ids.len());
    }

    /// Takes all stories out and keeps the memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.bounds.truncate(1);
    }

    /// Number of stories.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there is no story.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tokens of all stories.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Where the tokens of a story are.
    pub fn span(&self, story: usize) -> Range<usize> {
        self.bounds[story]..self.bounds[story + 1]
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
