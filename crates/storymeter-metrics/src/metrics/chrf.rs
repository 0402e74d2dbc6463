//! chrF: F-score of character n-grams, and chrF++ with word n-grams as well.
//!
//! Definition: for each order n, precision `p_n` and recall `r_n` of the story's n-grams against the reference
//! (clipped counts); P and R are their means over the orders both texts are long enough for, and
//! `chrF = (1 + beta^2) P R / (beta^2 P + R)`, times 100. Of several references the one with the best score counts.
//! Over many stories the counts are summed first.
//!
//! Presets:
//! - `chrf` (default): sacrebleu's: characters 1 to 6, no words, beta 2, white space removed;
//! - `plus-plus`: sacrebleu's chrF++: the same and words of order 1 and 2;
//! - `hanna`: as HANNA's published values: characters 1 to 6, beta 3, white space kept, a trailing newline on both
//!   texts.
//!
//! Source: Popović, WMT 2015 (chrF) and WMT 2017 (chrF++).
//!
//! Direction: higher is better. Range: 0 to 100. An empty story scores 0.

use std::marker::PhantomData;
use std::sync::Arc;

use storymeter_core::{
    Choice, Description, Direction, Entry, Needs, Prepared, Range, Request, Signature, TextCache,
    View,
};

use crate::per_story::{Measure, PerStory};
use crate::tokenize::{
    CharNgrams, Indexed, NgramIndex, Tokenised, Tokenizer, Tokens, Whitespace, is_python_space,
};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["chrf"],
    choices: &[
        Choice::preset("chrf", "sacrebleu's chrF (the default)"),
        Choice::preset("plus-plus", "sacrebleu's chrF++"),
        Choice::preset("hanna", "as HANNA's published values"),
    ],
    direction: Direction::Higher,
    range: Range::PERCENT,
    needs: Needs::REFERENCE,
    source: include_str!("chrf.rs"),
    build: |request| {
        let chrf = Chrf::new(request);
        PerStory::boxed(chrf.description(request), chrf)
    },
};

/// The highest order of character n-grams.
const CHARS: usize = CharNgrams::ORDER;
/// The highest order of word n-grams in chrF++.
const WORDS: usize = 2;

struct Chrf {
    words: usize,
    beta: f64,
    /// White space and a trailing newline are kept, as HANNA did.
    hanna: bool,
}

impl Chrf {
    fn new(request: &Request<'_>) -> Self {
        let hanna = request.has("hanna");
        let words = if request.has("plus-plus") { WORDS } else { 0 };
        Self { words, beta: if hanna { 3.0 } else { 2.0 }, hanna }
    }

    fn description(&self, request: &Request<'_>) -> Description {
        let yes_no = |yes| if yes { "yes" } else { "no" };
        let signature = Signature::new("chrf")
            .with("case", "c", "mixed")
            .with("eff", "e", "yes")
            .with("nc", "nc", CHARS)
            .with("nw", "nw", self.words)
            .with("beta", "b", self.beta)
            .with("space", "s", yes_no(self.hanna))
            .with("newline", "nl", yes_no(self.hanna));
        request.describe().width(3 * (CHARS + self.words)).pooled().signature(signature)
    }

    fn chars(&self, text: &TextCache<'_>) -> Arc<dyn AsRef<CharNgrams>> {
        if self.hanna { text.view::<Chars<Kept>>() } else { text.view::<Chars<Removed>>() }
    }
}

/// What becomes of white space before characters are counted.
trait Spaces: Send + Sync + 'static {
    fn characters(text: &str) -> CharNgrams;
}

/// White space stays, and a newline is added.
struct Kept;

impl Spaces for Kept {
    fn characters(text: &str) -> CharNgrams {
        CharNgrams::new(text.chars().chain(['\n']))
    }
}

/// White space goes.
struct Removed;

impl Spaces for Removed {
    fn characters(text: &str) -> CharNgrams {
        CharNgrams::new(text.chars().filter(|&c| !is_python_space(c)))
    }
}

