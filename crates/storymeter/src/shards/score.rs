//! Scores one shard.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use storymeter_core::file::Checksum;
use storymeter_core::read::{ReadOptions, Record};
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::ScoreFormat;
use storymeter_core::{Error, FileMark, Header, Place, Progress, ShardMark};
use storymeter_executor::Part;

use super::{Shard, ShardError, difference};
use crate::input::Inputs;
use crate::run::metric_totals;
use crate::summary::IdHash;
use crate::summary::rows::{self, TextIds};
use crate::{ReadyScorer, Result, ScoreSink, Scored, TextCheck, Written};

/// How shards are scored.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ShardOptions {
    /// How the inputs are read. Stories and inputs may be empty.
    pub read: ReadOptions,
    /// Whether text cells of CSV are marked.
    pub text_cells: TextCells,
    /// Whether a shard that is complete is left as it is.
    pub resume: bool,
}

impl ShardOptions {
    /// The options after a change.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// What was done with a shard. Each has the header that is there now.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// It was scored.
    Scored(Header),
    /// It was scored again, because its input had changed.
    Rescored(Header),
    /// It was complete.
    AlreadyDone(Header),
}

impl Outcome {
    /// The header of the shard.
    pub fn header(&self) -> &Header {
        match self {
            Self::Scored(header) | Self::Rescored(header) | Self::AlreadyDone(header) => header,
        }
    }
}

/// How far a shard is.
enum State {
    /// It is not scored, or not completely.
    Open,
    /// It is complete.
    Complete(Header),
    /// It is complete, but its place in the list of inputs is another one now. The header has the
    /// new place.
    Moved(Header),
    /// It is complete, but its input has changed since.
    Changed,
}

/// Refuses metrics whose scores depend on all stories, unless they were given what they must know
/// about them ([`Scorer::corpus_stats`](crate::Scorer::corpus_stats)).
///
/// # Errors
/// [`ShardError::NeedsCorpus`].
pub fn refuse_corpus(scorer: &ReadyScorer) -> Result<()> {
    let mut parts = scorer.metrics().parts();
    let needs = |part: &Part<'_>| part.metric.description().needs.corpus && part.corpus.is_none();
    match parts.find(needs) {
        Some(part) => {
            let metric = part.metric.description().key.clone();
            Err(ShardError::NeedsCorpus { metric }.into())
        }
        None => Ok(()),
    }
}

/// Checks that a shard, if it is scored, was scored with the metrics and settings of the scorer and
/// the options, and that its files may be replaced. This takes no time: only the header is read.
///
/// # Errors
/// Returns an error if it was scored in another way, a file of the user has the name of one of its
/// files, or its header cannot be read.
pub fn check_settings(scorer: &ReadyScorer, shard: &Shard, options: &ShardOptions) -> Result<()> {
    scored_so(scorer, shard, options).map(drop)
}

/// Finds out how far a shard is. Its input and its files are read and compared with the checksums
/// of its header, if it has one.
fn state(scorer: &ReadyScorer, shard: &Shard, options: &ShardOptions) -> Result<State> {
    let Some((header, known)) = scored_so(scorer, shard, options)? else {
        return Ok(State::Open);
    };
    let has_bytes = |path: &Path, mark: &FileMark| -> Result<bool> {
        let there = path.metadata().map_err(|e| Error::io(Place::file(path), e))?;
        Ok(there.len() == mark.bytes && Checksum::of(path)?.sha256 == mark.sha256)
    };
    if !has_bytes(&shard.input, &known.input)? {
        return Ok(State::Changed);
    }
    let rows = known.rows.as_ref().map_or(Ok(true), |rows| has_bytes(&shard.rows(), rows))?;
    if !rows || !header.belongs_to(&shard.output)? {
        return Ok(State::Open);
    }
    if (known.place, known.of) == (shard.place, shard.of) && known.input.name == name_of(shard) {
        return Ok(State::Complete(header));
    }
    let input = FileMark { name: name_of(shard), ..known.input.clone() };
    let moved = ShardMark { input, place: shard.place, of: shard.of, ..known };
    Ok(State::Moved(Header { shard: Some(moved), ..header }))
}

