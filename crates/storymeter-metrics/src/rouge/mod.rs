//! What ROUGE counts: words, n-grams, skip-bigrams and common subsequences that two texts share.
//!
//! [`words`] turns a text into numbered words once; [`overlap`], [`lcs`] and [`union`] compare two such texts; [`perl`] and
//! [`google`] put the counts together as ROUGE-1.5.5 and as the `rouge-score` package do.

pub(crate) mod google;
mod lcs;
mod overlap;
pub(crate) mod perl;
mod union;
pub(crate) mod words;

/// What is counted of one variant: matches, units of the reference, units of the story.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Count {
    /// Units the two share.
    pub hit: f64,
    /// Units of the reference, what recall divides by.
    pub reference: f64,
    /// Units of the story, what precision divides by.
    pub story: f64,
}
