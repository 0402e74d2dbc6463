//! The tokens of a text in one piece of memory.

use std::ops::Range;

/// The tokens of a text: byte ranges of one buffer, each with a hash of its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    buffer: String,
    pieces: Vec<Piece>,
}

/// Where a token lies in the buffer, and the hash of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    start: u32,
    end: u32,
    hash: u64,
}

/// The tokens found so far in a text, in a pass of [`Tokens::cut`].
pub struct Cuts<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
}

impl Cuts<'_> {
    /// Adds a token.
    ///
    /// # Panics
    /// If the range does not lie on character boundaries of the text.
    #[inline]
    pub fn push(&mut self, token: Range<usize>) {
        let text = self.text;
        assert!(
            token.start <= token.end
                && text.is_char_boundary(token.start)
                && text.is_char_boundary(token.end)
        );
        let hash = hash(text.as_bytes(), token.clone());
        self.pieces.push(Piece { start: token.start as u32, end: token.end as u32, hash });
    }
}

impl Tokens {
    /// Takes these ranges of a text as its tokens.
    ///
    /// # Panics
    /// If a range does not lie on character boundaries of the text, or the text has 4 GiB or more.
    pub fn new(buffer: String, ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        Self::cut(buffer, |_, cuts| ranges.into_iter().for_each(|range| cuts.push(range)))
    }

    /// Takes what one pass over a text pushes as its tokens.
    ///
    /// # Panics
    /// As [`Tokens::new`].
    pub fn cut(buffer: String, pass: impl FnOnce(&str, &mut Cuts<'_>)) -> Self {
        assert!(u32::try_from(buffer.len()).is_ok(), "a text of 4 GiB or more");
        let mut cuts = Cuts { text: &buffer, pieces: Vec::with_capacity(buffer.len() / 4) };
        pass(&buffer, &mut cuts);
        let pieces = cuts.pieces;
        Self { buffer, pieces }
    }

    /// Takes the longest runs of characters that belong to tokens.
    pub(super) fn runs(text: &str, belongs: impl Fn(char) -> bool) -> Self {
        Self::cut(text.to_owned(), |text, cuts| {
            let mut start = None;
            for (at, c) in text.char_indices() {
                if belongs(c) {
                    start.get_or_insert(at);
                } else if let Some(start) = start.take() {
                    cuts.push(start..at);
                }
            }
            if let Some(start) = start {
                cuts.push(start..text.len());
            }
        })
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The n-th token.
    pub fn get(&self, index: usize) -> &str {
        let Piece { start, end, .. } = self.pieces[index];
        &self.buffer[start as usize..end as usize]
    }

    /// All tokens, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.ranges().map(|range| &self.buffer[range])
    }

    /// Where each token lies in the text given to [`Tokens::new`].
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.pieces.iter().map(|piece| piece.start as usize..piece.end as usize)
    }

    /// The bytes of each token with a 64-bit hash of them. Equal bytes have equal hashes, on every
    /// machine and in every run.
    pub fn hashed(&self) -> impl ExactSizeIterator<Item = (u64, &[u8])> {
        let bytes = self.buffer.as_bytes();
        self.pieces
            .iter()
            .map(|piece| (piece.hash, &bytes[piece.start as usize..piece.end as usize]))
    }
}

/// Odd constants from the digits of pi, in which about half of the bits are set.
const KEYS: [u64; 3] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1];

/// Mixes two numbers: both halves of their 128-bit product, combined, so that every bit of the
/// result depends on every bit of both.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of an n-gram, from the hash of its first n-1 tokens and the hash of its last one.
pub(crate) fn extend_hash(prefix: u64, token: u64) -> u64 {
    fold(prefix ^ KEYS[0], token.rotate_left(29) ^ KEYS[2])
}

/// The hash of a piece of a text. Most pieces are shorter than eight bytes. They are read in one
/// step, together with the text that follows them.
#[inline]
fn hash(text: &[u8], piece: Range<usize>) -> u64 {
    let mut state = KEYS[0] ^ piece.len() as u64;
    let mut at = piece.start;
    while piece.end - at >= 8 {
        state = fold(state ^ eight(text, at), KEYS[1]);
        at += 8;
    }
    // At most seven bytes are left. The mask replaces what follows them by zeros.
    let mask = (1 << (8 * (piece.end - at))) - 1;
    fold(state ^ (eight(text, at) & mask), KEYS[2])
}

/// Eight bytes of a text as a little-endian number, with zeros beyond the end of the text.
#[inline]
pub(super) fn eight(text: &[u8], at: usize) -> u64 {
    let following = text.get(at..).unwrap_or_default();
    match following.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => following.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}
