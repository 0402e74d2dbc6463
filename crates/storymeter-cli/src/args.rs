//! The command line: the options that all verbs share, and the list of verbs. The arguments of each
//! verb stand in the file of the verb.

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    compare, completions, correlate, merge, meta, metrics, model, perturb, report, score, suite,
    train,
};

/// Score stories, and find out how well the scores agree with human readers.
#[derive(Debug, Parser)]
#[command(
    name = "storymeter",
    version,
    max_term_width = 100,
    propagate_version = true,
    after_help = "\
Examples:
  storymeter score stories.jsonl
  storymeter score stories.jsonl --metric union,bleu,rouge -o scores.jsonl
  storymeter compare scores.jsonl
  storymeter meta table scores.jsonl -o study
  storymeter report study scores.jsonl -o report.html

`storymeter VERB --help` explains a verb. The exit code is 0 after success, 1 if a check such as
--fail-under does not hold, and 2 after an error."
)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// The heading of the common options in the help of a verb.
const COMMON: &str = "Options of all verbs";

/// The options that all verbs accept.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// The number of worker threads. The default is one per core. Results do not depend on it
    #[arg(
        long,
        global = true,
        help_heading = COMMON,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub threads: Option<u16>,
    /// Print only results and errors, without progress bars and notes
    #[arg(long, short, global = true, help_heading = COMMON)]
    pub quiet: bool,
    /// Never show a progress bar
    #[arg(long, global = true, help_heading = COMMON)]
    pub no_progress: bool,
}

/// Accepts a number from one to a million.
pub fn count() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1_000_000)
}

/// The verbs.
// Only one value is made per run, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
pub enum Command {
    Score(score::ScoreArgs),
    Merge(merge::MergeArgs),
    Metrics(metrics::MetricsArgs),
    Model(model::ModelArgs),
    Perturb(perturb::PerturbArgs),
    Train(train::TrainArgs),
    /// Compare systems by their scores: who is better, and how sure that is
    ///
    /// A verdict over all columns comes first. It says who leads by what, and why there may be no
    /// winner: the systems' stories differ in length, have flags (text that is not story), or are
    /// of another kind than those that a metric was tested on (docs/compare.md).
    Compare(compare::CompareArgs),
    /// Correlate scores with human judgments
    Correlate(correlate::CorrelateArgs),
    /// Evaluate metrics: how well they agree with human judgments, and which is better
    Meta(meta::MetaArgs),
    Suite(suite::SuiteArgs),
    /// Make an HTML report and figures for a paper from the results of `meta` and `score`
    Report(report::ReportArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
}

impl Command {
    /// Whether the verb has options that say how stories are read.
    pub fn has_input_options(&self) -> bool {
        match self {
            Self::Score(_) | Self::Perturb(_) | Self::Train(_) => true,
            Self::Suite(args) => args.has_input_options(),
            _ => false,
        }
    }
}
