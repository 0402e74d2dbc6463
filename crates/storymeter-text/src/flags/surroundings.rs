//! Takes a story out of what surrounds it.

use std::borrow::Cow;
use std::ops::Range;

use super::{Finding, Flag, chat, ending, markdown, prompt, tokens};

/// What surrounds a story may be nested: words to the user around a fence around a title. A text
/// that still has something to remove after this many passes was made to have it, and is left as
/// it is. So the time stays linear, and what was cleaned once is clean.
const MOST_PASSES: usize = 16;

/// The prompt stands behind at most this many tokens and titles.
const MOST_SEARCHES: usize = 8;

/// A text without what surrounds the story, and what was removed, in the order of the text.
pub(super) fn remove<'a>(text: &'a str, prompt: Option<&str>) -> (Cow<'a, str>, Vec<Finding>) {
    let kept = std::iter::once(0..text.len()).collect();
    let mut pieces = Pieces { text, kept, removed: Vec::new() };
    for _ in 0..MOST_PASSES {
        let now = pieces.joined();
        let cuts = cuts(&now, prompt);
        if cuts.is_empty() {
            pieces.removed.sort_unstable_by_key(|found| found.range.start);
            return (now, pieces.removed);
        }
        let spaces = pieces.spaces();
        pieces.remove(&cuts, &spaces);
    }
    (Cow::Borrowed(text), Vec::new())
}

/// The parts of a text that are left.
struct Pieces<'a> {
    text: &'a str,
    kept: Vec<Range<usize>>,
    removed: Vec<Finding>,
}

impl<'a> Pieces<'a> {
    /// For each piece, whether a blank stands before it, because a token was removed that parted
    /// two words.
    fn spaces(&self) -> Vec<bool> {
        let mut spaces = vec![false; self.kept.len()];
        let tokens = self.removed.iter().filter(|found| found.flag == Flag::Token);
        let mut tokens: Vec<usize> = tokens.map(|found| found.range.start).collect();
        tokens.sort_unstable();
        for (index, pair) in self.kept.windows(2).enumerate() {
            let next = tokens.partition_point(|at| *at < pair[0].end);
            let parted = tokens.get(next).is_some_and(|at| *at < pair[1].start);
            let glued = !self.text[..pair[0].end].ends_with(char::is_whitespace)
                && !self.text[pair[1].start..].starts_with(char::is_whitespace);
            spaces[index + 1] = parted && glued;
        }
        spaces
    }

    fn joined(&self) -> Cow<'a, str> {
        match self.kept.as_slice() {
            [] => Cow::Borrowed(""),
            [one] => Cow::Borrowed(&self.text[one.clone()]),
            many => {
                let mut joined = String::with_capacity(self.text.len());
                for (piece, space) in many.iter().zip(self.spaces()) {
                    if space {
                        joined.push(' ');
                    }
                    joined.push_str(&self.text[piece.clone()]);
                }
                Cow::Owned(joined)
            }
        }
    }

    /// Removes parts of the joined text. They are in order and do not overlap.
    fn remove(&mut self, cuts: &[(Range<usize>, Flag)], spaces: &[bool]) {
        let mut kept = Vec::new();
        let mut cuts = cuts.iter().peekable();
        let mut at = 0;
        for (piece, space) in self.kept.iter().zip(spaces) {
            at += usize::from(*space);
            // From a place in the joined text to the place in the original one.
            let original = |place: usize| piece.start + (place - at);
            let end = at + piece.len();
            let mut from = at;
            while let Some((cut, flag)) = cuts.peek() {
                if cut.start >= end {
                    break;
                }
                let (start, stop) = (cut.start.max(from), cut.end.min(end));
                if start > from {
                    kept.push(original(from)..original(start));
                }
                if stop > start {
                    let range = original(start)..original(stop);
                    self.removed.push(Finding { flag: *flag, range });
                    from = stop;
                }
                if cut.end > end {
                    break;
                }
                cuts.next();
            }
            if from < end {
                kept.push(original(from)..original(end));
            }
            at = end;
        }
        self.kept = kept;
    }
}

