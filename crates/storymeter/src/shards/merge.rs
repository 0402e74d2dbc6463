//! Makes of many shards what one run over all inputs would have made.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use storymeter_core::file::{self, Hashed};
use storymeter_core::{
    Catalogue, Error, Header, Place, Settings, ShardMark, SystemTotals, Totals, item_key,
};
use storymeter_executor::MetricSet;

use super::{ShardError, difference, stored};
use crate::summary::{IdHash, MOST_ROWS, ScoreRows, read_rows, rows};
use crate::texts::TextRules;
use crate::{Result, Run, catalogue};

/// How shards are merged.
#[non_exhaustive]
pub struct MergeOptions {
    /// The metrics, of which those are built again that add rows up.
    pub catalogue: Catalogue,
    /// Where the files of these metrics are.
    pub settings: Settings,
    /// The number of stories up to which rows are read. It must be that of the run to compare with.
    pub most_rows: usize,
    /// How many shards there must be, if that is known.
    pub expect: Option<u64>,
}

impl MergeOptions {
    /// The options after a change.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            catalogue: catalogue(),
            settings: Settings::default(),
            most_rows: MOST_ROWS,
            expect: None,
        }
    }
}

/// What one run over all inputs would know, and where it came from.
pub struct Merged {
    /// The run.
    pub run: Run,
    /// The shards, in the order of the inputs.
    pub shards: Vec<MergedShard>,
    /// What a user should know about the result.
    pub notes: Vec<MergeNote>,
}

/// One shard that was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedShard {
    /// The file of stories that it was made from, as it was named then, if the header knows it.
    pub input: Option<PathBuf>,
    /// The header of its scores.
    pub header: PathBuf,
    /// The file of its scores.
    pub output: PathBuf,
    /// The number of its stories.
    pub stories: u64,
    /// The number of its stories that have no id of their own.
    pub numbered: u64,
    /// Whether it may have explanations. This is known only of what [`score_shard`] wrote.
    ///
    /// [`score_shard`]: super::score_shard
    pub explained: bool,
}

/// What a user should know about merged shards.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeNote {
    /// The inputs were scored by runs of their own, so nobody knows whether all are there.
    Unchecked {
        /// How many there are.
        shards: u64,
    },
    /// A score file has no row statistics, so that intervals are normal ones.
    NoRows {
        /// The score file.
        output: PathBuf,
    },
}

/// A header and what belongs to it.
struct Part {
    path: PathBuf,
    output: PathBuf,
    header: Header,
    totals: Totals,
}

impl Part {
    fn mark(&self) -> Option<&ShardMark> {
        self.header.shard.as_ref()
    }

    /// The name that the order goes by where no list gives it.
    fn name(&self) -> String {
        match self.mark() {
            Some(mark) => mark.input.name.clone(),
            None => self.output.to_string_lossy().into_owned(),
        }
    }
}

/// The headers that paths stand for: a header stands for itself, and a folder for all headers in
/// it, sorted by name.
///
/// # Errors
/// Returns an error if a folder cannot be listed or has no header, or a file is not called like a
/// header.
pub fn headers(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let failed = |e| Error::io(Place::file(path), e);
        let mut own = file::list(path).map_err(failed)?;
        own.retain(|entry| Header::file_of(entry).is_some() && entry.is_file());
        if own.is_empty() {
            return Err(ShardError::NoHeader { path: path.clone() }.into());
        }
        found.extend(own);
    }
    Ok(found)
}

