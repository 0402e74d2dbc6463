//! Metrics of stories that need no trained weights, one file each.
//!
//! A metric is a type behind [`storymeter_core::Metric`] with an [`Entry`] in the [`registry`]; the documentation
//! at the top of its file is the catalogue page that `storymeter metrics show ID` prints. Texts are looked at
//! through views ([`tokenize`]), each built once a text. [`Scorer`] runs any set of metrics over batches of stories.
//!
//! ```
//! use storymeter_core::read::Record;
//! use storymeter_core::{Place, Story};
//! use storymeter_metrics::{Options, Scorer};
//!
//! let story = Story { text: "The lamp went out.".into(), ..Story::default() };
//! let scorer = Scorer::new(&["text-length"], &Options::default())?;
//! assert_eq!(scorer.columns(), ["text-length"]);
//! let rows = scorer.batch(&[Record { story, number: 0, place: Place::default() }])?;
//! assert_eq!(rows.scores(0), [5.0]);
//! # Ok::<(), storymeter_metrics::Error>(())
//! ```
#![forbid(unsafe_code)]

mod catalogue;
mod document_frequency;
mod error;
mod in_order;
mod meteor;
mod metrics;
pub mod registry;
mod rouge;
mod scorer;
pub mod tokenize;

pub use error::{Error, Result};
pub use in_order::in_order;
pub use registry::{Entry, Options, Request};
pub use scorer::{CorpusSurvey, Part, Rows, Scorer};
