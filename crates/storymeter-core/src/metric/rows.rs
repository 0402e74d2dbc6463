//! Rows of sufficient statistics, one per story of a batch.

use crate::Prepared;

/// The rows of a batch of stories, one after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    width: usize,
    values: Vec<f64>,
    truncated: u64,
}

impl Rows {
    /// Fills one row of this width per story. All its numbers are 0 at first.
    ///
    /// ```
    /// use storymeter_core::{Prepared, Rows, Story};
    /// let story = Story { text: "Rain fell.".into(), ..Story::default() };
    /// let rows = Rows::each(&[Prepared::new(0, &story)], 1, |story, row| {
    ///     row[0] = story.text.text().len() as f64;
    /// });
    /// assert_eq!(rows.row(0), [10.0]);
    /// ```
    pub fn each(
        stories: &[Prepared<'_>],
        width: usize,
        mut fill: impl FnMut(&Prepared<'_>, &mut [f64]),
    ) -> Self {
        let mut values = vec![0.0; stories.len() * width];
        for (story, row) in stories.iter().zip(values.chunks_exact_mut(width.max(1))) {
            fill(story, row);
        }
        Self { width, values, truncated: 0 }
    }

    /// Rows of this width whose values are known already.
    ///
    /// # Panics
    /// If the number of values is not a multiple of the width.
    pub fn from_values(width: usize, values: Vec<f64>) -> Self {
        assert!(width > 0 && values.len().is_multiple_of(width), "whole rows");
        Self { width, values, truncated: 0 }
    }

    /// The same rows, with the number of stories of which only a part was read.
    #[must_use]
    pub fn truncated(mut self, stories: u64) -> Self {
        self.truncated = stories;
        self
    }

    /// The row of the n-th story.
    pub fn row(&self, story: usize) -> &[f64] {
        &self.values[story * self.width..(story + 1) * self.width]
    }

    /// The number of stories of which only a part was read.
    pub fn truncated_stories(&self) -> u64 {
        self.truncated
    }
}
