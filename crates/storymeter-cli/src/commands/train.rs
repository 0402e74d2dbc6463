//! `storymeter train`: trains the learned metric and the baselines of the UNION paper.
//!
//! Here are the arguments, and what all kinds of model share: the check of the output folder, and
//! reading the stories. Each kind has a file of its own.

mod bleurt;
mod criteria;
mod fine_tuned;
mod language_model;
mod log;
mod ruber;
#[cfg(feature = "cuda")]
mod team;
mod union;
mod watcher;

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};
use storymeter_baselines::configuration::Configuration;
use storymeter_core::read::{Skipped, Summary};
use storymeter_core::{Place, Story, file};
use storymeter_perturb::Technique;
use storymeter_union::train::CHECKPOINT;

use crate::Outcome;
use crate::args::{Common, count};
use crate::commands::model_folder::ModelFolder;
use crate::input::{ReadArgs, report_read, report_skipped};
use crate::lexicon::LexiconArgs;
use crate::output::{Output, Reader};
use crate::progress;

/// Train the learned metric, a metric for criteria that readers rated, or a baseline of the UNION
/// paper
///
/// --kind says what is trained. With --rated alone it is the metric for criteria: every criterion
/// gets a head that predicts what readers say. The following is about the learned metric, the
/// default. `storymeter
/// metrics show` explains the metrics that the other kinds are for, and `--kind KIND
/// --print-config` their settings.
///
/// Each story is damaged (UNION, section 3.2), by default anew in every epoch. The encoder learns
/// to distinguish human stories from damaged ones, to repair the damage, and to tell its kind. A
/// twentieth of the stories is used to choose the best epoch, and another twentieth is left out for
/// tests. The seed decides which stories these are. If a story is longer than the setting
/// `max_tokens`, it is trained on in windows of whole sentences, which begin at another place in
/// every epoch.
///
/// The output folder gets the model of the best epoch, which `score --model` reads; a checkpoint,
/// `training.safetensors`, which --resume needs and which may be deleted after the run; and the
/// log, `train.jsonl`, which `report` plots.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter train --stories stories.tsv --init minilm -o model
  storymeter train --stories stories.tsv --init minilm -o model --resume
  storymeter train --print-config --preset paper > paper.toml
  storymeter train --stories stories.tsv --init bert --preset paper \\
      --antonyms conceptnet_antonym.txt --keywords entity_vocab_roc.txt -o model
  storymeter train --stories stories.tsv --init bert --config paper.toml --device cuda -o model
  storymeter train --rated rated.jsonl --init union-compact -o criteria
  storymeter train --rated a.jsonl b.jsonl --criteria map.toml --init union-compact -o criteria
  storymeter train --kind disscore --stories human.tsv --machine machine.jsonl --init bert \\
      -o disscore
  storymeter train --kind ruber --stories stories.tsv --init bert -o ruber
  storymeter train --kind bleurt --rated rated.jsonl --init bleurt-base-128 -o bleurt
  storymeter train --kind language-model --stories stories.tsv --init gpt2 -o gpt2-stories")]
