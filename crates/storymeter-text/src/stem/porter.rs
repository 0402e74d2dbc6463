//! Porter's stemmer (Porter 1980, "An algorithm for suffix stripping", Program 14.3) in two
//! dialects.
//!
//! The dialects share the measure `m` of a stem and most tables of suffixes. Steps in which they
//! differ in one condition are written twice, so that each can be read beside its original. Each
//! step says where they differ.

use super::{by_letters, ends, swap_end};

/// The stem that the Perl code of ROUGE-1.5.5 gives.
///
/// It differs from the paper in two ways: step 2 has the suffixes `bli` and `logi`, and step 4
/// tries `ment` and `ent` after the other suffixes instead of among them.
pub fn rouge(word: &str) -> String {
    by_letters(word, |w| {
        if w.len() >= 3 {
            rouge_step1(w);
            longest(w, STEP2, 0);
            longest(w, STEP3, 0);
            rouge_step4(w);
            step5(w, ends_cvc_alone);
        }
    })
}

/// The stem that NLTK's `PorterStemmer` gives in its default mode.
pub fn nltk(word: &str) -> String {
    if let Some(&(_, stem)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return stem.to_owned();
    }
    by_letters(word, |w| {
        if w.len() > 2 {
            nltk_step1(w);
            nltk_step2(w);
            first_listed(w, STEP3, 0);
            nltk_step4(w);
            step5(w, nltk_cvc);
        }
    })
}

/// Words whose stems NLTK's extensions list.
const IRREGULAR: &[(&str, &str)] = &[
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

const STEP2: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

const STEP3: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const STEP4_ROUGE: &[(&str, &str)] = &[
    ("ement", ""),
    ("ance", ""),
    ("ence", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
    ("al", ""),
    ("er", ""),
    ("ic", ""),
    ("ou", ""),
];

const STEP4_NLTK: &[(&str, &str)] = &[
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("ion", ""),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
];

/// Whether each letter is a consonant: any letter but a, e, i, o, u, and y after a consonant.
fn consonants(word: &[u8]) -> impl Iterator<Item = bool> + '_ {
    word.iter().scan(false, |before, &letter| {
        let consonant = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !*before,
            _ => true,
        };
        *before = consonant;
        Some(consonant)
    })
}

/// How often a vowel is followed by a consonant: the paper's `m`.
fn measure(word: &[u8]) -> usize {
    let mut after_vowel = false;
    let mut count = 0;
    for consonant in consonants(word) {
        count += usize::from(after_vowel && consonant);
        after_vowel = !consonant;
    }
    count
}

fn has_vowel(word: &[u8]) -> bool {
    consonants(word).any(|consonant| !consonant)
}

/// The paper's `*o`: ends consonant, vowel, consonant, the last not w, x or y.
fn ends_cvc(word: &[u8]) -> bool {
    let Some(start) = word.len().checked_sub(3) else { return false };
    let mut tail = consonants(word).skip(start);
    tail.next() == Some(true)
        && tail.next() == Some(false)
        && tail.next() == Some(true)
        && !matches!(word[word.len() - 1], b'w' | b'x' | b'y')
}

/// `*o` as the Perl code tests it: the whole word is consonants, one vowel and one consonant.
fn ends_cvc_alone(word: &[u8]) -> bool {
    measure(word) == 1 && ends_cvc(word)
}

/// `*o` with NLTK's extension: a word of one vowel and one consonant fits too.
fn nltk_cvc(word: &[u8]) -> bool {
    ends_cvc(word) || (word.len() == 2 && consonants(word).eq([false, true]))
}

/// Replaces the longest suffix of a table that the word ends in, if the rest has a measure above
/// `above`.
fn longest(word: &mut Vec<u8>, table: &[(&str, &str)], above: usize) {
    let found = table
        .iter()
        .filter(|(suffix, _)| ends(word, suffix))
        .max_by_key(|(suffix, _)| suffix.len());
    replace_if(word, found, above);
}

/// Replaces the first suffix of a table that the word ends in, if the rest has a measure above
/// `above`.
fn first_listed(word: &mut Vec<u8>, table: &[(&str, &str)], above: usize) {
    replace_if(word, table.iter().find(|(suffix, _)| ends(word, suffix)), above);
}

fn replace_if(word: &mut Vec<u8>, found: Option<&(&str, &str)>, above: usize) {
    if let Some(&(suffix, other)) = found
        && measure(&word[..word.len() - suffix.len()]) > above
    {
        swap_end(word, suffix.len(), other);
    }
}

/// Drops `ed` or `ing` after a stem with a vowel; says whether it did.
fn drop_ed_or_ing(word: &mut Vec<u8>) -> bool {
    for suffix in ["ed", "ing"] {
        if ends(word, suffix) && has_vowel(&word[..word.len() - suffix.len()]) {
            swap_end(word, suffix.len(), "");
            return true;
        }
    }
    false
}

