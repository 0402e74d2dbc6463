//! `storymeter model pack`: packs a trained model into one file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;
use storymeter_core::file::{self, distinct};
use storymeter_core::terminal::plain;
use storymeter_union::{
    self, About, Agreement, DiagnosisFigure, Kind, Location, Model, Precision, Reconstruction,
    StoredModel, calibrate,
};

use super::ratings::RatingsArgs;
use crate::Outcome;
use crate::args::Common;
use crate::commands::model_folder::files_of;
use crate::input::{ReadArgs, report_read};
use crate::lexicon::LexiconArgs;
use crate::output::Output;
use crate::progress;

/// Pack a folder that `storymeter train` wrote into one model file with int8 weights
///
/// The file gives exactly the scores of the folder in int8. --about and --figures give it a model
/// card. A model file can be packed again with another calibration or card.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter model pack model -o mine.smq
  storymeter model pack mean --calibrate stories.tsv --about about.json -o mine.smq
  storymeter model pack rated --calibrate-ratings fold-*/held-out.jsonl -o criteria.smq")]
pub(super) struct PackArgs {
    /// The folder, or a model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The model file to write (.smq)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The texts of the model card, as JSON with the fields name, summary, licence, recipe,
    /// sources, notes, limits and not_for
    #[arg(long, value_name = "FILE")]
    about: Option<PathBuf>,
    /// The agreement with human readers for the card, as `recipes/evaluate/evaluate.py --json`
    /// prints it. The option may be given several times
    #[arg(long, value_name = "FILE")]
    figures: Vec<PathBuf>,
    /// Fit the calibration of the score and of the diagnosis again, on the dev part of these human
    /// stories and on new damaged versions of them. An averaged model needs this
    #[arg(long, value_name = "STORIES", conflicts_with = "temperature")]
    calibrate: Option<PathBuf>,
    #[command(flatten)]
    ratings: RatingsArgs,
    #[command(flatten)]
    lexicon: LexiconArgs,
    /// The seed of the training run, which decides which stories are the dev part
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Multiply the fitted temperature by this factor, so that fewer scores are close to 0 or 1.
    /// The order of the stories stays the same except for the effect of --repetition. This is
    /// useful because machine-written stories differ more from human ones than the damaged stories
    /// that the temperature is fitted on
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, requires = "calibrate")]
    soften: f64,
    /// The temperature of the scores, instead of a fitted one. A higher temperature spreads the
    /// scores of good stories. The order stays the same except for the effect of --repetition
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// How much repeated words lower the score. The calibrated logit is lowered by WEIGHT times the
    /// share of words that occurred earlier in the same window, as far as it is above a quarter
    #[arg(long, value_name = "WEIGHT")]
    repetition: Option<f64>,
    /// The largest number of tokens of the windows in which a long story is read, special tokens
    /// included
    #[arg(long, value_name = "TOKENS")]
    window: Option<usize>,
    /// Leave out the reconstruction head of a folder. The scores stay the same, but --explain
    /// cannot show what the model would change
    #[arg(long)]
    no_reconstruction: bool,
}

/// The most bytes of a file of texts or figures.
const LARGEST_TEXT: u64 = 1 << 24;

/// The part of the output of `recipes/evaluate/evaluate.py --json` that a card has.
#[derive(Debug, Deserialize)]
struct Figures {
    agreement: Vec<Agreement>,
    #[serde(default)]
    diagnosis: Vec<DiagnosisFigure>,
}