pub struct TrainArgs {
    /// What to train [default: criteria with --rated, and union without]
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// Files or folders of human stories, or - for standard input, in any format that `score` reads
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..
    )]
    stories: Vec<PathBuf>,
    /// Files or folders of stories that machines wrote, which --kind disscore learns to distinguish
    /// from the human ones
    #[arg(long, value_name = "FILE", num_args = 1..)]
    machine: Vec<PathBuf>,
    /// Files or folders of stories with human ratings. Each is a set of its own, with its own
    /// scale, whose name is that of the file without its extensions. --kind bleurt also needs
    /// references
    #[arg(long, value_name = "FILE", num_args = 1..)]
    rated: Vec<PathBuf>,
    /// A TOML file that says which criteria of the sets of --rated mean the same: a table for each
    /// set, with lines such as `logic = "coherence"`. Without it, criteria of the same name are the
    /// same
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// The folder of a sentence encoder (such as all-MiniLM-L6-v2), which compares stories with
    /// their prompts for the criterion relevance. It becomes part of the model
    #[arg(long, value_name = "DIR")]
    sentences: Option<PathBuf>,
    /// Leave out fold I of N and write what the model says about its stories to held-out.jsonl. All
    /// stories of an item are in the same fold
    #[arg(long, value_name = "I/N", value_parser = fold)]
    fold: Option<(usize, usize)>,
    /// Leave out a whole set of --rated, and write what the model says about it to held-out.jsonl
    #[arg(long, value_name = "SET", conflicts_with = "fold")]
    leave_out: Option<String>,
    /// A file of references for --rated, with one reference per story, in the order of the stories.
    /// References that the stories of --rated have are kept, and these are added. The option may be
    /// given several times for several references per story
    #[arg(long, value_name = "FILE")]
    references: Vec<PathBuf>,
    /// The encoder to start from: a folder in the layout of Hugging Face (config.json,
    /// model.safetensors, and tokenizer.json or vocab.txt) with a BERT, MiniLM, DistilBERT or
    /// MPNet. --kind criteria also takes a learned model: a folder, a file, or a name such as
    /// union-compact. --kind bleurt takes only BERT, which includes MiniLM, and MPNet. --kind
    /// language-model starts from a GPT-2, Llama, Mistral or Qwen 2 in such a folder or in a GGUF
    /// file
    #[arg(long, value_name = "DIR", required_unless_present = "print_config")]
    init: Option<PathBuf>,
    /// The folder for the model. It is created if it does not exist
    #[arg(short, long, value_name = "DIR", required_unless_present = "print_config")]
    output: Option<PathBuf>,
    /// A TOML file of settings. --print-config prints all of them. Options of the command line take
    /// precedence over the file, and the file takes precedence over the preset
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print all settings that follow from the other options, with explanations, and do nothing
    /// else
    #[arg(long)]
    print_config: bool,
    /// The values of settings that are given neither in the file nor on the command line
    #[arg(long, value_name = "PRESET")]
    preset: Option<PresetArg>,
    /// Where to compute
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceArg,
    /// The numbers of the GPUs that compute: 0, or 0,1,2,3
    ///
    /// Several GPUs take a part of every batch each and add up their gradients. The result is that
    /// of one GPU except for rounding. They need NCCL (libnccl.so.2) in LD_LIBRARY_PATH. A GPU that
    /// is named twice computes two parts; that is slower, and only useful for tests.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "0")]
    devices: Vec<usize>,
    /// The number of this process among several. Only storymeter itself sets it
    #[arg(long, value_name = "N", hide = true)]
    rank: Option<usize>,
    /// The number format of the activations on a GPU. bf16 is the default, and several times
    /// faster. Weights, gradients and sums are f32 in any case
    #[arg(long, value_name = "PRECISION")]
    precision: Option<PrecisionArg>,
    /// A trained model whose scores are learnt instead of the labels (distillation). The option may
    /// be given several times; the mean of the scores is learnt then
    #[arg(long, value_name = "DIR")]
    teacher: Vec<PathBuf>,
    /// Make runs on the same kind of GPU, with the same libraries, end with the same bytes
    ///
    /// A run on one GPU always does, with or without this option. With several GPUs, the option
    /// makes NCCL add in a fixed order (rings). The bytes still depend on the number of GPUs.
    #[arg(long)]
    deterministic: bool,
    /// Continue an interrupted run in the output folder. The result is the same as without the
    /// interruption
    #[arg(long)]
    resume: bool,
    /// Start anew in a folder that already has a model or an interrupted run
    #[arg(long, conflicts_with = "resume")]
    overwrite: bool,
    /// Train without the reconstruction loss (-Recon in Table 5 of the UNION paper)
    #[arg(long)]
    without_reconstruction: bool,
    /// Do not damage stories with this technique (the ablations in Table 7 of the UNION paper):
    /// repetition, substitution, reordering or negation. The option may be given several times
    #[arg(long, value_name = "TECHNIQUE")]
    without_technique: Vec<Technique>,
    #[command(flatten)]
    lexicon: LexiconArgs,
    /// The seed of all random choices: the split, the damage, the order, dropout and new weights
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64)
    )]
    seed: Option<u64>,
    /// The number of passes over the stories
    #[arg(long, value_name = "N", value_parser = count())]
    epochs: Option<u64>,
    /// Write the log to this file instead of train.jsonl in the output folder
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

