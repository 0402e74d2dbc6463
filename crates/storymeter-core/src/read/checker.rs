//! The last stage of reading: all records pass one place in input order. There bad ones are
//! skipped, ids are checked, and it is counted what was read.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher, RandomState};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::names::UsedNames;
use super::raw::{Origin, Parsed};
use super::summary::{OneText, Summary};
use super::{Format, ReadOptions, Record, Skipped};
use crate::{Error, Place, Result};

/// What happens to a story whose id another story of the same system has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DuplicateIds {
    /// The record is bad. The error names both places.
    #[default]
    Refuse,
    /// The story gets another id: `7` becomes `7#2`, and the next one `7#3`. If it has neither item
    /// nor prompt, its old id becomes its item, so that the stories still belong together.
    Renumber,
    /// Ids may repeat, and no memory is needed to compare them.
    Allow,
}

impl DuplicateIds {
    /// What happens, in a word: `refused`, `renumbered` or `allowed`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refused",
            Self::Renumber => "renumbered",
            Self::Allow => "allowed",
        }
    }
}

/// Takes parsed records in input order and hands the good ones on.
///
/// It needs a few dozen bytes per story that has an id of its own, and almost nothing for stories
/// whose id is their number.
///
/// ```
/// use storymeter_core::read::{RecordChecker, RawRecords, ReadOptions};
/// let options = ReadOptions::default();
/// let table = "id,model,output\n1,a,Rain fell.\n2,b,The lamp went out.\n".as_bytes();
/// let mut checker = RecordChecker::new(&options);
/// for raw in RawRecords::from_reader("stories.csv", table, &options) {
///     let record = checker.admit(raw?.into_parsed())?;
///     assert!(record.is_some());
/// }
/// let said = checker.summary().to_string();
/// assert!(said.starts_with("read 2 stories of 2 systems from 1 file (csv)"));
/// assert!(said.ends_with("story from \"output\", system from \"model\""));
/// # Ok::<(), storymeter_core::Error>(())
/// ```
pub struct RecordChecker {
    options: ReadOptions,
    skipped: Skipped,
    ids: Ids,
    summary: Summary,
    used: UsedNames,
    /// The file of the last record.
    file: Option<Arc<Origin>>,
    /// The files so far that have ids of their own.
    files: Vec<PathBuf>,
}

impl RecordChecker {
    /// Nothing has been read yet.
    pub fn new(options: &ReadOptions) -> Self {
        Self {
            options: options.clone(),
            skipped: Skipped::default(),
            ids: Ids::default(),
            summary: Summary::default(),
            used: UsedNames::default(),
            file: None,
            files: Vec::new(),
        }
    }

    /// Passes a good record on. Counts a bad one if bad records are skipped, and returns its error
    /// otherwise. A record with the id of an earlier one is bad ([`ReadOptions::duplicates`]).
    ///
    /// # Errors
    /// The error of a bad record that is not to be skipped.
    pub fn admit(&mut self, parsed: Parsed) -> Result<Option<Record>> {
        let Parsed { mut record, file, used, is_numbered, missing } = parsed;
        self.begin(&file);
        if let Some(reason) = missing {
            self.summary.leave_out(&reason);
            return Ok(None);
        }
        if let Ok(good) = &mut record
            && let Err(e) = self.check(good, is_numbered)
        {
            record = Err(e);
        }
        let Some(record) = self.skipped.admit(record, self.options.skip_bad)? else {
            return Ok(None);
        };
        self.used.merge(used);
        self.summary.count(record.story.system.as_deref());
        if file.format == Format::Text && self.summary.stories == 1 {
            self.summary.one_text = Some(OneText::of(&record.story.text));
        }
        Ok(Some(record))
    }

