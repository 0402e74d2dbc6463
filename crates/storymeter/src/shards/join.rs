//! Joins the scores of shards to one file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use storymeter_core::file::Hashed;
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::{ScoreFormat, ScoreLines, ScoreWriter};
use storymeter_core::{AtomicFile, Error, Header, Key, Place, file, read};

use super::{Merged, MergedShard, ShardError, rows_of};
use crate::{CompleteScores, Result, catalogue};

/// Writes the scores of all shards to one file, with its header: the file that one run over all
/// inputs would have written. It gets its name with
/// [`CompleteScores::commit`].
///
/// # Errors
/// Returns an error if the file would replace one of the shards or of their inputs, or be taken for
/// a shard itself; a shard has another format than the file; stories of several shards have no ids
/// of their own, so that one run would have numbered them in another way; or a file cannot be read
/// or written.
pub fn join(merged: &Merged, format: ScoreFormat, path: &Path) -> Result<CompleteScores> {
    for shard in &merged.shards {
        let problem = if ScoreFormat::of_name(&shard.output) != Some(format) {
            let ending = format.ending();
            format!("the scores are not {ending}, so they cannot be joined to {}", path.display())
        } else if merged.shards.len() > 1 && shard.numbered > 0 {
            format!(
                "{} stories have no id, so they are numbered within their file; one file of all \
                 scores needs ids that tell the stories apart",
                shard.numbered
            )
        } else if format == ScoreFormat::Parquet && shard.explained {
            "the file may have explanations, and such files of Parquet cannot be joined".to_owned()
        } else {
            continue;
        };
        return Err(not_joined(shard, problem));
    }
    refuse_replacing(merged, path)?;
    let folder = |path: &Path| path.parent().and_then(|folder| beside(folder).canonicalize().ok());
    let mut written_together = merged.shards.iter().filter(|shard| shard.input.is_some());
    if written_together.any(|shard| folder(&shard.header) == folder(path)) {
        let problem = "the folder has the shards, and this file would be taken for one of them; \
                       choose another folder";
        let file = path.to_owned();
        return Err(ShardError::NotJoined { file, problem: problem.to_owned() }.into());
    }
    let header = merged.run.header();
    let out = Hashed::new(AtomicFile::create(path)?);
    let mut file = if format.is_text() {
        lines(merged, format, out, path)?
    } else {
        rows(merged, &header, out, path)?
    };
    file.get_mut().sync()?;
    Ok(CompleteScores { file, header })
}

/// Refuses a file that would replace one of the shards, or a file of stories that one of them was
/// made from.
///
/// # Errors
/// Returns an error if it would.
pub fn refuse_replacing(merged: &Merged, path: &Path) -> Result<()> {
    let mut files: Vec<PathBuf> = Vec::new();
    for shard in &merged.shards {
        files.extend([shard.header.clone(), shard.output.clone(), rows_of(&shard.output)]);
        files.extend(shard.input.clone());
    }
    // Inputs may have been moved since, and other machines may have had them under other names.
    files.retain(|file| file.exists());
    let header = Header::path_of(path);
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    Ok(file::distinct(&[path, &header], &files)?)
}

/// A folder by a name that can be looked up: an empty one is the current folder.
fn beside(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

fn not_joined(shard: &MergedShard, problem: String) -> crate::Error {
    ShardError::NotJoined { file: shard.output.clone(), problem }.into()
}

fn keys(merged: &Merged) -> Vec<Key> {
    merged.run.metrics().columns().iter().map(|column| column.key.clone()).collect()
}

/// Copies lines of text as they are. Those of CSV have the names of the columns in each file.
fn lines(
    merged: &Merged,
    format: ScoreFormat,
    mut out: Hashed<AtomicFile>,
    path: &Path,
) -> Result<Hashed<AtomicFile>> {
    let keys = keys(merged);
    for (at, shard) in merged.shards.iter().enumerate() {
        let failed = |e| Error::io(Place::file(&shard.output), e);
        let mut input = File::open(&shard.output).map_err(failed)?;
        if format == ScoreFormat::Csv {
            let Some(names) = names_of(&mut input, &keys).map_err(failed)? else {
                let problem = "the first line does not have the names of the columns".to_owned();
                return Err(not_joined(shard, problem));
            };
            if at == 0 {
                io::Write::write_all(&mut out, &names)
                    .map_err(|e| Error::io(Place::file(path), e))?;
            }
        }
        io::copy(&mut input, &mut out).map_err(|e| Error::io(Place::file(path), e))?;
    }
    Ok(out)
}

/// Reads the names of the columns, which are marked for spreadsheets or not.
fn names_of(input: &mut File, keys: &[Key]) -> io::Result<Option<Vec<u8>>> {
    let mut read: Vec<u8> = Vec::new();
    let mut expected = Vec::new();
    for cells in [TextCells::Marked, TextCells::Raw] {
        let lines = ScoreLines::new(ScoreFormat::Csv, keys.to_vec()).text_cells(cells);
        let empty = Header::new(0, 0, Vec::new());
        expected.push(ScoreWriter::new(Vec::new(), &lines)?.finish(&empty)?);
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

/// Reads rows of Parquet and groups them anew. One shard is in memory at a time.
fn rows(
    merged: &Merged,
    header: &Header,
    out: Hashed<AtomicFile>,
    path: &Path,
) -> Result<Hashed<AtomicFile>> {
    let failed = |e| Error::io(Place::file(path), e);
    let lines = ScoreLines::new(ScoreFormat::Parquet, keys(merged));
    let mut writer = ScoreWriter::new(out, &lines).map_err(failed)?;
    for shard in &merged.shards {
        let table = read::scores(&shard.output, &catalogue())?;
        writer.write_table(&lines, &table).map_err(failed)?;
    }
    Ok(writer.finish(header).map_err(failed)?)
}
