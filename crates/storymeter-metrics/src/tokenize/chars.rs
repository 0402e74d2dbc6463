//! All character n-grams of a text up to order 6, sorted once.
//!
//! The six characters that begin at each position are packed into one number, the first character
//! in the highest bits. Once these numbers are sorted, the n-grams of every order are runs with
//! equal high bits. One sort per text therefore serves all orders, and the matches of two texts are
//! counted by walking through two sorted lists side by side. Packing is exact. It takes 10 bits per
//! character if all characters are among the 900 or so of European texts, and 21 bits otherwise.

/// The sorted character n-grams of a text.
///
/// ```
/// use storymeter_metrics::tokenize::CharNgrams;
/// let [lamp, lamps] = ["lamp", "lamps"].map(|text| CharNgrams::new(text.chars()));
/// assert_eq!(lamp.clipped_matches(&lamps), [4, 3, 2, 1, 0, 0]);
/// ```
pub struct CharNgrams {
    /// The characters of the text. Once there are keys only the last few are needed, or all of them
    /// if the keys must be made wider.
    chars: Vec<char>,
    keys: Keys,
}

enum Keys {
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
}

impl CharNgrams {
    /// The highest order.
    pub const ORDER: usize = 6;

    /// Packs the n-grams of these characters and sorts them.
    pub fn new(chars: impl Iterator<Item = char>) -> Self {
        let chars: Vec<char> = chars.collect();
        let keys = match narrow_keys(&chars) {
            Some(keys) => Keys::Narrow(keys),
            None => Keys::Wide(wide_keys(&chars)),
        };
        Self { chars, keys }
    }

    /// The number of characters.
    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// Whether there is no character.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// The number of n-grams of each order that two texts share. Each counts at most as often as it
    /// occurs in either text.
    pub fn clipped_matches(&self, other: &Self) -> [u32; Self::ORDER] {
        let mut matches = match (&self.keys, &other.keys) {
            (Keys::Narrow(a), Keys::Narrow(b)) => merge::<10, _>(a, b),
            (Keys::Wide(a), Keys::Wide(b)) => merge::<21, _>(a, b),
            (Keys::Narrow(_), Keys::Wide(b)) => merge::<21, _>(&wide_keys(&self.chars), b),
            (Keys::Wide(a), Keys::Narrow(_)) => merge::<21, _>(a, &wide_keys(&other.chars)),
        };
        // The last five positions have fewer than six characters and are filled up with "no
        // character". Two texts with the same last m characters were therefore counted as sharing
        // one n-gram too many in each order above m.
        for m in 1..Self::ORDER {
            if ends_alike(&self.chars, &other.chars, m) {
                matches[m..].iter_mut().for_each(|count| *count -= 1);
            }
        }
        matches
    }
}

fn ends_alike(a: &[char], b: &[char], m: usize) -> bool {
    a.len() >= m && b.len() >= m && a[a.len() - m..] == b[b.len() - m..]
}

/// The 10-bit code of a character, which is at least 1. The code 0 means "no character".
fn narrow(c: char) -> Option<u64> {
    let code = match c as u32 {
        // Latin letters with all accents, and phonetic letters.
        c @ 0..=0x2ff => c + 1,
        // Dashes, quotation marks, the ellipsis and special blanks.
        c @ 0x2000..=0x206f => c - 0x2000 + 0x301,
        _ => return None,
    };
    Some(u64::from(code))
}

fn narrow_keys(chars: &[char]) -> Option<Vec<u64>> {
    let mut keys = vec![0; chars.len()];
    let mut key = 0;
    for (slot, &c) in keys.iter_mut().zip(chars).rev() {
        key = key >> 10 | narrow(c)? << 50;
        *slot = key;
    }
    keys.sort_unstable();
    Some(keys)
}

fn wide_keys(chars: &[char]) -> Vec<u128> {
    let mut keys = vec![0; chars.len()];
    let mut key = 0;
    for (slot, &c) in keys.iter_mut().zip(chars).rev() {
        key = key >> 21 | (u128::from(u32::from(c)) + 1) << 105;
        *slot = key;
    }
    keys.sort_unstable();
    keys
}

/// Walks through two sorted lists once per order. Equal high bits are a match, and both lists
/// advance.
fn merge<const BITS: usize, K>(a: &[K], b: &[K]) -> [u32; CharNgrams::ORDER]
where
    K: Copy + Ord + std::ops::Shr<usize, Output = K>,
{
    let mut matches = [0; CharNgrams::ORDER];
    for (n, count) in matches.iter_mut().enumerate() {
        let shift = BITS * (CharNgrams::ORDER - 1 - n);
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i] >> shift, b[j] >> shift);
            // Which list is ahead cannot be predicted, so this has no branches.
            *count += u32::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
    matches
}
