//! Rows that say why a value is absent.
//!
//! A row of statistics has only finite numbers. A metric that can fail to have a value therefore
//! has two numbers per column: first the values of all columns, then one number per column that
//! stands for the reason why it has no value, or 0 if it has one.

use storymeter_core::{Absence, Value, finite_or};

/// The reasons of a metric for having no value. [`reasons!`] declares them.
pub(crate) trait Reason: Copy + Send + Sync + 'static {
    /// What the reasons mean. The first has the number 1.
    const MEANINGS: &'static [&'static str];

    /// The number of this reason.
    fn number(self) -> usize;
}

/// Declares why a metric can have no value, with the sentence that the user reads.
macro_rules! reasons {
    ($name:ident { $($reason:ident = $meaning:literal,)+ }) => {
        /// Why a column has no value.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        enum $name {
            $($reason,)+
        }

        impl $crate::absent::Reason for $name {
            const MEANINGS: &'static [&'static str] = &[$($meaning,)+];

            fn number(self) -> usize {
                self as usize + 1
            }
        }
    };
}
pub(crate) use reasons;

/// The row of these columns.
pub(crate) fn row<R: Reason, const N: usize>(
    columns: [Result<f64, R>; N],
) -> impl Iterator<Item = f64> {
    let numbers = columns.map(|column| column.unwrap_or(0.0));
    let reasons = columns.map(|column| column.err().map_or(0.0, |reason| reason.number() as f64));
    numbers.into_iter().chain(reasons)
}

/// The better one of the scores against two references, where a score counts more than a reason.
pub(crate) fn better<R>(
    best: Result<f64, R>,
    score: Result<f64, R>,
    choose: impl FnOnce(f64, f64) -> f64,
) -> Result<f64, R> {
    match (best, score) {
        (Ok(best), Ok(score)) => Ok(choose(best, score)),
        (Ok(best), Err(_)) => Ok(best),
        (Err(_), score) => score,
    }
}

/// The values of a row.
pub(crate) fn row_values<R: Reason>(row: &[f64], values: &mut [Value]) {
    let (numbers, reasons) = row.split_at(values.len());
    for (value, (&number, &reason)) in values.iter_mut().zip(numbers.iter().zip(reasons)) {
        *value = match (reason as usize).checked_sub(1) {
            Some(at) => Err(Absence::because(R::MEANINGS[at])),
            None => finite_or(number, "the score is not a finite number"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    reasons! {
        Weather {
            Snow = "it snows",
            Rain = "it rains",
        }
    }

    #[test]
    fn a_row_keeps_numbers_and_reasons() {
        let row: Vec<f64> = row([Ok(0.5), Err(Weather::Rain), Ok(0.0)]).collect();
        assert_eq!(row, [0.5, 0.0, 0.0, 0.0, 2.0, 0.0]);
        let mut values = vec![Ok(1.0); 3];
        row_values::<Weather>(&row, &mut values);
        assert_eq!(Weather::Snow.number(), 1);
        assert_eq!(values, [Ok(0.5), Err(Absence::because("it rains")), Ok(0.0)]);
    }
}
