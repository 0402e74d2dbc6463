//! What changed between two studies or two score tables, with a test that fits the stories.

use storymeter_core::{Absence, Column, Direction, Ratings, Row, ScoreTable};
use storymeter_meta::changes::{Change, Changes, Method};
use storymeter_meta::table::{Options, analyse};
use storymeter_meta::{Coefficient, Level, Study};
use storymeter_stats::{SharedCorrelations, fisher_difference};

/// The rating of a story, and a score that differs from it by noise.
fn numbers(at: usize, noise: f64) -> (f64, f64) {
    let rating = (at * 7 % 11) as f64;
    (rating, rating + noise * (at * 5 % 13) as f64)
}

/// A score table of stories `prefix0`, `prefix1`, ... of three systems.
fn table(prefix: &str, count: usize, noise: f64) -> ScoreTable {
    let row = |at: usize| {
        let mut ratings = Ratings::new();
        ratings.push("plot/pace", Some(numbers(at, noise).0));
        let (system, item) = (Some(format!("S{}", at % 3)), (at / 3).to_string());
        Row { id: format!("{prefix}{at}"), system, item, ratings, ..Row::default() }
    };
    let mut table = ScoreTable::new((0..count).map(row).collect());
    let scores = (0..count).map(|at| Ok(numbers(at, noise).1)).collect();
    table.push(Column::metric("m", Direction::Higher), scores);
    table
}

fn study(table: &ScoreTable) -> Study {
    analyse(table, &Options::default()).unwrap()
}

fn changed(before: &ScoreTable, after: &ScoreTable) -> Changes {
    Changes::between_studies((&study(before), Some(before)), (&study(after), Some(after)))
}

fn one(changes: &Changes, level: Level, coefficient: Coefficient) -> &Change {
    let is_wanted = |one: &&Change| one.level == level && one.coefficient == coefficient;
    changes.changes.iter().find(is_wanted).unwrap()
}

#[test]
fn studies_of_the_same_stories_get_a_paired_test() {
    let (before, after) = (table("s", 60, 0.2), table("s", 60, 2.0));
    let found = changed(&before, &after);
    assert_eq!(found.method, Method::SameStories(60));
    let pooled = one(&found, Level::Pooled, Coefficient::Pearson);
    let column = |noise| (0..60).map(|at| numbers(at, noise).1).collect::<Vec<f64>>();
    let human: Vec<f64> = (0..60).map(|at| numbers(at, 0.0).0).collect();
    let pearson = Coefficient::Pearson;
    let expected = SharedCorrelations::from_columns(pearson, &human, &column(2.0), &column(0.2));
    let expected = expected.unwrap().williams().unwrap().p_two_sided;
    let test = pooled.test.as_ref().unwrap();
    assert_eq!((test.p_value.raw.to_bits(), test.n), (expected.to_bits(), (60, None)));
    assert!(pooled.is_significant() && !pooled.is_stronger(), "{pooled:?}");
    let story = one(&found, Level::Story, Coefficient::Pearson);
    assert_eq!(story.test.as_ref().unwrap().n, (20, None));
    let ranks = one(&found, Level::Pooled, Coefficient::Spearman);
    assert_eq!(ranks.test, Err(Absence::OnlyPearson));
}

#[test]
fn studies_of_other_stories_get_fishers_test_and_its_two_counts() {
    let found = changed(&table("a", 60, 0.2), &table("b", 60, 2.0));
    assert_eq!(found.method, Method::OtherStories);
    let pooled = one(&found, Level::Pooled, Coefficient::Pearson);
    let sides = (pooled.after.clone().unwrap(), pooled.before.clone().unwrap());
    let expected = fisher_difference(Coefficient::Pearson, (sides.0, 60), (sides.1, 60)).unwrap();
    let test = pooled.test.as_ref().unwrap();
    assert_eq!(test.p_value.raw.to_bits(), expected.p_two_sided.to_bits());
    assert_eq!(test.n, (60, Some(60)));
    let story = one(&found, Level::Story, Coefficient::Pearson);
    assert_eq!(story.test, Err(Absence::MeanOfCoefficients));
}

#[test]
fn without_the_right_score_tables_nothing_is_tested_and_there_is_a_reason() {
    let (before, after) = (table("s", 60, 0.2), table("s", 60, 2.0));
    let (first, later) = (study(&before), study(&after));
    let without = Changes::between_studies((&first, None), (&later, None));
    let swapped = Changes::between_studies((&first, Some(&after)), (&later, Some(&before)));
    for (found, reason) in [(without, Absence::NoScoreTables), (swapped, Absence::OtherScoreTables)]
    {
        assert_eq!(found.method, Method::Untested(reason.clone()));
        assert!(!found.changes.is_empty());
        assert!(found.changes.iter().all(|one| one.test == Err(reason.clone())));
    }
}

#[test]
fn score_tables_alone_are_compared_on_their_shared_stories() {
    let found = Changes::between_tables(&table("s", 60, 0.2), &table("s", 45, 2.0)).unwrap();
    assert_eq!((found.method, found.shared), (Method::SameStories(45), 3));
    let n = |level: Level| {
        let is_own = |one: &&Change| one.level == level;
        found.changes.iter().find(is_own).unwrap().test.as_ref().map(|test| test.n)
    };
    assert_eq!(n(Level::Pooled), Ok((45, None)));
    assert!(n(Level::System).is_err(), "three systems are too few for a test");
}