/// Merges shards, given by their headers or by folders of headers, in any order.
///
/// # Errors
/// Returns an error if shards were scored in different ways, are missing, doubled or damaged, share
/// the id of a story, or a metric that adds rows up cannot be built.
pub fn merge(paths: &[PathBuf], options: &MergeOptions) -> Result<Merged> {
    let mut parts = headers(paths)?.into_iter().map(open).collect::<Result<Vec<Part>>>()?;
    let mut notes = Vec::new();
    // Whatever is wrong is said of the same files, in whichever order they were named.
    parts.sort_by(|a, b| (a.name(), &a.path).cmp(&(b.name(), &b.path)));
    let Some(first) = parts.first() else {
        return Err(ShardError::Count { there: 0, expected: options.expect.unwrap_or(1) }.into());
    };
    parts.iter().try_for_each(|part| belongs(first, part))?;
    put_in_order(&mut parts, options.expect, &mut notes)?;
    let Some(first) = parts.first() else { return Err(no_story(Path::new(""))) };
    if let Some(error) = parts.par_iter().find_map_first(|part| check_output(part).err()) {
        return Err(error);
    }

    let metrics = Arc::new(stored::metrics(
        &first.header,
        &first.totals.metrics,
        &options.catalogue,
        &options.settings,
    )?);
    let stories: u64 = parts.iter().map(|part| part.header.rows).sum();
    if stories == 0 && parts.iter().all(|part| part.header.skipped == 0) {
        return Err(no_story(Path::new(&first.name())));
    }
    let without_rows = parts.iter().find(|part| part.mark().is_none_or(|mark| mark.rows.is_none()));
    let few = stories <= options.most_rows as u64;
    if let Some(part) = without_rows.filter(|_| few) {
        notes.push(MergeNote::NoRows { output: part.output.clone() });
    }
    let from_rows = few && without_rows.is_none();
    let score_rows = ScoreRows::new(metrics.width()).most_rows(options.most_rows);
    let mut run = Run::new(&metrics, score_rows, rules(first));
    let mut ids = HashMap::new();
    let mut records = 0;
    for (at, part) in parts.iter().enumerate() {
        let score_rows = if from_rows {
            rows_of(part, &metrics, &mut records, |id| match ids.insert(id, at) {
                Some(first) if first != at => Some(parts[first].output.clone()),
                _ => None,
            })?
        } else {
            sums_of(part, &metrics, options.most_rows)?
        };
        run.merge(Run::from_header(&metrics, &part.header, part.totals.clone(), score_rows));
    }
    let shards = parts.into_iter().map(|part| MergedShard {
        input: part.mark().map(|mark| PathBuf::from(&mark.input.name)),
        stories: part.header.rows,
        numbered: part.totals.numbered,
        explained: part.mark().is_none_or(|mark| mark.explained),
        header: part.path,
        output: part.output,
    });
    Ok(Merged { run, shards: shards.collect(), notes })
}

fn no_story(input: &Path) -> crate::Error {
    Error::invalid(Place::file(input), "the input has no story").into()
}

fn open(path: PathBuf) -> Result<Part> {
    let Some(output) = Header::file_of(&path) else {
        return Err(ShardError::NotAHeader { path }.into());
    };
    let Some(mut header) = Header::read(&output)? else {
        return Err(ShardError::NoHeader { path }.into());
    };
    let Some(totals) = header.totals.take() else {
        return Err(ShardError::NoSums { header: path }.into());
    };
    let columns: usize = totals.metrics.iter().map(|metric| metric.columns).sum();
    if columns != header.columns.len() {
        let problem = "the header contradicts itself: the metrics have other columns";
        return Err(Error::invalid(Place::file(&path).in_field("totals"), problem).into());
    }
    Ok(Part { path, output, header, totals })
}

/// What was done with the texts of a shard.
fn rules(part: &Part) -> TextRules {
    let texts = &part.totals.texts;
    TextRules { clean: texts.cleaned, keep_refusals: texts.keeps_refusals }
}

/// Checks that two shards were scored in the same way.
fn belongs(first: &Part, part: &Part) -> Result<()> {
    let mixed = |there: String, other: String| {
        Err(ShardError::Mixed {
            first: first.path.clone(),
            second: part.path.clone(),
            there,
            other,
        }
        .into())
    };
    let (a, b) = (&first.header, &part.header);
    if a.storymeter != b.storymeter {
        let version = |header: &Header| format!("version {}", header.storymeter);
        return mixed(version(a), version(b));
    }
    if let Some((there, other)) = difference(&first.totals.metrics, &part.totals.metrics) {
        return mixed(there, other);
    }
    if rules(first) != rules(part) {
        let shown = |part: &Part| {
            let TextRules { clean, keep_refusals } = rules(part);
            let texts = if clean { "cleaned texts" } else { "texts as they are" };
            let refusals = if keep_refusals { "with" } else { "without" };
            format!("{texts}, {refusals} scores of refusals")
        };
        return mixed(shown(first), shown(part));
    }
    let keys = |header: &Header| -> Vec<String> {
        header.columns.iter().map(|column| column.key.to_string()).collect()
    };
    if keys(&first.header) != keys(&part.header) {
        let shown = |header: &Header| format!("columns {}", keys(header).join(", "));
        return mixed(shown(&first.header), shown(&part.header));
    }
    if let (Some(a), Some(b)) = (first.mark(), part.mark())
        && a.settings != b.settings
    {
        return mixed(format!("settings {}", a.settings), format!("settings {}", b.settings));
    }
    Ok(())
}

