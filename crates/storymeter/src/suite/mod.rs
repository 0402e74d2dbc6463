//! The test suite for metrics (OpenMEVA, ACL 2021): what a metric sees, and what disturbs it.
//!
//! A [`SuiteMaker`] makes pairs of stories and twins that differ in one
//! [`Aspect`](crate::Aspect), and writes them to a folder. [`Suite::read`] reads such a
//! folder, and [`OpenMeva::find`] one in OpenMEVA's own layout. [`Suite::score`] scores the texts
//! with any metrics, or [`Suite::join`] takes scores of other programs, and [`TextScores::analyse`]
//! says what each metric sees. [`human_tasks`] compares metrics with people, for OpenMEVA's rated
//! stories.
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let (stories, folder) = (dir.path().join("stories.txt"), dir.path().join("suite"));
//! # std::fs::write(&stories, "Ann was ill. She stayed in bed because she felt weak.\n\
//! #     Bo was late. He took a taxi because he missed the bus.\n\
//! #     Cy was sad. He cried because he lost the game.\n")?;
//! use storymeter::input::{Format, Inputs, ReadOptions};
//! use storymeter::suite::{Suite, SuiteMaker, SuiteOptions};
//! use storymeter::{Aspect, Progress};
//!
//! let options = ReadOptions::default().with(|it| it.format = Some(Format::Lines));
//! let inputs = Inputs::new(vec![stories], options).repeatable()?;
//! let maker = SuiteMaker::default();
//! let (donors, unseen) = (maker.donors(&inputs, &Progress::unwatched())?, Progress::unwatched());
//! let made = maker.make(&donors, &inputs, &folder, &unseen)?.commit()?;
//! assert_eq!(made.manifest.stories, 3);
//!
//! let suite = Suite::read(&folder)?;
//! let scorer = storymeter::Scorer::new().metrics(["text-length"]).build()?;
//! let result = suite.score(&scorer, &unseen)?.analyse(&suite, &SuiteOptions::default())?;
//! let cell = result.cell("text-length", Aspect::Cause).unwrap();
//! assert_eq!((cell.pairs, &cell.auc), (3, &Ok(0.5)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod make;
mod manifest;
mod openmeva;
mod pair;
mod read;
mod run;

pub use make::{MadeSuite, PendingSuite, SuiteMaker};
pub use manifest::{AspectCount, LeftOutAspect, Manifest, ManifestKind};
pub use openmeva::{NamedSuite, OpenMeva, RatedScores, human_tasks};
pub use pair::Pair;
pub use read::{Suite, SuiteAspect, SuiteText};
pub use run::TextScores;
pub use storymeter_meta::suite::{
    AspectSummary, Example, MissingAspect, Piece, RuleCount, SuiteCell, SuiteKind, SuiteMethod,
    SuiteOptions, SuiteResult,
};
