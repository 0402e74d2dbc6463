//! Self-BLEU: how much the stories resemble each other.
//!
//! Definition: the BLEU of a story with other stories of the input as its references, averaged over the stories. The
//! references are a sample of 100 stories, the same for all (a story that is itself in the sample is left out of its
//! own references), so the cost does not grow with the square of the input. The sample is drawn in a first pass, by
//! the seed and the record's number alone.
//!
//! Presets:
//! - `13a` (default): sacrebleu's sentence BLEU, tokens of mteval-v13a, exponential smoothing.
//!
//! Source: Zhu et al., SIGIR 2018 (Texygen).
//!
//! Direction: lower is better (more variety). Range: 0 to 100. An empty story scores 0; so does a lone one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rand_chacha::rand_core::Rng;
use storymeter_core::rng::StreamId;
use storymeter_core::{
    Choice, Description, Direction, Entry, Metric, MetricError, Needs, Prepared, Range, Request,
    Resources, Rows, Signature, Survey, Value,
};

use super::bleu;
use crate::per_story::fill_values;
use crate::tokenize::{Mteval13a, NgramIndex, Tokenised, Tokens};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["self-bleu"],
    choices: &[Choice::preset("13a", "tokens of mteval-v13a (the default)")],
    direction: Direction::Lower,
    range: Range::PERCENT,
    needs: Needs { corpus: true, ..Needs::STORY },
    source: include_str!("self_bleu.rs"),
    build: |request| Ok(Box::new(SelfBleu::new(request))),
};

/// Number of stories in the sample.
const SAMPLE: usize = 100;

#[derive(Clone)]
struct SelfBleu {
    description: Description,
    seed: u64,
    /// Known after the first pass.
    sample: Option<Arc<Sample>>,
}

/// A story's tokens.
type Text = Arc<Tokenised<Mteval13a>>;

/// The stories of the sample by record number, and all their n-grams.
struct Sample {
    texts: BTreeMap<u64, Text>,
    index: NgramIndex,
}

impl Sample {
    /// Compares a story with the sample. A story is no reference of itself.
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
        let tokens = story.text.view::<Tokenised<Mteval13a>>();
        let others = self.texts.iter().filter(|(record, _)| **record != story.record);
        let others: Vec<&Tokens> = others.map(|(_, text)| &***text).collect();
        let lengths: Vec<usize> = others.iter().map(|text| text.len()).collect();
        if others.len() == self.texts.len() {
            bleu::fill_row(&tokens, &self.index, &lengths, row);
        } else {
            bleu::fill_row(&tokens, &NgramIndex::new(&others, bleu::ORDER), &lengths, row);
        }
    }
}

impl SelfBleu {
    fn new(request: &Request<'_>) -> Self {
        let seed = request.resources.settings().seed;
        let description = request.describe().width(bleu::WIDTH).signature(signature(0, seed));
        Self { description, seed, sample: None }
    }
}

fn signature(sample: usize, seed: u64) -> Signature {
    Signature::new("self-bleu")
        .with("tok", "tok", "13a")
        .with("smooth", "s", "exp")
        .with("sample", "n", sample)
        .with("seed", "rs", seed)
}

impl Metric for SelfBleu {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let Some(sample) = &self.sample else {
            return Err(MetricError::NoCorpus { metric: self.description.key.clone() });
        };
        Ok(Rows::each(stories, bleu::WIDTH, |story, row| sample.fill(story, row)))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        fill_values(values, |scores| scores[0] = bleu::sentence_score(row));
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        Some(Box::new(Draw { metric: self.clone(), drawn: Mutex::default() }))
    }
}

/// The first pass: keeps the stories with the smallest random numbers.
struct Draw {
    metric: SelfBleu,
    /// By random number and record, so that the order of arrival does not matter.
    drawn: Mutex<BTreeMap<(u64, u64), Text>>,
}

impl Survey for Draw {
    fn add(&self, stories: &[Prepared<'_>]) -> Result<(), MetricError> {
        stories.iter().for_each(|story| self.add_one(story));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn Metric>, MetricError> {
        let drawn = self.drawn.into_inner().unwrap_or_else(PoisonError::into_inner);
        let texts: BTreeMap<_, _> =
            drawn.into_iter().map(|((_, record), text)| (record, text)).collect();
        let all: Vec<&Tokens> = texts.values().map(|text| &***text).collect();
        let index = NgramIndex::new(&all, bleu::ORDER);
        let signature = signature(texts.len(), self.metric.seed);
        let description = self.metric.description.clone().signature(signature);
        let sample = Some(Arc::new(Sample { texts, index }));
        Ok(Box::new(SelfBleu { description, sample, ..self.metric }))
    }
}

impl Draw {
    fn add_one(&self, story: &Prepared<'_>) {
        let stream = StreamId::SelfBleuSample { record: story.record };
        let key = (stream.rng(self.metric.seed).next_u64(), story.record);
        let lock = || self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let drawn = lock();
            if drawn.len() == SAMPLE && drawn.last_key_value().is_some_and(|(last, _)| key > *last)
            {
                return;
            }
        }
        // Tokenised without the lock; most stories do not get here.
        let tokens = story.text.view::<Tokenised<Mteval13a>>();
        let mut drawn = lock();
        drawn.insert(key, tokens);
        if drawn.len() > SAMPLE {
            drawn.pop_last();
        }
    }
}
