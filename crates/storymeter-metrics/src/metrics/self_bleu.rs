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
use storymeter_core::{Direction, Metric, Needs, Prepared, Signature, Survey};

use super::bleu;
use crate::registry::{Entry, Request};
use crate::tokenize::{Mteval13a, NgramIndex, Tokenised, Tokens};

pub(crate) const ENTRY: Entry = Entry {
    ids: &["self-bleu"],
    presets: &[("13a", "tokens of mteval-v13a")],
    direction: Direction::Lower,
    range: "0 to 100",
    needs: Needs { corpus: true, ..Needs::STORY },
    source: include_str!("self_bleu.rs"),
    build: |request| Ok(Box::new(SelfBleu::new(request))),
};

/// Number of stories in the sample.
const SAMPLE: usize = 100;

#[derive(Clone)]
struct SelfBleu {
    columns: [String; 1],
    seed: u64,
    sample: Arc<Sample>,
}

/// A story's tokens.
type Text = Arc<Tokenised<Mteval13a>>;

/// The stories of the sample by record number, and all their n-grams.
#[derive(Default)]
struct Sample {
    texts: BTreeMap<u64, Text>,
    index: Option<NgramIndex>,
}

impl SelfBleu {
    fn new(request: &Request<'_>) -> Self {
        Self {
            columns: [request.key.to_owned()],
            seed: request.options.seed,
            sample: Arc::default(),
        }
    }
}

impl Metric for SelfBleu {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn direction(&self) -> Direction {
        ENTRY.direction
    }

    fn needs(&self) -> Needs {
        ENTRY.needs
    }

    fn signature(&self) -> Signature {
        Signature::new("self-bleu")
            .with("tok", "tok", "13a")
            .with("smooth", "s", "exp")
            .with("sample", "n", self.sample.texts.len())
            .with("seed", "rs", self.seed)
    }

    fn width(&self) -> usize {
        bleu::WIDTH
    }

    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]) {
        let tokens = story.text.view::<Tokenised<Mteval13a>>();
        let others = self.sample.texts.iter().filter(|(record, _)| **record != story.record);
        let others: Vec<&Tokens> = others.map(|(_, text)| &***text).collect();
        let lengths: Vec<usize> = others.iter().map(|text| text.len()).collect();
        match &self.sample.index {
            Some(index) if others.len() == self.sample.texts.len() => {
                bleu::fill_row(&tokens, index, &lengths, row);
            }
            _ => bleu::fill_row(&tokens, &NgramIndex::new(&others, bleu::ORDER), &lengths, row),
        }
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = bleu::sentence_score(row);
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
    fn add(&self, story: &Prepared<'_>) {
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

    fn finish(self: Box<Self>) -> storymeter_core::Result<Box<dyn Metric>> {
        let drawn = self.drawn.into_inner().unwrap_or_else(PoisonError::into_inner);
        let texts: BTreeMap<_, _> =
            drawn.into_iter().map(|((_, record), text)| (record, text)).collect();
        let all: Vec<&Tokens> = texts.values().map(|text| &***text).collect();
        let index = Some(NgramIndex::new(&all, bleu::ORDER));
        Ok(Box::new(SelfBleu { sample: Arc::new(Sample { texts, index }), ..self.metric }))
    }
}
