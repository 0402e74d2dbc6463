//! Snowball's English stemmer, also called Porter 2, as METEOR 1.5 uses it.
//!
//! It is defined by Martin Porter, "The English (Porter2) stemming algorithm", snowballstem.org, as
//! it was from 2001 to 2015, before later additions. The region R1 is everything after the first
//! consonant that follows a vowel, and R2 is the same within R1.

use super::{by_letters, ends, swap_end};

/// The stem of a lower-case word.
pub fn stem(word: &str) -> String {
    if let Some(&(_, stem)) = SPECIAL.iter().find(|(form, _)| *form == word) {
        return stem.to_owned();
    }
    by_letters(word, |letters| {
        if letters.len() > 2 {
            let mut w = Word::new(std::mem::take(letters));
            w.step0();
            w.step1a();
            if !KEPT_AFTER_STEP_1A.iter().any(|kept| w.letters == kept.as_bytes()) {
                w.step1b();
                w.step1c();
                w.step2();
                w.step3();
                w.step4();
                w.step5();
            }
            *letters = w.letters.iter().map(u8::to_ascii_lowercase).collect();
        }
    })
}

/// Words with stems of their own.
const SPECIAL: &[(&str, &str)] = &[
    ("skis", "ski"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("idly", "idl"),
    ("gently", "gentl"),
    ("ugly", "ugli"),
    ("early", "earli"),
    ("only", "onli"),
    ("singly", "singl"),
    ("sky", "sky"),
    ("news", "news"),
    ("howe", "howe"),
    ("atlas", "atlas"),
    ("cosmos", "cosmos"),
    ("bias", "bias"),
    ("andes", "andes"),
];

/// Words that keep everything after step 1a.
const KEPT_AFTER_STEP_1A: &[&str] =
    &["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"];

/// Suffixes with their replacements. `li` and `ogi` of step 2 and `ative` of step 3 have conditions
/// of their own.
const STEP2: &[(&str, &str)] = &[
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
    ("ogi", "og"),
    ("li", ""),
];

const STEP3: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ative", ""),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];

const STEP4: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic",
];

/// A word while it is stemmed. A consonant y is written Y, and the regions are kept as positions.
struct Word {
    letters: Vec<u8>,
    r1: usize,
    r2: usize,
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// The position after the first consonant that follows a vowel, from `start` on.
fn region(letters: &[u8], start: usize) -> usize {
    let after =
        letters[start..].windows(2).position(|pair| is_vowel(pair[0]) && !is_vowel(pair[1]));
    after.map_or(letters.len(), |at| start + at + 2)
}

impl Word {
    fn new(mut letters: Vec<u8>) -> Self {
        if letters[0] == b'\'' {
            letters.remove(0);
        }
        for i in 0..letters.len() {
            if letters[i] == b'y' && (i == 0 || is_vowel(letters[i - 1])) {
                letters[i] = b'Y';
            }
        }
        let prefix = ["gener", "commun", "arsen"]
            .iter()
            .find(|prefix| letters.starts_with(prefix.as_bytes()));
        let r1 = prefix.map_or_else(|| region(&letters, 0), |prefix| prefix.len());
        let r2 = region(&letters, r1);
        Self { letters, r1, r2 }
    }

    fn ends(&self, suffix: &str) -> bool {
        ends(&self.letters, suffix)
    }

    /// Whether the last `length` letters lie in a region.
    fn within(&self, region: usize, length: usize) -> bool {
        self.letters.len() >= region + length
    }

    fn swap_end(&mut self, cut: usize, add: &str) {
        swap_end(&mut self.letters, cut, add);
    }

    /// Whether there is a vowel among the first `length` letters.
    fn vowel_within(&self, length: usize) -> bool {
        self.letters[..length].iter().any(|&letter| is_vowel(letter))
    }

    /// Whether the first `length` letters end in a short syllable: a consonant, a vowel and a
    /// consonant other than w, x and Y, or a vowel and a consonant that are the whole word.
    fn short_syllable(&self, length: usize) -> bool {
        match self.letters[..length] {
            [.., before, vowel, last] => {
                !is_vowel(before)
                    && is_vowel(vowel)
                    && !is_vowel(last)
                    && !matches!(last, b'w' | b'x' | b'Y')
            }
            [vowel, last] => is_vowel(vowel) && !is_vowel(last),
            _ => false,
        }
    }

