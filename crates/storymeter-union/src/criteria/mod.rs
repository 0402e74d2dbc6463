//! A learned metric that predicts what readers would say about a story, one number per criterion.
//!
//! An encoder reads the story in windows. The mean of the vectors of a window's tokens goes through
//! one linear head per criterion, and the mean over the windows, weighted by tokens, is the raw
//! output of that head, in standard units: 0 is the mean of the stories it was trained on. The
//! score of UNION may count beside it ([`UnionShare`]). A second, small encoder makes sentence
//! vectors of the story and of its prompt ([`SentenceModel`]). Their cosine, and how often the
//! story mentions the rare words of the prompt, say how close the story is to its prompt.
//!
//! A [`Calibration`] turns the raw output and that closeness into a rating on the scale of the
//! readers, and knows how far such predictions were off for stories that the model had not seen.
//!
//! The model is a folder or a file like any other of this crate; its card has the
//! [kind](crate::Kind) [`Criteria`](crate::Kind::Criteria) and a [`CriteriaCard`].

mod calibrate;
mod card;
mod cover;
mod explain;
mod held_out;
mod metric;
mod read;
mod scorer;
pub(crate) mod sentences;
mod share;
mod show;
mod similarity;

pub use calibrate::{Fitted, calibrate};
pub use card::{
    CalibratedOn, Calibration, CriteriaCard, Criterion, MOST_CRITERIA, RatedSet, Residual,
};
pub use explain::{ExplainedCriterion, Explanation, SentenceEffects, StrongestSentence};
pub use held_out::HeldOut;
pub use metric::ENTRY;
pub use read::{placed_windows, windows};
pub use scorer::{CriteriaScorer, Prediction, Predictions, Raw, Unpredicted};
pub use sentences::{SentenceDescription, SentenceModel};
pub use share::UnionShare;
pub use similarity::SentenceScorer;
