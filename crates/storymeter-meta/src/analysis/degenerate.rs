//! Columns whose numbers should not be taken at face value.

use storymeter_core::{Direction, Role};
use storymeter_stats::{Coefficient, LEAST_PAIRS};

use super::Correlations;
use crate::grid::Grid;
use crate::level::Level;
use crate::study::{Warning, WarningKind};

/// Numbers this small carry no quality: they are what is left of a product or an exponential that
/// ran out of digits. HANNA's BaryScore-SD-0.001 (1e-9 to 1e-178) and CIDEr (down to 1e-224) are
/// such columns.
const UNDERFLOW: f64 = 1e-30;

/// Looks at every column: missing or constant values, underflow, duplicates, an unknown direction;
/// and at whether systems can be compared at all.
pub fn inspect(grid: &Grid, correlations: &Correlations) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if grid.systems().len() > 1 && grid.most_systems_per_item() < 2 {
        let message = "no two systems have a story for the same item: there is no story level, and \
                       no system can be compared with another";
        warnings.push(Warning::new(WarningKind::Unpaired, "systems", message));
    }
    warnings.extend(few_observations(grid));
    for at in 0..grid.columns().len() {
        inspect_column(grid, at, &mut warnings);
    }
    warnings.extend(duplicates(grid, correlations));
    warnings
}

/// Fewer systems or items than this are few: p-values of so few systems come from all their orders.
const FEW: usize = 10;

/// Says where correlations rest on few systems or items.
fn few_observations(grid: &Grid) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let (systems, items) = (grid.systems().len(), grid.items().len());
    let mut warn = |subject: &str, message: String| {
        warnings.push(Warning::new(WarningKind::Few, subject, message));
    };
    if (LEAST_PAIRS..FEW).contains(&systems) {
        // Of all orders of the systems, at least the observed one is as strong as itself.
        let least = 1.0 / (1..=systems).map(|k| k as f64).product::<f64>();
        let bound = match least >= 0.001 {
            true => format!(", and their p-values cannot be below {least:.3}"),
            false => ", which is few".to_owned(),
        };
        warn("systems", format!("correlations at system level rest on {systems} systems{bound}"));
    }
    if grid.most_systems_per_item() > 1 && (2..FEW).contains(&items) {
        let message =
            format!("p-values and intervals over all stories rest on {items} items, which is few");
        warn("items", message);
    }
    warnings
}

fn inspect_column(grid: &Grid, at: usize, warnings: &mut Vec<Warning>) {
    let column = &grid.columns()[at];
    let all = grid.values(at);
    // Only cells with a story count. Cells without one are reported for the table as a whole.
    let present: Vec<f64> =
        grid.cells().iter().map(|(_, cell)| all[*cell]).filter(|v| !v.is_nan()).collect();
    let mut warn = |kind, message: String| {
        warnings.push(Warning::new(kind, column.key.as_str(), message));
    };
    if present.is_empty() {
        warn(WarningKind::Empty, "it has no value at all, and nothing can be said about it".into());
        return;
    }
    if present.len() < grid.stories() {
        let (missing, stories) = (grid.stories() - present.len(), grid.stories());
        let message = format!("{missing} of {stories} stories have no value and are left out");
        warn(WarningKind::Missing, message);
    }
    if present.iter().any(|v| v.is_infinite()) {
        warn(
            WarningKind::Infinite,
            "it has infinite values, which have no Pearson correlation".into(),
        );
    }
    if present.iter().all(|&v| v == present[0]) {
        let message = format!("it is always {} and cannot correlate with anything", present[0]);
        warn(WarningKind::Constant, message);
        return;
    }
    let flat = flat_items(grid, at);
    if flat > 0 {
        let items = grid.items().len();
        let message = format!(
            "it is the same for all systems in {flat} of {items} items, which story level \
             leaves out"
        );
        warn(WarningKind::Constant, message);
    }
    if column.role == Role::Metric {
        if let Some(smallest) = smallest_magnitude(&present).filter(|&v| v < UNDERFLOW) {
            let largest = present.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let message = format!(
                "its values from {smallest:.0e} to {largest:.0e} are a numerical underflow, and \
                 its ranks mean little"
            );
            warn(WarningKind::Underflow, message);
        }
        if column.direction == Direction::None {
            let message = "it is not known whether more is better: it is ranked by the size of its \
                           correlations, and judges between systems as if more were better";
            warn(WarningKind::Direction, message.into());
        }
    }
}

