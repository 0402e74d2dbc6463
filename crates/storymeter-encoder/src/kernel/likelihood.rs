//! Log-probabilities of chosen columns under a softmax over all columns of a product, whose logits
//! are never stored.

use super::gemm::{COLS, Epilogue, TileF32};
use super::math;
use super::steps::larger;

/// What is known of a row after some of its columns.
#[derive(Clone, Copy)]
pub(crate) struct Sums {
    /// The largest logit so far.
    largest: f32,
    /// The sum of `exp(logit - largest)`, in one part per column of a tile.
    parts: [f32; COLS],
    /// The column whose probability is wanted.
    wanted: usize,
    /// The logit of that column.
    logit: f32,
}

impl Sums {
    pub(crate) fn new(wanted: u32) -> Sums {
        Sums {
            largest: f32::NEG_INFINITY,
            parts: [0.0; COLS],
            wanted: wanted as usize,
            logit: f32::NEG_INFINITY,
        }
    }

    /// The natural logarithm of the probability of the wanted column.
    pub(crate) fn log_probability(&self) -> f32 {
        let sum: f64 = self.parts.iter().map(|part| f64::from(*part)).sum();
        (f64::from(self.logit) - f64::from(self.largest) - sum.ln()) as f32
    }

    #[inline(always)]
    fn add(&mut self, col: usize, logits: &[f32; COLS]) {
        if (col..col + COLS).contains(&self.wanted) {
            self.logit = logits[self.wanted - col];
        }
        let largest = logits.iter().fold(self.largest, |largest, logit| larger(largest, *logit));
        if largest > self.largest {
            let factor = math::exp_down(self.largest - largest);
            self.parts.iter_mut().for_each(|part| *part *= factor);
            self.largest = largest;
        }
        for (part, logit) in self.parts.iter_mut().zip(logits) {
            *part += math::exp_down(logit - largest);
        }
    }
}

/// Adds the tiles of a product to the sums of its rows.
pub(crate) struct AddExponentials<'a>(pub(crate) &'a mut [Sums]);

impl Epilogue for AddExponentials<'_> {
    #[inline(always)]
    fn tile(&mut self, row: usize, rows: usize, col: usize, cols: usize, tile: &mut TileF32) {
        for (sums, logits) in self.0[row..row + rows].iter_mut().zip(tile.iter_mut()) {
            logits[cols..].fill(f32::NEG_INFINITY);
            sums.add(col, logits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_that_of_a_softmax_over_all_columns() {
        let logits: Vec<f32> = (0..70).map(|i| (i as f32 * 0.9).sin() * (3 + i) as f32).collect();
        let sum: f64 = logits.iter().map(|x| f64::from(*x).exp()).sum();
        for wanted in [0, 31, 32, 69] {
            let mut sums = [Sums::new(wanted)];
            for (panel, part) in logits.chunks(COLS).enumerate() {
                let mut tile = TileF32::default();
                tile[0][..part.len()].copy_from_slice(part);
                AddExponentials(&mut sums).tile(0, 1, panel * COLS, part.len(), &mut tile);
            }
            let exact = f64::from(logits[wanted as usize]) - sum.ln();
            assert!((f64::from(sums[0].log_probability()) - exact).abs() < 1e-5 * exact.abs());
        }
    }
}
