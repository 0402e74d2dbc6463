//! Reads a score table and its header from any bytes.
//!
//! The input is split at the first zero byte: what comes before it is the score file, and what
//! comes after it is the header beside the file. Reading gives a table or an error and never
//! panics. What was read is written as JSONL and read back unchanged.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use storymeter_core::{Catalogue, Header, Role, ScoreTable, Value, read};

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

fuzz_target!(|bytes: &[u8]| {
    let (scores, header) = match bytes.iter().position(|&byte| byte == 0) {
        Some(zero) => (&bytes[..zero], Some(&bytes[zero + 1..])),
        None => (bytes, None),
    };
    for name in ["scores.jsonl", "scores.csv"] {
        let path = FOLDER.path().join(name);
        fs::write(&path, scores).unwrap();
        match header {
            Some(header) => fs::write(Header::path_of(&path), header).unwrap(),
            None => drop(fs::remove_file(Header::path_of(&path))),
        }
        if let Ok(table) = read::scores(&path, &Catalogue::default()) {
            check(&table);
        }
    }
});

fn check(table: &ScoreTable) {
    assert!(!table.rows().is_empty());
    for (at, column) in table.columns().iter().enumerate() {
        let values = table.values(at);
        assert_eq!(values.len(), table.rows().len());
        let present = values.iter().flatten();
        assert!(present.clone().all(|value| value.is_finite()), "{}", column.key);
        assert_eq!(present.count() as u64, column.counts.present);
    }
    let path = FOLDER.path().join("written.jsonl");
    table.write(&path).unwrap();
    let again = read::scores(&path, &Catalogue::default()).unwrap();
    assert_eq!(scores(&again), scores(table));
    let ids = |table: &ScoreTable| -> Vec<String> {
        table.rows().iter().map(|row| row.id.clone()).collect()
    };
    assert_eq!(ids(&again), ids(table));
}

/// The keys and values of all metrics.
fn scores(table: &ScoreTable) -> Vec<(String, Vec<Value>)> {
    let column = |at: usize| (table.columns()[at].key.to_string(), table.values(at).to_vec());
    table.of_role(Role::Metric).into_iter().map(column).collect()
}
