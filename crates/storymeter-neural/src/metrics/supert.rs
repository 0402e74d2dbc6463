//! SUPERT: how similar the sentences of story, prompt and reference are.
//!
//! SUPERT was made to judge summaries without reference summaries: the first sentences of the
//! document itself take the place of a reference. HANNA applies it to a story and its prompt, in
//! both roles.
//!
//! Definition: texts are cut into sentences, and each sentence goes through the encoder alone. Of
//! the source the first 15 sentences are used, of the summary all. Tokens that are stop words and
//! the special tokens are dropped; punctuation and pieces of words stay. Every token of one side is
//! matched with the most similar token of the other side, by the cosine of their vectors in the
//! last layer:
//!
//! ```text
//! R = mean over tokens of the source   P = mean over tokens of the summary   F = 2 P R / (P + R)
//! ```
//!
//! The columns are `ps` (the story is the source, the prompt its summary), `ss` (the prompt is the
//! source, the story its summary) and `golden` (the reference is the source, the story its
//! summary). F is symmetric, so that `ps` and `ss` differ only for texts of more than 15 sentences.
//! A story without a prompt has no `ps` and no `ss`, and a story without a reference has no
//! `golden`; the other columns are there.
//!
//! Model: `sentence-transformers/bert-large-nli-stsb-mean-tokens`. Another encoder can be given
//! with `--weights supert=FOLDER`. A sentence is cut after 128 pieces of words, and stories with
//! such a sentence are counted as truncated.
//!
//! Sentences are those of NLTK's Punkt, by its rules and with short lists in place of its tables:
//! of the sentence ends that NLTK 3.10 finds in HANNA's texts 99.6% are found, and 0.01% of those
//! found are none. Stop words are the 153 single English words of NLTK's list.
//!
//! The preset `hanna` repeats HANNA's columns. SummEval's program, which computed them, removes the
//! stop words of all languages that NLTK has (10,161 words, "old", "die" and "see" among them).
//! That list is a file of the user: name it, or the folder of NLTK's corpus `stopwords`, with
//! `--weights supert-stop-words=FILE`. NLTK at that time did not end a sentence before a
//! typographic quotation mark.
//!
//! Several references: the mean of their scores.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: no value, as for every text that has no word besides stop words.
//!
//! Source: Gao, Zhao and Eger 2020, "SUPERT: Towards New Frontiers in Unsupervised Evaluation
//! Metrics for Multi-Document Summarization".
//!
//! Checked against: the formulas above with MiniLM in PyTorch, within 1e-5. HANNA's `ps` and `ss`
//! are equal for 205 of its first 528 stories, and 204 of them have at most 15 sentences by the
//! rules of the preset.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use storymeter_core::{
    Choice, Description, Direction, Entry, Error, Metric, MetricError, Needs, Place, Precision,
    Prepared, Range, Request, Resources, Rows, Signature, TextCache, Value, file,
};
use storymeter_encoder::{Batch, Outputs, PackedRows, Tokenizer};
use storymeter_text::sentence::{PunktQuotes, split_like_punkt};

use crate::absent::{reasons, row, row_values};
use crate::models::{OpenModel, failed};
use crate::words::is_stop_word;

pub(crate) static ENTRY: Entry = Entry {
    ids: &["supert"],
    choices: &[Choice::preset(
        "hanna",
        "as in HANNA: stop words of all languages, and older rules for sentences",
    )],
    direction: Direction::Higher,
    range: Range::between(-1.0, 1.0),
    needs: Needs::STORY,
    source: include_str!("supert.rs"),
    build,
};

const USUAL_MODEL: &str = "sentence-transformers/bert-large-nli-stsb-mean-tokens";

/// The number of sentences of the source that are used.
const SOURCE_SENTENCES: usize = 15;

/// The most tokens of a sentence: 128 pieces and two special tokens.
const SENTENCE_TOKENS: usize = 130;

/// How many tokens of a summary are compared at once.
const ROWS_TOGETHER: usize = 96;

