//! The words of a text and the marks between them, with their places.

use std::ops::Range;

use storymeter_core::{TextCache, View};

use crate::tokenize::Tokens;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A run of letters, with apostrophes inside.
    Word,
    Comma,
    /// A colon, a semicolon or a dash.
    Pause,
    /// The end of a sentence.
    Stop,
    /// The end of a line.
    Line,
    /// A quotation mark.
    Quote,
    /// Any other mark, and digits.
    Other,
}

/// A word or a mark.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    /// Its place, in bytes of the text.
    pub range: Range<usize>,
    pub kind: Kind,
    /// Whether it begins with a capital letter.
    pub capital: bool,
    lower: Range<usize>,
}

/// The words and marks of a text.
pub(crate) struct Words {
    tokens: Vec<Token>,
    /// All words in small letters with straight apostrophes.
    lower: String,
    count: usize,
}

impl Words {
    pub fn new(text: &str) -> Self {
        let mut words = Self { tokens: Vec::new(), lower: String::new(), count: 0 };
        let mut chars = text.char_indices().peekable();
        while let Some((start, first)) = chars.next() {
            if first.is_alphabetic() {
                let lower = words.lower.len();
                words.lower.extend(first.to_lowercase());
                let mut end = start + first.len_utf8();
                loop {
                    let mut ahead = chars.clone();
                    match ahead.next() {
                        Some((at, next)) if next.is_alphabetic() => {
                            words.lower.extend(next.to_lowercase());
                            end = at + next.len_utf8();
                        }
                        Some((_, mark)) if is_apostrophe(mark) => match ahead.next() {
                            Some((at, next)) if next.is_alphabetic() => {
                                words.lower.push('\'');
                                words.lower.extend(next.to_lowercase());
                                end = at + next.len_utf8();
                            }
                            _ => break,
                        },
                        _ => break,
                    }
                    chars = ahead;
                }
                words.count += 1;
                let lower = lower..words.lower.len();
                let capital = first.is_uppercase();
                words.tokens.push(Token { range: start..end, kind: Kind::Word, capital, lower });
                continue;
            }
            let kind = match first {
                '-' => match chars.next_if(|(_, next)| *next == '-') {
                    Some(_) => Kind::Pause,
                    // The parts of "well-worn" are neighbours.
                    None => continue,
                },
                ',' => Kind::Comma,
                ';' | ':' | '—' | '–' => Kind::Pause,
                '.' | '!' | '?' | '…' => Kind::Stop,
                '\n' => Kind::Line,
                '"' | '“' | '”' => Kind::Quote,
                blank if blank.is_whitespace() => continue,
                _ => Kind::Other,
            };
            let range = start..start + first.len_utf8();
            words.tokens.push(Token { range, kind, capital: false, lower: 0..0 });
        }
        words
    }

    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The number of words.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The words in small letters, in one piece of memory.
    pub fn into_tokens(self) -> Tokens {
        let words = self.tokens.into_iter().filter(|token| token.kind == Kind::Word);
        Tokens::new(self.lower, words.map(|token| token.lower))
    }

    /// A word in small letters; a comma as it is; nothing for other marks and beyond the end.
    pub fn lower(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(token) if token.kind == Kind::Comma => ",",
            Some(token) => &self.lower[token.lower.clone()],
            None => "",
        }
    }
}

impl View for Words {
    fn build(text: &TextCache<'_>) -> Self {
        Self::new(text.text())
    }
}

fn is_apostrophe(mark: char) -> bool {
    matches!(mark, '\'' | '’' | '‘' | 'ʼ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<String> {
        let words = Words::new(text);
        (0..words.tokens().len()).map(|at| words.lower(at).to_owned()).collect()
    }

    #[test]
    fn words_are_runs_of_letters_with_apostrophes_inside() {
        assert_eq!(
            seen("It’s a Well-worn ‘ÉCHO’, isn't"),
            ["it's", "a", "well", "worn", "", "écho", "", ",", "isn't"]
        );
        assert_eq!(Words::new("one 2 three -- four's'").count(), 3);
    }

    #[test]
    fn places_are_those_of_the_original() {
        let text = "Über’s İ—x";
        let words = Words::new(text);
        let pieces: Vec<&str> = words.tokens().iter().map(|t| &text[t.range.clone()]).collect();
        assert_eq!(pieces, ["Über’s", "İ", "—", "x"]);
    }
}