    /// The bad records that were skipped so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// The records so far whose stories have no id of their own, but the number of their record: in
    /// ascending order, as few runs as possible.
    pub fn numbered(&self) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        for &(start, end, _) in &self.ids.numbered {
            match runs.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => runs.push(start..end),
            }
        }
        runs
    }

    /// What was read so far.
    pub fn summary(&self) -> Summary {
        let mut summary = self.summary.clone();
        summary.fields = self.used.remarkable(&self.options.fields);
        (summary.used, summary.given) = (self.used, self.options.fields.clone());
        if summary.stories != 1 || summary.files != 1 {
            summary.one_text = None;
        }
        summary
    }

    /// Notices that a record is the first one of its file.
    fn begin(&mut self, file: &Arc<Origin>) {
        if self.file.as_ref().is_some_and(|last| Arc::ptr_eq(last, file)) {
            return;
        }
        self.summary.begin(file);
        self.file = Some(Arc::clone(file));
    }

    /// Checks the id of a story, or changes it.
    fn check(&mut self, record: &mut Record, is_numbered: bool) -> Result<()> {
        if self.options.duplicates == DuplicateIds::Allow {
            return Ok(());
        }
        let story = &mut record.story;
        let system = story.system.as_deref();
        let here = self.ids.place(&mut self.files, &record.place);
        let earlier = if is_numbered {
            self.ids.add_number(system, record.number).map(Some)
        } else {
            self.ids.add(system, &story.id, here)
        };
        let Some(first) = earlier else { return Ok(()) };
        if self.options.duplicates == DuplicateIds::Renumber {
            let id = self.ids.free_id(system, &story.id, here);
            let old = std::mem::replace(&mut story.id, id);
            if story.item.is_none() && story.prompt.is_none() {
                story.item = Some(old);
            }
            self.summary.renumbered += 1;
            return Ok(());
        }
        let first = first.map(|first| {
            let file = self.files.get(first.file as usize).cloned().unwrap_or_default();
            Box::new(Place::file(file).at_line(u64::from(first.line)))
        });
        let (id, system) = (story.id.clone(), story.system.clone());
        Err(Error::DuplicateId { place: Box::new(record.place.clone()), id, system, first })
    }
}

/// The ids of all stories so far.
#[derive(Default)]
struct Ids {
    /// Random keys of the hashes below, so that nobody can write ids that collide.
    keys: [RandomState; 2],
    /// Ids from the input: a hash of system and id, and where it was first used.
    given: HashMap<[u64; 2], First, BuildHasherDefault<Ready>>,
    /// Ids that are the number of their record, in ascending order: runs of records of one system,
    /// as first number, number after the last, and hash of the system.
    numbered: Vec<(u64, u64, u64)>,
    /// For ids that were made unique, the last number that was appended.
    suffixes: HashMap<[u64; 2], u64, BuildHasherDefault<Ready>>,
}

/// Where an id was first used.
#[derive(Debug, Clone, Copy)]
struct First {
    file: u32,
    line: u32,
}

impl Ids {
    /// 128 bits of system and id. Even with a billion stories, two are the same by chance only once
    /// in 10^20 runs.
    fn key(&self, system: Option<&str>, id: &str) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one((system, id)))
    }

    /// A place in few bytes.
    fn place(&self, files: &mut Vec<PathBuf>, place: &Place) -> First {
        if files.last().map(|file| file.as_os_str()) != Some(place.file.as_os_str()) {
            files.push(place.file.clone());
        }
        let most = u64::from(u32::MAX);
        First {
            file: (files.len() - 1).min(u32::MAX as usize) as u32,
            line: place.line.unwrap_or(1).min(most) as u32,
        }
    }

    /// Adds an id of the input. Returns where it was used before, if it was; the inner value is
    /// `None` if it is the number of an earlier record.
    fn add(&mut self, system: Option<&str>, id: &str, here: First) -> Option<Option<First>> {
        if let Some(number) = canonical_number(id) {
            let run = self.numbered.partition_point(|&(_, end, _)| end <= number);
            if let Some(&(start, _, of)) = self.numbered.get(run)
                && start <= number
                && of == self.key(system, "")[0]
            {
                return Some(None);
            }
        }
        use std::collections::hash_map::Entry;
        match self.given.entry(self.key(system, id)) {
            Entry::Occupied(used) => Some(Some(*used.get())),
            Entry::Vacant(free) => {
                free.insert(here);
                None
            }
        }
    }

    /// Adds an id that is the number of its record. Returns where it was used before, if it was.
    fn add_number(&mut self, system: Option<&str>, number: u64) -> Option<First> {
        if !self.given.is_empty()
            && let Some(first) = self.given.get(&self.key(system, &number.to_string()))
        {
            return Some(*first);
        }
        let of = self.key(system, "")[0];
        match self.numbered.last_mut() {
            Some((_, end, same)) if *end == number && *same == of => *end += 1,
            _ => self.numbered.push((number, number + 1, of)),
        }
        None
    }

    /// The first id of the form `7#2` that is free.
    fn free_id(&mut self, system: Option<&str>, id: &str, here: First) -> String {
        let taken = self.key(system, id);
        let mut suffix = self.suffixes.get(&taken).copied().unwrap_or(1);
        loop {
            suffix += 1;
            let new = format!("{id}#{suffix}");
            if self.add(system, &new, here).is_none() {
                self.suffixes.insert(taken, suffix);
                return new;
            }
        }
    }
}

