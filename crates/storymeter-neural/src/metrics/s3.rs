//! S3: two scores that people gave to summaries, predicted from overlaps.
//!
//! S3 is a regression. It was trained on 5,565 summaries of TAC 2008 and 2009 to predict two human
//! scores from six comparisons of a summary with its references. HANNA applies it to stories.
//!
//! Definition: the six features of a story are
//! - the Jensen-Shannon divergence (in nats) between the frequencies of the stems of story and
//!   reference, without stop words, and the same for pairs of stems of which at least one is not a
//!   stop word;
//! - the recall of ROUGE-1 and of ROUGE-2 on stems;
//! - the recall of `rouge-we-1` and of `rouge-we-2`.
//!
//! Words are runs of letters, digits and underscores, stems are those of Snowball's English
//! stemmer, and stop words are looked up after stemming, as the released program does it. The score
//! is a support vector regression with a Gaussian kernel:
//!
//! ```text
//! score(x) = b + sum over k of c_k exp(-|x - s_k|^2 / 6)
//! ```
//!
//! The columns are `pyramid` and `responsiveness`. A story that equals its reference gets 1.390799
//! and 1.844083, whatever its words are.
//!
//! Tables: the numbers c, s and b are two files, `s3_svr_pyr.tsv` and `s3_svr_resp.tsv`: a line
//! `intercept`, a heading, then one line per support vector with c and the six features. Name their
//! folder with `--weights s3-tables=FOLDER`, or put them into a folder `s3` in a folder of
//! `STORYMETER_MODELS`. The word vectors are found as for ROUGE-WE (`--weights s3=FILE` or
//! `word-vectors=FILE`).
//!
//! Several references: divergences are averaged over the references. ROUGE counts are added up.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: a story without words shares nothing with its reference. Its divergences are ln 2,
//! the largest possible value, and its recalls are 0. The same holds for the first divergence of a
//! story of stop words only, unless the reference has only stop words too: then it is 0.
//!
//! Reading the score: it is not limited to a range, and can be negative.
//!
//! Source: Peyrard, Botschen and Gurevych 2017, "Learning to Score System Summaries for Better
//! Content Selection Evaluation", with the models as SummEval distributes them.
//!
//! Checked against: `summ-eval` 0.892 with GloVe's vectors of 50 numbers, on 33 of HANNA's stories
//! (largest difference 6e-13), and HANNA's constants for human stories compared with themselves.
//! The program stems words with NLTK, which differs from Snowball for 7 of 74,925 words of stories
//! ("realization" becomes "realize" there, and "realiz" here).

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use storymeter_core::terminal::excerpt;
use storymeter_core::{
    Choice, Description, Direction, Entry, Error, Metric, MetricError, Needs, Place, Prepared,
    Range, Request, Resources, Rows, Signature, TextCache, Value, file, finite_or,
};

use super::rouge_we::Counts;
use crate::own_files::{self, Wanted};
use crate::word_vectors::WordVectors;
use crate::words::{Ngrams, Stems, is_stop_word, key};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["s3"],
    choices: &[Choice::preset("hanna", "as HANNA's published columns (the default)")],
    direction: Direction::Higher,
    range: Range::ANY,
    needs: Needs::REFERENCE,
    source: include_str!("s3.rs"),
    build,
};

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let tables = Tables::open(request)?;
    let vectors = WordVectors::open(request)?;
    let signature = Signature::new("s3")
        .with("tok", "tok", "words")
        .with("stems", "st", "porter2")
        .with("stop", "stop", "nltk-english")
        .with("vectors", "vec", vectors.signature())
        .with("refs", "r", "mean");
    let members = ["pyramid", "responsiveness"];
    let description = request.describe().width(2).family(members).signature(signature);
    Ok(Box::new(S3 { description, tables, vectors }))
}

struct S3 {
    description: Description,
    tables: Arc<Tables>,
    vectors: Arc<WordVectors>,
}

impl Metric for S3 {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        Ok(Rows::each(stories, 2, |story, row| {
            let features = features(story, &self.vectors);
            row[0] = self.tables.pyramid.predict(&features);
            row[1] = self.tables.responsiveness.predict(&features);
        }))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        for (value, &score) in values.iter_mut().zip(row) {
            *value = finite_or(score, "the tables give no finite number");
        }
    }
}

/// The number of features.
const FEATURES: usize = 6;

