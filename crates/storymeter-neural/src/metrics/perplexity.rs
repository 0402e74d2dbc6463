//! Perplexity: how surprised a language model is by each token of the story.
//!
//! Definition: `exp(-(ln p(t1) + ln p(t2) + ...) / n)`, where `p(ti)` is the probability that a
//! causal language model gives to token i of the story when it has read everything before it. The
//! token that begins a text comes first where the model's tokeniser has one, so that the first
//! token of the story counts too. It is not counted itself.
//!
//! Units: by default per token, which cannot be compared between models with different tokenisers.
//! `per-word` divides by the words between white space and `per-byte` by the bytes of the text in
//! UTF-8, and these can be compared. Words and bytes are those of the story itself, as far as the
//! model read it, whatever its tokens look like. `nll` leaves out the exponential (nats), and
//! `bits` gives the same number divided by ln 2, so that `perplexity:per-byte+bits` is the usual
//! "bits per byte".
//!
//! White space before and after the story or the prompt is neither read nor counted, so that a line
//! break at the end of a file changes nothing. Hugging Face's `evaluate` reads it: strip the texts
//! before you compare.
//!
//! With `prompt`, the model reads the prompt first, and only the tokens of the story are counted.
//! The two are joined by one blank, which is read with the story.
//!
//! Long stories: what does not fit the model is not read, as in Hugging Face's `evaluate`, and such
//! stories are counted. With `whole`, long stories are read in windows that overlap by half; every
//! token is counted once, in the first window that has it. A prompt takes at most half a window:
//! its end is read.
//!
//! Many stories: the mean of their scores.
//!
//! Absent: where no token can be counted, as in an empty story.
//!
//! Reading the score: fluent and ordinary text has a low perplexity, and so has text that repeats
//! itself. UNION's perplexity column (Guan and Huang, EMNLP 2020, Table 5) is `perplexity:nll` of a
//! GPT-2 that was trained on human stories.
//!
//! Model: `gpt2`, or any other causal model (GPT-2, Llama type) as a folder or a GGUF file.
//! `storymeter train --kind language-model` makes a model from your own stories.
//!
//! Checked against: transformers 4.44.2, the log-likelihood of every token of 20 stories by
//! SmolLM2-135M (within 0.001), and of tiny models with known weights (within 0.00001).

use std::ops::Range as Span;
use std::sync::Arc;

use storymeter_core::{
    Absence, Choice, Description, Direction, Entry, Metric, MetricError, Needs, Precision,
    Prepared, Range, Request, Resources, Rows, Value, finite_or,
};
use storymeter_encoder::{Batch, Outputs, Token, Tokenizer, portions};

use crate::models::{OpenModel, failed};

/// The usual model.
const MODEL: &str = "gpt2";

/// How many tokens are handed to the model at once. It bounds the memory, and it is enough to keep
/// all threads busy.
const TOKENS_AT_ONCE: usize = 16 * 1024;

pub(crate) static ENTRY: Entry = Entry {
    ids: &["perplexity"],
    choices: &[
        Choice::new("unit", "per-word", "Divide by the words between white space, not by tokens"),
        Choice::new("unit", "per-byte", "Divide by the bytes of the text, not by tokens"),
        Choice::new("scale", "nll", "Without the exponential: nats per token, word or byte"),
        Choice::new("scale", "bits", "Without the exponential: bits per token, word or byte"),
        Choice::new("context", "prompt", "Read the prompt first, and count the story alone"),
        Choice::new("long texts", "whole", "Read long stories in windows that overlap by half"),
    ],
    direction: Direction::Lower,
    range: Range::NOT_NEGATIVE,
    needs: Needs::STORY,
    source: include_str!("perplexity.rs"),
    build,
};

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let model = OpenModel::for_metric(request, MODEL, Precision::F32)?;
    if !model.model().config().is_causal() {
        return Err(model.unfit(request.key, "it is not a causal language model"));
    }
    model.tokenizer(request.key)?;
    let (unit, unit_name) = match request.chosen("unit") {
        Some("per-word") => (Unit::Word, "word"),
        Some("per-byte") => (Unit::Byte, "byte"),
        _ => (Unit::Token, "token"),
    };
    let (scale, scale_name) = match request.chosen("scale") {
        Some("nll") => (Scale::Nats, "nats"),
        Some("bits") => (Scale::Bits, "bits"),
        _ => (Scale::Perplexity, "exp"),
    };
    let (prompt, whole) = (request.has("prompt"), request.has("whole"));
    let mut description = request.describe().width(2).in_batches();
    if prompt {
        description.needs = Needs::PROMPT;
    }
    let signature = model
        .sign(description.signature.clone())
        .with("unit", "u", unit_name)
        .with("scale", "sc", scale_name)
        .with("ends", "e", "trimmed")
        .with("prompt", "p", if prompt { "yes" } else { "no" })
        .with("long", "l", if whole { "windows" } else { "cut" });
    let description = description.signature(signature);
    Ok(Box::new(Perplexity { model, unit, scale, prompt, whole, description }))
}

