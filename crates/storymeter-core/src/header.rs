//! The header of a score file: what its columns are, in a JSON file beside it.

mod next;
mod texts;
mod totals;

pub(crate) use texts::is_zero;
pub use texts::{FlagCounts, SystemFlags, TextTotals};
pub use totals::{FileMark, MetricSums, MetricTotals, ShardMark, SystemTotals, Totals};

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file::{AtomicFile, Checksum, Hashed, uninterrupted};
use crate::read::described;
use crate::{Column, Error, Place, Result, Role, file};

/// What is known about a score file as a whole.
///
/// It stands in a file of its own: the full name of the score file plus `.meta.json`. It is
/// written last, so it is also the mark that the score file is complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of storymeter that wrote the file.
    pub storymeter: String,
    /// The number of rows of the score file.
    pub rows: u64,
    /// The number of bytes of the score file, so that a header is not taken for that of another
    /// file of the same name. Headers of older versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The SHA-256 sum of these bytes, in hexadecimal digits. Headers of older versions do not have
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The number of bad records that were skipped on the way.
    #[serde(default)]
    pub skipped: u64,
    /// The columns of the file, in its order. Human ratings are not listed here: the rows have
    /// them.
    pub columns: Vec<Column>,
    /// Counts and sums over all rows, from which score files are merged. Headers of older versions
    /// do not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
    /// Which part of a larger corpus the file is, where each file of a list was scored on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardMark>,
}

impl Header {
    /// The most bytes that a header may have: what is larger is neither written nor read. A header
    /// with the sums of 100,000 systems has 20 MB.
    pub const MOST_BYTES: u64 = 32 << 20;

    /// The header of a file with this number of rows and these columns.
    pub fn new(rows: u64, skipped: u64, columns: Vec<Column>) -> Self {
        Self {
            storymeter: env!("CARGO_PKG_VERSION").to_owned(),
            rows,
            bytes: None,
            sha256: None,
            skipped,
            columns,
            totals: None,
            shard: None,
        }
    }

    /// Where the header of a score file stands.
    ///
    /// ```
    /// use std::path::Path;
    /// use storymeter_core::Header;
    /// let header = Header::path_of(Path::new("out/scores.jsonl"));
    /// assert_eq!(header, Path::new("out/scores.jsonl.meta.json"));
    /// ```
    pub fn path_of(scores: &Path) -> PathBuf {
        let mut name = scores.as_os_str().to_owned();
        name.push(Self::ENDING);
        name.into()
    }

    /// How the names of headers end. No other file of this program is called so.
    pub const ENDING: &'static str = ".meta.json";

    /// The score file that a header stands beside; `None` if it is not the name of a header.
    pub fn file_of(header: &Path) -> Option<PathBuf> {
        let name = header.file_name()?.to_str()?.strip_suffix(Self::ENDING)?;
        (!name.is_empty()).then(|| header.with_file_name(name))
    }

    /// Reads the header of a score file; `None` if it has none.
    ///
    /// If a program was killed just after it had replaced the score file, this is the header that
    /// it was about to give its name ([`Header::commit`]).
    ///
    /// # Errors
    /// Returns an error if there is such a file but it cannot be read or is not a header.
    pub fn read(scores: &Path) -> Result<Option<Self>> {
        // In this order, so that a header that gets its name in between is found.
        match Self::read_next(scores) {
            Some(next) => Ok(Some(next)),
            None => Self::read_at(&Self::path_of(scores)),
        }
    }

