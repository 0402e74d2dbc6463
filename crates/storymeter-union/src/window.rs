//! Cuts a story that is longer than the encoder's window into overlapping windows of whole
//! sentences.
//!
//! A window holds as many whole sentences as fit. The next window begins with the last sentence of
//! the one before, so that every sentence is read together with the one after it. A sentence that
//! does not fit into a window is cut. If the model reads prompts ([`crate::Card::prompts`]), the
//! prompt stands before the story in every window, and takes at most a quarter of it.
//!
//! The logit of the story is the mean of the logits of its windows, weighted by their tokens.

use storymeter_core::Story;
use storymeter_encoder::{Token, Tokenizer};
use storymeter_text::Span;

/// The tokens of one window, and their places in the story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// `[CLS] prompt story [SEP]`.
    pub ids: Vec<u32>,
    /// The pieces of the story in this window. The first of them is at `offset` in `ids`.
    pub pieces: Vec<Token>,
    /// The place in `ids` at which the story begins.
    pub offset: usize,
}

/// Cuts a story into windows of at most `limit` tokens. The story is given by its text and the
/// spans of its sentences.
pub fn windows(
    tokenizer: &Tokenizer,
    prompt: Option<&str>,
    text: &str,
    sentences: &[Span],
    limit: usize,
) -> Vec<Window> {
    let lead = lead(tokenizer, prompt, limit);
    let room = limit - lead.len() - 1;
    let pieces = tokenizer.tokenize(text);
    let make = |from: usize, to: usize| {
        let pieces = pieces[from..to].to_vec();
        let mut ids = lead.clone();
        ids.extend(pieces.iter().map(|token| token.id));
        ids.extend(tokenizer.end());
        Window { ids, pieces, offset: lead.len() }
    };
    if pieces.len() <= room {
        return vec![make(0, pieces.len())];
    }
    let ends = sentence_ends(&pieces, sentences, room);
    let mut windows = Vec::new();
    // `first` and `last` are numbers of sentences. Sentence i ends at `ends[i]` in `pieces`.
    let begin = |sentence: usize| if sentence == 0 { 0 } else { ends[sentence - 1] };
    let mut first = 0;
    loop {
        let mut last = first;
        while last + 1 < ends.len() && ends[last + 1] - begin(first) <= room {
            last += 1;
        }
        windows.push(make(begin(first), ends[last]));
        if last + 1 == ends.len() {
            return windows;
        }
        // The last sentence is repeated, unless the next one would not fit beside it.
        let overlap = ends[last + 1] - begin(last) <= room && last > first;
        first = if overlap { last } else { last + 1 };
    }
}

/// The prompt of a story, unless the story itself begins with it.
pub fn prompt_of(story: &Story) -> Option<&str> {
    story.prompt.as_deref().filter(|prompt| !story.text.trim_start().starts_with(prompt.trim()))
}

/// The tokens before the story in a window: `[CLS]` and the prompt.
pub fn lead(tokenizer: &Tokenizer, prompt: Option<&str>, limit: usize) -> Vec<u32> {
    let mut lead: Vec<u32> = tokenizer.start().into_iter().collect();
    if let Some(prompt) = prompt.filter(|prompt| !prompt.trim().is_empty()) {
        lead.extend(tokenizer.tokenize(prompt).iter().take(limit / 4).map(|token| token.id));
    }
    lead
}

/// The places in `pieces` at which sentences end. A sentence of more than `room` pieces is cut into
/// parts of `room` pieces.
pub fn sentence_ends(pieces: &[Token], sentences: &[Span], room: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut start = 0;
    let limits = sentences.iter().map(|sentence| sentence.end).chain([usize::MAX]);
    for limit in limits {
        let end = start + pieces[start..].partition_point(|piece| piece.end <= limit);
        while end - start > room {
            start += room;
            ends.push(start);
        }
        if end > start {
            start = end;
            ends.push(end);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use storymeter_encoder::Config;
    use storymeter_text::sentence;

    use super::*;

    fn tokenizer() -> Tokenizer {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert");
        Tokenizer::load(&folder, &Config::load(&folder).unwrap()).unwrap()
    }

    /// The texts of the windows.
    fn cut(text: &str, prompt: Option<&str>, limit: usize) -> Vec<String> {
        let windows = windows(&tokenizer(), prompt, text, &sentence::split(text), limit);
        assert!(windows.iter().all(|window| window.ids.len() <= limit));
        let shown = |window: &Window| match (window.pieces.first(), window.pieces.last()) {
            (Some(first), Some(last)) => text[first.start..last.end].to_owned(),
            _ => String::new(),
        };
        windows.iter().map(shown).collect()
    }

    #[test]
    fn a_story_that_fits_is_one_window() {
        assert_eq!(
            cut("Mira lost her kite. She looked.", None, 20),
            ["Mira lost her kite. She looked."]
        );
        assert_eq!(cut("", None, 20), [""]);
    }

    #[test]
    fn windows_end_at_sentences_and_share_the_last_one() {
        let text = "Mira lost her kite. She looked in the barn. It hung there. They flew again.";
        assert_eq!(
            cut(text, None, 16),
            [
                "Mira lost her kite. She looked in the barn.",
                "She looked in the barn. It hung there. They flew again.",
            ]
        );
    }

    #[test]
    fn a_sentence_longer_than_a_window_is_cut() {
        assert_eq!(cut("kite kite kite kite kite kite kite kite", None, 8).len(), 2);
    }

    #[test]
    fn the_prompt_takes_at_most_a_quarter() {
        let prompt = "the old red kite hung in the barn";
        let windows = windows(&tokenizer(), Some(prompt), "Mira lost.", &[], 16);
        assert_eq!(windows[0].offset, 1 + 4);
    }
}
