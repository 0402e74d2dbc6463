//! Every column against every other, at three levels, with three coefficients.

use rayon::prelude::*;
use storymeter_core::Role;
use storymeter_stats::{
    Coefficient, Correlation, LEAST_PAIRS, Prepared, SharedCorrelations, drop_nan_pairs, mean,
};

use crate::error::Result;
use crate::grid::Grid;
use crate::level::Level;
use crate::outcome::{Absence, Outcome};
use crate::study::{Association, Estimate, triangle};

/// The correlation of two columns, with everything that is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The signed coefficient and its two-sided p-value, or the reason why there is none.
    pub value: Outcome<Estimate>,
    /// The number of observations that were used.
    pub n: usize,
    /// The number that were left out.
    pub left_out: usize,
}

impl Found {
    /// The coefficient; NaN where there is none, as the statistics want it.
    pub fn number(&self) -> f64 {
        self.value.clone().map_or(f64::NAN, |estimate| estimate.value)
    }

    /// The coefficient alone.
    pub fn association(&self) -> Association {
        Association { value: self.value.clone().map(|estimate| estimate.value), n: self.n }
    }
}

/// All correlations among the columns of a grid, signed.
#[derive(Debug, Clone)]
pub struct Correlations {
    roles: Vec<Role>,
    /// `[level][coefficient]`, each the upper triangle with its diagonal, row by row.
    cells: Vec<Vec<Found>>,
}

impl Correlations {
    /// Correlates all columns of a grid. The means of its systems are given.
    pub fn of(grid: &Grid, means: &SystemMeans) -> Result<Self> {
        let roles: Vec<Role> = grid.columns().iter().map(|column| column.role).collect();
        let pairs = pairs(roles.len());
        let mut cells = Vec::with_capacity(Level::ALL.len() * Coefficient::ALL.len());
        for level in Level::ALL {
            for coefficient in Coefficient::ALL {
                cells.push(match level {
                    Level::Story => story_level(grid, coefficient, &pairs)?,
                    Level::System => {
                        vectors_level(coefficient, &pairs, &roles, |c| &means.means[c])?
                    }
                    Level::Pooled => {
                        let values = |c| grid.values(c);
                        let mut found = vectors_level(coefficient, &pairs, &roles, values)?;
                        // Pairs of a system and an item without a story are not left out.
                        found.iter_mut().for_each(|one| one.left_out = grid.stories() - one.n);
                        found
                    }
                });
            }
        }
        Ok(Self { roles, cells })
    }

    /// The correlation of two columns.
    pub fn get(&self, level: Level, coefficient: Coefficient, a: usize, b: usize) -> &Found {
        &self.cells[index(level, coefficient)][triangle(self.roles.len(), a.min(b), a.max(b))]
    }

