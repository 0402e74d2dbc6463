//! `storymeter meta table SCORES.jsonl`.

use std::path::PathBuf;

use clap::Args;
use storymeter::core::Direction;
use storymeter::meta::Scale;
use storymeter::meta::own::{Options, analyse};
use storymeter::meta::pairwise::BootstrapOptions;
use storymeter::meta::quality::DrawOptions;
use storymeter::metrics::registry;

use super::{Output, emit};
use crate::Outcome;

/// Arguments of `storymeter meta table`.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// What `storymeter score -o` wrote: {"id", "system", "item", "scores": {...}, "human": {...}}, one a line
    #[arg(value_name = "SCORES.jsonl")]
    scores: PathBuf,
    /// Stories with ratings, systems and items, joined by id
    #[arg(long, value_name = "FILE")]
    stories: Option<PathBuf>,
    /// Error types named by raters, {"id", "errors": [TYPE or null, one a rater]} a line: which errors a metric sees
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// Scores of the same stories by metrics trained on other data, as `score` writes them: dataset drift
    #[arg(long, value_name = "FILE")]
    drift: Option<PathBuf>,
    /// Systems to leave out of correlations and comparisons, such as human writers
    #[arg(long, value_name = "SYSTEM", value_delimiter = ',')]
    without: Vec<String>,
    /// Metrics where less is better
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    lower: Vec<String>,
    /// Metrics where more is better
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    higher: Vec<String>,
    /// Least and greatest rating; a rating outside is an error
    #[arg(long, value_name = "LOW..HIGH")]
    scale: Option<Scale>,
    /// Draws of the paired bootstrap for each pair of systems
    #[arg(long, value_name = "N", default_value_t = 1000)]
    draws: usize,
    /// Seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

/// Analyses the file.
pub fn run(args: &TableArgs) -> anyhow::Result<Outcome> {
    let direction = |metric: &str| {
        let named = |list: &[String]| list.iter().any(|name| name == metric);
        if named(&args.lower) {
            Direction::Lower
        } else if named(&args.higher) {
            Direction::Higher
        } else {
            catalogued(metric)
        }
    };
    let document = analyse(&Options {
        scores: args.scores.clone(),
        stories: args.stories.clone(),
        errors: args.errors.clone(),
        drift: args.drift.clone(),
        outsiders: args.without.clone(),
        scale: args.scale,
        direction: &direction,
        bootstrap: BootstrapOptions {
            draws: args.draws,
            seed: args.seed,
            ..BootstrapOptions::default()
        },
        draws: DrawOptions { seed: args.seed, ..DrawOptions::default() },
    })?;
    emit(&document, &args.output)
}

/// The direction of a metric of ours: `bleu:hanna` is `bleu`, `rouge-l-f` belongs to the family `rouge`.
fn catalogued(key: &str) -> Direction {
    let id = key.split(':').next().unwrap_or(key);
    let family = id.split('-').next().unwrap_or(id);
    if id == "union" {
        return Direction::Higher;
    }
    [id, family]
        .iter()
        .find_map(|id| registry::find(id).ok())
        .map_or(Direction::None, |entry| entry.direction)
}
