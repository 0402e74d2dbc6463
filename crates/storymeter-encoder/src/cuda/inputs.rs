//! What a batch brings to the GPU beside numbers: rows to look up, where stories are, and dropout.

use super::device::{Buffer, Device};
use super::{Number, Numbers};
use crate::train::{Attention, Dropout};
use std::rc::Rc;

/// Rows to look up, and grouped by row, so that gradients are added row by row in a fixed order.
pub struct Lookups {
    /// The rows, their places sorted by row, where each different row's places begin, the different rows.
    all: Buffer<u32>,
    pub(super) count: usize,
    pub(super) different: usize,
}

impl Lookups {
    pub(super) fn new(device: &Rc<Device>, rows: &[u32]) -> Lookups {
        let largest = rows.iter().max().map_or(0, |row| *row as usize);
        let mut begins = vec![0u32; largest + 2];
        rows.iter().for_each(|row| begins[*row as usize + 1] += 1);
        let (mut starts, mut different) = (Vec::new(), Vec::new());
        for row in 0..=largest {
            if begins[row + 1] > 0 {
                different.push(row as u32);
                starts.push(begins[row]);
            }
            begins[row + 1] += begins[row];
        }
        starts.push(rows.len() as u32);
        let mut order = vec![0u32; rows.len()];
        for (i, row) in rows.iter().enumerate() {
            let at = &mut begins[*row as usize];
            order[*at as usize] = i as u32;
            *at += 1;
        }
        let all = device.upload(&[rows, &order, &starts, &different].concat());
        Lookups { all, count: rows.len(), different: different.len() }
    }

    /// The address of the rows.
    pub(super) fn rows(&self) -> u64 {
        self.all.pointer()
    }

    /// The addresses of the sorted places, the beginnings and the different rows.
    pub(super) fn groups(&self) -> [u64; 3] {
        let starts = 2 * self.count;
        [self.all.at(self.count), self.all.at(starts), self.all.at(starts + self.different + 1)]
    }
}

/// Rows of one story that a block of attention works on: at most 64 (`Tile` of the kernels).
const TILE: usize = 64;

/// Where packed stories are, cut into tiles.
pub struct Stories {
    /// Bounds, then tiles of four numbers: first row, the story's first row and end, its number.
    all: Buffer<u32>,
    pub(super) count: usize,
    pub(super) tiles: usize,
    pub(super) rows: usize,
    pub(super) longest: usize,
}

impl Stories {
    pub(super) fn new(device: &Rc<Device>, bounds: &[usize]) -> Stories {
        let mut all: Vec<u32> = bounds.iter().map(|bound| *bound as u32).collect();
        let (mut tiles, mut longest) = (0, 0);
        for (number, story) in bounds.windows(2).enumerate() {
            longest = longest.max(story[1] - story[0]);
            for first in (story[0]..story[1]).step_by(TILE) {
                all.extend([first, story[0], story[1], number].map(|number| number as u32));
                tiles += 1;
            }
        }
        let rows = bounds.last().copied().unwrap_or_default();
        device.begin_batch(rows);
        let count = bounds.len().saturating_sub(1);
        Stories { all: device.upload(&all), count, tiles, rows, longest }
    }

    pub(super) fn bounds(&self) -> u64 {
        self.all.pointer()
    }

    pub(super) fn tiles_at(&self) -> u64 {
        self.all.at(self.count + 1)
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
    drop: Drop,
}

impl From<Attention> for Shape {
    fn from(attention: Attention) -> Shape {
        let head_width = attention.width / attention.heads;
        Shape {
            heads: attention.heads as u32,
            width: attention.width as u32,
            head_width: head_width as u32,
            longest: attention.longest as u32,
            scale: 1.0 / (head_width as f32).sqrt(),
            drop: attention.dropout.into(),
        }
    }
}
