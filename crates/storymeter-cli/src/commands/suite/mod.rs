//! `storymeter suite`: what a metric sees, and what disturbs it.

mod make;
mod openmeva;
mod run;

use clap::{Args, Subcommand};
use storymeter_core::Aspect;

use crate::Outcome;
use crate::args::Common;

/// Test what metrics see: pairs of stories and twins that differ in one aspect (OpenMEVA)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter suite make stories.jsonl -o suite
  storymeter suite run suite --metric union,text-length,repetition-3 -o result
  storymeter report result -o seen.html")]
pub struct SuiteArgs {
    #[command(subcommand)]
    command: Command,
}

/// The steps.
#[derive(Debug, Subcommand)]
enum Command {
    Make(make::MakeArgs),
    Run(run::RunArgs),
}

/// Runs the step asked for.
pub fn run(args: &SuiteArgs, common: &Common) -> anyhow::Result<Outcome> {
    match &args.command {
        Command::Make(args) => make::run(args, common),
        Command::Run(args) => run::run(args, common),
    }
}

impl SuiteArgs {
    /// Whether the step has options that say how stories are read.
    pub fn has_input_options(&self) -> bool {
        matches!(self.command, Command::Make(_))
    }
}

/// Reads the name of an aspect.
fn aspect(name: &str) -> Result<Aspect, storymeter_core::Error> {
    name.trim().to_lowercase().parse()
}

/// The aspects that were typed, in the usual order, or all.
fn chosen(typed: &[Aspect]) -> Vec<Aspect> {
    Aspect::ALL.into_iter().filter(|aspect| typed.is_empty() || typed.contains(aspect)).collect()
}
