//! A value that is present, or the reason why it is not.

use std::fmt;
use std::sync::Arc;

/// A score or rating that is present, or the reason why it is absent.
///
/// NaN never stands for an absent value: a number that cannot be computed is an [`Absence`].
pub type Value = Result<f64, Absence>;

/// Why a value is absent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Absence {
    /// The file has no value for this story and gives no reason.
    NotGiven,
    /// Nobody rated the story on this criterion.
    NotRated,
    /// The metric has no value for this story, for the reason given.
    Undefined(Arc<str>),
}

impl Absence {
    /// An absence with a reason in words.
    pub fn because(reason: impl Into<Arc<str>>) -> Self {
        Self::Undefined(reason.into())
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGiven => f.write_str("no value is given"),
            Self::NotRated => f.write_str("nobody rated it"),
            Self::Undefined(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Absence {}

/// Turns a number that may be NaN into a value.
///
/// ```
/// use storymeter_core::finite_or;
/// assert_eq!(finite_or(0.5, "no tokens"), Ok(0.5));
/// assert_eq!(finite_or(f64::NAN, "no tokens").unwrap_err().to_string(), "no tokens");
/// ```
pub fn finite_or(number: f64, reason: &str) -> Value {
    if number.is_finite() { Ok(number) } else { Err(Absence::because(reason)) }
}
