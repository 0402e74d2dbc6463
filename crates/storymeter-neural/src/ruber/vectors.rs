//! One vector per text: the maximum, the minimum or the mean of the vectors of its tokens.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use storymeter_encoder::{Batch, Model, Outputs, Result, portions};

/// How the vectors of tokens become one vector. All tokens count, also the special ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pool {
    /// The largest number of each column.
    #[default]
    Max,
    /// The smallest number of each column.
    Min,
    /// The mean of each column.
    Mean,
}

impl Pool {
    /// The name in files and signatures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Min => "min",
            Self::Mean => "mean",
        }
    }

    /// Reduces rows to one row, which is appended to `to`.
    fn append(self, rows: &[f32], width: usize, to: &mut Vec<f32>) {
        let best = |take: fn(f32, f32) -> f32, start: f32| {
            let mut best = vec![start; width];
            for row in rows.chunks_exact(width) {
                best.iter_mut().zip(row).for_each(|(best, &x)| *best = take(*best, x));
            }
            best
        };
        match self {
            Self::Max => to.extend(best(f32::max, f32::NEG_INFINITY)),
            Self::Min => to.extend(best(f32::min, f32::INFINITY)),
            Self::Mean => {
                let mut sums = vec![0f64; width];
                for row in rows.chunks_exact(width) {
                    sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
                }
                let count = (rows.len() / width) as f64;
                to.extend(sums.iter().map(|sum| (sum / count) as f32));
            }
        }
    }
}

/// The vectors of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledText {
    /// One vector per [`Pool`] that was asked for, one after the other.
    pub vectors: Vec<f32>,
    /// Whether the text is longer than what was read of it.
    pub is_cut: bool,
}

/// The vectors of texts by the last layer of a model.
///
/// Texts of similar length go through the model together, about `at_once` tokens at a time. Of a
/// text, `limit` tokens are read, special ones included.
///
/// # Errors
/// Returns an error if the model has no tokeniser, or fails.
pub fn pooled(
    model: &Model,
    texts: &[&str],
    limit: usize,
    at_once: usize,
    pools: &[Pool],
) -> Result<Vec<PooledText>> {
    let tokenizer = model.tokenizer()?;
    let encoded: Vec<(Vec<u32>, usize)> =
        texts.par_iter().map(|text| tokenizer.encode(text, limit)).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(encoded[at].0.len()));
    let layer = model.config().layers;
    let outputs = Outputs::new().layers([layer]);
    let mut found = vec![PooledText { vectors: Vec::new(), is_cut: false }; texts.len()];
    for group in portions(&order, at_once, |&at| encoded[at].0.len()) {
        let batch: Batch = group.iter().map(|&at| encoded[at].0.as_slice()).collect();
        let run = model.run(&batch, &outputs)?;
        let states = run.layer(layer);
        let reduced: Vec<Vec<f32>> = (0..group.len())
            .into_par_iter()
            .map(|sequence| {
                let mut vectors = Vec::with_capacity(pools.len() * states.width());
                for pool in pools {
                    pool.append(states.sequence(sequence), states.width(), &mut vectors);
                }
                vectors
            })
            .collect();
        for (&at, vectors) in group.iter().zip(reduced) {
            found[at] = PooledText { vectors, is_cut: encoded[at].1 > 0 };
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_reduced_one_by_one() {
        let rows = [1.0, 8.0, -3.0, 2.0, 5.0, 5.0];
        let mut vectors = Vec::new();
        for pool in [Pool::Max, Pool::Min, Pool::Mean] {
            pool.append(&rows, 2, &mut vectors);
        }
        assert_eq!(vectors, [5.0, 8.0, -3.0, 2.0, 1.0, 5.0]);
    }
}
