//! Weights on a grid: every weight of a row is a whole multiple of the step of that row. In this
//! form ten layers of MPNet and its word embeddings fit into 30 MB.
//!
//! The step of a row is a share of its root mean square. Most weights of a trained row are then -1,
//! 0 or 1 steps, and an entropy coder ([`crate::rans`]) keeps them in two or three bits each. At
//! the same error this is about half a bit less than what levels of equal length need (Gish &
//! Pierce 1968, "Asymptotically efficient quantizing").
//!
//! Rounding a trained network this much hurts it. Training it in rounded form hurts much less:
//! forward and backward pass compute with the rounded weights, and the gradients move the exact
//! ones (Courbariaux et al. 2015, "BinaryConnect").
//!
//! The bytes of a tensor are its code, the step of each row (f16), the length of every block of 64
//! rows (u32), and the blocks.

use half::f16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::parameters::{Layout, Parameters, Tensor};
use crate::rans::Code;

/// The number of rows that are encoded together. Blocks are decoded in parallel.
const ROWS_PER_BLOCK: usize = 64;

/// How far apart the lines of the grid are, as a share of the root mean square of a row. Everything
/// that is not on the grid (biases, norms, positions) has sixteen bits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Grid {
    /// The step in the matrices of the layers.
    pub layers: f32,
    /// The step in the word embeddings.
    pub words: f32,
}

/// How one tensor is rounded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounded {
    /// The number of the tensor.
    pub tensor: usize,
    /// The length of a row.
    pub width: usize,
    /// The step as a share of the root mean square of a row.
    pub step: f32,
}

/// A tensor on the grid.
pub(crate) struct Levels {
    /// All rows, in steps.
    pub levels: Vec<i8>,
    /// What a step of each row is worth.
    pub steps: Vec<f32>,
}

impl Grid {
    /// Says what is wrong with the grid, if anything.
    pub fn problem(self) -> Option<&'static str> {
        // A weight of 30 root mean squares is then still within 127 steps.
        let fine = |step: f32| (0.25..=2.0).contains(&step);
        (!(fine(self.layers) && fine(self.words))).then_some("a step is from 0.25 to 2")
    }

    /// How each tensor is rounded that is on the grid.
    pub(crate) fn of(self, layout: &Layout) -> Vec<Rounded> {
        let rounded =
            |tensor: usize, step| Rounded { tensor, width: layout.expected[tensor].1[1], step };
        let matrices = layout.layers.iter().flat_map(|layer| {
            let own = [layer.query, layer.key, layer.value, layer.output, layer.up, layer.down];
            own.into_iter().chain(layer.gate).map(|pair| pair.weight)
        });
        std::iter::once(rounded(layout.words, self.words))
            .chain(matrices.map(|tensor| rounded(tensor, self.layers)))
            .collect()
    }

    /// For every tensor, how it is rounded if it is on the grid.
    pub(crate) fn plan(self, layout: &Layout) -> Vec<Option<Rounded>> {
        let mut plan = vec![None; layout.expected.len()];
        for rounded in self.of(layout) {
            plan[rounded.tensor] = Some(rounded);
        }
        plan
    }
}

impl Parameters {
    /// The weights as they would be read back from a file that keeps them on this grid.
    #[must_use]
    pub fn rounded(&self, config: &Config, grid: Grid) -> Parameters {
        let mut rounded = self.clone();
        for (tensor, plan) in rounded.tensors.iter_mut().zip(grid.plan(&Layout::of(config))) {
            match plan {
                None => tensor.data.iter_mut().for_each(|x| *x = f16::from_f32(*x).to_f32()),
                Some(Rounded { width, step, .. }) => {
                    tensor.data.par_chunks_mut(width).for_each(|row| {
                        snap(row, f16::from_f32(row_step(row, step)).to_f32());
                    })
                }
            }
        }
        rounded
    }

    /// The name of every tensor, and its bytes on this grid.
    pub fn packed(&self, config: &Config, grid: Grid) -> Vec<(String, Vec<u8>)> {
        let pack = |(tensor, plan): (&Tensor, Option<Rounded>)| {
            let bytes = match plan {
                None => tensor.data.iter().flat_map(|x| f16::from_f32(*x).to_le_bytes()).collect(),
                Some(rounded) => pack(&tensor.data, rounded),
            };
            (tensor.name.clone(), bytes)
        };
        self.tensors.iter().zip(grid.plan(&Layout::of(config))).map(pack).collect()
    }
}

/// Rounds weights in place.
#[cfg(any(test, feature = "train"))]
pub(crate) fn round(weights: &mut [f32], width: usize, step: f32) {
    weights.par_chunks_mut(width).for_each(|row| snap(row, row_step(row, step)));
}

/// Moves every weight of a row to the nearest line of the grid.
fn snap(row: &mut [f32], step: f32) {
    row.iter_mut().for_each(|w| *w = step * f32::from(level(*w, step)));
}

/// What a step of this row is worth, for a step as a share of the root mean square.
fn row_step(row: &[f32], step: f32) -> f32 {
    let squares: f32 = row.iter().map(|w| w * w).sum();
    step * (squares / row.len() as f32).sqrt()
}

/// The number of steps that is nearest to a weight. It is 0 in a row of zeros.
fn level(weight: f32, step: f32) -> i8 {
    // 0 / 0 is NaN, and NaN becomes 0 as an integer.
    (weight / step).round_ties_even().clamp(-127.0, 127.0) as i8
}

