//! Pairs of real stories that both our metrics and their peers scored. `tools/story_pairs.py` makes
//! the same pairs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use storymeter_core::read::Record;
use storymeter_core::{Place, Story};

use crate::{Result, shared};

/// All pairs: HANNA's 528 stories with their references, then 1,500 pairs of ROC stories with one
/// sentence per line, then the first 600 characters of 300 pairs of longer stories.
///
/// # Errors
/// Returns an error if the data is absent or damaged.
pub fn story_pairs() -> Result<Vec<Record>> {
    let hanna = text(&shared("data/annotated/hanna/stories_first48.jsonl.gz")?)?;
    let mut pairs: Vec<(String, String)> =
        hanna.lines().map(|line| (field(line, "story"), field(line, "reference"))).collect();

    let roc = text(&shared("data/roc/stories.tsv.gz")?)?;
    let roc: Vec<&str> = roc.lines().skip(1).collect();
    let sentences = |at: usize| roc[at].split('\t').skip(1).take(5).collect::<Vec<_>>().join("\n");
    pairs.extend((0..1500).map(|n| (sentences(40 * n), sentences(40 * n + 20))));

    let long = text(&shared("data/long/stories.jsonl.gz")?)?;
    let long: Vec<&str> = long.lines().collect();
    let start = |at: usize| field(long[at], "story").chars().take(600).collect::<String>();
    pairs.extend((0..300).map(|n| (start(60 * n), start(60 * n + 30))));

    let record = |(number, (text, reference))| {
        let story = Story { text, references: vec![reference], ..Story::default() };
        Record { story, number, place: Place::default() }
    };
    Ok((0..).zip(pairs).map(record).collect())
}

/// The rows of a fixture that `tools/rouge_meteor_fixtures.py` made: the number of each pair and
/// what the peer gave it.
///
/// # Errors
/// Returns an error if the fixture is damaged.
pub fn peer_rows(name: &str) -> Result<Vec<(usize, Vec<f64>)>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let row = |line: &str| {
        let mut fields = line.split(',');
        let pair = fields.next().unwrap_or_default().parse()?;
        let numbers = fields.map(str::parse).collect::<std::result::Result<_, _>>()?;
        Ok((pair, numbers))
    };
    // The first line says what made the fixture, and the second names the columns.
    text(&path)?.lines().skip(2).map(row).collect()
}

/// The text of a gzipped file.
fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    GzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

fn field(line: &str, name: &str) -> String {
    let record: serde_json::Value =
        serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    record[name].as_str().unwrap_or_default().to_owned()
}
