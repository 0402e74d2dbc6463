//! `storymeter train`: trains the learned metric on human stories.

mod log;
#[cfg(feature = "cuda")]
mod team;
mod watcher;

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};
use storymeter::core::read::{Format, Skipped};
use storymeter::core::terminal::plain;
use storymeter::core::{Place, Story, file};
use storymeter::perturb::Technique;
#[cfg(feature = "cuda")]
use storymeter::union::train::Activations;
use storymeter::union::train::{
    CHECKPOINT, Device, EpochReport, Event, Job, Preset, Settings, train,
};
use storymeter::union::{self, MODEL_FILES, Reconstruction};

use crate::Outcome;
use crate::args::{Common, count};
use crate::commands::model_folder::ModelFolder;
use crate::input::{InputArgs, report_skipped};
use crate::output::{Output, Reader};
use crate::progress;
use watcher::Watcher;

/// Train the learned metric on human stories
///
/// In every epoch each story is damaged anew (UNION, section 3.2). The encoder learns to
/// distinguish human stories from damaged ones, to repair the damage, and to tell its kind. A
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
  storymeter train --stories stories.tsv --init bert --config paper.toml --device cuda -o model")]
pub struct TrainArgs {
    /// Files or folders of human stories, or - for standard input, in any format that `score` reads
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "print_config")]
    stories: Vec<PathBuf>,
    /// The encoder to start from: a folder in the layout of Hugging Face (config.json,
    /// model.safetensors, and tokenizer.json or vocab.txt) with a BERT, MiniLM, DistilBERT or MPNet
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
    /// The number format of the activations on a GPU. bf16 is several times faster. Weights,
    /// gradients and sums are f32 in any case
    #[arg(long, value_name = "PRECISION", default_value = "bf16")]
    precision: PrecisionArg,
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
    /// The format of the stories, if it is not found from the name and the content
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<Format>,
    /// Skip bad records and report them on standard error, instead of stopping at the first one
    #[arg(long)]
    skip_bad: bool,
}

/// The values of `--preset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PresetArg {
    /// The settings that work best
    Default,
    /// The settings of the UNION paper, sections 3.2, 3.3 and 4.1
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

/// Trains, or prints the settings.
pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<Outcome> {
    let settings = settings(args)?;
    if args.print_config {
        let mut out = Output::open(None, Reader::Person)?;
        out.write_all(settings.to_toml().as_bytes())?;
        out.finish()?;
        return Ok(Outcome::Done);
    }
    let (Some(init), Some(out)) = (&args.init, &args.output) else {
        bail!("training needs an encoder (--init) and an output folder (-o)");
    };
    settings.check(init).map_err(|error| with_origin(error, args, &settings))?;
    let log = args.log.clone().unwrap_or_else(|| out.join("train.jsonl"));
    // The ranks of a team leave the folder to the process that oversees them.
    let folder = match args.rank {
        None => Some(take_output(args, (init, out, &log), common)?),
        Some(_) => None,
    };
    #[cfg(feature = "cuda")]
    if args.rank.is_none() && args.device == DeviceArg::Cuda && args.devices.len() > 1 {
        if args.stories.iter().any(|path| path == Path::new("-")) {
            bail!("--stories -: several GPUs cannot share standard input; name a file of stories");
        }
        return team::oversee(&args.devices, args.deterministic);
    }
    let corpus = read_stories(args, common)?;
    let job = Job {
        init,
        stories: &corpus.stories,
        files: &corpus.files,
        out,
        settings: &settings,
        teachers: &args.teacher,
        device: device(args)?,
        resume: args.resume,
    };
    if args.rank.is_some_and(|rank| rank > 0) {
        // Only the first rank writes the log and prints.
        train(&job, &mut |_| Ok(()))?;
        return Ok(Outcome::Done);
    }
    let mut watcher = Watcher::new(common, log, settings.epochs);
    let reports = train(&job, &mut |event| {
        watcher.hear(event)?;
        match event {
            Event::Start(_) if args.overwrite => remove_checkpoint(out),
            _ => Ok(()),
        }
    })?;
    watcher.finish();
    drop(folder);
    summarise(&reports, out)?;
    Ok(Outcome::Done)
}

/// Locks the output folder, and checks that the run destroys nothing in it or elsewhere.
fn take_output(
    args: &TrainArgs,
    (init, out, log): (&Path, &Path, &Path),
    common: &Common,
) -> anyhow::Result<ModelFolder> {
    check_output(args, out)?;
    let folder = ModelFolder::take(out)?;
    // Another run may have ended between the check and the lock.
    check_output(args, out)?;
    let replaced = MODEL_FILES.iter().map(|name| out.join(name)).chain([out.join(CHECKPOINT)]);
    for path in replaced.chain([log.to_owned()]) {
        if path.metadata().is_ok_and(|there| there.is_file() && there.permissions().readonly()) {
            bail!("{}: the file is read-only", path.display());
        }
    }
    if folder.has_name_of(log) {
        bail!("--log {}: the model has a file of this name; name another file", log.display());
    }
    let files: Vec<&Path> = args.stories.iter().chain(&args.config).map(PathBuf::as_path).collect();
    file::named_once(&files)?;
    let models = args.teacher.iter().map(PathBuf::as_path).chain([init]);
    folder.check_distinct(&[log], &files, &models.collect::<Vec<_>>())?;
    if args.resume && !out.join(CHECKPOINT).exists() && !common.quiet {
        crate::note(&format!(
            "{}: there is no {CHECKPOINT} to resume from, so training starts from the beginning",
            out.display()
        ));
    }
    Ok(folder)
}

