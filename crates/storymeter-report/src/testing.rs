//! Studies for the unit tests of this crate.

use storymeter_core::{Column, Direction, Key, Signature};
use storymeter_meta::study::Estimate;
use storymeter_meta::{Agreement, Edition, Finding, Gap, Kind, Level, Study};
use storymeter_stats::Coefficient;

/// One correlation; `None` stands for a constant column.
pub(crate) fn agreement(
    metric: &str,
    criterion: &str,
    level: Level,
    coefficient: Coefficient,
    value: Option<f64>,
    n: usize,
) -> Agreement {
    let estimate = |value| Estimate { value, p_value: None, adjusted: None, interval: None };
    Agreement {
        metric: Key::new(metric),
        criterion: Key::new(criterion),
        level,
        coefficient,
        value: value.map(estimate).ok_or(Gap::Constant),
        n,
        left_out: 0,
    }
}

/// A study with nothing but these correlations.
pub(crate) fn study(agreements: Vec<Agreement>) -> Study {
    let mut columns: Vec<Column> = Vec::new();
    for one in &agreements {
        let own = [
            Column::criterion(one.criterion.as_str()),
            Column::metric(one.metric.as_str(), Direction::Higher),
        ];
        for column in own {
            if !columns.iter().any(|known| known.key == column.key && known.role == column.role) {
                columns.push(column);
            }
        }
    }
    Study {
        kind: Kind::Table,
        edition: Edition::Corrected,
        signature: Signature::new("test"),
        warnings: Vec::new(),
        columns,
        turned: Vec::new(),
        systems: Vec::new(),
        items: 0,
        findings: vec![Finding::Agreements(agreements)],
    }
}