/// What the sum of surprise is divided by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Token,
    Word,
    Byte,
}

/// How the quotient is shown.
#[derive(Clone, Copy)]
enum Scale {
    Perplexity,
    Nats,
    Bits,
}

struct Perplexity {
    model: Arc<OpenModel>,
    unit: Unit,
    scale: Scale,
    prompt: bool,
    whole: bool,
    description: Description,
}

/// What the model reads at once of a story.
struct Window {
    /// The place of the story in its batch.
    story: usize,
    ids: Vec<u32>,
    /// The tokens that are counted. The first token of a window has nothing before it, and so is
    /// never among them.
    counted: Span<usize>,
}

/// A story as tokens: what is read first, and then the story itself.
struct Tokens {
    /// The token that begins a text, and the prompt.
    before: Vec<u32>,
    /// The story, with the blank that joins it to the prompt.
    story: Vec<Token>,
    /// How many bytes that blank has.
    blank: usize,
    /// How many tokens of the prompt are not read.
    unread: usize,
}

impl Metric for Perplexity {
    fn description(&self) -> &Description {
        &self.description
    }

    /// The row of a story: its sum of surprise in nats, and how many units it has.
    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let key = &self.description.key;
        let tokenizer = self.model.tokenizer(key)?;
        let longest = self.model.longest();
        let mut values = vec![0.0; 2 * stories.len()];
        let (mut windows, mut truncated) = (Vec::new(), 0);
        for (at, story) in stories.iter().enumerate() {
            let prompt = story.prompt.as_ref().filter(|_| self.prompt).map(|prompt| prompt.text());
            let text = story.text.text().trim();
            let tokens = tokens(tokenizer, prompt, text, longest);
            let own = windows_of(at, &tokens, longest, self.whole);
            let read = own.last().map_or(0, |last: &Window| last.counted.end - tokens.before.len());
            let read = if self.whole { tokens.story.len() } else { read };
            truncated += u64::from(read < tokens.story.len() || tokens.unread > 0);
            values[2 * at + 1] = match self.unit {
                Unit::Token => own.iter().map(|window| window.counted.len()).sum::<usize>() as f64,
                Unit::Byte => tokens.first(text, read).len() as f64,
                Unit::Word => tokens.first(text, read).split_whitespace().count() as f64,
            };
            windows.extend(own);
        }
        for now in portions(&windows, TOKENS_AT_ONCE, |window| window.ids.len()) {
            let batch: Batch = now.iter().map(|window| window.ids.as_slice()).collect();
            let run = self
                .model
                .model()
                .run(&batch, &Outputs::new().likelihoods())
                .map_err(|error| failed(key, error))?;
            for (at, window) in now.iter().enumerate() {
                // Number i belongs to token i + 1, given those before it.
                let counted = window.counted.start - 1..window.counted.end - 1;
                let likelihoods = &run.likelihoods(at)[counted];
                values[2 * window.story] -=
                    likelihoods.iter().map(|number| f64::from(*number)).sum::<f64>();
            }
        }
        Ok(Rows::from_values(2, values).truncated(truncated))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        let nats = row[0] / row[1];
        let number = match self.scale {
            Scale::Perplexity => nats.exp(),
            Scale::Nats => nats,
            Scale::Bits => nats / std::f64::consts::LN_2,
        };
        values[0] = match row[1] > 0.0 {
            true => finite_or(number, "the perplexity is larger than any number"),
            false => Err(Absence::because("the story has no token to count")),
        };
    }
}

/// The tokens of a story without white space at its ends, after those of its prompt.
fn tokens(tokenizer: &Tokenizer, prompt: Option<&str>, story: &str, longest: usize) -> Tokens {
    let mut before: Vec<u32> = tokenizer.bos().into_iter().collect();
    let (mut unread, mut blank) = (0, "");
    if let Some(prompt) = prompt.map(str::trim).filter(|prompt| !prompt.is_empty()) {
        let ids = tokenizer.encode_plain(prompt);
        unread = ids.len().saturating_sub(longest / 2);
        before.extend(&ids[unread..]);
        blank = " ";
    }
    let story = match story {
        "" => Vec::new(),
        story => tokenizer.tokenize(&format!("{blank}{story}")),
    };
    Tokens { before, story, blank: blank.len(), unread }
}

