//! The word embeddings: as floats, in eight bits with one scale per word, or packed so that states
//! can be multiplied with them quickly.

use super::net::{Linear, Weights};
use crate::kernel::Isa;
use crate::kernel::gemm::COLS;
use crate::kernel::quantised::step_of;
use crate::kernel::steps::{STATES, products_f32, products_i8};
use std::borrow::Cow;

/// One row per entry of the vocabulary.
pub(super) enum Words {
    F32(Vec<f32>),
    I8 {
        rows: Cow<'static, [i8]>,
        scales: Vec<f32>,
    },
    /// One output per entry.
    Packed(Linear),
}

impl Words {
    /// Quantises rows of `width` numbers.
    pub(super) fn quantise(words: &[f32], width: usize) -> Words {
        let mut rows = Vec::with_capacity(words.len());
        let mut scales = Vec::with_capacity(words.len() / width);
        for row in words.chunks_exact(width) {
            let scale = step_of(row);
            rows.extend(row.iter().map(|v| (v / scale).round() as i8));
            scales.push(scale);
        }
        Words::I8 { rows: rows.into(), scales }
    }

    /// Whether states can be multiplied with the rows quickly.
    pub(super) fn is_packed(&self) -> bool {
        matches!(self, Words::Packed(_))
    }

    /// The number of rows of `width` numbers.
    pub(super) fn entries(&self, width: usize) -> usize {
        match self {
            Words::F32(rows) => rows.len() / width,
            Words::I8 { scales, .. } => scales.len(),
            Words::Packed(linear) => linear.outputs,
        }
    }

    /// Sets `out` to the embedding of `id`.
    pub(super) fn copy(&self, id: u32, out: &mut [f32]) {
        let (id, width) = (id as usize, out.len());
        match self {
            Words::F32(rows) => out.copy_from_slice(&rows[id * width..][..width]),
            Words::I8 { rows, scales } => {
                for (x, q) in out.iter_mut().zip(&rows[id * width..][..width]) {
                    *x = f32::from(*q) * scales[id];
                }
            }
            Words::Packed(Linear { weights: Weights::F32(packed), .. }) => {
                let panel = &packed[id / COLS * COLS * width..][..COLS * width];
                for (x, row) in out.iter_mut().zip(panel.chunks_exact(COLS)) {
                    *x = row[id % COLS];
                }
            }
            Words::Packed(Linear { weights: Weights::I8(packed), .. }) => packed.copy_row(id, out),
        }
    }

    /// The products of every row with `states` (of `width` numbers each): one vector per state.
    /// There are none of packed words, which are multiplied as a [`Linear`].
    pub(super) fn products(&self, isa: Isa, states: &[f32], width: usize) -> Vec<Vec<f32>> {
        let entries = self.entries(width);
        let mut results = Vec::with_capacity(states.len() / width);
        let mut block = vec![[0.0; STATES]; entries];
        for part in states.chunks(STATES * width) {
            let mut padded = part.to_vec();
            padded.resize(STATES * width, 0.0);
            match self {
                Words::F32(rows) => products_f32(isa, rows, width, &padded, &mut block),
                Words::I8 { rows, scales } => {
                    products_i8(isa, rows, scales, width, &padded, &mut block)
                }
                Words::Packed(_) => return Vec::new(),
            }
            let count = part.len() / width;
            results
                .extend((0..count).map(|s| block.iter().map(|row| row[s]).collect::<Vec<f32>>()));
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_rows_on_every_instruction_level() {
        let width = 21;
        let numbers = |count: usize, step: f32| {
            (0..count).map(|i| (i as f32 * step).sin()).collect::<Vec<_>>()
        };
        let (rows, states) = (numbers(5 * width, 0.7), numbers(11 * width, 0.3));
        for isa in Isa::available() {
            for (words, tolerance) in
                [(Words::F32(rows.clone()), 1e-5), (Words::quantise(&rows, width), 0.1)]
            {
                let products = words.products(isa, &states, width);
                assert_eq!(products.len(), 11);
                for (state, products) in states.chunks_exact(width).zip(&products) {
                    assert_eq!(products.len(), 5);
                    for (row, product) in rows.chunks_exact(width).zip(products) {
                        let exact: f32 = row.iter().zip(state).map(|(w, x)| w * x).sum();
                        assert!((product - exact).abs() < tolerance, "{product} for {exact}");
                    }
                }
            }
        }
    }
}
