//! Row statistics of a shard: a file of fixed-size records, from which the bootstrap of one run
//! over all files can be drawn again.
//!
//! The file begins with [`MAGIC`], whose last byte is the version, and has little-endian numbers:
//!
//! - the width of a row (4 bytes), the number of systems (4) and the number of stories (8);
//! - per system: the length of its name (4) and the name;
//! - per story: the number of its system (4; 0xffffffff for none), a hash of its item (8), a hash
//!   of its system and id (16), and its row (8 per number). A story without an id has zeros for the
//!   hash of its id. If it has no item either, so that the number of its record stands for both,
//!   the second half of these zeros is that number plus one;
//! - the number of texts that have no row, because they are no stories: of those without a system
//!   (8), and of each system (8);
//! - per such text: a hash of its system and id (16).
//!
//! Both hashes are the first bytes of a SHA-256 sum, so that all machines and compilers agree: of
//! the item; and of the length of the system's name plus one (8 bytes; 0 for no system), the name,
//! and the id.
//!
//! A row has the statistics of metrics that add rows up, and the values of metrics that average
//! values, in which NaN is a value that is absent, as in the rows of many metrics. Nothing follows
//! the last text. The checksum of the whole file is in the header of the shard.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use storymeter_core::file::Hashed;
use storymeter_core::{AtomicFile, Error, FileMark, Place, Pooling, Story, Value};
use storymeter_executor::{MetricSet, Part};

use super::ScoreRows;
use crate::Result;

/// How the file begins.
const MAGIC: [u8; 8] = *b"SMROWS\0\x03";

/// No set of metrics has wider rows.
const WIDEST: u32 = 1 << 16;

/// The longest name of a system.
const LONGEST: u32 = 64 << 20;

/// No shard has so many texts.
const MOST_TEXTS: u64 = 1 << 48;

/// The number that stands for no system.
const NO_SYSTEM: u32 = u32::MAX;

/// 128 bits that stand for the system and the id of a story.
pub type IdHash = [u64; 2];

/// Hashes the system and the id of a story.
pub(crate) fn id_hash(story: &Story) -> IdHash {
    let mut hash = Sha256::new();
    // Lengths keep "a" + "bc" and "ab" + "c" apart, and a missing system from an empty one.
    match &story.system {
        Some(system) => {
            hash.update((system.len() as u64 + 1).to_le_bytes());
            hash.update(system);
        }
        None => hash.update(0u64.to_le_bytes()),
    }
    hash.update(&story.id);
    first_words(&hash.finalize())
}

/// What stands for the id of a story that has none.
pub(crate) const NO_ID: IdHash = [0; 2];

/// What stands for the id of a story that has neither id nor item, so that the number of its record
/// stands for both.
pub(crate) fn numbered_item(record: u64) -> IdHash {
    [0, record.saturating_add(1)]
}

/// The number of the record that stands for the item of a story, if one does.
pub(crate) fn number_of_item(id: IdHash) -> Option<u64> {
    (id[0] == 0).then(|| id[1].checked_sub(1)).flatten()
}