/// The features of a story, in the order of the tables.
fn features(story: &Prepared<'_>, vectors: &WordVectors) -> [f64; FEATURES] {
    [
        divergence(story, 1),
        divergence(story, 2),
        recall(story, 1),
        Counts::of(story, 1, vectors).recall(),
        recall(story, 2),
        Counts::of(story, 2, vectors).recall(),
    ]
}

/// The recall of ROUGE-n on stems.
fn recall(story: &Prepared<'_>, order: usize) -> f64 {
    let stems = story.text.view::<Stems>();
    let mine = Ngrams::new(&stems.0.ids, order);
    let index = mine.index();
    let (mut matches, mut total) = (0, 0);
    for reference in &story.references {
        let theirs = Ngrams::new(&reference.view::<Stems>().0.numbered_after(&stems.0).0, order);
        for (gram, &count) in theirs.iter().zip(&theirs.counts) {
            let own = index.get(&key(gram)).map_or(0, |&number| mine.counts[number as usize]);
            matches += u64::from(count.min(own));
        }
        total += theirs.total();
    }
    if total > 0 { matches as f64 / total as f64 } else { 0.0 }
}

/// The Jensen-Shannon divergence, averaged over the references.
fn divergence(story: &Prepared<'_>, order: usize) -> f64 {
    let own = |text: &TextCache<'_>| Frequencies::of(text, order);
    let mine = own(&story.text);
    let sum: f64 = story.references.iter().map(|other| mine.divergence(&own(other))).sum();
    sum / story.references.len().max(1) as f64
}

/// The relative frequencies of the content n-grams of a text, in order of first occurrence.
struct Frequencies {
    shares: Vec<(Box<str>, f64)>,
}

impl Frequencies {
    fn of(text: &TextCache<'_>, order: usize) -> Self {
        let stems = text.view::<Stems>();
        let word = |id: u32| &*stems.0.types[id as usize];
        let grams = Ngrams::new(&stems.0.ids, order);
        let content = |gram: &[u32]| gram.iter().any(|&id| !is_stop_word(word(id)));
        let counted = grams.iter().zip(&grams.counts).filter(|(gram, _)| content(gram));
        let total: u64 = counted.clone().map(|(_, &count)| u64::from(count)).sum();
        let spell = |gram: &[u32]| {
            let words: Vec<&str> = gram.iter().map(|&id| word(id)).collect();
            words.join(" ").into()
        };
        let share = |(gram, &count): (&[u32], &u32)| (spell(gram), f64::from(count) / total as f64);
        Self { shares: counted.map(share).collect() }
    }

    fn divergence(&self, other: &Self) -> f64 {
        if self.shares.is_empty() || other.shares.is_empty() {
            let both = self.shares.is_empty() && other.shares.is_empty();
            return if both { 0.0 } else { std::f64::consts::LN_2 };
        }
        (self.distance_to_mean(other) + other.distance_to_mean(self)) / 2.0
    }

    /// The divergence of these frequencies from the mean of both.
    fn distance_to_mean(&self, other: &Self) -> f64 {
        let theirs: FxHashMap<&str, f64> =
            other.shares.iter().map(|(gram, share)| (&**gram, *share)).collect();
        let term = |(gram, share): &(Box<str>, f64)| {
            let mean = (share + theirs.get(&**gram).copied().unwrap_or(0.0)) / 2.0;
            share * (share / mean).ln()
        };
        self.shares.iter().map(term).sum()
    }
}

/// Both regressions.
struct Tables {
    pyramid: Regression,
    responsiveness: Regression,
}

const PYRAMID: &str = "s3_svr_pyr.tsv";
const RESPONSIVENESS: &str = "s3_svr_resp.tsv";

/// The tables have 0.7 MB together.
const LARGEST_TABLE: u64 = 64 << 20;

impl Tables {
    fn open(request: &Request<'_>) -> Result<Arc<Self>, MetricError> {
        let wanted = Wanted {
            names: &["s3-tables"],
            files: &[PYRAMID, "s3/s3_svr_pyr.tsv"],
            description: "the tables of S3, s3_svr_pyr.tsv and s3_svr_resp.tsv (in a folder that \
                          is named as s3-tables, or that is called s3)",
        };
        let pyramid = own_files::find(request, &wanted)?;
        let responsiveness = pyramid.with_file_name(RESPONSIVENESS);
        request.resources.shared(&format!("S3 {}", pyramid.display()), || {
            Ok(Self {
                pyramid: Regression::read(&pyramid)?,
                responsiveness: Regression::read(&responsiveness)?,
            })
        })
    }
}