/// The number of items in which several systems have a value, and all the same.
fn flat_items(grid: &Grid, column: usize) -> usize {
    let flat = |&item: &usize| {
        let values = (0..grid.systems().len()).map(|s| grid.row(column, s)[item]);
        let present: Vec<f64> = values.filter(|v| !v.is_nan()).collect();
        present.len() > 1 && present.iter().all(|v| *v == present[0])
    };
    (0..grid.items().len()).filter(flat).count()
}

fn smallest_magnitude(values: &[f64]) -> Option<f64> {
    values.iter().map(|v| v.abs()).filter(|&v| v > 0.0).min_by(f64::total_cmp)
}

/// Metrics that repeat an earlier one: bit for bit, or in the order that they give all stories.
fn duplicates(grid: &Grid, correlations: &Correlations) -> Vec<Warning> {
    let metrics = grid.of_role(Role::Metric);
    let mut warnings = Vec::new();
    for (at, &later) in metrics.iter().enumerate() {
        for &earlier in &metrics[..at] {
            let same =
                |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            let same = grid.values(earlier).iter().zip(grid.values(later)).all(same);
            let rho = correlations.number(Level::Pooled, Coefficient::Spearman, earlier, later);
            let name = &grid.columns()[earlier].key;
            let message = if same && grid.columns()[later].counts.present > 0 {
                format!(
                    "it has the same numbers as {name}, bit for bit: one metric under two names"
                )
            } else if rho.abs() > 1.0 - 1e-12 {
                let backwards = if rho < 0.0 { ", backwards" } else { "" };
                format!("it orders all stories as {name} does{backwards}")
            } else {
                continue;
            };
            let subject = grid.columns()[later].key.as_str();
            warnings.push(Warning::new(WarningKind::Duplicate, subject, message));
            break;
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Noise, SystemMeans};
    use crate::grid::tests::grid;

    #[test]
    fn each_kind_of_bad_column_is_named_once() {
        let columns: [(&str, Direction, [f64; 4]); 9] = [
            ("c0", Direction::Higher, [1.0, 2.0, 2.0, 1.0]),
            ("fine", Direction::Higher, [1.0, 3.0, 2.0, 4.0]),
            ("flat", Direction::Higher, [7.0; 4]),
            ("copy", Direction::Higher, [1.0, 3.0, 2.0, 4.0]),
            ("backwards", Direction::Lower, [9.0, 3.0, 5.0, 1.0]),
            ("tiny", Direction::Lower, [1e-40, 1e-178, 1e-9, 0.0]),
            ("length", Direction::None, [30.0, 10.0, 20.0, 10.0]),
            ("gone", Direction::Higher, [f64::NAN; 4]),
            ("holes", Direction::Higher, [1.0, 2.0, f64::NAN, 0.0]),
        ];
        let values: Vec<&[f64]> = columns.iter().map(|(.., values)| values.as_slice()).collect();
        let mut grid = grid(4, 1, &values);
        for (at, (_, direction, _)) in columns.iter().enumerate() {
            grid.set_direction(at, *direction);
        }
        let means = SystemMeans::of(&grid, Noise::Removed);
        let correlations = Correlations::of(&grid, &means).unwrap();
        let name = |subject: &str| columns[subject[1..].parse::<usize>().unwrap()].0;
        let mut warnings = inspect(&grid, &correlations);
        let few = warnings.remove(0);
        assert_eq!((few.subject.as_str(), few.kind), ("systems", WarningKind::Few));
        let found: Vec<_> = warnings.iter().map(|w| (name(&w.subject), w.kind)).collect();
        let expected = [
            ("flat", WarningKind::Constant),
            ("tiny", WarningKind::Underflow),
            ("length", WarningKind::Direction),
            ("gone", WarningKind::Empty),
            ("holes", WarningKind::Missing),
            ("copy", WarningKind::Duplicate),
            ("backwards", WarningKind::Duplicate),
        ];
        assert_eq!(found, expected);
    }
}