/// The character n-grams of a text, as a view.
struct Chars<S>(CharNgrams, PhantomData<S>);

impl<S: Spaces> View for Chars<S> {
    fn build(text: &TextCache<'_>) -> Self {
        Self(S::characters(text.text()), PhantomData)
    }
}

impl<S> AsRef<CharNgrams> for Chars<S> {
    fn as_ref(&self) -> &CharNgrams {
        &self.0
    }
}

/// Words with one mark of punctuation cut off the end, or else off the beginning: chrF++'s own tokeniser.
struct ChrfWords;

impl Tokenizer for ChrfWords {
    fn tokenize(text: &str) -> Tokens {
        let words = Whitespace::tokenize(text);
        let mut spans = Vec::with_capacity(words.len() * 5 / 4);
        for (start, end) in words.ranges().map(|range| (range.start, range.end)) {
            let word = &text[start..end];
            let bytes = word.as_bytes();
            if word.chars().nth(1).is_none() {
                spans.push(start..end);
            } else if bytes[bytes.len() - 1].is_ascii_punctuation() {
                spans.extend([start..end - 1, end - 1..end]);
            } else if bytes[0].is_ascii_punctuation() {
                spans.extend([start..start + 1, start + 1..end]);
            } else {
                spans.push(start..end);
            }
        }
        Tokens::new(text.to_owned(), spans)
    }
}

impl Measure for Chrf {
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
        let chars = self.chars(&story.text);
        let words = (self.words > 0).then(|| story.text.view::<Tokenised<ChrfWords>>());
        let mut best = f64::NEG_INFINITY;
        let mut candidate = vec![0.0; row.len()];
        for reference in &story.references {
            let (counts, word_counts) = candidate.split_at_mut(3 * CHARS);
            count_chars((*chars).as_ref(), (*self.chars(reference)).as_ref(), counts);
            if let Some(words) = &words {
                count_words(words, &reference.view::<Indexed<ChrfWords, WORDS>>(), word_counts);
            }
            let score = self.f_score(&candidate);
            if score > best {
                best = score;
                row.copy_from_slice(&candidate);
            }
        }
    }

    fn scores(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = self.f_score(row);
    }
}

impl Chrf {
    fn f_score(&self, row: &[f64]) -> f64 {
        let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0.0);
        for counts in row.chunks_exact(3) {
            if counts[0] > 0.0 && counts[1] > 0.0 {
                precision += counts[2] / counts[0];
                recall += counts[2] / counts[1];
                orders += 1.0;
            }
        }
        if precision + recall == 0.0 {
            return 0.0;
        }
        let (precision, recall) = (precision / orders, recall / orders);
        let factor = self.beta * self.beta;
        100.0 * ((1.0 + factor) * precision * recall / (factor * precision + recall))
    }
}

/// Writes n-grams of the story, of the reference, and matches, for each order.
fn count_chars(story: &CharNgrams, reference: &CharNgrams, counts: &mut [f64]) {
    let matches = story.clipped_matches(reference);
    for (n, counts) in counts.chunks_exact_mut(3).enumerate() {
        fill(
            counts,
            story.len().saturating_sub(n),
            reference.len().saturating_sub(n),
            matches[n] as f64,
        );
    }
}

fn count_words(story: &Tokens, reference: &NgramIndex, counts: &mut [f64]) {
    let mut matches = [0.0; WORDS];
    reference.clipped_matches(story, &mut matches);
    for (n, counts) in counts.chunks_exact_mut(3).enumerate() {
        let of_reference: u32 = reference.counts(n + 1).iter().sum();
        fill(counts, story.len().saturating_sub(n), of_reference as usize, matches[n]);
    }
}

fn fill(counts: &mut [f64], story: usize, reference: usize, matches: f64) {
    // The story's n-grams do not count where the reference is too short to have any.
    counts[0] = if reference == 0 { 0.0 } else { story as f64 };
    counts[1] = reference as f64;
    counts[2] = matches;
}
