//! What is solved.

use crate::{Error, Result};

/// Masses on the left that are to be moved to the right, and what that costs.
///
/// ```
/// use storymeter_transport::Problem;
/// let problem = Problem::new(&[2.0, 2.0], &[1.0, 3.0], vec![0.0, 1.0, 1.0, 0.0])?;
/// assert_eq!(problem.left(), [0.5, 0.5]);
/// assert_eq!(problem.right(), [0.25, 0.75]);
/// # Ok::<(), storymeter_transport::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    left: Vec<f64>,
    right: Vec<f64>,
    /// One row per point on the left.
    costs: Vec<f64>,
}

impl Problem {
    /// A problem with these masses and costs, one row of costs per point on the left. The masses of
    /// each side are divided by their sum.
    ///
    /// # Errors
    /// Returns an error if a side has no mass, a mass or a cost is negative or not finite, or the
    /// number of costs is wrong.
    pub fn new(left: &[f64], right: &[f64], costs: Vec<f64>) -> Result<Self> {
        if costs.len() != left.len() * right.len() {
            let (left, right) = (left.len(), right.len());
            return Err(Error::Shape { costs: costs.len(), left, right });
        }
        let good = |x: &&f64| !(x.is_finite() && **x >= 0.0);
        if let Some(bad) = costs.iter().find(good) {
            return Err(Error::BadCost(*bad));
        }
        Ok(Self { left: shares(left)?, right: shares(right)?, costs })
    }

    /// A problem in which all points of a side have the same mass.
    ///
    /// # Errors
    /// Fails as [`Problem::new`] does.
    pub fn uniform(left: usize, right: usize, costs: Vec<f64>) -> Result<Self> {
        Self::new(&vec![1.0; left], &vec![1.0; right], costs)
    }

    /// The masses on the left, whose sum is 1.
    pub fn left(&self) -> &[f64] {
        &self.left
    }

    /// The masses on the right, whose sum is 1.
    pub fn right(&self) -> &[f64] {
        &self.right
    }

    /// The costs from one point on the left to all points on the right.
    pub fn row(&self, left: usize) -> &[f64] {
        &self.costs[left * self.right.len()..][..self.right.len()]
    }
}

fn shares(masses: &[f64]) -> Result<Vec<f64>> {
    if let Some(bad) = masses.iter().find(|mass| !(mass.is_finite() && **mass >= 0.0)) {
        return Err(Error::BadMass(*bad));
    }
    let sum: f64 = masses.iter().sum();
    if sum <= 0.0 || !sum.is_finite() {
        return Err(Error::NoMass);
    }
    Ok(masses.iter().map(|mass| mass / sum).collect())
}

/// The squared Euclidean distances between two clouds of points with `width` coordinates each: one
/// row per point of the first cloud.
///
/// ```
/// use storymeter_transport::squared_distances;
/// assert_eq!(squared_distances(&[0.0, 0.0], &[3.0, 4.0, 0.0, 1.0], 2), [25.0, 1.0]);
/// ```
pub fn squared_distances(left: &[f64], right: &[f64], width: usize) -> Vec<f64> {
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
    let rows = left.chunks_exact(width);
    rows.flat_map(|x| right.chunks_exact(width).map(move |y| distance(x, y))).collect()
}
