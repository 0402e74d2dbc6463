//! Our values beside those that HANNA published, story by story.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use storymeter_core::Settings;
use storymeter_core::read::{ReadOptions, open};
use storymeter_stats::pearson;

use crate::{Error, Result, meteor_settings, present, score};

/// Columns of ours and the published columns that they should equal, without ROUGE and METEOR.
pub const COLUMNS: &[Expectation] = &[
    exact("bleu:hanna", "BLEU", 1e-6),
    exact("chrf:hanna", "chrF", 1e-6),
    tokens("coverage:hanna", "Coverage"),
    tokens("density:hanna", "Density"),
    tokens("compression:hanna", "Compression"),
    tokens("text-length:hanna", "Text length"),
    tokens("novelty-1:hanna", "Novelty-1"),
    tokens("novelty-2:hanna", "Novelty-2"),
    tokens("novelty-3:hanna", "Novelty-3"),
    tokens("repetition-1:hanna", "Repetition-1"),
    tokens("repetition-2:hanna", "Repetition-2"),
    tokens("repetition-3:hanna", "Repetition-3"),
    Expectation {
        key: "cider-d",
        column: "CIDEr",
        within: 1e-9,
        least_share: 0.0,
        note: "our document frequencies come from the stories at hand, HANNA's from all 1,056",
    },
];

/// A column whose values must all be near.
const fn exact(key: &'static str, column: &'static str, within: f64) -> Expectation {
    Expectation { key, column, within, least_share: 1.0, note: "" }
}

/// A column that counts spaCy's tokens.
const fn tokens(key: &'static str, column: &'static str) -> Expectation {
    let note = "story 407: HANNA counted one token less than spaCy 3.8.18 and we do";
    Expectation { key, column, within: 1e-9, least_share: 0.99, note }
}

/// A column of ours and the published column that it should equal.
#[derive(Debug, Clone, Copy)]
pub struct Expectation {
    /// The key of our column.
    pub key: &'static str,
    /// HANNA's name of its column, without its marks.
    pub column: &'static str,
    /// The largest difference that counts as equal.
    pub within: f64,
    /// The least share of stories whose values must be equal.
    pub least_share: f64,
    /// Why the other stories differ.
    pub note: &'static str,
}

impl Expectation {
    /// The metric that the column belongs to: the key without the member of a family.
    fn metric(&self) -> &'static str {
        self.key.split_once('/').map_or(self.key, |(metric, _)| metric)
    }
}

/// All columns that are compared: [`COLUMNS`], the 24 of ROUGE, and METEOR's where its tables are.
pub fn columns() -> Vec<Expectation> {
    let meteor = meteor_settings().is_ok().then_some(METEOR);
    COLUMNS.iter().copied().chain(rouge_columns()).chain(meteor).collect()
}

/// ROUGE's columns, which were published with five decimals.
pub fn rouge_columns() -> impl Iterator<Item = Expectation> {
    ROUGE.iter().map(|&(key, column)| exact(key, column, 1e-9))
}

/// METEOR's column, which was published with ten decimals.
pub const METEOR: Expectation = exact("meteor:hanna", "METEOR", 1e-9);

/// Our keys of ROUGE's columns and HANNA's names of them.
const ROUGE: [(&str, &str); 24] = [
    ("rouge:hanna/rouge-1-r", "ROUGE-1 Recall"),
    ("rouge:hanna/rouge-1-p", "ROUGE-1 Precision"),
    ("rouge:hanna/rouge-1-f", "ROUGE-1 F-Score"),
    ("rouge:hanna/rouge-2-r", "ROUGE-2 Recall"),
    ("rouge:hanna/rouge-2-p", "ROUGE-2 Precision"),
    ("rouge:hanna/rouge-2-f", "ROUGE-2 F-Score"),
    ("rouge:hanna/rouge-3-r", "ROUGE-3 Recall"),
    ("rouge:hanna/rouge-3-p", "ROUGE-3 Precision"),
    ("rouge:hanna/rouge-3-f", "ROUGE-3 F-Score"),
    ("rouge:hanna/rouge-4-r", "ROUGE-4 Recall"),
    ("rouge:hanna/rouge-4-p", "ROUGE-4 Precision"),
    ("rouge:hanna/rouge-4-f", "ROUGE-4 F-Score"),
    ("rouge:hanna/rouge-l-r", "ROUGE-L Recall"),
    ("rouge:hanna/rouge-l-p", "ROUGE-L Precision"),
    ("rouge:hanna/rouge-l-f", "ROUGE-L F-Score"),
    ("rouge:hanna/rouge-w-1.2-r", "ROUGE-W-1.2 Recall"),
    ("rouge:hanna/rouge-w-1.2-p", "ROUGE-W-1.2 Precision"),
    ("rouge:hanna/rouge-w-1.2-f", "ROUGE-W-1.2 F-Score"),
    ("rouge:hanna/rouge-s*-r", "ROUGE-S* Recall"),
    ("rouge:hanna/rouge-s*-p", "ROUGE-S* Precision"),
    ("rouge:hanna/rouge-s*-f", "ROUGE-S* F-Score"),
    ("rouge:hanna/rouge-su*-r", "ROUGE-SU* Recall"),
    ("rouge:hanna/rouge-su*-p", "ROUGE-SU* Precision"),
    ("rouge:hanna/rouge-su*-f", "ROUGE-SU* F-Score"),
];

