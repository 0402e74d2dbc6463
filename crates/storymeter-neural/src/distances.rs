//! Squared Euclidean distances between the vectors of two texts.

use storymeter_encoder::PackedRows;

/// The most pairs of tokens for which metrics solve a problem of transport: 2,048 tokens in each of
/// two texts. It limits the memory (32 MB per copy of the costs) and the time (a minute).
pub(crate) const MOST_PAIRS: usize = 1 << 22;

/// Distances below this are computed again from the differences of coordinates.
///
/// A product in f32 is off by about 1e-7. That does not matter for two different tokens, but two
/// equal ones must have the distance 0.
const NEAR: f64 = 0.01;

/// How many rows are compared at a time. They stay in the processor's cache.
const BLOCK: usize = 96;

/// The squared distances between rows of `width` numbers: one row of results per row of the left
/// side.
pub(crate) fn squared_distances(left: &[f32], right: &[f32], width: usize) -> Vec<f64> {
    let columns = right.len() / width;
    let packed = PackedRows::new(right, width);
    let (left_squares, right_squares) = (squares(left, width), squares(right, width));
    let mut distances = Vec::with_capacity(left_squares.len() * columns);
    let mut products = Vec::new();
    for (rows, squares) in left.chunks(BLOCK * width).zip(left_squares.chunks(BLOCK)) {
        products.resize(squares.len() * columns, 0.0);
        packed.products(rows, &mut products);
        for (at, (x, square)) in rows.chunks_exact(width).zip(squares).enumerate() {
            let products = &products[at * columns..][..columns];
            for (column, (product, other)) in products.iter().zip(&right_squares).enumerate() {
                let distance = square + other - 2.0 * f64::from(*product);
                distances.push(if distance < NEAR {
                    direct(x, &right[column * width..][..width])
                } else {
                    distance
                });
            }
        }
    }
    distances
}

/// The Euclidean distances in single precision, as MoverScore's released code computes them: two
/// equal vectors are about 0.0003 apart.
pub(crate) fn single_distances(left: &[f32], right: &[f32], width: usize) -> Vec<f64> {
    let packed = PackedRows::new(right, width);
    let single = |rows: &[f32]| -> Vec<f32> {
        rows.chunks_exact(width).map(|row| row.iter().map(|x| x * x).sum()).collect()
    };
    let (left_squares, right_squares) = (single(left), single(right));
    let mut products = vec![0.0; left_squares.len() * right_squares.len()];
    packed.products(left, &mut products);
    let columns = right_squares.len().max(1);
    let rows = products.chunks_exact(columns).zip(&left_squares);
    rows.flat_map(|(products, square)| {
        products.iter().zip(&right_squares).map(move |(product, other)| {
            f64::from((other - 2.0 * product + square).max(1e-30).sqrt())
        })
    })
    .collect()
}

fn squares(rows: &[f32], width: usize) -> Vec<f64> {
    let square = |row: &[f32]| row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    rows.chunks_exact(width).map(square).collect()
}

fn direct(x: &[f32], y: &[f32]) -> f64 {
    x.iter().zip(y).map(|(&x, &y)| (f64::from(x) - f64::from(y)).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_right_and_those_of_equal_rows_are_zero() {
        let rows: Vec<f32> = (0..250 * 9).map(|at| ((at * at) as f32 * 0.13).sin()).collect();
        let (left, right) = (&rows[..130 * 9], &rows[100 * 9..]);
        let distances = squared_distances(left, right, 9);
        for (at, distance) in distances.iter().enumerate() {
            let (i, j) = (at / 150, at % 150);
            let plain = direct(&left[i * 9..][..9], &right[j * 9..][..9]);
            assert!((distance - plain).abs() < 1e-5, "{i} {j}: {distance} for {plain}");
            if i == j + 100 {
                assert_eq!(*distance, 0.0);
            }
        }
    }

    #[test]
    fn single_precision_leaves_equal_vectors_a_little_apart() {
        let mut row: Vec<f32> = (0..384).map(|at| (at as f32 * 0.37).sin()).collect();
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        row.iter_mut().for_each(|x| *x /= norm);
        let distance = single_distances(&row, &row, 384)[0];
        assert!(distance < 1e-3, "{distance}");
        let far = single_distances(&row, &row.iter().map(|x| -x).collect::<Vec<_>>(), 384)[0];
        assert!((far - 2.0).abs() < 1e-6, "{far}");
    }
}
