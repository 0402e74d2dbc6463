//! `storymeter metrics`: lists the metrics and prints their pages.

use clap::{Args, Subcommand};
use storymeter::{Listing, catalogue};

use crate::Outcome;
use crate::output::Output;

/// List the metrics, or explain one of them
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter metrics
  storymeter metrics show bleu")]
pub struct MetricsArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all metrics, one per line (the default)
    ///
    /// Each line has the id, the direction that is better, what the metric needs besides the story,
    /// and what it measures.
    List,
    /// Explain one metric: its definition, options, source, direction and range
    Show {
        /// The id of the metric, such as bleu
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// Prints the list or the page of one metric.
pub fn run(args: &MetricsArgs) -> anyhow::Result<Outcome> {
    let text = match &args.action {
        None | Some(Action::List) => Listing::new(&catalogue()).to_string(),
        Some(Action::Show { id }) => catalogue().find(id)?.manual(),
    };
    Output::print(&text)?;
    Ok(Outcome::Done)
}
