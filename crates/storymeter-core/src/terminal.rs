//! Keeps texts of users from being more than text on a terminal.
//!
//! A story, a name or a path can hold characters that a terminal obeys: escape sequences that
//! change colours, move the cursor, rename the window or rewrite what stands above, and marks that
//! turn the direction of writing around. Everything that is printed for people goes through
//! [`plain`] or [`plain_lines`] first. Files and pipes for programs get the text as it is.

use std::borrow::Cow;

/// The text on one line, in which every character that a terminal obeys is written out: an escape
/// character becomes `\u{1b}`, and the end of a line becomes `\n`.
///
/// ```
/// use storymeter_core::terminal::plain;
/// assert_eq!(plain("The lamp\u{1b}[2J went out.\n"), r"The lamp\u{1b}[2J went out.\n");
/// assert_eq!(plain("naïve 雨 \u{1f327}"), "naïve 雨 \u{1f327}");
/// ```
pub fn plain(text: &str) -> Cow<'_, str> {
    written_out(text, is_obeyed)
}

/// As [`plain`], but lines still end.
///
/// ```
/// use storymeter_core::terminal::plain_lines;
/// assert_eq!(plain_lines("one\ntwo\u{7}\n"), "one\ntwo\\u{7}\n");
/// ```
pub fn plain_lines(text: &str) -> Cow<'_, str> {
    written_out(text, |c| c != '\n' && is_obeyed(c))
}

/// At most `most` characters of a text in quotation marks, on one line, for messages. A text that
/// is cut ends in three dots.
///
/// ```
/// use storymeter_core::terminal::excerpt;
/// assert_eq!(excerpt("seven", 10), "\"seven\"");
/// assert_eq!(excerpt("seven lamps", 5), "\"seven...\"");
/// ```
pub fn excerpt(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("\"{}...\"", plain(&text[..end])),
        None => format!("\"{}\"", plain(text)),
    }
}

fn written_out(text: &str, obeyed: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if obeyed(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal does something at this character instead of showing it: the control
/// characters, and the marks that change the direction of writing (Unicode, UAX #9).
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_direction_marks_are_written_out() {
        for c in ['\0', '\u{7}', '\u{8}', '\r', '\t', '\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}'] {
            let shown = plain(&format!("a{c}b")).into_owned();
            assert!(shown.starts_with("a\\") && shown.ends_with('b'), "{shown}");
            assert!(!shown.contains(c), "{shown}");
        }
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        assert!(matches!(plain("It's 5° \u{2014} naïve"), Cow::Borrowed(_)));
    }
}
