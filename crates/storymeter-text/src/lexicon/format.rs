//! The layout of the embedded lexicon, shared by its reader and by its compiler,
//! `examples/build_lexicon.rs`.
//!
//! It is one file that is read in place: nothing is parsed at the start, and a lookup allocates no
//! memory. All numbers are little-endian.
//!
//! ```text
//! header   MAGIC, then four u32: number of slots (a power of two), number of shared synsets,
//!            start of SLOTS, start of SYNSETS
//! RECORDS  one per word, in byte order of the words:
//!            u8 length, the word (lower case, UTF-8),
//!            u8 mask: bit p = the word is a lemma of part of speech p,
//!                     bit 4 + p = it is an irregular form in p,
//!            for each lemma bit:     u8 use (see `Entry::usage`), list of synsets,
//!                                    list of counts, list of antonyms (records)
//!            for each exception bit: list of lemmas (records)
//! SYNSETS  one u24 per shared synset: where its list of members (records) starts; then those lists
//! SLOTS    an open hash table (linear probing) of u24: where a word's record starts, 0 = free
//!
//! list     varint length, then varints
//! synsets  in WordNet's order (the most usual sense first), as signed differences: each from the
//!            one before it, the first from 0; a difference d is the varint 2d, or -2d - 1 below 0
//! counts   how often each synset of the lemma is meant in WordNet's sense-tagged texts, in the
//!            order of the synsets; zeros at the end are left out
//! varint   seven bits per byte, lowest first, the high bit set on all bytes but the last
//! record   a word is referred to by where its record starts
//! ```
//!
//! Synsets are renumbered. Those that at least two single-word lemmas share come first and have a
//! list of members. The others need none, because their only member is the word that refers to
//! them.

/// First bytes of the file; the digit is the version of the layout.
pub const MAGIC: &[u8; 8] = b"smlexic2";
/// Bytes before the first record.
pub const HEADER_BYTES: usize = 24;

/// The hash of a word: FNV-1a, folded so that the low bits depend on all other bits.
pub fn hash(word: &str) -> u32 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in word.as_bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (state ^ (state >> 32)) as u32
}

/// The number that starts at byte `at`.
pub fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The place that is stored at byte `at`, in three bytes: enough for a file of less than 16 MB.
pub fn read_u24(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) | usize::from(bytes[at + 1]) << 8 | usize::from(bytes[at + 2]) << 16
}

/// The varint at `*at`. Moves `*at` past it.
pub fn read_varint(bytes: &[u8], at: &mut usize) -> u32 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
        shift += 7;
    }
}

/// Appends a varint.
pub fn write_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The number that a signed difference is stored as, so that small differences stay small.
pub fn fold_sign(difference: i32) -> u32 {
    ((difference << 1) ^ (difference >> 31)) as u32
}

/// The signed difference that is stored as `folded`.
pub fn unfold_sign(folded: u32) -> i32 {
    (folded >> 1) as i32 ^ -((folded & 1) as i32)
}
