//! How strongly scores agree with ratings, in one call.

use storymeter_core::{ScoreTable, Value};
use storymeter_stats::{Coefficient, Interval, drop_nan_pairs, fisher_interval};

use crate::{Error, Result};

/// The confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Numbers that can be correlated, one per story, some of which may be absent.
pub trait Numbers {
    /// The numbers; `None` where one is absent.
    ///
    /// # Errors
    /// Where it is not clear which numbers are meant.
    fn numbers(&self) -> Result<Vec<Option<f64>>>;
}

/// The only metric of the table, or its only column.
impl Numbers for ScoreTable {
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        self.values(self.only_metric()?).numbers()
    }
}

impl Numbers for [f64] {
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        Ok(self.iter().map(|&number| (!number.is_nan()).then_some(number)).collect())
    }
}

impl Numbers for [Option<f64>] {
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        Ok(self.to_vec())
    }
}

impl Numbers for [Value] {
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        Ok(self.iter().map(|value| value.as_ref().ok().copied()).collect())
    }
}

impl<T> Numbers for Vec<T>
where
    [T]: Numbers,
{
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        self.as_slice().numbers()
    }
}

impl<T, const N: usize> Numbers for [T; N]
where
    [T]: Numbers,
{
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        self.as_slice().numbers()
    }
}

impl<T: Numbers + ?Sized> Numbers for &T {
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        (**self).numbers()
    }
}

/// One coefficient with what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// The coefficient.
    pub value: f64,
    /// Its 95% interval by Fisher's z; `None` where there are too few pairs for one.
    pub interval: Option<Interval>,
    /// The two-sided p-value of no correlation.
    pub p_value: f64,
    /// How many stories have both numbers.
    pub n: usize,
}

/// The three coefficients between scores and ratings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreements {
    /// Pearson's r.
    pub pearson: Agreement,
    /// Spearman's rho.
    pub spearman: Agreement,
    /// Kendall's tau-b.
    pub kendall: Agreement,
}

pub(crate) fn correlate(scores: &impl Numbers, ratings: &impl Numbers) -> Result<Agreements> {
    let (scores, ratings) = (scores.numbers()?, ratings.numbers()?);
    if scores.len() != ratings.len() {
        return Err(Error::Lengths {
            what_first: "scores",
            first: scores.len(),
            what_second: "ratings",
            second: ratings.len(),
        });
    }
    // The statistics mark what is missing by NaN.
    let marked = |numbers: Vec<Option<f64>>| -> Vec<f64> {
        numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect()
    };
    let pairs = drop_nan_pairs(&marked(scores), &marked(ratings))?;
    let agreement = |coefficient: Coefficient| -> Result<Agreement> {
        let found = coefficient.compute(&pairs.x, &pairs.y)?;
        if let Some(reason) = found.undefined {
            return Err(Error::Undefined { coefficient, reason });
        }
        let interval = fisher_interval(coefficient, found.coefficient, found.n, CONFIDENCE).ok();
        Ok(Agreement { value: found.coefficient, interval, p_value: found.p_value, n: found.n })
    };
    Ok(Agreements {
        pearson: agreement(Coefficient::Pearson)?,
        spearman: agreement(Coefficient::Spearman)?,
        kendall: agreement(Coefficient::Kendall)?,
    })
}
