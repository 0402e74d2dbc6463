//! Turns the inputs that a user names (files, folders, standard input) into streams of bytes, and
//! unpacks gzip and Zstandard, on a thread of their own if they are longer than [`START`] bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use super::ahead::Ahead;
use super::{Format, writing_prompts};
use crate::file::{Ending, FileName};
use crate::{Error, Place, Result, file};

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
    /// How the bytes were compressed, if they were.
    pub packed: Option<&'static str>,
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
        let packed = packing(input.fill_buf().map_err(failed)?);
        match packed {
            Some(GZIP) => {
                let unpacked = Gunzip(MultiGzDecoder::new(input));
                input = Box::new(BufReader::with_capacity(START, unpacked));
            }
            Some(_) => input = unpack_zstd(input, path)?,
            None => {}
        }
        let mut start = Vec::new();
        match input.by_ref().take(START as u64).read_to_end(&mut start) {
            Ok(START) if packed.is_some() => input = Box::new(Ahead::start(input, path)?),
            Ok(_) => {}
            // Damaged data are reported later, when it is known on which line they are.
            Err(e) => match damage(&e) {
                Some(damage) => input = Box::new(BufReader::new(Damaged(damage.clone()))),
                None => return Err(failed(e)),
            },
        }
        Ok(Self { start, remainder: input, file: None, packed })
    }

    /// Reads more of the beginning, up to so many bytes of it.
    pub fn look_further(&mut self, bytes: usize, path: &Path) -> Result<()> {
        let more = bytes.saturating_sub(self.start.len()) as u64;
        match self.remainder.by_ref().take(more).read_to_end(&mut self.start) {
            Ok(_) => Ok(()),
            Err(e) => match damage(&e) {
                // It is reported when the bytes before it were read.
                Some(damage) => {
                    self.remainder = Box::new(BufReader::new(Damaged(damage.clone())));
                    Ok(())
                }
                None => Err(Error::io(Place::file(path), e)),
            },
        }
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
    match start {
        [b'P', b'K', 3, 4, ..] => {
            return Some(
                "this is a ZIP archive or a document of an office program (.docx, .xlsx); save it \
                 as plain text (.txt) or CSV",
            );
        }
        [b'%', b'P', b'D', b'F', ..] => {
            return Some("this is a PDF document; save its text as plain text (.txt)");
        }
        _ => {}
    }
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

pub(super) const PARQUET_MAGIC: &[u8] = b"PAR1";

const GZIP: &str = "gzip";
const ZSTANDARD: &str = "Zstandard";

/// How bytes are compressed, from the first of them.
pub(super) fn packing(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x1f, 0x8b, ..] => Some(GZIP),
        // A frame, or a frame that is skipped, which some programs put first.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(ZSTANDARD),
        _ => None,
    }
}

/// Compressed data that are incomplete or damaged. This is bad content and can be skipped, unlike
/// an error of the operating system.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct Damage(String);

impl Damage {
    /// An error of a decoder, which is about the data or comes from the operating system.
    fn of(e: io::Error, packed: &str) -> io::Error {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        match e.kind() {
            UnexpectedEof => io::Error::other(Self(format!(
                "the {packed} data end here too early: the file is incomplete"
            ))),
            InvalidInput | InvalidData | Other if e.raw_os_error().is_none() => {
                io::Error::other(Self(format!("the {packed} data are damaged: {e}")))
            }
            _ => e,
        }
    }
}

/// The damage to the compressed data that an error of a [`Source`] reports, if it reports any.
pub(super) fn damage(e: &io::Error) -> Option<&Damage> {
    e.get_ref().and_then(|inner| inner.downcast_ref())
}

/// A decoder whose errors about the data are [`Damage`].
struct Gunzip<R: BufRead>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|e| Damage::of(e, GZIP))
    }
}

/// The base-2 logarithm of the largest window of Zstandard that is accepted: 128 MiB, which is what
/// the program zstd itself accepts. A file may ask for any window, and the memory for it is taken
/// before the first byte is unpacked.
#[cfg(feature = "zstd")]
pub(super) const LARGEST_WINDOW: u32 = 27;

/// A decoder whose errors about the data are [`Damage`]. Frames that follow each other are one
/// stream.
#[cfg(feature = "zstd")]
struct Unzstd<R: BufRead>(zstd::stream::read::Decoder<'static, R>);

#[cfg(feature = "zstd")]
impl<R: BufRead> Read for Unzstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|e| Damage::of(e, ZSTANDARD))
    }
}

#[cfg(feature = "zstd")]
fn unpack_zstd(input: Box<dyn BufRead + Send>, path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let failed = |e| Error::io(Place::file(path), e);
    let mut decoder = zstd::stream::read::Decoder::with_buffer(input).map_err(failed)?;
    decoder.window_log_max(LARGEST_WINDOW).map_err(failed)?;
    Ok(Box::new(BufReader::with_capacity(START, Unzstd(decoder))))
}

