//! `storymeter model average`: averages the weights of several models.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use storymeter::union::Model;

use crate::Outcome;
use crate::args::Common;

/// Average the weights of several models
///
/// The models must be trained from the same encoder, with different seeds. Their mean often agrees
/// better with human readers than each of them. It must be calibrated: see `model pack
/// --calibrate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  storymeter model average seed-1 seed-2 seed-3 -o mean")]
pub(super) struct AverageArgs {
    /// Folders that `storymeter train` wrote
    #[arg(value_name = "DIR", required = true, num_args = 2..)]
    folders: Vec<PathBuf>,
    /// The folder for the mean
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Writes the mean of the models.
pub(super) fn run(args: &AverageArgs, common: &Common) -> anyhow::Result<Outcome> {
    let out = args.output.display();
    if args.output.join("storymeter.json").exists() {
        bail!("{out}: the folder already has a model; name another folder");
    }
    let models =
        args.folders.iter().map(|folder| Model::load(folder)).collect::<Result<Vec<_>, _>>()?;
    let mean = Model::average(&models)?;
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("{out}: the folder cannot be created"))?;
    mean.save(&args.output)?;
    if !common.quiet {
        writeln!(
            std::io::stdout(),
            "{out}: the mean of {} models, weights {}",
            models.len(),
            mean.fingerprint()
        )?;
    }
    Ok(Outcome::Done)
}
