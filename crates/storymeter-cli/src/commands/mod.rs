//! The verbs of the command line, one file per verb.

pub mod compare;
pub mod completions;
pub mod correlate;
pub mod merge;
pub mod meta;
pub mod metrics;
pub mod model;
mod model_folder;
pub mod perturb;
pub mod report;
pub mod score;
pub mod suite;
pub mod train;

use anyhow::Context;

use crate::Outcome;
use crate::args::{Cli, Command};

/// Runs the verb that the user typed.
pub fn run(cli: Cli) -> anyhow::Result<Outcome> {
    // Without a number, there is one thread per core. They are started here, where it is an error
    // if they cannot be.
    rayon::ThreadPoolBuilder::new()
        .num_threads(cli.common.threads.map_or(0, usize::from))
        .build_global()
        .context("cannot start the worker threads")?;
    match cli.command {
        Command::Score(args) => score::run(&args, &cli.common),
        Command::Merge(args) => merge::run(&args, &cli.common),
        Command::Metrics(args) => metrics::run(&args),
        Command::Train(args) => train::run(&args, &cli.common),
        Command::Model(args) => model::run(&args, &cli.common),
        Command::Perturb(args) => perturb::run(&args, &cli.common),
        Command::Completions(args) => completions::run(&args),
        Command::Compare(args) => compare::run(&args, &cli.common),
        Command::Correlate(args) => correlate::run(&args, &cli.common),
        Command::Meta(args) => meta::run(&args, &cli.common),
        Command::Suite(args) => suite::run(&args, &cli.common),
        Command::Report(args) => report::run(&args, &cli.common),
    }
}