/// The first 16 bytes as little-endian numbers.
fn first_words(digest: &[u8]) -> [u64; 2] {
    let word = |at: usize| {
        digest[at..at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    [word(0), word(8)]
}

/// The width of the rows that are stored of a metric: its statistics if they are added up, and its
/// values if these are averaged. Merging then needs no metric of the second kind, which may have a
/// model, and a row is as narrow as possible.
pub(crate) fn stored_width(part: &Part<'_>) -> usize {
    match part.metric.description().pooling {
        Pooling::Sum => part.stats.len(),
        Pooling::Mean => part.columns.len(),
    }
}

/// The ids of texts.
#[derive(Debug, Default)]
pub(crate) struct TextIds {
    /// The ids of the stories, which have rows, in their order.
    pub stories: Vec<IdHash>,
    /// The ids of the other texts.
    pub no_stories: Vec<IdHash>,
}

/// Writes the rows of the stories. The caller commits the file.
pub(crate) fn write(
    path: &Path,
    score_rows: &ScoreRows,
    ids: &TextIds,
    metrics: &MetricSet,
) -> Result<(AtomicFile, FileMark)> {
    let failed = |e| Error::io(Place::file(path), e);
    let mut out = Hashed::new(AtomicFile::create(path)?);
    write_to(&mut out, score_rows, ids, metrics).map_err(failed)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (file, sum) = out.finish();
    Ok((file, FileMark::new(name, sum)))
}

fn write_to(
    out: &mut impl Write,
    score_rows: &ScoreRows,
    ids: &TextIds,
    metrics: &MetricSet,
) -> io::Result<()> {
    let parts: Vec<Part<'_>> = metrics.parts().collect();
    let width: usize = parts.iter().map(stored_width).sum();
    let systems = score_rows.systems();
    out.write_all(&MAGIC)?;
    out.write_all(&(width as u32).to_le_bytes())?;
    out.write_all(&(systems.len() as u32).to_le_bytes())?;
    out.write_all(&(score_rows.len() as u64).to_le_bytes())?;
    for system in systems {
        out.write_all(&(system.len() as u32).to_le_bytes())?;
        out.write_all(system.as_bytes())?;
    }
    let mut record = Vec::new();
    for ((system, item, row), id) in score_rows.rows().zip(&ids.stories) {
        record.clear();
        record.extend(system.unwrap_or(NO_SYSTEM).to_le_bytes());
        for word in [item, id[0], id[1]] {
            record.extend(word.to_le_bytes());
        }
        for part in &parts {
            let own = &row[part.stats.clone()];
            match part.metric.description().pooling {
                Pooling::Sum => own.iter().for_each(|number| record.extend(number.to_le_bytes())),
                Pooling::Mean => {
                    let mut values: Vec<Value> = vec![Ok(0.0); part.columns.len()];
                    part.metric.values(own, &mut values);
                    for value in values {
                        record.extend(value.unwrap_or(f64::NAN).to_le_bytes());
                    }
                }
            }
        }
        out.write_all(&record)?;
    }
    for system in std::iter::once(None).chain((0..systems.len()).map(Some)) {
        out.write_all(&score_rows.no_stories_of(system).to_le_bytes())?;
    }
    for word in ids.no_stories.iter().flatten() {
        out.write_all(&word.to_le_bytes())?;
    }
    Ok(())
}

/// Whether a file begins as row statistics of any version do.
pub(crate) fn are_rows(path: &Path) -> Result<bool> {
    let failed = |e| Error::io(Place::file(path), e);
    let mut begin = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAGIC.len() as u64 - 1).read_to_end(&mut begin).map_err(failed)?;
    Ok(MAGIC.starts_with(&begin) && begin.len() == MAGIC.len() - 1)
}

/// Reads the rows of a shard, with the hash of the system and id of each story, and then of each
/// text that is no story, whose first half is zero if it has no id of its own. What is wrong with
/// them is the error; the name is that of the file.
///
/// # Errors
/// Returns an error if the bytes are not row statistics.
pub fn read_rows(
    name: &Path,
    input: impl Read,
) -> storymeter_core::Result<(ScoreRows, Vec<IdHash>)> {
    let mut input = Cursor { name, input: BufReader::with_capacity(1 << 16, input) };
    if input.take::<8>()? != MAGIC {
        return Err(input.wrong("these are not row statistics of this version"));
    }
    let width = input.number()?;
    let count = input.number()?;
    let stories = u64::from_le_bytes(input.take()?);
    if width == 0 || width > WIDEST {
        return Err(input.wrong("the rows have an impossible width"));
    }
    let (mut systems, mut known) = (Vec::new(), HashSet::new());
    for _ in 0..count {
        let system = input.name()?;
        if !known.insert(system.clone()) {
            return Err(input.wrong("a system is named twice"));
        }
        systems.push(system);
    }
    let mut score_rows = ScoreRows::new(width as usize);
    // In the order of their first texts, which may have no row.
    for system in &systems {
        score_rows.number_of(system);
    }
    let (mut ids, mut row) = (Vec::new(), vec![0.0; width as usize]);
    for _ in 0..stories {
        let system = match input.number()? {
            NO_SYSTEM => None,
            number => match systems.get(number as usize) {
                Some(system) => Some(system.as_str()),
                None => return Err(input.wrong("a story has a system that is not there")),
            },
        };
        let [item, first, second] = [input.take()?, input.take()?, input.take()?];
        let [item, first, second] = [item, first, second].map(u64::from_le_bytes);
        for number in &mut row {
            *number = f64::from_le_bytes(input.take()?);
        }
        score_rows.push_row(system, item, &row);
        ids.push([first, second]);
    }
    let mut texts = 0u64;
    for system in std::iter::once(None).chain(systems.iter().map(|name| Some(name.as_str()))) {
        let count = u64::from_le_bytes(input.take()?);
        let sum = texts.checked_add(count).filter(|&sum| sum <= MOST_TEXTS);
        texts = sum.ok_or_else(|| input.wrong("too many texts have no row"))?;
        score_rows.push_no_stories(system, count);
    }
    for _ in 0..texts {
        ids.push([input.take()?, input.take()?].map(u64::from_le_bytes));
    }
    let mut more = [0];
    match input.input.read(&mut more) {
        Ok(0) => Ok((score_rows, ids)),
        Ok(_) => Err(input.wrong("something follows the last story")),
        Err(e) => Err(Error::io(Place::file(name), e)),
    }
}

struct Cursor<'a, R> {
    name: &'a Path,
    input: R,
}

impl<R: Read> Cursor<'_, R> {
    fn wrong(&self, problem: &str) -> Error {
        Error::invalid(Place::file(self.name), problem)
    }

    fn take<const N: usize>(&mut self) -> storymeter_core::Result<[u8; N]> {
        let mut bytes = [0; N];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.wrong("the row statistics are cut off"))
            }
            Err(e) => Err(Error::io(Place::file(self.name), e)),
        }
    }

    fn number(&mut self) -> storymeter_core::Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    /// A length and a text. Memory is taken only for bytes that are there.
    fn name(&mut self) -> storymeter_core::Result<String> {
        let length = self.number()?;
        if length > LONGEST {
            return Err(self.wrong("the name of a system is too long"));
        }
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(u64::from(length)).read_to_end(&mut bytes);
        read.map_err(|e| Error::io(Place::file(self.name), e))?;
        if bytes.len() < length as usize {
            return Err(self.wrong("the row statistics are cut off"));
        }
        String::from_utf8(bytes).map_err(|_| self.wrong("the name of a system is not UTF-8"))
    }
}
