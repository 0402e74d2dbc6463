//! Assigns part-of-speech tags.
//!
//! The tagger is a second-order linear model, trained as a structured perceptron on the English Web
//! Treebank (`examples/train_tagger.rs`) and embedded in the library. It is built for speed:
//! strings are hashed once, the weights of a feature are one cache line of bytes, the sums of
//! recent words are kept, words with a single possible tag are not scored, and only tags near the
//! best are searched.
//!
//! ```
//! use storymeter_text::tagger::{Tag, Tagger};
//!
//! let tags = Tagger::embedded().tag(&["She", "did", "n't", "see", "the", "saw", "."]);
//! assert_eq!(tags, [Tag::Prp, Tag::Vbd, Tag::Rb, Tag::Vb, Tag::Dt, Tag::Nn, Tag::Stop]);
//! ```

mod cache;
mod decode;
mod features;
mod model;
mod table;
mod tags;

use std::cell::RefCell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cache::{Cache, add_row, add_sum};
use decode::{ALL, BEAM, LANES, PAIR_ROWS, Scorer, Search};
use features::{Window, Word};
pub use model::BadModel;
use model::{Model, Row};
pub use tags::{Tag, UnknownTag};

static EMBEDDED: &[u8] = include_bytes!("../../data/tagger.bin");

/// A tag whose score by the words alone is this far below the best is not searched.
///
/// It is the margin of training in the units of the embedded weights: a tag that is further behind
/// hardly ever wins. The limit costs 0.01 points on the development set, and saves a third of the
/// time.
const REACH: i32 = 256;

/// A trained tagger.
#[derive(Debug)]
pub struct Tagger {
    model: Model,
    /// Distinguishes this tagger from others in the same process.
    number: u64,
}

impl Tagger {
    /// The embedded tagger. It is unpacked on first use and then shared.
    pub fn embedded() -> &'static Self {
        static TAGGER: LazyLock<Tagger> = LazyLock::new(|| {
            Tagger::from_bytes(EMBEDDED).expect("the embedded model is whole; a test reads it")
        });
        &TAGGER
    }

    /// Reads a packed model, as `examples/train_tagger.rs` writes it.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadModel> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let model = Model::unpack(bytes)?;
        Ok(Self { model, number: NEXT.fetch_add(1, Ordering::Relaxed) })
    }

    /// The tags of one sentence, one per token. The tokens are those of [`crate::treebank`].
    pub fn tag(&self, tokens: &[&str]) -> Vec<Tag> {
        let mut tags = Vec::new();
        self.tag_into(tokens, &mut tags);
        tags
    }

    /// Does the same as [`Tagger::tag`], but replaces the content of `tags`. It allocates nothing
    /// once its buffers have grown.
    pub fn tag_into(&self, tokens: &[&str], tags: &mut Vec<Tag>) {
        thread_local! {
            static SCRATCH: RefCell<Scratch> = RefCell::default();
        }
        tags.clear();
        SCRATCH.with_borrow_mut(|Scratch { words, allowed, cache, search }| {
            self.read(tokens, words, allowed);
            cache.serve(self.number);
            search.run(&mut View { model: &self.model, cache, words, allowed }, tags);
        });
    }

    /// Looks up every token.
    fn read(&self, tokens: &[&str], words: &mut Vec<Word>, allowed: &mut Vec<u64>) {
        words.clear();
        words.extend(tokens.iter().map(|token| Word::new(token)));
        let regime = features::regime(words);
        allowed.clear();
        allowed.extend(words.iter_mut().zip(tokens).enumerate().map(|(i, (word, token))| {
            let entry = self
                .model
                .words
                .get(word.dictionary_key(regime))
                .map(|e| self.model.entries[e as usize]);
            word.set_context(regime, i == 0, entry.map_or(0, |entry| entry.tags));
            match entry {
                _ if word.placeholder => 1 << Tag::Nnp as u8,
                Some(entry) if entry.closed => entry.tags,
                _ => fixed(token).map_or(ALL, |tag| 1 << tag as u8),
            }
        }));
    }
}

/// The buffers of one thread.
#[derive(Default)]
struct Scratch {
    words: Vec<Word>,
    allowed: Vec<u64>,
    cache: Cache,
    search: Search,
}

/// The tags of quotes and brackets in spellings that the training text does not have.
fn fixed(token: &str) -> Option<Tag> {
    match token {
        "``" | "“" | "«" => Some(Tag::OpenQuote),
        "''" | "”" | "»" => Some(Tag::CloseQuote),
        "-LRB-" => Some(Tag::LeftBracket),
        "-RRB-" => Some(Tag::RightBracket),
        _ => None,
    }
}

/// A sentence together with the model that scores it.
struct View<'a> {
    model: &'a Model,
    cache: &'a mut Cache,
    words: &'a [Word],
    allowed: &'a [u64],
}

impl Scorer for View<'_> {
    type Score = i16;

    fn len(&self) -> usize {
        self.words.len()
    }

    fn allowed(&self, i: usize) -> u64 {
        self.allowed[i]
    }

    fn emission(&mut self, i: usize) -> [i16; LANES] {
        let window = Window::new(self.words, i);
        let model = self.model;
        let mut scores = self.cache.get(model, window.word).own;
        add_sum(&mut scores, &self.cache.get(model, window.before).before);
        add_sum(&mut scores, &self.cache.get(model, window.after).after);
        add_row(&mut scores, model, self.cache.get(model, window.before2).before2);
        add_row(&mut scores, model, self.cache.get(model, window.after2).after2);
        for key in features::context(&window) {
            add_row(&mut scores, model, model.row(key));
        }
        if window.word.is_never_a_name() {
            // In a text without capitals, a verb between two names would look like a name.
            scores[Tag::Nnp as usize] = i16::MIN;
            scores[Tag::Nnps as usize] = i16::MIN;
        }
        scores
    }

    fn reach(&self) -> i32 {
        REACH
    }

    fn pair(&self, i: usize, before: u8, tags: &[u8], scores: &mut [i32; BEAM]) {
        let mut add = |Row(weights): &Row| {
            for (score, &tag) in scores.iter_mut().zip(tags) {
                *score += i32::from(weights[usize::from(tag)]);
            }
        };
        add(&self.model.rows[PAIR_ROWS + usize::from(before)]);
        for key in features::transition(self.words, i, before) {
            add(&self.model.rows[self.model.row(key) as usize]);
        }
    }

    fn triple(&self, before2: u8, before: u8, tag: u8) -> i32 {
        let Row(weights) = &self.model.rows[usize::from(before2) * LANES + usize::from(before)];
        i32::from(weights[usize::from(tag)])
    }
}
