//! Coverage and density: how much of the story is copied from the prompt.
//!
//! Definition: the story is read from left to right. At each place, the longest sequence of tokens
//! that also stands in the prompt is taken as a fragment `f`, and reading goes on after it. A token
//! that the prompt does not have is skipped. With `|S|` the number of tokens of the story:
//!
//! ```text
//! coverage = sum of |f| / |S|       the share of the story's tokens that lie in a fragment
//! density  = sum of |f|^2 / |S|     the mean length of the fragment in which a token lies
//! ```
//!
//! Tokens are those of spaCy's English tokeniser, compared without regard to case. Coverage lies
//! between 0 and 1; density has no upper limit.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: 0. With the preset `hanna` it is 1, because the newline that ends every text is
//! then found in the prompt.
//!
//! Reading the score: high coverage with low density means that the story uses the words of the
//! prompt. High density means that it repeats whole passages.
//!
//! Source: Grusky et al., NAACL 2018 (Newsroom), figure 3, for a summary and its article. HANNA
//! (Chhun et al., COLING 2022) takes the prompt for the article.
//!
//! Checked against: spaCy 3.8.18 (blank English pipeline), every token of 41,536 texts. HANNA's
//! published values: 527 of 528 stories equal. For the other story HANNA has one token less than
//! spaCy 3.8.18 finds.

use std::marker::PhantomData;
use std::ops::Deref;

use storymeter_core::{Direction, Entry, Needs, Prepared, Range, TextCache, View};

use super::ratio::{self, Fraction, SPACY_CHOICES};
use crate::tokenize::{NgramIndex, Tokenised, Tokenizer, Tokens};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["coverage", "density"],
    choices: SPACY_CHOICES,
    direction: Direction::None,
    range: Range::NOT_NEGATIVE,
    needs: Needs::PROMPT,
    source: include_str!("fragments.rs"),
    build: |request| match request.id {
        "coverage" => ratio::build::<Coverage>(request),
        _ => ratio::build::<Density>(request),
    },
};

struct Coverage;

impl Fraction for Coverage {
    fn of_story<T: Tokenizer>(story: &Prepared<'_>, _: usize) -> (f64, f64) {
        over_length::<T>(story, |fragment| fragment)
    }
}

struct Density;

impl Fraction for Density {
    fn of_story<T: Tokenizer>(story: &Prepared<'_>, _: usize) -> (f64, f64) {
        over_length::<T>(story, |fragment| fragment * fragment)
    }
}

/// The weights of all fragments of the story, over the number of its tokens.
fn over_length<T: Tokenizer>(story: &Prepared<'_>, weight: fn(usize) -> usize) -> (f64, f64) {
    let tokens = story.text.view::<LowerCased<T>>();
    let total: usize = match &story.prompt {
        Some(prompt) => {
            fragments(&tokens, &prompt.view::<LowerCased<T>>()).into_iter().map(weight).sum()
        }
        None => 0,
    };
    (total as f64, tokens.len() as f64)
}

/// The tokens of a text, each put in lower case after the text was cut.
struct LowerCased<T>(Tokens, PhantomData<T>);

impl<T: Tokenizer> View for LowerCased<T> {
    fn build(text: &TextCache<'_>) -> Self {
        let tokens = text.view::<Tokenised<T>>();
        let mut lower = String::with_capacity(text.text().len());
        let mut ends = Vec::with_capacity(tokens.len());
        for token in tokens.iter() {
            lower.push_str(&token.to_lowercase());
            ends.push(lower.len());
        }
        let mut start = 0;
        let spans: Vec<_> =
            ends.into_iter().map(|end| std::mem::replace(&mut start, end)..end).collect();
        Self(Tokens::new(lower, spans), PhantomData)
    }
}

impl<T> Deref for LowerCased<T> {
    type Target = Tokens;

    fn deref(&self) -> &Tokens {
        &self.0
    }
}

/// The lengths of the fragments of the story found in the prompt, from left to right.
fn fragments(story: &Tokens, prompt: &Tokens) -> Vec<usize> {
    let index = NgramIndex::new(&[prompt], 1);
    let prompt: Vec<Option<u32>> = index.token_ids(prompt).collect();
    let story: Vec<Option<u32>> = index.token_ids(story).collect();
    let mut places = vec![Vec::new(); index.counts(1).len()];
    prompt.iter().enumerate().for_each(|(at, id)| places[id.map_or(0, |id| id as usize)].push(at));
    let mut lengths = Vec::new();
    let mut at = 0;
    while at < story.len() {
        let Some(id) = story[at] else {
            at += 1;
            continue;
        };
        let mut best = 0;
        let mut from = 0;
        for &place in &places[id as usize] {
            // As in the original program, no run starts inside the one that was just compared.
            if place < from {
                continue;
            }
            let run = story[at..].iter().zip(&prompt[place..]).take_while(|(a, b)| a == b).count();
            best = best.max(run);
            from = place + run;
        }
        lengths.push(best);
        at += best;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::Whitespace;

    #[test]
    fn the_longest_run_at_each_place_is_a_fragment() {
        let story = Whitespace::tokenize("x a b c y a b z");
        let prompt = Whitespace::tokenize("a b q a b c");
        assert_eq!(fragments(&story, &prompt), [3, 2]);
    }

    #[test]
    fn an_empty_prompt_has_no_fragments() {
        assert_eq!(fragments(&Whitespace::tokenize("a b"), &Whitespace::tokenize("")), [0; 0]);
    }
}
