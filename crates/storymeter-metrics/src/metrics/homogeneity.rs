//! Homogeneity: how much a story shares with the other stories of its system.
//!
//! The mean over the stories of a system says how much the system repeats itself: whether it always
//! writes the same story.
//!
//! Definition: a story is compared with every other story of its system. A comparison is the share
//! of its different n-grams that the other story also has, and the score is the mean over all other
//! stories of the system. There are two columns:
//!
//! - `homogeneity/ngrams`: sequences of three words, in small letters and without marks;
//! - `homogeneity/pos`: sequences of five parts of speech, as the tagger of storymeter sees them.
//!   They show the same kind of sentence with other words.
//!
//! Every other story counts the same, whatever its prompt. A system that answers a hundred prompts
//! once is therefore compared over prompts. Where it answers each prompt several times, the samples
//! of one prompt are compared with each other as well, and share more. The number of stories does
//! not change the expected score, so a system with fifty stories can be compared with one with five
//! hundred. Stories that name no system are one system.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: no value, as for every story that is too short for a sequence, and for the only
//! story of a system.
//!
//! Reading the score: 0.01 means that a story shares one in a hundred of its sequences with another
//! one, on average. Longer stories have more to share with, and one prompt or common characters
//! raise the level. So compare systems on the same prompts and with stories of similar length.
//! docs/homogeneity.md shows what people and models get. The ratio of compression, which others
//! report too, is no column here: it depends on the amount of text, on the order of the stories and
//! on what repeats inside single stories, and that page says how much.
//!
//! The sequences are counted in a first pass, which takes time in proportion to the text. It keeps
//! up to 128 MiB in memory and the rest in temporary files. What is left afterwards is 12 to 24
//! bytes per sequence that two stories of a system share. With `--corpus-stats`, the statistics
//! must be made from all stories that are scored, because each story is taken to be in them.
//!
//! Source: comparisons of n-grams and parts of speech over the outputs of one model are common; see
//! Shaib et al., 2024 (Standardizing the Measurement of Text Diversity). The mean over pairs,
//! computed from document frequencies, is storymeter's own.
//!
//! Checked against: a comparison of all pairs, one by one, on made-up stories.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use storymeter_core::{
    Absence, CorpusReader, CorpusWriter, Direction, Entry, MetricError, Needs, Prepared, Range,
    Signature, Value,
};
use storymeter_text::sentence;
use storymeter_text::tagger::Tagger;
use storymeter_text::treebank;

use crate::document_frequency::{DocumentCounter, DocumentFrequency};
use crate::of_corpus::{CorpusMeasure, OfCorpus};
use crate::slop::Words;
use crate::tokenize::{Indexed, NgramIndex, Tokenizer, Tokens, extend_hash};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["homogeneity"],
    choices: &[],
    direction: Direction::Lower,
    range: Range::UNIT,
    needs: Needs { corpus: true, ..Needs::STORY },
    source: include_str!("homogeneity.rs"),
    build: |request| {
        let description = request.describe().width(4).family(["ngrams", "pos"]);
        OfCorpus::boxed(description, Homogeneity)
    },
};

/// The words of a sequence.
const WORDS: usize = 3;
/// The parts of speech of a sequence.
const TAGS: usize = 5;

/// Why a story has no sequence, by column.
const TOO_SHORT: [&str; 2] =
    ["the text has fewer than 3 words", "the text has fewer than 5 words and marks"];

/// What the row says about each column, before its value.
const KNOWN: f64 = 0.0;
const ALONE: f64 = 1.0;
const SHORT: f64 = 2.0;

/// The words of a text in small letters.
struct LowerWords;

impl Tokenizer for LowerWords {
    fn tokenize(text: &str) -> Tokens {
        Words::new(text).into_tokens()
    }
}

/// The parts of speech of a text.
struct PartsOfSpeech;

impl Tokenizer for PartsOfSpeech {
    fn tokenize(text: &str) -> Tokens {
        let (mut buffer, mut ranges) = (String::new(), Vec::new());
        let (mut tokens, mut tags) = (Vec::new(), Vec::new());
        for sentence in sentence::split(text) {
            tokens.clear();
            treebank::tokenize_into(text, sentence, &mut tokens);
            let words: Vec<_> = tokens.iter().map(|token| token.normal(text)).collect();
            let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
            Tagger::embedded().tag_into(&words, &mut tags);
            for tag in &tags {
                let start = buffer.len();
                buffer.push_str(tag.as_str());
                ranges.push(start..buffer.len());
            }
        }
        Tokens::new(buffer, ranges)
    }
}

#[derive(Clone)]
struct Homogeneity;

/// What the first pass counts.
struct Gathered {
    /// The number of stories of each system.
    systems: Mutex<BTreeMap<String, u64>>,
    words: DocumentCounter,
    tags: DocumentCounter,
}

