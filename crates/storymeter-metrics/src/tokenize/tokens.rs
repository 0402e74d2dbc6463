//! A list of tokens in one piece of memory.

use std::ops::Range;

/// Tokens of a text, as byte ranges of a buffer they share, each with a hash of its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    buffer: String,
    spans: Vec<(u32, u32)>,
    hashes: Vec<u64>,
}

impl Tokens {
    /// Tokens as ranges of a text, which they keep.
    ///
    /// # Panics
    /// If a range does not lie on character boundaries of the text, or the text is 4 GiB or longer.
    pub fn new(buffer: String, ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        assert!(u32::try_from(buffer.len()).is_ok(), "a text of 4 GiB or more");
        let mut tokens = Self { buffer, spans: Vec::new(), hashes: Vec::new() };
        let guess = tokens.buffer.len() / 4;
        tokens.spans.reserve(guess);
        tokens.hashes.reserve(guess);
        for range in ranges {
            let token = &tokens.buffer[range.clone()];
            tokens.hashes.push(hash(token.as_bytes()));
            tokens.spans.push((range.start as u32, range.end as u32));
        }
        tokens
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The n-th token.
    pub fn get(&self, index: usize) -> &str {
        let (start, end) = self.spans[index];
        &self.buffer[start as usize..end as usize]
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans.iter().map(|&(start, end)| &self.buffer[start as usize..end as usize])
    }

    /// Where each token lies in the text given to [`Tokens::new`].
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.spans.iter().map(|&(start, end)| start as usize..end as usize)
    }

    /// A 64-bit hash of each token: the same for the same bytes, everywhere and always.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }
}

/// Odd constants with half their bits set, from the digits of pi.
const KEYS: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1];

/// Both halves of a 128-bit product, folded: every bit of the result depends on every bit of both factors.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of an n-gram from that of its first n-1 tokens and that of its last one.
pub(super) fn extend_hash(prefix: u64, token: u64) -> u64 {
    fold(prefix ^ KEYS[0], token.rotate_left(29) ^ KEYS[2])
}

fn hash(bytes: &[u8]) -> u64 {
    let mut state = KEYS[0] ^ bytes.len() as u64;
    let mut rest = bytes;
    while let Some((chunk, tail)) = rest.split_first_chunk::<8>() {
        state = fold(state ^ u64::from_le_bytes(*chunk), KEYS[1]);
        rest = tail;
    }
    let mut last = 0;
    for &byte in rest {
        last = last << 8 | u64::from(byte);
    }
    fold(state ^ last, KEYS[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tokens_have_equal_hashes_and_others_do_not() {
        let text = "a bb a \u{0} extraordinary extraordinarx";
        let tokens = Tokens::new(text.into(), [0..1, 2..4, 5..6, 7..8, 9..22, 23..36, 0..0]);
        let hashes = tokens.hashes();
        assert_eq!(hashes[0], hashes[2]);
        let mut distinct = hashes.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 6);
        assert_eq!(tokens.get(4), "extraordinary");
    }
}
