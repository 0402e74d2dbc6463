//! ROUGE on real stories: against the values that HANNA published, the Perl program and
//! rouge-score.

use storymeter_checks::hanna_metrics::{compare, rouge_columns};
use storymeter_checks::pairs::{peer_rows, story_pairs};
use storymeter_checks::{Result, present, score, shared};
use storymeter_core::Settings;

fn all_24_columns_equal_those_hanna_published() -> Result {
    let path = shared("data/annotated/hanna/stories_first48.jsonl.gz")?;
    let columns: Vec<_> = rouge_columns().collect();
    let rows = compare(&path, &columns)?;
    assert_eq!(rows.len(), 24);
    for row in rows {
        let key = row.expectation.key;
        assert_eq!((row.stories, row.equal), (528, 528), "{key}: {}", row.largest);
    }
    Ok(())
}

fn the_perl_program_prints_the_same_on_2328_pairs() -> Result {
    let (_, ours) = score(&["rouge:155"], Settings::default(), &story_pairs()?)?;
    let theirs = peer_rows("rouge_perl.csv.gz")?;
    assert_eq!(theirs.len(), 2328);
    for (pair, printed) in theirs {
        let rounded: Vec<f64> =
            present(ours.values(pair))?.iter().map(|score| (score * 1e5).round()).collect();
        assert_eq!(rounded, printed, "pair {pair}");
    }
    Ok(())
}

fn rouge_score_agrees_to_a_billionth_on_2328_pairs() -> Result {
    let pairs = story_pairs()?;
    let theirs = peer_rows("rouge_google.csv.gz")?;
    assert_eq!(theirs.len(), 2328);
    let mut compared = 0;
    for (metric, columns) in [("rouge:google", 0..4), ("rouge:google-stem", 4..8)] {
        let (_, ours) = score(&[metric], Settings::default(), &pairs)?;
        for (pair, numbers) in &theirs {
            // Recall, precision and F-score take turns; the fixture has the F-scores.
            let f_scores = present(ours.values(*pair))?.into_iter().skip(2).step_by(3);
            for (ours, theirs) in f_scores.zip(&numbers[columns.clone()]) {
                assert!((ours - theirs).abs() < 1e-9, "{metric}, {pair}: {ours} and {theirs}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2328 * 8);
    Ok(())
}

storymeter_checks::checks!(
    all_24_columns_equal_those_hanna_published,
    the_perl_program_prints_the_same_on_2328_pairs,
    rouge_score_agrees_to_a_billionth_on_2328_pairs,
);
