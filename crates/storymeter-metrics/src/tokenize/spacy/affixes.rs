//! Prefixes and suffixes that come off a word, and infixes at which it is cut.

use std::ops::Range;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The length in bytes of the prefix that comes off, or 0.
pub(super) fn prefix(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(c) = chars.next() else { return 0 };
    match c {
        '§' | '%' | '=' | '—' | '–' => c.len_utf8(),
        '+' => usize::from(!chars.next().is_some_and(|next| next.is_ascii_digit())),
        '.' => Some(text.len() - text.trim_start_matches('.').len())
            .filter(|&dots| dots > 1)
            .unwrap_or(0),
        'U' if text.starts_with("US$") => 3,
        'C' | 'A' if text[1..].starts_with('$') => 2,
        _ if is_punctuation(c) || is_quote(c) || is_currency(c) || is_icon(c) => c.len_utf8(),
        _ => 0,
    }
}

/// The length in bytes of the longest suffix that comes off, or 0.
pub(super) fn suffix(text: &str) -> usize {
    let Some(last) = text.chars().next_back() else { return 0 };
    let before = &text[..text.len() - last.len_utf8()];
    let previous = before.chars().next_back();
    let single = match last {
        '.' => {
            let dots = text.len() - text.trim_end_matches('.').len();
            if dots > 1 {
                return dots;
            }
            usize::from(full_stop_comes_off(before))
        }
        '…' if before.ends_with('…') => return 2 * '…'.len_utf8(),
        's' | 'S' => match previous {
            Some(quote @ ('\'' | '’')) => return 1 + quote.len_utf8(),
            _ => 0,
        },
        '—' | '–' => last.len_utf8(),
        '+' => usize::from(is_after_digit(text, "+")),
        _ if is_punctuation(last) || is_quote(last) || is_icon(last) => last.len_utf8(),
        _ => 0,
    };
    unit(text).max(single)
}

/// The length in bytes of the longest unit of measure or currency at the end of a number, or 0.
fn unit(text: &str) -> usize {
    // A unit comes off only after a digit, so most words need no search. Looking no further back
    // than the longest unit keeps the time of peeling a long word linear.
    let tail = &text.as_bytes()[text.len().saturating_sub(LONGEST_UNIT + 1)..];
    if tail.iter().any(u8::is_ascii_digit) { longest_unit(text) } else { 0 }
}

fn longest_unit(text: &str) -> usize {
    let units = UNITS.iter().chain(&DOLLARS).filter(|unit| is_after_digit(text, unit));
    let last = text.chars().next_back().filter(|last| is_currency(*last));
    let currency = last.filter(|last| is_after_digit(text, last.encode_utf8(&mut [0; 4])));
    units.map(|unit| unit.len()).chain(currency.map(char::len_utf8)).max().unwrap_or(0)
}

fn is_after_digit(text: &str, suffix: &str) -> bool {
    text.strip_suffix(suffix).is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit()))
}

/// Whether a full stop comes off a word. It stays after a single capital letter, as in initials.
fn full_stop_comes_off(word: &str) -> bool {
    let mut back = word.chars().rev();
    let Some(last) = back.next() else { return false };
    let listed = last.is_ascii_digit()
        || is_lower(last)
        || matches!(last, '%' | '²' | '-' | '+' | '|')
        || is_punctuation(last)
        || is_quote(last);
    let degrees = matches!(last, 'F' | 'f' | 'C' | 'c' | 'K' | 'k');
    listed
        || back.next().is_some_and(|previous| {
            (degrees && previous == '°') || (is_upper(last) && is_upper(previous))
        })
}

/// The infixes of a word, from left to right.
pub(super) fn infixes(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let length = infix(&text[..at], &text[at..]);
            let start = at;
            if length > 0 {
                at += length;
                return Some(start..at);
            }
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
        None
    })
}

