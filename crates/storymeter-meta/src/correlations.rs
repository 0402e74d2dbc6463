//! Every column against every other, at three levels, with three coefficients.

use rayon::prelude::*;
use storymeter_core::{Role, ScoreTable};
use storymeter_stats::{Coefficient, Prepared, drop_nan_pairs, mean};

use crate::error::Result;
use crate::level::{Association, Gap, Level};

/// The least number of observations a correlation is computed from.
const LEAST: usize = 3;

/// All correlations among the columns of a table.
///
/// The absolute value, where a paper prints one, is taken last by whoever prints it; these are signed.
#[derive(Debug, Clone)]
pub struct Correlations {
    columns: usize,
    /// `[level][coefficient]`, each the upper triangle with its diagonal, row by row.
    cells: Vec<Vec<Association>>,
}

impl Correlations {
    /// Correlates all columns of a table, the means of its systems being given.
    pub fn of(table: &ScoreTable, systems: &SystemMeans) -> Result<Self> {
        let columns = table.columns().len();
        let pairs = pairs(columns);
        let mut cells = Vec::with_capacity(Level::ALL.len() * Coefficient::ALL.len());
        for level in Level::ALL {
            for coefficient in Coefficient::ALL {
                cells.push(match level {
                    Level::Story => story_level(table, coefficient, &pairs)?,
                    Level::System => vectors_level(coefficient, &pairs, |c| &systems.means[c])?,
                    Level::Pooled => vectors_level(coefficient, &pairs, |c| table.values(c))?,
                });
            }
        }
        Ok(Self { columns, cells })
    }

    /// The same correlations, those at system level from other means.
    pub fn with_means(&self, systems: &SystemMeans) -> Result<Self> {
        let mut other = self.clone();
        for coefficient in Coefficient::ALL {
            other.cells[index(Level::System, coefficient)] =
                vectors_level(coefficient, &pairs(self.columns), |c| &systems.means[c])?;
        }
        Ok(other)
    }

    /// The correlation of two columns.
    pub fn get(&self, level: Level, coefficient: Coefficient, a: usize, b: usize) -> &Association {
        let (a, b) = (a.min(b), a.max(b));
        // Rows above hold columns, columns - 1, ... cells.
        let at = a * self.columns + b - a * (a + 1) / 2;
        &self.cells[index(level, coefficient)][at]
    }

    /// The coefficient alone; NaN where there is none.
    pub fn value(&self, level: Level, coefficient: Coefficient, a: usize, b: usize) -> f64 {
        self.get(level, coefficient, a, b).value
    }
}

/// Where the cells of a level and coefficient are.
fn index(level: Level, coefficient: Coefficient) -> usize {
    level as usize * Coefficient::ALL.len() + coefficient as usize
}

/// The upper triangle with its diagonal, row by row.
fn pairs(columns: usize) -> Vec<(usize, usize)> {
    (0..columns).flat_map(|a| (a..columns).map(move |b| (a, b))).collect()
}

/// The mean of each column over each system's items.
#[derive(Debug, Clone)]
pub struct SystemMeans {
    /// `[column][system]`; NaN where a system has no value.
    pub means: Vec<Vec<f64>>,
}

/// Whether means that differ in their last bits only are made equal.
///
/// Means of thirds (three raters) that are equal in exact arithmetic come out unequal in floating point, depending
/// on the order of the sum, and rank correlations then see an order where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Means keep 13 significant digits.
    Removed,
    /// Means are numpy's, bit for bit.
    Kept,
}

impl SystemMeans {
    /// Averages a table over the values that are there.
    pub fn of(table: &ScoreTable, noise: Noise) -> Self {
        let average = |row: &[f64]| {
            let present: Vec<f64> = row.iter().copied().filter(|v| !v.is_nan()).collect();
            match noise {
                Noise::Removed => settle(mean(&present)),
                Noise::Kept => mean(&present),
            }
        };
        let systems = 0..table.systems().len();
        let column =
            |c: usize| systems.clone().map(|system| average(table.row(c, system))).collect();
        Self { means: (0..table.columns().len()).map(column).collect() }
    }
}

