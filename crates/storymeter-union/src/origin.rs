//! Finds where a part of the text that a model read stood in the story of the user.
//!
//! A model reads "[FEMALE] didn't go" where the user wrote "Susan did n't go". An explanation shows
//! the words of the user.

use std::ops::Range;

/// A stretch of the old text, and the stretch of the new text that replaced it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub new: Range<usize>,
    pub old: Range<usize>,
}

/// The replacements that made a text, step by step. The stretches of a step are in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin(Vec<Vec<Replaced>>);

impl Origin {
    /// Adds the replacements of the next step.
    pub(crate) fn push(&mut self, step: Vec<Replaced>) {
        self.0.push(step);
    }

    /// The range of the old text for a range of the new one. A range that begins or ends inside a
    /// replaced stretch covers all of the old stretch.
    pub(crate) fn old_range(&self, new: Range<usize>) -> Range<usize> {
        self.0.iter().rev().fold(new, |range, step| {
            let start = old_start(step, range.start);
            start..old_end(step, range.end).max(start)
        })
    }
}

/// Where a part that begins at this place of the new text began. What was removed right before it
/// does not belong to it.
fn old_start(step: &[Replaced], place: usize) -> usize {
    let before = step.partition_point(|replaced| replaced.new.end <= place);
    match step.get(before) {
        Some(inside) if inside.new.start < place => inside.old.start,
        _ => step[..before].last().map_or(place, |last| place - last.new.end + last.old.end),
    }
}

/// Where a part that ends at this place of the new text ended. What was removed right after it does
/// not belong to it.
fn old_end(step: &[Replaced], place: usize) -> usize {
    let before = step.partition_point(|replaced| replaced.new.start < place);
    match step[..before].last() {
        Some(last) if place <= last.new.end => last.old.end,
        last => last.map_or(place, |last| place - last.new.end + last.old.end),
    }
}
