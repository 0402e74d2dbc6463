//! Summaries and comparisons of rows.

use storymeter_core::{Absence, Progress};
use storymeter_stats::Pairing;

use super::*;

#[test]
fn intervals_of_all_systems_together_resample_items() {
    // Four items that lie far apart, with thirty systems that hardly differ.
    let metrics = metrics(&["text-length"]);
    let mut score_rows = ScoreRows::new(2);
    for system in 0..30 {
        for (item, level) in [10.0, 20.0, 30.0, 40.0].into_iter().enumerate() {
            let story = story(Some(&format!("s{system}")), &format!("item {item}"));
            score_rows.push(&story, &[level + f64::from(system % 3), 1.0]);
        }
    }
    let all = score_rows.all(&metrics, &Resampling::default());
    assert_eq!((all.stories, all.items), (120, Some(4)));
    // scipy 1.17.1: t.interval(0.95, 3, 26, sem([11, 21, 31, 41])). Over stories it would be
    // [24, 28].
    let found = all.columns[0].interval.expect("an interval");
    assert!(
        (found.low - 5.457397432).abs() < 1e-6 && (found.high - 46.542602568).abs() < 1e-6,
        "{found:?}"
    );
    let one = &score_rows.by_system(&metrics, &Resampling::default(), &Progress::unwatched())[0];
    assert_eq!((one.stories, one.items), (4, None));
}

fn story(system: Option<&str>, item: &str) -> Story {
    Story { system: system.map(str::to_owned), item: Some(item.to_owned()), ..Story::default() }
}

fn metrics(typed: &[&str]) -> MetricSet {
    MetricSet::new(typed, &crate::catalogue(), Default::default()).expect("known metrics")
}

#[test]
fn stories_added_in_parts_are_summed_up_as_if_they_came_one_by_one() {
    let metrics = metrics(&["text-length"]);
    let systems = [Some("rain"), None, Some("sun"), Some("rain"), Some("fog"), Some("sun"), None];
    let (mut whole, mut parts) = (ScoreRows::new(2), ScoreRows::new(2));
    for (start, part) in [(0, &systems[..1]), (1, &systems[1..5]), (5, &systems[5..])] {
        let mut score_rows = ScoreRows::new(2);
        for (n, system) in (start..).zip(part) {
            let story = story(*system, &format!("item {}", n % 3));
            whole.push(&story, &[f64::from(n), 1.0]);
            score_rows.push(&story, &[f64::from(n), 1.0]);
        }
        parts.append(score_rows, &metrics);
    }
    assert_eq!(parts.systems(), ["rain", "sun", "fog"]);
    let resampling = Resampling::default().with(|it| it.resamples = 20);
    assert_eq!(parts.all(&metrics, &resampling), whole.all(&metrics, &resampling));
    assert_eq!(parts.system_of, whole.system_of);
    assert_eq!(parts.item_of, whole.item_of);
    let against = |score_rows: &ScoreRows| {
        score_rows
            .against(&Against::new("rain"), &metrics, &resampling, &Progress::unwatched())
            .unwrap()
    };
    assert_eq!(against(&parts), against(&whole));
}

#[test]
fn systems_without_a_shared_item_are_compared_as_two_groups() {
    let metrics = metrics(&["text-length"]);
    let mut score_rows = ScoreRows::new(2);
    for (system, item, length) in
        [("rain", "a", 1.0), ("rain", "b", 2.0), ("sun", "c", 9.0), ("sun", "d", 8.0)]
    {
        score_rows.push(&story(Some(system), item), &[length, 1.0]);
    }
    score_rows.push(&story(Some("fog"), "e"), &[1.0, 1.0]);
    let against = |system| {
        let unseen = Progress::unwatched();
        score_rows.against(&Against::new(system), &metrics, &Resampling::default(), &unseen)
    };
    let found = against("rain").unwrap();
    let sun = found[0].columns[0].clone().unwrap();
    assert_eq!(sun.pairing, Pairing::Unpaired { first: 2, second: 2 });
    assert_eq!((sun.difference.difference, sun.p_value.raw), (7.0, 1.0 / 3.0));
    assert_eq!(found[1].columns[0], Err(Absence::Fewer(2)));
    let unknown = against("run").unwrap_err();
    assert!(unknown.to_string().contains("did you mean \"sun\"?"), "{unknown}");
}