/// How one of our columns compares with the published one.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What was compared.
    pub expectation: Expectation,
    /// The number of stories.
    pub stories: usize,
    /// The number of stories whose two values are as near as expected.
    pub equal: usize,
    /// The largest difference.
    pub largest: f64,
    /// Pearson's correlation.
    pub correlation: f64,
}

impl Comparison {
    /// The share of stories whose two values are as near as expected.
    pub fn share(&self) -> f64 {
        self.equal as f64 / self.stories as f64
    }
}

/// Scores the stories of a file like `stories_first48.jsonl.gz` and compares our values with those
/// in the field `metrics` of each record.
///
/// # Errors
/// Returns an error if the file is not of that layout, or METEOR is expected and its tables are
/// absent.
pub fn compare(path: &Path, expectations: &[Expectation]) -> Result<Vec<Comparison>> {
    let records: Vec<_> = open(&[path.to_owned()], &ReadOptions::default())?
        .collect::<std::result::Result<_, _>>()?;
    let mut metrics: Vec<&str> = expectations.iter().map(Expectation::metric).collect();
    metrics.dedup();
    let settings =
        if metrics.contains(&METEOR.key) { meteor_settings()? } else { Settings::default() };
    let (set, batch) = score(&metrics, settings, &records)?;
    let scores: Vec<Vec<f64>> =
        (0..records.len()).map(|story| present(batch.values(story))).collect::<Result<_>>()?;
    let published = published(path, expectations)?;
    let mut comparisons = Vec::new();
    for (number, &expectation) in expectations.iter().enumerate() {
        let own = set.columns().iter().position(|column| column.key.as_str() == expectation.key);
        let own = own.ok_or_else(|| Error::failed(format!("no column {}", expectation.key)))?;
        let ours: Vec<f64> = scores.iter().map(|story| story[own]).collect();
        let theirs: Vec<f64> = published.iter().map(|story| story[number]).collect();
        let differences = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs());
        let is_near = |difference: &f64| *difference <= expectation.within;
        comparisons.push(Comparison {
            expectation,
            stories: records.len(),
            equal: differences.clone().filter(is_near).count(),
            largest: differences.fold(0.0, f64::max),
            correlation: pearson(&ours, &theirs)?.coefficient,
        });
    }
    Ok(comparisons)
}

/// The published values of each record, in the order of the expectations.
fn published(path: &Path, expectations: &[Expectation]) -> Result<Vec<Vec<f64>>> {
    let mut all = Vec::new();
    for line in BufReader::new(GzDecoder::new(File::open(path)?)).lines() {
        let record: serde_json::Value = serde_json::from_str(&line?)?;
        let metrics = record["metrics"].as_object();
        let value = |expectation: &Expectation| {
            // The name of a column ends in a space and marks that tell its kind.
            let is_named = |name: &str| {
                name.rsplit_once(' ').is_some_and(|(name, _)| name == expectation.column)
            };
            let found = metrics.into_iter().flatten().find(|(name, _)| is_named(name));
            found.and_then(|(_, value)| value.as_f64()).ok_or_else(|| {
                Error::failed(format!("{}: a record lacks {}", path.display(), expectation.column))
            })
        };
        all.push(expectations.iter().map(value).collect::<Result<_>>()?);
    }
    Ok(all)
}
