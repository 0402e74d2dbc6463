//! Stories longer than the encoder's window: overlapping windows that end where sentences end.
//!
//! A window holds as many whole sentences as fit, and the next window begins with the last sentence of the one before
//! (so that every pair of neighbours is seen together). A sentence that is too long for a window by itself is cut. The
//! prompt, where the model reads prompts ([`crate::Card::prompts`]), stands before the story in every window, cut to a quarter of it.
//!
//! The story's logit is the mean of its windows' logits, weighted by their tokens.

use storymeter_core::Story;
use storymeter_encoder::{Token, Tokenizer};
use storymeter_text::Span;

/// The ids of one window and where its pieces stand in the story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// `[CLS] prompt story [SEP]`.
    pub ids: Vec<u32>,
    /// The story's pieces in this window; the first stands at `offset` in `ids`.
    pub pieces: Vec<Token>,
    /// Where the story begins in `ids`.
    pub offset: usize,
}

/// Cuts a story, given by its text and the spans of its sentences, into windows of at most `limit` tokens.
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
        ids.push(tokenizer.end());
        Window { ids, pieces, offset: lead.len() }
    };
    if pieces.len() <= room {
        return vec![make(0, pieces.len())];
    }
    let ends = sentence_ends(&pieces, sentences, room);
    let mut windows = Vec::new();
    // `first` and `last` count sentences; `ends[i]` is where sentence i ends in `pieces`.
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
        // The last sentence again, unless it alone keeps the next one out.
        let overlap = ends[last + 1] - begin(last) <= room && last > first;
        first = if overlap { last } else { last + 1 };
    }
}

/// The prompt of a story, unless the story itself begins with it.
pub fn prompt_of(story: &Story) -> Option<&str> {
    story.prompt.as_deref().filter(|prompt| !story.text.trim_start().starts_with(prompt.trim()))
}

/// What stands before the story in a window: `[CLS]` and the prompt.
pub fn lead(tokenizer: &Tokenizer, prompt: Option<&str>, limit: usize) -> Vec<u32> {
    let mut lead: Vec<u32> = vec![tokenizer.start()];
    if let Some(prompt) = prompt.filter(|prompt| !prompt.trim().is_empty()) {
        lead.extend(tokenizer.tokenize(prompt).iter().take(limit / 4).map(|token| token.id));
    }
    lead
}

/// Where sentences end, counted in pieces; a sentence of more than `room` pieces ends every `room` pieces.
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

    /// The windows as text.
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
