//! UNION (Guan and Huang, EMNLP 2020): a learned metric for stories that needs no reference.
//!
//! An encoder reads the story. A linear head on its vector gives the probability that this is a
//! human story that nobody damaged (equation 2). A second head suggests what the story said before
//! it was damaged (equation 4). A third head, which the paper does not have, tells which kind of
//! damage the story seems to have.
//!
//! A [`UnionScorer`] scores stories with the embedded model or with another one. The module `train`
//! makes a model folder from human stories, and a scorer reads that folder:
//!
//! ```
//! use storymeter_core::Story;
//! use storymeter_union::{Precision, UnionScorer};
//!
//! # // A tiny model with random weights takes the place of a trained one.
//! # use storymeter_union::{Card, Heads, Model};
//! # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
//! # let encoder = root.join("../storymeter-encoder/tests/fixtures/bert");
//! # let config = storymeter_encoder::Config::load(&encoder)?;
//! # let parameters = storymeter_encoder::load_parameters(&encoder, &config)?;
//! # let heads = Heads {
//! #     score: vec![0.1; config.hidden],
//! #     diagnosis: vec![0.1; 4 * config.hidden],
//! #     diagnosis_bias: vec![0.0; 4],
//! #     reconstruction_bias: vec![0.0; config.vocabulary],
//! #     ..Heads::default()
//! # };
//! # let card = Card { max_tokens: 64, ..Card::default() };
//! # let tokenizer_files = vec![("vocab.txt", std::fs::read(encoder.join("vocab.txt"))?)];
//! # let temporary = tempfile::tempdir()?;
//! # let folder = temporary.path();
//! # Model { config, parameters, heads, card, tokenizer_files, sentences: None }.save(folder)?;
//! let scorer = UnionScorer::load(folder, Precision::Int8)?;
//! let stories = ["Ken woke up. He went out. It rained.", "Ken woke up. It rained. Ken woke up."]
//!     .map(|text| Story { text: text.into(), ..Story::default() });
//! for score in scorer.score(&[&stories[0], &stories[1]])? {
//!     assert!((0.0..=1.0).contains(&score.probability));
//! }
//!
//! let explanation = scorer.explain(&stories[1])?;
//! assert_eq!(explanation.sentences.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! How the embedded model gets into a program is explained at [`HAS_EMBEDDED`].
#![forbid(unsafe_code)]

mod about;
mod average;
mod calibrate;
mod card;
pub mod criteria;
mod disscore;
mod engine;
mod error;
mod explain;
mod heads;
mod installed;
mod logistic;
mod metric;
mod model;
mod normalise;
mod opened;
mod origin;
mod overlap;
mod pairs;
mod reference_scores;
mod scorer;
mod show;
mod stored;
#[cfg(feature = "train")]
pub mod train;
mod unpack;
mod weigh;
mod window;

pub use about::{About, Agreement, DiagnosisFigure, Estimate, ModelSource};
pub use calibrate::{Calibration, DamageCalibration, calibrate};
pub use card::{Card, Kind, Pooling, Reconstruction, TrainingRecord};
pub use disscore::ENTRY as DISSCORE;
#[cfg(feature = "cuda")]
pub use engine::GpuPrecision;
pub use error::{Error, Result};
pub use explain::{Diagnosis, Explanation, SentenceShare, Suggestion, Trust, Warning, WeakPair};
pub use heads::Heads;
pub use installed::{
    Description, EMBEDDED_NAME, EmbeddedModel, HAS_EMBEDDED, Location, installed_paths,
    models_folder, search_folders,
};
pub use metric::ENTRY;
pub use model::{MODEL_FILES, Model};
pub use normalise::normalise;
pub use reference_scores::{
    DiagnosisArea, ReferenceColumn, ReferenceScores, Standing, TRUSTED_AREA,
};
pub use scorer::{Score, UnionScorer};
pub use stored::StoredModel;
pub use storymeter_encoder::Precision;

/// Compiles and runs the example of the README.
#[cfg(all(doctest, embedded_model))]
#[doc = include_str!("../README.md")]
struct Readme;
