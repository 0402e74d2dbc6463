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
pub mod train;

use std::cell::RefCell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cache::{Cache, add_row, add_sum};
use decode::{ALL, BEAM, LANES, Scorer, Search};
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

    /// Reads a packed model, as [`train::Trained::pack`] writes it.
    ///
    /// # Errors
    /// If the bytes are not such a model.
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
            word.settle(regime, i == 0, entry.map_or(0, |entry| entry.tags));
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
        add(&self.model.rows[train::PAIR_ROWS + usize::from(before)]);
        for key in features::transition(self.words, i, before) {
            add(&self.model.rows[self.model.row(key) as usize]);
        }
    }

    fn triple(&self, before2: u8, before: u8, tag: u8) -> i32 {
        let Row(weights) = &self.model.rows[usize::from(before2) * LANES + usize::from(before)];
        i32::from(weights[usize::from(tag)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(sentence: &str) -> String {
        let tokens: Vec<&str> = sentence.split(' ').collect();
        Tagger::embedded().tag(&tokens).iter().map(|t| t.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ordinary_sentences_get_the_tags_a_linguist_would_give() {
        assert_eq!(tags("The old dog sat in the warm kitchen ."), "DT JJ NN VBD IN DT JJ NN .");
        assert_eq!(
            tags("She did n't want to leave , but he had gone ."),
            "PRP VBD RB VB TO VB , CC PRP VBD VBN ."
        );
        assert_eq!(tags("Tom 's sister walks quickly ."), "NNP POS NN VBZ RB .");
        assert_eq!(tags("They saw the saw in the shed ."), "PRP VBD DT NN IN DT NN .");
    }

    #[test]
    fn lower_cased_text_gets_the_same_tags() {
        let sentence = "Tom and Mary went to Paris because they were bored .";
        assert_eq!(tags(&sentence.to_lowercase()), tags(sentence));
    }

    #[test]
    fn placeholders_are_proper_nouns() {
        assert_eq!(
            tags("[MALE] gave [FEMALE] 's book to [NEUTRAL] ."),
            "NNP VBD NNP POS NN IN NNP ."
        );
    }

    #[test]
    fn quotes_and_brackets_are_known_in_every_spelling() {
        assert_eq!(tags("`` Stop ! '' he said ."), "`` VB . '' PRP VBD .");
        assert_eq!(tags("“ Stop ! ” he said ."), "`` VB . '' PRP VBD .");
        assert_eq!(tags("-LRB- yes -RRB-"), "-LRB- UH -RRB-");
    }

    #[test]
    fn a_sentence_has_as_many_tags_as_tokens_whatever_they_are() {
        let tagger = Tagger::embedded();
        assert!(tagger.tag(&[]).is_empty());
        for tokens in [&["", "é", "🙂"][..], &["."; 1], &["a"; 5000]] {
            assert_eq!(tagger.tag(tokens).len(), tokens.len());
        }
    }

    #[test]
    fn what_was_tagged_before_does_not_matter() {
        let sentence = ["The", "saw", "can", "cut", "wood", "fast", "."];
        let fresh =
            std::thread::spawn(move || Tagger::embedded().tag(&sentence)).join().expect("no panic");
        let others: Vec<String> = (0..5000).map(|i| format!("Word{i}")).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let tagger = Tagger::embedded();
        tagger.tag(&others);
        assert_eq!(tagger.tag(&sentence), fresh);
        let same = Tagger::from_bytes(EMBEDDED).expect("a whole model");
        assert_eq!(same.tag(&sentence), fresh);
    }

    #[test]
    fn the_embedded_model_is_at_most_three_megabytes() {
        assert!(EMBEDDED.len() <= 3_000_000, "{} bytes", EMBEDDED.len());
    }

    #[test]
    fn a_damaged_model_is_an_error_and_not_a_panic() {
        assert_eq!(
            Tagger::from_bytes(b"no model").expect_err("wrong").to_string(),
            "not a tagger model: wrong first bytes at byte 0"
        );
        for length in [7, 8, 100, 50_000, EMBEDDED.len() - 1] {
            assert!(Tagger::from_bytes(&EMBEDDED[..length]).is_err(), "cut to {length} bytes");
        }
        let longer = [EMBEDDED, b"x"].concat();
        assert_eq!(Tagger::from_bytes(&longer).expect_err("too long").reason, "bytes left over");
    }

    #[test]
    fn training_learns_what_it_is_shown() {
        let sentence = |text: &str| {
            let pairs = text.split(' ').map(|pair| pair.split_once('/').expect("word/tag"));
            pairs.map(|(word, tag)| (word.to_owned(), tag.parse::<Tag>().expect("a tag"))).unzip()
        };
        let data: Vec<train::Sentence> =
            ["The/DT cat/NN sleeps/VBZ ./.", "A/DT dog/NN barks/VBZ ./."]
                .iter()
                .cycle()
                .take(20)
                .map(|text| sentence(text))
                .collect();
        let trained = train::train(&data, &train::Options::default(), |_, _| {});
        let tagger = Tagger::from_bytes(&trained.pack(8.0)).expect("a whole model");
        assert_eq!(
            tagger.tag(&["The", "dog", "sleeps", "."]),
            [Tag::Dt, Tag::Nn, Tag::Vbz, Tag::Stop]
        );
        let again = train::train(&data, &train::Options::default(), |_, _| {});
        assert_eq!(trained.pack(8.0), again.pack(8.0), "the same data gives the same bytes");
    }
}
