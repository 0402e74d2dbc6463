//! The way a text is written, which must match when sentences move between stories.
//!
//! Corpora mix raw text ("Ken didn't go."), lower-case tokenised text ("ken did n't go .") and text
//! with masked names ("[MALE] did n't go ."). A sentence from a donor of another kind would reveal
//! the damage by its spelling, and a classifier would learn nothing else.

/// The way a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether it has capital letters outside of placeholders.
    pub cased: bool,
    /// Whether punctuation and clitics stand apart: `did n't go .`
    pub spaced: bool,
    /// Whether names are placeholders: `[MALE]`, `[FEMALE]`, `[NEUTRAL]`.
    pub delexicalised: bool,
}

impl Style {
    /// The number of different styles.
    pub const COUNT: usize = 8;

    /// Recognises the style of a text.
    pub fn of(text: &str) -> Self {
        let mut style = Self::default();
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            match bytes[i] {
                b'[' => {
                    if let Some(tag) = ["[MALE]", "[FEMALE]", "[NEUTRAL]"]
                        .iter()
                        .find(|tag| text[i..].starts_with(**tag))
                    {
                        style.delexicalised = true;
                        i += tag.len();
                        continue;
                    }
                }
                b'A'..=b'Z' => style.cased = true,
                b' ' => {
                    let rest = &bytes[i + 1..];
                    if matches!(rest.first(), Some(b'.' | b',' | b'!' | b'?'))
                        && rest.get(1).is_none_or(|b| *b == b' ')
                        || rest.starts_with(b"n't")
                        || rest.starts_with(b"'s ")
                    {
                        style.spaced = true;
                    }
                }
                _ => {}
            }
            i += 1;
        }
        style
    }

    /// A number below [`Style::COUNT`].
    pub fn index(self) -> usize {
        usize::from(self.cased)
            | usize::from(self.spaced) << 1
            | usize::from(self.delexicalised) << 2
    }
}

/// Whether a sentence ends in a mark that ends sentences. Quotes and brackets after it are ignored.
pub fn is_terminated(sentence: &str) -> bool {
    sentence
        .trim_end_matches(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '”' | '’' | ')' | ']')
        })
        .ends_with(['.', '!', '?', '…', ';', ':', '。', '！', '？'])
}

/// Writes `word` with a capital if `model` has one, and in capitals if `model` has more than one
/// letter and is in capitals.
pub fn match_case(word: &str, model: &str) -> String {
    let mut letters = model.chars().filter(|c| c.is_alphabetic());
    let first_upper = letters.next().is_some_and(char::is_uppercase);
    let mut rest = letters.peekable();
    if first_upper && rest.peek().is_some() && rest.all(char::is_uppercase) {
        word.to_uppercase()
    } else if first_upper {
        capitalised(word)
    } else {
        word.to_owned()
    }
}

/// Writes `word` with its first letter in upper case.
pub fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Writes `word` with its first letter in lower case.
pub fn uncapitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ways_to_write_the_same_story_are_told_apart() {
        let raw = Style::of("Ken didn't go. He slept.");
        assert_eq!((raw.cased, raw.spaced, raw.delexicalised), (true, false, false));
        let tokenised = Style::of("ken did n't go . he slept .");
        assert_eq!(
            (tokenised.cased, tokenised.spaced, tokenised.delexicalised),
            (false, true, false)
        );
        let tagged = Style::of("[MALE] did n't go . he slept .");
        assert_eq!((tagged.cased, tagged.spaced, tagged.delexicalised), (false, true, true));
    }

    #[test]
    fn case_follows_the_word_that_is_replaced() {
        assert_eq!(match_case("bad", "Good"), "Bad");
        assert_eq!(match_case("bad", "GOOD"), "BAD");
        assert_eq!(match_case("bad", "good"), "bad");
        assert_eq!(match_case("you", "I"), "You");
    }
}