/// The nearest number of 13 significant digits.
pub(crate) fn settle(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = 12 - value.abs().log10().floor() as i32;
    // Beyond these powers the scale itself leaves the range of numbers.
    if !(-280..=280).contains(&exponent) {
        return value;
    }
    let scale = 10f64.powi(exponent);
    (value * scale).round() / scale
}

/// The columns of a role, by position.
pub fn columns_of(table: &ScoreTable, role: Role) -> Vec<usize> {
    (0..table.columns().len()).filter(|&c| table.columns()[c].role == role).collect()
}

/// One item of one column: the scores of all systems, and what is known about them.
struct Slice {
    values: Vec<f64>,
    complete: bool,
    prepared: Option<Prepared>,
}

fn story_level(
    table: &ScoreTable,
    coefficient: Coefficient,
    pairs: &[(usize, usize)],
) -> Result<Vec<Association>> {
    let (systems, items) = (table.systems().len(), table.items().len());
    let slice = |column: usize, item: usize| -> Result<Slice> {
        let values: Vec<f64> = (0..systems).map(|system| table.row(column, system)[item]).collect();
        let complete = values.iter().all(|v| !v.is_nan());
        let prepared = match complete && systems >= LEAST {
            true => Some(Prepared::new(coefficient, &values)?),
            false => None,
        };
        Ok(Slice { values, complete, prepared })
    };
    let slices: Vec<Vec<Slice>> = (0..table.columns().len())
        .into_par_iter()
        .map(|column| (0..items).map(|item| slice(column, item)).collect())
        .collect::<Result<_>>()?;
    pairs
        .par_iter()
        .map(|&(a, b)| {
            let mut found = Tally::default();
            for (x, y) in slices[a].iter().zip(&slices[b]) {
                match (&x.prepared, &y.prepared) {
                    (Some(x), Some(y)) => found.add(x.correlate(y)?),
                    _ if x.complete && y.complete => found.few += 1,
                    _ => {
                        let present = drop_nan_pairs(&x.values, &y.values)?;
                        match present.x.len() < LEAST {
                            true => found.few += 1,
                            false => found.add(coefficient.value(&present.x, &present.y)?),
                        }
                    }
                }
            }
            Ok(found.mean())
        })
        .collect()
}

/// The coefficients of the items so far.
#[derive(Default)]
struct Tally {
    sum: f64,
    n: usize,
    undefined: usize,
    few: usize,
}

impl Tally {
    fn add(&mut self, coefficient: f64) {
        if coefficient.is_nan() {
            self.undefined += 1;
        } else {
            self.sum += coefficient;
            self.n += 1;
        }
    }

    fn mean(&self) -> Association {
        let dropped = self.undefined + self.few;
        if self.n == 0 {
            let gap = if self.undefined > 0 { Gap::Constant } else { Gap::TooFew };
            return Association::none(gap, 0, dropped);
        }
        let value = self.sum / self.n as f64;
        Association { value, p_value: f64::NAN, n: self.n, dropped, gap: None }
    }
}

fn vectors_level<'a>(
    coefficient: Coefficient,
    pairs: &[(usize, usize)],
    vector: impl Fn(usize) -> &'a [f64] + Sync,
) -> Result<Vec<Association>> {
    pairs.par_iter().map(|&(a, b)| associate(coefficient, vector(a), vector(b))).collect()
}

