//! A matrix on a borrowed slice.

use crate::error::{Result, StatsError};

/// A row-major matrix on values that live elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix<'a> {
    values: &'a [f64],
    rows: usize,
    columns: usize,
}

impl<'a> Matrix<'a> {
    /// Reads `values` as `rows` rows of `columns` values each.
    pub fn new(values: &'a [f64], rows: usize, columns: usize) -> Result<Self> {
        if rows.checked_mul(columns) == Some(values.len()) {
            Ok(Self { values, rows, columns })
        } else {
            Err(StatsError::Shape { rows, columns, values: values.len() })
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row after row.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// One row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &'a [f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// One value.
    ///
    /// # Panics
    /// If there is no such row or column.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.row(row)[column]
    }

    /// One column, copied.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, column: usize) -> Vec<f64> {
        (0..self.rows).map(|row| self.get(row, column)).collect()
    }

    /// The rows without NaN, copied, and how many were left out.
    ///
    /// ```
    /// let cells = [1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0];
    /// let kept = storymeter_stats::Matrix::new(&cells, 3, 2)?.complete_rows();
    /// assert_eq!((kept.values, kept.rows, kept.dropped), (vec![1.0, 2.0, 5.0, 6.0], 2, 1));
    /// # Ok::<(), storymeter_stats::StatsError>(())
    /// ```
    pub fn complete_rows(&self) -> CompleteRows {
        let kept: Vec<&[f64]> = (0..self.rows)
            .map(|r| self.row(r))
            .filter(|row| !row.iter().any(|v| v.is_nan()))
            .collect();
        CompleteRows { values: kept.concat(), rows: kept.len(), dropped: self.rows - kept.len() }
    }
}

/// The rows of a matrix that hold no NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct CompleteRows {
    /// Their values, row after row.
    pub values: Vec<f64>,
    /// How many there are.
    pub rows: usize,
    /// How many were left out.
    pub dropped: usize,
}
