//! What the user typed. Each verb's own arguments live with the verb.

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    completions, correlate, meta, metrics, model, perturb, report, score, train,
};

/// Measure how good a story is, and how good a measure of stories is.
#[derive(Debug, Parser)]
#[command(name = "storymeter", version, max_term_width = 100, propagate_version = true)]
pub struct Cli {
    /// What every verb accepts.
    #[command(flatten)]
    pub common: Common,
    /// The verb.
    #[command(subcommand)]
    pub command: Command,
}

/// What every verb accepts.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Number of worker threads; the default is one per core. Results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print results and errors only: no progress bar, no notes
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Never show a progress bar
    #[arg(long, global = true)]
    pub no_progress: bool,
}

/// The verbs.
// One value is made a run, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
pub enum Command {
    Score(score::ScoreArgs),
    Metrics(metrics::MetricsArgs),
    Model(model::ModelArgs),
    Perturb(perturb::PerturbArgs),
    Train(train::TrainArgs),
    /// Correlate scores with human judgments
    Correlate(correlate::CorrelateArgs),
    /// Meta-evaluation: how good the measures are
    Meta(meta::MetaArgs),
    /// One HTML file and publication figures from results of `meta` and `score`
    Report(report::ReportArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
}
