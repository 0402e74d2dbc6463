//! Comparisons of systems by their scores alone.

use storymeter_core::{Absence, Column, Direction, Row, ScoreTable, Value};
use storymeter_meta::study::Side;
use storymeter_meta::systems::{
    Caution, Options, Pairing, SystemComparison, compare, compare_systems,
};
use storymeter_meta::view::{conclusion, warnings};
use storymeter_stats::Correction;

use crate::studies::support::noise;

/// A table with one metric. A story is (system, item, value); NaN is an absent value.
fn table(direction: Direction, stories: &[(&str, usize, f64)]) -> ScoreTable {
    let row = |(at, (system, item, _)): (usize, &(&str, usize, f64))| Row {
        id: at.to_string(),
        system: Some((*system).to_owned()),
        item: item.to_string(),
        ..Row::default()
    };
    let value = |(_, _, value): &(&str, usize, f64)| -> Value {
        if value.is_nan() { Err(Absence::NotGiven) } else { Ok(*value) }
    };
    let mut table = ScoreTable::new(stories.iter().enumerate().map(row).collect());
    table.push(Column::metric("union", direction), stories.iter().map(value).collect());
    table
}

/// Systems on the same items, each with a level of its own.
fn shared<'a>(levels: &[(&'a str, f64)], items: usize) -> Vec<(&'a str, usize, f64)> {
    let story = |at: usize, item: usize| {
        let (system, level) = levels[at];
        (system, item, level + 0.5 * noise(item) + 0.3 * noise(1000 * (at + 1) + item) - 0.4)
    };
    (0..levels.len()).flat_map(|at| (0..items).map(move |item| story(at, item))).collect()
}

fn by_union(direction: Direction, stories: &[(&str, usize, f64)]) -> SystemComparison {
    let options = Options::default().with(|it| it.resamples = 1999);
    compare_systems(&table(direction, stories), "union", &options).unwrap()
}

#[test]
fn a_clear_winner_is_named_first_and_the_others_share_a_letter() {
    let stories = shared(&[("rain", 0.40), ("tale", 0.60), ("snow", 0.41)], 48);
    let found = by_union(Direction::Higher, &stories);
    let names: Vec<&str> = found.systems.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names[0], "tale");
    assert_eq!((found.systems[0].rank, found.systems[0].better_than), (1, 2));
    assert_eq!(found.pairs.len(), 3);
    assert_eq!(found.pairs[0].design, Pairing::Paired { items: 48 });
    let letters: Vec<String> = names.iter().map(|name| found.letters(name)).collect();
    assert_eq!(letters, ["a", "b", "b"]);
    assert_eq!(
        conclusion(&found),
        "tale is better than both others by union (p ≤ 0.002 after correction); the other two \
         cannot be told apart with 48 stories each."
    );
    let result = found.pairs[0].found.clone().unwrap();
    let wins = result.items.unwrap();
    assert_eq!(wins.wins + wins.ties + wins.losses, 48);
    let interval = result.interval.clone().unwrap();
    assert!(interval.contains(result.difference) && interval.low > 0.0);
}

#[test]
fn where_less_is_better_the_lowest_mean_is_first() {
    let stories = shared(&[("rain", 0.9), ("tale", 0.5)], 30);
    let found = by_union(Direction::Lower, &stories);
    assert_eq!(found.systems[0].name, "tale");
    let result = found.pairs[0].found.clone().unwrap();
    assert!(result.difference < 0.0, "the difference is in units of the metric");
    assert_eq!(result.better, Some(Side::First));
    assert!(result.items.unwrap().wins > result.items.unwrap().losses);
    assert_eq!(
        conclusion(&found),
        "tale is better than rain by union (p < 0.001) with 30 stories each."
    );
    let described = by_union(Direction::None, &stories);
    assert_eq!(described.systems[0].name, "rain");
    assert!(conclusion(&described).starts_with("rain scores higher than tale by union"));
    assert_eq!(described.cautions, [Caution::NoDirection]);
}

