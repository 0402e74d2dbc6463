//! `train --kind ruber`: the unreferenced half of RUBER-BERT.

use std::io::Write;
use std::path::Path;

use indicatif::HumanCount;
use serde_json::json;
use storymeter_baselines::configuration::Configuration;
use storymeter_baselines::ruber::{EpochReport, Event, Job, Settings, Start, train};
use storymeter_core::terminal::plain;

use super::log::tagged;
use super::watcher::Watcher;
use super::{
    Destination, TrainArgs, clear_folder, ends, one_device, print_settings, read_stories, settings,
    take_output,
};
use crate::Outcome;
use crate::args::Common;
use crate::output::{Output, Reader};

/// The part of the progress bar that encoding takes.
const ENCODING: f64 = 0.7;

/// Trains, or prints the settings.
pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<Outcome> {
    let settings = settings(args, |it: &mut Settings| (&mut it.seed, &mut it.epochs))?;
    if args.print_config {
        return print_settings(&settings.to_toml());
    }
    let (init, out) = ends(args, "an encoder")?;
    let Destination { log, folder, .. } = take_output(args, (init, out), common)?;
    let corpus = read_stories(&args.stories, args, common)?;
    let job = Job {
        init,
        stories: &corpus.stories,
        files: &corpus.files,
        out,
        settings: &settings,
        device: one_device(args)?,
    };
    let mut watcher = Watcher::new(common, log, settings.epochs);
    let reports = train(&job, &mut |event| {
        match event {
            Event::Start(start) => {
                if args.overwrite {
                    clear_folder(args.kind(), out)?;
                }
                describe(&watcher, start);
                watcher.open_log(0)?;
                watcher.write(&tagged("start", start))?;
            }
            Event::Encoded(done, all) => {
                let progress = ENCODING * done as f64 / all.max(1) as f64;
                watcher.show(progress, format!("encoding {} texts", HumanCount(all as u64)));
            }
            Event::Epoch(report) => {
                let part = report.epoch as f64 / settings.epochs as f64;
                let message = format!("epoch {} dev loss {:.4}", report.epoch, report.dev_loss);
                watcher.show(ENCODING + (1.0 - ENCODING) * part, message);
                watcher.write(&json!({
                    "event": "epoch",
                    "epoch": report.epoch,
                    "train": { "loss": report.train_loss },
                    "dev": { "loss": report.dev_loss, "accuracy": report.dev_accuracy },
                    "best": report.best,
                }))?;
            }
            Event::End(end) => watcher.write(&tagged("end", end))?,
        }
        Ok(())
    })?;
    watcher.finish();
    drop(folder);
    summarise(&reports, out)?;
    Ok(Outcome::Done)
}

/// Reports on standard error what is about to be trained.
fn describe(watcher: &Watcher, start: &Start) {
    let part = |name: &str| HumanCount(start.split.get(name).copied().unwrap_or_default() as u64);
    let left_out = match start.left_out {
        0 => String::new(),
        count => format!("; {} stories have no continuation", HumanCount(count as u64)),
    };
    watcher.note(&format!(
        "{} stories to learn from, {} to choose the best epoch by, {} left out for tests{left_out}",
        part("train"),
        part("dev"),
        part("test"),
    ));
}

/// Prints a table of the epochs.
fn summarise(reports: &[EpochReport], out: &Path) -> anyhow::Result<()> {
    let mut page = Output::open(None, Reader::Person)?;
    writeln!(page, "epoch  train loss  dev loss  accuracy")?;
    for report in reports {
        writeln!(
            page,
            "{:>5}{} {:>10.4} {:>9.4} {:>8.1}%",
            report.epoch,
            if report.best { '*' } else { ' ' },
            report.train_loss,
            report.dev_loss,
            100.0 * report.dev_accuracy
        )?;
    }
    if let Some(best) = reports.iter().rev().find(|report| report.best) {
        writeln!(
            page,
            "{} has the head of epoch {}: storymeter score FILE --metric ruber --weights ruber={0}",
            plain(&out.display().to_string()),
            best.epoch
        )?;
    }
    page.finish()
}