    /// The coefficient alone; NaN where there is none.
    pub fn number(&self, level: Level, coefficient: Coefficient, a: usize, b: usize) -> f64 {
        self.get(level, coefficient, a, b).number()
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
/// Means of thirds (three raters) that are equal in exact arithmetic come out unequal in floating
/// point, depending on the order of the sum. Rank correlations then see an order where there is
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Means keep 13 significant digits.
    Removed,
    /// Means are numpy's, bit for bit.
    AsIs,
}

impl SystemMeans {
    /// Averages a grid over the values that are present.
    pub fn of(grid: &Grid, noise: Noise) -> Self {
        let average = |row: &[f64]| {
            let present: Vec<f64> = row.iter().copied().filter(|v| !v.is_nan()).collect();
            match noise {
                Noise::Removed => significant_digits(mean(&present)),
                Noise::AsIs => mean(&present),
            }
        };
        let systems = 0..grid.systems().len();
        let column =
            |c: usize| systems.clone().map(|system| average(grid.row(c, system))).collect();
        Self { means: (0..grid.columns().len()).map(column).collect() }
    }
}

/// The nearest number of 13 significant digits.
pub fn significant_digits(value: f64) -> f64 {
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

/// The scores of all systems on each item, one column after the other, prepared for one
/// coefficient.
pub struct Slices {
    coefficient: Coefficient,
    /// `[column][item]`.
    slices: Vec<Vec<Slice>>,
}

/// One item of one column.
struct Slice {
    values: Vec<f64>,
    /// Where no value is absent and there are enough of them.
    prepared: Option<Prepared>,
    complete: bool,
}

impl Slices {
    pub fn of(grid: &Grid, coefficient: Coefficient) -> Result<Self> {
        let systems = grid.systems().len();
        let slice = |column: usize, item: usize| -> Result<Slice> {
            let values: Vec<f64> = (0..systems).map(|s| grid.row(column, s)[item]).collect();
            let complete = values.iter().all(|v| !v.is_nan());
            let prepared = match complete && systems >= LEAST_PAIRS {
                true => Some(Prepared::new(coefficient, &values)?),
                false => None,
            };
            Ok(Slice { values, prepared, complete })
        };
        let column = |column: usize| -> Result<Vec<Slice>> {
            (0..grid.items().len()).map(|item| slice(column, item)).collect()
        };
        let slices =
            (0..grid.columns().len()).into_par_iter().map(column).collect::<Result<_>>()?;
        Ok(Self { coefficient, slices })
    }

    /// The correlation of two columns on each item; `None` where too few systems have both.
    pub fn by_item(&self, a: usize, b: usize) -> impl Iterator<Item = Result<Option<f64>>> {
        self.slices[a].iter().zip(&self.slices[b]).map(|(x, y)| match (&x.prepared, &y.prepared) {
            (Some(x), Some(y)) => Ok(Some(x.correlate(y)?)),
            _ if x.complete && y.complete => Ok(None),
            _ => {
                let present = drop_nan_pairs(&x.values, &y.values)?;
                match present.x.len() < LEAST_PAIRS {
                    true => Ok(None),
                    false => Ok(Some(self.coefficient.value(&present.x, &present.y)?)),
                }
            }
        })
    }

    /// The correlations of a criterion with two metrics and between them, averaged over the items
    /// on which all three are defined.
    pub fn three(
        &self,
        criterion: usize,
        first: usize,
        second: usize,
    ) -> Result<SharedCorrelations> {
        let columns = [criterion, first, second].map(|column| &self.slices[column]);
        let one = |item: usize| -> Result<SharedCorrelations> {
            let [criterion, first, second] = columns.map(|column| &column[item]);
            if let (Some(x), Some(y), Some(z)) =
                (&criterion.prepared, &first.prepared, &second.prepared)
            {
                return Ok(SharedCorrelations {
                    first: x.correlate(y)?,
                    second: x.correlate(z)?,
                    between: y.correlate(z)?,
                    n: criterion.values.len(),
                    dropped: 0,
                });
            }
            let mut three = SharedCorrelations::from_columns(
                self.coefficient,
                &criterion.values,
                &first.values,
                &second.values,
            )?;
            if three.n < LEAST_PAIRS {
                three.first = f64::NAN;
            }
            Ok(three)
        };
        let items: Vec<_> = (0..columns[0].len()).map(one).collect::<Result<_>>()?;
        Ok(SharedCorrelations::mean(&items))
    }
}

fn story_level(
    grid: &Grid,
    coefficient: Coefficient,
    pairs: &[(usize, usize)],
) -> Result<Vec<Found>> {
    let slices = Slices::of(grid, coefficient)?;
    let apart = grid.most_systems_per_item() < 2;
    pairs
        .par_iter()
        .map(|&(a, b)| {
            let mut sum = ItemSum::default();
            for value in slices.by_item(a, b) {
                sum.add(value?);
            }
            Ok(sum.mean(apart))
        })
        .collect()
}

/// The coefficients of the items so far.
#[derive(Default)]
struct ItemSum {
    sum: f64,
    n: usize,
    undefined: usize,
    few: usize,
}

impl ItemSum {
    fn add(&mut self, coefficient: Option<f64>) {
        match coefficient {
            None => self.few += 1,
            Some(value) if value.is_nan() => self.undefined += 1,
            Some(value) => {
                self.sum += value;
                self.n += 1;
            }
        }
    }

    /// `apart`: whether no two systems share an item.
    fn mean(&self, apart: bool) -> Found {
        let value = match () {
            () if self.n > 0 => {
                let value = self.sum / self.n as f64;
                Ok(Estimate::new(value, None))
            }
            () if self.undefined > 0 => Err(Absence::Constant),
            () if apart => Err(Absence::NoSharedItem),
            () => Err(Absence::TooFew),
        };
        Found { value, n: self.n, left_out: self.undefined + self.few }
    }
}

fn vectors_level<'a>(
    coefficient: Coefficient,
    pairs: &[(usize, usize)],
    roles: &[Role],
    vector: impl Fn(usize) -> &'a [f64] + Sync,
) -> Result<Vec<Found>> {
    // Only metrics beside criteria are tested.
    let one = |&(a, b): &(usize, usize)| match roles[a] == roles[b] {
        true => coefficient_only(coefficient, vector(a), vector(b)),
        false => associate(coefficient, vector(a), vector(b)),
    };
    pairs.par_iter().map(one).collect()
}

/// The correlation of two vectors, without the pairs that lack a value (NaN).
pub fn associate(coefficient: Coefficient, x: &[f64], y: &[f64]) -> Result<Found> {
    correlate(coefficient, x, y, Coefficient::associate)
}

/// As [`associate`], where nobody asks for the p-value: an exact one takes its time.
pub fn coefficient_only(coefficient: Coefficient, x: &[f64], y: &[f64]) -> Result<Found> {
    correlate(coefficient, x, y, Coefficient::compute)
}

fn correlate(
    coefficient: Coefficient,
    x: &[f64],
    y: &[f64],
    compute: impl Fn(Coefficient, &[f64], &[f64]) -> storymeter_stats::Result<Correlation>,
) -> Result<Found> {
    let pairs = drop_nan_pairs(x, y)?;
    let (n, left_out) = (pairs.x.len(), pairs.dropped);
    let none = |reason| Ok(Found { value: Err(reason), n, left_out });
    let empty = |values: &[f64]| values.iter().all(|v| v.is_nan());
    if n < LEAST_PAIRS {
        return none(if empty(x) || empty(y) { Absence::Empty } else { Absence::TooFew });
    }
    let Correlation { coefficient: value, p_value, undefined, .. } =
        compute(coefficient, &pairs.x, &pairs.y)?;
    if undefined.is_some() || value.is_nan() {
        let infinite = pairs.x.iter().chain(&pairs.y).any(|v| v.is_infinite());
        return none(if infinite { Absence::Infinite } else { Absence::Constant });
    }
    let p_value = Some(p_value).filter(|p| p.is_finite());
    Ok(Found { value: Ok(Estimate::new(value, p_value)), n, left_out })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::tests::grid;

    fn all_of(grid: &Grid) -> Correlations {
        Correlations::of(grid, &SystemMeans::of(grid, Noise::Removed)).unwrap()
    }

    #[test]
    fn means_equal_in_exact_arithmetic_tie() {
        let third = 1.0 / 3.0;
        let rows = [third, 2.0 * third, 5.0 + third, 5.0 + third, 2.0 * third, third];
        let means = |noise| SystemMeans::of(&grid(2, 3, &[&rows]), noise).means[0].clone();
        let rounded = means(Noise::Removed);
        assert_eq!(rounded[0], rounded[1]);
        assert_ne!(means(Noise::AsIs)[0], rounded[0], "2.1111111111111112 in floating point");
    }

    #[test]
    fn every_pair_is_found_where_it_was_put() {
        // Every column is another multiple, so that every pair has a mean of its own.
        let columns: Vec<Vec<f64>> =
            (0..5).map(|c| (0..6).map(|i| ((i * (c + 2) * 7) % 11) as f64).collect()).collect();
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let all = all_of(&grid(3, 2, &slices));
        for a in 0..5 {
            for b in 0..5 {
                let expected = Coefficient::Pearson.value(&columns[a], &columns[b]).unwrap();
                let found = all.number(Level::Pooled, Coefficient::Pearson, a, b);
                assert!((found - expected).abs() < 1e-12, "{a} {b}");
            }
        }
    }

    #[test]
    fn story_level_is_the_mean_over_items_and_leaves_constant_items_out() {
        // [system][item]: on item 0 both agree, on item 1 the metric is constant, on item 2 they
        // disagree.
        let human = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0];
        let metric = [1.0, 5.0, 9.0, 2.0, 5.0, 8.0, 3.0, 5.0, 7.0];
        let all = all_of(&grid(3, 3, &[&human, &metric]));
        let found = all.get(Level::Story, Coefficient::Kendall, 0, 1);
        assert_eq!((found.number(), found.n, found.left_out), (0.0, 2, 1));
    }