/// The name under which the user names the stop words of all languages.
const STOP_WORDS_NAME: &str = "supert-stop-words";

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let hanna = request.has("hanna");
    let stop_words = if hanna { StopWords::named(request)? } else { StopWords::English };
    let model = OpenModel::for_metric(request, USUAL_MODEL, Precision::F32)?;
    model.tokenizer(request.key)?;
    let quotes = if hanna { PunktQuotes::Straight } else { PunktQuotes::All };
    let signature = model
        .sign(Signature::new("supert"))
        .with("layer", "l", model.model().config().layers)
        .with("sentences", "s", if hanna { "punkt-2022" } else { "punkt" })
        .with("source", "src", format!("first-{SOURCE_SENTENCES}"))
        .with("stop", "stop", stop_words.name())
        .with("refs", "r", "mean");
    let description = request
        .describe()
        .width(2 * COLUMNS.len())
        .in_batches()
        .family(COLUMNS)
        .signature(signature);
    Ok(Box::new(Supert { description, model, stop_words, quotes }))
}

const COLUMNS: [&str; 3] = ["ps", "ss", "golden"];

reasons! {
    Why {
        NoPrompt = "the story has no prompt",
        NoReference = "the story has no reference",
        EmptyStory = "the story has no word besides stop words",
        EmptyPrompt = "the prompt has no word besides stop words",
        EmptyReference = "the reference has no word besides stop words",
    }
}

/// The words whose tokens are dropped.
enum StopWords {
    English,
    /// The words of a file, with their number.
    Listed(FxHashSet<Box<str>>),
}

/// The list of all languages has about 100 KB.
const LARGEST_LIST: u64 = 16 << 20;

impl StopWords {
    fn named(request: &Request<'_>) -> Result<Self, MetricError> {
        let named = request.resources.settings().weights.get(STOP_WORDS_NAME);
        let path = named.ok_or_else(|| MetricError::NoWeights {
            metric: request.key.to_owned(),
            files: format!(
                "the stop words of all languages, a file with one word per line or the folder of \
                 NLTK's corpus stopwords, named as {STOP_WORDS_NAME}"
            ),
            name: STOP_WORDS_NAME.to_owned(),
            searched: Vec::new(),
        })?;
        Ok(Self::read(path)?)
    }

    /// Reads a list, or all lists of a folder.
    fn read(path: &Path) -> Result<Self, Error> {
        let mut files = vec![path.to_owned()];
        if path.is_dir() {
            files = file::list(path).map_err(|e| Error::io(Place::file(path), e))?;
            files.retain(|file| file.is_file() && file.file_name().is_some_and(|n| n != "README"));
        }
        let mut words = FxHashSet::default();
        for path in files {
            let text = file::read_text(&path, LARGEST_LIST)?;
            words.extend(text.split_whitespace().map(|word| word.to_lowercase().into()));
        }
        Ok(Self::Listed(words))
    }

    fn contains(&self, word: &str) -> bool {
        match self {
            Self::English => is_stop_word(word),
            Self::Listed(words) => words.contains(word),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::English => "nltk-english".to_owned(),
            Self::Listed(words) => format!("{}-words", words.len()),
        }
    }
}

struct Supert {
    description: Description,
    model: Arc<OpenModel>,
    stop_words: StopWords,
    quotes: PunktQuotes,
}

/// The vectors of a text's tokens, each of length 1.
struct TextVectors {
    rows: Vec<f32>,
    /// The number of tokens in the first sentences, which are used of a source.
    source: usize,
    /// Whether a sentence is longer than what the model reads.
    is_cut: bool,
}

impl Metric for Supert {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let mut texts: Vec<&str> = Vec::new();
        for story in stories {
            let all = [&story.text].into_iter().chain(&story.prompt).chain(&story.references);
            texts.extend(all.map(|text| text.text()));
        }
        texts.sort_unstable();
        texts.dedup();
        let vectors: FxHashMap<&str, TextVectors> =
            texts.iter().copied().zip(self.read(&texts)?).collect();
        let cells: Vec<(Row, bool)> =
            stories.par_iter().map(|story| self.row(story, &vectors)).collect();
        let cut = cells.iter().filter(|(_, is_cut)| *is_cut).count() as u64;
        let values = cells.into_iter().flat_map(|(row, _)| row).collect();
        Ok(Rows::from_values(2 * COLUMNS.len(), values).truncated(cut))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        for (value, cell) in values.iter_mut().zip(row.chunks_exact(2)) {
            row_values::<Why>(cell, std::slice::from_mut(value));
        }
    }
}