    /// Removes possessive endings.
    fn step0(&mut self) {
        if let Some(suffix) = ["'s'", "'s", "'"].iter().find(|suffix| self.ends(suffix)) {
            self.swap_end(suffix.len(), "");
        }
    }

    /// Removes plural endings.
    fn step1a(&mut self) {
        let length = self.letters.len();
        if self.ends("sses") {
            self.swap_end(2, "");
        } else if self.ends("ied") || self.ends("ies") {
            self.swap_end(3, if length > 4 { "i" } else { "ie" });
        } else if self.ends("us") || self.ends("ss") {
        } else if self.ends("s") && length >= 2 && self.vowel_within(length - 2) {
            self.letters.pop();
        }
    }

    /// Removes `-eed`, `-ed`, `-ing` and the endings of the adverbs made of them.
    fn step1b(&mut self) {
        if let Some(suffix) = ["eedly", "eed"].iter().find(|suffix| self.ends(suffix)) {
            if self.within(self.r1, suffix.len()) {
                self.swap_end(suffix.len(), "ee");
            }
            return;
        }
        let found = ["ingly", "edly", "ing", "ed"].iter().find(|suffix| self.ends(suffix));
        let Some(suffix) = found else { return };
        if !self.vowel_within(self.letters.len() - suffix.len()) {
            return;
        }
        self.swap_end(suffix.len(), "");
        let length = self.letters.len();
        if ["at", "bl", "iz"].iter().any(|end| self.ends(end)) {
            self.letters.push(b'e');
        } else if let &[.., a, b] = self.letters.as_slice()
            && a == b
            && b"bdfgmnprt".contains(&b)
        {
            self.letters.pop();
        } else if length <= self.r1 && self.short_syllable(length) {
            self.letters.push(b'e');
        }
    }

    /// Replaces y after a consonant that is not the first letter.
    fn step1c(&mut self) {
        if let &[_, .., before, b'y' | b'Y'] = self.letters.as_slice()
            && !is_vowel(before)
        {
            self.swap_end(1, "i");
        }
    }

    /// Replaces the longest double suffix that lies within R1.
    fn step2(&mut self) {
        let Some(&(suffix, other)) = STEP2.iter().find(|(suffix, _)| self.ends(suffix)) else {
            return;
        };
        if !self.within(self.r1, suffix.len()) {
            return;
        }
        let before = self.letters[..self.letters.len() - suffix.len()].last().copied();
        let fits = match suffix {
            "ogi" => before == Some(b'l'),
            "li" => before.is_some_and(|letter| b"cdeghkmnrt".contains(&letter)),
            _ => true,
        };
        if fits {
            self.swap_end(suffix.len(), other);
        }
    }

    fn step3(&mut self) {
        let Some(&(suffix, other)) = STEP3.iter().find(|(suffix, _)| self.ends(suffix)) else {
            return;
        };
        let region = if suffix == "ative" { self.r2 } else { self.r1 };
        if self.within(self.r1, suffix.len()) && self.within(region, suffix.len()) {
            self.swap_end(suffix.len(), other);
        }
    }

    fn step4(&mut self) {
        let Some(suffix) = STEP4.iter().find(|suffix| self.ends(suffix)) else { return };
        let fits = *suffix != "ion" || self.ends("sion") || self.ends("tion");
        if fits && self.within(self.r2, suffix.len()) {
            self.swap_end(suffix.len(), "");
        }
    }

    /// Removes a final e, and one of two final l.
    fn step5(&mut self) {
        let Some(stem) = self.letters.len().checked_sub(1) else { return };
        let drop = if self.ends("e") {
            self.within(self.r2, 1) || (self.within(self.r1, 1) && !self.short_syllable(stem))
        } else {
            self.ends("ll") && self.within(self.r2, 1)
        };
        if drop {
            self.letters.pop();
        }
    }
}
