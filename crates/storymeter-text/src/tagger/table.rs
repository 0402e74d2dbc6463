//! A hash table from feature keys to row numbers.

/// A table with open addressing and linear probing. It is at most half full, so searches are short.
#[derive(Debug)]
pub(super) struct Table {
    /// Keys with their rows. The key 0 marks an empty slot.
    slots: Vec<(u32, u32)>,
    shift: u32,
}

impl Table {
    /// A table of the given keys and values.
    pub(super) fn new(entries: impl ExactSizeIterator<Item = (u32, u32)>) -> Self {
        let size = (entries.len() * 2).next_power_of_two().max(2);
        let mut table = Self { slots: vec![(0, 0); size], shift: 32 - size.trailing_zeros() };
        for (key, value) in entries {
            let slot = table.slot(key);
            table.slots[slot] = (key, value);
        }
        table
    }

    /// The slot of a key, or the empty one where it would be.
    fn slot(&self, key: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key >> self.shift) as usize;
        while self.slots[at].0 != key && self.slots[at].0 != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    /// The row of a key.
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        let (found, row) = self.slots[self.slot(key)];
        (found == key).then_some(row)
    }
}
