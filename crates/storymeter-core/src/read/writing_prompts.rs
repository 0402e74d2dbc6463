//! Reads WritingPrompts: a file of prompts (`NAME.wp_source`) and a file of stories
//! (`NAME.wp_target`), whose lines belong together.
//!
//! The stories are far longer than what UNION scores: it keeps about the first 200 words (section
//! 4.2). Here a story ends at the last end of a sentence within them. The token `<newline>` becomes
//! a line break.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::Format;
use super::cutter::Cut;
use super::lines::{Line, LineReader};
use super::source::Found;
use super::utf8::utf8;
use crate::{Error, Place, Result, Story};

/// The file of prompts and the file of stories, found from either. Their names differ in `source`
/// and `target`.
pub(super) fn pair_of(path: &Path) -> Result<(PathBuf, PathBuf)> {
    let pair = match (renamed(path, "target", "source"), renamed(path, "source", "target")) {
        (Some(prompts), _) => (prompts, path.to_owned()),
        (None, Some(stories)) => (path.to_owned(), stories),
        (None, None) => {
            let problem = "WritingPrompts is a pair of files, NAME.wp_source and NAME.wp_target, \
                           and this name is neither";
            return Err(Error::invalid(Place::file(path), problem));
        }
    };
    for file in [&pair.0, &pair.1] {
        if !file.is_file() {
            let problem = format!("the other file of the pair is missing: {}", file.display());
            return Err(Error::invalid(Place::file(path), problem));
        }
    }
    Ok(pair)
}

/// The path with the last `from` in its file name replaced by `to`.
fn renamed(path: &Path, from: &str, to: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (before, after) = name.rsplit_once(from)?;
    Some(path.with_file_name(format!("{before}{to}{after}")))
}

/// Leaves out each file of stories whose file of prompts is listed too, so that a pair is read
/// once.
pub(super) fn one_of_each_pair(files: Vec<Found>, format: Option<Format>) -> Vec<Found> {
    let is_pair =
        |path: &Path| format.or_else(|| Format::detect(path, b"")) == Some(Format::WritingPrompts);
    let paths: HashSet<PathBuf> =
        files.iter().map(|file| &file.path).filter(|path| is_pair(path)).cloned().collect();
    let is_second = |path: &Path| {
        paths.contains(path)
            && renamed(path, "target", "source").is_some_and(|prompts| paths.contains(&prompts))
    };
    files.into_iter().filter(|file| !is_second(&file.path)).collect()
}

/// The next prompt and story, as two lines.
pub(super) fn cut_pair(prompts: &mut LineReader, stories: &mut LineReader) -> Result<Option<Cut>> {
    let prompt = prompts.next()?;
    let story = stories.next()?;
    let body = match (prompt, story) {
        (None, None) => return Ok(None),
        (Some(Line::Text(mut pair)), Some(Line::Text(story))) => {
            pair.push(b'\n');
            pair.extend_from_slice(&story);
            Ok(pair)
        }
        (Some(Line::Broken(problem)), _) => Err(format!("the prompt is bad: {problem}")),
        (_, Some(Line::Broken(problem))) => Err(problem),
        (Some(_), None) => {
            Err("the prompt has no story: the file of prompts has more lines".into())
        }
        (None, Some(_)) => {
            Err("the story has no prompt: the file of stories has more lines".into())
        }
    };
    Ok(Some(Cut { line: stories.number(), body }))
}

/// Makes a story from the two lines.
pub(super) fn parse(mut pair: Vec<u8>, max_words: usize, place: &Place) -> Result<Story> {
    let end = memchr::memchr(b'\n', &pair).map_or(pair.len(), |end| end + 1);
    let story = utf8(pair.split_off(end), place)?;
    let prompt = utf8(pair, place).map_err(|e| match e {
        Error::Invalid { problem, .. } => {
            Error::invalid(place.clone(), format!("the prompt is bad: {problem}"))
        }
        e => e,
    })?;
    let prompt = prompt.trim();
    Ok(Story {
        prompt: (!prompt.is_empty()).then(|| prompt.to_owned()),
        text: first_words(&story, max_words)
            .replace(" <newline> ", "\n")
            .replace("<newline>", "\n")
            .trim()
            .to_owned(),
        ..Story::default()
    })
}

