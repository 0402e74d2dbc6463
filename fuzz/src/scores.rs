//! Score files and their headers.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use storymeter::Scorer;
use storymeter::summary::{Resampling, read_rows};
use storymeter::shards::{self, MergeOptions};
use storymeter_core::{Catalogue, Header, Role, ScoreTable, Story, Value, read};

use crate::{FOLDER, parts, written};

/// The row statistics of a shard. What was read has as many rows as it says.
pub fn row_statistics(bytes: &[u8]) {
    if let Ok((score_rows, ids)) = read_rows(Path::new("rows.stats"), bytes) {
        assert_eq!(score_rows.texts(), ids.len());
        assert!(score_rows.width() > 0);
    }
}

/// The header of a shard, which is merged alone. The scores beside it have any size.
pub fn shard_header(bytes: &[u8]) {
    let scores = written("shard.jsonl", b"");
    let header = Header::path_of(&scores);
    fs::write(&header, bytes).unwrap();
    let options = MergeOptions::default().with(|it| it.most_rows = 0);
    if let Ok(merged) = shards::merge(&[header], &options) {
        let (run, resampling) = (&merged.run, Resampling::default());
        run.score_rows().all(run.metrics(), &resampling);
        run.signatures(&resampling);
        run.header();
    }
}

/// A score file and, after a zero byte, its header. What was read is written as JSONL and read back
/// unchanged.
pub fn score_table(bytes: &[u8]) {
    let [scores, header] = parts(bytes);
    for name in ["scores.jsonl", "scores.csv"] {
        let path = written(name, scores.unwrap_or_default());
        match header {
            Some(header) => fs::write(Header::path_of(&path), header).unwrap(),
            None => drop(fs::remove_file(Header::path_of(&path))),
        }
        if let Ok(table) = read::scores(&path, &Catalogue::default()) {
            check(&table);
        }
    }
}

/// A score file in Parquet. What was read is written as JSONL and read back unchanged.
pub fn score_parquet(bytes: &[u8]) {
    let path = written("scores.parquet", bytes);
    if let Ok(table) = read::scores(&path, &Catalogue::default()) {
        check(&table);
    }
}

/// A file of corpus statistics; the metrics score with them. The checksum is made right, because
/// otherwise no damage would get past it.
pub fn corpus_stats(bytes: &[u8]) {
    let content = &bytes[..bytes.len().saturating_sub(32)];
    let mut summed = content.to_vec();
    summed.extend_from_slice(&Sha256::digest(content));
    let path = written("corpus.bin", &summed);
    let metrics = ["cider-d", "self-bleu"];
    if let Ok(scorer) = Scorer::new().metrics(metrics).corpus_stats(path).build() {
        let story = Story {
            references: vec!["The lamp went out again.".into()],
            ..Story::from("The lamp went out.")
        };
        let table = scorer.run([story]).unwrap();
        assert!(
            table.views().next().unwrap().values()[0].as_ref().is_ok_and(|score| !score.is_nan())
        );
    }
}

fn check(table: &ScoreTable) {
    assert!(!table.rows().is_empty());
    for column in table.views() {
        let values = column.values();
        assert_eq!(values.len(), table.rows().len());
        let present = values.iter().flatten();
        assert!(present.clone().all(|value| value.is_finite()), "{}", column.key);
        assert_eq!(present.count() as u64, column.counts.present);
    }
    let path = FOLDER.join("written.jsonl");
    table.write(&path).unwrap();
    let again = read::scores(&path, &Catalogue::default()).unwrap();
    assert_eq!(metrics(&again), metrics(table));
    let ids = |table: &ScoreTable| -> Vec<String> {
        table.rows().iter().map(|row| row.id.clone()).collect()
    };
    assert_eq!(ids(&again), ids(table));
}

/// The keys and values of all metrics.
fn metrics(table: &ScoreTable) -> Vec<(String, Vec<Value>)> {
    let metrics = table.views().filter(|column| column.role == Role::Metric);
    metrics.map(|column| (column.key.to_string(), column.values().to_vec())).collect()
}
