//! Input that is no transport problem.

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an input is no transport problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// One side has no mass.
    #[error("one side has no mass to move")]
    NoMass,
    /// A mass is negative or not finite.
    #[error("a mass is {0}, but it must be a finite number of at least 0")]
    BadMass(f64),
    /// A cost is negative or not finite.
    #[error("a cost is {0}, but it must be a finite number of at least 0")]
    BadCost(f64),
    /// The number of costs is not the number of pairs of points.
    #[error("{costs} costs are not one per pair of {left} and {right} points")]
    Shape {
        /// The number of costs.
        costs: usize,
        /// The number of points on the left.
        left: usize,
        /// The number of points on the right.
        right: usize,
    },
    /// The clouds of a barycentre differ in their number of points or coordinates.
    #[error("the clouds do not all have {points} points of {width} coordinates")]
    UnequalClouds {
        /// The number of points of the first cloud.
        points: usize,
        /// The number of coordinates.
        width: usize,
    },
}
