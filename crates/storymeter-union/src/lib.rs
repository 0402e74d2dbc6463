//! UNION (Guan & Huang, EMNLP 2020): a learned story metric that needs no reference.
//!
//! An encoder reads the story; a linear head on its pooled vector gives the probability that a human wrote it
//! (equation 2). Beside it, as in the paper, a reconstruction head says what the story might have read before it was damaged
//! (equation 4), and, beyond the paper, a diagnosis head says which kind of damage it looks like.
//!
//! ```no_run
//! use storymeter_core::Story;
//! use storymeter_union::{Precision, Scorer};
//!
//! let scorer = Scorer::load("models/union-small".as_ref(), Precision::Int8)?;
//! let story = Story { text: "Ken woke up. He went out. It rained.".into(), ..Story::default() };
//! let scores = scorer.score(&[&story])?;
//! assert!((0.0..=1.0).contains(&scores[0].probability));
//! # Ok::<(), storymeter_union::Error>(())
//! ```
#![forbid(unsafe_code)]

mod card;
mod error;
mod explain;
mod heads;
mod metric;
mod model;
mod normalise;
mod scorer;
pub mod train;
mod window;

pub use card::{Card, Pooling, Reconstruction};
pub use error::{Error, Result};
pub use explain::{Diagnosis, Explanation, SentenceShare, Suggestion};
pub use heads::Heads;
pub use metric::UnionMetric;
pub use model::Model;
pub use normalise::normalise;
pub use scorer::{Score, Scorer};
pub use storymeter_encoder::Precision;
