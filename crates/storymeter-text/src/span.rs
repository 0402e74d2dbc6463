//! Byte ranges, by which every layer of this crate points into the original text.

use std::ops::Range;

/// A half-open byte range of a text, on character boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end, "a span cannot end before it starts");
        Self { start, end }
    }

    /// The text the span covers.
    ///
    /// # Panics
    /// If the span does not fit this text, because it was made for another one.
    pub fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }

    /// The span as a range, for slicing and `String::replace_range`.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The length in bytes.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span covers no text.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The same span `offset` bytes further on: from a place in a part to the place in the whole
    /// text.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }
}
