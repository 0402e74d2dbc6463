//! From what the user named to streams of bytes: files, folders, standard input, gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::{Format, writing_prompts};
use crate::{Error, Place, Result};

/// How much is looked at to find the format, and read at a time.
const START: usize = 1 << 16;

/// An opened input: its bytes, uncompressed, and the first of them to look at.
pub(super) struct Source {
    pub start: Vec<u8>,
    rest: Box<dyn BufRead + Send>,
}

impl Source {
    /// Opens a file, or standard input for `-`, which may have been put aside in a file.
    pub fn open(path: &Path, spooled_stdin: Option<&Path>) -> Result<Self> {
        let failed = |e| Error::io(Place::file(path), e);
        let file = if is_stdin(path) { spooled_stdin } else { Some(path) };
        let mut input: Box<dyn BufRead + Send> = match file {
            None => Box::new(BufReader::with_capacity(START, io::stdin())),
            Some(file) => Box::new(BufReader::with_capacity(START, File::open(file).map_err(failed)?)),
        };
        let magic = input.fill_buf().map_err(failed)?;
        if magic.starts_with(&[0x1f, 0x8b]) {
            input = Box::new(BufReader::with_capacity(START, MultiGzDecoder::new(input)));
        }
        let mut start = Vec::new();
        // Damaged compressed data are reported where the lines are counted, not here.
        let damaged = match input.by_ref().take(START as u64).read_to_end(&mut start) {
            Ok(_) => None,
            Err(e) if is_damage(&e) => Some(e),
            Err(e) => return Err(failed(e)),
        };
        if let Some(e) = damaged {
            input = Box::new(BufReader::new(Damaged(e.kind(), e.to_string())));
        }
        Ok(Self { start, rest: input })
    }

    /// All of it, from the first byte.
    pub fn into_stream(self) -> Box<dyn BufRead + Send> {
        Box::new(Cursor::new(self.start).chain(self.rest))
    }
}

/// Whether an error of the decoder speaks of the data, not of the system.
pub(super) fn is_damage(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
    )
}

/// A stream that only fails, with an error met earlier.
struct Damaged(io::ErrorKind, String);

impl Read for Damaged {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(self.0, self.1.clone()))
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The files behind what the user named, in order: a folder stands for the files in it that have the name of a
/// known format (any file where the format is given), sorted by name.
pub(super) fn expand(inputs: &[PathBuf], format: Option<Format>) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for input in inputs {
        if !is_stdin(input) && input.is_dir() {
            files.extend(files_of(input, format)?);
        } else {
            files.push(input.clone());
        }
    }
    Ok(writing_prompts::one_of_each_pair(files, format))
}

fn files_of(folder: &Path, format: Option<Format>) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::io(Place::file(folder), e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && path.is_file() && (format.is_some() || Format::is_recognised(&path)) {
            files.push(path);
        }
    }
    if files.is_empty() {
        let problem = "a folder without stories: no .jsonl, .csv, .tsv, .txt, .wp_source or .parquet file \
                       (or .gz of one) is in it";
        return Err(Error::invalid(Place::file(folder), problem));
    }
    files.sort();
    Ok(files)
}
