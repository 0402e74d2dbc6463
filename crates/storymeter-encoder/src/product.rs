//! Products of rows with rows, for whoever compares vectors with the same kernels that the networks
//! use.

use crate::kernel::Isa;
use crate::kernel::gemm::{SidesF32, gemm_f32, pack_columns, packed_len};
use crate::kernel::steps::Store;

/// Rows of numbers that are about to be multiplied with other rows, laid out for the kernels.
///
/// ```
/// use storymeter_encoder::PackedRows;
/// let right = PackedRows::new(&[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], 2);
/// let mut products = [0.0; 3];
/// right.products(&[2.0, 5.0], &mut products);
/// assert_eq!(products, [2.0, 5.0, 7.0]);
/// ```
pub struct PackedRows {
    packed: Vec<f32>,
    rows: usize,
    width: usize,
    isa: Isa,
}

impl PackedRows {
    /// Packs rows of `width` numbers each.
    ///
    /// # Panics
    /// If the width is 0, or the numbers are not whole rows.
    pub fn new(rows: &[f32], width: usize) -> PackedRows {
        assert!(width > 0 && rows.len().is_multiple_of(width), "whole rows");
        let count = rows.len() / width;
        let mut packed = vec![0.0; packed_len(width, count)];
        pack_columns(rows, width, width, count, &mut packed);
        PackedRows { packed, rows: count, width, isa: Isa::detect() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Writes the product of each row of `left` with each packed row: one row of
    /// [`len`](Self::len) numbers per row of `left`.
    ///
    /// A product depends on its two rows alone. Rows of 100 or so at a time stay in the processor's
    /// cache.
    ///
    /// # Panics
    /// If `left` is not whole rows, or `out` does not have one number per product.
    pub fn products(&self, left: &[f32], out: &mut [f32]) {
        assert!(left.len().is_multiple_of(self.width), "whole rows");
        let (m, n, k) = (left.len() / self.width, self.rows, self.width);
        assert_eq!(out.len(), m * n, "one number per product");
        if m == 0 || n == 0 {
            return;
        }
        let sides = SidesF32 { a: left, lda: k, m, k, n, b: &self.packed, bias: &[] };
        gemm_f32(self.isa, sides, &mut Store { out, stride: n, activation: None });
    }
}

#[cfg(test)]
mod tests {
    use super::PackedRows;

    #[test]
    fn products_are_those_of_plain_sums_whatever_the_numbers_of_rows() {
        let numbers = |count: usize, shift: usize| -> Vec<f32> {
            (0..count).map(|at| ((at * 7 + shift) % 13) as f32 - 6.0).collect()
        };
        for (m, n, k) in [(1, 1, 1), (13, 33, 5), (30, 70, 64), (0, 3, 2), (3, 0, 2)] {
            let (left, right) = (numbers(m * k, 1), numbers(n * k, 4));
            let mut out = vec![f32::NAN; m * n];
            PackedRows::new(&right, k).products(&left, &mut out);
            for (at, &got) in out.iter().enumerate() {
                let (x, y) = (&left[at / n * k..][..k], &right[at % n * k..][..k]);
                // Whole numbers, so that nothing is rounded.
                assert_eq!(got, x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>(), "{m} {n} {k}");
            }
        }
    }
}
