//! Scores for the tests.

use storymeter_core::{Absence, Aspect, Column, Direction, Value};
use storymeter_meta::suite::{
    AspectScores, MetricScores, Pairing, SuiteOptions, SuiteResult, SuiteScores, analyse,
};

/// Numbers without any pattern, roughly normal with standard deviation 1.
pub fn noise(number: usize) -> f64 {
    let uniform = |at: usize| {
        let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..12).map(|part| uniform(number * 12 + part)).sum::<f64>() - 6.0
}

pub fn absent() -> Value {
    Err(Absence::because("no tokens"))
}

pub fn present(values: &[f64]) -> Vec<Value> {
    values.iter().map(|value| Ok(*value)).collect()
}

/// One aspect with pairs: one entry per metric, of originals and twins.
pub fn aspect(aspect: Aspect, scores: &[(Vec<f64>, Vec<f64>)]) -> AspectScores {
    let scores: Vec<MetricScores> = scores
        .iter()
        .map(|(originals, twins)| MetricScores {
            originals: present(originals),
            twins: present(twins),
        })
        .collect();
    let stories = scores.first().map_or(0, |one| one.originals.len());
    AspectScores {
        aspect,
        stories,
        left_out: Vec::new(),
        rules: Vec::new(),
        pairing: Pairing::Paired,
        scores,
    }
}

/// Metrics for which more is better.
pub fn metrics(names: &[&str]) -> Vec<Column> {
    names.iter().map(|name| Column::metric(*name, Direction::Higher)).collect()
}

/// Pairs whose twins score lower by so many standard deviations, and a little noise.
pub fn shifted(pairs: usize, by: f64, salt: usize) -> (Vec<f64>, Vec<f64>) {
    let originals: Vec<f64> = (0..pairs).map(|at| noise(at + 100_000 * salt)).collect();
    let twin = |at: usize| originals[at] - by + 0.1 * noise(at + 100_000 * salt + 50_000);
    let twins = (0..pairs).map(twin).collect();
    (originals, twins)
}

/// The suite of one metric called `union`, with pairs shifted as given.
pub fn suite_of(shifts: &[(Aspect, f64)]) -> SuiteScores {
    let aspects = shifts.iter().enumerate();
    let aspects = aspects.map(|(salt, (own, by))| aspect(*own, &[shifted(400, *by, salt)]));
    SuiteScores {
        columns: metrics(&["union"]),
        aspects: aspects.collect(),
        ..SuiteScores::default()
    }
}

pub fn run(scores: &SuiteScores) -> SuiteResult {
    analyse(scores, &SuiteOptions::default()).unwrap()
}

/// Aspects of both tests, of which the metric sees some.
pub fn example() -> SuiteScores {
    suite_of(&[
        (Aspect::LexicalRepetition, 2.8),
        (Aspect::Relatedness, 1.4),
        (Aspect::Time, 0.25),
        (Aspect::Cause, 0.02),
        (Aspect::Synonym, 0.2),
        (Aspect::Contraction, 0.01),
        (Aspect::Typo, 0.12),
    ])
}
