//! Keeps sums of weights that are the same for every occurrence of a word.
//!
//! Twenty-two of a word's features depend on that word alone, and a few hundred words make up most
//! of any text. Each thread therefore keeps the sums of recent words in a small table. The result
//! is the same with and without it.

use super::decode::LANES;
use super::features::{self, Word};
use super::model::{Model, Row};

/// Weights of several features, added up.
pub(super) type Sum = [i16; LANES];

/// The number of words kept, which must be a power of two.
const SIZE: usize = 2048;

/// What one word adds to the scores of its own tags and to those of its neighbours.
#[derive(Clone)]
pub(super) struct Sums {
    identity: u64,
    pub own: Sum,
    pub before: Sum,
    pub after: Sum,
    /// The rows for the second neighbours, which have one feature each.
    pub before2: u32,
    pub after2: u32,
}

/// A direct-mapped table of words.
#[derive(Default)]
pub(super) struct Cache {
    /// The number of the model that the sums belong to.
    model: u64,
    slots: Vec<Option<Sums>>,
}

impl Cache {
    /// Empties the table unless its sums come from the model with this number.
    pub(super) fn serve(&mut self, number: u64) {
        if self.model != number || self.slots.is_empty() {
            self.model = number;
            self.slots.clear();
            self.slots.resize(SIZE, None);
        }
    }

    /// The sums of a word.
    pub(super) fn get(&mut self, model: &Model, word: &Word) -> &Sums {
        let identity = word.identity;
        let slot = &mut self.slots[identity as usize % SIZE];
        if slot.as_ref().is_some_and(|sums| sums.identity != identity) {
            *slot = None;
        }
        slot.get_or_insert_with(|| Sums {
            identity,
            own: sum(model, &features::own(word)),
            before: sum(model, &features::before(word)),
            after: sum(model, &features::after(word)),
            before2: model.row(features::before2(word)),
            after2: model.row(features::after2(word)),
        })
    }
}

fn sum(model: &Model, keys: &[u32]) -> Sum {
    let mut scores = [0; LANES];
    for &key in keys {
        add_row(&mut scores, model, model.row(key));
    }
    scores
}

/// Adds a row of weights. Fewer than 256 weights of one byte cannot overflow 16 bits.
pub(super) fn add_row(scores: &mut Sum, model: &Model, row: u32) {
    let Row(weights) = &model.rows[row as usize];
    for (score, &weight) in scores.iter_mut().zip(weights) {
        *score += i16::from(weight);
    }
}

/// Adds a sum of weights.
pub(super) fn add_sum(scores: &mut Sum, sum: &Sum) {
    for (score, &weight) in scores.iter_mut().zip(sum) {
        *score += weight;
    }
}