/// What one pass finds: first what stands before the story and behind it, then tokens and marks
/// in it.
fn cuts(text: &str, prompt: Option<&str>) -> Vec<(Range<usize>, Flag)> {
    let mut cuts: Vec<(Range<usize>, Flag)> = Vec::new();
    let begin = before(text, prompt, &mut cuts);
    let mut behind = Vec::new();
    let end = after(text, begin, &mut behind);
    let story = &text[begin..end];
    let shifted = |range: Range<usize>| range.start + begin..range.end + begin;
    let found = tokens::anywhere(story).into_iter().map(|range| (shifted(range), Flag::Token));
    let marks = markdown::marks(story).into_iter().map(|range| (shifted(range), Flag::Markdown));
    let mut inner: Vec<(Range<usize>, Flag)> = found.chain(marks).collect();
    inner.sort_by_key(|(range, _)| range.start);
    let mut reached = begin;
    for (range, flag) in inner {
        if range.start >= reached {
            reached = range.end;
            cuts.push((range, flag));
        }
    }
    cuts.extend(behind.into_iter().rev());
    cuts
}

/// Finds what stands before a story, and returns where the story begins.
fn before(text: &str, prompt: Option<&str>, cuts: &mut Vec<(Range<usize>, Flag)>) -> usize {
    // Some searches go through the whole text, so only a few places are searched from.
    let mut searches = 0..MOST_SEARCHES;
    let mut at = tokens::thoughts(text).unwrap_or(0);
    if at > 0 {
        cuts.push((0..at, Flag::Token));
    }
    let mut prompted = false;
    loop {
        let rest = text[at..].trim_start();
        let start = text.len() - rest.len();
        let found = if rest.is_empty() {
            None
        } else if !prompted
            && searches.next().is_some()
            && let Some(length) = asked(rest, prompt)
        {
            prompted = true;
            Some((length, Flag::Prompt))
        } else if let Some(length) = tokens::leading(rest) {
            Some((length, Flag::Token))
        } else if let Some(length) = markdown::leading(rest) {
            Some((length, Flag::Markdown))
        } else {
            chat::leading(rest).map(|length| (length, Flag::Preamble))
        };
        let Some((length, flag)) = found else { return at };
        let behind = &rest[length..];
        let end = start + length + (behind.len() - behind.trim_start().len());
        cuts.push((at..end, flag));
        at = end;
    }
}

/// The length of the prompt before a story: the user's turn of a chat, the prompt that is known, or
/// a line that is called a prompt.
fn asked(text: &str, prompt: Option<&str>) -> Option<usize> {
    tokens::user_turn(text)
        .or_else(|| prompt.and_then(|prompt| prompt::repeated(text, prompt)))
        .or_else(|| prompt::labelled(text))
        .filter(|length| *length > 0)
}

/// Finds what stands behind a story, last things first, and returns where the story ends.
fn after(text: &str, begin: usize, cuts: &mut Vec<(Range<usize>, Flag)>) -> usize {
    let mut end = text.len();
    loop {
        let rest = text[begin..end].trim_end();
        let found = if rest.is_empty() {
            None
        } else if let Some(start) = tokens::trailing(rest) {
            Some((start, Flag::Token))
        } else if let Some(start) = markdown::trailing(rest) {
            Some((start, Flag::Markdown))
        } else if let Some(start) = ending::the_end(rest) {
            Some((start, Flag::TheEnd))
        } else {
            chat::trailing(rest).map(|start| (start, Flag::Outro))
        };
        let Some((start, flag)) = found else { return end };
        let start = begin + rest[..start].trim_end().len();
        cuts.push((start..end, flag));
        end = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> String {
        let (story, removed) = remove(text, None);
        for pair in removed.windows(2) {
            assert!(pair[0].range.end <= pair[1].range.start, "{removed:?}");
        }
        story.into_owned()
    }

    #[test]
    fn what_is_nested_is_taken_off_from_outside() {
        let story = "The lamp went out. Nobody saw it.";
        for text in [
            format!("<s>[INST] Write. [/INST] Sure! Here is a story:\n\n# The Lamp\n\n{story}</s>"),
            format!("```\n{story}\n```\n\n---\n\nI hope you enjoyed it! <|im_end|>"),
            format!("**{story}**\n\n*The End*\n\n(Word count: 7)"),
            format!("<think>\nA lamp, perhaps.\n</think>\n\n**The Lamp**\n\n{story}"),
        ] {
            assert_eq!(cleaned(&text), story, "{text}");
        }
    }

    #[test]
    fn a_token_between_two_words_leaves_a_blank() {
        assert_eq!(cleaned("She left.<|endoftext|>He stayed."), "She left. He stayed.");
        assert_eq!(cleaned("She left. <|endoftext|>He stayed."), "She left. He stayed.");
    }

    #[test]
    fn a_text_that_never_becomes_clean_is_left_as_it_is() {
        let nested = format!("{}{}", "<|s".repeat(60), "|>".repeat(60));
        let (story, removed) = remove(&nested, None);
        let (again, _) = remove(&story, None);
        assert_eq!(story, again);
        assert_eq!(removed.is_empty(), story == nested);
    }
}
