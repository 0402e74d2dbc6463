//! TER: the number of edits that turn the story into a reference, per word.
//!
//! An edit inserts, deletes or replaces a word, or moves a sequence of words to another place.
//!
//! Definition: `TER = 100 * edits / |H|`, where `|H|` is the number of words of the reference. The
//! smallest number of edits with moves cannot be found in reasonable time, so moves are searched
//! for greedily, as in Tercom: as long as a move makes the edit distance smaller, the one that
//! makes it smallest is taken. A moved sequence has at most 10 words and moves at most 50 places.
//! The edit distance is computed in a beam of 25 words around the diagonal. The search ends after
//! 1,000 moves were tried.
//!
//! Several references: the fewest edits to any of them, over the mean of their lengths.
//!
//! Many stories: edits and lengths are added up before the score is computed.
//!
//! Empty story: 100 with one reference, because every word of the reference is missing.
//!
//! Reading the score: 0 means that the story is the reference. The score can exceed 100 if the
//! story is longer than the reference. The beam and the limits of the search were chosen for
//! sentences. For whole stories the score is an upper bound of what a full search would find.
//!
//! Source: Snover et al., AMTA 2006. The details of the search are those of sacrebleu 2, which
//! follows Tercom.
//!
//! Checked against: sacrebleu 2.6.0, both options, on 2,200 pairs of real stories and 46 difficult
//! ones, equal to 1e-9 for stories and for the corpus.

mod beam;
mod shift;

use storymeter_core::{Choice, Direction, Entry, Needs, Prepared, Range, Signature};

use crate::per_story::{Measure, PerStory};
use crate::tokenize::{Lower, NgramIndex, Tokenised, Tokenizer, Tokens, Whitespace};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["ter"],
    choices: &[
        Choice::new("case", "tercom", "words between white space, in lower case (the default)"),
        Choice::new("case", "cased", "words between white space, with their case"),
    ],
    direction: Direction::Lower,
    range: Range::NOT_NEGATIVE,
    needs: Needs::REFERENCE,
    source: include_str!("ter.rs"),
    build: |request| {
        let cased = request.has("cased");
        let signature = Signature::new("ter")
            .with("case", "c", if cased { "mixed" } else { "lc" })
            .with("tok", "t", "tercom")
            .with("norm", "nr", "no")
            .with("punct", "pn", "yes")
            .with("asian", "as", "no");
        PerStory::boxed(request.describe().width(2).pooled().signature(signature), Ter { cased })
    },
};

struct Ter {
    cased: bool,
}

impl Measure for Ter {
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
        if self.cased {
            fill_row::<Whitespace>(story, row);
        } else {
            fill_row::<Lower<Whitespace>>(story, row);
        }
    }

    fn scores(&self, row: &[f64], scores: &mut [f64]) {
        let (edits, length) = (row[0], row[1]);
        scores[0] = if length > 0.0 {
            100.0 * (edits / length)
        } else if edits > 0.0 {
            100.0
        } else {
            0.0
        };
    }
}

/// Fills the fewest edits and the mean length of the references.
fn fill_row<T: Tokenizer>(story: &Prepared<'_>, row: &mut [f64]) {
    let tokens = story.text.view::<Tokenised<T>>();
    let mut fewest = u32::MAX;
    let mut lengths = 0;
    for reference in &story.references {
        let reference = reference.view::<Tokenised<T>>();
        fewest = fewest.min(edits(&tokens, &reference));
        lengths += reference.len();
    }
    row[0] = f64::from(fewest);
    row[1] = lengths as f64 / story.references.len() as f64;
}

/// The number of edits found between a story and a reference.
fn edits(story: &Tokens, reference: &Tokens) -> u32 {
    let index = NgramIndex::new(&[story, reference], 1);
    // Every word is in the index, because it was made from both texts.
    let words = |text| index.token_ids(text).map(|id| id.unwrap_or(u32::MAX)).collect::<Vec<u32>>();
    shift::translation_edits(words(story), &words(reference))
}
