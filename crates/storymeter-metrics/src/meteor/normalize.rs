//! The tokeniser of METEOR 1.5 for English (`-norm`): a chain of substitutions, then full stops.
//!
//! Each substitution is one pass from left to right in which matches do not overlap. Therefore
//! `a-b-c` loses only its first hyphen, and of two commas in a row only the first gets its blanks.
//! The regular expressions of the Java program work in this way, and the alignment depends on it.

/// Stands for each full stop of an ellipsis until the end, because single full stops are treated
/// differently. It is a noncharacter of Unicode, which does not occur in texts.
const ELLIPSIS_DOT: char = '\u{fdd0}';

/// The letters of the normaliser: Latin up to U+017E, Cyrillic and phonetic extensions.
fn is_alpha(c: char) -> bool {
    matches!(c,
        'A'..='Z' | 'a'..='z' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ž' | '\u{400}'..='\u{527}'
        | '\u{a640}'..='\u{a66e}' | '\u{a67e}'..='\u{a697}' | '\u{1d00}'..='\u{1d7f}')
}

fn is_alnum(c: char) -> bool {
    c.is_ascii_digit() || is_alpha(c)
}

/// White space in Java's regular expressions (`\s`).
fn is_java_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

/// The characters at which Java's `StringTokenizer` splits.
fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

/// Unicode's blanks. Tokens of nothing else are dropped at the end.
fn is_wide_space(c: char) -> bool {
    matches!(c, '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{a0}')
}

/// A token before it is decided whether its full stop belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// There is nothing to decide.
    Whole(String),
    /// A word with a full stop at its end. It stays one word if the word is a known abbreviation,
    /// or an abbreviation for use before numbers and a number follows. Otherwise the full stop is a
    /// word of its own.
    Stopped {
        /// The word without its full stop.
        base: String,
        /// Whether the next token begins with a digit.
        before_number: bool,
    },
}

/// The tokens of a text, with their case.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let text = separate(&text.replace("|||", ""));
    let text = substitute(&text, |c| !c.is_ascii_digit(), ',', |c| !c.is_ascii_digit(), " , ");
    let text = substitute(&text, |c| c.is_ascii_digit(), ',', |c| !c.is_ascii_digit(), " , ");
    let text = substitute(&text, |c| !c.is_ascii_digit(), ',', |c| c.is_ascii_digit(), " , ");
    let text = quotes_and_dashes(text);
    let text = substitute(&text, |c| is_alnum(c) || c == '.', '-', is_alnum, " ");
    let text = substitute(&text, |c| !is_alpha(c), '\'', |c| !is_alpha(c), " ' ");
    let text = substitute(&text, |c| !is_alnum(c), '\'', is_alpha, " ' ");
    let text = substitute(&text, is_alpha, '\'', |c| !is_alpha(c), " ' ");
    let text = substitute(&text, is_alpha, '\'', is_alpha, " '");
    let text = substitute(&text, |c| c.is_ascii_digit(), '\'', |c| c == 's', " '");

    let text: String = text.into_iter().collect();
    let tokens: Vec<&str> = text.split(is_separator).filter(|token| !token.is_empty()).collect();
    let mut pieces = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        if token.chars().all(is_wide_space) {
            continue;
        }
        pieces.push(stop(token, tokens.get(at + 1).copied()));
    }
    pieces
}

/// Puts blanks around the text, around runs of full stops, and around every character that is not a
/// letter, a digit or a mark with rules of its own.
fn separate(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 4 + 2);
    out.push(' ');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '.' && chars.peek() == Some(&'.') {
            out.extend([' ', ELLIPSIS_DOT]);
            while chars.next_if_eq(&'.').is_some() {
                out.push(ELLIPSIS_DOT);
            }
            out.push(' ');
        } else if is_alnum(c)
            || is_java_space(c)
            || matches!(c, '.' | '\'' | '`' | ',' | '-' | '‘' | '’')
        {
            out.push(c);
        } else {
            out.extend([' ', c, ' ']);
        }
    }
    out.push(' ');
    out
}

