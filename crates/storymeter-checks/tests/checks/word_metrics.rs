//! ROUGE-WE and S3 on HANNA's stories, against the released functions
//! (`tools/word_metrics_peer.py`) and HANNA's constants.

use std::path::PathBuf;
use std::sync::Arc;

use storymeter_checks::pairs::{peer_rows, story_pairs};
use storymeter_checks::{Result, present, shared, weights};
use storymeter_core::read::Record;
use storymeter_core::{Catalogue, Resources, Settings};
use storymeter_executor::MetricSet;

/// Scores stories with word vectors from a file and the shared tables of S3.
fn score(metrics: &[&str], vectors: PathBuf, records: &[Record]) -> Result<Vec<Vec<f64>>> {
    let tables = shared("data/s3")?;
    let weights =
        [("word-vectors", vectors), ("s3-tables", tables)].map(|(name, path)| (name.into(), path));
    let settings = Settings { weights: weights.into(), ..Settings::default() };
    let catalogue = Catalogue::new(storymeter_neural::entries());
    let set = MetricSet::new(metrics, &catalogue, Arc::new(Resources::new(settings)))?;
    let batch = set.batch(records)?;
    (0..records.len()).map(|story| present(batch.values(story))).collect()
}

fn rouge_we_and_s3_equal_the_released_functions() -> Result {
    let glove = weights("glove/glove.6B.50d.txt")?;
    let peer = peer_rows("word_metrics.csv.gz")?;
    let mut pairs = story_pairs()?;
    pairs.truncate(528);
    let records: Vec<Record> = peer.iter().map(|(line, _)| pairs[*line].clone()).collect();
    let found = score(&["rouge-we-1", "rouge-we-2", "rouge-we-3", "s3"], glove, &records)?;
    for ((line, theirs), ours) in peer.iter().zip(&found) {
        let theirs = [1, 0, 3, 2, 5, 4, 12, 13].map(|at: usize| theirs[at]);
        let ours = [0, 1, 3, 4, 6, 7, 9, 10].map(|at: usize| ours[at]);
        for (theirs, ours) in theirs.iter().zip(ours) {
            assert!((theirs - ours).abs() < 1e-11, "line {line}: {theirs} {ours}");
        }
    }
    assert_eq!(peer.len(), 33);
    Ok(())
}

/// HANNA's scores of human stories against themselves, which need no vector of any word.
fn equal_texts_get_hannas_constants() -> Result {
    let folder = tempfile::tempdir()?;
    let vectors = folder.path().join("vectors.txt");
    std::fs::write(&vectors, "xylophone 1 2 3\n")?;
    let mut pairs = story_pairs()?;
    pairs.truncate(48);
    assert!(pairs.iter().all(|pair| pair.story.references[0] == pair.story.text), "all human");
    for values in score(&["s3"], vectors, &pairs)? {
        assert!((values[0] - 1.390_798_662_655_976_5).abs() < 1e-12, "{values:?}");
        assert!((values[1] - 1.844_083_188_943_309).abs() < 1e-12, "{values:?}");
    }
    Ok(())
}

storymeter_checks::checks!(
    rouge_we_and_s3_equal_the_released_functions,
    equal_texts_get_hannas_constants,
);
