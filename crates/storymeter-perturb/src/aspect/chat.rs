//! Chat: around the story stands what is not story, as chat models and people put it there.
//!
//! - `the end`: "The End." comes behind it.
//! - `wish`: a word to the reader comes behind it.
//! - `offer`: an offer of help comes behind it.
//! - `token`: the token with which a model stops comes behind it.
//! - `preamble`: a sentence before it says that here is a story.
//! - `title`: a title in Markdown comes before it.
//!
//! The story itself is the same to the letter. OpenMEVA has no such aspect: it is from before chat
//! models.

use storymeter_text::Span;

use super::Plan;
use super::passage::Passage;
use crate::draft::Change;
use crate::draw::Draw;

/// The rules: the name, what comes before the story, and what comes behind it.
const RULES: [(&str, &[&str], &[&str]); 6] = [
    ("the end", &[], &[" The End.", "\n\nThe End.", "\n\nTHE END"]),
    (
        "wish",
        &[],
        &[" I hope you enjoyed it!", "\n\nI hope you enjoyed this story!", "\n\nHope you like it!"],
    ),
    (
        "offer",
        &[],
        &[
            "\n\nLet me know if you would like me to change anything.",
            "\n\nWould you like me to continue the story?",
        ],
    ),
    ("token", &[], &["<|endoftext|>", "</s>", "<|im_end|>", "<|eot_id|>"]),
    (
        "preamble",
        &["Sure! Here is a story for you:\n\n", "Here's a short story:\n\n", "Certainly! "],
        &[],
    ),
    ("title", &["# A Short Story\n\n", "**A Day to Remember**\n\n", "## The Journey\n\n"], &[]),
];

pub fn plan(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    let (rule, before, behind) = draw.pick(&RULES)?;
    let text = passage.text;
    let (sentence, at, words) = match draw.pick(before) {
        Some(words) => (0, text.len() - text.trim_start().len(), words),
        None => (passage.len().checked_sub(1)?, text.trim_end().len(), draw.pick(behind)?),
    };
    let change = Change { sentence, span: Span::new(at, at), after: (*words).to_owned() };
    Some(Plan::new(rule, vec![change]))
}
