//! The scores of every story in a file with its header, or in any other output.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use storymeter_core::file::{self, Hashed};
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::{ScoreFormat, ScoreLine, ScoreLines, ScorePart, ScoreWriter};
use storymeter_core::{AtomicFile, Error, Header, Place, Progress, ShardMark};

use crate::input::Inputs;
use crate::run::Run;
use crate::scored_table::ScoredTable;
use crate::{ReadyScorer, Result, Scored};

/// Where the scores of every story go.
pub struct ScoreSink<'a> {
    target: Option<(Target<'a>, ScoreFormat)>,
    text_cells: TextCells,
    each: Option<&'a mut dyn FnMut(Scored) -> Result<()>>,
}

enum Target<'a> {
    File(&'a Path),
    Writer(&'a mut (dyn Write + Send)),
}

impl<'a> ScoreSink<'a> {
    /// Nowhere: only what is known about all stories is wanted.
    pub fn nowhere() -> Self {
        Self { target: None, text_cells: TextCells::default(), each: None }
    }

    /// A file, which gets its name and its header with [`Written::commit`]. It must be none of the
    /// inputs.
    pub fn file(path: &'a Path, format: ScoreFormat) -> Self {
        Self { target: Some((Target::File(path), format)), ..Self::nowhere() }
    }

    /// Any other output, which has no header.
    pub fn writer(out: &'a mut (dyn Write + Send), format: ScoreFormat) -> Self {
        Self { target: Some((Target::Writer(out), format)), ..Self::nowhere() }
    }

    /// The same sink, which marks texts in CSV or leaves them raw.
    #[must_use]
    pub fn text_cells(mut self, text_cells: TextCells) -> Self {
        self.text_cells = text_cells;
        self
    }

    /// The same sink, which also hands every batch of scored stories on, in the order of the input
    /// and on the calling thread, for example to show their explanations. Explanations for which
    /// the format of the file has no room are not lost then, and so they are not an error.
    #[must_use]
    pub fn each(mut self, take: &'a mut dyn FnMut(Scored) -> Result<()>) -> Self {
        self.each = Some(take);
        self
    }
}

/// Stories that were scored, and the file of their scores, which has no name yet.
pub struct Written {
    /// What is known about all stories.
    pub run: Run,
    /// The file, if scores were written to one.
    pub file: Option<CompleteScores>,
}

impl Written {
    /// Gives the file its name and its header, if there is one.
    ///
    /// # Errors
    /// Returns an error if the file system refuses.
    pub fn commit(self) -> Result<Run> {
        self.file.map_or(Ok(()), CompleteScores::commit)?;
        Ok(self.run)
    }
}

/// A file with all scores, which has no name yet.
pub struct CompleteScores {
    pub(crate) file: Hashed<AtomicFile>,
    pub(crate) header: Header,
}

impl CompleteScores {
    /// Gives the file its name, and writes its header beside it.
    ///
    /// # Errors
    /// Returns an error if the file system refuses.
    pub fn commit(self) -> Result<()> {
        Ok(self.header.commit(self.file)?)
    }

    /// The same for a file that is a shard, with its row statistics. Returns the header.
    pub(crate) fn commit_shard(self, mark: ShardMark, rows: Option<AtomicFile>) -> Result<Header> {
        let header = Header { shard: Some(mark), ..self.header };
        Ok(header.commit_with(self.file, rows)?)
    }
}

/// An output that scores are being written to.
struct Writing<'a> {
    writer: ScoreWriter<Output<'a>>,
    place: Place,
}

enum Output<'a> {
    File(Box<Hashed<AtomicFile>>),
    Writer(&'a mut (dyn Write + Send)),
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Writer(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Writer(out) => out.flush(),
        }
    }
}

