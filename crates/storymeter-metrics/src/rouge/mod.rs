//! What ROUGE counts: words, n-grams, skip-bigrams and common subsequences that two texts share.
//!
//! [`words`] turns each text into numbered words once. [`overlap`], [`lcs`] and [`union`] compare
//! two such texts. [`perl`] and [`google`] make scores of the counts as ROUGE-1.5.5 and the package
//! `rouge-score` do.

pub(crate) mod google;
mod lcs;
mod overlap;
pub(crate) mod perl;
mod union;
pub(crate) mod words;

/// The counts of one variant.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Count {
    /// The units that both texts have.
    pub hit: f64,
    /// The units of the reference, by which recall divides.
    pub reference: f64,
    /// The units of the story, by which precision divides.
    pub story: f64,
}
