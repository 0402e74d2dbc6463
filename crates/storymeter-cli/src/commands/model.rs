//! `storymeter model`: which models there are, what they say of themselves, how to get and make them.

mod average;
mod card;
mod fetch;
mod list;
mod manifest;
mod pack;
mod pull;

use clap::{Args, Subcommand, ValueEnum};

use crate::Outcome;
use crate::args::Common;

/// List models, show a model card, fetch and pack models.
#[derive(Debug, Args)]
pub struct ModelArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// The embedded model and those installed, with size, fingerprint and agreement with human readers
    List {
        #[command(flatten)]
        format: FormatArg,
    },
    /// The model card: data, licences, recipe, agreement with 95% intervals, limits, what it must not be used for
    Show {
        /// union-compact (the embedded one), an installed model, a folder or a model file
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        format: FormatArg,
    },
    Pull(pull::PullArgs),
    Average(average::AverageArgs),
    Pack(pack::PackArgs),
    Manifest(manifest::ManifestArgs),
}

/// How to print.
#[derive(Debug, Clone, Copy, Args)]
struct FormatArg {
    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = PrintFormat::Text)]
    format: PrintFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrintFormat {
    /// For people
    Text,
    /// One JSON value
    Json,
}

/// Does what the user asked for.
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
