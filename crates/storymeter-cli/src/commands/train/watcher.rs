//! Writes the events of a training run to the log, and shows them as a progress bar.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use serde_json::Value;
use storymeter_union::train::{Event, Start};

use super::log::{Log, line_of};
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
    /// When the first step began, and how much of the run was done by then. `None` before that, and
    /// again when the user was told how long the run will take.
    begun: Option<(Instant, f64)>,
}

/// Runs that end sooner than this are not announced.
const SHORT: Duration = Duration::from_secs(60);

impl Watcher {
    pub fn new(common: &Common, path: PathBuf, epochs: u64) -> Self {
        let bar = progress::bar(common, "preparing", PARTS);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {eta} left") {
            bar.set_style(style);
        }
        Self { path, log: None, bar, quiet: common.quiet, epochs, begun: None }
    }

    /// Writes an event to the log and moves the bar.
    pub fn hear(&mut self, event: Event<'_>) -> storymeter_union::Result<()> {
        match event {
            Event::Start(start) => {
                self.describe(start);
                self.open_log(start.epochs_done)?;
            }
            Event::Steps(steps) => {
                let message = format!(
                    "epoch {}/{} loss {:.3} {} tokens/s",
                    steps.epoch,
                    self.epochs,
                    steps.loss,
                    HumanCount(steps.tokens_per_second as u64)
                );
                self.show(steps.progress, message);
            }
            _ => {}
        }
        Ok(line_of(event).map_or(Ok(()), |line| self.write(&line))?)
    }

    /// Starts the log, or continues it after its first `epochs_done` epochs.
    pub fn open_log(&mut self, epochs_done: u64) -> storymeter_core::Result<()> {
        self.log = Some(Log::open(&self.path, epochs_done)?);
        self.begun = Some((Instant::now(), epochs_done as f64 / self.epochs.max(1) as f64));
        Ok(())
    }

    /// Writes a line to the log, if it is open.
    pub fn write(&mut self, line: &Value) -> storymeter_core::Result<()> {
        match &mut self.log {
            Some(log) => log.write(line),
            None => Ok(()),
        }
    }

    /// Moves the bar to this part of the whole run, from 0 to 1.
    pub fn show(&mut self, progress: f64, message: String) {
        self.announce(progress);
        self.bar.set_position((progress * PARTS as f64) as u64);
        self.bar.set_message(message);
    }

    /// Tells the user once how long the run will take, measured on its first steps.
    fn announce(&mut self, progress: f64) {
        let Some((start, before)) = self.begun.take() else { return };
        if let Some(remaining) = remaining(start.elapsed(), before, progress) {
            self.note(&format!(
                "the first steps took {}, so the rest will take about {}",
                in_words(start.elapsed()),
                in_words(remaining)
            ));
        }
    }

    /// Prints a note on standard error, unless the user wants none.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            crate::note(text);
        }
    }

    /// Removes the bar.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }

    /// Reports on standard error what is about to be trained.
    fn describe(&self, start: &Start) {
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
        self.note(&format!(
            "{} stories to learn from, {} to choose the best epoch by, {} left out for tests; \
             {} parameters on {}{begin}",
            part("train"),
            part("dev"),
            part("test"),
            HumanCount(start.parameters as u64),
            start.device
        ));
        self.note(&prompts);
    }
}

/// How long the rest of a run takes, after a first part that took `elapsed` and brought the run
/// from `before` to `progress`. `None` for a short rest, and where nothing was measured.
fn remaining(elapsed: Duration, before: f64, progress: f64) -> Option<Duration> {
    let rest = (1.0 - progress) / (progress - before) * elapsed.as_secs_f64();
    Duration::try_from_secs_f64(rest).ok().filter(|rest| *rest >= SHORT)
}

/// A duration in a unit that suits it.
fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let count = |number: f64, unit: &str| {
        let number = number.round().max(1.0);
        format!("{number} {unit}{}", if number == 1.0 { "" } else { "s" })
    };
    match seconds {
        ..100.0 => count(seconds, "second"),
        100.0..6_000.0 => count(seconds / 60.0, "minute"),
        _ => format!("{:.1} hours", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_in_a_unit_that_suits_them() {
        let said = |seconds| in_words(Duration::from_secs_f64(seconds));
        assert_eq!(said(0.2), "1 second");
        assert_eq!(said(42.4), "42 seconds");
        assert_eq!(said(1_500.0), "25 minutes");
        assert_eq!(said(9_000.0), "2.5 hours");
    }

    #[test]
    fn a_long_run_is_announced_and_a_short_one_is_not() {
        let left = |before, progress| remaining(Duration::from_secs(30), before, progress);
        // A hundredth took half a minute, and half of the run was done before.
        assert_eq!(left(0.5, 0.51).map(|left| left.as_secs_f64().round()), Some(1470.0));
        assert_eq!(left(0.0, 0.9), None);
        assert_eq!(left(0.5, 0.5), None, "nothing was done, so nothing is known");
    }
}
