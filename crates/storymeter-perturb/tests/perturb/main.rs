//! Damaged stories: what each rule does, and what holds for all of them.

mod aspects;
mod edits;
mod invariants;
mod names;
mod negation;
mod shares;
