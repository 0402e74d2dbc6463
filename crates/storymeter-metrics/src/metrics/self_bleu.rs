//! Self-BLEU: how much the stories of the input resemble each other.
//!
//! Definition: the BLEU of a story with other stories of the input as its references. These are a
//! sample of 100 stories, the same for all, so that the time grows with the number of stories and
//! not with its square. A story that is itself in the sample is left out of its own references; it
//! is known by its text. With 100 stories or fewer the sample is the whole input.
//!
//! The sample is drawn in a first pass. It depends only on the seed and on the places of the
//! stories in the input, and is the same for every number of threads.
//!
//! Many stories: the mean of their scores, which is the usual self-BLEU of a system.
//!
//! Empty story: 0. A single story without others scores 0 as well.
//!
//! Reading the score: low values mean variety. A system that writes the same story again and again
//! comes close to 100. The stories may have one prompt or many, which changes the level, so compare
//! only systems on the same prompts.
//!
//! Source: Zhu et al., SIGIR 2018 (Texygen).
//!
//! Checked against: the BLEU of a story is that of `bleu`, which equals sacrebleu 2.6.0 to 1e-9.
//! The sampling has no peer to compare with.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rand_chacha::rand_core::Rng;
use storymeter_core::rng::StreamId;
use storymeter_core::{
    Choice, CorpusReader, CorpusWriter, Direction, Entry, MetricError, Needs, Prepared, Range,
    Signature, Value,
};

use super::bleu;
use crate::of_corpus::{CorpusMeasure, OfCorpus};
use crate::per_story::fill_values;
use crate::tokenize::{Mteval13a, NgramIndex, Tokenised, Tokens};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["self-bleu"],
    choices: &[Choice::new(
        "tokeniser",
        "13a",
        "tokens of mteval-v13a, with exponential smoothing (the default)",
    )],
    direction: Direction::Lower,
    range: Range::PERCENT,
    needs: Needs { corpus: true, ..Needs::STORY },
    source: include_str!("self_bleu.rs"),
    build: |request| {
        let seed = request.resources.settings().seed;
        OfCorpus::boxed(request.describe().width(bleu::WIDTH), SelfBleu { seed })
    },
};

/// The number of stories in the sample.
const SAMPLE: usize = 100;

#[derive(Clone)]
struct SelfBleu {
    seed: u64,
}

/// The tokens of a story.
type Text = Arc<Tokenised<Mteval13a>>;

/// The stories of the sample by record number, and all their n-grams.
struct Sample {
    texts: BTreeMap<u64, Tokens>,
    index: NgramIndex,
}

impl Sample {
    fn of(texts: BTreeMap<u64, Tokens>) -> Self {
        let all: Vec<&Tokens> = texts.values().collect();
        let index = NgramIndex::new(&all, bleu::ORDER);
        Self { texts, index }
    }
}

impl CorpusMeasure for SelfBleu {
    /// The stories with the smallest random numbers so far, by random number and record, so that
    /// the order of arrival does not matter.
    type Gathered = Mutex<BTreeMap<(u64, u64), Text>>;
    type Corpus = Sample;

    fn gather(&self) -> Self::Gathered {
        Mutex::default()
    }

    fn add(&self, story: &Prepared<'_>, drawn: &Self::Gathered) {
        let stream = StreamId::SelfBleuSample { record: story.record };
        let key = (stream.rng(self.seed).next_u64(), story.record);
        let lock = || drawn.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let drawn = lock();
            if drawn.len() == SAMPLE && drawn.last_key_value().is_some_and(|(last, _)| key > *last)
            {
                return;
            }
        }
        // The lock is not held while a story is tokenised. Most stories do not get here.
        let tokens = story.text.view::<Tokenised<Mteval13a>>();
        let mut drawn = lock();
        drawn.insert(key, tokens);
        if drawn.len() > SAMPLE {
            drawn.pop_last();
        }
    }

    fn finish(&self, drawn: Self::Gathered) -> Result<Sample, MetricError> {
        let drawn = drawn.into_inner().unwrap_or_else(PoisonError::into_inner);
        let tokens = |((_, record), text): ((u64, u64), Text)| (record, (**text).clone());
        Ok(Sample::of(drawn.into_iter().map(tokens).collect()))
    }

    fn save(&self, sample: &Sample, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        out.u32(sample.texts.len() as u32)?;
        for (record, text) in &sample.texts {
            out.u64(*record)?;
            out.u32(text.len() as u32)?;
            text.iter().try_for_each(|token| out.text(token))?;
        }
        Ok(())
    }

    fn load(&self, input: &mut CorpusReader<'_>) -> io::Result<Sample> {
        let count = input.u32()?;
        let mut texts = BTreeMap::new();
        for _ in 0..count {
            let (record, tokens) = (input.u64()?, input.u32()?);
            let (mut buffer, mut ranges) = (String::new(), Vec::new());
            for _ in 0..tokens {
                let start = buffer.len();
                buffer.push_str(&input.text()?);
                ranges.push(start..buffer.len());
            }
            if u32::try_from(buffer.len()).is_err() {
                return Err(CorpusReader::wrong("a story of the sample is too long"));
            }
            texts.insert(record, Tokens::new(buffer, ranges));
        }
        if texts.len() != count as usize || texts.len() > SAMPLE {
            return Err(CorpusReader::wrong("the sample of stories contradicts itself"));
        }
        Ok(Sample::of(texts))
    }

    fn signature(&self, sample: Option<&Sample>) -> Signature {
        Signature::new("self-bleu")
            .with("tok", "tok", "13a")
            .with("smooth", "s", "exp")
            .with("sample", "n", sample.map_or(0, |sample| sample.texts.len()))
            .with("seed", "rs", self.seed)
    }

    /// Compares a story with the sample. A story is no reference of itself: if the sample has its
    /// text, one such text is left out. Record numbers do not decide this, because the stories may
    /// be scored in other files than the sample was drawn from.
    fn fill(&self, story: &Prepared<'_>, sample: &Sample, row: &mut [f64]) {
        let tokens = story.text.view::<Tokenised<Mteval13a>>();
        let is_story = |text: &Tokens| text.len() == tokens.len() && text.iter().eq(tokens.iter());
        let itself = sample.texts.values().position(is_story);
        let others = sample.texts.values().enumerate().filter(|(at, _)| Some(*at) != itself);
        let others: Vec<&Tokens> = others.map(|(_, text)| text).collect();
        let lengths: Vec<usize> = others.iter().map(|text| text.len()).collect();
        if others.len() == sample.texts.len() {
            bleu::fill_row(&tokens, &sample.index, &lengths, row);
        } else {
            bleu::fill_row(&tokens, &NgramIndex::new(&others, bleu::ORDER), &lengths, row);
        }
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        fill_values(values, |scores| scores[0] = bleu::sentence_score(row));
    }
}
