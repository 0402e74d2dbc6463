//! CIDEr-D: cosine of tf-idf weighted n-grams of story and reference, with a penalty for a different length.
//!
//! Definition: for n = 1..4, `g_n(S)` is the vector of `count * (log N - log max(1, df))` of all n-grams, where N is
//! the number of records and df the number of records with a reference that has the n-gram. With clipping,
//! `cos_n = sum min(g_n(S), g_n(H)) g_n(H) / (|g_n(S)| |g_n(H)|)`, and
//! `CIDEr-D = 10 * mean over n and references of cos_n * exp(-(l_S - l_H)^2 / 72)` with l the number of bigrams.
//! For texts as long as stories the penalty is close to zero: differences of twenty words are seven sigmas.
//!
//! Document frequencies come from the references of everything that is scored together, so a story's score depends
//! on its company, and a single record scores 0. A first pass over the input counts them.
//!
//! Presets:
//! - `words` (default): runs of letters, digits and underscores, not lower-cased, as HANNA's came about;
//! - `split`: tokens between white space, as pycocoevalcap takes its input.
//!
//! Source: Vedantam et al., CVPR 2015; as in pycocoevalcap 1.2.
//!
//! Direction: higher is better. Range: 0 to 10. An empty story scores 0.

use std::sync::Arc;

use storymeter_core::{
    Choice, Description, Direction, Entry, Metric, MetricError, Needs, Prepared, Range, Request,
    Resources, Rows, Signature, Survey, Value,
};

use crate::document_frequency::{DocumentCounter, DocumentFrequency};
use crate::per_story::fill_values;
use crate::tokenize::{Indexed, NgramIndex, Tokenised, Tokenizer, Tokens, Whitespace, WordRuns};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["cider-d"],
    choices: &[
        Choice::new("tokeniser", "words", "runs of word characters (the default)"),
        Choice::new("tokeniser", "split", "tokens between white space"),
    ],
    direction: Direction::Higher,
    range: Range::between(0.0, 10.0),
    needs: Needs { corpus: true, ..Needs::REFERENCE },
    source: include_str!("cider_d.rs"),
    build: |request| Ok(Box::new(CiderD::new(request))),
};

const ORDER: usize = 4;
/// Standard deviation of the length penalty, in bigrams.
const SIGMA: f64 = 6.0;

#[derive(Clone)]
struct CiderD {
    description: Description,
    split: bool,
    /// How often each n-gram occurs; known after the first pass.
    frequency: Option<Arc<DocumentFrequency>>,
}

impl CiderD {
    fn new(request: &Request<'_>) -> Self {
        let split = request.has("split");
        let description = request.describe().signature(signature(split, 0));
        Self { description, split, frequency: None }
    }
}

fn signature(split: bool, documents: u64) -> Signature {
    Signature::new("cider-d")
        .with("order", "o", ORDER)
        .with("sigma", "s", SIGMA)
        .with("tok", "tok", if split { "split" } else { "words" })
        .with("df", "df", format!("references[{documents}]"))
}

impl Metric for CiderD {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let Some(frequency) = &self.frequency else {
            return Err(MetricError::NoCorpus { metric: self.description.key.clone() });
        };
        Ok(Rows::each(stories, 1, |story, row| {
            row[0] = if self.split {
                score::<Whitespace>(story, frequency)
            } else {
                score::<WordRuns>(story, frequency)
            };
        }))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        fill_values(values, |scores| scores[0] = row[0]);
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        Some(Box::new(References { metric: self.clone(), counter: DocumentCounter::new() }))
    }
}

/// The first pass: which n-grams the references have.
struct References {
    metric: CiderD,
    counter: DocumentCounter,
}

impl Survey for References {
    fn add(&self, stories: &[Prepared<'_>]) -> Result<(), MetricError> {
        for story in stories {
            self.counter.add(&if self.metric.split {
                reference_hashes::<Whitespace>(story)
            } else {
                reference_hashes::<WordRuns>(story)
            });
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn Metric>, MetricError> {
        let frequency = Arc::new(self.counter.finish()?);
        let signature = signature(self.metric.split, frequency.documents());
        let description = self.metric.description.clone().signature(signature);
        Ok(Box::new(CiderD { description, frequency: Some(frequency), ..self.metric }))
    }
}

fn reference_hashes<T: Tokenizer>(story: &Prepared<'_>) -> Vec<u64> {
    match story.references.as_slice() {
        [reference] => reference.view::<Indexed<T, ORDER>>().hashes(),
        references => {
            let views: Vec<_> =
                references.iter().map(|reference| reference.view::<Tokenised<T>>()).collect();
            let texts: Vec<&Tokens> = views.iter().map(|view| &***view).collect();
            NgramIndex::new(&texts, ORDER).hashes()
        }
    }
}

fn score<T: Tokenizer>(story: &Prepared<'_>, frequency: &DocumentFrequency) -> f64 {
    let text = story.text.view::<Indexed<T, ORDER>>();
    let weighted = Weighted::new(&text, frequency);
    let mut cosines = [0.0; ORDER];
    for reference in &story.references {
        let reference = reference.view::<Indexed<T, ORDER>>();
        weighted.add_similarity(&Weighted::new(&reference, frequency), &mut cosines);
    }
    10.0 * (cosines.iter().sum::<f64>() / ORDER as f64 / story.references.len() as f64)
}

/// A text's n-grams with their weights.
struct Weighted<'a> {
    index: &'a NgramIndex,
    weights: Vec<f64>,
    norms: [f64; ORDER],
    /// Number of bigrams.
    length: f64,
}

impl<'a> Weighted<'a> {
    fn new(index: &'a NgramIndex, frequency: &DocumentFrequency) -> Self {
        let documents = (frequency.documents() as f64).ln();
        let mut weights = Vec::with_capacity(index.len());
        let mut norms = [0.0; ORDER];
        let mut found_in = frequency.of_all(&index.hashes()).into_iter();
        for (order, norm) in norms.iter_mut().enumerate() {
            let mut squares = 0.0;
            for (&count, found_in) in index.counts(order + 1).iter().zip(found_in.by_ref()) {
                // Most are in one document, and the logarithm of that is 0.
                let of_frequency = if found_in == 1 { 0.0 } else { f64::from(found_in).ln() };
                let weight = f64::from(count) * (documents - of_frequency);
                weights.push(weight);
                squares += weight * weight;
            }
            *norm = squares.sqrt();
        }
        let length = f64::from(index.counts(2).iter().sum::<u32>());
        Self { index, weights, norms, length }
    }

    fn add_similarity(&self, reference: &Self, cosines: &mut [f64; ORDER]) {
        let distance = self.length - reference.length;
        let penalty = (-(distance * distance) / (2.0 * SIGMA * SIGMA)).exp();
        let numbers = self.index.numbers_in(reference.index);
        let mut start = 0;
        for (order, cosine) in cosines.iter_mut().enumerate() {
            let end = start + self.index.counts(order + 1).len();
            let mut product = 0.0;
            for (weight, number) in self.weights[start..end].iter().zip(&numbers[start..end]) {
                if let Some(number) = number {
                    let other = reference.weights[*number as usize];
                    product += weight.min(other) * other;
                }
            }
            let norms = self.norms[order] * reference.norms[order];
            *cosine += if norms == 0.0 { product } else { product / norms } * penalty;
            start = end;
        }
    }
}
