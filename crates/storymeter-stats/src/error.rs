//! Errors for malformed input, and reasons why a statistic of well-formed input has no value.

/// The result type of the functions of this crate.
pub type Result<T> = std::result::Result<T, StatsError>;

/// Input for which a statistic cannot be computed at all.
///
/// Input that is well formed but leaves the statistic undefined (a constant vector, a NaN among the
/// values) is not an error. Its result is NaN and carries the reason as [`Undefined`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// Two inputs that must be paired have different lengths.
    #[error("unequal lengths: {left} and {right} values")]
    UnequalLengths {
        /// Length of the first input.
        left: usize,
        /// Length of the second input.
        right: usize,
    },
    /// There are fewer observations than the statistic needs.
    #[error("{statistic} needs at least {needed} {counted}, got {got}")]
    TooFew {
        /// Name of the statistic.
        statistic: &'static str,
        /// What is counted: pairs, raters, items...
        counted: &'static str,
        /// The least number that the statistic needs.
        needed: usize,
        /// The number that was given.
        got: usize,
    },
    /// There are more observations than the statistic can hold in memory.
    #[error("{statistic} takes at most {most} {counted}, got {got}")]
    TooMany {
        /// Name of the statistic.
        statistic: &'static str,
        /// What is counted.
        counted: &'static str,
        /// The greatest number that the statistic takes.
        most: usize,
        /// The number that was given.
        got: usize,
    },
    /// The number of values does not fit the shape of the matrix.
    #[error("{values} values do not make {rows} rows of {columns}")]
    Shape {
        /// Number of rows asked for.
        rows: usize,
        /// Number of columns asked for.
        columns: usize,
        /// Number of values given.
        values: usize,
    },
    /// A parameter or a value is outside the range that the statistic allows.
    #[error("{what} is {value}, must be {allowed}")]
    OutOfRange {
        /// Name of the parameter.
        what: &'static str,
        /// The value that was given.
        value: f64,
        /// The allowed range, in words.
        allowed: &'static str,
    },
    /// Another bootstrap interval than the percentile interval was asked for where only that one
    /// is defined.
    #[error("the difference of two independent samples has a percentile interval only")]
    PercentileOnly,
    /// A value is NaN or infinite, and the statistic has no way to leave it out.
    #[error("{what}: value {index} is {value}; remove or impute it first")]
    NotFinite {
        /// Name of the input.
        what: &'static str,
        /// Position of the value, counted from 0 (row by row in a matrix).
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
        counted: &'static str,
        needed: usize,
        got: usize,
    ) -> Result<()> {
        if got >= needed { Ok(()) } else { Err(Self::TooFew { statistic, counted, needed, got }) }
    }

    pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<()> {
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(index) => Err(Self::NotFinite { what, index, value: values[index] }),
        }
    }

    /// Accepts NaN, which marks a missing value, and rejects infinities.
    pub(crate) fn check_not_infinite(what: &'static str, values: &[f64]) -> Result<()> {
        match values.iter().position(|v| v.is_infinite()) {
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

    /// Accepts NaN, which stands for a correlation that is not defined.
    pub(crate) fn check_correlation(r: f64) -> Result<()> {
        if r.abs() > 1.0 {
            let allowed = "between -1 and 1";
            return Err(Self::OutOfRange { what: "a correlation", value: r, allowed });
        }
        Ok(())
    }
}

/// The reason why a statistic of well-formed input has no value; the value beside it is NaN.
///
/// ```
/// let found = storymeter_stats::pearson(&[2.0, 2.0, 2.0], &[1.0, 2.0, 3.0])?;
/// assert!(found.coefficient.is_nan());
/// assert_eq!(found.undefined.unwrap().to_string(), "the first input is constant");
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Undefined {
    /// All values of the first input are equal.
    #[error("the first input is constant")]
    ConstantFirst,
    /// All values of the second input are equal.
    #[error("the second input is constant")]
    ConstantSecond,
    /// All ratings or labels are equal, so that any constant answer would agree with them.
    #[error("all values are equal")]
    NoVariation,
    /// The three correlations cannot occur together: no data have them.
    #[error("the three correlations cannot occur together (their determinant is negative)")]
    Contradiction,
    /// A correlation that the test needs is itself not defined.
    #[error("one of the correlations is not defined")]
    NoCorrelation,
    /// Two variables are perfectly correlated, which leaves no variance to judge a difference by.
    #[error("two of the variables are perfectly correlated, so the difference has no variance")]
    PerfectCorrelation,
    /// Two samples differ and neither of them varies, so that their difference is infinitely many
    /// standard deviations.
    #[error("the samples differ, and neither of them varies")]
    NoSpread,
    /// Fewer values are present than the statistic needs.
    #[error("{got} complete observations, {needed} needed")]
    TooFew {
        /// The least number that the statistic needs.
        needed: usize,
        /// The number of complete observations.
        got: usize,
    },
    /// The values are so large that their sum overflows.
    #[error("the values are too large to add up")]
    Overflow,
    /// The values hold a NaN (or an infinity, where values are added up).
    #[error("the input holds a value that is not a number")]
    NotANumber,
}