#[cfg(not(feature = "zstd"))]
fn unpack_zstd(_: Box<dyn BufRead + Send>, path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let problem = "this program was built without the feature `zstd`, so it cannot unpack \
                   Zstandard";
    Err(Error::invalid(Place::file(path), problem))
}

/// A stream that reports damage that was found earlier.
struct Damaged(Damage);

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
pub(super) fn size_of(inputs: &[Found], copies: &[(PathBuf, PathBuf)]) -> Option<u64> {
    let size = |found: &Found| {
        let known = std::fs::metadata(file_of(&found.path, copies)?).ok();
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

/// A file that is read, and the system that its folder names.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub path: PathBuf,
    /// The name of the folder, if it is the system of stories that name none.
    pub system: Option<String>,
    /// Whether that holds only for plain text, where nothing else can name the system.
    pub only_text: bool,
}

impl Found {
    /// A file that the user names.
    pub fn file(path: PathBuf) -> Self {
        Self { path, system: None, only_text: false }
    }
}

/// The files that the inputs stand for, in order.
///
/// A folder stands for the files in it whose names belong to a known format, or for all its files
/// if the format is given, sorted by name. If it has no such file but folders that have some, it
/// stands for theirs, and each of these folders is a system. A folder with both is an error. If
/// several folders of plain text are named, each is a system too.
pub(super) fn expand(inputs: &[PathBuf], format: Option<Format>) -> Result<Vec<Found>> {
    let is_folder = |input: &PathBuf| !is_stdin(input) && input.is_dir();
    let several = inputs.iter().filter(|input| is_folder(input)).count() > 1;
    let mut files = Vec::new();
    for input in inputs {
        if is_folder(input) {
            let mut found = files_of(input, format)?;
            if several {
                let name = input.file_name().map(|name| name.to_string_lossy().into_owned());
                for file in found.iter_mut().filter(|file| file.system.is_none()) {
                    (file.system, file.only_text) = (name.clone(), true);
                }
            }
            files.extend(found);
        } else {
            files.push(Found::file(input.clone()));
        }
    }
    Ok(writing_prompts::one_of_each_pair(files, format))
}

fn files_of(folder: &Path, format: Option<Format>) -> Result<Vec<Found>> {
    let (files, folders) = contents(folder, format)?;
    let unclear = |folder: &Path| {
        let problem = "the folder has files of stories of its own and folders with such files, so \
                       it is not clear which are meant; name the files or folders to read";
        Error::invalid(Place::file(folder), problem)
    };
    let mut of_systems = Vec::new();
    for system in &folders {
        let name = system.file_name().map(|name| name.to_string_lossy().into_owned());
        let (files, below) = contents(system, format)?;
        for deeper in if files.is_empty() { &[][..] } else { &below } {
            if !contents(deeper, format)?.0.is_empty() {
                return Err(unclear(system));
            }
        }
        of_systems.extend(files.into_iter().map(|path| Found {
            path,
            system: name.clone(),
            only_text: false,
        }));
    }
    if !files.is_empty() && !of_systems.is_empty() {
        return Err(unclear(folder));
    }
    if files.is_empty() && of_systems.is_empty() {
        let problem = "the folder has no file of stories: none ends in .jsonl, .json, .csv, .tsv, \
                       .txt, .md, .wp_source, .parquet or .eval (or one of these and .gz or .zst)";
        return Err(Error::invalid(Place::file(folder), problem));
    }
    if files.is_empty() {
        return Ok(of_systems);
    }
    Ok(files.into_iter().map(Found::file).collect())
}

/// Whether the name says that a file is plain text.
pub(super) fn is_text(path: &Path) -> bool {
    matches!(FileName::of(path).ending(), Some(Ending::Text | Ending::Markdown))
}

/// The files of stories and the folders in a folder, sorted by name.
fn contents(folder: &Path, format: Option<Format>) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let failed = |e| Error::io(Place::file(folder), e);
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for path in file::list(folder).map_err(failed)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            folders.push(path);
        } else if path.is_file()
            && (format.is_some()
                || (FileName::of(&path).ending().is_some() && !name.starts_with("readme.")))
        {
            files.push(path);
        }
    }
    // Notes in Markdown often stand beside data.
    if format.is_none() && !files.iter().all(|path| is_text(path)) {
        files.retain(|path| FileName::of(path).ending() != Some(Ending::Markdown));
    }
    // lm-evaluation-harness writes its scores beside the samples.
    let named = |path: &PathBuf, start: &str| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
    };
    if format.is_none() && files.iter().any(|path| named(path, "samples_")) {
        files.retain(|path| !named(path, "results_"));
    }
    files.sort();
    folders.sort();
    Ok((files, folders))
}