#[test]
fn systems_on_different_items_are_compared_without_pairs() {
    let mut stories = shared(&[("rain", 0.3), ("tale", 0.9)], 20);
    stories.iter_mut().skip(20).for_each(|story| story.1 += 100);
    let found = by_union(Direction::Higher, &stories);
    assert_eq!(found.pairs[0].design, Pairing::Unpaired { first: 20, second: 20 });
    let result = found.pairs[0].found.clone().unwrap();
    assert_eq!((result.items, result.exact, result.better), (None, false, Some(Side::First)));
    assert_eq!(result.p_value.raw, 1.0 / 2000.0);

    // A few items in common are not worth a paired test; half of them are.
    stories.iter_mut().skip(20).take(9).for_each(|story| story.1 -= 100);
    let found = by_union(Direction::Higher, &stories);
    assert_eq!(found.pairs[0].design, Pairing::Unpaired { first: 20, second: 20 });
    stories[29].1 -= 100;
    let found = by_union(Direction::Higher, &stories);
    assert_eq!(found.pairs[0].design, Pairing::Paired { items: 10 });
    assert!(warnings(&found)[0].contains("on the 10 items that both have"));
}

#[test]
fn several_stories_of_one_item_count_by_their_mean() {
    let twice = [("a", 0, 1.0), ("a", 0, 3.0), ("a", 1, 5.0), ("b", 0, 1.0), ("b", 1, 4.0)];
    let found = by_union(Direction::Higher, &twice);
    assert_eq!(found.systems[0].mean, Ok(3.0), "the mean over stories");
    assert_eq!(found.pairs[0].found.clone().unwrap().difference, 1.0, "the mean over items");
    assert!(found.cautions.contains(&Caution::Averaged { system: "a".into(), items: 1 }));
}

#[test]
fn a_system_that_could_not_be_tested_is_not_claimed_to_be_equal() {
    let mut stories = shared(&[("rain", 0.40), ("tale", 0.60)], 48);
    stories.push(("snow", 0, 0.5));
    let found = by_union(Direction::Higher, &stories);
    assert_eq!(found.pair("tale", "snow").unwrap().found, Err(Absence::Fewer(2)));
    assert_eq!(
        conclusion(&found),
        "tale is better than rain by union (p < 0.001 after correction); snow could not be \
         compared with tale."
    );
    let options = Options::default().with(|it| it.against = Some("snow".into()));
    let found = compare_systems(&table(Direction::Higher, &stories), "union", &options).unwrap();
    assert_eq!(conclusion(&found), "tale and rain could not be compared with snow.");
}

