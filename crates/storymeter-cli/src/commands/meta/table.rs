//! `storymeter meta table SCORES...`.

use std::path::{Path, PathBuf};

use clap::Args;
use storymeter_core::{Header, file};
use storymeter_meta::Scale;
use storymeter_meta::table::{Options, analyse, with_stories};

use super::settings::{DirectionArgs, StudyArgs};
use super::{OutputArgs, emit};
use crate::Outcome;
use crate::args::Common;
use crate::progress;

/// Arguments of `storymeter meta table`.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// What `storymeter score -o` wrote, or any CSV or TSV with one row per story
    ///
    /// In JSONL, every line is {"id", "system", "item", "scores": {...}, "human": {...}}. In CSV
    /// and TSV, every column of numbers is a metric, or a criterion if its name begins with
    /// `human/`. Several files are joined by system and id.
    #[arg(value_name = "SCORES", required = true)]
    scores: Vec<PathBuf>,
    /// Stories with ratings, systems and items, joined by system and id
    #[arg(long, value_name = "FILE")]
    stories: Option<PathBuf>,
    /// Error types named by raters: which errors a metric sees
    ///
    /// Every line is {"id", "system", "errors": [TYPE or null, one per rater]}. The system may be
    /// absent where no two systems have the same id.
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// Scores of the same stories by metrics trained on other data, as `score` writes them
    #[arg(long, value_name = "FILE")]
    drift: Option<PathBuf>,
    /// Systems to leave out of correlations and comparisons, such as human writers
    #[arg(long, value_name = "SYSTEM", value_delimiter = ',')]
    without: Vec<String>,
    #[command(flatten)]
    directions: DirectionArgs,
    /// The lowest and the highest rating; a rating outside is an error
    #[arg(long, value_name = "LOW..HIGH")]
    scale: Option<Scale>,
    #[command(flatten)]
    study: StudyArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Analyses the file.
pub fn run(args: &TableArgs, common: &Common) -> anyhow::Result<Outcome> {
    let others = [args.stories.as_ref(), args.errors.as_ref(), args.drift.as_ref()];
    let named = args.scores.iter().chain(others.into_iter().flatten());
    let named: Vec<&Path> = named.map(PathBuf::as_path).collect();
    file::named_once(&named)?;
    let scores = storymeter::read_all(&args.scores)?;
    let (scores, warnings) = match &args.stories {
        Some(stories) => with_stories(&scores, stories)?,
        None => (scores, Vec::new()),
    };
    let bar = progress::Shown::new(common);
    let drift = args.drift.as_ref().map(storymeter::read).transpose()?;
    let options = Options::default().with(|it| {
        it.without = args.without.clone();
        it.directions = args.directions.pairs();
        it.scale = args.scale;
        it.errors = args.errors.clone();
        it.drift = drift;
        it.warnings = warnings;
        it.settings = args.study.settings();
        it.progress = bar.progress().clone();
    });
    let scored = args.scores.iter().chain(&args.drift);
    let mut inputs: Vec<PathBuf> = scored.clone().map(|scores| Header::path_of(scores)).collect();
    inputs.extend(scored.chain(&args.stories).chain(&args.errors).cloned());
    let study = analyse(&scores, &options)?;
    drop(bar);
    emit(&study, &inputs, &args.output, common)
}