/// The values of `--kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The learned metric of the UNION paper
    Union,
    /// A discriminator between human stories and those of machines (--machine), for the metric
    /// disscore
    #[value(name = "disscore")]
    DisScore,
    /// RUBER-BERT, which compares a story with its reference and with its context, for the metric
    /// ruber
    Ruber,
    /// One head for each criterion that readers rated (--rated), for the metric criteria
    Criteria,
    /// BLEURT, which learns human ratings of stories beside their references, for the metric bleurt
    Bleurt,
    /// A causal language model, fine-tuned on stories, for the metric perplexity
    LanguageModel,
}

impl Kind {
    /// The file that is written last into the folder of a model, so that a folder with it is whole.
    fn last_file(self) -> &'static str {
        match self {
            Self::Union | Self::DisScore | Self::Criteria => "storymeter.json",
            Self::Ruber => storymeter_baselines::ruber::LAST_FILE,
            Self::Bleurt | Self::LanguageModel => storymeter_baselines::folder::RECORD,
        }
    }

    /// The name on the command line.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// The values of `--preset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PresetArg {
    /// The settings that work best
    Default,
    /// The settings of the UNION paper, sections 3.2, 3.3, 4.1 and 4.2
    Paper,
    /// The settings of the code that the authors of UNION released
    ReleasedCode,
}

/// The values of `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DeviceArg {
    /// The processor of this machine
    Cpu,
    /// An NVIDIA GPU
    Cuda,
}

/// The values of `--precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrecisionArg {
    /// Floating point of 16 bits
    Bf16,
    /// Floating point of 32 bits
    F32,
}

/// Trains a model of the kind that was asked for, or prints its settings.
pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<Outcome> {
    check_options(args)?;
    match args.kind() {
        Kind::Union | Kind::DisScore => union::run(args, common),
        Kind::Criteria => criteria::run(args, common),
        Kind::Ruber => ruber::run(args, common),
        Kind::Bleurt => bleurt::run(args, common),
        Kind::LanguageModel => language_model::run(args, common),
    }
}

impl TrainArgs {
    /// What is trained.
    fn kind(&self) -> Kind {
        let default = if self.rated.is_empty() { Kind::Union } else { Kind::Criteria };
        self.kind.unwrap_or(default)
    }
}

/// Reads "2/8" as fold 2 of 8.
fn fold(typed: &str) -> Result<(usize, usize), String> {
    let parts = typed.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    let fits = parts.filter(|(number, of)| *of >= 2 && (1..=*of).contains(number));
    fits.ok_or_else(|| "a fold is I/N, such as 2/8, with I from 1 to N".to_owned())
}