/// The number that an id is, if the id is how that number would be written.
fn canonical_number(id: &str) -> Option<u64> {
    let number: u64 = id.parse().ok()?;
    (number.to_string() == id).then_some(number)
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
struct Ready(u64);

impl Hasher for Ready {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0 ^= u64::from_ne_bytes(word);
        }
    }

    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: First = First { file: 0, line: 7 };

    #[test]
    fn an_id_is_taken_once_per_system() {
        let mut ids = Ids::default();
        assert!(ids.add(Some("a"), "1", HERE).is_none());
        assert!(ids.add(Some("b"), "1", HERE).is_none());
        assert!(ids.add(None, "1", HERE).is_none());
        assert_eq!(ids.add(Some("a"), "1", HERE).unwrap().unwrap().line, 7);
        assert_eq!(ids.free_id(Some("a"), "1", HERE), "1#2");
        assert_eq!(ids.free_id(Some("a"), "1", HERE), "1#3");
        assert_eq!(ids.free_id(None, "1", HERE), "1#2");
    }

    #[test]
    fn keys_of_similar_pairs_differ() {
        let ids = Ids::default();
        let texts = ["", "a", "aa", "\0", "\0\0", "abcdefgh", "abcdefgh\0", "abcdefghi"];
        let mut keys: Vec<[u64; 2]> = Vec::new();
        for id in texts {
            keys.push(ids.key(None, id));
            keys.extend(texts.map(|system| ids.key(Some(system), id)));
        }
        keys.extend((0..100_000).map(|number| ids.key(Some("atlas"), &format!("story-{number}"))));
        for half in [0, 1] {
            let mut halves: Vec<u64> = keys.iter().map(|key| key[half]).collect();
            halves.sort_unstable();
            halves.dedup();
            assert_eq!(halves.len(), keys.len());
        }
    }

    #[test]
    fn nobody_knows_the_hash_of_an_id_beforehand() {
        let [one, other] = [Ids::default(), Ids::default()].map(|ids| ids.key(Some("a"), "1"));
        assert!(one[0] != other[0] && one[1] != other[1] && one[0] != one[1]);
    }

    #[test]
    fn numbers_of_records_are_ids_too() {
        let mut ids = Ids::default();
        for number in 0..1000 {
            assert!(ids.add_number(None, number).is_none());
        }
        assert_eq!(ids.numbered.len(), 1);
        assert!(matches!(ids.add(None, "999", HERE), Some(None)));
        assert!(ids.add(None, "1000", HERE).is_none());
        assert!(ids.add(None, "0999", HERE).is_none());
        assert!(ids.add(Some("a"), "5", HERE).is_none());
        assert!(ids.add_number(None, 1000).is_some());
        assert!(ids.add_number(None, 1001).is_none());
    }
}
