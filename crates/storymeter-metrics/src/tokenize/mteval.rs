//! The tokeniser of NIST's mteval-v13a script, as sacrebleu's `13a`.
//!
//! The script is four substitutions that put blanks around punctuation, one after the other. All they do is cut,
//! so one pass over the text finds the same cuts: most ASCII punctuation always stands alone; a full stop or a
//! comma stands alone unless it sits between digits; a hyphen stands alone after a digit.

use super::{Tokenizer, Tokens, is_python_space};

/// mteval-v13a, with the script's decoding of four entities and its removal of `<skipped>` and line-end hyphens.
pub struct Mteval13a;

/// What a byte means to the tokeniser.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Part of a word, cut nowhere.
    Word,
    Digit,
    /// Always stands alone.
    Alone,
    /// `.` or `,`.
    Point,
    Hyphen,
    /// ASCII white space.
    Space,
    /// Part of a character outside ASCII: a word unless it is white space.
    Wide,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Word; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'\t'..=b'\r' | 0x1c..=b' ' => Class::Space,
            b'0'..=b'9' => Class::Digit,
            b'.' | b',' => Class::Point,
            b'-' => Class::Hyphen,
            b'!'..=b'&' | b'('..=b'+' | b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~' => Class::Alone,
            0x80.. => Class::Wide,
            _ => Class::Word,
        };
        byte += 1;
    }
    table
}

impl Tokenizer for Mteval13a {
    fn tokenize(text: &str) -> Tokens {
        let text = normalise(text.trim_end_matches(is_python_space));
        let spans = cut(&text);
        Tokens::new(text, spans)
    }
}

/// The language-independent part of the script.
fn normalise(text: &str) -> String {
    let bytes = text.as_bytes();
    let plain = memchr::memchr3(b'<', b'\n', b'&', bytes).is_none();
    if plain {
        return text.to_owned();
    }
    let mut text = text.replace("<skipped>", "").replace("-\n", "");
    if text.contains('&') {
        // In this order: "&amp;lt;" becomes "<".
        for (entity, plain) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
            text = text.replace(entity, plain);
        }
    }
    text
}

fn cut(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let class = |at: usize| bytes.get(at).map_or(Class::Space, |&byte| CLASSES[usize::from(byte)]);
    let mut spans = Vec::with_capacity(bytes.len() / 4);
    let mut start = None;
    let mut previous = Class::Space;
    // Whether the previous byte is a point that the second substitution has set apart: the substitution consumed it,
    // so it cannot also be the "non-digit before" of the next point.
    let mut taken = false;
    let mut at = 0;
    while at < bytes.len() {
        let here = class(at);
        if here == Class::Word {
            // Nothing happens inside a run of letters.
            let run = bytes[at..].iter().position(|&byte| CLASSES[usize::from(byte)] != Class::Word);
            start.get_or_insert(at);
            at = run.map_or(bytes.len(), |length| at + length);
            (previous, taken) = (Class::Word, false);
            continue;
        }
        let mut length = 1;
        let mut takes = false;
        let alone = match here {
            Class::Word | Class::Digit => false,
            Class::Alone => true,
            Class::Hyphen => previous == Class::Digit,
            Class::Point => {
                takes = previous != Class::Digit && !taken;
                takes || class(at + 1) != Class::Digit
            }
            Class::Space => {
                spans.extend(start.take().map(|start| start..at));
                (previous, taken) = (here, false);
                at += 1;
                continue;
            }
            Class::Wide => {
                let c = text[at..].chars().next().unwrap_or_default();
                length = c.len_utf8();
                if is_python_space(c) {
                    spans.extend(start.take().map(|start| start..at));
                    (previous, taken) = (Class::Space, false);
                    at += length;
                    continue;
                }
                false
            }
        };
        if alone {
            spans.extend(start.take().map(|start| start..at));
            spans.push(at..at + 1);
        } else {
            // A point that is taken, then a point glued to the digit after it: the blank between them cuts.
            if taken && here == Class::Point {
                spans.extend(start.take().map(|start| start..at));
            }
            start.get_or_insert(at);
        }
        (previous, taken) = (here, takes);
        at += length;
    }
    spans.extend(start.map(|start| start..bytes.len()));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> String {
        Mteval13a::tokenize(text).iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn punctuation_stands_alone_except_between_digits() {
        assert_eq!(tokens("He paid $1,000.50, didn't he?"), "He paid $ 1,000.50 , didn't he ?");
        assert_eq!(tokens("in 2020."), "in 2020 .");
        assert_eq!(tokens("a.b 1.b a.1"), "a . b 1 . b a . 1");
    }

    #[test]
    fn rows_of_points_come_out_as_the_substitutions_leave_them() {
        // Checked with sacrebleu 2.6.0.
        assert_eq!(tokens("well...5 well....5 1..2 1...2"), "well . . . 5 well . . . .5 1 . . 2 1 . . .2");
    }

    #[test]
    fn a_hyphen_stands_alone_after_a_digit_only() {
        assert_eq!(tokens("1990-91 well-known 4-"), "1990 - 91 well-known 4 -");
    }

    #[test]
    fn entities_line_breaks_and_skipped_marks_are_undone() {
        assert_eq!(tokens("a&amp;lt;b&quot; hy-\nphen<skipped>ated\nend\n"), "a < b \" hyphenated end");
    }
}
