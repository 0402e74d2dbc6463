//! `storymeter metrics`: lists the metrics and prints their pages.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use storymeter::catalogue;
use storymeter::core::{Direction, Entry, Needs};

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
        None | Some(Action::List) => list(),
        Some(Action::Show { id }) => catalogue().find(id)?.manual(),
    };
    Output::print(&text)?;
    Ok(Outcome::Done)
}

fn list() -> String {
    let entries: Vec<&Entry> = catalogue().entries().collect();
    let ids: Vec<String> = entries.iter().copied().map(ids).collect();
    let width = ids.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (entry, ids) in entries.iter().zip(ids) {
        let _ = writeln!(
            text,
            "{ids:width$}  {:6}  {:9}  {}",
            direction(entry),
            needs(entry.needs),
            entry.summary()
        );
    }
    text
}

/// The ids of an entry, written short if they differ in a number: `novelty-{1,2,3}`.
fn ids(entry: &Entry) -> String {
    let split = |id: &'static str| {
        id.rsplit_once('-').filter(|(_, n)| n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let parts: Option<Vec<_>> = entry.ids.iter().copied().map(split).collect();
    match parts {
        Some(parts) if parts.len() > 1 => {
            let numbers: Vec<&str> = parts.iter().map(|(_, number)| *number).collect();
            format!("{}-{{{}}}", parts[0].0, numbers.join(","))
        }
        _ => entry.ids.join(", "),
    }
}

fn direction(entry: &Entry) -> &'static str {
    match entry.direction {
        Direction::Higher => "higher",
        Direction::Lower => "lower",
        Direction::None => "-",
    }
}

fn needs(needs: Needs) -> &'static str {
    match (needs.reference, needs.prompt) {
        (true, true) => "both",
        (true, false) => "reference",
        (false, true) => "prompt",
        (false, false) => "-",
    }
}
