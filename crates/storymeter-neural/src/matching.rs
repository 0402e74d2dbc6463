//! The best match of each token of a text among the tokens of another.

use rayon::prelude::*;
use storymeter_encoder::PackedRows;

/// How many rows are compared at a time. They stay in the processor's cache.
const BLOCK: usize = 96;

/// For each row of the left side the largest product with a row of the right side, and for each row
/// of the right side the largest product with a row of the left side.
///
/// Rows have `width` numbers. If a side has no rows, the other side's maxima are minus infinity.
pub(crate) fn best_matches(left: &[f32], right: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let columns = right.len() / width;
    let packed = PackedRows::new(right, width);
    let mut best_of_left = vec![f32::NEG_INFINITY; left.len() / width];
    let best_of_right = left
        .par_chunks(BLOCK * width)
        .zip(best_of_left.par_chunks_mut(BLOCK))
        .fold(
            || (Vec::new(), vec![f32::NEG_INFINITY; columns]),
            |(mut products, mut best), (rows, best_of_rows)| {
                products.resize(best_of_rows.len() * columns, 0.0);
                packed.products(rows, &mut products);
                if columns > 0 {
                    for (row, best_of_row) in products.chunks_exact(columns).zip(best_of_rows) {
                        for (best, &product) in best.iter_mut().zip(row) {
                            *best = best.max(product);
                        }
                        *best_of_row = row.iter().copied().fold(*best_of_row, f32::max);
                    }
                }
                (products, best)
            },
        )
        .map(|(_, best)| best)
        .reduce(
            || vec![f32::NEG_INFINITY; columns],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a = a.max(b));
                a
            },
        );
    (best_of_left, best_of_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_finds_its_best_partner() {
        let left = [1.0, 0.0, 0.0, 1.0];
        let right = [0.6, 0.8, -1.0, 0.0, 0.8, -0.6];
        let (of_left, of_right) = best_matches(&left, &right, 2);
        assert_eq!(of_left, [0.8, 0.8]);
        assert_eq!(of_right, [0.8, 0.0, 0.8]);
    }

    #[test]
    fn many_blocks_give_what_plain_loops_give() {
        let rows = |count: usize, seed: f32| -> Vec<f32> {
            (0..count * 7).map(|at| ((at as f32 + seed) * 0.7).sin()).collect()
        };
        let (left, right) = (rows(3 * BLOCK + 5, 0.0), rows(2 * BLOCK + 1, 40.0));
        let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
        let (of_left, of_right) = best_matches(&left, &right, 7);
        for (x, best) in left.chunks(7).zip(&of_left) {
            let plain = right.chunks(7).map(|y| product(x, y)).fold(f32::MIN, f32::max);
            assert!((plain - best).abs() < 1e-5);
        }
        for (y, best) in right.chunks(7).zip(&of_right) {
            let plain = left.chunks(7).map(|x| product(x, y)).fold(f32::MIN, f32::max);
            assert!((plain - best).abs() < 1e-5);
        }
    }

    #[test]
    fn without_rows_there_is_no_match() {
        let (of_left, of_right) = best_matches(&[1.0, 0.0], &[], 2);
        assert_eq!((of_left, of_right), (vec![f32::NEG_INFINITY], vec![]));
    }
}
