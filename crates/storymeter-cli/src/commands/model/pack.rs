//! `storymeter model pack`: a trained folder as one file.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;
use storymeter::core::read::Skipped;
use storymeter::union::{
    About, Agreement, DiagnosisFigure, Location, Model, Precision, Reconstruction, StoredModel,
    calibrate,
};

use crate::Outcome;
use crate::args::Common;
use crate::input::InputArgs;

/// Pack a folder that storymeter train wrote into one model file with int8 weights.
///
/// The file scores exactly like the folder with --precision int8. With --about and --figures it carries a model card. A model file
/// can be packed again with another calibration or card.
#[derive(Debug, Args)]
pub(super) struct PackArgs {
    /// The folder, or a model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The model file to write (.smq)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The model card's texts, as JSON: name, summary, licence, recipe, sources, notes, limits, not_for
    #[arg(long, value_name = "FILE")]
    about: Option<PathBuf>,
    /// Figures for the card, as `evaluate --json` prints them; may be given several times
    #[arg(long, value_name = "FILE")]
    figures: Vec<PathBuf>,
    /// Fit the calibration of score and diagnosis anew, on the dev part of these human stories and fresh negatives of them; averaged models need it
    #[arg(long, value_name = "STORIES", conflicts_with = "temperature")]
    calibrate: Option<PathBuf>,
    /// Which stories are the dev part: the seed of the training run
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// With --calibrate, multiply the fitted temperature by this: scores crowd less near 0 and 1, and keep their order but for what --repetition takes. Machines' stories
    /// are stranger to a model than the negatives it is fitted on
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, requires = "calibrate")]
    soften: f64,
    /// The temperature of the scores, instead of the fitted one: more spreads scores of good stories, and changes their order only by what --repetition takes
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// What unusual repetition of words costs: the calibrated logit, after bias and temperature, loses this much times the share of words that
    /// occur in the same window before, beyond a quarter
    #[arg(long, value_name = "WEIGHT")]
    repetition: Option<f64>,
    /// Most tokens of a window that a long story is read in, special ones included
    #[arg(long, value_name = "TOKENS")]
    window: Option<usize>,
    /// Leave the reconstruction head of a folder out: scores stay, --explain has no edits
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
    let location = Location::Path(args.model.clone());
    let source = if args.model.is_dir() {
        let mut model = Model::load(&args.model)?;
        if args.no_reconstruction {
            model.card.reconstruction = Reconstruction::None;
        }
        Source::Folder(Box::new(model))
    } else {
        Source::File(Box::new(StoredModel::open(&args.model)?))
    };
    let mut card = match &source {
        Source::Folder(model) => model.card.clone(),
        Source::File(model) => model.card().clone(),
    };
    card.max_tokens = args.window.unwrap_or(card.max_tokens);
    if !(args.soften.is_finite() && args.soften > 0.0) {
        bail!("--soften {}: a positive number is needed", args.soften);
    }
    if let Some(stories) = &args.calibrate {
        let input = InputArgs { files: vec![stories.clone()], input_format: None, skip_bad: false };
        let stories = input.once().stories(&mut Skipped::default(), |_| {})?;
        let scorer = location.scorer(Precision::Int8)?.with_window(card.max_tokens)?;
        let fitted = calibrate(&scorer, &stories, args.seed)?;
        (card.temperature, card.bias) = (args.soften * fitted.temperature, fitted.bias);
        card.diagnosis_calibration = fitted.diagnosis;
        if !common.quiet {
            writeln!(
                std::io::stderr(),
                "calibrated on {} pairs: temperature {:.3}, bias {:.3}",
                fitted.pairs,
                card.temperature,
                card.bias
            )?;
        }
    }
    if let Some(temperature) = args.temperature {
        if !(temperature.is_finite() && temperature > 0.0) {
            bail!("--temperature {temperature}: a positive number is needed");
        }
        card.temperature = temperature;
    }
    card.repetition = args.repetition.unwrap_or(card.repetition);
    if let Some(path) = &args.about {
        card.about = read::<About>(path)?;
    }
    for path in &args.figures {
        let figures: Figures = read(path)?;
        card.about.agreement.extend(figures.agreement);
        card.about.diagnosis.extend(figures.diagnosis);
    }
    let bytes = match source {
        Source::Folder(mut model) => {
            model.card = card;
            model.store(&args.output)?
        }
        Source::File(model) => model.store_with(card, &args.output)?,
    };
    if !common.quiet {
        let (name, stored) = (args.output.display(), StoredModel::open(&args.output)?);
        let megabytes = bytes as f64 / 1e6;
        writeln!(std::io::stdout(), "{name}: {megabytes:.1} MB, weights {}", stored.fingerprint())?;
    }
    Ok(Outcome::Done)
}

/// What is packed.
enum Source {
    Folder(Box<Model>),
    File(Box<StoredModel>),
}

fn read<T: for<'a> Deserialize<'a>>(path: &PathBuf) -> anyhow::Result<T> {
    let text = std::fs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&text).with_context(|| path.display().to_string())
}
