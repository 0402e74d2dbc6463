//! Part-of-speech tags.
//!
//! A second-order linear model trained by the averaged structured perceptron on the English Web Treebank
//! (`examples/train_tagger.rs`), embedded in the library. Built for speed: string features are hashed once, weights are one
//! cache line of bytes a feature, words with a single possible tag are not scored.
//!
//! ```
//! use storymeter_text::tagger::{Tag, Tagger};
//!
//! let tags = Tagger::embedded().tag(&["She", "did", "n't", "see", "the", "saw", "."]);
//! assert_eq!(tags, [Tag::Prp, Tag::Vbd, Tag::Rb, Tag::Vb, Tag::Dt, Tag::Nn, Tag::Stop]);
//! ```

mod decode;
mod features;
mod model;
mod table;
mod tags;
pub mod train;

use std::cell::RefCell;
use std::sync::LazyLock;

use decode::{BEAM, LANES, Scorer, Search};
use features::{Regime, Word};
pub use model::BadModel;
use model::{Model, Row};
pub use tags::{Tag, UnknownTag};

static EMBEDDED: &[u8] = include_bytes!("../../data/tagger.bin");

/// A trained tagger.
#[derive(Debug)]
pub struct Tagger {
    model: Model,
}

impl Tagger {
    /// The tagger that comes with the library; unfolded on first use, then shared.
    pub fn embedded() -> &'static Self {
        static TAGGER: LazyLock<Tagger> = LazyLock::new(|| {
            Tagger::from_bytes(EMBEDDED).expect("the embedded model is whole; a test reads it")
        });
        &TAGGER
    }

    /// A tagger from a packed model, as [`train::Trained::pack`] writes it.
    ///
    /// # Errors
    /// If the bytes are not such a model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadModel> {
        Model::unpack(bytes).map(|model| Self { model })
    }

    /// The tags of one sentence, given as treebank tokens; as many tags as tokens.
    pub fn tag(&self, tokens: &[&str]) -> Vec<Tag> {
        let mut tags = Vec::new();
        self.tag_into(tokens, &mut tags);
        tags
    }

    /// As [`Tagger::tag`], replacing what is in `tags`; allocates nothing once its storage has grown.
    pub fn tag_into(&self, tokens: &[&str], tags: &mut Vec<Tag>) {
        thread_local! {
            static SCRATCH: RefCell<(Vec<Word>, Vec<u64>, Search)> = RefCell::default();
        }
        tags.clear();
        SCRATCH.with_borrow_mut(|(words, allowed, search)| {
            let regime = self.read(tokens, words, allowed);
            search.run(&View { model: &self.model, words, allowed, regime }, tags);
        });
    }

    /// Looks every token up.
    fn read(&self, tokens: &[&str], words: &mut Vec<Word>, allowed: &mut Vec<u64>) -> Regime {
        words.clear();
        words.extend(tokens.iter().map(|token| Word::new(token)));
        let regime = features::regime(words);
        allowed.clear();
        allowed.extend(words.iter_mut().zip(tokens).map(|(word, token)| {
            let entry =
                self.model.words.get(word.dictionary_key(regime)).map(|i| self.model.entries[i as usize]);
            word.class = entry.map_or(0, |entry| entry.tags);
            match entry {
                _ if word.placeholder => 1 << Tag::Nnp as u8,
                Some(entry) if entry.closed => entry.tags,
                _ => fixed(token).map_or((1 << Tag::COUNT) - 1, |tag| 1 << tag as u8),
            }
        }));
        regime
    }
}

/// Tokens of the treebank's own spelling that the training text does not have.
fn fixed(token: &str) -> Option<Tag> {
    match token {
        "``" | "“" | "«" => Some(Tag::OpenQuote),
        "''" | "”" | "»" => Some(Tag::CloseQuote),
        "-LRB-" => Some(Tag::LeftBracket),
        "-RRB-" => Some(Tag::RightBracket),
        _ => None,
    }
}

/// A sentence under the embedded weights.
struct View<'a> {
    model: &'a Model,
    words: &'a [Word],
    allowed: &'a [u64],
    regime: Regime,
}

impl Scorer for View<'_> {
    fn len(&self) -> usize {
        self.words.len()
    }

    fn allowed(&self, i: usize) -> u64 {
        self.allowed[i]
    }

    fn emission(&self, i: usize) -> [i32; LANES] {
        // 33 weights of one byte each cannot overflow 16 bits.
        let mut scores = [0i16; LANES];
        for key in features::emission(self.words, i, self.regime) {
            if let Some(row) = self.model.features.get(key) {
                let Row(weights) = &self.model.rows[row as usize];
                for (score, &weight) in scores.iter_mut().zip(weights) {
                    *score += i16::from(weight);
                }
            }
        }
        scores.map(i32::from)
    }

    fn pair(&self, i: usize, before: u8, tags: &[u8], scores: &mut [i32; BEAM]) {
        let mut add = |Row(weights): &Row| {
            for (score, &tag) in scores.iter_mut().zip(tags) {
                *score += i32::from(weights[usize::from(tag)]);
            }
        };
        add(&self.model.rows[train::PAIR_ROWS + usize::from(before)]);
        for key in features::transition(self.words, i, before) {
            if let Some(row) = self.model.features.get(key) {
                add(&self.model.rows[row as usize]);
            }
        }
    }

    fn triple(&self, before2: u8, before: u8, tag: u8) -> i32 {
        let Row(weights) = &self.model.rows[usize::from(before2) * LANES + usize::from(before)];
        i32::from(weights[usize::from(tag)])
    }
}
