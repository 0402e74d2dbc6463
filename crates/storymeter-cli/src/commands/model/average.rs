//! `storymeter model average`: averages the weights of several models.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use storymeter_core::terminal::plain;
use storymeter_union::Model;

use crate::Outcome;
use crate::args::Common;
use crate::commands::model_folder::ModelFolder;
use crate::output::Output;

/// Average the weights of several models
///
/// The models must be trained from the same encoder, with different seeds. Their mean often agrees
/// better with human readers than each of them. It must be calibrated: see `model pack --calibrate`
/// and, for models that predict ratings, `model pack --calibrate-ratings`.
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
    // A folder that has a model is refused before the models are read, which takes a while.
    refuse_model(&args.output)?;
    let folder = ModelFolder::take(&args.output)?;
    let inputs: Vec<&Path> = args.folders.iter().map(PathBuf::as_path).collect();
    folder.check_distinct(&[], &[], &inputs)?;
    refuse_model(&args.output)?;
    let models =
        args.folders.iter().map(|folder| Model::load(folder)).collect::<Result<Vec<_>, _>>()?;
    let mean = Model::average(&models)?;
    mean.save(&args.output)?;
    drop(folder);
    if !common.quiet {
        let name = args.output.display().to_string();
        let (name, count, weights) = (plain(&name), models.len(), mean.fingerprint());
        Output::print(&format!("{name}: the mean of {count} models, weights {weights}\n"))?;
    }
    Ok(Outcome::Done)
}

fn refuse_model(folder: &Path) -> anyhow::Result<()> {
    if folder.join("storymeter.json").exists() {
        bail!("{}: the folder already has a model; name another folder", folder.display());
    }
    Ok(())
}