    /// Reads a header of any name; `None` if there is no such file.
    fn read_at(path: &Path) -> Result<Option<Self>> {
        let size = match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            Ok(_) => return Ok(None),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(Place::file(path), e)),
        };
        if size > Self::MOST_BYTES {
            let problem = format!("not the header of a score file: {size} bytes are too many");
            return Err(Error::invalid(Place::file(path), problem));
        }
        let text = file::read(path, Self::MOST_BYTES)?;
        Self::parse(&text, &Place::file(path)).map(Some)
    }

    /// Whether a score file has the bytes that this header was written for. Headers of older
    /// versions know only how many there are, or nothing.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn belongs_to(&self, scores: &Path) -> Result<bool> {
        let failed = |e| Error::io(Place::file(scores), e);
        let Some(bytes) = self.bytes else { return Ok(true) };
        if scores.metadata().map_err(failed)?.len() != bytes {
            return Ok(false);
        }
        match &self.sha256 {
            Some(sum) => Ok(Checksum::of(scores)?.sha256 == *sum),
            None => Ok(true),
        }
    }

    /// Reads a header that stands at a place.
    pub(crate) fn parse(text: &[u8], place: &Place) -> Result<Self> {
        let header: Self = serde_json::from_slice(text).map_err(|e| {
            let place = place.clone().at_line(e.line() as u64);
            let problem = format!("not the header of a score file: {}", described(&e));
            Error::invalid(place, problem)
        })?;
        // The rows say which criteria there are. A second column of the same name and role would
        // make the table contradict itself.
        if let Some(column) = header.columns.iter().find(|column| column.role != Role::Metric) {
            let problem = format!("the column \"{}\" is not a metric", column.key);
            return Err(Error::invalid(place.clone().in_field("columns"), problem));
        }
        let mut keys = std::collections::HashSet::new();
        match header.columns.iter().find(|column| !keys.insert(column.key.as_str())) {
            Some(column) => {
                let problem = format!("duplicate column \"{}\"", column.key);
                Err(Error::invalid(place.clone().in_field("columns"), problem))
            }
            None => Ok(header),
        }
    }

    /// Gives a complete score file its name, and then its header, which knows its checksum.
    ///
    /// A reader finds a file and a header that belong together at any time, also if the program is
    /// killed in the middle: the older pair, as long as the score file is not replaced, and then
    /// the new one. For this moment the new header has a second name (`X.meta.new`), under which
    /// [`Header::read`] finds it. Where the file system has no hard links, the moment between two
    /// renames is not covered: the header that is left then belongs to the older file, and readers
    /// see that by the checksum.
    ///
    /// If two programs write the same file at once, they take turns. If the output is not an
    /// ordinary file (`/dev/null`, a pipe), no header is written.
    ///
    /// # Errors
    /// Returns an error if the file system refuses one of the steps.
    pub fn commit(&self, scores: Hashed<AtomicFile>) -> Result<()> {
        self.commit_with(scores, None).map(drop)
    }

    /// The same with a second file, which gets its name before the score file. Returns the header
    /// as it was written.
    ///
    /// # Errors
    /// Returns an error if the file system refuses one of the steps.
    pub fn commit_with(
        &self,
        scores: Hashed<AtomicFile>,
        beside: Option<AtomicFile>,
    ) -> Result<Self> {
        let (mut scores, Checksum { bytes, sha256 }) = scores.finish();
        let Some(data) = scores.replaces().map(Path::to_owned) else {
            scores.commit()?;
            return Ok(self.clone());
        };
        let header = Self { bytes: Some(bytes), sha256: Some(sha256), ..self.clone() };
        let file = header.prepare(&data)?;
        scores.sync()?;
        let beside = beside.map(|mut file| file.sync().map(|()| file)).transpose()?;
        let _turn = next::turn(&data);
        // Everything is on the disk, so that nothing but renames comes between the first name and
        // the last one.
        uninterrupted(|| {
            next::finish_interrupted(&data)?;
            let second = next::path_of(&data);
            let linked = file.link(&second);
            let forget = || {
                if linked {
                    fs::remove_file(&second).unwrap_or_default()
                }
            };
            let named = beside.map_or(Ok(()), AtomicFile::commit).and_then(|()| scores.commit());
            if named.is_err() {
                forget();
            }
            named?;
            file.commit()?;
            forget();
            Ok(header)
        })
    }

    /// Replaces the header of a score file that is complete and stays as it is.
    ///
    /// # Errors
    /// Returns an error if the file system refuses.
    pub fn replace(&self, scores: &Path) -> Result<()> {
        self.prepare(scores)?.commit()
    }

    /// Writes the header of a score file, which has no name yet, to the disk.
    fn prepare(&self, scores: &Path) -> Result<AtomicFile> {
        let path = Self::path_of(scores);
        let failed = |e: std::io::Error| Error::io(Place::file(&path), e);
        let mut text = serde_json::to_vec_pretty(self).map_err(|e| failed(e.into()))?;
        text.push(b'\n');
        if text.len() as u64 > Self::MOST_BYTES {
            let problem = format!(
                "the header would have {} bytes, and at most {} are read: there are too many columns",
                text.len(),
                Self::MOST_BYTES
            );
            return Err(Error::invalid(Place::file(&path), problem));
        }
        let mut file = AtomicFile::create(&path)?;
        file.write_all(&text).map_err(failed)?;
        file.sync()?;
        Ok(file)
    }
}
