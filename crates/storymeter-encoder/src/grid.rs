//! Weights on a grid: every weight of a row a whole multiple of the row's step, so that ten layers of MPNet and its words fit
//! into 30 MB.
//!
//! A row's step is a share of its root mean square. Most weights of trained rows are then -1, 0 or 1 steps, and an entropy
//! coder ([`crate::rans`]) keeps them in two or three bits each: at the same error about half a bit less than levels of equal
//! length do (Gish & Pierce 1968, "Asymptotically efficient quantizing").
//!
//! Rounding a trained network so much hurts it; training it rounded does much less (`train` computes with the rounded
//! weights, and its gradients move the exact ones: Courbariaux et al. 2015, "BinaryConnect").
//!
//! A tensor's bytes are its code, a step (f16) a row, the length (u32) of every block of 64 rows, and the blocks.

use half::f16;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::parameters::{Layout, Parameters, Tensor};
use crate::rans::Code;

/// Rows that are encoded together; blocks are decoded by as many threads as there are.
const ROWS_A_BLOCK: usize = 64;

/// How far apart the grid's lines are, in parts of the root mean square of a row. Everything else (biases, norms, positions)
/// has sixteen bits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Grid {
    /// In the layers' matrices.
    pub layers: f32,
    /// In the word embeddings.
    pub words: f32,
}

/// A tensor that is rounded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounded {
    /// Which tensor.
    pub tensor: usize,
    /// Numbers a row.
    pub width: usize,
    /// The step in parts of a row's root mean square.
    pub step: f32,
}

/// A tensor as it is kept.
pub(crate) struct Levels {
    /// All rows, in steps.
    pub levels: Vec<i8>,
    /// What a step of each row is worth.
    pub steps: Vec<f32>,
}

impl Grid {
    /// What is wrong with it, if anything.
    pub fn problem(self) -> Option<&'static str> {
        // A weight of 30 root mean squares is then within 127 steps.
        let fine = |step: f32| (0.25..=2.0).contains(&step);
        (!(fine(self.layers) && fine(self.words))).then_some("a step is from 0.25 to 2")
    }

    /// The tensors that are rounded.
    pub(crate) fn of(self, layout: &Layout) -> Vec<Rounded> {
        let of =
            |tensor: usize, step| Rounded { tensor, width: layout.expected[tensor].1[1], step };
        let matrices = layout.layers.iter().flat_map(|layer| {
            [layer.query, layer.key, layer.value, layer.output, layer.up, layer.down]
                .map(|pair| pair.weight)
        });
        std::iter::once(of(layout.words, self.words))
            .chain(matrices.map(|tensor| of(tensor, self.layers)))
            .collect()
    }

    /// For every tensor how it is rounded, if it is.
    pub(crate) fn plan(self, layout: &Layout) -> Vec<Option<Rounded>> {
        let mut plan = vec![None; layout.expected.len()];
        for rounded in self.of(layout) {
            plan[rounded.tensor] = Some(rounded);
        }
        plan
    }
}

impl Parameters {
    /// The same weights as they are read back from a file that keeps them on a grid.
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

    /// Every tensor's name and its bytes on a grid.
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

/// Rounds weights where they are.
#[cfg(any(test, feature = "train"))]
pub(crate) fn round(weights: &mut [f32], width: usize, step: f32) {
    weights.par_chunks_mut(width).for_each(|row| snap(row, row_step(row, step)));
}

/// Moves every weight of a row to the nearest line.
fn snap(row: &mut [f32], step: f32) {
    row.iter_mut().for_each(|w| *w = step * f32::from(level(*w, step)));
}

/// What a step of this row is worth.
fn row_step(row: &[f32], step: f32) -> f32 {
    let squares: f32 = row.iter().map(|w| w * w).sum();
    step * (squares / row.len() as f32).sqrt()
}

/// How many steps a weight has; in a row of zeros none.
fn level(weight: f32, step: f32) -> i8 {
    // 0 / 0 is NaN, and NaN is 0 as an integer.
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
        levels.par_chunks(ROWS_A_BLOCK * width).map(|levels| code.encode(levels)).collect();
    let mut bytes = code.to_bytes();
    bytes.extend(steps.iter().flat_map(|step| step.to_le_bytes()));
    bytes.extend(blocks.iter().flat_map(|block| (block.len() as u32).to_le_bytes()));
    bytes.extend(blocks.concat());
    bytes
}

/// The levels of a tensor's bytes; `None` where they are not those of as many numbers.
pub(crate) fn unpack(bytes: &[u8], rows: usize, width: usize) -> Option<Levels> {
    let (code, rest) = Code::read(bytes)?;
    let (steps, rest) = rest.split_at_checked(2 * rows)?;
    let (lengths, mut rest) = rest.split_at_checked(4 * rows.div_ceil(ROWS_A_BLOCK))?;
    let mut blocks = Vec::with_capacity(lengths.len() / 4);
    for length in lengths.as_chunks().0 {
        let (block, behind) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        blocks.push(block);
        rest = behind;
    }
    // No length of an entropy code says how many numbers it stands for: what a forged file asks for may not be there.
    let (mut levels, count) = (Vec::new(), rows.checked_mul(width)?);
    levels.try_reserve_exact(count).ok()?;
    levels.resize(count, 0);
    let decoder = code.decoder();
    levels
        .par_chunks_mut(ROWS_A_BLOCK * width)
        .zip(blocks)
        .map(|(levels, block)| decoder.decode(block, levels))
        .collect::<Option<()>>()?;
    rest.is_empty().then(|| Levels { levels, steps: halves(steps) })
}

/// Numbers of sixteen bits.
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

    /// Mean squared error, of the mean square.
    fn loss(exact: &[f32], found: &[f32]) -> f64 {
        let square = |x: f32| f64::from(x) * f64::from(x);
        let error: f64 = exact.iter().zip(found).map(|(a, b)| square(a - b)).sum();
        error / exact.iter().map(|x| square(*x)).sum::<f64>()
    }

    #[test]
    fn normal_weights_lose_a_twelfth_of_the_squared_step_for_2_6_bits() {
        // Gish & Pierce: an error of step^2 / 12, for h - log2(step) bits where h = 2.047 is the normal distribution's entropy.
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
