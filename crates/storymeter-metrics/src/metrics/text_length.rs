//! Text length: the number of tokens of the story.
//!
//! Definition: `|S|`, the number of tokens of the story between white space.
//!
//! Presets:
//! - `words` (default): runs of characters between white space.
//!
//! Direction: none. Range: 0 and up. An empty story scores 0.

use storymeter_core::{Direction, Metric, Needs, Prepared, Signature};

use crate::registry::{Entry, Request};
use crate::tokenize::{Tokenised, Whitespace};

pub(crate) const ENTRY: Entry = Entry {
    ids: &["text-length"],
    presets: &[("words", "between white space")],
    direction: Direction::None,
    range: "0 and up",
    needs: Needs::STORY,
    source: include_str!("text_length.rs"),
    build: |request| Ok(Box::new(TextLength::new(request))),
};

struct TextLength {
    columns: [String; 1],
}

impl TextLength {
    fn new(request: &Request<'_>) -> Self {
        Self { columns: [request.key.to_owned()] }
    }
}

impl Metric for TextLength {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn direction(&self) -> Direction {
        ENTRY.direction
    }

    fn needs(&self) -> Needs {
        ENTRY.needs
    }

    fn signature(&self) -> Signature {
        Signature::new("text-length").with("tok", "tok", "words")
    }

    fn width(&self) -> usize {
        1
    }

    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]) {
        row[0] = story.text.view::<Tokenised<Whitespace>>().len() as f64;
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = row[0];
    }
}
