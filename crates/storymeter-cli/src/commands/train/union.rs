//! `train --kind union`, the learned metric of UNION (Guan and Huang, 2020), and `--kind disscore`,
//! a discriminator between human and machine stories that is trained in the same way.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use storymeter_core::terminal::plain;
use storymeter_perturb::Technique;
use storymeter_union::Reconstruction;
#[cfg(feature = "cuda")]
use storymeter_union::train::Activations;
use storymeter_union::train::{Device, EpochReport, Event, Job, Preset, Settings, train};

#[cfg(feature = "cuda")]
use super::PrecisionArg;
use super::log::skipped_steps;
#[cfg(feature = "cuda")]
use super::team;
use super::watcher::Watcher;
use super::{
    DeviceArg, Kind, PresetArg, TrainArgs, clear_folder, ends, log_of, print_settings,
    read_stories, take_output,
};
use crate::Outcome;
use crate::args::Common;
use crate::output::{Output, Reader};

/// Trains, or prints the settings.
pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<Outcome> {
    let settings = settings(args)?;
    if args.print_config {
        let about = match args.kind() {
            Kind::DisScore => {
                "# Nothing is damaged here, so settings of negatives, reconstruction, diagnosis and \
                 teachers\n# have no effect.\n\n"
            }
            _ => "",
        };
        return print_settings(&format!("{about}{}", settings.to_toml()));
    }
    let (init, out) = ends(args, "an encoder")?;
    settings.check(init).map_err(|error| with_origin(error, args, &settings))?;
    // The ranks of a team leave the folder to the process that oversees them.
    let place = match args.rank {
        None => Some(take_output(args, (init, out), common)?),
        Some(_) => None,
    };
    #[cfg(feature = "cuda")]
    if args.rank.is_none() && args.device == DeviceArg::Cuda && args.devices.len() > 1 {
        if args.stories.iter().any(|path| path == Path::new("-")) {
            bail!("--stories -: several GPUs cannot share standard input; name a file of stories");
        }
        return team::oversee(&args.devices, args.deterministic);
    }
    let lexicon = args.lexicon.read()?;
    let mut corpus = read_stories(&args.stories, args, common)?;
    let machine = match args.kind() {
        Kind::DisScore => Some(read_stories(&args.machine, args, common)?),
        _ => None,
    };
    corpus.files.extend(machine.iter().flat_map(|machine| machine.files.clone()));
    let job = Job {
        init,
        stories: &corpus.stories,
        machine: machine.as_ref().map(|machine| machine.stories.as_slice()),
        files: &corpus.files,
        out,
        settings: &settings,
        lexicon: &lexicon,
        teachers: &args.teacher,
        device: device(args)?,
        resume: args.resume,
    };
    if args.rank.is_some_and(|rank| rank > 0) {
        // Only the first rank writes the log and prints.
        train(&job, &mut |_| Ok(()))?;
        return Ok(Outcome::Done);
    }
    let mut watcher = Watcher::new(common, log_of(args, out), settings.epochs);
    let reports = train(&job, &mut |event| {
        watcher.hear(event)?;
        match event {
            Event::Start(_) if args.overwrite => Ok(clear_folder(args.kind(), out)?),
            _ => Ok(()),
        }
    })?;
    watcher.finish();
    drop(place);
    match args.kind() {
        Kind::DisScore => summarise_discriminator(&reports, out)?,
        _ => summarise(&reports, out)?,
    }
    Ok(Outcome::Done)
}

/// The error of settings that do not fit the encoder, with the place where the value comes from.
fn with_origin(
    error: storymeter_union::Error,
    args: &TrainArgs,
    settings: &Settings,
) -> anyhow::Error {
    let (field, problem) = match &error {
        storymeter_union::Error::Setting { field, problem } => (*field, problem.clone()),
        _ => return error.into(),
    };
    match args.config.as_deref().map(|path| Settings::line_of(path, field)) {
        Some(Ok(Some(place))) => storymeter_core::Error::invalid(place, problem).into(),
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
    let activations = match args.precision.unwrap_or(PrecisionArg::Bf16) {
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
    if args.kind() == Kind::DisScore {
        settings = discriminator(settings, args.config.as_deref())?;
    }
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

/// The settings of a discriminator: those of UNION without anything about damage. Names are masked
/// unless the file says otherwise, which is all that the paper says about its training.
fn discriminator(settings: Settings, config: Option<&Path>) -> anyhow::Result<Settings> {
    let line = |field| match config {
        Some(path) => Settings::line_of(path, field),
        None => Ok(None),
    };
    let refused = [
        ("reconstruction", settings.reconstruction != Reconstruction::None, "\"none\""),
        ("diagnosis", settings.diagnosis, "false"),
    ];
    for (field, wrong, right) in refused {
        if let (true, Some(place)) = (wrong, line(field)?) {
            let problem = format!("must be {right}: stories of machines are not damaged ones");
            return Err(storymeter_core::Error::invalid(place, problem).into());
        }
    }
    let named = line("delexicalise")?.is_some();
    let delexicalise = if named { settings.delexicalise } else { 1.0 };
    Ok(Settings { delexicalise, ..settings.for_machine_stories() })
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
    if let Some(said) = skipped_steps(reports.iter().map(|report| report.skipped).sum()) {
        writeln!(page, "{said}")?;
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

/// Prints a table of the epochs of a discriminator.
fn summarise_discriminator(reports: &[EpochReport], out: &Path) -> anyhow::Result<()> {
    let mut page = Output::open(None, Reader::Person)?;
    writeln!(page, "epoch  dev loss  accuracy  human  machine")?;
    for EpochReport { epoch, best, dev, .. } in reports {
        // Half of the examples are human stories.
        let (all, human) = (dev.all.accuracy, dev.human.accuracy);
        writeln!(
            page,
            "{epoch:>5}{} {:>9.4} {:>8.1}% {:>5.1}% {:>7.1}%",
            if *best { '*' } else { ' ' },
            dev.all.loss,
            100.0 * all,
            100.0 * human,
            100.0 * (2.0 * all - human),
        )?;
    }
    if let Some(said) = skipped_steps(reports.iter().map(|report| report.skipped).sum()) {
        writeln!(page, "{said}")?;
    }
    if let Some(best) = reports.iter().rev().find(|report| report.best) {
        writeln!(
            page,
            "{} has the model of epoch {}: storymeter score FILE --metric disscore --weights \
             disscore={0}",
            plain(&out.display().to_string()),
            best.epoch
        )?;
    }
    page.finish()
}