/// Refuses options that the kind of model does not have, so that none is ignored in silence.
fn check_options(args: &TrainArgs) -> anyhow::Result<()> {
    let kind = args.kind();
    // Each option that some kinds lack, whether it was given, and the kinds that have it.
    const FINE_TUNED: &[Kind] =
        &[Kind::Union, Kind::DisScore, Kind::Criteria, Kind::Bleurt, Kind::LanguageModel];
    const ON_STORIES: &[Kind] =
        &[Kind::Union, Kind::DisScore, Kind::Criteria, Kind::Ruber, Kind::LanguageModel];
    let options: [(&str, bool, &[Kind]); 19] = [
        ("--stories", !args.stories.is_empty(), ON_STORIES),
        ("--machine", !args.machine.is_empty(), &[Kind::DisScore]),
        ("--rated", !args.rated.is_empty(), &[Kind::Bleurt, Kind::Criteria]),
        ("--criteria", args.criteria.is_some(), &[Kind::Criteria]),
        ("--sentences", args.sentences.is_some(), &[Kind::Criteria]),
        ("--fold", args.fold.is_some(), &[Kind::Criteria]),
        ("--leave-out", args.leave_out.is_some(), &[Kind::Criteria]),
        ("--references", !args.references.is_empty(), &[Kind::Bleurt]),
        ("--resume", args.resume, FINE_TUNED),
        ("--preset", args.preset.is_some(), &[Kind::Union, Kind::DisScore]),
        ("--devices", args.devices != [0], Kind::value_variants()),
        ("--precision", args.precision.is_some(), FINE_TUNED),
        ("--antonyms", args.lexicon.antonyms.is_some(), &[Kind::Union]),
        ("--more-antonyms", args.lexicon.more_antonyms.is_some(), &[Kind::Union]),
        ("--keywords", args.lexicon.keywords.is_some(), &[Kind::Union]),
        ("--teacher", !args.teacher.is_empty(), &[Kind::Union]),
        ("--deterministic", args.deterministic, &[Kind::Union, Kind::DisScore]),
        ("--without-reconstruction", args.without_reconstruction, &[Kind::Union]),
        ("--without-technique", !args.without_technique.is_empty(), &[Kind::Union]),
    ];
    if kind == Kind::Ruber && args.resume {
        bail!(
            "--kind ruber has no option --resume: it keeps no checkpoints, and always starts anew"
        );
    }
    for (option, given, kinds) in options {
        if given && !kinds.contains(&kind) {
            bail!("--kind {} has no option {option}", kind.name());
        }
    }
    if args.print_config {
        return Ok(());
    }
    if kind == Kind::DisScore && args.machine.is_empty() {
        bail!("--kind disscore needs stories that machines wrote (--machine)");
    }
    if !matches!(kind, Kind::Bleurt | Kind::Criteria) && args.stories.is_empty() {
        bail!("training needs human stories (--stories)");
    }
    if let Some(twice) = args.machine.iter().find(|path| args.stories.contains(path)) {
        bail!("--machine {}: these are the human stories of --stories", twice.display());
    }
    Ok(())
}

/// The settings of the file, or those of the kind, with the `seed_and_epochs` of the command line.
fn settings<S: Configuration>(
    args: &TrainArgs,
    seed_and_epochs: impl FnOnce(&mut S) -> (&mut u64, &mut u64),
) -> storymeter_baselines::Result<S> {
    let mut settings = match &args.config {
        Some(path) => S::read(path)?,
        None => S::default(),
    };
    let (seed, epochs) = seed_and_epochs(&mut settings);
    *seed = args.seed.unwrap_or(*seed);
    *epochs = args.epochs.unwrap_or(*epochs);
    Ok(settings)
}

/// The model to start from, which messages call `what`, and the output folder.
fn ends<'a>(args: &'a TrainArgs, what: &str) -> anyhow::Result<(&'a Path, &'a Path)> {
    match (&args.init, &args.output) {
        (Some(init), Some(out)) => Ok((init, out)),
        _ => bail!("training needs {what} (--init) and an output folder (-o)"),
    }
}

/// Prints settings as a file that explains every field.
fn print_settings(text: &str) -> anyhow::Result<Outcome> {
    let mut out = Output::open(None, Reader::Person)?;
    out.write_all(text.as_bytes())?;
    out.finish()?;
    Ok(Outcome::Done)
}