/// A support vector regression with a Gaussian kernel.
struct Regression {
    intercept: f64,
    /// The coefficient and the features of each support vector.
    vectors: Vec<(f64, [f64; FEATURES])>,
}

impl Regression {
    /// Reads a table: comments, the intercept, a heading, and one line per support vector.
    fn read(path: &Path) -> Result<Self, Error> {
        let text = file::read_text(path, LARGEST_TABLE)?;
        let mut intercept = None;
        let mut vectors = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') || line.starts_with("coef\t") {
                continue;
            }
            let wrong =
                |problem: String| Error::invalid(Place::file(path).at_line(at as u64 + 1), problem);
            let number = |field: &str| {
                let number = field.parse::<f64>().ok().filter(|number| number.is_finite());
                number.ok_or_else(|| wrong(format!("{} is not a number", excerpt(field, 40))))
            };
            if let Some(value) = line.strip_prefix("intercept\t") {
                intercept = Some(number(value)?);
                continue;
            }
            let numbers = line.split('\t').map(number).collect::<Result<Vec<f64>, _>>()?;
            let [coefficient, features @ ..] = &numbers[..] else { continue };
            let features = <[f64; FEATURES]>::try_from(features).map_err(|_| {
                wrong(format!("7 numbers are needed, and there are {}", numbers.len()))
            })?;
            vectors.push((*coefficient, features));
        }
        match intercept {
            Some(intercept) if !vectors.is_empty() => Ok(Self { intercept, vectors }),
            _ => {
                let problem = "the table has no line \"intercept\", or no support vector";
                Err(Error::invalid(Place::file(path), problem))
            }
        }
    }

    fn predict(&self, features: &[f64; FEATURES]) -> f64 {
        let term = |(coefficient, vector): &(f64, [f64; FEATURES])| {
            let distance: f64 = features.iter().zip(vector).map(|(x, s)| (x - s) * (x - s)).sum();
            coefficient * (-distance / 6.0).exp()
        };
        self.intercept + self.vectors.iter().map(term).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::Story;

    use super::*;

    #[test]
    fn divergences_are_those_of_the_formula() {
        let story = Story { references: vec!["lamps and rain".into()], ..Story::from("a lamp") };
        let story = Prepared::new(0, &story);
        // f = {lamp: 1}, g = {lamp: 1/2, rain: 1/2}.
        let expected = ((4f64 / 3.0).ln() + 0.5 * (2f64 / 3.0).ln() + 0.5 * 2f64.ln()) / 2.0;
        assert!((divergence(&story, 1) - expected).abs() < 1e-15);
        // No pair of stems is shared.
        assert!((divergence(&story, 2) - std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!(recall(&story, 1), 1.0 / 3.0);
        assert_eq!(recall(&story, 2), 0.0);
    }

    #[test]
    fn texts_of_stop_words_only_differ_from_all_others() {
        let between = |text: &str, reference: &str| {
            let story = Story { references: vec![reference.into()], ..Story::from(text) };
            divergence(&Prepared::new(0, &story), 1)
        };
        assert_eq!(between("", "rain"), std::f64::consts::LN_2);
        assert_eq!(between("he was the one", "and it is"), std::f64::consts::LN_2);
        assert_eq!(between("he was", "and it is"), 0.0);
        assert!(between("very", "very").abs() < 1e-15);
    }

    #[test]
    fn wrong_lines_of_a_table_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s3_svr_pyr.tsv");
        let read = |text: &str| {
            std::fs::write(&path, text).expect("written");
            Regression::read(&path).map(|table| table.predict(&[0.0; FEATURES]))
        };
        let one = read("# S3\nintercept\t0.5\ncoef\tjs1\n2\t0\t0\t0\t0\t0\t0\n").expect("a table");
        assert_eq!(one, 2.5);
        let error = read("intercept\t1\n1\t2\tx\n").unwrap_err().to_string();
        assert!(error.ends_with("s3_svr_pyr.tsv:2: \"x\" is not a number"), "{error}");
        let error = read("intercept\t1\n1\t2\n").unwrap_err().to_string();
        assert!(error.ends_with(":2: 7 numbers are needed, and there are 2"), "{error}");
        let error = read("").unwrap_err().to_string();
        assert!(error.contains("no line \"intercept\""), "{error}");
    }
}
