//! Stemmers, which cut a word down to the part that its inflected forms share.
//!
//! Metrics are defined in terms of these three. Each gives the same stems as the program it is
//! named after:
//! - [`porter::rouge`]: Porter's 1980 algorithm in the variant inside ROUGE-1.5.5;
//! - [`porter::nltk`]: Porter's algorithm with NLTK's extensions;
//! - [`porter2::stem`]: Snowball's English stemmer ("Porter 2").
//!
//! All of them take lower-case words. Characters outside ASCII count as consonants.

pub mod porter;
pub mod porter2;

/// Runs a stemmer that works on single bytes over a word of any characters.
///
/// Stemmers count letters and compare neighbours, so each character must be one unit. Characters
/// outside ASCII are represented by the bytes 0x80 to 0xff. A word with more than 128 different
/// ones is not English, and is returned unchanged.
fn by_letters(word: &str, stem: impl FnOnce(&mut Vec<u8>)) -> String {
    if word.is_ascii() {
        let mut letters = word.as_bytes().to_vec();
        stem(&mut letters);
        return letters.into_iter().map(char::from).collect();
    }
    let mut lent: Vec<char> = Vec::new();
    let mut letters = Vec::with_capacity(word.len());
    for c in word.chars() {
        if c.is_ascii() {
            letters.push(c as u8);
            continue;
        }
        let at = lent.iter().position(|&known| known == c).unwrap_or_else(|| {
            lent.push(c);
            lent.len() - 1
        });
        let Some(byte) = u8::try_from(at).ok().and_then(|at| at.checked_add(0x80)) else {
            return word.to_owned();
        };
        letters.push(byte);
    }
    stem(&mut letters);
    letters
        .into_iter()
        .map(|b| if b < 0x80 { char::from(b) } else { lent[usize::from(b - 0x80)] })
        .collect()
}

/// Whether a word ends in a suffix.
fn ends(word: &[u8], suffix: &str) -> bool {
    word.ends_with(suffix.as_bytes())
}

/// Cuts `cut` bytes off the end and appends `add`.
fn swap_end(word: &mut Vec<u8>, cut: usize, add: &str) {
    word.truncate(word.len() - cut);
    word.extend_from_slice(add.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_outside_ascii_is_one_letter() {
        let seen = by_letters("caféés", |letters| {
            assert_eq!(letters.len(), 6);
            assert_eq!(letters[3], letters[4]);
            letters.pop();
        });
        assert_eq!(seen, "caféé");
    }

    #[test]
    fn a_word_of_more_letters_than_bytes_stays_whole() {
        let word: String = ('\u{4e00}'..'\u{4f00}').collect();
        assert_eq!(by_letters(&word, |_| unreachable!("not stemmed")), word);
    }
}
