//! `storymeter meta union DIR`.

use std::path::PathBuf;

use clap::Args;
use storymeter_meta::union::{MisjudgedOptions, Options, analyse, inputs};
use storymeter_meta::{DrawOptions, PairOptions, Scale};

use super::settings::CompareArgs;
use super::{OutputArgs, emit};
use crate::Outcome;
use crate::args::Common;
use crate::args::count;
use crate::progress;

/// Arguments of `storymeter meta union`.
#[derive(Debug, Args)]
pub struct UnionArgs {
    /// A folder with ant_data.txt and metric_output/*.txt, and, where they exist, ant_data_all.txt,
    /// drift_output/*.txt and edits.txt
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Table 6: a rated folder and a folder of scores by metrics trained on another dataset; may be
    /// repeated
    #[arg(long, value_name = "RATED=SCORES", value_parser = pair)]
    drift: Vec<(PathBuf, PathBuf)>,
    /// Appendix D: one line per story, 1 where the model edited it and 0 elsewhere, or the text as
    /// the model edited it
    #[arg(long, value_name = "FILE")]
    edits: Option<PathBuf>,
    /// Table 11: list the N stories that each metric overrates most and the N that it underrates
    /// most. 0 leaves the table out. --show table-11 prints it
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(..=1000))]
    misjudged: u16,
    /// Table 11: a metric whose misjudged stories are listed, by its name in Table 5. The option
    /// may be given several times. Without it, all metrics are taken, at most ten, except BLEU,
    /// MoverScore, RUBER_r-BERT and Perplexity
    #[arg(long, value_name = "METRIC")]
    misjudged_by: Vec<String>,
    /// The lowest and the highest rating
    #[arg(long, value_name = "LOW..HIGH", default_value_t = Scale::BINARY)]
    scale: Scale,
    /// Draws of each biased set of Figure 2
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = count())]
    draws: u64,
    /// The seed of these draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    compare: CompareArgs,
    #[command(flatten)]
    output: OutputArgs,
}

fn pair(text: &str) -> Result<(PathBuf, PathBuf), String> {
    text.split_once('=')
        .filter(|(rated, scores)| !rated.is_empty() && !scores.is_empty())
        .map(|(rated, scores)| (rated.into(), scores.into()))
        .ok_or_else(|| format!("\"{text}\" is not of the form RATED=SCORES"))
}

/// Analyses the folder.
pub fn run(args: &UnionArgs, common: &Common) -> anyhow::Result<Outcome> {
    let bar = progress::Shown::new(common);
    let pairs = PairOptions { seed: args.seed, ..PairOptions::default() };
    let draws = DrawOptions { draws: args.draws as usize, seed: args.seed };
    let options = Options::default().with(|it| {
        it.scale = args.scale;
        it.settings = args.compare.settings(pairs, draws);
        it.drift = args.drift.clone();
        it.edits = args.edits.clone();
        it.misjudged = MisjudgedOptions {
            most: usize::from(args.misjudged),
            metrics: args.misjudged_by.clone(),
        };
        it.progress = bar.progress().clone();
    });
    let inputs = inputs(&args.folder, &options)?;
    let study = analyse(&args.folder, &options)?;
    drop(bar);
    emit(&study, &inputs, &args.output, common)
}
