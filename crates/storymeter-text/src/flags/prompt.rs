//! The prompt once more, before the story.

use super::units::{head, is_closer};
use super::words::{begin, have_one, words};

/// The length of the prompt at the beginning of a text, if the text repeats it.
///
/// Words are compared, not marks, white space or case. A prompt that tells the writer what to do is
/// found wherever it stands. Any other prompt may be the first sentence of the story, as in
/// ROCStories, and belongs to it. So it counts only if it stands in a paragraph of its own.
pub(super) fn repeated(text: &str, prompt: &str) -> Option<usize> {
    let label = label(text);
    let rest = &text[label..];
    let (bare, prompt) = (without_tag(rest), without_tag(prompt));
    let mut place = 0;
    let mut any = false;
    let mut wanted = Words { text: prompt, at: 0 };
    while let Some((word, _)) = wanted.next() {
        let mut found = Words { text: bare, at: place };
        let (same, end) = found.next()?;
        if !same.flat_map(char::to_lowercase).eq(word.flat_map(char::to_lowercase)) {
            return None;
        }
        place = end;
        any = true;
    }
    let closed = behind_marks(&bare[place..]);
    let own_paragraph = closed.trim_start_matches([' ', '\t', '\r']).is_empty()
        || blank_line_follows(closed)
        || label > 0;
    let all = closed.trim().is_empty();
    let counts = any && (is_instruction(prompt) || (own_paragraph && !all));
    counts.then(|| text.len() - closed.len())
}

/// The length of a first line such as "Prompt: A cat finds a key.", or one with the tag `[WP]`,
/// that a text follows.
pub(super) fn labelled(text: &str) -> Option<usize> {
    let end = head(text).find('\n')?;
    let tagged = without_tag(text).len() < text.len();
    let has_story = || text[end..].contains(char::is_alphanumeric);
    ((label(text) > 0 || tagged) && has_story()).then_some(end)
}

/// The length of "Prompt:" and the like, with the Markdown around it.
fn label(text: &str) -> usize {
    const LABELS: [&str; 5] =
        ["writing prompt", "story prompt", "the prompt", "prompt", "your prompt"];
    let bare = text.trim_start_matches(['#', '*', '_', ' ']);
    let Some(colon) = head(bare).find(':').filter(|at| *at <= 20) else { return 0 };
    let name = bare[..colon].trim_end_matches(['*', '_']).to_lowercase();
    let after = bare[colon + 1..].trim_start_matches(['*', '_']);
    if LABELS.contains(&name.as_str()) { text.len() - after.len() } else { 0 }
}

/// A prompt without the tag of its kind, as `[WP]`.
fn without_tag(text: &str) -> &str {
    const TAGS: [&str; 8] = ["WP", "EU", "TT", "CW", "PI", "SP", "MP", "IP"];
    let inner =
        text.trim_start_matches(is_opener).strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match inner {
        Some((tag, rest)) if TAGS.contains(&tag.trim().to_uppercase().as_str()) => rest,
        _ => text,
    }
}

/// Whether a mark may stand before a prompt: blanks, Markdown, quotation marks.
fn is_opener(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_' | '#' | '>' | '"' | '“')
}

/// Whether a prompt tells somebody to write.
fn is_instruction(prompt: &str) -> bool {
    #[rustfmt::skip]
    const VERBS: &str = "write|tell|create|compose|craft|generate|continue|draft|imagine|describe|produce|give|make|finish|complete|develop|pen|narrate";
    let found = words(head(prompt));
    let told = begin(&found, &format!("please? {VERBS}")) && found.len() >= 3;
    let asked = begin(&found, "can|could|would|will you") || begin(&found, "i want|need|would you");
    told || (asked && have_one(&found, &["story", "tale", "write", "narrative"]))
}

/// What follows the marks that end a sentence, also where texts have a blank before them.
fn behind_marks(after: &str) -> &str {
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | '…' | ':' | ',');
    let marks = after.trim_start_matches(' ');
    let marks = if marks.starts_with(is_end) { marks } else { after };
    marks.trim_start_matches(|c: char| is_end(c) || is_closer(c))
}

fn blank_line_follows(text: &str) -> bool {
    let white = &text[..text.len() - text.trim_start().len()];
    white.matches('\n').count() >= 2
}

/// The runs of letters and digits of a text.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    /// The next word and where it ends.
    fn next(&mut self) -> Option<(std::str::Chars<'a>, usize)> {
        let rest = &self.text[self.at..];
        let start = rest.find(char::is_alphanumeric)?;
        let word = &rest[start..];
        let length = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
        self.at += start + length;
        Some((word[..length].chars(), self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest<'a>(text: &'a str, prompt: &str) -> Option<&'a str> {
        repeated(text, prompt).map(|length| text[length..].trim())
    }

    #[test]
    fn an_instruction_is_found_wherever_it_stands() {
        let prompt = "Write a story about a cat.";
        for text in [
            "Write a story about a cat.\n\nTom slept.",
            "write  a story\nabout a CAT. Tom slept.",
            "**Prompt:** Write a story about a cat\nTom slept.",
            "\"Write a story about a cat.\" Tom slept.",
        ] {
            assert_eq!(rest(text, prompt), Some("Tom slept."), "{text}");
        }
        assert_eq!(rest("Write a story about a dog. Tom slept.", prompt), None);
        assert_eq!(rest("Write a story", prompt), None);
    }

    #[test]
    fn a_first_sentence_belongs_to_the_story_unless_it_is_a_paragraph_of_its_own() {
        let prompt = "Tom found a key.";
        assert_eq!(rest("Tom found a key. It was old.", prompt), None);
        assert_eq!(rest("Tom found a key.\nIt was old.", prompt), None);
        assert_eq!(rest("Tom found a key.", prompt), None);
        assert_eq!(rest("Tom found a key.\n\nIt was old.", prompt), Some("It was old."));
        assert_eq!(rest("[WP] Tom found a key\n\nIt was old.", prompt), Some("It was old."));
        assert_eq!(
            rest("Tom found a key.\n\nIt was old.", "[WP] Tom found a key."),
            Some("It was old.")
        );
    }

    #[test]
    fn a_label_shows_a_prompt_that_is_not_known() {
        assert_eq!(labelled("Prompt: A cat finds a key.\nTom slept."), Some(26));
        assert_eq!(labelled("[WP] A cat finds a key.\nTom slept."), Some(23));
        assert_eq!(labelled("Prompt: A cat finds a key."), None);
        assert_eq!(labelled("Prompt as ever, Tom rose at six.\nHe ate."), None);
    }
}
