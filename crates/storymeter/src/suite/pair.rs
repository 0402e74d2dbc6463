//! A story and its twin, as one line of a file.

use serde::{Deserialize, Serialize};
use storymeter_core::Aspect;
use storymeter_meta::suite::Piece;
use storymeter_perturb::Replacement;

/// A story and its twin. As JSON, it is one line of a file that `storymeter suite make` writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The id of the story, after the name of its system and a slash if it has one.
    pub id: String,
    /// What the two differ in.
    pub aspect: Aspect,
    /// The rule that made the twin.
    pub rule: String,
    /// What the writer was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Other stories for the same prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<String>,
    /// The story.
    pub original: String,
    /// The changed story.
    pub twin: String,
    /// The changes, which lead from one to the other and back
    /// ([`apply`](storymeter_perturb::apply), [`undo`](storymeter_perturb::undo)).
    pub edits: Vec<Replacement>,
}

impl Pair {
    /// The line of JSON, without its line break. Offsets are bytes.
    pub fn to_json(&self) -> String {
        // All keys are strings, and writing to memory cannot fail.
        serde_json::to_string(self).expect("a pair is plain data")
    }

    /// Both texts, cut into pieces that are the same and pieces that differ. The edits must be in
    /// the order of the text, as [`SuiteMaker`](super::SuiteMaker) writes them; otherwise both
    /// texts are marked as a whole.
    pub fn pieces(&self) -> (Vec<Piece>, Vec<Piece>) {
        let whole = |text: &str| vec![Piece { text: text.to_owned(), changed: true }];
        self.ordered_pieces().unwrap_or_else(|| (whole(&self.original), whole(&self.twin)))
    }

    fn ordered_pieces(&self) -> Option<(Vec<Piece>, Vec<Piece>)> {
        let (mut original, mut twin) = (Vec::new(), Vec::new());
        let push = |pieces: &mut Vec<Piece>, text: &str, changed| {
            if !text.is_empty() {
                pieces.push(Piece { text: text.to_owned(), changed });
            }
        };
        let (mut done, mut written) = (0, 0);
        for edit in &self.edits {
            let same = self.twin.get(written..edit.start())?;
            push(&mut original, self.original.get(done..done + same.len())?, false);
            push(&mut twin, same, false);
            push(&mut original, edit.before(), true);
            push(&mut twin, edit.after(), true);
            done += same.len() + edit.before().len();
            written = edit.start() + edit.after().len();
        }
        push(&mut original, self.original.get(done..)?, false);
        push(&mut twin, self.twin.get(written..)?, false);
        Some((original, twin))
    }
}
