//! Writes the events of a training run to the log, and shows them as a progress bar.

use std::path::PathBuf;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use storymeter::union;
use storymeter::union::train::{Event, Start};

use super::log::Log;
use crate::args::Common;
use crate::progress;

/// The number of steps of the progress bar for the whole run.
const PARTS: u64 = 10_000;

/// Writes the log and moves the bar.
pub struct Watcher {
    path: PathBuf,
    log: Option<Log>,
    bar: ProgressBar,
    quiet: bool,
    epochs: u64,
}

impl Watcher {
    pub fn new(common: &Common, path: PathBuf, epochs: u64) -> Self {
        let bar = progress::bar(common, "preparing", Some(PARTS));
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta} left") {
            bar.set_style(style);
        }
        Self { path, log: None, bar, quiet: common.quiet, epochs }
    }

    /// Writes an event to the log and moves the bar.
    pub fn hear(&mut self, event: Event<'_>) -> union::Result<()> {
        match event {
            Event::Start(start) => {
                self.describe(start);
                self.log = Some(Log::open(&self.path, start.epochs_done)?);
            }
            Event::Steps(steps) => {
                self.bar.set_position((steps.progress * PARTS as f64) as u64);
                self.bar.set_message(format!(
                    "epoch {}/{} loss {:.3} {} tokens/s",
                    steps.epoch,
                    self.epochs,
                    steps.loss,
                    HumanCount(steps.tokens_per_second as u64)
                ));
            }
            Event::Epoch(_) | Event::End(_) => {}
        }
        match &mut self.log {
            Some(log) => Ok(log.write(event)?),
            None => Ok(()),
        }
    }

    /// Removes the bar.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }

    /// Reports on standard error what is about to be trained.
    fn describe(&self, start: &Start) {
        if self.quiet {
            return;
        }
        let part =
            |name: &str| HumanCount(start.split.get(name).copied().unwrap_or_default() as u64);
        let begin = match start.epochs_done {
            0 => String::new(),
            1 => "; 1 epoch is done already".to_owned(),
            done => format!("; {done} epochs are done already"),
        };
        let with_prompt = HumanCount(start.stories_with_prompts as u64);
        let prompts = match (start.settings.prompts, start.stories_with_prompts) {
            (true, _) => {
                format!("prompts are read (prompts = true): {with_prompt} stories have one")
            }
            (false, 0) => "prompts are not read (prompts = false)".to_owned(),
            (false, _) => format!(
                "prompts are not read (prompts = false), although {with_prompt} stories have one"
            ),
        };
        self.bar.suspend(|| {
            crate::note(&format!(
                "{} stories to learn from, {} to choose the best epoch by, {} left out for tests; \
                 {} parameters on {}{begin}",
                part("train"),
                part("dev"),
                part("test"),
                HumanCount(start.parameters as u64),
                start.device
            ));
            crate::note(&prompts);
        });
    }
}
