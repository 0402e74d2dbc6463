//! The scores of every story, one line each, in input order.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use storymeter::core::read::Record;
use storymeter::core::{AtomicFile, Ratings};
use storymeter::metrics::Rows;
use storymeter::union::Explanation;

/// Writes lines to a file or, once all are there, to standard output.
pub(super) struct Lines {
    sink: Sink,
    layout: Layout,
}

/// What a line looks like.
#[derive(Clone)]
pub(super) struct Layout {
    columns: Vec<String>,
    csv: bool,
}

enum Sink {
    File(AtomicFile),
    /// What goes to standard output waits here: an error in the middle must not leave half of it.
    Spool(BufWriter<File>),
}

impl Lines {
    pub(super) fn jsonl(path: Option<&Path>, columns: &[String]) -> anyhow::Result<Self> {
        Ok(Self {
            sink: Sink::open(path)?,
            layout: Layout { columns: columns.to_vec(), csv: false },
        })
    }

    pub(super) fn csv(path: Option<&Path>, columns: &[String]) -> anyhow::Result<Self> {
        let layout = Layout { columns: columns.to_vec(), csv: true };
        let mut lines = Self { sink: Sink::open(path)?, layout };
        let header = ["id", "system", "item"].into_iter().chain(columns.iter().map(String::as_str));
        lines.write(&csv_line(header))?;
        Ok(lines)
    }

    /// What a line looks like, for the threads that make them.
    pub(super) fn layout(&self) -> Layout {
        self.layout.clone()
    }

    /// Writes lines that [`Layout::lines`] made.
    pub(super) fn write(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        self.sink.get().write_all(lines).context("cannot write the scores")
    }

    /// Gives the file its name, or writes everything to standard output.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self.sink {
            Sink::File(file) => file.commit()?,
            Sink::Spool(spool) => {
                let mut file = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.rewind()?;
                io::copy(&mut file, &mut io::stdout().lock())?;
            }
        }
        Ok(())
    }
}

impl Layout {
    /// The scores of a batch, one line a story.
    pub(super) fn lines(
        &self,
        records: &[Record],
        rows: &Rows,
        explanations: Option<&[Explanation]>,
    ) -> anyhow::Result<Vec<u8>> {
        let mut lines = Vec::new();
        for (at, record) in records.iter().enumerate() {
            let explanation = explanations.map(|explanations| &explanations[at]);
            self.line(record, rows.scores(at), explanation, &mut lines)?;
        }
        Ok(lines)
    }

    fn line(
        &self,
        record: &Record,
        scores: &[f64],
        explanation: Option<&Explanation>,
        out: &mut Vec<u8>,
    ) -> anyhow::Result<()> {
        let story = &record.story;
        if self.csv {
            let head =
                [story.id.as_str(), story.system.as_deref().unwrap_or_default(), story.item()];
            let scores: Vec<String> = scores.iter().map(f64::to_string).collect();
            out.extend(csv_line(head.into_iter().chain(scores.iter().map(String::as_str))));
            return Ok(());
        }
        let line = Line {
            id: &story.id,
            system: story.system.as_deref(),
            item: story.item(),
            scores: Scores { columns: &self.columns, scores },
            human: (!story.ratings.is_empty()).then_some(&story.ratings),
            explanation,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.push(b'\n');
        Ok(())
    }
}

impl Sink {
    fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        Ok(match path {
            Some(path) if path != Path::new("-") => Self::File(AtomicFile::create(path)?),
            _ => Self::Spool(BufWriter::new(
                tempfile::tempfile().context("cannot put the scores aside")?,
            )),
        })
    }

    fn get(&mut self) -> &mut dyn Write {
        match self {
            Self::File(file) => file,
            Self::Spool(spool) => spool,
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    system: Option<&'a str>,
    item: &'a str,
    scores: Scores<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    human: Option<&'a Ratings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a Explanation>,
}

struct Scores<'a> {
    columns: &'a [String],
    scores: &'a [f64],
}

impl Serialize for Scores<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.scores.len()))?;
        for (column, score) in self.columns.iter().zip(self.scores) {
            map.serialize_entry(column, score)?;
        }
        map.end()
    }
}

/// Fields separated by commas, in quotation marks where they must be.
fn csv_line<'a>(fields: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut line = String::new();
    for (at, field) in fields.enumerate() {
        if at > 0 {
            line.push(',');
        }
        if field.contains([',', '"', '\n', '\r']) {
            line.push('"');
            line.push_str(&field.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(field);
        }
    }
    line.push('\n');
    line.into_bytes()
}
