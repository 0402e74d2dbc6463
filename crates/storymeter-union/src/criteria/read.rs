//! How a criteria model reads a text. Training and scoring share it.

use std::ops::Range;

use storymeter_core::Story;
use storymeter_encoder::Tokenizer;
use storymeter_perturb::sentences_of;
use storymeter_text::Span;

use crate::Card;
use crate::normalise::normalised;
use crate::origin::Origin;
use crate::window::{Window, windows as cut};

/// The token ids of all windows of a story, special tokens included, as a model with this card
/// reads them. The prompt is not part of them.
///
/// The story is normalised as the card asks. The tokeniser must know the name tokens of the card
/// ([`Card::add_name_tokens`]).
pub fn windows(tokenizer: &Tokenizer, card: &Card, story: &Story) -> Vec<Vec<u32>> {
    let reading = Reading::new(tokenizer, card, story);
    reading.windows.into_iter().map(|window| window.ids).collect()
}

/// As [`windows`], with the place of each window in the story as it was given.
pub fn placed_windows(
    tokenizer: &Tokenizer,
    card: &Card,
    story: &Story,
) -> Vec<(Vec<u32>, Range<usize>)> {
    let Reading { origin, windows, .. } = Reading::new(tokenizer, card, story);
    let placed = |window: Window| {
        let place = match (window.pieces.first(), window.pieces.last()) {
            (Some(first), Some(last)) => origin.old_range(first.start..last.end),
            _ => 0..0,
        };
        (window.ids, place)
    };
    windows.into_iter().map(placed).collect()
}

/// The prompt of a story, if it has a letter or digit.
pub(super) fn prompt_of(story: &Story) -> Option<&str> {
    story.prompt.as_deref().filter(|prompt| has_words(prompt))
}

/// Whether a text has a letter or digit. The model was never trained on a text without one.
pub(super) fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// A text as a story that has nothing else.
pub(super) fn as_story(text: &str) -> Story {
    Story { text: text.to_owned(), ..Story::default() }
}

/// A story in the form in which the model reads it.
pub(super) struct Reading {
    /// Where the parts of the text are in the story as it was given.
    pub origin: Origin,
    pub sentences: Vec<Span>,
    pub windows: Vec<Window>,
}

impl Reading {
    pub fn new(tokenizer: &Tokenizer, card: &Card, story: &Story) -> Self {
        // Only what the model reads is normalised.
        let alone = Story { sentences: story.sentences.clone(), ..as_story(&story.text) };
        let (story, origin) = normalised(&alone, card);
        let sentences = sentences_of(&story);
        let windows = cut(tokenizer, None, &story.text, &sentences, card.max_tokens);
        Self { origin, sentences, windows }
    }
}