impl Tokens {
    /// The beginning of the story that its first `count` tokens cover: all before the next token. A
    /// character that has tokens on both sides of the cut is not covered.
    fn first<'t>(&self, story: &'t str, count: usize) -> &'t str {
        let next = self.story.get(count).map(|token| token.start.saturating_sub(self.blank));
        next.and_then(|next| story.get(..next)).unwrap_or(story)
    }
}

/// The windows in which a story is read. Without `whole` there is one, and what does not fit it is
/// left out.
fn windows_of(story: usize, tokens: &Tokens, longest: usize, whole: bool) -> Vec<Window> {
    let story_ids = tokens.story.iter().map(|token| token.id);
    let all: Vec<u32> = tokens.before.iter().copied().chain(story_ids).collect();
    // A token can only be counted if the window has one before it.
    let first = tokens.before.len().max(1);
    let mut windows = Vec::new();
    let (mut start, mut counted) = (0, first);
    while counted < all.len() {
        let end = (start + longest).min(all.len());
        let ids = all[start..end].to_vec();
        windows.push(Window { story, ids, counted: counted - start..end - start });
        if !whole {
            break;
        }
        counted = end;
        start = end.saturating_sub(longest / 2);
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(
        before: usize,
        story: usize,
        longest: usize,
        whole: bool,
    ) -> Vec<(u32, Span<usize>)> {
        let tokens = Tokens {
            before: (0..before as u32).collect(),
            story: (0..story)
                .map(|at| Token { id: (before + at) as u32, start: at, end: at + 1 })
                .collect(),
            blank: 0,
            unread: 0,
        };
        let windows = windows_of(0, &tokens, longest, whole);
        windows.into_iter().map(|window| (window.ids[0], window.counted)).collect()
    }

    #[test]
    fn a_short_story_is_one_window_and_its_first_token_needs_one_before_it() {
        assert_eq!(counted(1, 5, 8, false), [(0, 1..6)]);
        assert_eq!(counted(0, 5, 8, false), [(0, 1..5)], "no beginning of text");
        assert_eq!(counted(3, 2, 8, false), [(0, 3..5)], "after a prompt");
        assert!(counted(1, 0, 8, false).is_empty() && counted(0, 1, 8, true).is_empty());
    }

    #[test]
    fn a_long_story_is_cut_or_read_in_windows_that_count_every_token_once() {
        assert_eq!(counted(1, 12, 8, false), [(0, 1..8)]);
        assert_eq!(counted(1, 12, 8, true), [(0, 1..8), (4, 4..8), (8, 4..5)]);
    }

    /// A tokeniser of SentencePiece: a blank is put before the text, pieces are characters of any
    /// number of bytes, and characters without a piece are bytes called `<0x0A>`.
    fn sentencepiece() -> Tokenizer {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../storymeter-encoder/tests/fixtures/bpe/sentencepiece.gguf");
        let opened = storymeter_encoder::source::open(&file).unwrap();
        let fields = serde_json::json!({
            "model_type": "llama", "vocab_size": 600, "hidden_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 2, "intermediate_size": 8, "max_position_embeddings": 64,
        });
        let fields = fields.as_object().unwrap().clone();
        let config = storymeter_encoder::Config::from_fields(fields, file).unwrap();
        opened.tokenizer.load(&config).unwrap()
    }

    #[test]
    fn bytes_and_words_are_those_of_the_story_whatever_its_pieces_are() {
        let tokenizer = sentencepiece();
        let text = "Zoë lit 二 lamps — and\nthe ship 😀 came home.";
        for prompt in [None, Some("A lamp.")] {
            let tokens = tokens(&tokenizer, prompt, text, 64);
            let count = tokens.story.len();
            assert_eq!(tokens.first(text, count), text, "all tokens cover all of the story");
            assert_eq!(tokens.first(text, 0), "");
            let mut last = 0;
            for read in 0..=count {
                let part = tokens.first(text, read);
                assert!(part.len() >= last && text.starts_with(part));
                last = part.len();
            }
            // "▁the" is one piece, and stands for the blank and three letters.
            let before = text.find(" ship").unwrap();
            let read = tokens.story.iter().take_while(|t| t.start < before + tokens.blank).count();
            assert_eq!(tokens.first(text, read), "Zoë lit 二 lamps — and\nthe");
        }
    }
}
