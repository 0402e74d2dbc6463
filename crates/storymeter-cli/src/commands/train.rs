//! `storymeter train`: human stories in, a model folder for `score --model` out.

mod log;
mod team;
mod watcher;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use storymeter::core::Story;
use storymeter::core::read::{Format, Skipped};
use storymeter::perturb::Technique;
use storymeter::union::Reconstruction;
use storymeter::union::train::{
    Activations, CHECKPOINT, Device, EpochReport, Job, Preset, Settings, train,
};

use crate::Outcome;
use crate::args::Common;
use crate::input::{InputArgs, report_skipped};
use crate::output::Output;
use crate::progress;
use watcher::Watcher;

/// Train the learned metric: human stories in, a model folder for `score --model` out.
///
/// Every epoch damages every story anew (UNION, section 3.2), and the encoder learns to tell human stories from damaged
/// ones, to repair the damage, and to say which kind it is. A twentieth of the stories is kept to choose the best epoch, another
/// twentieth is left alone for tests; the seed decides which. Stories longer than `max_tokens` are trained on in windows of whole
/// sentences, from another place every epoch.
///
/// The folder holds the best epoch's model; a checkpoint, `training.safetensors`, for --resume (it may be deleted after the
/// run); and the log, `train.jsonl`, which `storymeter report` plots.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Human stories: files, folders, or - for standard input, in any format `score` reads
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "print_config")]
    stories: Vec<PathBuf>,
    /// The encoder to start from: a Hugging Face style folder (config.json, model.safetensors, tokenizer.json or vocab.txt) of
    /// a BERT, MiniLM, DistilBERT or MPNet
    #[arg(long, value_name = "DIR", required_unless_present = "print_config")]
    init: Option<PathBuf>,
    /// Where the model goes; made where it is not there
    #[arg(short, long, value_name = "DIR", required_unless_present = "print_config")]
    output: Option<PathBuf>,
    /// A TOML file of settings; --print-config shows them all. Flags win over the file, and the file over its preset
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the settings, each with what it means, and do nothing else: those of --preset, --config and the other flags
    #[arg(long)]
    print_config: bool,
    /// What settings that are not named anywhere are set to: default, paper (sections 3.2, 3.3 and 4.1), or released-code
    /// (what the authors' code does)
    #[arg(long, value_name = "PRESET")]
    preset: Option<PresetArg>,
    /// Where to compute
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceArg,
    /// Which GPUs compute, by their numbers: 0, or 0,1,2,3. Several take a part of every batch each and sum their gradients, so that
    /// the result is one GPU's but for rounding; they need NCCL (libnccl.so.2) in LD_LIBRARY_PATH. A GPU that is named twice computes two
    /// parts, which is slower than one, and for trying things out
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "0")]
    devices: Vec<usize>,
    /// Which of several processes this is; they are started by the one without it
    #[arg(long, value_name = "N", hide = true)]
    rank: Option<usize>,
    /// How a GPU keeps activations: bf16 is several times faster; weights, gradients and sums are f32 with both
    #[arg(long, value_name = "PRECISION", default_value = "bf16")]
    precision: PrecisionArg,
    /// A trained model whose judgement is learnt instead of the plain label (distillation); with several, their mean
    #[arg(long, value_name = "DIR")]
    teacher: Vec<PathBuf>,
    /// The same bytes from run to run, on the same kind of GPU with the same libraries. On one GPU this is always so, with or without
    /// the flag: no sum's order depends on timing, and a product's algorithm follows from its shape. With several it makes NCCL sum in rings,
    /// whose order is fixed; the bytes are those of this number of GPUs
    #[arg(long)]
    deterministic: bool,
    /// Go on where an interrupted run in the output folder stood; the end is the same as without the interruption
    #[arg(long)]
    resume: bool,
    /// Start anew in a folder that already holds a model or an interrupted run
    #[arg(long, conflicts_with = "resume")]
    overwrite: bool,
    /// Train without the reconstruction loss: the paper's -Recon (Table 5)
    #[arg(long)]
    without_reconstruction: bool,
    /// Leave a technique out of the negatives (Table 7's ablations): repetition, substitution, reordering or negation; may be
    /// given several times
    #[arg(long, value_name = "TECHNIQUE")]
    without_technique: Vec<Technique>,
    /// Seed of everything that is drawn: the split, negatives, order, dropout, new weights
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Passes over the stories
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    epochs: Option<u64>,
    /// The log, instead of train.jsonl in the output folder
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The format of the stories, where it cannot be told or is told wrongly
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<Format>,
    /// Pass over bad records, count them and report them on stderr, instead of stopping at the first one
    #[arg(long)]
    skip_bad: bool,
}

