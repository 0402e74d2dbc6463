//! Corpus statistics from a file: the same scores as with a first pass, and refusals.

use std::fs;
use std::path::{Path, PathBuf};

use storymeter::input::{Inputs, ReadOptions};
use storymeter::{Error, Progress, ReadyScorer, Scorer, Value};

/// Writes `count` stories with references. Some are the same as others.
fn stories(folder: &Path, name: &str, numbers: std::ops::Range<usize>) -> PathBuf {
    let line = |n: usize| {
        let text = format!("Keeper {} lit the {} lamp, and lamp {} went out.", n % 7, n % 13, n);
        let reference = format!("The keeper lit lamp {} at {} and it went out.", n % 13, n % 24);
        format!("{{\"id\":\"{n}\",\"story\":\"{text}\",\"reference\":\"{reference}\"}}\n")
    };
    let path = folder.join(name);
    fs::write(&path, numbers.map(line).collect::<String>()).unwrap();
    path
}

fn inputs(files: &[PathBuf]) -> Inputs {
    Inputs::new(files.to_vec(), ReadOptions::default())
}

/// The values of all stories, bit by bit, and the signatures.
fn scored(scorer: &ReadyScorer, files: &[PathBuf]) -> (Vec<Vec<u64>>, Vec<String>) {
    let found = scorer.table(&inputs(files), &Progress::unwatched()).unwrap();
    let bits = |value: &Value| value.clone().unwrap().to_bits();
    let row = |at: usize| found.table.views().map(|column| bits(&column.values()[at])).collect();
    let columns = found.run.columns();
    (
        (0..found.table.rows().len()).map(row).collect(),
        columns.iter().map(|column| column.signature.clone().unwrap().to_string()).collect(),
    )
}

fn scorer(metrics: &[&str], file: &Path) -> Result<ReadyScorer, Error> {
    Scorer::new().metrics(metrics.to_vec()).corpus_stats(file).build()
}

fn gathered(metrics: &[&str], file: &Path, files: &[PathBuf]) -> ReadyScorer {
    let mut scorer = scorer(metrics, file).unwrap();
    assert!(scorer.reads_twice());
    scorer.gather_corpus_stats(&inputs(files), &Progress::unwatched()).unwrap();
    assert!(!scorer.reads_twice());
    scorer
}

const METRICS: [&str; 4] = ["cider-d", "bleu", "self-bleu", "homogeneity"];

#[test]
fn scores_in_parts_are_those_of_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let files = [(0..700), (700..1000)]
        .map(|numbers| stories(folder.path(), &format!("{}.jsonl", numbers.start), numbers));
    let file = folder.path().join("corpus.bin");
    let plain = Scorer::new().metrics(METRICS).build().unwrap();
    let (expected, plain_signatures) = scored(&plain, &files);

    let (first, signatures) = scored(&gathered(&METRICS, &file, &files), &files);
    assert_eq!(first, expected);
    let given = scorer(&METRICS, &file).unwrap();
    assert!(!given.reads_twice());
    let mut parts = Vec::new();
    for file in &files {
        let (rows, own) = scored(&given, std::slice::from_ref(file));
        parts.extend(rows);
        assert_eq!(own, signatures);
    }
    assert_eq!(parts, expected);

    // The signature says which corpus it was, where the numbers depend on it: BLEU's do not.
    let says = |signature: &String| signature.contains("|corpus:");
    assert_eq!(signatures.iter().map(says).collect::<Vec<_>>(), [true, false, true, true, true]);
    assert!(signatures[0].contains("|df:references[1000]|corpus:"), "{}", signatures[0]);
    assert!(!plain_signatures.iter().any(says));
    // A subset of the metrics is fine.
    assert_eq!(scorer(&["self-bleu"], &file).unwrap().metrics().columns().len(), 1);
}

#[test]
fn the_same_stories_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let input = [stories(folder.path(), "s.jsonl", 0..3000)];
    let bytes = |name: &str, threads: usize| {
        let file = folder.path().join(name);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| gathered(&METRICS, &file, &input));
        fs::read(file).unwrap()
    };
    assert!(bytes("1.bin", 1) == bytes("3.bin", 3));
}

#[test]
fn statistics_of_other_metrics_or_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let input = [stories(folder.path(), "s.jsonl", 0..20)];
    let file = folder.path().join("corpus.bin");
    gathered(&["self-bleu"], &file, &input);
    let error = |built: Result<ReadyScorer, Error>| {
        let error = built.err().unwrap().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(
        error(scorer(&["cider-d"], &file)),
        "corpus.bin has no corpus statistics of the metric \"cider-d\"; it has those of self-bleu"
    );
    let other = Scorer::new().metrics(["self-bleu"]).seed(7).corpus_stats(&file).build();
    assert_eq!(
        error(other),
        "corpus.bin: the corpus statistics were gathered for \
         self-bleu|tok:13a|smooth:exp|sample:0|seed:0, but the metric is \
         self-bleu|tok:13a|smooth:exp|sample:0|seed:7"
    );
    assert_eq!(
        error(scorer(&["bleu"], &file)),
        "corpus.bin: none of the metrics needs corpus statistics"
    );
}

#[test]
fn a_damaged_file_is_an_error_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let input = [stories(folder.path(), "s.jsonl", 0..20)];
    let file = folder.path().join("corpus.bin");
    gathered(&METRICS, &file, &input);
    let good = fs::read(&file).unwrap();
    let error = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let error = scorer(&METRICS, &file).err().unwrap().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    for at in (0..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        assert!(error(&bad).starts_with("corpus.bin: "), "{at}");
        assert!(error(&good[..at]).starts_with("corpus.bin: "), "{at}");
    }
    let mut bad = good.clone();
    bad[500] ^= 1;
    assert_eq!(
        error(&bad),
        "corpus.bin: the corpus statistics are damaged: their checksum does not fit"
    );
    assert_eq!(error(b"{}"), "corpus.bin: this is not a file of corpus statistics");
    assert_eq!(
        error(b"storymeter corpus statistics 9\n"),
        "corpus.bin: the corpus statistics were written by another version of storymeter"
    );
}
