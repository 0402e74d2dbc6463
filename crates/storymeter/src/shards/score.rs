//! Scores one shard.

use std::fs;
use std::path::Path;

use storymeter_core::read::{DuplicateIds, ReadOptions};
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::{ScoreFormat, ScoreLines, ScoreWriter};
use storymeter_core::{
    AtomicFile, Depth, Error, FileMark, Header, Key, MetricTotals, Place, Progress, ShardMark,
};
use storymeter_metrics::Part;

use super::rows::{self, IdHash};
use super::{Shard, ShardError, difference, mark, metric_totals};
use crate::input::{Inputs, ReferenceFiles};
use crate::{ReadyScorer, Result, Scored};

/// How shards are scored.
#[derive(Debug, Clone, Default)]
pub struct ShardOptions {
    /// How the inputs are read. Stories and inputs may be empty.
    pub read: ReadOptions,
    /// Whether text cells of CSV are marked.
    pub text_cells: TextCells,
    /// Whether a shard that is complete is left as it is.
    pub resume: bool,
}

/// What was done with a shard. Each has the header that is there now.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone)]
pub enum ShardState {
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

/// Finds out how far a shard is.
///
/// # Errors
/// Where it was scored with other metrics or settings than those of the scorer and the options, or
/// its files cannot be read.
pub fn state(scorer: &ReadyScorer, shard: &Shard, options: &ShardOptions) -> Result<ShardState> {
    let Some(header) = Header::read(&shard.output)? else { return Ok(ShardState::Open) };
    let path = shard.header();
    let (Some(known), Some(totals)) = (&header.shard, &header.totals) else {
        let (there, wanted) = ("all its inputs in one file", "one file per input");
        return Err(other_settings(&path, there, wanted));
    };
    let size = |path: &Path| fs::metadata(path).ok().map(|there| there.len());
    let rows_are_there =
        known.rows.as_ref().is_none_or(|rows| size(&shard.rows()) == Some(rows.bytes));
    if size(&shard.output) != header.bytes || !rows_are_there {
        return Ok(ShardState::Open);
    }
    let version = env!("CARGO_PKG_VERSION");
    if header.storymeter != version {
        let shown = |version: &str| format!("version {version} of storymeter");
        return Err(other_settings(&path, &shown(&header.storymeter), &shown(version)));
    }
    if let Some((there, wanted)) = difference(&totals.metrics, &metrics_of(scorer)) {
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
    if !is_unchanged(&shard.input, &path, &known.input)? {
        return Ok(ShardState::Changed);
    }
    if (known.place, known.of) == (shard.place, shard.of) && known.input.name == name_of(shard) {
        return Ok(ShardState::Complete(header));
    }
    let input = FileMark { name: name_of(shard), ..known.input.clone() };
    let moved = ShardMark { input, place: shard.place, of: shard.of, ..known.clone() };
    Ok(ShardState::Moved(Header { shard: Some(moved), ..header }))
}

fn other_settings(header: &Path, there: &str, wanted: &str) -> crate::Error {
    let (there, wanted) = (there.to_owned(), wanted.to_owned());
    ShardError::OtherSettings { header: header.to_owned(), there, wanted }.into()
}

/// The metrics of a scorer, without what the stories decide.
fn metrics_of(scorer: &ReadyScorer) -> Vec<MetricTotals> {
    scorer.metrics().parts().map(|part| metric_totals(&part)).collect()
}

/// The settings that change what is written and are not part of a signature.
fn settings(scorer: &ReadyScorer, shard: &Shard, options: &ShardOptions) -> String {
    let read = &options.read;
    let mut settings = vec!["score".to_owned()];
    let mut add = |key: &str, value: &str| settings.push(format!("{key}:{value}"));
    match scorer.explains() {
        Some(Depth::Weakest) => add("explain", "weakest"),
        Some(Depth::All) => add("explain", "all"),
        None => {}
    }
    if shard.format == ScoreFormat::Csv && options.text_cells == TextCells::Raw {
        add("raw-csv", "yes");
    }
    if let Some(format) = read.format {
        add("input-format", format.name());
    }
    let names = &read.fields;
    for (key, name) in [
        ("story", &names.story),
        ("system", &names.system),
        ("id", &names.id),
        ("item", &names.item),
        ("prompt", &names.prompt),
        ("reference", &names.reference),
    ] {
        name.iter().for_each(|name| add(key, name));
    }
    if read.wide {
        add("wide", "yes");
    }
    match read.duplicates {
        DuplicateIds::Refuse => {}
        DuplicateIds::Renumber => add("duplicates", "renumbered"),
        DuplicateIds::Allow => add("duplicates", "allowed"),
    }
    settings.join("|")
}

/// Whether an input is what it was when a header was written: it has the same size and is not
/// newer, or it has the same checksum.
fn is_unchanged(input: &Path, header: &Path, known: &FileMark) -> Result<bool> {
    let failed = |e| Error::io(Place::file(input), e);
    let there = input.metadata().map_err(failed)?;
    if there.len() != known.bytes {
        return Ok(false);
    }
    let written = header.metadata().and_then(|header| header.modified());
    let is_older = there.modified().ok().zip(written.ok()).is_some_and(|(input, header)| {
        // Within the same tick of the clock, nobody knows which was first.
        input < header
    });
    Ok(is_older || mark(input, String::new())?.sha256 == known.sha256)
}

fn name_of(shard: &Shard) -> String {
    shard.input.to_string_lossy().into_owned()
}

/// Scores a shard, and writes its scores, its row statistics and, when both are complete, its
/// header.
///
/// With [`ShardOptions::resume`], a shard that is complete is left as it is. If it fails, it leaves
/// nothing. Two programs may score the same shard at once: both write the same bytes.
///
/// # Errors
/// Where the input is bad, a metric fails or needs to know all stories, the shard was scored in
/// another way before, or the files cannot be written.
pub fn score_shard(
    scorer: &ReadyScorer,
    shard: &Shard,
    options: &ShardOptions,
    progress: &Progress,
) -> Result<Outcome> {
    refuse_corpus(scorer)?;
    let state = if options.resume { state(scorer, shard, options)? } else { ShardState::Open };
    match state {
        ShardState::Complete(header) => return Ok(Outcome::AlreadyDone(header)),
        ShardState::Moved(header) => {
            header.replace(&shard.output)?;
            return Ok(Outcome::AlreadyDone(header));
        }
        ShardState::Changed => {
            // What was scored is no longer true. The header goes first, because it says otherwise.
            for path in [shard.header(), shard.rows(), shard.output.clone()] {
                match fs::remove_file(&path) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        return Err(Error::io(Place::file(path), e).into());
                    }
                    _ => {}
                }
            }
            return Ok(Outcome::Rescored(write(scorer, shard, options, progress)?));
        }
        ShardState::Open => {}
    }
    Ok(Outcome::Scored(write(scorer, shard, options, progress)?))
}