/// The header of a shard that was scored in this way, and whose files are there and have the right
/// sizes; `None` if it is not scored, or not completely.
fn scored_so(
    scorer: &ReadyScorer,
    shard: &Shard,
    options: &ShardOptions,
) -> Result<Option<(Header, ShardMark)>> {
    refuse_foreign(shard)?;
    let Some(header) = Header::read(&shard.output)? else { return Ok(None) };
    let path = shard.header();
    let (Some(known), Some(totals)) = (&header.shard, &header.totals) else {
        let (there, wanted) = ("all its inputs in one file", "one file per input");
        return Err(other_settings(&path, there, wanted));
    };
    let size = |path: &Path| fs::metadata(path).ok().map(|there| there.len());
    let rows_are_there =
        known.rows.as_ref().is_none_or(|rows| size(&shard.rows()) == Some(rows.bytes));
    if size(&shard.output) != header.bytes || !rows_are_there {
        return Ok(None);
    }
    let version = env!("CARGO_PKG_VERSION");
    if header.storymeter != version {
        let shown = |version: &str| format!("version {version} of storymeter");
        return Err(other_settings(&path, &shown(&header.storymeter), &shown(version)));
    }
    if let Some((there, wanted)) = difference(&totals.metrics, &metric_totals(scorer.metrics())) {
        return Err(other_settings(&path, &there, &wanted));
    }
    let settings = settings(scorer, shard, options);
    if known.settings != settings {
        return Err(other_settings(&path, &known.settings, &settings));
    }
    // A shard without a bad record is the same, whether bad ones are skipped or not.
    if header.skipped > 0 && !options.read.skip_bad {
        return Err(other_settings(&path, "bad records skipped", "bad records refused"));
    }
    let known = known.clone();
    Ok(Some((header, known)))
}

/// Refuses to replace what may be a file of the user: a file without a header, unless it begins as
/// row statistics do, and what is no ordinary file.
fn refuse_foreign(shard: &Shard) -> Result<()> {
    let foreign = |file: PathBuf| Err(ShardError::Foreign { file }.into());
    if let Some(file) = shard.files().into_iter().find(|file| file.exists() && !file.is_file()) {
        return foreign(file);
    }
    // The header is looked for after the others, because another run may just be giving all three
    // their names.
    let there = [shard.output.exists(), shard.rows().exists()];
    if there == [false; 2] || Header::read(&shard.output)?.is_some() {
        return Ok(());
    }
    if there[0] {
        return foreign(shard.output.clone());
    }
    match rows::are_rows(&shard.rows())? {
        true => Ok(()),
        false => foreign(shard.rows()),
    }
}

fn other_settings(header: &Path, there: &str, wanted: &str) -> crate::Error {
    let (there, wanted) = (there.to_owned(), wanted.to_owned());
    ShardError::OtherSettings { header: header.to_owned(), there, wanted }.into()
}

/// The settings that change what is written and are not part of a signature.
fn settings(scorer: &ReadyScorer, shard: &Shard, options: &ShardOptions) -> String {
    let read = options.read.settings();
    let mut settings = vec!["score".to_owned()];
    let mut add = |key: &str, value: &str| settings.push(format!("{key}:{value}"));
    if let Some(depth) = scorer.explains() {
        add("explain", depth.name());
    }
    if scorer.rules.clean {
        add("clean", "yes");
    }
    if scorer.rules.keep_refusals {
        add("refusals", "kept");
    }
    if shard.format == ScoreFormat::Csv && options.text_cells == TextCells::Raw {
        add("raw-csv", "yes");
    }
    read.iter().for_each(|(key, value)| add(key, value));
    settings.join("|")
}

fn name_of(shard: &Shard) -> String {
    shard.input.to_string_lossy().into_owned()
}