impl<'a> Writing<'a> {
    /// Opens the output and begins it.
    fn begin(target: Target<'a>, lines: &ScoreLines, sources: &[&Path]) -> Result<Self> {
        let (out, place) = match target {
            Target::File(path) => {
                file::distinct(&[path, &Header::path_of(path)], sources)?;
                (Output::File(Box::new(Hashed::new(AtomicFile::create(path)?))), Place::file(path))
            }
            Target::Writer(out) => (Output::Writer(out), Place::file("the scores")),
        };
        let writer = ScoreWriter::new(out, lines).map_err(|e| Error::io(place.clone(), e))?;
        Ok(Self { writer, place })
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error + use<> {
        let place = self.place.clone();
        move |e| Error::io(place.clone(), e)
    }

    /// Ends the output, and writes a file to the disk as far as it can be without a name.
    fn finish(self, header: Header) -> Result<Option<CompleteScores>> {
        let failed = self.failed();
        match self.writer.finish(&header).map_err(failed)? {
            Output::File(mut file) => {
                file.get_mut().sync()?;
                Ok(Some(CompleteScores { file: *file, header }))
            }
            Output::Writer(_) => Ok(None),
        }
    }
}

impl Scored {
    /// The lines or rows of these stories in a score file.
    fn part(&self, lines: &ScoreLines) -> io::Result<ScorePart> {
        let mut part = lines.part();
        let rationales = if lines.has_explanations() { &self.rationales[..] } else { &[] };
        for (at, record) in self.records.iter().enumerate() {
            let story = &record.story;
            let rationale = rationales.get(at).and_then(Option::as_ref);
            let explanation = rationale.map(|rationale| rationale.to_json());
            let check = &self.checks[at];
            let line = ScoreLine {
                id: &story.id,
                system: story.system.as_deref(),
                item: story.item(),
                words: Some(check.words),
                flags: &check.names(),
                values: self.batch.values(at),
                ratings: &story.ratings,
                explanation: explanation.as_deref(),
            };
            lines.add(&mut part, &line)?;
        }
        Ok(part)
    }
}

impl ReadyScorer {
    /// Scores the stories of inputs, batch by batch and in bounded memory, and writes the scores of
    /// every story in the order of the input.
    ///
    /// `progress` hears how many stories are scored. Metrics that must know the corpus first read
    /// the input twice ([`ReadyScorer::reads_twice`]); the inputs must be [`Inputs::repeatable`]
    /// then. A file gets its name with [`Written::commit`]; if anything fails before, an older file
    /// of that name stays.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let [path, out] = ["stories.csv", "scores.jsonl"].map(|name| dir.path().join(name));
    /// # std::fs::write(&path, "story\nRain fell.\nThe lamp went out.\n")?;
    /// use storymeter::input::{Inputs, ReadOptions};
    /// use storymeter::{Progress, ScoreFormat, ScoreSink, Scorer};
    ///
    /// let scorer = Scorer::new().metrics(["text-length"]).build()?;
    /// let inputs = Inputs::new(vec![path], ReadOptions::default());
    /// let sink = ScoreSink::file(&out, ScoreFormat::Jsonl);
    /// let run = scorer.write_scores(&inputs, sink, &Progress::unwatched())?.commit()?;
    /// assert_eq!(run.score_rows().len(), 2);
    /// assert_eq!(storymeter::read(&out)?.column("text-length")?.values(), [Ok(3.0), Ok(5.0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the input is bad, a record has more than 16 MiB and bad records are not
    /// skipped, a metric fails, the scorer explains its scores and the format is CSV, the output is
    /// one of the inputs or cannot be written, or the work was cancelled
    /// ([`MetricError::Interrupted`](storymeter_core::MetricError::Interrupted)).
    pub fn write_scores(
        &self,
        inputs: &Inputs,
        sink: ScoreSink<'_>,
        progress: &Progress,
    ) -> Result<Written> {
        let ScoreSink { target, text_cells, mut each } = sink;
        let is_watched = each.is_some();
        let mut pass_on = |scored: Scored| match &mut each {
            Some(take) => take(scored),
            None => Ok(()),
        };
        let Some((target, format)) = target else {
            let run = self
                .score_inputs(inputs, progress, &|_| Ok(None), &mut |scored, _| pass_on(scored))?;
            return Ok(Written { run, file: None });
        };
        let keys = self.metrics().columns().iter().map(|column| column.key.clone()).collect();
        // Whoever takes the batches has explanations for which the file has no room.
        let in_file = !is_watched || format.check_explained().is_ok();
        let explained = self.explains().is_some() && in_file;
        let lines = ScoreLines::new(format, keys).text_cells(text_cells).explained(explained);
        let sources: Vec<&Path> = inputs.files().collect();
        let mut writing = Writing::begin(target, &lines, &sources)?;
        let failed = writing.failed();
        let encode = |scored: &Scored| Ok(Some(scored.part(&lines).map_err(&failed)?));
        let run = self.score_inputs(inputs, progress, &encode, &mut |scored, part| {
            part.map_or(Ok(()), |part| writing.writer.write(part)).map_err(&failed)?;
            pass_on(scored)
        })?;
        let file = writing.finish(run.header())?;
        Ok(Written { run, file })
    }
}

impl ScoredTable {
    /// Writes the scores of every story and their header, as [`ReadyScorer::write_scores`] does.
    ///
    /// # Errors
    /// Returns an error if the file is one of those that the stories came from, the scores have
    /// explanations and the format is CSV, or the file cannot be written.
    pub fn write(&self, path: &Path, format: ScoreFormat) -> Result<()> {
        let sources: Vec<&Path> = self.sources.iter().map(PathBuf::as_path).collect();
        file::distinct(&[path, &Header::path_of(path)], &sources)?;
        Ok(self.table.write_file(path, format, &self.run.header())?)
    }

    /// The lines of a JSONL file of the scores.
    ///
    /// # Errors
    /// Returns an error if a value cannot be written as JSON.
    pub fn json_lines(&self) -> Result<Vec<u8>> {
        let written = self.table.write_to(Vec::new(), ScoreFormat::Jsonl, &self.run.header());
        Ok(written.map_err(|e| Error::io(Place::file("the scores"), e))?)
    }
}