/// Replaces typographic quotation marks and dashes by plain ones.
fn quotes_and_dashes(text: Vec<char>) -> Vec<char> {
    let mut plain = Vec::with_capacity(text.len());
    let mut chars =
        text.into_iter().map(|c| if matches!(c, '`' | '‘' | '’') { '\'' } else { c }).peekable();
    while let Some(c) = chars.next() {
        match c {
            '“' | '”' => plain.extend([' ', '"', ' ']),
            '\'' if chars.next_if_eq(&'\'').is_some() => plain.extend([' ', '"', ' ']),
            '–' => plain.push('-'),
            _ => plain.push(c),
        }
    }
    let mut out = Vec::with_capacity(plain.len());
    let mut chars = plain.into_iter().peekable();
    while let Some(c) = chars.next() {
        if c == '-' {
            chars.next_if_eq(&'-');
        }
        out.push(c);
    }
    out
}

/// Replaces `mark` by `with` if the characters before and after it fit. A match uses up all three
/// characters.
fn substitute(
    text: &[char],
    before: impl Fn(char) -> bool,
    mark: char,
    after: impl Fn(char) -> bool,
    with: &str,
) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut at = 0;
    while at < text.len() {
        match text[at..] {
            [left, middle, right, ..] if middle == mark && before(left) && after(right) => {
                out.push(left);
                out.extend(with.chars());
                out.push(right);
                at += 3;
            }
            _ => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// Decides what can be decided about the full stop of a token.
fn stop(token: &str, next: Option<&str>) -> Piece {
    let finished = |token: &str| Piece::Whole(token.replace(ELLIPSIS_DOT, "."));
    let Some(base) = token.strip_suffix('.').filter(|base| !base.is_empty()) else {
        return finished(token);
    };
    let follows = |test: fn(&char) -> bool| {
        next.and_then(|next| next.chars().next()).is_some_and(|c| test(&c))
    };
    if base.contains('.') && base.chars().any(is_alpha) {
        // An acronym: U.S. becomes US.
        finished(&token.replace('.', ""))
    } else if follows(char::is_ascii_lowercase) {
        finished(token)
    } else {
        Piece::Stopped { base: base.to_owned(), before_number: follows(char::is_ascii_digit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens with every undecided full stop set apart.
    fn tokens(text: &str) -> Vec<String> {
        let split = |piece| match piece {
            Piece::Whole(word) => vec![word],
            Piece::Stopped { base, .. } => vec![base, ".".to_owned()],
        };
        pieces(text).into_iter().flat_map(split).collect()
    }

    #[test]
    fn marks_are_set_apart_and_contractions_split() {
        assert_eq!(
            tokens("\u{201c}Don\u{2019}t,\u{201d} he said."),
            ["\"", "Don", "'t", ",", "\"", "he", "said", "."]
        );
        assert_eq!(tokens("the dogs' 1990's"), ["the", "dogs", "'", "1990", "'s"]);
        assert_eq!(tokens("10,000 and 5, then"), ["10,000", "and", "5", ",", "then"]);
    }

    #[test]
    fn substitutions_use_up_what_they_match() {
        assert_eq!(tokens("a-b-c"), ["a", "b-c"]);
        assert_eq!(tokens("x,,y"), ["x", ",", ",y"]);
    }

    #[test]
    fn an_ellipsis_is_one_token() {
        assert_eq!(
            tokens("Wait...what? Well.. no"),
            ["Wait", "...", "what", "?", "Well", "..", "no"]
        );
    }

    #[test]
    fn full_stops_of_acronyms_go_and_before_small_letters_stay() {
        assert_eq!(
            tokens("The U.S. army left at 5 p.m. sharp"),
            ["The", "US", "army", "left", "at", "5", "pm", "sharp"]
        );
        assert_eq!(tokens("He stopped. then ran."), ["He", "stopped.", "then", "ran", "."]);
        assert_eq!(
            pieces("No. 5"),
            [Piece::Stopped { base: "No".into(), before_number: true }, Piece::Whole("5".into())]
        );
    }

    #[test]
    fn blanks_of_unicode_vanish_and_other_scripts_fall_apart() {
        assert_eq!(tokens("a\u{a0}b\u{3000}"), ["a", "b"]);
        assert_eq!(tokens("日本 \u{1f600}!"), ["日", "本", "\u{1f600}", "!"]);
        assert_eq!(tokens(""), Vec::<String>::new());
    }
}
