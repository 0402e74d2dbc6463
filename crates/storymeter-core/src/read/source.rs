//! Turns the inputs that a user names (files, folders, standard input) into streams of bytes, and
//! unpacks gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use super::{Format, writing_prompts};
use crate::{Error, Place, Result};

/// The number of bytes that the format is found from. It is also the size of the buffers.
const START: usize = 1 << 16;

/// An opened input, uncompressed.
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "only Parquet asks for the file"))]
pub(super) struct Source {
    /// The first bytes, from which the format is found.
    pub start: Vec<u8>,
    /// The bytes after those.
    remainder: Box<dyn BufRead + Send>,
    /// The file that the bytes come from and that can be read again, if there is one.
    pub file: Option<PathBuf>,
    /// Whether the bytes were compressed.
    pub unpacked: bool,
}

impl Source {
    /// Opens a file, or standard input for `-`, or the copy of either.
    pub fn open(path: &Path, copies: &[(PathBuf, PathBuf)]) -> Result<Self> {
        Self::open_counted(path, copies, &ByteCount::default())
    }

    /// Does the same. The bytes that are read from a file, compressed or not, are added to `count`.
    pub fn open_counted(
        path: &Path,
        copies: &[(PathBuf, PathBuf)],
        count: &ByteCount,
    ) -> Result<Self> {
        match file_of(path, copies) {
            None => Self::from_reader(path, Box::new(io::stdin())),
            Some(file) => {
                let opened = File::open(file).map_err(|e| Error::io(Place::file(path), e))?;
                let counted = Counted { input: opened, count: Arc::clone(count) };
                let source = Self::from_reader(path, Box::new(counted))?;
                Ok(Self { file: file.is_file().then(|| file.to_owned()), ..source })
            }
        }
    }

    /// Takes any stream. Errors show the path.
    pub fn from_reader(path: &Path, input: Box<dyn Read + Send>) -> Result<Self> {
        let failed = |e| Error::io(Place::file(path), e);
        let mut input: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(START, input));
        let unpacked = input.fill_buf().map_err(failed)?.starts_with(&GZIP_MAGIC);
        if unpacked {
            input = Box::new(BufReader::with_capacity(START, Gunzip(MultiGzDecoder::new(input))));
        }
        let mut start = Vec::new();
        match input.by_ref().take(START as u64).read_to_end(&mut start) {
            Ok(_) => {}
            // Damaged data are reported later, when it is known on which line they are.
            Err(e) => match damage(&e) {
                Some(damage) => input = Box::new(BufReader::new(Damaged(damage.clone()))),
                None => return Err(failed(e)),
            },
        }
        Ok(Self { start, remainder: input, file: None, unpacked })
    }

    /// Refuses text that is not UTF-8 as a whole, before it is taken for lines that are wrong.
    pub fn check_text(&self, path: &Path) -> Result<()> {
        match other_encoding(&self.start) {
            Some(problem) => Err(Error::invalid(Place::file(path), problem)),
            None => Ok(()),
        }
    }

    /// The whole input, from the first byte.
    pub fn into_stream(self) -> Box<dyn BufRead + Send> {
        Box::new(Cursor::new(self.start).chain(self.remainder))
    }
}

/// What the beginning of a file says against its being UTF-8 text.
///
/// In UTF-16, every second byte of an English text is NUL. UTF-8 text has no NUL at all.
fn other_encoding(start: &[u8]) -> Option<&'static str> {
    const UTF_16: &str = "this looks like UTF-16 text; save it as UTF-8";
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return Some(UTF_16);
    }
    let nul_at = |odd: usize| start.iter().skip(odd).step_by(2).filter(|&&b| b == 0).count();
    let (even, odd) = (nul_at(0), nul_at(1));
    if (even + odd) * 4 < start.len().max(1) {
        None
    } else if even.min(odd) * 8 <= even.max(odd) {
        Some(UTF_16)
    } else {
        Some("this is not text: many of its first bytes are NUL")
    }
}

pub(super) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(super) const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Compressed data that are incomplete or damaged. This is bad content and can be skipped, unlike
/// an error of the operating system.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct GzipDamage(String);

/// The damage to the compressed data that an error of a [`Source`] reports, if it reports any.
pub(super) fn damage(e: &io::Error) -> Option<&GzipDamage> {
    e.get_ref().and_then(|inner| inner.downcast_ref())
}

/// A decoder whose errors about the data are [`GzipDamage`].
struct Gunzip<R: BufRead>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        self.0.read(buffer).map_err(|e| match e.kind() {
            UnexpectedEof => io::Error::other(GzipDamage(
                "the gzip data end here too early: the file is incomplete".into(),
            )),
            InvalidInput | InvalidData => {
                io::Error::other(GzipDamage(format!("the gzip data are damaged: {e}")))
            }
            _ => e,
        })
    }
}

/// A stream that reports damage that was found earlier.
struct Damaged(GzipDamage);

impl Read for Damaged {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(self.0.clone()))
    }
}

/// The number of bytes that were read so far.
pub(super) type ByteCount = Arc<AtomicU64>;

/// A stream that counts its bytes.
struct Counted<R> {
    input: R,
    count: ByteCount,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The bytes of all inputs together, or `None` if one of them is not a file, so that nobody knows.
pub(super) fn size_of(inputs: &[PathBuf], copies: &[(PathBuf, PathBuf)]) -> Option<u64> {
    let size = |path: &PathBuf| {
        let known = std::fs::metadata(file_of(path, copies)?).ok();
        known.filter(std::fs::Metadata::is_file).map(|file| file.len())
    };
    inputs.iter().map(size).sum()
}

pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Where the bytes of an input are: in its copy, or in the file itself. Standard input without a
/// copy is in no file.
pub(super) fn file_of<'a>(path: &'a Path, copies: &'a [(PathBuf, PathBuf)]) -> Option<&'a Path> {
    match copies.iter().find(|(named, _)| named == path) {
        Some((_, copy)) => Some(copy),
        None => (!is_stdin(path)).then_some(path),
    }
}

/// The files that the inputs stand for, in order. A folder stands for the files in it whose names
/// belong to a known format, or for all its files if the format is given, sorted by name.
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
        let problem = "the folder has no file of stories: none ends in .jsonl, .csv, .tsv, .txt, \
                       .wp_source or .parquet (or one of these and .gz)";
        return Err(Error::invalid(Place::file(folder), problem));
    }
    files.sort();
    Ok(files)
}
