//! Joins the scores of shards to one file.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::{Layout, ScoreLines};
use storymeter_core::{AtomicFile, Error, Header, Key, Place};

use super::{Merged, ShardError};
use crate::Result;

/// The scores of all shards in one file, which has no name yet.
pub struct Joined {
    file: AtomicFile,
    header: Header,
}

impl Joined {
    /// Gives the file its name, and writes its header beside it.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn commit(self) -> Result<()> {
        Ok(self.header.commit(self.file)?)
    }
}

/// Writes the scores of all shards to one file, with its header: the file that one run over all
/// inputs would have written. It gets its name with [`Joined::commit`].
///
/// # Errors
/// Where a shard has another layout than the file, stories of several shards have no ids of their
/// own, so that one run would have numbered them in another way, or a file cannot be read or
/// written.
pub fn join(merged: &Merged, layout: Layout, path: &Path) -> Result<Joined> {
    let ending = match layout {
        Layout::Jsonl => "jsonl",
        Layout::Csv => "csv",
    };
    for shard in &merged.shards {
        let own = shard.output.extension().map(|own| own.to_string_lossy().to_ascii_lowercase());
        let problem = if own.as_deref() != Some(ending) {
            format!("the scores are not {ending}, so they cannot be joined to {}", path.display())
        } else if merged.shards.len() > 1 && shard.numbered > 0 {
            format!(
                "{} stories have no id, so they are numbered within their file; one file of all \
                 scores needs ids that tell the stories apart",
                shard.numbered
            )
        } else {
            continue;
        };
        return Err(ShardError::NotJoined { file: shard.output.clone(), problem }.into());
    }
    let keys: Vec<Key> =
        merged.run.metrics().columns().iter().map(|column| column.key.clone()).collect();
    let mut out = AtomicFile::create(path)?;
    for (at, shard) in merged.shards.iter().enumerate() {
        let failed = |e| Error::io(Place::file(&shard.output), e);
        let mut input = File::open(&shard.output).map_err(failed)?;
        if layout == Layout::Csv {
            let names = names_of(&mut input, &keys).map_err(failed)?;
            let Some(names) = names else {
                let problem = "the first line does not have the names of the columns".to_owned();
                let file = shard.output.clone();
                return Err(ShardError::NotJoined { file, problem }.into());
            };
            if at == 0 {
                out.write_all(&names).map_err(|e| Error::io(Place::file(path), e))?;
            }
        }
        io::copy(&mut input, &mut out).map_err(|e| Error::io(Place::file(path), e))?;
    }
    out.sync()?;
    Ok(Joined { file: out, header: merged.run.header() })
}

/// Reads the names of the columns, which are marked for spreadsheets or not.
fn names_of(input: &mut File, keys: &[Key]) -> io::Result<Option<Vec<u8>>> {
    let mut read: Vec<u8> = Vec::new();
    let mut expected = Vec::new();
    for cells in [TextCells::Marked, TextCells::Raw] {
        let mut names = Vec::new();
        ScoreLines::new(Layout::Csv, keys.to_vec()).text_cells(cells).begin(&mut names)?;
        expected.push(names);
    }
    // The raw names are never longer.
    expected.sort_by_key(Vec::len);
    for names in expected {
        let more = names.len() - read.len();
        io::Read::take(&mut *input, more as u64).read_to_end(&mut read)?;
        if read == names {
            return Ok(Some(names));
        }
    }
    Ok(None)
}
