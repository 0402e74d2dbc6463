//! `storymeter model pack`: a trained folder as one file.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;
use storymeter::union::{About, Agreement, DiagnosisFigure, Model, Reconstruction};

use crate::Outcome;
use crate::args::Common;

/// Pack a folder that storymeter train wrote into one model file with int8 weights.
///
/// The file scores exactly like the folder with --precision int8. With --about and --figures it carries a model card.
#[derive(Debug, Args)]
pub(super) struct PackArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The model file to write (.smq)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The model card's texts, as JSON: name, summary, licence, recipe, sources, notes, limits, not_for
    #[arg(long, value_name = "FILE")]
    about: Option<PathBuf>,
    /// Figures for the card, as `evaluate --json` prints them; may be given several times
    #[arg(long, value_name = "FILE")]
    figures: Vec<PathBuf>,
    /// The temperature of the scores, instead of the one fitted on dev stories: more spreads scores of good stories, and changes no
    /// order
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// Leave the reconstruction head out: scores stay, --explain has no edits
    #[arg(long)]
    no_reconstruction: bool,
}

/// What `evaluate --json` prints, as far as a card wants it.
#[derive(Debug, Deserialize)]
struct Figures {
    agreement: Vec<Agreement>,
    #[serde(default)]
    diagnosis: Vec<DiagnosisFigure>,
}

/// Packs.
pub(super) fn run(args: &PackArgs, common: &Common) -> anyhow::Result<Outcome> {
    let mut model = Model::load(&args.folder)?;
    if args.no_reconstruction {
        model.card.reconstruction = Reconstruction::None;
    }
    if let Some(temperature) = args.temperature {
        if !(temperature.is_finite() && temperature > 0.0) {
            bail!("--temperature {temperature}: a positive number is needed");
        }
        model.card.temperature = temperature;
    }
    if let Some(path) = &args.about {
        model.card.about = read::<About>(path)?;
    }
    for path in &args.figures {
        let figures: Figures = read(path)?;
        model.card.about.agreement.extend(figures.agreement);
        model.card.about.diagnosis.extend(figures.diagnosis);
    }
    let bytes = model.store(&args.output)?;
    if !common.quiet {
        let name = args.output.display();
        writeln!(std::io::stdout(), "{name}: {:.1} MB, weights {}", bytes as f64 / 1e6, model.fingerprint())?;
    }
    Ok(Outcome::Done)
}

fn read<T: for<'a> Deserialize<'a>>(path: &PathBuf) -> anyhow::Result<T> {
    let text = std::fs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&text).with_context(|| path.display().to_string())
}