fn write(
    scorer: &ReadyScorer,
    shard: &Shard,
    options: &ShardOptions,
    progress: &Progress,
) -> Result<Header> {
    let failed = |path: &Path| {
        let place = Place::file(path);
        move |e| Error::io(place, e)
    };
    let keys: Vec<Key> =
        scorer.metrics().columns().iter().map(|column| column.key.clone()).collect();
    let lines = ScoreLines::new(shard.format, keys)
        .text_cells(options.text_cells)
        .explained(scorer.explains().is_some());
    let file = AtomicFile::create(&shard.output)?;
    let mut file = ScoreWriter::new(file, &lines).map_err(failed(&shard.output))?;
    let before = age(&shard.input).map_err(failed(&shard.input))?;
    let input = mark(&shard.input, name_of(shard))?;
    let read = ReadOptions { allow_empty: true, allow_none: true, ..options.read.clone() };
    let inputs = Inputs::new(vec![shard.input.clone()], read);
    let most = scorer.most_rows();
    // By story, a hash of its id, and whether the id may be the number of its record.
    let mut ids: Vec<(IdHash, bool)> = Vec::new();
    let run = scorer.over(
        &inputs,
        &ReferenceFiles::default(),
        progress,
        |scored: Scored<'_>| -> Result<_> {
            let hashed = scored.records.iter().map(|record| {
                let is_number = record.story.id == record.number.to_string();
                (rows::id_hash(&record.story), is_number)
            });
            let hashed: Vec<(IdHash, bool)> = hashed.collect();
            Ok((scored.part(&lines).map_err(failed(&shard.output))?, hashed))
        },
        |(written, hashed)| {
            if ids.len() <= most {
                ids.extend(hashed);
            }
            Ok(file.write(written).map_err(failed(&shard.output))?)
        },
    )?;
    if age(&shard.input).map_err(failed(&shard.input))? != before {
        return Err(ShardError::Changed { input: shard.input.clone() }.into());
    }
    let beside = if run.ledger().is_summed() {
        None
    } else {
        let id = |(hash, is_number): &(IdHash, bool)| match run.numbered > 0 && *is_number {
            true => [0; 2],
            false => *hash,
        };
        let ids: Vec<IdHash> = ids.iter().map(id).collect();
        Some(rows::write(&shard.rows(), run.ledger(), &ids, run.metrics())?)
    };
    let (beside, rows) = beside.unzip();
    let mut header = run.header();
    header.shard = Some(ShardMark {
        input,
        place: shard.place,
        of: shard.of,
        settings: settings(scorer, shard, options),
        explained: scorer.explains().is_some(),
        rows,
    });
    // The place in a list may change later, so the header inside a file does not have it.
    let mut file = file.finish(&run.header()).map_err(failed(&shard.output))?;
    header.bytes = Some(file.size()?);
    header.commit_with(file, beside)?;
    Ok(header)
}

/// What changes when a file is written to.
fn age(path: &Path) -> std::io::Result<(u64, Option<std::time::SystemTime>)> {
    let there = path.metadata()?;
    Ok((there.len(), there.modified().ok()))
}
