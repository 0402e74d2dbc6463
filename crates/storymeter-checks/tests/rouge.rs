//! ROUGE on real stories: against HANNA's published values, the Perl program and rouge-score.

use storymeter_checks::hanna_metrics::{compare, rouge_columns};
use storymeter_checks::pairs::{peer_rows, story_pairs};
use storymeter_checks::shared;
use storymeter_metrics::{Options, Scorer};

#[test]
fn all_24_columns_equal_those_hanna_published() {
    let Some(path) = shared("data/annotated/hanna/stories_first48.jsonl.gz") else { return };
    let columns: Vec<_> = rouge_columns().collect();
    assert_eq!(columns.len(), 24);
    for row in compare(&path, &columns).expect("the file is good") {
        assert_eq!((row.stories, row.equal), (528, 528), "{}: {}", row.expectation.id, row.largest);
    }
}

#[test]
fn the_perl_program_prints_the_same_on_2328_pairs() {
    let Some(pairs) = story_pairs() else { return };
    let scorer = Scorer::new(&["rouge:155"], &Options::default()).expect("a known metric");
    let ours = scorer.batch(&pairs).expect("all have references");
    let theirs = peer_rows("rouge_perl.csv.gz");
    assert_eq!(theirs.len(), 2328);
    for (pair, printed) in theirs {
        let rounded: Vec<f64> =
            ours.scores(pair).iter().map(|score| (score * 1e5).round()).collect();
        assert_eq!(rounded, printed, "pair {pair}");
    }
}

#[test]
fn rouge_score_agrees_to_a_billionth_on_2328_pairs() {
    let Some(pairs) = story_pairs() else { return };
    let theirs = peer_rows("rouge_google.csv.gz");
    assert_eq!(theirs.len(), 2328);
    for (id, columns) in [("rouge:google", 0..4), ("rouge:google-stem", 4..8)] {
        let scorer = Scorer::new(&[id], &Options::default()).expect("a known metric");
        let ours = scorer.batch(&pairs).expect("all have references");
        for (pair, numbers) in &theirs {
            let f = ours.scores(*pair).iter().skip(2).step_by(3);
            for (ours, theirs) in f.zip(&numbers[columns.clone()]) {
                assert!((ours - theirs).abs() < 1e-9, "{id}, pair {pair}: {ours} and {theirs}");
            }
        }
    }
}
