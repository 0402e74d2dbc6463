//! The features that the tagger sees in a sentence, as 32-bit keys.
//!
//! Each token is hashed once, and every feature follows from the hashes by one multiplication.
//! Neither tagging nor training ever stores the text of a feature.

use super::Tag;
use crate::treebank::PLACEHOLDERS;

/// The facts of one token's spelling.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    /// The word in lower case, with all digits replaced by the same one.
    pub form: u64,
    /// Its first one to four characters.
    prefixes: [u64; 4],
    /// Its last one to five characters.
    suffixes: [u64; 5],
    /// The classes of its characters without repeats: `Xx`, `d-x`.
    shape: u64,
    pub case: Case,
    /// The tags that the word takes, as bits, if it was frequent enough in training; else 0.
    class: u64,
    /// How the sentence uses capitals, and whether the word is the first one.
    place: u8,
    /// Equal for words that have the same features.
    pub identity: u64,
    /// Whether it is one of the placeholders for names.
    pub placeholder: bool,
}

/// The tags of names, as bits.
const PROPER: u64 = 1 << Tag::Nnp as u8 | 1 << Tag::Nnps as u8;

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

/// How a sentence uses capitals, which decides how much the case of a word means.
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

/// Mixes two hashes into one.
fn join(a: u64, b: u64) -> u64 {
    let product = (a ^ b.rotate_left(29)).wrapping_mul(MIX);
    product ^ (product >> 32)
}

/// Makes letters small and all digits equal, so that spellings can be compared.
fn fold(byte: u8) -> u8 {
    if byte.is_ascii_digit() { b'0' } else { byte.to_ascii_lowercase() }
}

impl Word {
    pub(super) fn new(token: &str) -> Self {
        if PLACEHOLDERS.contains(&token) {
            // For its neighbours, a placeholder is a first name.
            return Self { placeholder: true, ..Self::new("John") };
        }
        // Typographic apostrophes are rare in the training text, so they are read as plain ones.
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

    /// Sets where the word stands and which tags it is known to take. Its features are defined only
    /// after this.
    pub(super) fn set_context(&mut self, regime: Regime, first: bool, class: u64) {
        self.place = regime as u8 * 2 + u8::from(first);
        self.class = class;
        self.identity = join(join(self.form, self.shape), self.case_in_place() + 1);
    }

    /// The word's case, together with where it stands.
    fn case_in_place(&self) -> u64 {
        self.case as u64 * 8 + u64::from(self.place)
    }

    /// Whether the word has no capital, is known, and was never a name in training.
    pub(super) fn is_never_a_name(&self) -> bool {
        self.case == Case::Lower && self.class != 0 && self.class & PROPER == 0
    }

    /// The key of the word in the dictionary of tags, for a sentence that uses capitals in this
    /// way.
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

/// How a sentence uses capitals.
pub(super) fn regime(words: &[Word]) -> Regime {
    let capital = words.iter().any(|w| w.case != Case::Lower);
    let small = words
        .iter()
        .any(|w| w.case == Case::Title || w.case == Case::Mixed || w.case == Case::Lower);
    match (capital, small) {
        (false, _) => Regime::Lower,
        (true, false) => Regime::Upper,
        (true, true) => Regime::Ordinary,
    }
}

fn key(template: u8, hash: u64) -> u32 {
    let product =
        (hash ^ u64::from(template).wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(MIX);
    // 0 marks an empty slot of the table.
    ((product >> 32) as u32).max(1)
}

/// Stands for the words outside a sentence.
const OUTSIDE: Word = Word {
    form: 1,
    prefixes: [1; 4],
    suffixes: [1; 5],
    shape: 1,
    case: Case::Lower,
    class: 1,
    place: 0,
    identity: 1,
    placeholder: false,
};

/// A word and its two neighbours on each side.
pub(super) struct Window<'a> {
    pub before2: &'a Word,
    pub before: &'a Word,
    pub word: &'a Word,
    pub after: &'a Word,
    pub after2: &'a Word,
}

impl<'a> Window<'a> {
    pub(super) fn new(words: &'a [Word], i: usize) -> Self {
        let near = |offset: isize| {
            i.checked_add_signed(offset).and_then(|i| words.get(i)).unwrap_or(&OUTSIDE)
        };
        Self { before2: near(-2), before: near(-1), word: near(0), after: near(1), after2: near(2) }
    }
}

/// The keys of a group of features, numbered from `first` on.
fn keys<const N: usize>(first: u8, hashes: [u64; N]) -> [u32; N] {
    let mut template = first;
    hashes.map(|hash| {
        template += 1;
        key(template - 1, hash)
    })
}

pub(super) const OWN: usize = 14;
pub(super) const SIDE: usize = 3;
pub(super) const CONTEXT: usize = 11;

/// The features that depend only on the word itself and its place.
pub(super) fn own(word: &Word) -> [u32; OWN] {
    let Word { form, shape, .. } = *word;
    let [s1, s2, s3, s4, s5] = word.suffixes;
    let [p1, p2, p3, p4] = word.prefixes;
    let case = word.case_in_place();
    let hashes = [
        form,
        join(form, case),
        s1,
        s2,
        s3,
        s4,
        s5,
        p1,
        p2,
        p3,
        p4,
        join(shape, u64::from(word.place)),
        case,
        join(s2, case),
    ];
    keys(0, hashes)
}

/// The features of a word for the word after it.
pub(super) fn before(word: &Word) -> [u32; SIDE] {
    keys(0x20, [word.form, word.suffixes[2], word.class])
}

/// The features of a word for the word before it.
pub(super) fn after(word: &Word) -> [u32; SIDE] {
    keys(0x24, [word.form, word.suffixes[2], word.class])
}

/// The feature of a word for the second word after it.
pub(super) fn before2(word: &Word) -> u32 {
    key(0x28, word.form)
}

/// The feature of a word for the second word before it.
pub(super) fn after2(word: &Word) -> u32 {
    key(0x29, word.form)
}

/// The features of several words together.
pub(super) fn context(window: &Window) -> [u32; CONTEXT] {
    let Window { before2, before, word, after, after2 } = window;
    let s3 = word.suffixes[2];
    let hashes = [
        join(before.form, word.form),
        join(word.form, after.form),
        join(before.form, after.form),
        join(after.class, after2.class),
        join(before2.class, before.class),
        join(before.class, after.class),
        join(word.class, after.class),
        join(before.class, word.class),
        join(word.case_in_place(), join(before.case as u64, after.case as u64)),
        join(s3, before.class),
        join(s3, after.class),
    ];
    keys(0x30, hashes)
}

/// The number of features that [`transition`] gives.
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
