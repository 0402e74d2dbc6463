//! The header of a score file: what its columns are, in a JSON file beside it.

mod totals;

pub use totals::{
    FileMark, MetricSums, MetricTotals, ShardMark, SystemTotals, Totals, UnlikeTotals,
};

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::file::{FolderLock, uninterrupted};
use crate::read::described;
use crate::{AtomicFile, Column, Error, Place, Result, Role, file};

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

/// How long one program waits until another has given its files their names.
const PATIENCE: Duration = Duration::from_secs(2);

/// Headers are small; a larger file is something else.
const MOST_BYTES: u64 = 16 << 20;

impl Header {
    /// The header of a file with this number of rows and these columns.
    pub fn new(rows: u64, skipped: u64, columns: Vec<Column>) -> Self {
        Self {
            storymeter: env!("CARGO_PKG_VERSION").to_owned(),
            rows,
            bytes: None,
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
    /// # Errors
    /// If there is such a file but it cannot be read or is not a header.
    pub fn read(scores: &Path) -> Result<Option<Self>> {
        let path = Self::path_of(scores);
        let size = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            Ok(_) => return Ok(None),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(Place::file(&path), e)),
        };
        if size > MOST_BYTES {
            let problem = format!("not the header of a score file: {size} bytes are too many");
            return Err(Error::invalid(Place::file(&path), problem));
        }
        let text = file::read(&path, MOST_BYTES)?;
        Self::parse(&text, &Place::file(&path)).map(Some)
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

    /// Gives a complete score file its name, and then writes its header beside it.
    ///
    /// A header that an earlier run left there is removed first, so that a crash between the two
    /// steps leaves a file without a header and never a file with a wrong one. If two programs
    /// write the same file at once, the header of one may end beside the file of the other; readers
    /// see that by the number of bytes. If the output is not an ordinary file (`/dev/null`, a
    /// pipe), no header is written.
    ///
    /// # Errors
    /// If the file system refuses one of the steps.
    pub fn commit(&self, scores: AtomicFile) -> Result<()> {
        self.commit_with(scores, None)
    }

    /// The same with a second file, which gets its name after the score file and before the header.
    ///
    /// # Errors
    /// If the file system refuses one of the steps.
    pub fn commit_with(&self, mut scores: AtomicFile, beside: Option<AtomicFile>) -> Result<()> {
        let Some(data) = scores.replaces().map(Path::to_owned) else { return scores.commit() };
        let header = Self { bytes: Some(scores.size()?), ..self.clone() };
        let mut file = header.prepare(&data)?;
        scores.sync()?;
        let beside = beside.map(|mut file| file.sync().map(|()| file)).transpose()?;
        // Two programs that write the same file take turns, so that each header belongs to its
        // file.
        let folder = data.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _turn = FolderLock::wait(folder.unwrap_or(Path::new(".")), PATIENCE);
        uninterrupted(|| {
            match file.replaces().map_or(Ok(()), fs::remove_file) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(Place::file(Self::path_of(&data)), e));
                }
                _ => scores.commit()?,
            }
            beside.map_or(Ok(()), AtomicFile::commit)?;
            file.sync()?;
            file.commit()
        })
    }

    /// Replaces the header of a score file that is complete and stays as it is.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn replace(&self, scores: &Path) -> Result<()> {
        self.prepare(scores)?.commit()
    }

    /// Writes the header of a score file, which has no name yet.
    fn prepare(&self, scores: &Path) -> Result<AtomicFile> {
        let path = Self::path_of(scores);
        let failed = |e: std::io::Error| Error::io(Place::file(&path), e);
        let mut file = AtomicFile::create(&path)?;
        serde_json::to_writer_pretty(&mut file, self).map_err(|e| failed(e.into()))?;
        file.write_all(b"\n").map_err(failed)?;
        file.sync()?;
        Ok(file)
    }
}