/// Writes the model file.
pub(super) fn run(args: &PackArgs, common: &Common) -> anyhow::Result<Outcome> {
    let model = if args.model.is_dir() { files_of(&args.model) } else { vec![args.model.clone()] };
    let inputs = model.iter().chain(&args.about).chain(&args.figures).chain(&args.calibrate);
    let inputs =
        inputs.chain(args.ratings.files()).map(PathBuf::as_path).chain(args.lexicon.files());
    distinct(&[&args.output], &inputs.collect::<Vec<_>>())?;
    if let (None, Some(option)) = (&args.calibrate, args.lexicon.given().next()) {
        bail!("{option}: the table is for the damaged stories of --calibrate, which is not given");
    }
    let location = Location::Path(args.model.clone());
    let model = if args.model.is_dir() {
        let mut model = Model::load(&args.model)?;
        if args.no_reconstruction {
            model.card.reconstruction = Reconstruction::None;
        }
        Packed::Folder(Box::new(model))
    } else {
        Packed::File(Box::new(StoredModel::open(&args.model)?))
    };
    let mut card = match &model {
        Packed::Folder(model) => model.card.clone(),
        Packed::File(model) => model.card().clone(),
    };
    card.max_tokens = args.window.unwrap_or(card.max_tokens);
    if !(args.soften.is_finite() && args.soften > 0.0) {
        bail!("--soften {}: the factor must be a positive number", args.soften);
    }
    if card.reconstruction == Reconstruction::Own && matches!(model, Packed::Folder(_)) {
        bail!(
            "{}: the model has its own reconstruction matrix, which a model file cannot hold; \
             --no-reconstruction leaves it out, and the scores stay the same",
            args.model.display()
        );
    }
    if args.calibrate.is_some() && card.kind != Kind::Union {
        let (trained_on, way) = match card.kind {
            Kind::Criteria => ("ratings", "; use --calibrate-ratings"),
            Kind::Union | Kind::DisScore => ("stories of machines", ""),
        };
        bail!(
            "--calibrate: {} was trained on {trained_on}, and the calibration is for damaged \
             stories{way}",
            args.model.display()
        );
    }
    args.ratings.calibrate(&mut card, &args.model, common)?;
    if card.kind == Kind::Criteria {
        let unused = [
            ("--temperature", args.temperature.is_some()),
            ("--repetition", args.repetition.is_some()),
        ];
        if let Some((option, _)) = unused.iter().find(|(_, given)| *given) {
            bail!("{option}: {} predicts ratings, which have no such number", args.model.display());
        }
    }
    if let Some(stories) = &args.calibrate {
        let inputs = ReadArgs::default().file(stories);
        let mut checker = inputs.checker();
        let bar = progress::Shown::new(common);
        bar.progress().begin("reading stories");
        let stories = inputs.stories(&mut checker, bar.progress())?;
        let scorer = location.scorer(Precision::Int8)?.with_window(card.max_tokens)?;
        let lexicon = args.lexicon.read()?;
        let fitted = calibrate(&scorer, &stories, &lexicon, args.seed, bar.progress())?;
        drop(bar);
        report_read(common, &checker.summary());
        (card.temperature, card.bias) = (args.soften * fitted.temperature, fitted.bias);
        card.diagnosis_calibration = fitted.diagnosis;
        if !common.quiet {
            crate::note(&format!(
                "calibrated on {} pairs: temperature {:.3}, bias {:.3}",
                fitted.pairs, card.temperature, card.bias
            ));
        }
    }
    if let Some(temperature) = args.temperature {
        if !(temperature.is_finite() && temperature > 0.0) {
            bail!("--temperature {temperature}: the temperature must be a positive number");
        }
        card.temperature = temperature;
    }
    if let Some(repetition) = args.repetition {
        if !(repetition.is_finite() && repetition >= 0.0) {
            bail!("--repetition {repetition}: the weight of repetition must be 0 or more");
        }
        card.repetition = repetition;
    }
    if let Some(path) = &args.about {
        card.about = read::<About>(path)?;
    }
    for path in &args.figures {
        let figures: Figures = read(path)?;
        card.about.agreement.extend(figures.agreement);
        card.about.diagnosis.extend(figures.diagnosis);
    }
    let bytes = match model {
        Packed::Folder(mut model) => {
            model.card = card;
            model.store(&args.output).map_err(|error| match error {
                // This is about the folder, and the error does not know its name.
                storymeter_union::Error::Pack { .. } => {
                    anyhow::Error::new(error).context(args.model.display().to_string())
                }
                other => other.into(),
            })?
        }
        Packed::File(model) => model.store_with(card, &args.output)?,
    };
    // A pipe cannot be read again.
    if !common.quiet && args.output.is_file() {
        let stored = StoredModel::open(&args.output)?;
        let name = args.output.display().to_string();
        let (megabytes, weights) = (bytes as f64 / 1e6, stored.fingerprint());
        Output::print(&format!("{}: {megabytes:.1} MB, weights {weights}\n", plain(&name)))?;
    }
    Ok(Outcome::Done)
}

/// The model that is packed.
enum Packed {
    Folder(Box<Model>),
    File(Box<StoredModel>),
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> anyhow::Result<T> {
    let text = file::read(path, LARGEST_TEXT)?;
    serde_json::from_slice(&text).with_context(|| path.display().to_string())
}