/// In how many stories of each system a sequence occurs.
struct Corpus {
    systems: BTreeMap<String, u64>,
    words: DocumentFrequency,
    tags: DocumentFrequency,
}

/// The hashes of the different sequences of a story, which differ from system to system.
fn sequences(story: &Prepared<'_>) -> [Vec<u64>; 2] {
    let system = story.story.system.as_deref().unwrap_or_default();
    let name = Tokens::new(system.to_owned(), std::iter::once(0..system.len()));
    let system = name.hashed().next().map_or(0, |(hash, _)| hash);
    let last = |index: &NgramIndex, order: usize| {
        let of_order = index.counts(order).len();
        let hashes = index.hashes();
        let hashes = &hashes[hashes.len() - of_order..];
        hashes.iter().map(|&hash| extend_hash(system, hash)).collect()
    };
    [
        last(&story.text.view::<Indexed<LowerWords, WORDS>>(), WORDS),
        last(&story.text.view::<Indexed<PartsOfSpeech, TAGS>>(), TAGS),
    ]
}

impl CorpusMeasure for Homogeneity {
    type Gathered = Gathered;
    type Corpus = Corpus;

    fn gather(&self) -> Gathered {
        let (words, tags) = (DocumentCounter::new(), DocumentCounter::new());
        Gathered { systems: Mutex::default(), words, tags }
    }

    fn add(&self, story: &Prepared<'_>, gathered: &Gathered) {
        let [words, tags] = sequences(story);
        gathered.words.add(&words);
        gathered.tags.add(&tags);
        let system = story.story.system.as_deref().unwrap_or_default();
        let mut systems = gathered.systems.lock().unwrap_or_else(PoisonError::into_inner);
        match systems.get_mut(system) {
            Some(stories) => *stories += 1,
            None => drop(systems.insert(system.to_owned(), 1)),
        }
    }

    fn finish(&self, gathered: Gathered) -> Result<Corpus, MetricError> {
        let systems = gathered.systems.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Corpus { systems, words: gathered.words.finish()?, tags: gathered.tags.finish()? })
    }

    fn save(&self, corpus: &Corpus, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        out.u64(corpus.systems.len() as u64)?;
        for (system, stories) in &corpus.systems {
            out.text(system)?;
            out.u64(*stories)?;
        }
        corpus.words.save(out)?;
        corpus.tags.save(out)
    }

    fn load(&self, input: &mut CorpusReader<'_>) -> io::Result<Corpus> {
        let mut systems = BTreeMap::new();
        for _ in 0..input.u64()? {
            if systems.insert(input.text()?, input.u64()?).is_some() {
                return Err(CorpusReader::wrong("a system stands there twice"));
            }
        }
        let (words, tags) = (DocumentFrequency::load(input)?, DocumentFrequency::load(input)?);
        let stories = systems.values().try_fold(0_u64, |sum, &stories| sum.checked_add(stories));
        if [words.documents(), tags.documents()].iter().any(|&count| Some(count) != stories) {
            return Err(CorpusReader::wrong("the numbers of stories contradict each other"));
        }
        Ok(Corpus { systems, words, tags })
    }

    fn signature(&self, corpus: Option<&Corpus>) -> Signature {
        let stories = corpus.map_or(0, |corpus| corpus.words.documents());
        let systems = corpus.map_or(0, |corpus| corpus.systems.len());
        Signature::new("homogeneity").with("words", "w", WORDS).with("tags", "t", TAGS).with(
            "corpus",
            "c",
            format!("{systems}[{stories}]"),
        )
    }

    fn fill(&self, story: &Prepared<'_>, corpus: &Corpus, row: &mut [f64]) {
        let system = story.story.system.as_deref().unwrap_or_default();
        let others = corpus.systems.get(system).map_or(0, |stories| stories.saturating_sub(1));
        let both = sequences(story).into_iter().zip([&corpus.words, &corpus.tags]);
        for ((sequences, frequency), row) in both.zip(row.chunks_exact_mut(2)) {
            row[0] = match (others, sequences.len()) {
                (0, _) => ALONE,
                (_, 0) => SHORT,
                _ => KNOWN,
            };
            if row[0] == KNOWN {
                // The story itself is one of those that have the sequence.
                let found = frequency.look_up(&sequences);
                let shared: u64 = found.into_iter().map(|stories| u64::from(stories) - 1).sum();
                row[1] = shared as f64 / (others as f64 * sequences.len() as f64);
            }
        }
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        for ((row, value), too_short) in row.chunks_exact(2).zip(values).zip(TOO_SHORT) {
            *value = match row[0] {
                ALONE => Err(Absence::because("there is no other story of this system")),
                SHORT => Err(Absence::because(too_short)),
                _ => Ok(row[1].min(1.0)),
            };
        }
    }
}
