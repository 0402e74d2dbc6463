//! A list of tokens in one piece of memory.

use std::ops::Range;

/// Tokens of a text, as byte ranges of a buffer they share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    buffer: String,
    spans: Vec<(u32, u32)>,
}

impl Tokens {
    /// Tokens as ranges of a text, which they keep.
    ///
    /// # Panics
    /// If a range does not lie on character boundaries of the text, or the text is 4 GiB or longer.
    pub fn new(buffer: String, spans: impl IntoIterator<Item = Range<usize>>) -> Self {
        assert!(u32::try_from(buffer.len()).is_ok(), "a text of 4 GiB or more");
        let spans = spans.into_iter().map(|span| {
            assert!(buffer.is_char_boundary(span.start) && buffer.is_char_boundary(span.end));
            (span.start as u32, span.end as u32)
        });
        let spans = spans.collect();
        Self { buffer, spans }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The n-th token.
    pub fn get(&self, index: usize) -> &str {
        let (start, end) = self.spans[index];
        &self.buffer[start as usize..end as usize]
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans.iter().map(|&(start, end)| &self.buffer[start as usize..end as usize])
    }
}