    #[test]
    fn a_missing_cell_leaves_its_pair_out_and_two_observations_are_too_few() {
        let human = [1.0, 2.0, 3.0, 4.0];
        let metric = [1.0, f64::NAN, 3.0, 9.0];
        let all = all_of(&grid(4, 1, &[&human, &metric]));
        let story = all.get(Level::Story, Coefficient::Spearman, 0, 1);
        assert_eq!((story.number(), story.n), (1.0, 1));
        let pooled = all.get(Level::Pooled, Coefficient::Spearman, 0, 1);
        assert_eq!((pooled.n, pooled.left_out), (3, 1));
        let two = all_of(&grid(2, 1, &[&human[..2], &human[2..]]));
        for level in Level::ALL {
            let found = two.get(level, Coefficient::Pearson, 0, 1);
            assert_eq!(found.value, Err(Absence::TooFew), "{level}");
        }
    }

    #[test]
    fn the_three_correlations_of_a_test_rest_on_the_same_items() {
        // Item 0 is complete. On item 1 the first metric is constant, so that it counts for none.
        let human = [1.0, 1.0, 2.0, 3.0, 3.0, 2.0, 4.0, 4.0];
        let first = [1.0, 5.0, 2.0, 5.0, 3.0, 5.0, 4.0, 5.0];
        let second = [2.0, 9.0, 1.0, 8.0, 4.0, 7.0, 3.0, 6.0];
        let grid = grid(4, 2, &[&human, &first, &second]);
        let slices = Slices::of(&grid, Coefficient::Pearson).unwrap();
        let three = slices.three(0, 1, 2).unwrap();
        assert_eq!((three.n, three.dropped), (1, 1));
        let item = |values: &[f64]| values.iter().step_by(2).copied().collect::<Vec<f64>>();
        let expected = Coefficient::Pearson.value(&item(&human), &item(&second)).unwrap();
        assert!((three.second - expected).abs() < 1e-15);
    }
}
