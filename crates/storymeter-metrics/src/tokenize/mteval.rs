//! The tokeniser of NIST's script mteval-v13a, which sacrebleu calls `13a`.
//!
//! The script makes four substitutions, one after the other, that put blanks around punctuation.
//! One pass over the text finds the same cuts. Most ASCII punctuation always stands alone. A full
//! stop or a comma stands alone unless it is between digits. A hyphen stands alone after a digit.

use super::tokens::{Cuts, eight};
use super::{Tokenizer, Tokens, is_python_space};

/// The tokeniser of mteval-v13a. Like the script it decodes four entities, and removes `<skipped>`
/// and hyphens at line ends.
///
/// ```
/// use storymeter_metrics::tokenize::{Mteval13a, Tokenizer};
/// let tokens = Mteval13a::tokenize("He paid $1,000.50.");
/// assert_eq!(tokens.iter().collect::<Vec<_>>(), ["He", "paid", "$", "1,000.50", "."]);
/// ```
pub struct Mteval13a;

/// What a byte means to the tokeniser.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Part of a word. No cut is made at it.
    Word,
    Digit,
    /// Always stands alone.
    Alone,
    /// `.` or `,`.
    Point,
    Hyphen,
    /// ASCII white space.
    Space,
    /// Part of a character outside ASCII, which belongs to a word unless it is white space.
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
            b'!'..=b'&' | b'('..=b'+' | b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~' => {
                Class::Alone
            }
            0x80.. => Class::Wide,
            _ => Class::Word,
        };
        byte += 1;
    }
    table
}

impl Tokenizer for Mteval13a {
    fn tokenize(text: &str) -> Tokens {
        Tokens::cut(normalise(text.trim_end_matches(is_python_space)), cut)
    }
}

/// The language-independent part of the script.
fn normalise(text: &str) -> String {
    let mut text = text.to_owned();
    if memchr::memchr3(b'<', b'\n', b'&', text.as_bytes()).is_some() {
        // The order matters: "&amp;lt;" becomes "<".
        for (mark, plain) in [
            ("<skipped>", ""),
            ("-\n", ""),
            ("&quot;", "\""),
            ("&amp;", "&"),
            ("&lt;", "<"),
            ("&gt;", ">"),
        ] {
            if memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some() {
                text = text.replace(mark, plain);
            }
        }
    }
    text
}

fn cut(text: &str, cuts: &mut Cuts<'_>) {
    let bytes = text.as_bytes();
    let class = |at: usize| bytes.get(at).map_or(Class::Space, |&byte| CLASSES[usize::from(byte)]);
    let mut start = None;
    let mut previous = Class::Space;
    // Whether the previous byte is a point that the second substitution has set apart. The
    // substitution has consumed it, so it cannot be the "non-digit before" of the next point.
    let mut taken = false;
    let mut at = 0;
    while at < bytes.len() {
        let here = class(at);
        if here == Class::Word {
            // Nothing is cut inside a run of letters. The other bytes of this class are apostrophes
            // and control characters.
            start.get_or_insert(at);
            at += letters(bytes, at).max(1);
            (previous, taken) = (Class::Word, false);
            continue;
        }
        let mut length = 1;
        let mut takes = false;
        let mut space = here == Class::Space;
        let mut alone = false;
        match here {
            Class::Word | Class::Digit | Class::Space => {}
            Class::Alone => alone = true,
            Class::Hyphen => alone = previous == Class::Digit,
            Class::Point => {
                takes = previous != Class::Digit && !taken;
                alone = takes || class(at + 1) != Class::Digit;
            }
            Class::Wide => {
                let c = text[at..].chars().next().unwrap_or_default();
                length = c.len_utf8();
                space = is_python_space(c);
            }
        }
        // After a point that was set apart, a point that stays with the digit after it: there is a
        // blank between the two.
        let parts = taken && here == Class::Point;
        if (space || alone || parts)
            && let Some(start) = start.take()
        {
            cuts.push(start..at);
        }
        if alone {
            cuts.push(at..at + 1);
        } else if !space {
            start.get_or_insert(at);
        }
        (previous, taken) = (if space { Class::Space } else { here }, takes);
        at += length;
    }
    if let Some(start) = start {
        cuts.push(start..bytes.len());
    }
}

/// The number of ASCII letters from a place on. Eight bytes are looked at together. Most words are
/// shorter than that, so the processor need not guess where each one ends.
fn letters(bytes: &[u8], from: usize) -> usize {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = 0x80 * EACH;
    let mut at = from;
    loop {
        let eight = eight(bytes, at);
        let lower = (eight | (0x20 * EACH)) & !HIGH;
        // The high bit of each byte says whether its sum has reached 0x80. No sum carries over into
        // the next byte.
        let from_a = lower + (0x80 - u64::from(b'a')) * EACH;
        let beyond_z = lower + (0x80 - u64::from(b'z') - 1) * EACH;
        let others = !(from_a & !beyond_z & !eight) & HIGH;
        at += others.trailing_zeros() as usize / 8;
        if others != 0 {
            return at - from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_up_to_any_other_byte() {
        for other in (0..=255u8).filter(|byte| !byte.is_ascii_alphabetic()) {
            for length in 0..20 {
                let mut bytes = b"abyzABYZ".repeat(3);
                bytes[length] = other;
                assert_eq!(letters(&bytes, 0), length, "{other:#x}");
            }
        }
        assert_eq!(letters(b"The End", 4), 3);
    }
}