/// The length in bytes of the infix with which `after` begins, or 0.
fn infix(before: &str, after: &str) -> usize {
    let mut chars = after.chars();
    let Some(c) = chars.next() else { return 0 };
    if c.is_ascii_alphanumeric() {
        return 0;
    }
    let previous = before.chars().next_back();
    let next = chars.next();
    let is = |neighbour: Option<char>, class: fn(char) -> bool| neighbour.is_some_and(class);
    let after_word = is(previous, |c| c.is_ascii_digit() || is_alpha(c));
    if c == '.' {
        let dots = after.len() - after.trim_start_matches('.').len();
        let cuts = is(previous, |c| is_lower(c) || is_quote(c))
            && is(next, |c| is_upper(c) || is_quote(c));
        return if dots > 1 { dots } else { usize::from(cuts) };
    }
    if c == '…' || is_icon(c) {
        return c.len_utf8();
    }
    if matches!(c, '+' | '-' | '*' | '^')
        && is(previous, |c| c.is_ascii_digit())
        && is(next, |c| c.is_ascii_digit() || c == '-')
    {
        return 1;
    }
    match c {
        ',' if is(previous, is_alpha) && is(next, is_alpha) => 1,
        ':' | '<' | '>' | '=' | '/' if after_word && is(next, is_alpha) => 1,
        '-' | '–' | '—' | '~' if after_word => {
            let fits = |hyphen: &&&str| {
                after.strip_prefix(**hyphen).is_some_and(|rest| rest.starts_with(is_alpha))
            };
            HYPHENS.iter().find(fits).map_or(0, |hyphen| hyphen.len())
        }
        _ => 0,
    }
}

const HYPHENS: [&str; 7] = ["-", "–", "—", "--", "---", "——", "~"];

/// The units of measure that come off a number.
const UNITS: [&str; 87] = [
    "km", "km²", "km³", "m", "m²", "m³", "dm", "dm²", "dm³", "cm", "cm²", "cm³", "mm", "mm²",
    "mm³", "ha", "µm", "nm", "yd", "in", "ft", "kg", "g", "mg", "µg", "t", "lb", "oz", "m/s",
    "km/h", "kmh", "mph", "hPa", "Pa", "mbar", "mb", "MB", "kb", "KB", "gb", "GB", "tb", "TB", "T",
    "G", "M", "K", "%", "км", "км²", "км³", "м", "м²", "м³", "дм", "дм²", "дм³", "см", "см²",
    "см³", "мм", "мм²", "мм³", "нм", "кг", "г", "мг", "м/с", "км/ч", "кПа", "Па", "мбар", "Кб",
    "КБ", "кб", "Мб", "МБ", "мб", "Гб", "ГБ", "гб", "Тб", "ТБ", "كم", "م", "سم", "مم",
];

/// The length in bytes of the longest of the units and currencies that come off a number.
const LONGEST_UNIT: usize = 8;

/// The currencies of more than one character.
const DOLLARS: [&str; 3] = ["US$", "C$", "A$"];

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '£' | '€' | '¥' | '฿' | '﷼' | '\u{20a0}'..='\u{20bf}')
}

fn is_punctuation(c: char) -> bool {
    matches!(
        c,
        '…' | ','
            | ':'
            | ';'
            | '!'
            | '?'
            | '¿'
            | '؟'
            | '¡'
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '<'
            | '>'
            | '_'
            | '#'
            | '*'
            | '&'
            | '。'
            | '？'
            | '！'
            | '，'
            | '、'
            | '；'
            | '：'
            | '～'
            | '·'
            | '।'
            | '،'
            | '۔'
            | '؛'
            | '٪'
    )
}

