//! The training log: one JSON object a line, in the form `storymeter report` plots.
//!
//! | event | when | what |
//! |---|---|---|
//! | `start` | once, and again when a run is resumed | version, device, full settings, hashes and sizes of the data |
//! | `step` | every 20 steps and at the end of an epoch | losses (means since the last such line), learning rate, gradient norm, tokens a second |
//! | `epoch` | after every epoch | training losses, dev loss and accuracy, of human stories and by technique |
//! | `end` | once | seconds, tokens, best epoch, signature |

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};
use storymeter::core::{AtomicFile, Error, Place, Result};
use storymeter::union::train::{EpochReport, Event, Quality};

/// A log being written, line by line.
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// A new log, or one that goes on after its last whole epoch of `epochs_done`.
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

    /// Adds a line.
    pub fn write(&mut self, event: Event<'_>) -> Result<()> {
        let line = match event {
            Event::Start(start) => tagged("start", start),
            Event::Steps(steps) => tagged("step", steps),
            Event::Epoch(report) => epoch_line(report),
            Event::End(end) => tagged("end", end),
        };
        // One write a line, so that a killed run leaves whole lines.
        self.file
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|e| Error::io(Place::file(&self.path), e))
    }
}

/// The lines up to that of an epoch: what a killed run did after its last checkpoint is done again.
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

/// Every number of this line becomes a curve, so counts stay out of it.
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
    fn what_came_after_the_last_whole_epoch_is_taken_back() {
        let log = "{\"event\":\"start\"}\n{\"event\":\"step\",\"step\":1}\n{\"event\":\"epoch\",\"epoch\":1}\n{\"event\":\"step\",\"st";
        let kept = up_to_epoch(log, 1);
        assert!(log.starts_with(&kept) && kept.ends_with("\"epoch\":1}\n"), "{kept}");
        assert_eq!(up_to_epoch(log, 2), "");
    }
}
