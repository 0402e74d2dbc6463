//! What RUBER reads of a story: the context, which was given to the writer, and its continuation.

use std::borrow::Cow;

use storymeter_core::Story;
use storymeter_text::names::Delexicaliser;
use storymeter_text::{Span, sentence};

/// A story in two parts. A part may be empty, and the story has no unreferenced score then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The whole story.
    pub text: String,
    /// The leading context (UNION, section 4.2): the prompt, or else the first sentence.
    pub context: String,
    /// The rest of the story.
    pub continuation: String,
}

impl Reading {
    /// Divides a story. With `mask`, person names become `[MALE]`, `[FEMALE]` and `[NEUTRAL]`, as
    /// in UNION's data.
    ///
    /// ```
    /// use storymeter_core::Story;
    /// use storymeter_neural::ruber::Reading;
    ///
    /// let story = Story::from("Susan lost a kite. She looked for it. Robert had it.");
    /// let reading = Reading::of(&story, true);
    /// assert_eq!(reading.context, "[FEMALE] lost a kite.");
    /// assert_eq!(reading.continuation, "She looked for it. [MALE] had it.");
    /// ```
    pub fn of(story: &Story, mask: bool) -> Self {
        let prompt = story.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        let begins = prompt.is_some_and(|prompt| story.text.trim_start().starts_with(prompt));
        // A prompt with which the text does not begin is the context, and all of the text is open.
        let apart = prompt.filter(|_| !begins);
        let end = if apart.is_some() { 0 } else { end_of_context(story, prompt) };
        let (text, end) = match mask {
            true => {
                let names = Delexicaliser::embedded().delexicalise(&story.text);
                let end = moved(end, &names.names);
                (names.text, end)
            }
            false => (story.text.clone(), end),
        };
        let context = match apart {
            Some(prompt) => masked(prompt, mask).into_owned(),
            None => text[..end].trim().to_owned(),
        };
        Self { context, continuation: text[end..].trim().to_owned(), text }
    }

    /// Whether both parts have words, so that they can be compared.
    pub fn is_whole(&self) -> bool {
        !self.context.is_empty() && !self.continuation.is_empty()
    }
}

/// A text with its person names masked, if they are to be.
pub fn masked(text: &str, mask: bool) -> Cow<'_, str> {
    match mask {
        true => Cow::Owned(Delexicaliser::embedded().delexicalise(text).text),
        false => Cow::Borrowed(text),
    }
}

/// The byte at which the leading sentences end that are the context: the first one, or those of the
/// prompt with which the text begins.
fn end_of_context(story: &Story, prompt: Option<&str>) -> usize {
    let text = &story.text;
    let sentences: Vec<Span> = match story.sentences.as_slice() {
        [] => sentence::split(text),
        given => given.iter().map(|range| Span::new(range.start, range.end)).collect(),
    };
    let lead = text.len() - text.trim_start().len();
    let length = prompt.map_or(1, str::len);
    let last = sentences.iter().take_while(|sentence| sentence.start < lead + length).last();
    last.or(sentences.first())
        .map(|sentence| sentence.end)
        .filter(|&end| text.is_char_boundary(end))
        .unwrap_or(text.len())
}

/// Where a place of the text is after names were replaced. `names` has the spans of the
/// placeholders in the new text, and the names that they replaced.
fn moved(place: usize, names: &[(Span, String)]) -> usize {
    let (mut added, mut removed) = (0, 0);
    for (span, name) in names {
        let old_end = span.start + removed + name.len() - added;
        if old_end > place {
            break;
        }
        added += span.len();
        removed += name.len();
    }
    place + added - removed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(story: &Story) -> (String, String) {
        let reading = Reading::of(story, true);
        (reading.context, reading.continuation)
    }

    fn pair(context: &str, continuation: &str) -> (String, String) {
        (context.to_owned(), continuation.to_owned())
    }

    #[test]
    fn the_context_is_the_prompt_or_else_the_first_sentence() {
        let text = "Robert met Susan. Susan left. Robert stayed.";
        let plain = Story::from(text);
        assert_eq!(parts(&plain), pair("[MALE] met [FEMALE].", "[FEMALE] left. [MALE] stayed."));
        let prompted = Story { prompt: Some("Robert waits.".into()), ..plain.clone() };
        assert_eq!(
            parts(&prompted),
            pair("[MALE] waits.", "[MALE] met [FEMALE]. [FEMALE] left. [MALE] stayed.")
        );
        let continued =
            Story { prompt: Some("Robert met Susan. Susan left.".into()), ..plain.clone() };
        assert_eq!(
            parts(&continued),
            pair("[MALE] met [FEMALE]. [FEMALE] left.", "[MALE] stayed.")
        );
        let unmasked = Reading::of(&plain, false);
        assert_eq!(unmasked.context, "Robert met Susan.");
        assert_eq!(unmasked.text, text);
    }

    #[test]
    fn sentences_that_the_input_gives_are_used() {
        let mut story = Story::default();
        for sentence in ["Susan asked mr. brown", "he said no"] {
            story.push_sentence(sentence);
        }
        assert_eq!(parts(&story), pair("[FEMALE] asked mr. brown", "he said no"));
    }

    #[test]
    fn a_single_sentence_and_an_empty_text_have_no_continuation() {
        for text in ["", "  ", "Only one sentence.", "word"] {
            let reading = Reading::of(&Story::from(text), true);
            assert!(!reading.is_whole() && reading.continuation.is_empty(), "{text:?}");
        }
    }
}