/// The correlation of two vectors after the pairs with a missing value were left out.
pub fn associate(coefficient: Coefficient, x: &[f64], y: &[f64]) -> Result<Association> {
    let pairs = drop_nan_pairs(x, y)?;
    let (n, dropped) = (pairs.x.len(), pairs.dropped);
    let empty = |values: &[f64]| values.iter().all(|v| v.is_nan());
    if n < LEAST {
        let gap = if empty(x) || empty(y) { Gap::Empty } else { Gap::TooFew };
        return Ok(Association::none(gap, n, dropped));
    }
    let found = coefficient.compute(&pairs.x, &pairs.y)?;
    if found.coefficient.is_nan() {
        let infinite = pairs.x.iter().chain(&pairs.y).any(|v| v.is_infinite());
        return Ok(Association::none(
            if infinite { Gap::Infinite } else { Gap::Constant },
            n,
            dropped,
        ));
    }
    Ok(Association { value: found.coefficient, p_value: found.p_value, n, dropped, gap: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_core::{Column, Direction};

    fn table(systems: usize, items: usize, columns: &[&[f64]]) -> ScoreTable {
        let names = |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect();
        let mut table = ScoreTable::new(names("s", systems), names("i", items));
        for (at, values) in columns.iter().enumerate() {
            let column = Column {
                name: format!("c{at}"),
                role: if at == 0 { Role::Human } else { Role::Metric },
                direction: Direction::Higher,
                signature: None,
            };
            table.push_column(column, values);
        }
        table
    }

    fn correlate(table: &ScoreTable) -> Result<Correlations> {
        Correlations::of(table, &SystemMeans::of(table, Noise::Removed))
    }

    #[test]
    fn means_equal_in_exact_arithmetic_tie() {
        let third = 1.0 / 3.0;
        let rows = [third, 2.0 * third, 5.0 + third, 5.0 + third, 2.0 * third, third];
        let means = |noise| SystemMeans::of(&table(2, 3, &[&rows]), noise).means[0].clone();
        let settled = means(Noise::Removed);
        assert_eq!(settled[0], settled[1]);
        assert_ne!(means(Noise::Kept)[0], settled[0], "2.1111111111111112 in floating point");
    }

    #[test]
    fn every_pair_is_found_where_it_was_put() {
        // Three systems, two items; each column a different multiple so that every pair has its own mean.
        let columns: Vec<Vec<f64>> =
            (0..5).map(|c| (0..6).map(|i| ((i * (c + 2) * 7) % 11) as f64).collect()).collect();
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let all = correlate(&table(3, 2, &slices)).unwrap();
        for a in 0..5 {
            for b in 0..5 {
                let expected = Coefficient::Pearson.value(&columns[a], &columns[b]).unwrap();
                let found = all.value(Level::Pooled, Coefficient::Pearson, a, b);
                assert!((found - expected).abs() < 1e-12, "{a} {b}");
            }
        }
    }

    #[test]
    fn story_level_is_the_mean_over_items_and_leaves_constant_items_out() {
        // [system][item]: item 0 agrees fully, item 1 is constant in the metric, item 2 disagrees fully.
        let human = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0];
        let metric = [1.0, 5.0, 9.0, 2.0, 5.0, 8.0, 3.0, 5.0, 7.0];
        let all = correlate(&table(3, 3, &[&human, &metric])).unwrap();
        let found = all.get(Level::Story, Coefficient::Kendall, 0, 1);
        assert_eq!((found.value, found.n, found.dropped), (0.0, 2, 1));
    }

    #[test]
    fn a_missing_cell_leaves_its_pair_out_and_two_observations_are_too_few() {
        let human = [1.0, 2.0, 3.0, 4.0];
        let metric = [1.0, f64::NAN, 3.0, 9.0];
        let all = correlate(&table(4, 1, &[&human, &metric])).unwrap();
        let story = all.get(Level::Story, Coefficient::Spearman, 0, 1);
        assert_eq!((story.value, story.n), (1.0, 1));
        let pooled = all.get(Level::Pooled, Coefficient::Spearman, 0, 1);
        assert_eq!((pooled.n, pooled.dropped), (3, 1));
        let two = correlate(&table(2, 1, &[&human[..2], &human[2..]])).unwrap();
        for level in Level::ALL {
            assert_eq!(
                two.get(level, Coefficient::Pearson, 0, 1).gap,
                Some(Gap::TooFew),
                "{level}"
            );
        }
    }

    #[test]
    fn an_empty_and_a_constant_column_give_nan_with_the_reason() {
        let all = correlate(&table(3, 1, &[&[1.0, 2.0, 3.0], &[f64::NAN; 3], &[4.0; 3]])).unwrap();
        let gap = |column| all.get(Level::System, Coefficient::Pearson, 0, column).gap;
        assert_eq!((gap(1), gap(2)), (Some(Gap::Empty), Some(Gap::Constant)));
    }
}
