//! Studies for the unit tests of this crate.

use storymeter_core::{Column, Direction, Key, Signature};
use storymeter_meta::study::{Comparison, Estimate, PValue, Side, Sides, Test, TestMatrix};
use storymeter_meta::{
    Absence, Agreement, Coefficient, Correction, Edition, Finding, Kind, Level, Study,
};

/// One correlation; `None` stands for a constant column.
pub(crate) fn agreement(
    metric: &str,
    criterion: &str,
    level: Level,
    coefficient: Coefficient,
    value: Option<f64>,
    n: usize,
) -> Agreement {
    let estimate =
        |value| Estimate { value, p_value: None, adjusted: None, interval: None, items: None };
    Agreement {
        metric: Key::new(metric),
        criterion: Key::new(criterion),
        level,
        coefficient,
        value: value.map(estimate).ok_or(Absence::Constant),
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

/// A study of four metrics at system level with Williams' tests between them. The metric "flat" is
/// constant.
pub(crate) fn compared() -> Study {
    let pearson = |metric: &str, criterion: &str, value| {
        agreement(metric, criterion, Level::System, Coefficient::Pearson, value, 10)
    };
    let mut study = study(vec![
        pearson("poor", "story-level flow", Some(0.1)),
        pearson("good", "story-level flow", Some(-0.9)),
        pearson("fair", "story-level flow", Some(0.5)),
        pearson("flat", "story-level flow", None),
    ]);
    for column in study.columns.iter_mut().filter(|column| column.key.as_str() == "good") {
        column.direction = Direction::Lower;
    }
    let test = |p_value| Comparison { stronger: Some(Side::First), p_value, n: 10 };
    let p = |raw, corrected| Ok(PValue { raw, corrected });
    study.findings.push(Finding::Tests(TestMatrix {
        test: Test::Williams,
        criterion: Key::new("story-level flow"),
        level: Level::System,
        coefficient: Coefficient::Pearson,
        correction: Correction::Holm,
        sides: Sides::Two,
        metrics: ["good", "fair", "poor", "flat"].map(Key::new).to_vec(),
        pairs: vec![
            test(p(0.03, 0.09)),
            test(p(0.001, 0.003)),
            test(p(0.4, 0.4)),
            test(Err(Absence::Constant)),
            test(Err(Absence::Constant)),
            test(Err(Absence::Constant)),
        ],
    }));
    study.with_metric_rankings()
}