/// Puts the shards into the order of the inputs, and checks that each is there once.
fn put_in_order(parts: &mut [Part], expect: Option<u64>, notes: &mut Vec<MergeNote>) -> Result<()> {
    let count = parts.len() as u64;
    let doubled = |first: &Part, second: &Part| -> crate::Error {
        let (first, second, input) = (first.path.clone(), second.path.clone(), second.name());
        ShardError::Doubled { first, second, input }.into()
    };
    // The shards are sorted by the names of their inputs.
    for pair in parts.windows(2) {
        let input = |part: &Part| part.mark().map(|mark| mark.input.clone());
        let same = match (input(&pair[0]), input(&pair[1])) {
            (Some(a), Some(b)) => a == b,
            _ => pair[0].path == pair[1].path,
        };
        if same {
            return Err(doubled(&pair[0], &pair[1]));
        }
    }
    let list = parts.iter().find(|part| part.mark().is_some_and(|mark| mark.of > 1));
    let Some(list) = list else {
        if let Some(expected) = expect.filter(|&expected| expected != count) {
            return Err(ShardError::Count { there: count, expected }.into());
        }
        let alone = count == 1 && parts.iter().all(|part| part.mark().is_some());
        if expect.is_none() && !alone {
            notes.push(MergeNote::Unchecked { shards: count });
        }
        return Ok(());
    };
    let of = list.mark().map_or(1, |mark| mark.of);
    let length = |part: &Part| match part.mark() {
        Some(mark) => format!("a list of {} inputs", mark.of),
        None => "no list of inputs".to_owned(),
    };
    if let Some(other) = parts.iter().find(|part| part.mark().is_none_or(|mark| mark.of != of)) {
        return Err(ShardError::Mixed {
            first: list.path.clone(),
            second: other.path.clone(),
            there: length(list),
            other: length(other),
        }
        .into());
    }
    let place = |part: &Part| part.mark().map_or(0, |mark| mark.place);
    parts.sort_by(|a, b| (place(a), &a.path).cmp(&(place(b), &b.path)));
    if let Some(pair) = parts.windows(2).find(|pair| place(&pair[0]) == place(&pair[1])) {
        return Err(doubled(&pair[0], &pair[1]));
    }
    if let Some(part) = parts.iter().find(|part| place(part) >= of) {
        let problem = "the header contradicts itself: its place is behind the end of the list";
        return Err(Error::invalid(Place::file(&part.path).in_field("shard"), problem).into());
    }
    if count < of {
        let there: HashMap<u64, String> =
            parts.iter().map(|part| (place(part), part.name())).collect();
        // A list can be very long; the first few are enough to know.
        let missing = (0..of).filter(|place| !there.contains_key(place)).map(|place| {
            let before = place.checked_sub(1).and_then(|before| there.get(&before).cloned());
            (place, before)
        });
        return Err(ShardError::Missing { of, places: missing.take(1_000_000).collect() }.into());
    }
    match expect.filter(|&expected| expected != count) {
        Some(expected) => Err(ShardError::Count { there: count, expected }.into()),
        None => Ok(()),
    }
}

