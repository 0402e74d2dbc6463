//! Columns whose numbers should not be taken at face value.

use storymeter_core::{Direction, Role, ScoreTable};
use storymeter_stats::Coefficient;

use crate::correlations::{Correlations, columns_of};
use crate::level::Level;
use crate::sheet::Warning;

/// Numbers this small carry no quality: they are what is left of a product or an exponential that ran out of
/// digits. HANNA's BaryScore-SD-0.001 (1e-9 to 1e-178) and CIDEr (down to 1e-224) are such columns.
const UNDERFLOW: f64 = 1e-30;

/// Looks at every column: missing or constant values, underflow, duplicates, an unknown direction.
pub fn inspect(table: &ScoreTable, correlations: &Correlations) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (at, column) in table.columns().iter().enumerate() {
        let values = table.values(at);
        let present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
        let mut warn = |kind: &str, message: String| {
            warnings.push(Warning::new(kind, column.name.as_str(), message))
        };
        if present.is_empty() {
            warn("empty", "no value at all; every number with it is NaN".into());
            continue;
        }
        if present.len() < values.len() {
            let missing = values.len() - present.len();
            warn(
                "missing",
                format!("{missing} of {} cells have no value and are left out", values.len()),
            );
        }
        if present.iter().any(|v| v.is_infinite()) {
            warn("infinite", "holds infinite values; Pearson with it is NaN".into());
        }
        if present.iter().all(|&v| v == present[0]) {
            warn("constant", format!("always {}; it cannot correlate with anything", present[0]));
            continue;
        }
        let flat = flat_items(table, at);
        if flat > 0 && table.systems().len() > 1 {
            let of = table.items().len();
            warn(
                "constant",
                format!(
                    "the same for all systems in {flat} of {of} items, which story level leaves out"
                ),
            );
        }
        if column.role == Role::Metric {
            if let Some(smallest) = smallest_magnitude(&present).filter(|&v| v < UNDERFLOW) {
                let largest = present.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                let message = format!(
                    "values from {smallest:.0e} to {largest:.0e}: numerical underflow, its ranks mean little"
                );
                warn("underflow", message);
            }
            if column.direction == Direction::None {
                warn(
                    "direction",
                    "not known whether more is better; comparisons assume it is".into(),
                );
            }
        }
    }
    warnings.extend(duplicates(table, correlations));
    warnings
}

/// Items in which all systems have the same value.
fn flat_items(table: &ScoreTable, column: usize) -> usize {
    (0..table.items().len())
        .filter(|&item| {
            let mut values = (0..table.systems().len())
                .map(|s| table.row(column, s)[item])
                .filter(|v| !v.is_nan());
            values.next().is_some_and(|first| values.all(|v| v == first))
        })
        .count()
}

fn smallest_magnitude(values: &[f64]) -> Option<f64> {
    values.iter().map(|v| v.abs()).filter(|&v| v > 0.0).min_by(f64::total_cmp)
}

/// Metrics that repeat an earlier one: bit for bit, or in the order they give all stories.
fn duplicates(table: &ScoreTable, correlations: &Correlations) -> Vec<Warning> {
    let metrics = columns_of(table, Role::Metric);
    let mut warnings = Vec::new();
    for (at, &later) in metrics.iter().enumerate() {
        for &earlier in &metrics[..at] {
            let same = table
                .values(earlier)
                .iter()
                .zip(table.values(later))
                .all(|(a, b)| a.to_bits() == b.to_bits());
            let rho = correlations.value(Level::Pooled, Coefficient::Spearman, earlier, later);
            let name = &table.columns()[earlier].name;
            let message = if same {
                format!("the same numbers as {name}, bit for bit: one metric under two names")
            } else if rho.abs() > 1.0 - 1e-12 {
                format!(
                    "orders all stories as {name} does{}",
                    if rho < 0.0 { ", backwards" } else { "" }
                )
            } else {
                continue;
            };
            warnings.push(Warning::new("duplicate", table.columns()[later].name.as_str(), message));
            break;
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correlations::{Noise, SystemMeans};
    use storymeter_core::Column;

    #[test]
    fn each_kind_of_bad_column_is_named_once() {
        let systems = vec!["a".to_owned(), "b".into(), "c".into(), "d".into()];
        let mut table = ScoreTable::new(systems, vec!["one".into()]);
        let columns: [(&str, Direction, [f64; 4]); 8] = [
            ("fine", Direction::Higher, [1.0, 3.0, 2.0, 4.0]),
            ("flat", Direction::Higher, [7.0; 4]),
            ("copy", Direction::Higher, [1.0, 3.0, 2.0, 4.0]),
            ("backwards", Direction::Lower, [9.0, 3.0, 5.0, 1.0]),
            ("tiny", Direction::Lower, [1e-40, 1e-178, 1e-9, 0.0]),
            ("length", Direction::None, [30.0, 10.0, 20.0, 10.0]),
            ("gone", Direction::Higher, [f64::NAN; 4]),
            ("holes", Direction::Higher, [1.0, 2.0, f64::NAN, 0.0]),
        ];
        for (name, direction, values) in columns {
            let column =
                Column { name: name.into(), role: Role::Metric, direction, signature: None };
            table.push_column(column, &values);
        }
        let means = SystemMeans::of(&table, Noise::Removed);
        let correlations = Correlations::of(&table, &means).unwrap();
        let found: Vec<(String, String)> =
            inspect(&table, &correlations).into_iter().map(|w| (w.subject, w.kind)).collect();
        let expected = [
            ("flat", "constant"),
            ("tiny", "underflow"),
            ("length", "direction"),
            ("gone", "empty"),
            ("holes", "missing"),
            ("copy", "duplicate"),
            ("backwards", "duplicate"),
        ];
        assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
