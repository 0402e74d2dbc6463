//! Hash tables that give numbers to tokens, and to pairs of numbers.
//!
//! Keys are compared in full, so that equal numbers always mean equal keys. Tables are made large
//! enough for all keys at the start, so that they never grow.

use super::Tokens;

/// The number of a token or n-gram.
pub(super) type Id = u32;

/// Marks a free slot.
const NONE: Id = Id::MAX;

/// Different tokens, numbered in order of first occurrence.
pub(super) struct TokenTable {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    slots: Slots,
}

/// A token's hash, and where its bytes end.
struct Entry {
    hash: u64,
    end: usize,
}

impl TokenTable {
    pub(super) fn with_capacity(tokens: usize) -> Self {
        // About half of the tokens of a story are new ones, and these are longer than the average.
        let different = tokens / 2;
        Self {
            bytes: Vec::with_capacity(6 * different),
            entries: Vec::with_capacity(different),
            slots: Slots::new(tokens),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The numbers of all tokens of a text. New ones get the next free numbers.
    pub(super) fn intern(&mut self, text: &Tokens) -> Vec<Id> {
        let mut ids = Vec::with_capacity(text.len());
        for (hash, token) in text.hashed() {
            ids.push(match self.slots.find(hash, |id| self.is(id, hash, token)) {
                Ok(id) => id,
                Err(slot) => {
                    let id = self.len() as Id;
                    self.bytes.extend_from_slice(token);
                    self.entries.push(Entry { hash, end: self.bytes.len() });
                    self.slots.fill(slot, id);
                    id
                }
            });
        }
        ids
    }

    #[inline]
    pub(super) fn find(&self, hash: u64, token: &[u8]) -> Option<Id> {
        self.slots.find(hash, |id| self.is(id, hash, token)).ok()
    }

    /// Each token with its hash, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        (0..self.len()).map(|id| (self.entries[id].hash, self.get(id)))
    }

    fn get(&self, id: usize) -> &[u8] {
        let start = if id == 0 { 0 } else { self.entries[id - 1].end };
        &self.bytes[start..self.entries[id].end]
    }

    #[inline]
    fn is(&self, id: Id, hash: u64, token: &[u8]) -> bool {
        self.entries[id as usize].hash == hash && self.get(id as usize) == token
    }
}

/// Different pairs of numbers, numbered in order of first occurrence.
#[derive(Default)]
pub(super) struct GramTable {
    keys: Vec<u64>,
    slots: Slots,
}

impl GramTable {
    /// Forgets all pairs and makes room for this many.
    pub(super) fn restart(&mut self, grams: usize) {
        self.keys.clear();
        self.slots.restart(grams);
    }

    /// The pairs, by number.
    pub(super) fn keys(&self) -> &[u64] {
        &self.keys
    }

    #[inline]
    pub(super) fn intern(&mut self, key: u64) -> Id {
        match self.slots.find(spread(key), |id| self.keys[id as usize] == key) {
            Ok(id) => id,
            Err(slot) => {
                let id = self.keys.len() as Id;
                self.keys.push(key);
                self.slots.fill(slot, id);
                id
            }
        }
    }

    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<Id> {
        self.slots.find(spread(key), |id| self.keys[id as usize] == key).ok()
    }
}

/// Two numbers as one.
pub(super) fn key(first: Id, second: Id) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Fibonacci hashing, folded so that the low bits are well mixed too.
fn spread(key: u64) -> u64 {
    let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// A table with open addressing and linear probing that is never more than half full.
#[derive(Default)]
struct Slots {
    ids: Vec<Id>,
}

impl Slots {
    fn new(capacity: usize) -> Self {
        let mut slots = Self::default();
        slots.restart(capacity);
        slots
    }

    fn restart(&mut self, capacity: usize) {
        self.ids.clear();
        self.ids.resize((2 * capacity).next_power_of_two().max(4), NONE);
    }

    /// The id that `is` accepts, or else the free slot where it belongs.
    #[inline]
    fn find(&self, hash: u64, is: impl Fn(Id) -> bool) -> Result<Id, usize> {
        let mask = self.ids.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.ids[slot] {
                NONE => return Err(slot),
                id if is(id) => return Ok(id),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn fill(&mut self, slot: usize, id: Id) {
        self.ids[slot] = id;
    }
}
