//! Writes the training log: one JSON object per line, which `storymeter report` plots.
//!
//! - `start` comes at the start, and again when a run is resumed: the version, the device, all
//!   settings, and the hashes and sizes of the data.
//! - `step` comes every 20 steps and at the end of an epoch: the losses (means since the last such
//!   line), the learning rate, the norm of the gradient, and tokens per second.
//! - `epoch` comes after every epoch: the training losses, and the loss and the accuracy on the dev
//!   stories, also for human stories alone and by technique.
//! - `end` comes once: the seconds, the tokens, the best epoch and the signature.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};
use storymeter::core::{AtomicFile, Error, Place, Result};
use storymeter::union::train::{EpochReport, Event, Quality};

/// A log that is written line by line.
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens a new log, or continues one after its first `epochs_done` epochs.
    pub fn open(path: &Path, epochs_done: u64) -> Result<Self> {
        let failed = |e| Error::io(Place::file(path), e);
        let kept = match std::fs::read(path) {
            Ok(bytes) if epochs_done > 0 => {
                up_to_epoch(&String::from_utf8_lossy(&bytes), epochs_done)
            }
            Ok(_) => String::new(),
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let mut start = AtomicFile::create(path)?;
        start.write_all(kept.as_bytes()).map_err(failed)?;
        start.commit()?;
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes one line.
    pub fn write(&mut self, event: Event<'_>) -> Result<()> {
        let line = match event {
            Event::Start(start) => tagged("start", start),
            Event::Steps(steps) => tagged("step", steps),
            Event::Epoch(report) => epoch_line(report),
            Event::End(end) => tagged("end", end),
        };
        // Each line is one write, so that a run that is killed leaves whole lines.
        self.file
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|e| Error::io(Place::file(&self.path), e))
    }
}

/// The lines up to that of an epoch. What a run did after its last checkpoint is done again when it
/// is resumed, so the later lines are dropped.
fn up_to_epoch(log: &str, epoch: u64) -> String {
    let is_end = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        line["event"] == "epoch" && line["epoch"] == epoch
    };
    match log.lines().position(is_end) {
        Some(last) => log.lines().take(last + 1).map(|line| format!("{line}\n")).collect(),
        None => String::new(),
    }
}

fn tagged(event: &str, content: &impl Serialize) -> Value {
    let mut line = Map::new();
    line.insert("event".into(), event.into());
    if let Ok(Value::Object(fields)) = serde_json::to_value(content) {
        line.extend(fields);
    }
    Value::Object(line)
}

/// The line of an epoch. The report draws a curve of every number in it, so counts are written as
/// text.
fn epoch_line(report: &EpochReport) -> Value {
    let quality = |quality: &Quality| json!({ "loss": quality.loss, "accuracy": quality.accuracy });
    let mut dev = Map::new();
    dev.insert("loss".into(), report.dev.all.loss.into());
    dev.insert("accuracy".into(), report.dev.all.accuracy.into());
    dev.insert("human".into(), quality(&report.dev.human));
    for (technique, found) in report.dev.by_technique.iter().filter(|(_, found)| found.examples > 0)
    {
        dev.insert(technique.clone(), quality(found));
    }
    json!({
        "event": "epoch",
        "epoch": report.epoch,
        "train": report.losses,
        "dev": dev,
        "best": report.best,
        "counts": format!(
            "{} steps, {} tokens, {} stories left out, {} windows of longer stories",
            report.steps, report.tokens, report.left_out, report.windows
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::up_to_epoch;

    #[test]
    fn lines_after_the_last_whole_epoch_are_dropped() {
        let log = "{\"event\":\"start\"}\n\
                   {\"event\":\"step\",\"step\":1}\n\
                   {\"event\":\"epoch\",\"epoch\":1}\n\
                   {\"event\":\"step\",\"st";
        let kept = up_to_epoch(log, 1);
        assert!(log.starts_with(&kept) && kept.ends_with("\"epoch\":1}\n"), "{kept}");
        assert_eq!(up_to_epoch(log, 2), "");
    }
}
