//! What the tagger sees of a sentence, as 32-bit keys.
//!
//! Strings are hashed once a token; every feature is then one multiplication away, and neither tagging nor training
//! ever holds a feature's text.

use crate::treebank::PLACEHOLDERS;

/// The facts of one token's spelling.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    /// The lower-cased word, digits made equal.
    pub form: u64,
    /// Its first one to four characters.
    prefixes: [u64; 4],
    /// Its last one to five characters.
    suffixes: [u64; 5],
    /// Classes of characters with repetitions removed: `Xx`, `d-x`.
    shape: u64,
    pub case: Case,
    /// The hash of the tags the word takes, for words frequent enough in training; set from the dictionary.
    pub class: u64,
    /// One of the placeholders for names.
    pub placeholder: bool,
}

/// How a word uses capitals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Case {
    /// No capital letter.
    #[default]
    Lower,
    /// Only the first letter is a capital.
    Title,
    /// All letters are capitals, and there are two or more.
    Upper,
    /// Capitals elsewhere.
    Mixed,
}

/// How a sentence uses capitals, which says how much a word's own case means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Regime {
    #[default]
    Ordinary,
    /// No capital letter in the sentence.
    Lower,
    /// No small letter in the sentence.
    Upper,
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of FNV-1a.
fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(PRIME)
}

/// Spreads the bits of a pair of hashes over one.
fn join(a: u64, b: u64) -> u64 {
    let product = (a ^ b.rotate_left(29)).wrapping_mul(MIX);
    product ^ (product >> 32)
}

/// The byte a word's spelling is compared by: small letters, one digit for all.
fn fold(byte: u8) -> u8 {
    if byte.is_ascii_digit() { b'0' } else { byte.to_ascii_lowercase() }
}

impl Word {
    pub(super) fn new(token: &str) -> Self {
        if PLACEHOLDERS.contains(&token) {
            // To its neighbours a placeholder is a first name.
            return Self { placeholder: true, ..Self::new("John") };
        }
        // Typographic apostrophes and quotes are rare in the training text; their plain forms are not.
        match token {
            "n’t" => return Self::new("n't"),
            "’s" => return Self::new("'s"),
            "’" => return Self::new("'"),
            "’ll" => return Self::new("'ll"),
            "’re" => return Self::new("'re"),
            "’ve" => return Self::new("'ve"),
            "’m" => return Self::new("'m"),
            "’d" => return Self::new("'d"),
            _ => {}
        }
        let bytes = token.as_bytes();
        let mut word = Self::default();
        let mut hash = SEED;
        let (mut upper, mut lower) = (0, 0);
        let (mut shape, mut last) = (SEED, 0);
        for (i, &byte) in bytes.iter().enumerate() {
            hash = step(hash, fold(byte));
            if let Some(prefix) = word.prefixes.get_mut(i) {
                *prefix = hash;
            }
            let kind = match byte {
                b'A'..=b'Z' => {
                    upper += 1;
                    b'X'
                }
                b'a'..=b'z' => {
                    lower += 1;
                    b'x'
                }
                b'0'..=b'9' => b'd',
                0x80.. => b'u',
                other => other,
            };
            if kind != last {
                shape = step(shape, kind);
                last = kind;
            }
        }
        word.form = hash;
        word.shape = shape;
        let mut hash = SEED;
        for (suffix, &byte) in word.suffixes.iter_mut().zip(bytes.iter().rev()) {
            hash = step(hash, fold(byte));
            *suffix = hash;
        }
        word.case = match (upper, lower) {
            (0, _) => Case::Lower,
            (1, _) if bytes[0].is_ascii_uppercase() => Case::Title,
            (_, 0) => Case::Upper,
            _ => Case::Mixed,
        };
        word
    }

    /// The word in a sentence of the given regime, as the dictionary of tags knows it.
    pub(super) fn dictionary_key(&self, regime: Regime) -> u32 {
        let case = match (regime, self.case) {
            (Regime::Lower, _) => 3,
            (Regime::Upper, _) => 4,
            (_, Case::Upper | Case::Mixed) => 2,
            (_, Case::Title) => 1,
            (_, Case::Lower) => 0,
        };
        key(0xff, join(self.form, case))
    }
}

/// What the words of a sentence say about its use of capitals.
pub(super) fn regime(words: &[Word]) -> Regime {
    let capital = words.iter().any(|w| w.case != Case::Lower && !w.placeholder);
    let small = words.iter().any(|w| w.case == Case::Title || w.case == Case::Mixed || w.case == Case::Lower);
    match (capital, small) {
        (false, _) => Regime::Lower,
        (true, false) => Regime::Upper,
        (true, true) => Regime::Ordinary,
    }
}

fn key(template: u8, hash: u64) -> u32 {
    let product = (hash ^ u64::from(template).wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(MIX);
    // 0 marks an empty slot of the table.
    ((product >> 32) as u32).max(1)
}

/// What stands outside a sentence.
const OUTSIDE: Word = Word {
    form: 1,
    prefixes: [1; 4],
    suffixes: [1; 5],
    shape: 1,
    case: Case::Lower,
    class: 1,
    placeholder: false,
};

/// How many features [`emission`] gives.
pub(super) const EMISSIONS: usize = 33;

/// The features of the word at `i` that do not look at other words' tags.
pub(super) fn emission(words: &[Word], i: usize, regime: Regime) -> [u32; EMISSIONS] {
    let near = |offset: isize| i.checked_add_signed(offset).and_then(|i| words.get(i)).unwrap_or(&OUTSIDE);
    let (before2, before, word, after, after2) = (near(-2), near(-1), &words[i], near(1), near(2));
    let place = regime as u64 * 2 + u64::from(i == 0);
    let case = word.case as u64 * 8 + place;
    let [s1, s2, s3, s4, s5] = word.suffixes;
    let [p1, p2, p3, p4] = word.prefixes;
    let hashes = [
        word.form,
        join(word.form, case),
        s1,
        s2,
        s3,
        s4,
        s5,
        p1,
        p2,
        p3,
        p4,
        join(word.shape, place),
        case,
        before.form,
        after.form,
        before2.form,
        after2.form,
        join(before.form, word.form),
        join(word.form, after.form),
        join(before.form, after.form),
        before.suffixes[2],
        after.suffixes[2],
        before.class,
        after.class,
        join(after.class, after2.class),
        join(before2.class, before.class),
        join(before.class, after.class),
        join(word.class, after.class),
        join(before.class, word.class),
        join(case, join(before.case as u64, after.case as u64)),
        join(s3, before.class),
        join(s3, after.class),
        join(s2, case),
    ];
    let mut keys = [0; EMISSIONS];
    for (template, (slot, hash)) in keys.iter_mut().zip(hashes).enumerate() {
        *slot = key(template as u8, hash);
    }
    keys
}

/// How many features [`transition`] gives.
pub(super) const TRANSITIONS: usize = 3;

/// The features of the word at `i` together with the tag before it.
pub(super) fn transition(words: &[Word], i: usize, tag_before: u8) -> [u32; TRANSITIONS] {
    let word = &words[i];
    let after = words.get(i + 1).unwrap_or(&OUTSIDE);
    let tag = u64::from(tag_before) + 1;
    [
        key(0x80, join(word.form, tag)),
        key(0x81, join(word.suffixes[2], tag)),
        key(0x82, join(join(word.class, after.class), tag)),
    ]
}
