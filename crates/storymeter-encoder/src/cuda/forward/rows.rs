//! What a batch brings to the GPU beside its words: numbers of rows, and who attends to whom.

use crate::cuda::device::{Device, word};
use crate::cuda::memory::Buffer;
use std::ops::Range;
use std::rc::Rc;

/// The most queries that a block of the attention kernels works on.
const TILE: usize = 64;

/// Numbers of rows of a table.
pub(super) struct Indices {
    numbers: Buffer<u32>,
    bound: usize,
}

impl Indices {
    pub(super) fn new(device: &Rc<Device>, numbers: &[u32]) -> Indices {
        let bound = numbers.iter().max().map_or(0, |largest| *largest as usize + 1);
        Indices { numbers: device.upload(numbers), bound }
    }

    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// All numbers are below this.
    pub(super) fn bound(&self) -> usize {
        self.bound
    }

    /// The address of the first `count` numbers.
    pub(super) fn at(&self, count: usize) -> u64 {
        self.numbers.first(count)
    }
}

/// The queries of each sequence and the keys that they may look at, cut into tiles of queries.
pub(super) struct Spans {
    /// Five numbers per tile: `Span` of the kernels.
    numbers: Buffer<u32>,
    tiles: usize,
    /// Where the last queries and the last keys end.
    queries: usize,
    keys: usize,
    longest: usize,
}

impl Spans {
    /// The rows of the queries and of the keys of each sequence.
    pub(super) fn new(device: &Rc<Device>, sequences: &[(Range<usize>, Range<usize>)]) -> Spans {
        let list = cut(sequences);
        Spans {
            tiles: list.len(),
            numbers: device.upload(list.as_flattened()),
            queries: sequences.iter().map(|(queries, _)| queries.end).max().unwrap_or(0),
            keys: sequences.iter().map(|(_, keys)| keys.end).max().unwrap_or(0),
            longest: sequences
                .iter()
                .map(|(queries, keys)| queries.len().max(keys.len()))
                .max()
                .unwrap_or(0),
        }
    }

    pub(super) fn tiles(&self) -> usize {
        self.tiles
    }

    /// The most queries or keys of a sequence.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The address of the tiles.
    pub(super) fn at(&self) -> u64 {
        self.numbers.first(5 * self.tiles)
    }

    /// Whether all spans are within so many rows of queries and of keys.
    pub(super) fn fit(&self, queries: usize, keys: usize) -> bool {
        self.queries <= queries && self.keys <= keys
    }
}

/// The tiles of sequences: the first query, the end and the beginning of the sequence's queries,
/// and its keys.
fn cut(sequences: &[(Range<usize>, Range<usize>)]) -> Vec<[u32; 5]> {
    let tiles = |(queries, keys): &(Range<usize>, Range<usize>)| {
        let (queries, keys) = (queries.clone(), keys.clone());
        queries
            .clone()
            .step_by(TILE)
            .map(move |first| [first, queries.end, queries.start, keys.start, keys.end].map(word))
    };
    sequences.iter().flat_map(tiles).collect()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn sequences_are_cut_into_tiles_of_64_queries() {
        let tiles = cut(&[(0..3, 0..2), (3..3, 2..4), (3..132, 4..133)]);
        assert_eq!(
            tiles,
            [[0, 3, 0, 0, 2], [3, 132, 3, 4, 133], [67, 132, 3, 4, 133], [131, 132, 3, 4, 133]]
        );
    }
}
