//! Rows that say why a value is absent.
//!
//! A row of statistics has only finite numbers. A metric that can fail to have a value therefore
//! has two numbers per column: first the values of all columns, then one number per column that
//! stands for the reason why it has no value, or 0 if it has one.

use storymeter_core::{Absence, Value, finite_or};

/// The reasons of a metric for having no value.
pub(crate) trait Reason: Copy + 'static {
    /// The numbers of all reasons, which are not 0, and what they mean.
    const ALL: &'static [(usize, &'static str)];

    /// The number of this reason.
    fn number(self) -> usize;
}

/// The row of these columns.
pub(crate) fn row<R: Reason, const N: usize>(
    columns: [Result<f64, R>; N],
) -> impl Iterator<Item = f64> {
    let numbers = columns.map(|column| column.unwrap_or(0.0));
    let reasons = columns.map(|column| column.err().map_or(0.0, |reason| reason.number() as f64));
    numbers.into_iter().chain(reasons)
}

/// The values of a row.
pub(crate) fn row_values<R: Reason>(row: &[f64], values: &mut [Value]) {
    let (numbers, reasons) = row.split_at(values.len());
    for (value, (&number, &reason)) in values.iter_mut().zip(numbers.iter().zip(reasons)) {
        let reason = R::ALL.iter().find(|(known, _)| *known as f64 == reason);
        *value = match reason {
            Some((_, meaning)) => Err(Absence::because(*meaning)),
            None => finite_or(number, "the score is not a finite number"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Rain;

    impl Reason for Rain {
        const ALL: &'static [(usize, &'static str)] = &[(7, "it rains")];

        fn number(self) -> usize {
            7
        }
    }

    #[test]
    fn a_row_keeps_numbers_and_reasons() {
        let row: Vec<f64> = row([Ok(0.5), Err(Rain), Ok(0.0)]).collect();
        assert_eq!(row, [0.5, 0.0, 0.0, 0.0, 7.0, 0.0]);
        let mut values = vec![Ok(1.0); 3];
        row_values::<Rain>(&row, &mut values);
        assert_eq!(values, [Ok(0.5), Err(Absence::because("it rains")), Ok(0.0)]);
    }
}