/// Scores a shard, and writes its scores, its row statistics and, when both are complete, its
/// header.
///
/// With [`ShardOptions::resume`], a shard that is complete is left as it is. Files that this
/// program may not have written are never replaced. If it fails, it leaves nothing. Two programs
/// may score the same shard at once: both write the same bytes.
///
/// # Errors
/// Returns an error if the input is bad, a metric fails or needs to know all stories, the scorer
/// explains its scores and the format is CSV, the shard was scored in another way before, or its
/// files cannot be written or are not ours.
pub fn score_shard(
    scorer: &ReadyScorer,
    shard: &Shard,
    options: &ShardOptions,
    progress: &Progress,
) -> Result<Outcome> {
    refuse_corpus(scorer)?;
    if scorer.explains().is_some() {
        shard.check_explained()?;
    }
    refuse_foreign(shard)?;
    // A run that was killed may have left a header that only lacks its name.
    Header::finish_interrupted(&shard.output)?;
    let state = if options.resume { state(scorer, shard, options)? } else { State::Open };
    match state {
        State::Complete(header) => return Ok(Outcome::AlreadyDone(header)),
        State::Moved(header) => {
            header.replace(&shard.output)?;
            return Ok(Outcome::AlreadyDone(header));
        }
        State::Changed => {
            // What was scored is no longer true.
            for path in shard.files() {
                match fs::remove_file(&path) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        return Err(Error::io(Place::file(path), e).into());
                    }
                    _ => {}
                }
            }
            return Ok(Outcome::Rescored(write(scorer, shard, options, progress)?));
        }
        State::Open => {}
    }
    Ok(Outcome::Scored(write(scorer, shard, options, progress)?))
}

fn write(
    scorer: &ReadyScorer,
    shard: &Shard,
    options: &ShardOptions,
    progress: &Progress,
) -> Result<Header> {
    let age = || age(&shard.input).map_err(|e| Error::io(Place::file(&shard.input), e));
    let before = age()?;
    let input = FileMark::new(name_of(shard), Checksum::of(&shard.input)?);
    let read = options.read.clone().with(|it| it.allow_none = true);
    let inputs = Inputs::new(vec![shard.input.clone()], read);
    // By text, a hash of its id, the number of its record, whether it has an item, and a row.
    let mut ids: Vec<(IdHash, u64, bool, bool)> = Vec::new();
    let mut keep_ids = |scored: Scored| {
        if ids.len() <= scorer.most_rows() {
            let hashed = |(record, check): (&Record, &TextCheck)| {
                let story = &record.story;
                let has_item = story.item.is_some() || story.prompt.is_some();
                (rows::id_hash(story), record.number, has_item, check.no_score.is_none())
            };
            ids.extend(scored.records.iter().zip(&scored.checks).map(hashed));
        }
        Ok(())
    };
    let sink = ScoreSink::file(&shard.output, shard.format).text_cells(options.text_cells);
    let Written { run, file } = scorer.write_scores(&inputs, sink.each(&mut keep_ids), progress)?;
    if age()? != before {
        return Err(ShardError::Changed { input: shard.input.clone() }.into());
    }
    let beside = if run.score_rows().is_summed() {
        None
    } else {
        let mut known = TextIds::default();
        for (hash, number, has_item, has_row) in ids {
            let own = if has_row { &mut known.stories } else { &mut known.no_stories };
            own.push(match (run.is_numbered(number), has_item) {
                (false, _) => hash,
                (true, true) => rows::NO_ID,
                (true, false) => rows::numbered_item(number),
            });
        }
        Some(rows::write(&shard.rows(), run.score_rows(), &known, run.metrics())?)
    };
    let (beside, rows) = beside.unzip();
    // The place in a list may change later, so a header inside the file does not have it.
    let mark = ShardMark {
        input,
        place: shard.place,
        of: shard.of,
        settings: settings(scorer, shard, options),
        explained: scorer.explains().is_some(),
        rows,
    };
    file.map_or_else(|| Ok(run.header()), |file| file.commit_shard(mark, beside))
}

/// What changes when a file is written to or replaced.
fn age(path: &Path) -> std::io::Result<(u64, Option<SystemTime>, Option<u64>)> {
    let there = path.metadata()?;
    #[cfg(unix)]
    let number = Some(std::os::unix::fs::MetadataExt::ino(&there));
    #[cfg(not(unix))]
    let number = None;
    Ok((there.len(), there.modified().ok(), number))
}
