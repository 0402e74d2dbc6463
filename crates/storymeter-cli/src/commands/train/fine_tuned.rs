//! What the kinds share that fine-tune a whole network: the device, the log, the progress bar and
//! the table at the end.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::bail;
use indicatif::HumanCount;
use serde_json::{Map, Value, json};
#[cfg(feature = "cuda")]
use storymeter_baselines::Activations;
use storymeter_baselines::Device;
use storymeter_baselines::fine_tune::{EpochReport, Event, Watch};
use storymeter_core::terminal::plain;

#[cfg(feature = "cuda")]
use super::PrecisionArg;
use super::log::{skipped_steps, tagged};
use super::watcher::Watcher;
use super::{Destination, DeviceArg, TrainArgs, clear_folder};
use crate::Outcome;
use crate::args::Common;
use crate::output::{Output, Reader};

/// The device that the command line names.
#[cfg(not(feature = "cuda"))]
pub fn device(args: &TrainArgs) -> anyhow::Result<Device> {
    match args.device {
        DeviceArg::Cpu => Ok(Device::Cpu),
        DeviceArg::Cuda => bail!("--device cuda: this build cannot compute on a GPU"),
    }
}

/// The device that the command line names.
#[cfg(feature = "cuda")]
pub fn device(args: &TrainArgs) -> anyhow::Result<Device> {
    let activations = match args.precision.unwrap_or(PrecisionArg::Bf16) {
        PrecisionArg::Bf16 => Activations::Bf16,
        PrecisionArg::F32 => Activations::F32,
    };
    match (args.device, args.devices.as_slice()) {
        (DeviceArg::Cpu, _) => Ok(Device::Cpu),
        (DeviceArg::Cuda, [gpu]) => Ok(Device::Cuda { gpu: *gpu, activations }),
        (DeviceArg::Cuda, _) => bail!("--devices: this kind of model is trained on one GPU"),
    }
}

/// Trains a model with `train`: writes the log, moves the bar, and prints the table of the epochs
/// and how the model is used.
pub fn follow(
    (args, common): (&TrainArgs, &Common),
    Destination { out, log, folder }: Destination<'_>,
    epochs: u64,
    usage: &str,
    train: impl FnOnce(Watch<'_>) -> anyhow::Result<Vec<EpochReport>>,
) -> anyhow::Result<Outcome> {
    let mut watcher = Watcher::new(common, log, epochs);
    let reports = train(&mut |event| {
        if args.overwrite && matches!(event, Event::Start(_)) {
            clear_folder(args.kind(), out)?;
        }
        hear(&mut watcher, epochs, event)
    })?;
    watcher.finish();
    drop(folder);
    summarise(&reports, out, usage)?;
    Ok(Outcome::Done)
}

/// Writes an event to the log and moves the bar.
fn hear(watcher: &mut Watcher, epochs: u64, event: Event<'_>) -> storymeter_baselines::Result<()> {
    match event {
        Event::Note(text) => watcher.note(text),
        Event::Start(start) => {
            let done = match start.epochs_done {
                0 => String::new(),
                1 => "; 1 epoch is done already".to_owned(),
                done => format!("; {done} epochs are done already"),
            };
            let count = HumanCount(start.parameters as u64);
            watcher.note(&format!("{count} parameters on {}{done}", start.device));
            watcher.open_log(start.epochs_done)?;
            watcher.write(&tagged("start", start))?;
        }
        Event::Steps(steps) => {
            let message = format!(
                "epoch {}/{epochs} loss {:.3} {} tokens/s",
                steps.epoch,
                steps.loss,
                HumanCount(steps.tokens_per_second as u64)
            );
            watcher.show(steps.progress, message);
            watcher.write(&tagged("step", steps))?;
        }
        Event::Epoch(report) => watcher.write(&epoch_line(report))?,
        Event::End(end) => watcher.write(&tagged("end", end))?,
    }
    Ok(())
}

/// The line of an epoch. The report draws a curve of every number in it, so counts are written as
/// text.
fn epoch_line(report: &EpochReport) -> Value {
    let mut dev = Map::new();
    dev.insert("loss".into(), report.dev.loss.into());
    dev.extend(report.dev.figures.iter().map(|(name, x)| (name.clone(), json!(x))));
    json!({
        "event": "epoch",
        "epoch": report.epoch,
        "train": { "loss": report.loss },
        "dev": dev,
        "best": report.best,
        "counts": format!(
            "{} steps, {} tokens{}",
            report.steps,
            report.tokens,
            skipped_steps(report.skipped).map_or(String::new(), |said| format!(", {said}")),
        ),
    })
}

/// Prints a table of the epochs, with a column for each figure of the dev examples, and how the
/// model is used.
fn summarise(reports: &[EpochReport], out: &Path, usage: &str) -> anyhow::Result<()> {
    let mut page = Output::open(None, Reader::Person)?;
    let figures: BTreeSet<&String> =
        reports.iter().flat_map(|report| report.dev.figures.keys()).collect();
    write!(page, "epoch  train loss  dev loss")?;
    figures.iter().try_for_each(|name| write!(page, "  {name:>8}"))?;
    writeln!(page)?;
    for report in reports {
        let mark = if report.best { '*' } else { ' ' };
        let (train, dev) = (report.loss, report.dev.loss);
        write!(page, "{:>5}{mark} {train:>11.4} {dev:>9.4}", report.epoch)?;
        for name in &figures {
            let width = name.len().max(8);
            match report.dev.figures.get(*name) {
                Some(figure) => write!(page, "  {figure:>width$.4}")?,
                None => write!(page, "  {:>width$}", "-")?,
            }
        }
        writeln!(page)?;
    }
    if let Some(said) = skipped_steps(reports.iter().map(|report| report.skipped).sum()) {
        writeln!(page, "{said}")?;
    }
    if let Some(best) = reports.iter().rev().find(|report| report.best) {
        let out = out.display().to_string();
        let out = plain(&out);
        writeln!(page, "{out} has the model of epoch {}: {usage}{out}", best.epoch)?;
    }
    page.finish()
}