/// For each column its number, and the number of the reason why it has none.
type Row = [f64; 2 * COLUMNS.len()];

impl Supert {
    /// The row of a story, and whether one of its texts is read only in part.
    fn row(&self, story: &Prepared<'_>, vectors: &FxHashMap<&str, TextVectors>) -> (Row, bool) {
        let find = |text: &TextCache<'_>| &vectors[text.text()];
        let text = find(&story.text);
        let prompt = story.prompt.as_ref().map(|prompt| find(prompt));
        let references: Vec<&TextVectors> = story.references.iter().map(|t| find(t)).collect();
        let is_cut = [text].into_iter().chain(prompt).chain(references.iter().copied());
        let is_cut = is_cut.into_iter().any(|text| text.is_cut);

        let width = self.model.model().config().hidden;
        let prompt = prompt.ok_or(Why::NoPrompt);
        let (empty, empty_prompt) = (Why::EmptyStory, Why::EmptyPrompt);
        let ps = prompt.and_then(|prompt| f1(text, empty, prompt, empty_prompt, width));
        let ss = prompt.and_then(|prompt| f1(prompt, empty_prompt, text, empty, width));
        let golden = references
            .iter()
            .map(|reference| f1(reference, Why::EmptyReference, text, empty, width))
            .collect::<Result<Vec<f64>, Why>>()
            .and_then(|all| match all.len() {
                0 => Err(Why::NoReference),
                count => Ok(all.iter().sum::<f64>() / count as f64),
            });
        let mut cells = [0.0; 2 * COLUMNS.len()];
        for (cell, value) in cells.chunks_exact_mut(2).zip([ps, ss, golden]) {
            cell.iter_mut().zip(row([value])).for_each(|(place, number)| *place = number);
        }
        (cells, is_cut)
    }

    /// The vectors of texts. All their sentences go through the model together.
    fn read(&self, texts: &[&str]) -> Result<Vec<TextVectors>, MetricError> {
        let metric = &self.description.key;
        let tokenizer = self.model.tokenizer(metric)?;
        let limit = SENTENCE_TOKENS.min(self.model.longest());
        let encode = |text: &&str| -> Vec<(Vec<u32>, usize)> {
            let sentences = split_like_punkt(text, self.quotes);
            sentences.iter().map(|span| tokenizer.encode(span.of(text), limit)).collect()
        };
        let encoded: Vec<Vec<(Vec<u32>, usize)>> = texts.par_iter().map(encode).collect();

        let mut found: Vec<TextVectors> = encoded
            .iter()
            .map(|sentences| TextVectors {
                rows: Vec::new(),
                source: 0,
                is_cut: sentences.iter().any(|(_, left_out)| *left_out > 0),
            })
            .collect();
        let most = self.model.tokens_at_once();
        let all = encoded.iter().enumerate().flat_map(|(text, sentences)| {
            sentences.iter().enumerate().map(move |(number, (ids, _))| (text, number, ids))
        });
        let mut group: Vec<(usize, usize, &Vec<u32>)> = Vec::new();
        let mut tokens = 0;
        for sentence in all {
            tokens += sentence.2.len();
            group.push(sentence);
            if tokens >= most {
                self.run(&group, tokenizer, &mut found)?;
                group.clear();
                tokens = 0;
            }
        }
        if !group.is_empty() {
            self.run(&group, tokenizer, &mut found)?;
        }
        Ok(found)
    }

    /// Takes sentences through the model, and adds the vectors of their tokens to their texts.
    fn run(
        &self,
        sentences: &[(usize, usize, &Vec<u32>)],
        tokenizer: &Tokenizer,
        texts: &mut [TextVectors],
    ) -> Result<(), MetricError> {
        let layer = self.model.model().config().layers;
        let mut batch = Batch::new();
        sentences.iter().for_each(|(_, _, ids)| batch.push(ids));
        let run = self.model.model().run(&batch, &Outputs::new().layers([layer]));
        let run = run.map_err(|error| failed(&self.description.key, error))?;
        let states = run.layer(layer);
        let width = states.width();
        for (at, &(text, number, ids)) in sentences.iter().enumerate() {
            let text = &mut texts[text];
            let rows = states.sequence(at).chunks_exact(width);
            for (row, _) in rows.zip(ids).filter(|(_, id)| !self.is_dropped(tokenizer, **id)) {
                push_direction(row, &mut text.rows);
            }
            if number < SOURCE_SENTENCES {
                text.source = text.rows.len() / width;
            }
        }
        Ok(())
    }

