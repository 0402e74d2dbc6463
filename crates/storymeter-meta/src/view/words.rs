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

/// "33%"; shares that are not 0 or 1 are not rounded to them.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.round() {
        low if low < 1.0 && share > 0.0 => "less than 1%".to_owned(),
        high if high > 99.0 && share < 1.0 => "more than 99%".to_owned(),
        whole => format!("{whole}%"),
    }
}

/// 1,476.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
