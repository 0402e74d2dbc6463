//! TER: how many edits turn the story into a reference, over the length of the reference.
//!
//! Definition: `100 * edits / |H|`, where an edit inserts, deletes or replaces a word, or moves a run of words to
//! another place. Finding the fewest edits with moves is hard, so the moves are searched for greedily: as long as one
//! makes the edit distance smaller, the one that makes it smallest is taken. Runs have at most 10 words and move at
//! most 50; the edit distance is computed in a beam of 25 words around the diagonal; after 1,000 tried moves the
//! search ends. Of several references the one with the fewest edits counts, over the mean of their lengths. Over many
//! stories edits and lengths are summed first.
//!
//! Presets:
//! - `tercom` (default): sacrebleu's default: words between white space, lower-cased;
//! - `cased`: the same, not lower-cased.
//!
//! Source: Snover et al., AMTA 2006; details of the search as in sacrebleu 2, after Tercom.
//!
//! Direction: lower is better. Range: 0 and up. An empty story scores 100: every word of the reference is missing.

mod beam;
mod shift;

use storymeter_core::{Choice, Direction, Entry, Needs, Prepared, Range, Signature};

use crate::per_story::{Measure, PerStory};
use crate::tokenize::{Lower, NgramIndex, Tokenised, Tokenizer, Tokens, Whitespace};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["ter"],
    choices: &[
        Choice::new("case", "tercom", "lower-cased words between white space (the default)"),
        Choice::new("case", "cased", "words between white space, not lower-cased"),
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
    // Every word is in the index, which was made from both.
    let words = |text| index.token_ids(text).map(|id| id.unwrap_or(u32::MAX)).collect::<Vec<u32>>();
    shift::translation_edits(words(story), &words(reference))
}