/// Removes the checkpoint of an earlier run, which must not be taken for one of the new run, and
/// what marks the folder as a model of another kind. The new run has read all that it needs by
/// then, and the user asked for it with --overwrite.
fn clear_folder(kind: Kind, out: &Path) -> storymeter_core::Result<()> {
    let own: &[&str] = match kind {
        Kind::Union | Kind::DisScore | Kind::Criteria => &["heads.safetensors"],
        Kind::Ruber => &["ruber.safetensors"],
        Kind::Bleurt | Kind::LanguageModel => &[],
    };
    let marks = Kind::value_variants().iter().map(|other| other.last_file());
    let others = marks
        .chain(["heads.safetensors", "ruber.safetensors"])
        .filter(|name| *name != kind.last_file() && !own.contains(name));
    for path in others.chain([CHECKPOINT]).map(|name| out.join(name)) {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(storymeter_core::Error::io(Place::file(&path), error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Where a run writes: the output folder, which is locked, and the log.
struct Destination<'a> {
    out: &'a Path,
    log: PathBuf,
    folder: ModelFolder,
}

/// The log of a run.
fn log_of(args: &TrainArgs, out: &Path) -> PathBuf {
    args.log.clone().unwrap_or_else(|| out.join("train.jsonl"))
}

/// Locks the output folder, and checks that the run destroys nothing in it or elsewhere.
fn take_output<'a>(
    args: &TrainArgs,
    (init, out): (&Path, &'a Path),
    common: &Common,
) -> anyhow::Result<Destination<'a>> {
    let log = log_of(args, out);
    check_output(args, out)?;
    let folder = ModelFolder::take(out)?;
    // Another run may have ended between the check and the lock.
    check_output(args, out)?;
    for path in folder.files().chain([log.clone()]) {
        if path.metadata().is_ok_and(|there| there.is_file() && there.permissions().readonly()) {
            bail!("{}: the file is read-only", path.display());
        }
    }
    if folder.has_name_of(&log) {
        bail!("--log {}: the model has a file of this name; name another file", log.display());
    }
    let stories = args.stories.iter().chain(&args.machine).chain(&args.rated);
    let stories = stories.chain(&args.references);
    let stories = stories.chain(&args.config).chain(&args.criteria).map(PathBuf::as_path);
    let files: Vec<&Path> = stories.chain(args.lexicon.files()).collect();
    file::named_once(&files)?;
    let models = args.teacher.iter().chain(&args.sentences).map(PathBuf::as_path).chain([init]);
    folder.check_distinct(&[&log], &files, &models.collect::<Vec<_>>())?;
    if args.resume && !out.join(CHECKPOINT).exists() && !common.quiet {
        crate::note(&format!(
            "{}: there is no {CHECKPOINT} to resume from, so training starts from the beginning",
            out.display()
        ));
    }
    Ok(Destination { out, log, folder })
}

/// Where a kind computes that uses one GPU.
fn one_device(args: &TrainArgs) -> anyhow::Result<storymeter_encoder::Device> {
    match (args.device, args.devices.as_slice()) {
        (DeviceArg::Cpu, _) => Ok(storymeter_encoder::Device::Cpu),
        (DeviceArg::Cuda, [gpu]) => Ok(storymeter_encoder::Device::Cuda(*gpu)),
        (DeviceArg::Cuda, _) => bail!("--devices: this kind of model is trained on one GPU"),
    }
}

/// Checks that no model and no interrupted run is overwritten by mistake.
fn check_output(args: &TrainArgs, out: &Path) -> anyhow::Result<()> {
    let is_there = |name: &str| out.join(name).exists();
    let (whole, checkpoint) = (is_there(args.kind().last_file()), is_there(CHECKPOINT));
    if args.resume && whole && !checkpoint {
        bail!(
            "{}: the folder has a model but no {CHECKPOINT} to resume from; --overwrite starts anew",
            out.display()
        );
    }
    // The model that is there may be of another kind.
    let model = Kind::value_variants().iter().any(|kind| is_there(kind.last_file()));
    if !args.resume && !args.overwrite && (model || checkpoint) {
        let what = if model { "a model" } else { "an interrupted run" };
        let resume = match args.kind() {
            // This kind keeps no checkpoints.
            Kind::Ruber => "",
            _ => "--resume continues it, and ",
        };
        bail!("{}: the folder already has {what}; {resume}--overwrite starts anew", out.display());
    }
    Ok(())
}

/// All stories, and the number of stories per file.
#[derive(Default)]
struct Corpus {
    stories: Vec<Story>,
    files: Vec<(String, usize)>,
}

/// Reads some of the files that the command line names: the human stories, or others.
fn read_stories(paths: &[PathBuf], args: &TrainArgs, common: &Common) -> anyhow::Result<Corpus> {
    let Corpus { mut stories, mut files } = Corpus::default();
    let (mut skipped, mut summary) = (Skipped::default(), Summary::default());
    let bar = progress::Shown::new(common);
    for path in paths {
        let before = stories.len();
        let inputs = args.read.file(path);
        let mut checker = inputs.checker();
        bar.progress().begin("reading stories");
        inputs.add_to(&mut stories, &mut checker, bar.progress())?;
        skipped.merge(checker.skipped().clone());
        summary.merge(checker.summary());
        // Only the name is kept, so that the model does not reveal folders of this machine.
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        files.push((name, stories.len() - before));
    }
    drop(bar);
    report_read(common, &summary);
    report_skipped(common, &skipped);
    Ok(Corpus { stories, files })
}
