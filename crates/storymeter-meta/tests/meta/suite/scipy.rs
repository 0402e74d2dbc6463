//! All numbers against scipy and scikit-learn (`tools/suite_fixtures.py`).

use serde::Deserialize;
use storymeter_core::{Absence, Aspect, Column, Direction, Value};
use storymeter_meta::suite::{
    AspectScores, MetricScores, Pairing, SuiteCell, SuiteOptions, SuiteScores, analyse,
};

#[derive(Deserialize)]
struct Fixture {
    resamples: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    aspect: Aspect,
    direction: Direction,
    pairing: Pairing,
    originals: Vec<Option<f64>>,
    twins: Vec<Option<f64>>,
    everything: Vec<Option<f64>>,
    pairs: Expected,
    compat: Expected,
}

#[derive(Deserialize)]
struct Expected {
    originals: usize,
    twins: usize,
    auc: f64,
    r: f64,
    p_r: f64,
    shift: f64,
    low: f64,
    high: f64,
    standard_error: f64,
    right_order: Option<f64>,
    ties: Option<f64>,
    mean_original: f64,
    mean_twin: f64,
    sd: f64,
}

fn values(scores: &[Option<f64>]) -> Vec<Value> {
    scores.iter().map(|score| score.ok_or(Absence::NotGiven)).collect()
}

fn check(cell: &SuiteCell, expected: &Expected, what: &str) {
    let close = |name: &str, ours: f64, theirs: f64| {
        let error = (ours - theirs).abs() / theirs.abs().max(1.0);
        assert!(error < 1e-11, "{what}, {name}: {ours} and {theirs}");
    };
    assert_eq!((cell.originals, cell.twins), (expected.originals, expected.twins), "{what}");
    close("auc", cell.auc.clone().unwrap(), expected.auc);
    close("r", cell.r.clone().unwrap(), expected.r);
    let p = cell.p_r.clone().unwrap();
    assert!((p / expected.p_r - 1.0).abs() < 1e-9, "{what}: p {p} and {}", expected.p_r);
    close("shift", cell.shift.clone().unwrap(), expected.shift);
    close("sd", cell.sd.clone().unwrap(), expected.sd);
    close("mean of originals", cell.mean_original.clone().unwrap(), expected.mean_original);
    close("mean of twins", cell.mean_twin.clone().unwrap(), expected.mean_twin);
    assert_eq!(cell.right_order.clone().ok(), expected.right_order, "{what}");
    assert_eq!(cell.ties.clone().ok(), expected.ties, "{what}");
    // Quantiles of two random samples, each with a standard error of about 0.027 standard errors.
    let slack = 0.15 * expected.standard_error;
    let (low, high) = (cell.shift_low.clone().unwrap(), cell.shift_high.clone().unwrap());
    assert!((low - expected.low).abs() < slack, "{what}: low {low} and {}", expected.low);
    assert!((high - expected.high).abs() < slack, "{what}: high {high} and {}", expected.high);
}

#[test]
fn numbers_are_those_of_scipy_and_scikit_learn() {
    let fixture: Fixture = serde_json::from_str(include_str!("../../fixtures/suite.json")).unwrap();
    assert_eq!(fixture.cases.len(), 9);
    for case in &fixture.cases {
        let scores =
            MetricScores { originals: values(&case.originals), twins: values(&case.twins) };
        let suite = SuiteScores {
            columns: vec![Column::metric("m", case.direction)],
            aspects: vec![AspectScores {
                aspect: case.aspect,
                stories: case.originals.len(),
                left_out: Vec::new(),
                rules: Vec::new(),
                pairing: case.pairing,
                scores: vec![scores],
            }],
            missing: Vec::new(),
            originals: vec![values(&case.everything)],
        };
        for (compat, expected) in [(false, &case.pairs), (true, &case.compat)] {
            let resamples = fixture.resamples;
            let options = SuiteOptions::default().with(|it| {
                it.compat = compat;
                it.resamples = resamples;
            });
            let result = analyse(&suite, &options).unwrap();
            let what = format!("{}, compat: {compat}", case.aspect);
            check(&result.cells[0], expected, &what);
            let paired = !compat && case.pairing == Pairing::Paired;
            let pairs = if paired { expected.twins } else { 0 };
            assert_eq!(result.cells[0].pairs, pairs, "{what}");
        }
    }
}