/// The values of `--preset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PresetArg {
    /// What works best
    Default,
    /// As the paper says
    Paper,
    /// As the authors' code does
    ReleasedCode,
}

/// The values of `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DeviceArg {
    /// This machine's processor
    Cpu,
    /// An NVIDIA card
    Cuda,
}

/// The values of `--precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrecisionArg {
    /// Sixteen bits
    Bf16,
    /// Single precision
    F32,
}

/// Trains, or prints the settings.
pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<Outcome> {
    let settings = settings(args)?;
    if args.print_config {
        let mut out = Output::open(None)?;
        out.write_all(settings.to_toml().as_bytes())?;
        out.finish()?;
        return Ok(Outcome::Done);
    }
    let (Some(init), Some(out)) = (&args.init, &args.output) else {
        bail!("--init and -o are needed");
    };
    settings.check(init)?;
    if args.rank.is_none() {
        check_output(args, out)?;
        if args.device == DeviceArg::Cuda && args.devices.len() > 1 {
            if args.stories.iter().any(|path| path == Path::new("-")) {
                bail!(
                    "--devices: with several GPUs stories come from files, not from standard input"
                );
            }
            return team::oversee(&args.devices, args.deterministic);
        }
    }
    let corpus = read_stories(args, common)?;
    std::fs::create_dir_all(out)
        .with_context(|| format!("{}: cannot make the folder", out.display()))?;
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
    let log = args.log.clone().unwrap_or_else(|| out.join("train.jsonl"));
    if args.rank.is_some_and(|rank| rank > 0) {
        // The first rank tells and writes all there is.
        train(&job, &mut |_| Ok(()))?;
        return Ok(Outcome::Done);
    }
    let mut watcher = Watcher::new(common, log, settings.epochs);
    let reports = train(&job, &mut |event| watcher.hear(event))?;
    watcher.finish();
    summarise(&reports, out)?;
    Ok(Outcome::Done)
}

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
        bail!("--rank: no such GPU")
    };
    Ok(Device::Cuda { gpu, activations, team })
}

/// The preset, then the file, then the flags.
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

/// A model that took hours is not overwritten by a slip.
fn check_output(args: &TrainArgs, out: &Path) -> anyhow::Result<()> {
    let is_there = |name: &str| out.join(name).exists();
    let (model, checkpoint) = (is_there("storymeter.json"), is_there(CHECKPOINT));
    if args.resume && model && !checkpoint {
        bail!("{}: holds a model but no {CHECKPOINT} to resume from", out.display());
    }
    if !args.resume && !args.overwrite && (model || checkpoint) {
        let what = if model { "a model" } else { "an interrupted run" };
        bail!(
            "{}: holds {what} already: --resume goes on with it, --overwrite starts anew",
            out.display()
        );
    }
    if args.overwrite && checkpoint {
        // A checkpoint of the run before must not outlive it.
        let path = out.join(CHECKPOINT);
        std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// All stories, and how many came from which file.
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
        // The name alone: the model must not tell where on a machine its stories lay.
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        files.push((name, stories.len() - before));
    }
    bar.finish_and_clear();
    report_skipped(common, &skipped);
    Ok(Corpus { stories, files })
}

/// What came out, on standard output.
fn summarise(reports: &[EpochReport], out: &Path) -> anyhow::Result<()> {
    let mut page = Output::open(None)?;
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
            "{} holds epoch {}: storymeter score FILE --model {0}",
            out.display(),
            best.epoch
        )?;
    }
    page.finish()
}