fn is_quote(c: char) -> bool {
    matches!(
        c,
        '\'' | '"'
            | '”'
            | '“'
            | '`'
            | '‘'
            | '´'
            | '’'
            | '‚'
            | ','
            | '„'
            | '»'
            | '«'
            | '「'
            | '」'
            | '『'
            | '』'
            | '（'
            | '）'
            | '〔'
            | '〕'
            | '【'
            | '】'
            | '《'
            | '》'
            | '〈'
            | '〉'
            | '\u{2329}'
            | '\u{232a}'
            | '⟦'
            | '⟧'
    )
}

/// Emoji and other symbols (category So). Among the pictographs, only those known up to Unicode 11
/// count.
fn is_icon(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    match c as u32 {
        0x1f300..=0x1faff => matches!(
            c as u32,
            0x1f300..=0x1f3fa | 0x1f400..=0x1f6d4 | 0x1f6e0..=0x1f6ec | 0x1f6f0..=0x1f6f9
                | 0x1f700..=0x1f773 | 0x1f780..=0x1f7d8 | 0x1f800..=0x1f80b | 0x1f810..=0x1f847
                | 0x1f850..=0x1f859 | 0x1f860..=0x1f887 | 0x1f890..=0x1f8ad | 0x1f900..=0x1f90b
                | 0x1f910..=0x1f93e | 0x1f940..=0x1f970 | 0x1f973..=0x1f976 | 0x1f97a
                | 0x1f97c..=0x1f9a2 | 0x1f9b0..=0x1f9b9 | 0x1f9c0..=0x1f9c2 | 0x1f9d0..=0x1f9ff
                | 0x1fa60..=0x1fa6d
        ),
        _ => c.general_category() == GeneralCategory::OtherSymbol,
    }
}

/// Letters of scripts without case, in the blocks that spaCy lists.
fn is_uncased(c: char) -> bool {
    matches!(
        c as u32,
        0x0591..=0x05f4 | 0xfb1d..=0xfb4f | 0x0620..=0x064a | 0x066e..=0x06d5 | 0x06e5..=0x06ff
            | 0x0750..=0x077f | 0x08a0..=0x08bd | 0xfb50..=0xfbb1 | 0xfbd3..=0xfd3d
            | 0xfd50..=0xfdc7 | 0xfdf0..=0xfdfb | 0xfe70..=0xfefc | 0x0900..=0x097f
            | 0x0980..=0x09ff | 0x0b80..=0x0bff | 0x0c00..=0x0c7f | 0x0c80..=0x0cff
            | 0x0d80..=0x0dff | 0x1100..=0x11ff | 0x1200..=0x137f | 0x2e80..=0x2fdf
            | 0x2ff0..=0x30ff | 0x31c0..=0x31ef | 0x3200..=0x4dbf | 0x4e00..=0x9fff
            | 0xac00..=0xd7af | 0xf900..=0xfaff | 0xfe30..=0xfe4f | 0x1ee00..=0x1eebb
            | 0x1f200..=0x1f2ff | 0x20000..=0x2a6df | 0x2a700..=0x2ebef | 0x2f800..=0x2fa1f
    )
}

pub(super) fn is_lower(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_lowercase();
    }
    is_uncased(c) || c.general_category() == GeneralCategory::LowercaseLetter
}

fn is_upper(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_uppercase();
    }
    is_uncased(c) || c.general_category() == GeneralCategory::UppercaseLetter
}

fn is_alpha(c: char) -> bool {
    is_lower(c) || is_upper(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_unit_is_longer_than_the_shortcut_looks_back() {
        let longest = UNITS.iter().chain(&DOLLARS).map(|unit| unit.len()).max();
        assert_eq!(longest, Some(LONGEST_UNIT));
        for unit in UNITS.iter().chain(&DOLLARS) {
            let word = format!("7{unit}");
            assert!(suffix(&word) >= unit.len(), "{word}");
        }
    }

    proptest! {
        #[test]
        fn the_shortcut_misses_no_unit(text in "[0-9a-zкмбар²°$€\"'.%/]{0,12}") {
            prop_assert_eq!(unit(&text), longest_unit(&text));
        }
    }
}
