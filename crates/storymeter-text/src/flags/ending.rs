//! How a text ends: with "The End.", or in the middle of a sentence.

use std::ops::Range;

use super::units::{tail, units};
use super::words::words;
use crate::treebank::PLACEHOLDERS;

/// Where words such as "The End." begin, if a text ends with them as a sentence or line of their
/// own.
pub(super) fn the_end(text: &str) -> Option<usize> {
    const ALONE: [&str; 5] = ["fin", "finis", "end", "end of story", "end of the story"];
    let window = tail(text);
    let offset = text.len() - window.len();
    let last = units(window, false).pop()?;
    let own_line = last.begins_line && (offset == 0 || last.range.start > 0);
    let is_it = |found: &str| found == "the end" || (own_line && ALONE.contains(&found));
    if is_it(&last.words.join(" ")) {
        let opened = window[last.range.start..].starts_with(['"', '“']);
        return (!opened).then_some(offset + last.range.start);
    }
    // "They lived happily ever after THE END": capitals, behind a word.
    let bare = window.trim_end_matches(['.', '!', '*', '_', '~', '-', ' ']);
    let capitals = bare.strip_suffix("THE END").filter(|before| before.ends_with(' '))?;
    let shouted = words(&window[last.range.clone()]).len() > 4
        && capitals[last.range.start.min(capitals.len())..].contains(char::is_lowercase);
    shouted.then(|| offset + capitals.trim_end_matches(['~', '*', '_', '-', ' ']).len())
}

/// The last sentence, if it has no end.
///
/// Marks that close (quotation marks, brackets, Markdown) may stand behind the end. A dash is an
/// end, because stories may end with a voice that is cut off, and so is a closing quotation mark or
/// bracket. The name below a letter needs no end.
pub(super) fn cut(text: &str) -> Option<Range<usize>> {
    let text = text.trim_end();
    let bare = text.trim_end_matches(['*', '_', '~', '`', ' ']);
    let last = bare.chars().next_back()?;
    let placeholder = PLACEHOLDERS.iter().any(|name| bare.ends_with(name));
    let hyphen = bare.strip_suffix('-').is_some_and(|rest| rest.ends_with(char::is_alphabetic));
    let open = last.is_alphanumeric()
        || matches!(last, ',' | ';' | ':' | '(' | '[' | '“' | '‘' | '&' | '/')
        || placeholder
        || hyphen
        || opens_quote(bare);
    if !open || is_signature(bare) {
        return None;
    }
    let window = tail(text);
    let offset = text.len() - window.len();
    units(window, false).pop().map(|unit| offset + unit.range.start..text.len())
}

/// Whether a text ends with a straight quotation mark that opens: there is white space before it.
fn opens_quote(text: &str) -> bool {
    let before = text.strip_suffix('"');
    before.is_some_and(|before| {
        let line = before.rsplit('\n').next().unwrap_or_default();
        before.ends_with(char::is_whitespace) && line.matches('"').count() % 2 == 0
    })
}

/// Whether the last line is the name below a letter, or who wrote the text: a few words that begin
/// with capitals or a dash, behind a line that ends.
fn is_signature(text: &str) -> bool {
    let Some((before, line)) = text.rsplit_once('\n') else { return is_inline_signature(text) };
    let before = before.trim_end();
    let line = line.trim();
    let name = line.trim_start_matches(['-', '—', '–', '~', ' ', '*']);
    let named = |word: &str| {
        word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
            || ["of", "the", "and", "your", "from"].contains(&word)
    };
    let words = name.split_whitespace().count();
    let ended = before.ends_with(|c: char| !c.is_alphanumeric());
    let short = (1..=5).contains(&words) && !line.ends_with([',', ';', ':', '-']);
    let dashed = name.len() < line.len() && words <= 8;
    ended && short && (dashed || name.split_whitespace().all(named))
}

/// Whether a text of one line ends with a greeting and a name: "Love, Anna".
fn is_inline_signature(text: &str) -> bool {
    const GREETINGS: [&str; 9] = [
        "Love,",
        "Yours,",
        "Sincerely,",
        "Regards,",
        "truly,",
        "sincerely,",
        "wishes,",
        "always,",
        "faithfully,",
    ];
    let mut words = text.split_whitespace().rev();
    words.next().is_some_and(|name| name.starts_with(char::is_uppercase))
        && words.take(2).any(|word| GREETINGS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_a_sentence_or_line_of_its_own() {
        for (text, rest) in [
            ("They ate. The End.", "They ate."),
            ("They ate.\n\nTHE END", "They ate."),
            ("They ate.\n\n~ The End ~", "They ate."),
            ("They ate.\n\n**The End**", "They ate."),
            ("They ate.\nFin.", "They ate."),
            ("They ate.\n\n--- END ---", "They ate."),
            ("they ate . the end .", "they ate ."),
            ("So they all ate cake ever after THE END", "So they all ate cake ever after"),
        ] {
            let start = the_end(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(text[..start].trim_end(), rest, "{text}");
        }
        for text in [
            "They came to the end of the road.",
            "And that was the end.",
            "It was the end",
            "\"The end.\"",
            "They ate. Fin.",
        ] {
            assert_eq!(the_end(text), None, "{text}");
        }
    }

    #[test]
    fn a_sentence_without_an_end_is_cut() {
        for text in [
            "He left. She went to the",
            "He left. She went,",
            "He left. \"Where are you going",
            "He left. She said \"",
            "He left. She looked at [MALE]",
            "He left. She was an extra-",
            "He left. **She went to the**",
        ] {
            assert_eq!(cut(text), Some(9..text.len()), "{text}");
        }
    }

    #[test]
    fn a_voice_that_is_cut_off_and_a_name_below_a_letter_are_no_cut() {
        for text in [
            "He left.",
            "\"Where are you going?\"",
            "He never saw the—",
            "He never saw the --",
            "And then...",
            "And then…",
            "*He left.*",
            "He left. (For good)",
            "Come home soon.\n\nLove,\nAnna",
            "Come home soon.\n- your brother",
            "Come home soon. Love, Anna",
        ] {
            assert_eq!(cut(text), None, "{text}");
        }
    }
}
