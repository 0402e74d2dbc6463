//! ROUGE-WE with the vectors of GloVe, against the released functions.

use storymeter_checks::{Result, weights};
use storymeter_core::Settings;

use super::scoring::{pair, score_with};
use super::support::{A, B, C};

fn rouge_we_equals_the_reference_with_glove() -> Result {
    let glove = weights("glove/glove.6B.50d.txt")?;
    // P and R for n = 1, 2 and 3.
    let check = |story: &str, expected: [(f64, f64); 3]| -> Result {
        let weights = [("word-vectors".to_owned(), glove.clone())].into();
        let settings = Settings { weights, ..Settings::default() };
        let metrics = ["rouge-we-1", "rouge-we-2", "rouge-we-3"];
        let scored = score_with(&metrics, settings, &[pair(story, &[C])], 1)?;
        for (found, (precision, recall)) in scored.values[0].chunks(3).zip(expected) {
            let f = 2.0 * precision * recall / (precision + recall);
            for (found, expected) in found.iter().zip([recall, precision, f]) {
                let found = found.clone()?;
                assert!((found - expected).abs() <= 1e-9, "{found} is not {expected}");
            }
        }
        Ok(())
    };
    check(
        A,
        [(0.6571428571, 0.6388888889), (0.7941176471, 0.7714285714), (0.9090909091, 0.8823529412)],
    )?;
    check(B, [(0.5882352941, 0.5555555556), (0.7272727273, 0.6857142857), (0.9375, 0.8823529412)])
}

storymeter_checks::checks!(rouge_we_equals_the_reference_with_glove);
