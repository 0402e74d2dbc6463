//! METEOR on real stories: against HANNA's published values, the jar and NLTK.

use storymeter_checks::hanna_metrics::{METEOR, compare};
use storymeter_checks::pairs::{peer_rows, story_pairs};
use storymeter_checks::{meteor_data, shared};
use storymeter_metrics::{Options, Scorer};

#[test]
fn values_equal_those_hanna_published() {
    let Some(path) = shared("data/annotated/hanna/stories_first48.jsonl.gz") else { return };
    if meteor_data().is_none() {
        return;
    }
    let rows = compare(&path, &[METEOR]).expect("file and tables are good");
    assert_eq!((rows[0].stories, rows[0].equal), (528, 528), "{}", rows[0].largest);
}

/// The largest difference on all pairs; `column` is the peer's in the fixture.
fn largest_difference(id: &str, options: &Options, column: usize) -> Option<f64> {
    let pairs = story_pairs()?;
    let scorer = Scorer::new(&[id], options).expect("a known metric");
    let ours = scorer.batch(&pairs).expect("all have references");
    let theirs = peer_rows("meteor.csv.gz");
    assert_eq!(theirs.len(), 2328);
    let difference =
        |(pair, numbers): &(usize, Vec<f64>)| (ours.scores(*pair)[0] - numbers[column]).abs();
    Some(theirs.iter().map(difference).fold(0.0, f64::max))
}

#[test]
fn the_jar_agrees_to_a_billionth_on_2328_pairs() {
    let Some(folder) = meteor_data() else { return };
    let options = Options { meteor_data: Some(folder), ..Options::default() };
    let Some(largest) = largest_difference("meteor", &options, 0) else { return };
    assert!(largest < 1e-9, "{largest}");
}

#[test]
fn nltk_agrees_to_a_billionth_on_2328_pairs() {
    let Some(largest) = largest_difference("meteor:nltk", &Options::default(), 1) else { return };
    assert!(largest < 1e-9, "{largest}");
}
