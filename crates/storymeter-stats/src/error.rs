//! What can be wrong with the numbers a caller gives.

/// What a function of this crate returns.
pub type Result<T> = std::result::Result<T, StatsError>;

/// Input on which a statistic has no meaning at all.
///
/// An input that is well-formed but leaves the statistic undefined (a constant vector, a NaN among the values)
/// is not an error: the result is then NaN and carries the reason as [`Undefined`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// Two inputs that must be paired are not of the same length.
    #[error("unequal lengths: {left} and {right} values")]
    UnequalLengths {
        /// Length of the first input.
        left: usize,
        /// Length of the second input.
        right: usize,
    },
    /// Fewer observations than the statistic needs.
    #[error("{statistic} needs at least {needed} {of}, got {got}")]
    TooFew {
        /// Which statistic.
        statistic: &'static str,
        /// What is counted: pairs, raters, items...
        of: &'static str,
        /// How many it needs.
        needed: usize,
        /// How many there are.
        got: usize,
    },
    /// More observations than the statistic can hold in memory.
    #[error("{statistic} takes at most {most} {of}, got {got}")]
    TooMany {
        /// Which statistic.
        statistic: &'static str,
        /// What is counted.
        of: &'static str,
        /// How many it takes.
        most: usize,
        /// How many there are.
        got: usize,
    },
    /// A matrix whose values do not fill its shape.
    #[error("{values} values do not make {rows} rows of {columns}")]
    Shape {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
        /// Values given.
        values: usize,
    },
    /// A parameter or value outside the range the statistic allows.
    #[error("{what} is {value}, must be {allowed}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// What was given.
        value: f64,
        /// The allowed range, in words.
        allowed: &'static str,
    },
    /// A NaN or infinity where the statistic cannot go around it.
    #[error("{what}: value {index} is {value}; remove or impute it first")]
    NotFinite {
        /// Which input.
        what: &'static str,
        /// Its 0-based position (row-major in a matrix).
        index: usize,
        /// The value.
        value: f64,
    },
}

impl StatsError {
    pub(crate) fn check_pairs(left: usize, right: usize) -> Result<()> {
        if left == right { Ok(()) } else { Err(Self::UnequalLengths { left, right }) }
    }

    pub(crate) fn check_count(
        statistic: &'static str,
        of: &'static str,
        needed: usize,
        got: usize,
    ) -> Result<()> {
        if got >= needed { Ok(()) } else { Err(Self::TooFew { statistic, of, needed, got }) }
    }

    pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<()> {
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(index) => Err(Self::NotFinite { what, index, value: values[index] }),
        }
    }

    pub(crate) fn check_open_unit(what: &'static str, value: f64) -> Result<()> {
        if value > 0.0 && value < 1.0 {
            Ok(())
        } else {
            Err(Self::OutOfRange { what, value, allowed: "strictly between 0 and 1" })
        }
    }
}

/// Why a well-formed input has no defined statistic; the value that comes with it is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Undefined {
    /// All values of the first input are equal.
    #[error("the first input is constant")]
    ConstantFirst,
    /// All values of the second input are equal.
    #[error("the second input is constant")]
    ConstantSecond,
    /// All ratings are equal, so chance alone would agree as well.
    #[error("all values are equal")]
    NoVariation,
    /// The three correlations given cannot occur together.
    #[error("the correlations contradict each other (their matrix has a negative determinant)")]
    Contradiction,
    /// The values are so large that their sum is not a number a float can hold.
    #[error("the values are too large to add up")]
    Overflow,
    /// A NaN among the values (or an infinity, where sums are taken).
    #[error("the input holds a value that is not a number")]
    NotANumber,
}
