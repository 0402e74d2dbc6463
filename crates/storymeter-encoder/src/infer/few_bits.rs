//! An int8 encoder from weights of few bits ([`crate::Bits`]): each row goes from its codes to eight bits by a table, so that a
//! model is ready in a fraction of a second.

use super::Encoder;
use super::net::{Net, Weights};
use super::words::Words;
use crate::coarse::{Bits, halves, plan, row_bytes, unpack_row_i8};
use crate::config::Config;
use crate::kernel::Isa;
use crate::kernel::gemm::COLS;
use crate::kernel::quantised::PackedI8;
use crate::parameters::{Layout, Parameters, Tensor};
use crate::{Error, Result};
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::Path;

/// Finds a tensor's bytes by its name.
type Find<'a> = &'a dyn Fn(&str) -> Option<Cow<'static, [u8]>>;

/// Rows in eight bits, and what a step of each is worth.
type Rows = (Vec<i8>, Vec<f32>);

impl Encoder {
    /// An int8 encoder from the bytes that [`Parameters::packed`] gave: the same hidden states, bit for bit, as of
    /// [`Parameters::rounded`].
    ///
    /// # Errors
    /// Where a tensor is missing, has another size than `config` says, or holds NaN or infinity; they name `path`.
    pub fn from_packed(config: Config, bits: Bits, find: Find<'_>, path: &Path, isa: Isa) -> Result<Encoder> {
        let layout = Layout::of(&config);
        let mut tensors = Vec::with_capacity(layout.expected.len());
        let mut matrices: Vec<Rows> = Vec::with_capacity(layout.expected.len());
        for ((name, shape), bits) in layout.expected.iter().zip(plan(&config, bits)) {
            let error = |problem: String| Error::Tensor { path: path.into(), name: name.clone(), problem };
            let bytes = find(name).ok_or_else(|| error("is missing".into()))?;
            let len = match bits {
                None => 2 * shape.iter().product::<usize>(),
                Some(bits) => shape[0] * row_bytes(shape[1], bits),
            };
            if bytes.len() != len {
                return Err(error(format!("has {} bytes, expected {len}", bytes.len())));
            }
            let (data, rows) = match bits {
                None => (halves(&bytes), Rows::default()),
                Some(bits) => (Vec::new(), rows(&bytes, shape[1], bits)),
            };
            if !data.iter().chain(&rows.1).all(|x: &f32| x.is_finite()) {
                return Err(error("holds NaN or infinity".into()));
            }
            tensors.push(Tensor { name: name.clone(), shape: shape.clone(), data });
            matrices.push(rows);
        }
        let (rows, scales) = std::mem::take(&mut matrices[layout.words]);
        let words = Words::I8 { rows: rows.into(), scales };
        let weights = |tensors: &[usize], inputs: usize| {
            let parts = tensors.iter().map(|tensor| &matrices[*tensor]);
            let scales: Vec<f32> = parts.clone().flat_map(|(_, scales)| scales).copied().collect();
            let rows: Vec<&[i8]> = parts.flat_map(|(rows, _)| rows.chunks_exact(inputs)).collect();
            Weights::I8(PackedI8::from_packed(panels(&rows, inputs).into(), &scales, inputs))
        };
        let net = Net::of(&config, &Parameters { tensors }, words, &weights, isa);
        Ok(Encoder { config, net })
    }
}

fn rows(bytes: &[u8], width: usize, bits: u8) -> Rows {
    let mut rows = vec![0; bytes.len() / row_bytes(width, bits) * width];
    let packed = bytes.par_chunks_exact(row_bytes(width, bits));
    let steps = rows
        .par_chunks_exact_mut(width)
        .zip(packed)
        .with_min_len(64)
        .map_init(|| vec![0.0; width], |numbers, (row, bytes)| unpack_row_i8(bytes, bits, numbers, row))
        .collect();
    (rows, steps)
}

/// Rows in the order in which the kernels read them: [`COLS`] side by side, four weights of each at a time.
fn panels(rows: &[&[i8]], width: usize) -> Vec<i8> {
    let mut data = vec![0; PackedI8::data_len(rows.len(), width)];
    let panels = data.par_chunks_exact_mut(COLS * width.next_multiple_of(4));
    panels.zip(rows.par_chunks(COLS)).for_each(|(panel, rows)| {
        for (column, row) in rows.iter().enumerate() {
            for (step, four) in row.chunks(4).enumerate() {
                panel[(step * COLS + column) * 4..][..four.len()].copy_from_slice(four);
            }
        }
    });
    data
}
