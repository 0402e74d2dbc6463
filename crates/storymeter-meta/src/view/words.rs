//! Pieces of sentences.

/// From so many names on, a sentence counts the others.
const MOST_NAMES: usize = 5;

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A text that begins with a capital letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// `a, b and c`; from six on `a, b and 4 others`.
pub(super) fn joined_short(parts: &[String]) -> String {
    match parts.len() {
        count if count > MOST_NAMES => {
            format!("{}, {} and {} others", parts[0], parts[1], count - 2)
        }
        _ => joined(parts),
    }
}