/// Step 1 of the Perl code: plurals, `-ed` and `-ing`, final y.
fn rouge_step1(w: &mut Vec<u8>) {
    if ends(w, "sses") || ends(w, "ies") {
        swap_end(w, 2, "");
    } else if ends(w, "s") && !ends(w, "ss") && w.len() > 1 {
        w.pop();
    }
    if ends(w, "eed") {
        if measure(&w[..w.len() - 3]) > 0 {
            w.pop();
        }
    } else if drop_ed_or_ing(w) {
        if ["at", "bl", "iz"].iter().any(|end| ends(w, end)) {
            w.push(b'e');
        } else if let &[.., a, b] = w.as_slice()
            && a == b
            && !b"aeiouylsz".contains(&b)
        {
            w.pop();
        } else if ends_cvc_alone(w) {
            w.push(b'e');
        }
    }
    if ends(w, "y") && has_vowel(&w[..w.len() - 1]) {
        swap_end(w, 1, "i");
    }
}

/// Step 4 of the Perl code: three tests one after the other, so `-ement` may lose more than one
/// suffix.
fn rouge_step4(w: &mut Vec<u8>) {
    longest(w, STEP4_ROUGE, 1);
    if ends(w, "ment") && measure(&w[..w.len() - 4]) > 1 {
        swap_end(w, 4, "");
    }
    if ends(w, "ent") {
        if measure(&w[..w.len() - 3]) > 1 {
            swap_end(w, 3, "");
        }
    } else if (ends(w, "sion") || ends(w, "tion")) && measure(&w[..w.len() - 3]) > 1 {
        swap_end(w, 3, "");
    }
}

/// Step 5 of both dialects: a final e, and one of two final l.
fn step5(w: &mut Vec<u8>, cvc: fn(&[u8]) -> bool) {
    if ends(w, "e") {
        let stem = &w[..w.len() - 1];
        let m = measure(stem);
        if m > 1 || (m == 1 && !cvc(stem)) {
            w.pop();
        }
    }
    if ends(w, "ll") && measure(&w[..w.len() - 1]) > 1 {
        w.pop();
    }
}

fn nltk_step1(w: &mut Vec<u8>) {
    if ends(w, "ies") && w.len() == 4 {
        w.pop();
    } else if ends(w, "sses") || ends(w, "ies") {
        swap_end(w, 2, "");
    } else if ends(w, "s") && !ends(w, "ss") {
        w.pop();
    }
    nltk_step1b(w);
    // y becomes i only after a consonant, and not in a word of two letters.
    if ends(w, "y") && w.len() > 2 && consonants(&w[..w.len() - 1]).last() == Some(true) {
        swap_end(w, 1, "i");
    }
}

fn nltk_step1b(w: &mut Vec<u8>) {
    if ends(w, "ied") {
        let keep = if w.len() == 4 { "ie" } else { "i" };
        swap_end(w, 3, keep);
    } else if ends(w, "eed") {
        if measure(&w[..w.len() - 3]) > 0 {
            w.pop();
        }
    } else if drop_ed_or_ing(w) {
        if ["at", "bl", "iz"].iter().any(|end| ends(w, end)) {
            w.push(b'e');
        } else if let &[.., a, b] = w.as_slice()
            && a == b
            && consonants(w).last() == Some(true)
        {
            if !b"lsz".contains(&b) {
                w.pop();
            }
        } else if measure(w) == 1 && nltk_cvc(w) {
            w.push(b'e');
        }
    }
}

fn nltk_step2(w: &mut Vec<u8>) {
    if ends(w, "alli") && measure(&w[..w.len() - 4]) > 0 {
        // The word without -li may end in another suffix of this step (-ational from -ationally).
        swap_end(w, 2, "");
        return nltk_step2(w);
    }
    if let Some(&(suffix, other)) = STEP2.iter().find(|(suffix, _)| ends(w, suffix)) {
        // For -logi NLTK measures the stem with its l.
        let kept = w.len() - if suffix == "logi" { 3 } else { suffix.len() };
        if measure(&w[..kept]) > 0 {
            swap_end(w, suffix.len(), other);
        }
    } else if ends(w, "fulli") && measure(&w[..w.len() - 5]) > 0 {
        swap_end(w, 2, "");
    }
}

fn nltk_step4(w: &mut Vec<u8>) {
    let ion_after_other = ends(w, "ion") && !ends(w, "sion") && !ends(w, "tion");
    if !ion_after_other {
        first_listed(w, STEP4_NLTK, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measure_counts_vowels_followed_by_consonants() {
        for (word, m) in
            [("tree", 0), ("by", 0), ("trouble", 1), ("ivy", 1), ("private", 2), ("orrery", 2)]
        {
            assert_eq!(measure(word.as_bytes()), m, "{word}");
        }
    }
}