    /// Whether a token takes no part: a special token or a stop word.
    fn is_dropped(&self, tokenizer: &Tokenizer, id: u32) -> bool {
        let special = [tokenizer.start(), tokenizer.end()].contains(&Some(id));
        special || tokenizer.piece(id).is_some_and(|p| self.stop_words.contains(&p.to_lowercase()))
    }
}

/// Appends a vector, divided by its length.
fn push_direction(vector: &[f32], rows: &mut Vec<f32>) {
    let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    rows.extend(vector.iter().map(|&x| (f64::from(x) * scale) as f32));
}

/// The F score of a source and its summary, or the reason why there is none.
fn f1(
    source: &TextVectors,
    empty_source: Why,
    summary: &TextVectors,
    empty_summary: Why,
    width: usize,
) -> Result<f64, Why> {
    let source = &source.rows[..source.source * width];
    if source.is_empty() {
        return Err(empty_source);
    }
    if summary.rows.is_empty() {
        return Err(empty_summary);
    }
    let packed = PackedRows::new(source, width);
    let mut best_of_source = vec![f32::MIN; packed.len()];
    let mut precision = 0.0;
    let mut products = Vec::new();
    for rows in summary.rows.chunks(ROWS_TOGETHER * width) {
        products.resize(rows.len() / width * packed.len(), 0.0);
        packed.products(rows, &mut products);
        for products in products.chunks_exact(packed.len()) {
            let mut best = f32::MIN;
            for (best_of_source, &product) in best_of_source.iter_mut().zip(products) {
                best = best.max(product);
                *best_of_source = best_of_source.max(product);
            }
            precision += f64::from(best);
        }
    }
    precision /= (summary.rows.len() / width) as f64;
    let recall = best_of_source.iter().map(|&best| f64::from(best)).sum::<f64>();
    let recall = recall / best_of_source.len() as f64;
    let both = precision + recall;
    Ok(if both == 0.0 { 0.0 } else { 2.0 * precision * recall / both })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_finds_its_most_similar_one() {
        let text = |rows: &[f32], source: usize| TextVectors {
            rows: rows.to_vec(),
            source,
            is_cut: false,
        };
        // The source has two tokens, of which one is used. Best: 0.8 for it; 0.8 and 0.6 for the
        // summary.
        let source = text(&[1.0, 0.0, 0.0, 1.0], 1);
        let summary = text(&[0.8, 0.6, 0.6, -0.8], 2);
        let (recall, precision) = (0.8f64, 0.7f64);
        let expected = 2.0 * recall * precision / (recall + precision);
        let found = f1(&source, Why::EmptyStory, &summary, Why::EmptyPrompt, 2).expect("a value");
        assert!((found - expected).abs() < 1e-7, "{found} {expected}");
        let empty = text(&[], 0);
        let f1 = |one, two| f1(one, Why::EmptyStory, two, Why::EmptyPrompt, 2);
        assert_eq!(f1(&empty, &summary), Err(Why::EmptyStory));
        assert_eq!(f1(&source, &empty), Err(Why::EmptyPrompt));
    }

    #[test]
    fn stop_words_of_all_languages_are_a_file_or_a_folder_of_files() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("english"), "the\nOld\n").expect("written");
        std::fs::write(folder.path().join("german"), "die\nder\n").expect("written");
        std::fs::write(folder.path().join("README"), "candle").expect("written");
        let words = StopWords::read(folder.path()).expect("two lists");
        assert!(words.contains("old") && words.contains("die") && !words.contains("candle"));
        assert_eq!(words.name(), "4-words");
        assert!(!StopWords::English.contains("old") && StopWords::English.contains("the"));
    }
}
