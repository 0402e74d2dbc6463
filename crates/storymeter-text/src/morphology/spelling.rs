//! Rules of spelling that the other modules share: letter case, vowels and doubled consonants.

use std::borrow::Cow;

/// Writes a lower-case word in the letter case of another word: "go" becomes "Go" after "Went", and
/// "GO" after "WENT".
pub(super) fn in_case_of<'a>(original: &'a str, lower: Cow<'_, str>) -> Cow<'a, str> {
    if lower == original {
        return Cow::Borrowed(original);
    }
    let mut letters = original.chars().filter(|letter| letter.is_alphabetic());
    let first = letters.next().is_some_and(char::is_uppercase);
    let second = letters.next();
    if first && second.is_some_and(char::is_uppercase) && !letters.any(char::is_lowercase) {
        Cow::Owned(lower.to_uppercase())
    } else if first {
        Cow::Owned(capitalised(&lower))
    } else {
        Cow::Owned(lower.into_owned())
    }
}

fn capitalised(lower: &str) -> String {
    let mut letters = lower.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Whether the letter at this index is a vowel sound: y is one after a consonant, and u is none
/// after q.
pub(super) fn is_vowel(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' => true,
        b'u' => at == 0 || word[at - 1] != b'q',
        b'y' => at > 0 && !is_vowel(word, at - 1),
        _ => false,
    }
}

/// Whether the word ends in a consonant and y: "try", but not "play".
pub(super) fn ends_in_consonant_y(word: &str) -> bool {
    let word = word.as_bytes();
    word.len() > 1 && word.ends_with(b"y") && !is_vowel(word, word.len() - 2)
}

/// Whether the word ends in a single vowel letter and a single consonant letter that can be
/// doubled: "stop", but not "rain" or "fix".
pub(super) fn ends_in_vowel_consonant(word: &str) -> bool {
    let word = word.as_bytes();
    let n = word.len();
    n > 1
        && word.is_ascii()
        && word[n - 1].is_ascii_lowercase()
        && !is_vowel(word, n - 1)
        && !matches!(word[n - 1], b'h' | b'w' | b'x' | b'y')
        && is_vowel(word, n - 2)
        && (n == 2 || !is_vowel(word, n - 3))
}

/// The number of vowel groups in the last part of a hyphenated word, as an estimate of its
/// syllables.
pub(super) fn syllables(word: &str) -> usize {
    let last = word.rsplit('-').next().unwrap_or(word).as_bytes();
    (0..last.len()).filter(|&at| is_vowel(last, at) && (at == 0 || !is_vowel(last, at - 1))).count()
}

/// The word without the second of two equal consonants at its end: "stop" for "stopp".
pub(super) fn without_doubled(stem: &str) -> Option<&str> {
    let bytes = stem.as_bytes();
    let n = bytes.len();
    let doubled = n > 2
        && bytes[n - 1] == bytes[n - 2]
        && bytes[n - 1].is_ascii_lowercase()
        && !is_vowel(bytes, n - 1);
    doubled.then(|| &stem[..n - 1])
}
