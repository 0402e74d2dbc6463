//! Sums against the rows that they are made of.

use storymeter_core::{Place, Progress, Story, read::Record};
use storymeter_executor::MetricSet;
use storymeter_metrics::catalogue;

use crate::summary::{Resampling, ScoreRows};

const METRICS: [&str; 4] = ["bleu", "chrf", "text-length", "distinct-2"];

/// Stories of two systems and of none.
fn rows(metrics: &MetricSet, stories: usize) -> Vec<(Story, Vec<f64>)> {
    let words = ["rain", "fell", "all", "night", "and", "the", "lamp", "went", "out"];
    let text = |seed: usize, length: usize| {
        let word = |at: usize| words[(seed * 31 + at * at * 7 + seed / 3) % words.len()];
        (0..length).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..stories)
        .map(|number| {
            let story = Story {
                id: number.to_string(),
                system: [None, Some("rain".into()), Some("sun".into())][number % 3].clone(),
                text: text(number, 3 + number % 11),
                references: vec![text(number + 1, 4 + number % 7)],
                ..Story::default()
            };
            let record = Record { story, number: number as u64, place: Place::default() };
            let batch = metrics.batch(std::slice::from_ref(&record)).unwrap();
            (record.story, batch.stats(0).to_vec())
        })
        .collect()
}

fn metrics() -> MetricSet {
    MetricSet::new(&METRICS, &catalogue(), Default::default()).unwrap()
}

fn score_rows(metrics: &MetricSet, rows: &[(Story, Vec<f64>)], most: usize) -> ScoreRows {
    let mut score_rows = ScoreRows::new(metrics.width()).most_rows(most);
    for (story, row) in rows {
        let mut one = ScoreRows::new(metrics.width());
        one.push(story, row);
        score_rows.append(one, metrics);
    }
    score_rows
}

#[test]
fn sums_give_the_scores_of_the_rows() {
    let metrics = metrics();
    let rows = rows(&metrics, 500);
    let resampling = Resampling::default().with(|it| it.resamples = 400);
    let (few, many) = (score_rows(&metrics, &rows, 500), score_rows(&metrics, &rows, 499));
    assert!(!few.is_summed() && many.is_condensed());
    assert_eq!(few.systems(), many.systems());
    let unseen = Progress::unwatched();
    let all = |score_rows: &ScoreRows| {
        let mut all = vec![score_rows.all(&metrics, &resampling)];
        all.extend(score_rows.by_system(&metrics, &resampling, &unseen));
        all
    };
    for (drawn, normal) in all(&few).iter().zip(all(&many)) {
        assert_eq!((&drawn.system, drawn.stories), (&normal.system, normal.stories));
        for (drawn, normal) in drawn.columns.iter().zip(&normal.columns) {
            let (a, b) = (drawn.score.clone().unwrap(), normal.score.clone().unwrap());
            assert!((a - b).abs() < 1e-9 * a.abs(), "{a} {b}");
            // The bootstrap and the normal interval are about equally wide.
            let (a, b) = (drawn.interval.unwrap(), normal.interval.unwrap());
            let ratio = (a.high - a.low) / (b.high - b.low);
            assert!((0.8..1.25).contains(&ratio), "{a:?} {b:?}");
        }
    }
}

#[test]
fn sums_do_not_depend_on_the_order_or_on_the_parts() {
    let metrics = metrics();
    let rows = rows(&metrics, 60);
    let whole = score_rows(&metrics, &rows, usize::MAX).sums(&metrics).into_owned();
    // The systems keep their order, which is that of their first stories.
    let mut other = rows[..3].to_vec();
    other.extend(rows[3..].iter().rev().cloned());
    for most in [usize::MAX, 30, 0] {
        assert_eq!(*score_rows(&metrics, &other, most).sums(&metrics), whole);
    }
}

#[test]
fn nothing_has_no_score() {
    let metrics = metrics();
    let mut score_rows = ScoreRows::new(metrics.width());
    score_rows.condense(&metrics);
    let all = score_rows.all(&metrics, &Resampling::default());
    assert_eq!(all.stories, 0);
    assert!(all.columns.iter().all(|column| column.score.is_err() && column.interval.is_none()));
}