/// Removes the checkpoint of an earlier run, which must not be taken for one of the new run. The
/// new run has read all that it needs by then, and takes its first step next.
fn remove_checkpoint(out: &Path) -> union::Result<()> {
    let path = out.join(CHECKPOINT);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(storymeter::core::Error::io(Place::file(&path), error).into())
        }
        _ => Ok(()),
    }
}

/// The error of settings that do not fit the encoder, with the place where the value comes from.
fn with_origin(error: union::Error, args: &TrainArgs, settings: &Settings) -> anyhow::Error {
    let (field, problem) = match &error {
        union::Error::Setting { field, problem } => (*field, problem.clone()),
        _ => return error.into(),
    };
    match args.config.as_deref().map(|path| Settings::line_of(path, field)) {
        Some(Ok(Some(place))) => storymeter::core::Error::invalid(place, problem).into(),
        _ => anyhow::anyhow!(
            "the setting {field} of the preset {} {problem}; a file of --config can change it",
            settings.preset.name()
        ),
    }
}

#[cfg(not(feature = "cuda"))]
fn device(args: &TrainArgs) -> anyhow::Result<Device> {
    match args.device {
        DeviceArg::Cpu => Ok(Device::Cpu),
        DeviceArg::Cuda => bail!("--device cuda: this build cannot compute on a GPU"),
    }
}

#[cfg(feature = "cuda")]
fn device(args: &TrainArgs) -> anyhow::Result<Device> {
    let activations = match args.precision {
        PrecisionArg::Bf16 => Activations::Bf16,
        PrecisionArg::F32 => Activations::F32,
    };
    if args.device == DeviceArg::Cpu {
        return Ok(Device::Cpu);
    }
    let team = args.rank.map(|rank| team::join(rank, args.devices.len())).transpose()?;
    let Some(gpu) = args.devices.get(args.rank.unwrap_or(0)).copied() else {
        bail!("--rank: --devices names fewer GPUs than that")
    };
    Ok(Device::Cuda { gpu, activations, team })
}

/// The settings of the preset, changed by the file, changed by the command line.
fn settings(args: &TrainArgs) -> anyhow::Result<Settings> {
    let preset = args.preset.map(|preset| match preset {
        PresetArg::Default => Preset::Default,
        PresetArg::Paper => Preset::Paper,
        PresetArg::ReleasedCode => Preset::ReleasedCode,
    });
    let mut settings = match &args.config {
        Some(path) => Settings::read(path, preset)?,
        None => Settings::of(preset.unwrap_or_default()),
    };
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.epochs = args.epochs.unwrap_or(settings.epochs);
    if args.without_reconstruction {
        settings.reconstruction = Reconstruction::None;
    }
    for technique in &args.without_technique {
        settings = settings.without_technique(*technique);
    }
    Ok(settings)
}

/// Checks that no model and no interrupted run is overwritten by mistake.
fn check_output(args: &TrainArgs, out: &Path) -> anyhow::Result<()> {
    let is_there = |name: &str| out.join(name).exists();
    let (model, checkpoint) = (is_there("storymeter.json"), is_there(CHECKPOINT));
    if args.resume && model && !checkpoint {
        bail!(
            "{}: the folder has a model but no {CHECKPOINT} to resume from; --overwrite starts anew",
            out.display()
        );
    }
    if !args.resume && !args.overwrite && (model || checkpoint) {
        let what = if model { "a model" } else { "an interrupted run" };
        bail!(
            "{}: the folder already has {what}; --resume continues it, and --overwrite starts anew",
            out.display()
        );
    }
    Ok(())
}

/// All stories, and the number of stories per file.
#[derive(Default)]
struct Corpus {
    stories: Vec<Story>,
    files: Vec<(String, usize)>,
}

fn read_stories(args: &TrainArgs, common: &Common) -> anyhow::Result<Corpus> {
    let Corpus { mut stories, mut files } = Corpus::default();
    let mut skipped = Skipped::default();
    let bar = progress::bar(common, "reading stories", None);
    for path in &args.stories {
        let before = stories.len();
        let input = InputArgs {
            files: vec![path.clone()],
            input_format: args.input_format,
            skip_bad: args.skip_bad,
        };
        stories.extend(
            input.once().stories(&mut skipped, |here| bar.set_position((before + here) as u64))?,
        );
        // Only the name is kept, so that the model does not reveal folders of this machine.
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        files.push((name, stories.len() - before));
    }
    bar.finish_and_clear();
    report_skipped(common, &skipped);
    Ok(Corpus { stories, files })
}

/// Prints a table of the epochs.
fn summarise(reports: &[EpochReport], out: &Path) -> anyhow::Result<()> {
    let mut page = Output::open(None, Reader::Person)?;
    writeln!(
        page,
        "epoch  dev loss  accuracy  human  {}",
        Technique::ALL.map(Technique::name).join("  ")
    )?;
    for report in reports {
        let dev = &report.dev;
        write!(
            page,
            "{:>5}{} {:>9.4} {:>8.1}% {:>5.1}%",
            report.epoch,
            if report.best { '*' } else { ' ' },
            dev.all.loss,
            100.0 * dev.all.accuracy,
            100.0 * dev.human.accuracy
        )?;
        for technique in Technique::ALL {
            let width = technique.name().len() + 1;
            let quality = dev.by_technique.get(technique.name()).copied().unwrap_or_default();
            match quality.examples {
                0 => write!(page, " {:>width$}", "-")?,
                _ => write!(page, " {:>w$.1}%", 100.0 * quality.accuracy, w = width - 1)?,
            }
        }
        writeln!(page)?;
    }
    if let Some(best) = reports.iter().rev().find(|report| report.best) {
        writeln!(
            page,
            "{} has the model of epoch {}: storymeter score FILE --model {0}",
            plain(&out.display().to_string()),
            best.epoch
        )?;
    }
    page.finish()
}
