//! How strongly scores agree with ratings, in one call.

use std::collections::HashMap;

use storymeter_core::{ColumnView, Row, ScoreTable, Value};
use storymeter_stats::{
    Coefficient, Interval, are_clustered, clustered_correlation, fisher_interval,
};

use crate::{Error, Result};

/// The confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Numbers that can be correlated, one per story, some of which may be absent.
pub trait Numbers {
    /// The numbers; `None` where one is absent.
    ///
    /// # Errors
    /// Returns an error if it is not clear which numbers are meant.
    fn numbers(&self) -> Result<Vec<Option<f64>>>;

    /// By story, a number of the item that it was written for; nothing where items are not known.
    fn items(&self) -> Vec<usize> {
        Vec::new()
    }
}

/// The only metric of the table, or its only column.
impl Numbers for ScoreTable {
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        Ok(self.only_metric()?.numbers())
    }

    fn items(&self) -> Vec<usize> {
        items_of(self.rows())
    }
}

impl Numbers for ColumnView<'_> {
    fn numbers(&self) -> Result<Vec<Option<f64>>> {
        Ok(ColumnView::numbers(self))
    }

    fn items(&self) -> Vec<usize> {
        items_of(self.rows())
    }
}

fn items_of(rows: &[Row]) -> Vec<usize> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let next = numbers.len();
        items.push(*numbers.entry(row.item.as_str()).or_insert(next));
    }
    items
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

    fn items(&self) -> Vec<usize> {
        (**self).items()
    }
}

/// One coefficient with what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// The coefficient.
    pub value: f64,
    /// Its 95% interval by Fisher's z; `None` where there are too few pairs for one.
    pub interval: Option<Interval>,
    /// The two-sided p-value of no correlation. Up to nine pairs it is exact. It is NaN where whole
    /// items are left out and a column is then constant.
    pub p_value: f64,
    /// How many stories have both numbers.
    pub n: usize,
    /// How many items these stories were written for, where several stories are of one item. Then
    /// interval and p-value come from leaving out whole items, because stories of one item are not
    /// independent of each other.
    pub items: Option<usize>,
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
    let (first_items, second_items) = (scores.items(), ratings.items());
    let (scores, ratings) = (scores.numbers()?, ratings.numbers()?);
    if scores.len() != ratings.len() {
        return Err(Error::Lengths {
            what_first: "scores",
            first: scores.len(),
            what_second: "ratings",
            second: ratings.len(),
        });
    }
    let items = [first_items, second_items].into_iter().find(|items| items.len() == scores.len());
    let (mut x, mut y, mut item_of) = (Vec::new(), Vec::new(), Vec::new());
    for (at, pair) in scores.into_iter().zip(ratings).enumerate() {
        if let (Some(score), Some(rating)) = pair
            && !score.is_nan()
            && !rating.is_nan()
        {
            x.push(score);
            y.push(rating);
            item_of.extend(items.as_ref().map(|items| items[at]));
        }
    }
    let agreement = |coefficient: Coefficient| -> Result<Agreement> {
        let found = coefficient.associate(&x, &y)?;
        if let Some(reason) = found.undefined {
            return Err(Error::Undefined { coefficient, reason });
        }
        let (value, n) = (found.coefficient, found.n);
        if are_clustered(&item_of) {
            let by_item = clustered_correlation(coefficient, &x, &y, &item_of, CONFIDENCE)?;
            let interval = Some(by_item.interval).filter(Interval::is_defined);
            let (p_value, items) = (by_item.correlation.p_value, Some(by_item.clusters));
            return Ok(Agreement { value, interval, p_value, n, items });
        }
        let interval = fisher_interval(coefficient, value, n, CONFIDENCE).ok();
        Ok(Agreement { value, interval, p_value: found.p_value, n, items: None })
    };
    Ok(Agreements {
        pearson: agreement(Coefficient::Pearson)?,
        spearman: agreement(Coefficient::Spearman)?,
        kendall: agreement(Coefficient::Kendall)?,
    })
}
