//! Our values beside those HANNA published, story by story.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use storymeter_core::read::{ReadOptions, open};
use storymeter_metrics::{Options, Scorer};
use storymeter_stats::pearson;

use crate::meteor_data;

/// Which metric of ours stands beside which column of HANNA's.
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
        id: "cider-d",
        column: "CIDEr",
        within: 1e-9,
        least_share: 0.0,
        note: "document frequencies are those of the stories at hand, HANNA's those of all 1,056",
    },
];

/// A metric whose every value must be near.
const fn exact(id: &'static str, column: &'static str, within: f64) -> Expectation {
    Expectation { id, column, within, least_share: 1.0, note: "" }
}

/// A metric on spaCy's tokens.
const fn tokens(id: &'static str, column: &'static str) -> Expectation {
    let note = "story 407: HANNA's numbers are those of one token less; ours is the number of spaCy 3.8.18";
    Expectation { id, column, within: 1e-9, least_share: 0.99, note }
}

/// A metric of ours and the published column it should equal.
#[derive(Debug, Clone, Copy)]
pub struct Expectation {
    /// Our metric's id.
    pub id: &'static str,
    /// HANNA's name of the column, without its marks.
    pub column: &'static str,
    /// How near counts as equal.
    pub within: f64,
    /// The least share of stories on which it must be equal.
    pub least_share: f64,
    /// Why the rest differs.
    pub note: &'static str,
}

impl Expectation {
    /// The metric whose column it is: a family has many.
    fn metric(&self) -> &'static str {
        if self.id.starts_with("rouge-") { "rouge:hanna" } else { self.id }
    }
}

/// [`COLUMNS`] and the 24 of ROUGE; METEOR where its tables are.
pub fn columns() -> Vec<Expectation> {
    let meteor = meteor_data().is_some().then_some(METEOR);
    COLUMNS.iter().copied().chain(rouge_columns()).chain(meteor).collect()
}

/// ROUGE's columns, published with five decimals.
pub fn rouge_columns() -> impl Iterator<Item = Expectation> {
    ROUGE.iter().map(|&(id, column)| exact(id, column, 1e-9))
}

/// METEOR's column, published with ten decimals.
pub const METEOR: Expectation = exact("meteor:hanna", "METEOR", 1e-9);

/// Our keys and HANNA's names of ROUGE's columns.
const ROUGE: [(&str, &str); 24] = [
    ("rouge-1-r", "ROUGE-1 Recall"),
    ("rouge-1-p", "ROUGE-1 Precision"),
    ("rouge-1-f", "ROUGE-1 F-Score"),
    ("rouge-2-r", "ROUGE-2 Recall"),
    ("rouge-2-p", "ROUGE-2 Precision"),
    ("rouge-2-f", "ROUGE-2 F-Score"),
    ("rouge-3-r", "ROUGE-3 Recall"),
    ("rouge-3-p", "ROUGE-3 Precision"),
    ("rouge-3-f", "ROUGE-3 F-Score"),
    ("rouge-4-r", "ROUGE-4 Recall"),
    ("rouge-4-p", "ROUGE-4 Precision"),
    ("rouge-4-f", "ROUGE-4 F-Score"),
    ("rouge-l-r", "ROUGE-L Recall"),
    ("rouge-l-p", "ROUGE-L Precision"),
    ("rouge-l-f", "ROUGE-L F-Score"),
    ("rouge-w-1.2-r", "ROUGE-W-1.2 Recall"),
    ("rouge-w-1.2-p", "ROUGE-W-1.2 Precision"),
    ("rouge-w-1.2-f", "ROUGE-W-1.2 F-Score"),
    ("rouge-s*-r", "ROUGE-S* Recall"),
    ("rouge-s*-p", "ROUGE-S* Precision"),
    ("rouge-s*-f", "ROUGE-S* F-Score"),
    ("rouge-su*-r", "ROUGE-SU* Recall"),
    ("rouge-su*-p", "ROUGE-SU* Precision"),
    ("rouge-su*-f", "ROUGE-SU* F-Score"),
];

/// How one metric compares.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What was compared.
    pub expectation: Expectation,
    /// Number of stories.
    pub stories: usize,
    /// Number of stories on which the values are equal, within the expectation.
    pub equal: usize,
    /// The largest difference.
    pub largest: f64,
    /// Pearson's correlation.
    pub correlation: f64,
}

impl Comparison {
    /// The share of stories on which the values are equal.
    pub fn share(&self) -> f64 {
        self.equal as f64 / self.stories as f64
    }
}

/// Scores the stories of a file like `stories_first48.jsonl.gz` and compares with the `metrics` each record carries.
pub fn compare(
    path: &Path,
    expectations: &[Expectation],
) -> Result<Vec<Comparison>, Box<dyn std::error::Error>> {
    let records =
        open(&[path.to_owned()], &ReadOptions::default())?.collect::<Result<Vec<_>, _>>()?;
    let mut ids: Vec<&str> = expectations.iter().map(Expectation::metric).collect();
    ids.dedup();
    let meteor_data = ids.contains(&METEOR.id).then(meteor_data).flatten();
    let options = Options { meteor_data, ..Options::default() };
    let scorer = Scorer::new(&ids, &options)?;
    let keys = scorer.columns().to_vec();
    let survey = scorer.survey();
    survey.batch(&records);
    let rows = scorer.surveyed(survey)?;
    let rows = rows.batch(&records)?;
    let published = published(path, expectations)?;
    let mut comparisons = Vec::new();
    for (column, &expectation) in expectations.iter().enumerate() {
        let key =
            keys.iter().position(|key| key == expectation.id).ok_or("no column of that id")?;
        let ours: Vec<f64> = (0..records.len()).map(|story| rows.scores(story)[key]).collect();
        let theirs: Vec<f64> = published.iter().map(|story| story[column]).collect();
        let differences = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs());
        comparisons.push(Comparison {
            expectation,
            stories: records.len(),
            equal: differences
                .clone()
                .filter(|&difference| difference <= expectation.within)
                .count(),
            largest: differences.fold(0.0, f64::max),
            correlation: pearson(&ours, &theirs)?.coefficient,
        });
    }
    Ok(comparisons)
}

/// The published values of each record, in the order of the expectations.
fn published(
    path: &Path,
    expectations: &[Expectation],
) -> Result<Vec<Vec<f64>>, Box<dyn std::error::Error>> {
    let mut all = Vec::new();
    for line in BufReader::new(GzDecoder::new(File::open(path)?)).lines() {
        let record: serde_json::Value = serde_json::from_str(&line?)?;
        let metrics = record["metrics"].as_object().ok_or("a record without metrics")?;
        let value = |expectation: &Expectation| {
            // A column's name ends in a blank and marks of its kind.
            let marked = |name: &str| {
                name.rsplit_once(' ').is_some_and(|(name, _)| name == expectation.column)
            };
            let found =
                metrics.iter().find(|(name, _)| marked(name)).and_then(|(_, value)| value.as_f64());
            found.ok_or_else(|| format!("a record without {}", expectation.column))
        };
        all.push(expectations.iter().map(value).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(all)
}