#[test]
fn where_nothing_differs_it_says_so() {
    let stories = shared(&[("rain", 0.5), ("tale", 0.5), ("snow", 0.5)], 24);
    let found = by_union(Direction::Higher, &stories);
    let sentence = conclusion(&found);
    assert!(
        sentence.starts_with(
            "No difference was found between the 3 systems by union with 24 stories each"
        ),
        "{sentence}"
    );
    assert_eq!(found.clusters.len(), 1);

    let equal: Vec<_> = stories.iter().map(|&(system, item, _)| (system, item, 0.25)).collect();
    let found = by_union(Direction::Higher, &equal);
    assert_eq!(found.systems.iter().map(|one| one.rank).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(found.pairs[0].found.clone().unwrap().p_value.raw, 1.0);
    assert_eq!(found.pairs[0].found.clone().unwrap().effect, Err(Absence::Constant));
    assert_eq!(
        conclusion(&found),
        "No difference was found between the 3 systems by union: all values are equal."
    );
}

#[test]
fn one_system_or_none_with_a_value_is_nothing_to_compare() {
    let found = by_union(Direction::Higher, &[("rain", 0, 0.25), ("rain", 1, 0.75)]);
    assert_eq!(
        conclusion(&found),
        "There is only one system with values of union (rain, mean 0.500), so there is nothing to \
         compare it with."
    );
    let found = by_union(Direction::Higher, &[("rain", 0, f64::NAN), ("tale", 0, f64::NAN)]);
    assert_eq!(
        conclusion(&found),
        "union has no value for any story, so there is nothing to compare."
    );
    assert_eq!(found.pairs[0].found, Err(Absence::Empty));
    let found = by_union(Direction::Higher, &[("rain", 0, 0.1), ("tale", 0, 0.2)]);
    assert_eq!(conclusion(&found), "There are too few stories to compare tale and rain by union.");
}

#[test]
fn too_few_stories_for_the_difference_that_is_there_are_a_warning() {
    let stories = shared(&[("rain", 0.50), ("tale", 0.58)], 12);
    let found = by_union(Direction::Higher, &stories);
    assert!(!found.pairs[0].is_significant(), "{:?}", found.pairs);
    let told = warnings(&found).concat();
    assert!(told.contains("12 stories are too few to be sure of it: about"), "{told}");

    let found = by_union(Direction::Higher, &shared(&[("rain", 0.1), ("tale", 0.9)], 4));
    let told = warnings(&found).concat();
    assert!(told.contains("4 stories to compare: with fewer than 6, no difference can"), "{told}");
}

#[test]
fn no_difference_is_ruled_out_that_a_correction_lets_through() {
    let stories: Vec<(&str, usize, f64)> = (0..6)
        .flat_map(|item| {
            let value = noise(item) / 100.0;
            [("rain", item, 1.0 + value), ("tale", item, 2.0 + value), ("snow", item, 3.0 + value)]
        })
        .collect();
    let said = |correction| {
        let options = Options::default().with(|it| it.correction = correction);
        let table = table(Direction::Higher, &stories);
        let found = compare_systems(&table, "union", &options).unwrap();
        let ruled_out = |caution: &&Caution| matches!(caution, Caution::NeverSignificant { .. });
        (found.systems[0].better_than, found.cautions.iter().filter(ruled_out).count())
    };
    // Each p-value is 2 / 2^6 = 0.031: too large for Holm's first step, and small enough for all
    // steps of Benjamini and Hochberg.
    assert_eq!(said(Correction::Holm), (0, 3));
    assert_eq!(said(Correction::BenjaminiHochberg), (2, 0));
}

#[test]
fn people_are_named_apart_from_machines() {
    let levels = [("Human", 0.9), ("rain", 0.4), ("tale", 0.6)];
    let found = by_union(Direction::Higher, &shared(&levels, 40));
    assert_eq!(
        conclusion(&found),
        "tale is better than rain by union (p = 0.002 after correction) with 40 stories each; the \
         stories of Human are better than all of theirs."
    );
}

#[test]
fn only_pairs_with_one_system_are_tested_where_it_is_named() {
    let levels = [("rain", 0.4), ("tale", 0.6), ("snow", 0.41)];
    let table = table(Direction::Higher, &shared(&levels, 48));
    let options = Options::default().with(|it| {
        it.against = Some("rain".into());
        it.resamples = 1999;
    });
    let found = compare(&table, &options).unwrap().remove(0);
    assert_eq!(found.pairs.len(), 2);
    assert!(found.clusters.is_empty());
    assert_eq!(
        conclusion(&found),
        "tale is better than rain by union (p = 0.001 after correction); snow cannot be told apart \
         from rain with 48 stories each."
    );
    let unknown = options.with(|it| it.against = Some("rein".into()));
    assert_eq!(
        compare(&table, &unknown).unwrap_err().to_string(),
        "there is no system \"rein\"; did you mean \"rain\"? There are: rain, tale, snow"
    );
}

#[test]
fn a_comparison_is_the_same_for_any_number_of_threads_and_survives_json() {
    let stories = shared(&[("rain", 0.40), ("tale", 0.60), ("snow", 0.41)], 48);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| by_union(Direction::Higher, &stories))
    };
    let found = run(1);
    assert_eq!(found, run(4));
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<SystemComparison>(&json).unwrap(), found);
}
