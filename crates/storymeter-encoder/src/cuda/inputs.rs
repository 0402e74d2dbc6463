//! What a batch brings to the GPU beside activations: rows to look up, where stories are, and
//! dropout.

use super::device::{Argument, Device, word};
use super::memory::Buffer;
use super::{Number, Numbers};
use crate::train::{Attention, Dropout};
use std::rc::Rc;

/// One more than the largest of these numbers; 0 if there are none.
fn bound(numbers: &[u32]) -> usize {
    numbers.iter().max().map_or(0, |largest| *largest as usize + 1)
}

/// Whole numbers on the GPU: the targets of a loss.
pub struct Indices {
    pub(super) numbers: Buffer<u32>,
    /// All of them are below this.
    pub(super) bound: usize,
}

impl Indices {
    pub(super) fn new(device: &Rc<Device>, numbers: &[u32]) -> Indices {
        Indices { numbers: device.upload(numbers), bound: bound(numbers) }
    }
}

/// Rows of a table to look up. They are also grouped by row, so that gradients are added row by row
/// in a fixed order.
pub struct Lookups {
    /// The rows; their places sorted by row; where the places of each different row begin; the
    /// different rows.
    all: Buffer<u32>,
    pub(super) count: usize,
    pub(super) different: usize,
    /// All rows are below this.
    pub(super) bound: usize,
}

impl Lookups {
    pub(super) fn new(device: &Rc<Device>, rows: &[u32]) -> Lookups {
        let bound = bound(rows);
        let mut begins = vec![0u32; bound + 1];
        rows.iter().for_each(|row| begins[*row as usize + 1] += 1);
        let (mut starts, mut different) = (Vec::new(), Vec::new());
        for row in 0..bound {
            if begins[row + 1] > 0 {
                different.push(row as u32);
                starts.push(begins[row]);
            }
            begins[row + 1] += begins[row];
        }
        starts.push(word(rows.len()));
        let mut order = vec![0u32; rows.len()];
        for (i, row) in rows.iter().enumerate() {
            let at = &mut begins[*row as usize];
            order[*at as usize] = i as u32;
            *at += 1;
        }
        let all = device.upload(&[rows, &order, &starts, &different].concat());
        Lookups { all, count: rows.len(), different: different.len(), bound }
    }

    /// The address of the rows.
    pub(super) fn rows(&self) -> u64 {
        self.all.first(self.count)
    }

    /// The addresses of the sorted places, of where each row's places begin, and of the different
    /// rows.
    pub(super) fn groups(&self) -> [u64; 3] {
        let (count, different) = (self.count, self.different);
        let order = self.all.slice(count..2 * count);
        let starts = self.all.slice(2 * count..2 * count + different + 1);
        let rows = self.all.slice(2 * count + different + 1..self.all.len());
        [order.first(count), starts.first(different + 1), rows.first(different)]
    }
}

/// The most rows of one story that a block of attention works on (`Tile` of the kernels).
const TILE: usize = 64;

/// Where packed stories are, cut into tiles.
pub struct Stories {
    /// The bounds, then four numbers per tile: its first row, the first row and the end of its
    /// story, and the number of its story.
    all: Buffer<u32>,
    pub(super) count: usize,
    pub(super) tiles: usize,
    pub(super) rows: usize,
    pub(super) longest: usize,
}

impl Stories {
    /// # Panics
    /// If a story ends before it begins.
    pub(super) fn new(device: &Rc<Device>, bounds: &[usize]) -> Stories {
        assert!(bounds.is_sorted(), "stories follow each other");
        let mut all: Vec<u32> = bounds.iter().map(|bound| word(*bound)).collect();
        let (mut tiles, mut longest) = (0, 0);
        for (number, story) in bounds.windows(2).enumerate() {
            longest = longest.max(story[1] - story[0]);
            for first in (story[0]..story[1]).step_by(TILE) {
                all.extend([first, story[0], story[1], number].map(word));
                tiles += 1;
            }
        }
        let rows = bounds.last().copied().unwrap_or_default();
        device.usage.begin_batch(rows);
        let count = bounds.len().saturating_sub(1);
        Stories { all: device.upload(&all), count, tiles, rows, longest }
    }

    /// The address of where each story begins, and where the last one ends.
    pub(super) fn bounds(&self) -> u64 {
        self.all.first(self.all.len().min(self.count + 1))
    }

    /// The address of the tiles.
    pub(super) fn tiles_at(&self) -> u64 {
        let first = self.all.len() - 4 * self.tiles;
        self.all.slice(first..self.all.len()).first(4 * self.tiles)
    }
}

/// Queries, keys and values side by side in every row.
pub struct Projected<N: Number>(pub(super) Numbers<N>);

/// Dropout as the kernels take it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Drop {
    key: u64,
    rate: f32,
    scale: f32,
}

impl Argument for Drop {}

impl From<Dropout> for Drop {
    fn from(dropout: Dropout) -> Drop {
        Drop { key: dropout.stream.key(), rate: dropout.rate, scale: 1.0 / (1.0 - dropout.rate) }
    }
}

/// The shape of attention as the kernels take it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Shape {
    heads: u32,
    width: u32,
    head_width: u32,
    longest: u32,
    scale: f32,
    causal: u32,
    room: u32,
    drop: Drop,
}

impl Argument for Shape {}

impl Shape {
    pub(super) fn new(attention: Attention, stories: &Stories) -> Shape {
        let head_width = attention.width / attention.heads;
        Shape {
            heads: word(attention.heads),
            width: word(attention.width),
            head_width: word(head_width),
            longest: word(attention.longest),
            scale: 1.0 / (head_width as f32).sqrt(),
            causal: u32::from(attention.causal),
            room: word(stories.longest),
            drop: attention.dropout.into(),
        }
    }
}
