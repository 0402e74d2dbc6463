//! `storymeter meta hanna CSV`.

use std::path::PathBuf;

use clap::Args;
use storymeter_meta::hanna::{Options, analyse};
use storymeter_meta::{Edition, Scale};

use super::settings::StudyArgs;
use super::{OutputArgs, emit};
use crate::Outcome;
use crate::args::Common;
use crate::progress;

/// Arguments of `storymeter meta hanna`.
#[derive(Debug, Args)]
pub struct HannaArgs {
    /// Scores in the layout of hanna_metric_scores.csv: one row per system, every cell a JSON list
    #[arg(value_name = "CSV")]
    scores: PathBuf,
    /// Single ratings, one row per story and rater: for Tables 3 and 4 and Figure 9
    #[arg(long, value_name = "CSV")]
    ratings: Option<PathBuf>,
    /// Repeat the published analysis with its defects, instead of the corrected one
    #[arg(long)]
    compat: bool,
    /// The lowest and the highest rating
    #[arg(long, value_name = "LOW..HIGH", default_value_t = Scale::LIKERT_5)]
    scale: Scale,
    #[command(flatten)]
    study: StudyArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Analyses the file.
pub fn run(args: &HannaArgs, common: &Common) -> anyhow::Result<Outcome> {
    let bar = progress::Shown::new(common);
    let options = Options::default().with(|it| {
        it.ratings = args.ratings.clone();
        it.scale = args.scale;
        it.edition = if args.compat { Edition::Published } else { Edition::Corrected };
        it.settings = args.study.settings();
        it.progress = bar.progress().clone();
    });
    let inputs: Vec<PathBuf> = [&args.scores].into_iter().chain(&args.ratings).cloned().collect();
    let study = analyse(&args.scores, &options)?;
    drop(bar);
    emit(&study, &inputs, &args.output, common)
}
