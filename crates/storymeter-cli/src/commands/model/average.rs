//! `storymeter model average`: several runs as one model.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use storymeter::union::Model;

use crate::Outcome;
use crate::args::Common;

/// Average the weights of models trained from one encoder with different seeds; the mean often agrees better with readers.
#[derive(Debug, Args)]
pub(super) struct AverageArgs {
    /// Folders that storymeter train wrote
    #[arg(value_name = "DIR", required = true, num_args = 2..)]
    folders: Vec<PathBuf>,
    /// The folder of the mean
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Averages.
pub(super) fn run(args: &AverageArgs, common: &Common) -> anyhow::Result<Outcome> {
    let out = args.output.display();
    if args.output.join("storymeter.json").exists() {
        bail!("{out}: holds a model already");
    }
    let models =
        args.folders.iter().map(|folder| Model::load(folder)).collect::<Result<Vec<_>, _>>()?;
    let mean = Model::average(&models)?;
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("{out}: cannot make the folder"))?;
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
