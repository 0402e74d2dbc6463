//! Pairs of real stories that metrics and their peers were run on, the same ones as in `tools/story_pairs.py`.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use storymeter_core::read::Record;
use storymeter_core::{Place, Story};

use crate::shared;

/// How many pairs are HANNA's: they come first.
pub const HANNA: usize = 528;

/// HANNA's 528 stories with their references; 1,500 pairs of ROC stories, one sentence a line; 300 pairs of longer
/// stories, the first 600 characters of each. `None` where the data is absent.
pub fn story_pairs() -> Option<Vec<Record>> {
    let hanna = text(shared("data/annotated/hanna/stories_first48.jsonl.gz")?);
    let mut pairs: Vec<(String, String)> =
        hanna.lines().map(|line| (field(line, "story"), field(line, "reference"))).collect();

    let roc = text(shared("data/roc/stories.tsv.gz")?);
    let roc: Vec<&str> = roc.lines().skip(1).collect();
    let sentences = |at: usize| roc[at].split('\t').skip(1).take(5).collect::<Vec<_>>().join("\n");
    pairs.extend((0..1500).map(|n| (sentences(40 * n), sentences(40 * n + 20))));

    let long = text(shared("data/long/stories.jsonl.gz")?);
    let long: Vec<&str> = long.lines().collect();
    let start = |at: usize| field(long[at], "story").chars().take(600).collect::<String>();
    pairs.extend((0..300).map(|n| (start(60 * n), start(60 * n + 30))));

    let record = |(number, (text, reference))| {
        let story = Story { text, references: vec![reference], ..Story::default() };
        Record { story, number, place: Place::default() }
    };
    Some((0..).zip(pairs).map(record).collect())
}

/// The rows of a fixture made by `tools/rouge_meteor_fixtures.py`: the number of the pair and its numbers.
pub fn peer_rows(name: &str) -> Vec<(usize, Vec<f64>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let number =
        |field: &str| field.parse::<f64>().unwrap_or_else(|e| panic!("{name}: {field}: {e}"));
    let row = |line: &str| {
        let mut numbers = line.split(',').map(number);
        (numbers.next().unwrap_or_default() as usize, numbers.collect())
    };
    // Two lines say what made it and name the columns.
    text(path).lines().skip(2).map(row).collect()
}

fn text(path: PathBuf) -> String {
    let mut text = String::new();
    let read = File::open(&path).and_then(|file| GzDecoder::new(file).read_to_string(&mut text));
    read.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text
}

fn field(line: &str, name: &str) -> String {
    let record: serde_json::Value =
        serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    record[name].as_str().unwrap_or_default().to_owned()
}
