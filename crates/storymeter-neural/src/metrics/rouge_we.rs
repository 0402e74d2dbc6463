//! ROUGE-WE: n-grams that story and reference share, with similar words as equal.
//!
//! ROUGE counts equal n-grams. ROUGE-WE also matches n-grams whose word vectors are similar, so
//! that "a small lamp" and "the tiny light" can share something.
//!
//! Definition: words are runs of letters, digits and underscores in lower case. The n-grams of the
//! story are taken in order of first occurrence. Each is matched with the most similar n-gram of
//! the reference that is left, the first one if several are equally similar. The similarity is 1 if
//! both have the same words, and otherwise the cosine between the sums of their words' vectors. A
//! similarity below 0.8 is no match. An n-gram with a word that has no vector matches only itself.
//! An n-gram that occurs a times in the story and b times in the reference gives min(a, b) matches,
//! and an n-gram of the story is matched with only one n-gram of the reference, however often it
//! occurs. With M matches:
//!
//! ```text
//! R = M / n-grams of the reference     P = M / n-grams of the story     F = 2 P R / (P + R)
//! ```
//!
//! The columns are `r`, `p` and `f`. The number in the id is n: `rouge-we-3` is HANNA's.
//!
//! Tables: the word vectors are a file of the user, with a word and its numbers on each line. Name
//! it with `--weights rouge-we=FILE` (or `word-vectors=FILE`, which `s3` reads too), or put it as
//! `deps.words` into a folder of `STORYMETER_MODELS`. HANNA's values were made with the file
//! `deps.words` of Levy and Goldberg (2014); GloVe's files can be used as well, and the signature
//! says which file it was. Vectors are kept in f32.
//!
//! Several references: matches and n-grams are added up over the references, and P is divided by
//! their number.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: 0, as for every text with fewer than n words.
//!
//! Long texts: every pair of n-grams is compared, which takes time in proportion to the product of
//! both lengths. A pair of stories of 300 words takes a millisecond. Two different stories of
//! 50,000 words take about 13 seconds of one core with vectors of 300 numbers, and 3 with 50. A
//! table of 400,000 words and 300 numbers is read in about 3 seconds of one core, and all cores
//! take part.
//!
//! Differences: the released program compares in f64 with rounding errors, by which an n-gram of
//! the same words in another order is sometimes preferred to the equal one that comes before it.
//! Here the first of them is taken.
//!
//! Source: Ng and Abrecht 2015, "Better Summarization Evaluation with Word Embeddings for ROUGE",
//! in the form of S3 (Peyrard, Botschen and Gurevych 2017) and of SummEval.
//!
//! Checked against: `summ-eval` 0.892 with GloVe's vectors of 50 numbers, on 33 of HANNA's stories
//! and n from 1 to 3, no difference.

use std::sync::Arc;

use storymeter_core::{
    Choice, Description, Direction, Entry, Metric, MetricError, Needs, Prepared, Range, Request,
    Resources, Rows, Signature, Value,
};

use crate::soft_overlap::soft_overlap;
use crate::word_vectors::WordVectors;
use crate::words::LowerWords;

pub(crate) static ENTRY: Entry = Entry {
    ids: &["rouge-we-1", "rouge-we-2", "rouge-we-3"],
    choices: &[Choice::preset("hanna", "as HANNA's published columns (the default)")],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::REFERENCE,
    source: include_str!("rouge_we.rs"),
    build,
};

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let order = match request.id {
        "rouge-we-1" => 1,
        "rouge-we-2" => 2,
        _ => 3,
    };
    let vectors = WordVectors::open(request)?;
    let signature = Signature::new(request.id)
        .with("tok", "tok", "words")
        .with("case", "c", "lower")
        .with("similarity", "s", "0.8")
        .with("vectors", "vec", vectors.signature())
        .with("refs", "r", "sum");
    let description = request.describe().width(3).family(["r", "p", "f"]).signature(signature);
    Ok(Box::new(RougeWe { description, order, vectors }))
}

struct RougeWe {
    description: Description,
    order: usize,
    vectors: Arc<WordVectors>,
}

impl Metric for RougeWe {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        Ok(Rows::each(stories, 3, |story, row| {
            let counts = Counts::of(story, self.order, &self.vectors);
            row.copy_from_slice(&[counts.matches, counts.reference, counts.story]);
        }))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        let counts = Counts { matches: row[0], reference: row[1], story: row[2] };
        let (recall, precision) = (counts.recall(), counts.precision());
        let both = recall + precision;
        values[0] = Ok(recall);
        values[1] = Ok(precision);
        values[2] = Ok(if both > 0.0 { 2.0 * recall * precision / both } else { 0.0 });
    }
}

/// Matches and n-grams, added up over the references.
pub(crate) struct Counts {
    matches: f64,
    /// The n-grams of the references.
    reference: f64,
    /// The n-grams of the story, times the number of references.
    story: f64,
}

impl Counts {
    /// Compares a story with its references.
    pub fn of(story: &Prepared<'_>, order: usize, vectors: &WordVectors) -> Self {
        let words = story.text.view::<LowerWords>();
        let ngrams = |words: &LowerWords| (words.0.ids.len() + 1).saturating_sub(order) as f64;
        let mut counts = Self { matches: 0.0, reference: 0.0, story: 0.0 };
        for reference in &story.references {
            let other = reference.view::<LowerWords>();
            counts.matches += soft_overlap(&words.0, &other.0, order, vectors) as f64;
            counts.reference += ngrams(&other);
            counts.story += ngrams(&words);
        }
        counts
    }

    /// The share of the references' n-grams that are matched.
    pub fn recall(&self) -> f64 {
        share(self.matches, self.reference)
    }

    fn precision(&self) -> f64 {
        share(self.matches, self.story)
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
