//! A matrix on a borrowed slice.

use crate::error::{Result, StatsError};

/// A row-major matrix on values that live elsewhere.
///
/// ```
/// let matrix = storymeter_stats::Matrix::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3)?;
/// assert_eq!((matrix.row(1), matrix.column(0)), (&[4.0, 5.0, 6.0][..], vec![1.0, 4.0]));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix<'a> {
    values: &'a [f64],
    rows: usize,
    columns: usize,
}

impl<'a> Matrix<'a> {
    /// Reads `values` as `rows` rows of `columns` values each.
    ///
    /// # Errors
    /// Returns an error if there are not `rows` times `columns` values.
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

    /// All values, row by row.
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

    /// A copy of one column.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, column: usize) -> Vec<f64> {
        (0..self.rows).map(|row| self.get(row, column)).collect()
    }

    /// A copy of the rows that hold no NaN, with the number of rows left out.
    ///
    /// ```
    /// let cells = [1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0];
    /// let kept = storymeter_stats::Matrix::new(&cells, 3, 2)?.complete_rows();
    /// assert_eq!((kept.matrix().values(), kept.dropped), (&[1.0, 2.0, 5.0, 6.0][..], 1));
    /// # Ok::<(), storymeter_stats::StatsError>(())
    /// ```
    pub fn complete_rows(&self) -> CompleteRows {
        let kept: Vec<&[f64]> = (0..self.rows)
            .map(|r| self.row(r))
            .filter(|row| !row.iter().any(|v| v.is_nan()))
            .collect();
        CompleteRows {
            values: kept.concat(),
            rows: kept.len(),
            columns: self.columns,
            dropped: self.rows - kept.len(),
        }
    }
}

/// The rows of a matrix that hold no NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct CompleteRows {
    /// The values of these rows, row by row.
    pub values: Vec<f64>,
    /// Number of rows kept.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Number of rows left out.
    pub dropped: usize,
}

impl CompleteRows {
    /// Puts columns of equal length side by side and leaves out the rows that hold a NaN.
    ///
    /// This turns one vector of ratings per rater into the matrix that the
    /// [`agreement`](crate::agreement) coefficients take.
    ///
    /// ```
    /// use storymeter_stats::{CompleteRows, agreement::fleiss_kappa};
    /// let (anna, ben) = ([1.0, 2.0, 2.0, f64::NAN], [1.0, 2.0, 1.0, 2.0]);
    /// let ratings = CompleteRows::from_columns(&[&anna, &ben])?;
    /// assert_eq!((ratings.rows, ratings.dropped), (3, 1));
    /// assert_eq!(fleiss_kappa(ratings.matrix())?.subjects, 3);
    /// # Ok::<(), storymeter_stats::StatsError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the columns have different lengths.
    pub fn from_columns(columns: &[&[f64]]) -> Result<Self> {
        let rows = columns.first().map_or(0, |column| column.len());
        for column in columns {
            StatsError::check_pairs(rows, column.len())?;
        }
        let row = |r: usize| columns.iter().map(move |column| column[r]);
        let values: Vec<f64> = (0..rows).flat_map(row).collect();
        Ok(Matrix { values: &values, rows, columns: columns.len() }.complete_rows())
    }

    /// The rows as a matrix.
    pub fn matrix(&self) -> Matrix<'_> {
        Matrix { values: &self.values, rows: self.rows, columns: self.columns }
    }
}
