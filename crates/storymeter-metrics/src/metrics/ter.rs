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

use storymeter_core::{Direction, Metric, Needs, Pooling, Prepared, Signature};

use crate::registry::{Entry, Request};
use crate::tokenize::{Lower, NgramIndex, Tokenised, Tokenizer, Tokens, Whitespace};

pub(crate) const ENTRY: Entry = Entry {
    ids: &["ter"],
    presets: &[("tercom", "lower-cased words between white space"), ("cased", "not lower-cased")],
    direction: Direction::Lower,
    range: "0 and up",
    needs: Needs::REFERENCE,
    source: include_str!("ter.rs"),
    build: |request| Ok(Box::new(Ter::new(request))),
};

struct Ter {
    columns: [String; 1],
    cased: bool,
}

impl Ter {
    fn new(request: &Request<'_>) -> Self {
        Self { columns: [request.key.to_owned()], cased: request.preset == "cased" }
    }
}

impl Metric for Ter {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn direction(&self) -> Direction {
        ENTRY.direction
    }

    fn needs(&self) -> Needs {
        ENTRY.needs
    }

    fn signature(&self) -> Signature {
        Signature::new("ter")
            .with("case", "c", if self.cased { "mixed" } else { "lc" })
            .with("tok", "t", "tercom")
            .with("norm", "nr", "no")
            .with("punct", "pn", "yes")
            .with("asian", "as", "no")
    }

    fn width(&self) -> usize {
        2
    }

    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]) {
        if self.cased {
            fill_row::<Whitespace>(story, row);
        } else {
            fill_row::<Lower<Whitespace>>(story, row);
        }
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        let (edits, length) = (row[0], row[1]);
        scores[0] = if length > 0.0 {
            100.0 * (edits / length)
        } else if edits > 0.0 {
            100.0
        } else {
            0.0
        };
    }

    fn pooling(&self) -> Pooling {
        Pooling::Sum
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
