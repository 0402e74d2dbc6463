//! `storymeter model`: lists models, prints model cards, and fetches and packs models.

mod average;
mod card;
mod fetch;
mod list;
mod manifest;
mod pack;
mod pull;
mod ratings;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

use crate::Outcome;
use crate::args::Common;

/// List models, print a model card, fetch and pack models
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter model list
  storymeter model show union-compact
  storymeter model pack model --about about.json -o mine.smq")]
pub struct ModelArgs {
    #[command(subcommand)]
    action: Action,
}

// Only one value is made per run, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Subcommand)]
enum Action {
    /// List the embedded models and the installed models
    ///
    /// Each line has the name, the size, the fingerprint of the weights, the metric that the model
    /// is for, and the agreement with human readers.
    List {
        #[command(flatten)]
        format: FormatArg,
    },
    /// Print the card of a model
    ///
    /// The card names the data and their licences, the recipe, the agreement with human readers
    /// with 95% intervals, the limits of the model, and what it must not be used for. The card of a
    /// model that predicts ratings also has its criteria, how outputs become ratings, and the sets
    /// of rated stories that it learned from.
    Show {
        /// union-compact or criteria (the embedded models), an installed model, a folder or a model
        /// file
        #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
        name: String,
        #[command(flatten)]
        format: FormatArg,
    },
    Pull(pull::PullArgs),
    Average(average::AverageArgs),
    Pack(pack::PackArgs),
    Manifest(manifest::ManifestArgs),
}

/// The option `--format`.
#[derive(Debug, Clone, Copy, Args)]
struct FormatArg {
    /// The format of the output
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = PrintFormat::Text)]
    format: PrintFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrintFormat {
    /// Text for reading
    Text,
    /// One JSON value for programs
    Json,
}

/// Runs the action that the user typed.
pub fn run(args: &ModelArgs, common: &Common) -> anyhow::Result<Outcome> {
    match &args.action {
        Action::List { format } => list::run(format.format == PrintFormat::Json),
        Action::Show { name, format } => card::run(name, format.format == PrintFormat::Json),
        Action::Pull(args) => pull::run(args, common),
        Action::Average(args) => average::run(args, common),
        Action::Pack(args) => pack::run(args, common),
        Action::Manifest(args) => manifest::run(args),
    }
}
