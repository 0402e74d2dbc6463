//! Writes the training log: one JSON object per line, which `storymeter report` plots.
//!
//! - `start` comes at the start, and again when a run is resumed: the version, the device, all
//!   settings, and the hashes and sizes of the data.
//! - `step` comes every 20 steps and at the end of an epoch: the losses (means since the last such
//!   line), the learning rate, the norm of the gradient, and tokens per second.
//! - `epoch` comes after every epoch: the training losses, and the loss and the accuracy on the dev
//!   stories, also for human stories alone and by technique.
//! - `end` comes once: the seconds, the tokens, the best epoch and the signature.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};
use storymeter_core::{AtomicFile, Error, Place, Result};
use storymeter_union::train::{EpochReport, Event, Quality};

use crate::output::{is_stdout, stdout_file};

/// The longest line of a log. The longest one has all settings and the names of the files.
const LONGEST_LINE: u64 = 1 << 24;

/// A log that is written line by line.
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens a new log, or continues one after its first `epochs_done` epochs.
    pub fn open(path: &Path, epochs_done: u64) -> Result<Self> {
        let failed = |e| Error::io(Place::file(path), e);
        if is_stdout(path) {
            return Ok(Self { path: path.to_owned(), file: stdout_file().map_err(failed)? });
        }
        let mut start = AtomicFile::create(path)?;
        // A device or a pipe has no earlier log, and is not read: it may have no end.
        if epochs_done > 0 && start.replaces().is_some_and(Path::exists) {
            let log = File::open(path).map_err(failed)?;
            let length = end_of_epoch(BufReader::new(&log), epochs_done).map_err(failed)?;
            let log = File::open(path).map_err(failed)?;
            io::copy(&mut log.take(length), &mut start).map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), file: start.commit_and_append()? })
    }

    /// Writes one line.
    pub fn write(&mut self, line: &Value) -> Result<()> {
        // Each line is one write, so that a run that is killed leaves whole lines.
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(|error| {
            let error = match error.kind() {
                // A reader of the log that goes away is not a reader of standard output that has
                // read enough.
                ErrorKind::BrokenPipe => io::Error::other("the reader of this pipe went away"),
                _ => error,
            };
            Error::io(Place::file(&self.path), error)
        })
    }
}

/// The number of bytes up to the end of the line of an epoch or, if that line is missing, of the
/// last epoch before it: a run may be stopped between its checkpoint and the line. What a run did
/// after its last checkpoint is done again when it is resumed, so the later lines are dropped.
fn end_of_epoch(mut log: impl BufRead, epoch: u64) -> io::Result<u64> {
    let (mut length, mut kept) = (0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        length += log.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
        if !line.ends_with(b"\n") {
            // The end of the file, or of what can be a log.
            return Ok(kept);
        }
        let line: Value = serde_json::from_slice(&line).unwrap_or_default();
        if line["event"] != "epoch" {
            continue;
        }
        match line["epoch"].as_u64() {
            Some(here) if here == epoch => return Ok(length),
            Some(here) if here < epoch => kept = length,
            _ => {}
        }
    }
}

/// The line of an event in the training of UNION, if this program knows the event.
pub fn line_of(event: Event<'_>) -> Option<Value> {
    match event {
        Event::Start(start) => Some(tagged("start", start)),
        Event::Steps(steps) => Some(tagged("step", steps)),
        Event::Epoch(report) => Some(epoch_line(report)),
        Event::End(end) => Some(tagged("end", end)),
        _ => None,
    }
}

/// The line of an event with any content.
pub fn tagged(event: &str, content: &impl Serialize) -> Value {
    let mut line = Map::new();
    line.insert("event".into(), event.into());
    if let Ok(Value::Object(fields)) = serde_json::to_value(content) {
        line.extend(fields);
    }
    Value::Object(line)
}

/// What to say of steps that were skipped, if there are any.
pub fn skipped_steps(skipped: u64) -> Option<String> {
    match skipped {
        0 => None,
        1 => Some("1 step skipped, because its gradients were not finite".to_owned()),
        _ => Some(format!("{skipped} steps skipped, because their gradients were not finite")),
    }
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
            "{} steps, {} tokens, {} stories left out, {} windows of longer stories{}",
            report.steps,
            report.tokens,
            report.left_out,
            report.windows,
            skipped_steps(report.skipped).map_or(String::new(), |said| format!(", {said}")),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::end_of_epoch;

    #[test]
    fn lines_after_the_last_whole_epoch_are_dropped() {
        let log = "{\"event\":\"start\"}\n\
                   {\"event\":\"step\",\"step\":1}\n\
                   {\"event\":\"epoch\",\"epoch\":1}\n\
                   {\"event\":\"step\",\"st";
        let end = end_of_epoch(log.as_bytes(), 1).unwrap() as usize;
        assert!(log[..end].ends_with("\"epoch\":1}\n"), "{}", &log[..end]);
        // The run was stopped between the checkpoint of its second epoch and the line of it.
        assert_eq!(end_of_epoch(log.as_bytes(), 2).unwrap() as usize, end);
        let only_steps = &log[..log.find("{\"event\":\"epoch").unwrap()];
        assert_eq!(end_of_epoch(only_steps.as_bytes(), 1).unwrap(), 0);
    }
}
