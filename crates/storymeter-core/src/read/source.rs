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
        let file = if is_stdin(path) { spooled_stdin } else { Some(path) };
        match file {
            None => Self::from_reader(path, Box::new(io::stdin())),
            Some(file) => {
                let file = File::open(file).map_err(|e| Error::io(Place::file(path), e))?;
                Self::from_reader(path, Box::new(file))
            }
        }
    }

    /// Takes any stream; the path is its name in errors.
    pub fn from_reader(path: &Path, input: Box<dyn Read + Send>) -> Result<Self> {
        let failed = |e| Error::io(Place::file(path), e);
        let mut input: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(START, input));
        if input.fill_buf().map_err(failed)?.starts_with(&GZIP_MAGIC) {
            input = Box::new(BufReader::with_capacity(START, Gunzip(MultiGzDecoder::new(input))));
        }
        let mut start = Vec::new();
        match input.by_ref().take(START as u64).read_to_end(&mut start) {
            Ok(_) => {}
            // Damaged data are reported where the lines are counted, not here.
            Err(e) => match damage(&e) {
                Some(damage) => input = Box::new(BufReader::new(Damaged(damage.clone()))),
                None => return Err(failed(e)),
            },
        }
        Ok(Self { start, rest: input })
    }

    /// All of it, from the first byte.
    pub fn into_stream(self) -> Box<dyn BufRead + Send> {
        Box::new(Cursor::new(self.start).chain(self.rest))
    }
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Compressed data that are not whole: bad content, not the system's refusal.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct GzipDamage(String);

/// What an error of a [`Source`] says of the compressed data, if it speaks of them.
pub(super) fn damage(e: &io::Error) -> Option<&GzipDamage> {
    e.get_ref().and_then(|inner| inner.downcast_ref())
}

/// The decoder, its complaints about the data told from other errors.
struct Gunzip<R: BufRead>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        self.0.read(buffer).map_err(|e| match e.kind() {
            UnexpectedEof => io::Error::other(GzipDamage(
                "the gzip data are cut off here: the file is incomplete".into(),
            )),
            InvalidInput | InvalidData => {
                io::Error::other(GzipDamage(format!("the gzip data are damaged: {e}")))
            }
            _ => e,
        })
    }
}

/// A stream that only fails, with a complaint made earlier.
struct Damaged(GzipDamage);

impl Read for Damaged {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(self.0.clone()))
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