/// Checks that the scores and the row statistics are there and as large as the header says, and
/// that the scores have its checksum. That of the row statistics is found when they are read.
fn check_output(part: &Part) -> Result<()> {
    let rows = part.mark().and_then(|mark| mark.rows.as_ref());
    let rows = rows.map(|rows| (part.output.with_file_name(&rows.name), Some(rows.bytes)));
    for (file, expected) in [(part.output.clone(), part.header.bytes)].into_iter().chain(rows) {
        let problem = match fs::metadata(&file) {
            // A pipe would be waited for.
            Ok(there) if !there.is_file() => "this is not an ordinary file".into(),
            Ok(there) if expected.is_none_or(|expected| there.len() == expected) => continue,
            Ok(there) => format!(
                "the file has {} bytes, and its header says {}",
                there.len(),
                expected.unwrap_or_default()
            ),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => "there is no such file".into(),
            Err(e) => return Err(Error::io(Place::file(file), e).into()),
        };
        return Err(ShardError::Damaged { file, problem }.into());
    }
    match part.header.belongs_to(&part.output)? {
        true => Ok(()),
        false => {
            let (file, problem) = (part.output.clone(), OTHER_CHECKSUM.to_owned());
            Err(ShardError::Damaged { file, problem }.into())
        }
    }
}

const OTHER_CHECKSUM: &str = "the file does not have the checksum in its header";

/// Reads the rows of the stories of a shard, in order. `taken` knows ids, and says which score file
/// had one before.
///
/// One run over all inputs would number the stories that have neither id nor
/// item across all of them, so they are numbered on from the `records` of the shards before.
fn rows_of(
    part: &Part,
    metrics: &MetricSet,
    records: &mut u64,
    taken: impl FnMut(IdHash) -> Option<PathBuf>,
) -> Result<ScoreRows> {
    let Some(rows) = part.mark().and_then(|mark| mark.rows.as_ref()) else {
        return Ok(ScoreRows::new(metrics.width()));
    };
    let file = part.output.with_file_name(&rows.name);
    let damaged =
        |problem: &str| ShardError::Damaged { file: file.clone(), problem: problem.to_owned() };
    let input = File::open(&file).map_err(|e| Error::io(Place::file(&file), e))?;
    let mut input = Hashed::new(input);
    let (mut score_rows, ids) = read_rows(&file, &mut input)?;
    if input.finish().1.sha256 != rows.sha256 {
        return Err(damaged(OTHER_CHECKSUM).into());
    }
    let texts = score_rows.texts() as u64;
    let no_stories = texts - score_rows.len() as u64;
    if score_rows.width() != metrics.width()
        || (texts, no_stories) != (part.header.rows, part.totals.texts.unscored())
    {
        return Err(damaged("the row statistics do not belong to the header").into());
    }
    let before = *records;
    *records = before.saturating_add(part.header.rows).saturating_add(part.header.skipped);
    for (story, &id) in ids[..score_rows.len()].iter().enumerate() {
        if let Some(number) = rows::number_of_item(id) {
            let number = before.saturating_add(number);
            score_rows.set_item(story, item_key(&number.to_string()));
            *records = number.saturating_add(1).max(*records);
        }
    }
    match ids.into_iter().filter(|id| id[0] != 0).find_map(taken) {
        Some(first) => Err(ShardError::SameId { first, second: part.output.clone() }.into()),
        None => Ok(score_rows),
    }
}

/// The sums of the header of a shard.
fn sums_of(part: &Part, metrics: &MetricSet, most: usize) -> Result<ScoreRows> {
    let Some(systems) = &part.totals.systems else {
        let header = part.path.clone();
        return Err(ShardError::TooManySystems { header, most }.into());
    };
    let wrong = |problem: &str| -> crate::Error {
        let place = Place::file(&part.path).in_field("totals");
        Error::invalid(place, format!("the header contradicts itself: {problem}")).into()
    };
    let sum_of = |count: fn(&SystemTotals) -> u64| {
        systems.iter().try_fold(0u64, |sum, system| sum.checked_add(count(system)))
    };
    let (stories, no_stories) = (sum_of(|one| one.stories), sum_of(|one| one.no_stories));
    let texts = stories.zip(no_stories).and_then(|(a, b)| a.checked_add(b));
    if texts != Some(part.header.rows) || no_stories != Some(part.totals.texts.unscored()) {
        return Err(wrong("the systems have another number of stories"));
    }
    ScoreRows::from_totals(systems, metrics).ok_or_else(|| wrong("a sum is not one"))
}