fn pack(weights: &[f32], Rounded { width, step, .. }: Rounded) -> Vec<u8> {
    let steps: Vec<f16> =
        weights.par_chunks(width).map(|row| f16::from_f32(row_step(row, step))).collect();
    let levels: Vec<i8> = weights
        .par_chunks(width)
        .zip(&steps)
        .flat_map_iter(|(row, step)| row.iter().map(|w| level(*w, step.to_f32())))
        .collect();
    let code = Code::of(levels.iter().copied());
    let blocks: Vec<Vec<u8>> =
        levels.par_chunks(ROWS_PER_BLOCK * width).map(|levels| code.encode(levels)).collect();
    let mut bytes = code.to_bytes();
    bytes.extend(steps.iter().flat_map(|step| step.to_le_bytes()));
    bytes.extend(blocks.iter().flat_map(|block| (block.len() as u32).to_le_bytes()));
    bytes.extend(blocks.concat());
    bytes
}

/// Reads the levels of a tensor from its bytes. Returns `None` if the bytes do not stand for that
/// many numbers.
pub(crate) fn unpack(bytes: &[u8], rows: usize, width: usize) -> Option<Levels> {
    let (code, rest) = Code::read(bytes)?;
    let (steps, rest) = rest.split_at_checked(2 * rows)?;
    let (lengths, mut rest) = rest.split_at_checked(4 * rows.div_ceil(ROWS_PER_BLOCK))?;
    let mut blocks = Vec::with_capacity(lengths.len() / 4);
    for length in lengths.as_chunks().0 {
        let (block, behind) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        blocks.push(block);
        rest = behind;
    }
    // The length of an entropy code does not say how many numbers it stands for: a forged file may
    // ask for more memory than there is.
    let (mut levels, count) = (Vec::new(), rows.checked_mul(width)?);
    levels.try_reserve_exact(count).ok()?;
    levels.resize(count, 0);
    let decoder = code.decoder();
    levels
        .par_chunks_mut(ROWS_PER_BLOCK * width)
        .zip(blocks)
        .map(|(levels, block)| decoder.decode(block, levels))
        .collect::<Option<()>>()?;
    rest.is_empty().then(|| Levels { levels, steps: halves(steps) })
}

/// Reads numbers of sixteen bits.
pub(crate) fn halves(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn normal(count: u64) -> Vec<f32> {
        (0..count).map(|i| 0.05 * Stream::new(3).normal(i)).collect()
    }

    /// The mean squared error, relative to the mean square.
    fn loss(exact: &[f32], found: &[f32]) -> f64 {
        let square = |x: f32| f64::from(x) * f64::from(x);
        let error: f64 = exact.iter().zip(found).map(|(a, b)| square(a - b)).sum();
        error / exact.iter().map(|x| square(*x)).sum::<f64>()
    }

    #[test]
    fn normal_weights_lose_a_twelfth_of_the_squared_step_for_2_6_bits() {
        // Gish & Pierce: the error is step^2 / 12, and the cost is h - log2(step) bits, where h =
        // 2.047 is the entropy of the normal distribution.
        let exact = normal(768 * 200);
        let mut rounded = exact.clone();
        round(&mut rounded, 768, 0.68);
        let lost = loss(&exact, &rounded) * 12.0 / (0.68 * 0.68);
        assert!((lost - 1.0).abs() < 0.02, "{lost}");
        let bytes = pack(&exact, Rounded { tensor: 0, width: 768, step: 0.68 });
        let bits = bytes.len() as f64 * 8.0 / exact.len() as f64;
        let least = 2.047 - 0.68f64.log2();
        assert!(bits > least && bits < least + 0.07, "{bits} bits, with the rows' steps");
    }

    #[test]
    fn a_tensor_comes_back_as_it_was_rounded_but_for_its_steps_eleven_bits() {
        for rows in [1, 63, 64, 65, 200] {
            let exact = normal(96 * rows as u64);
            let bytes = pack(&exact, Rounded { tensor: 0, width: 96, step: 0.8 });
            let Levels { levels, steps } = unpack(&bytes, rows, 96).unwrap();
            let mut rounded = exact;
            round(&mut rounded, 96, 0.8);
            let back = levels
                .chunks(96)
                .zip(&steps)
                .flat_map(|(row, step)| row.iter().map(move |l| f32::from(*l) * step));
            let near = |(a, b): (f32, &f32)| (a - b).abs() <= 1e-3 * b.abs();
            // A number half way between two lines may fall to either side.
            assert!(back.zip(&rounded).filter(|(a, b)| !near((*a, b))).count() <= rows / 20);
            assert!(unpack(&bytes, rows + 1, 96).is_none() && unpack(&bytes, rows, 95).is_none());
            assert!(unpack(&bytes[..bytes.len() - 1], rows, 96).is_none());
        }
    }

    #[test]
    fn zeros_stay_zeros_and_a_weight_beyond_the_grid_is_its_end() {
        let mut row = vec![0.0; 20_000];
        round(&mut row, 20_000, 0.7);
        assert!(row.iter().all(|w| *w == 0.0));
        row[5] = 100.0;
        round(&mut row, 20_000, 0.7);
        assert!(row[5] > 60.0 && row[5] < 100.0 && row[6] == 0.0, "{}", row[5]);
    }
}