/// The whole sentences within the first `max_words` words. If the first sentence is longer than
/// that, the whole of it is returned; if no sentence ends at all, just the words.
fn first_words(text: &str, max_words: usize) -> &str {
    let mut last_end = None;
    let mut cut = None;
    for (count, word) in text.split_whitespace().filter(|&word| word != "<newline>").enumerate() {
        let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
        if count >= max_words {
            cut.get_or_insert(end - word.len());
            if last_end.is_some() {
                break;
            }
        }
        if ends_sentence(word)
            || is_closing(word)
                && last_end.is_some_and(|at: usize| text[at..end - word.len()].trim().is_empty())
        {
            last_end = Some(end);
        }
    }
    match (cut, last_end) {
        (None, _) => text,
        (Some(_), Some(end)) => &text[..end],
        (Some(cut), None) => &text[..cut],
    }
}

/// Whether a word ends in a full stop, a question mark or an exclamation mark, before any closing
/// quotes and brackets. A title (`Dr.`) or an initial (`K.`) does not end a sentence.
fn ends_sentence(word: &str) -> bool {
    let word = word.trim_end_matches(CLOSING);
    let is_title = |stem: &str| TITLES.iter().any(|title| stem.eq_ignore_ascii_case(title));
    let is_initial =
        |stem: &str| stem.len() == 1 && stem.as_bytes()[0].is_ascii_uppercase() && stem != "I";
    word.ends_with(['.', '!', '?'])
        && !word.strip_suffix('.').is_some_and(|stem| is_title(stem) || is_initial(stem))
}

const TITLES: [&str; 6] = ["mr", "mrs", "ms", "dr", "st", "prof"];

/// Whether a word is only closing quotes and brackets, as in tokenised text. Such a word belongs to
/// the sentence before it.
fn is_closing(word: &str) -> bool {
    word.chars().all(|c| CLOSING.contains(&c))
}

const CLOSING: &[char] = &['"', '\'', '\u{201d}', '\u{2019}', ')', ']'];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_story_is_cut_after_the_last_sentence_that_fits() {
        let text = "One two . Three four ! Five six seven eight";
        assert_eq!(first_words(text, 10), text);
        assert_eq!(first_words(text, 9), "One two . Three four !");
        assert_eq!(first_words(text, 5), "One two .");
        assert_eq!(first_words(text, 1), "One two .");
        assert_eq!(first_words("no end at all here", 3), "no end at ");
    }

    #[test]
    fn quotes_belong_to_their_sentence_and_titles_end_none() {
        assert_eq!(first_words("`` Who is it ? '' he said to her", 6), "`` Who is it ? ''");
        assert_eq!(first_words("It rang . Dr. K. Poe came in late", 7), "It rang .");
        assert_eq!(
            first_words("\u{201c}It is I.\u{201d} Nobody came at all", 5),
            "\u{201c}It is I.\u{201d}"
        );
    }

    proptest! {
        #[test]
        fn what_is_kept_is_a_beginning_within_the_limit(
            text in "([ab]{1,3}|[.!?]|''|é| |<newline>){0,40}",
            max in 1usize..12,
        ) {
            let kept = first_words(&text, max);
            prop_assert!(text.starts_with(kept));
            let is_word = |word: &&str| *word != "<newline>";
            let words = |text: &str| text.split_whitespace().filter(is_word).count();
            if words(&text) <= max {
                prop_assert_eq!(kept, text.as_str());
            } else if words(kept) > max {
                // Only the first sentence may be longer than the limit.
                let last = kept.split_whitespace().next_back().unwrap();
                prop_assert!(ends_sentence(last));
                let ends = kept.split_whitespace().filter(|word| ends_sentence(word)).count();
                prop_assert_eq!(ends, 1);
            }
        }
    }
}
