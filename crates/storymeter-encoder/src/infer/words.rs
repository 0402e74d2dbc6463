//! The word embeddings: as they are, or in eight bits with one scale a word.

use crate::kernel::Isa;
use crate::kernel::gemm::step_of;
use crate::kernel::steps::{products_f32, products_i8};
use std::borrow::Cow;

/// One row a vocabulary entry.
pub(super) enum Words {
    F32(Vec<f32>),
    I8 { rows: Cow<'static, [i8]>, scales: Vec<f32> },
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

    /// `out` becomes the embedding of `id` plus `position`.
    pub(super) fn add(&self, id: u32, position: &[f32], out: &mut [f32]) {
        let (id, width) = (id as usize, out.len());
        match self {
            Words::F32(rows) => {
                for ((x, w), p) in out.iter_mut().zip(&rows[id * width..][..width]).zip(position) {
                    *x = w + p;
                }
            }
            Words::I8 { rows, scales } => {
                let scale = scales[id];
                for ((x, q), p) in out.iter_mut().zip(&rows[id * width..][..width]).zip(position) {
                    *x = f32::from(*q) * scale + p;
                }
            }
        }
    }

    /// The product of every row with `state`.
    pub(super) fn products(&self, isa: Isa, state: &[f32]) -> Vec<f32> {
        match self {
            Words::F32(rows) => {
                let mut products = vec![0.0; rows.len() / state.len()];
                products_f32(isa, rows, state, &mut products);
                products
            }
            Words::I8 { rows, scales } => {
                let mut products = vec![0.0; scales.len()];
                products_i8(isa, rows, scales, state, &mut products);
                products
            }
        }
    }
}
