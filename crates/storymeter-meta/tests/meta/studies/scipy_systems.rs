//! Comparisons of systems against scipy (`tools/compare_fixtures.py`).

use std::collections::BTreeMap;

use serde::Deserialize;
use storymeter_core::{Column, Direction, Row, ScoreTable};
use storymeter_meta::systems::{Options, Pairing, compare_systems};
use storymeter_stats::{Interval, PowerTarget, Resampling, Sample, Score, compare_samples};

#[derive(Deserialize)]
struct Fixture {
    resamples: usize,
    confidence: f64,
    cases: Vec<Case>,
    repeated: Repeated,
    pooled: Pooled,
    sizes: Vec<Size>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    direction: Direction,
    paired: bool,
    scores: BTreeMap<String, Vec<f64>>,
    systems: Vec<System>,
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct System {
    name: String,
    mean: f64,
    sd: f64,
    low: f64,
    high: f64,
    standard_error: f64,
}

#[derive(Deserialize)]
struct Pair {
    first: String,
    second: String,
    difference: f64,
    low: f64,
    high: f64,
    standard_error: f64,
    effect: f64,
    p: f64,
    corrected: f64,
    wins: Option<usize>,
    losses: Option<usize>,
}

/// Two systems with several stories for some items.
#[derive(Deserialize)]
struct Repeated {
    /// By system, by item, the scores of the stories.
    stories: BTreeMap<String, Vec<Vec<f64>>>,
    systems: BTreeMap<String, Mean>,
    difference: f64,
    low: f64,
    high: f64,
    p: f64,
    wins: usize,
}

#[derive(Deserialize)]
struct Mean {
    mean: f64,
    low: f64,
    high: f64,
}

/// Two systems by a ratio of sums over stories.
#[derive(Deserialize)]
struct Pooled {
    /// By system, by item, the two numbers that are summed.
    rows: [Vec<[f64; 2]>; 2],
    difference: f64,
    low: f64,
    high: f64,
    p: f64,
    p_one_sided: f64,
}

#[derive(Deserialize)]
struct Size {
    effect: f64,
    level: f64,
    power: f64,
    pairs: u64,
    per_group: u64,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../../fixtures/systems.json")).unwrap()
}

impl Case {
    /// The scores as a table. Systems on different items have items of their own.
    fn table(&self) -> ScoreTable {
        let row = |system: &String, at: usize| Row {
            id: at.to_string(),
            system: Some(system.clone()),
            item: if self.paired { at.to_string() } else { format!("{system}-{at}") },
            ..Row::default()
        };
        let rows = self.scores.iter().flat_map(|(system, values)| {
            (0..values.len()).map(|at| row(system, at)).collect::<Vec<_>>()
        });
        let mut table = ScoreTable::new(rows.collect());
        let values = self.scores.values().flatten().map(|value| Ok(*value)).collect();
        table.push(Column::metric("score", self.direction), values);
        table
    }
}

/// Four standard errors of the difference of two random shares of this size.
fn share_error(p: f64, first: usize, second: usize) -> f64 {
    let variance = (p * (1.0 - p)).max(1e-4);
    4.0 * (variance / first as f64 + variance / second as f64).sqrt()
}

/// Four standard errors of a random 2.5% quantile of a bell-shaped distribution. Intervals of
/// Student's t, which have no standard error in the fixture, are equal.
fn check_interval(found: Interval, low: f64, high: f64, standard_error: f64, what: &str) {
    let slack = 0.12 * standard_error + 1e-9;
    assert!((found.low - low).abs() < slack, "{what}: low {} and {low}", found.low);
    assert!((found.high - high).abs() < slack, "{what}: high {} and {high}", found.high);
}

#[test]
fn rankings_intervals_and_tests_are_those_of_scipy() {
    let fixture = fixture();
    for case in &fixture.cases {
        let options = Options::default().with(|it| it.confidence = fixture.confidence);
        let found = compare_systems(&case.table(), "score", &options).unwrap();
        for (system, expected) in found.systems.iter().zip(&case.systems) {
            let what = format!("{}, {}", case.name, expected.name);
            assert_eq!(system.name, expected.name, "{what}: the order");
            assert!((system.mean.clone().unwrap() - expected.mean).abs() < 1e-12, "{what}: mean");
            assert!((system.sd.clone().unwrap() - expected.sd).abs() < 1e-12, "{what}: sd");
            let (low, high) = (expected.low, expected.high);
            check_interval(
                system.interval.clone().unwrap(),
                low,
                high,
                expected.standard_error,
                &what,
            );
        }
        assert_eq!(found.pairs.len(), case.pairs.len());
        for (pair, expected) in found.pairs.iter().zip(&case.pairs) {
            let what = format!("{}, {} and {}", case.name, expected.first, expected.second);
            assert_eq!((&pair.first, &pair.second), (&expected.first, &expected.second));
            assert_eq!(matches!(pair.design, Pairing::Paired { .. }), case.paired, "{what}");
            let result = pair.found.clone().unwrap();
            assert!((result.difference - expected.difference).abs() < 1e-12, "{what}");
            assert!((result.effect.clone().unwrap() - expected.effect).abs() < 1e-12, "{what}");
            assert_eq!(result.items.map(|items| items.wins), expected.wins, "{what}");
            assert_eq!(result.items.map(|items| items.losses), expected.losses, "{what}");
            let (low, high) = (expected.low, expected.high);
            check_interval(
                result.interval.clone().unwrap(),
                low,
                high,
                expected.standard_error,
                &what,
            );
            // Where all permutations are tried on both sides, p is the same number.
            let error = match result.exact {
                true => 1e-12,
                false => share_error(expected.p, options.resamples, fixture.resamples),
            };
            let (raw, p) = (result.p_value.raw, expected.p);
            assert!((raw - p).abs() <= error, "{what}: p {raw} and {p}");
            let (ours, theirs) = (result.p_value.corrected, expected.corrected);
            let most = case.pairs.len() as f64 * error;
            assert!((ours - theirs).abs() <= most, "{what}: corrected {ours} and {theirs}");
        }
    }
    let small = fixture.cases.iter().filter(|case| case.name.starts_with("e"));
    assert_eq!(small.count(), 2, "both tests are exact on few stories");
}

#[test]
fn several_stories_of_an_item_are_one_observation() {
    let Repeated { stories, systems, difference, low, high, p, wins } = fixture().repeated;
    let row = |system: &String, item: usize, story: usize| Row {
        id: format!("{item}-{story}"),
        system: Some(system.clone()),
        item: item.to_string(),
        ..Row::default()
    };
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for (system, items) in &stories {
        for (item, scores) in items.iter().enumerate() {
            for (story, score) in scores.iter().enumerate() {
                rows.push(row(system, item, story));
                values.push(Ok(*score));
            }
        }
    }
    let mut table = ScoreTable::new(rows);
    table.push(Column::metric("score", Direction::Higher), values);
    let found = compare_systems(&table, "score", &Options::default()).unwrap();
    let close = |ours: f64, theirs: f64, what: &str| {
        assert!((ours - theirs).abs() < 1e-9, "{what}: {ours} and {theirs}");
    };
    for system in &found.systems {
        let (expected, interval) = (&systems[&system.name], system.interval.clone().unwrap());
        close(system.mean.clone().unwrap(), expected.mean, "mean");
        close(interval.low, expected.low, "low");
        close(interval.high, expected.high, "high");
    }
    let pair = &found.pairs[0];
    assert_eq!((pair.first.as_str(), pair.design), ("tale", Pairing::Paired { items: 12 }));
    let result = pair.found.clone().unwrap();
    close(result.difference, difference, "difference");
    close(result.interval.clone().unwrap().low, low, "low");
    close(result.interval.clone().unwrap().high, high, "high");
    close(result.p_value.raw, p, "p");
    assert_eq!((result.exact, result.items.unwrap().wins), (true, wins));
}

#[test]
fn a_score_of_sums_is_compared_as_scipy_compares_it() {
    let Pooled { rows, difference, low, high, p, p_one_sided } = fixture().pooled;
    let sample = |rows: &Vec<[f64; 2]>| {
        let mut sample = Sample::new(2);
        (0..).zip(rows).for_each(|(item, row)| sample.push(item, row));
        sample
    };
    let ratio = |sums: &[f64], scores: &mut [f64]| scores[0] = sums[0] / sums[1];
    let score = Score::OfSums { columns: 1, score: &ratio };
    let [a, b] = [0, 1].map(|system: usize| sample(&rows[system]));
    let found = compare_samples(&a, &b, score, &Resampling::default()).unwrap().columns[0];
    for (ours, theirs) in [
        (found.difference, difference),
        (found.interval.low, low),
        (found.interval.high, high),
        (found.p_two_sided, p),
        (found.p_one_sided, p_one_sided),
    ] {
        assert!((ours - theirs).abs() < 1e-9, "{ours} and {theirs}: {found:?}");
    }
    assert!(found.exact);
}

#[test]
fn the_number_of_stories_needed_is_that_of_the_t_test() {
    for size in fixture().sizes {
        let target = PowerTarget { level: size.level, power: size.power };
        let (pairs, groups) = (
            target.pairs_needed(size.effect).unwrap(),
            target.per_group_needed(size.effect).unwrap(),
        );
        // The formula is an approximation that is within one or two of the exact number.
        assert!(pairs.abs_diff(size.pairs) <= 2, "{} pairs, {pairs}", size.pairs);
        assert!(groups.abs_diff(size.per_group) <= 2, "{} each, {groups}", size.per_group);
    }
}
