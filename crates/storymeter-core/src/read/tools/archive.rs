//! Inspect's logs in the format `.eval`: a zip archive with one JSON document per sample, and one
//! with what all samples have in common.
//!
//! An archive is read from its end, so a stream is put aside in a temporary file first. One sample
//! is unpacked at a time, and never more of it than a record may have.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use rawzip::{CompressionMethod, FileReader, ZipArchive, ZipArchiveEntryWayfinder, ZipEntry};

use super::inspect::Log;
use crate::file::Temporary;
use crate::read::aside;
use crate::read::node::Node;
use crate::read::source::{ByteCount, Source};
use crate::{Error, Place, Result};

/// The first bytes of a zip archive.
pub(in crate::read) const MAGIC: &[u8] = b"PK\x03\x04";

/// The most samples of a log.
const MOST_PARTS: usize = 1_000_000;

/// Whether a file is a log, from its first bytes: the first part is the beginning of the journal.
pub(in crate::read) fn recognise(start: &[u8]) -> bool {
    start.starts_with(MAGIC) && start.get(30..).is_some_and(|name| name.starts_with(b"_journal/"))
}

/// The samples of a log.
pub(super) struct Archive {
    archive: ZipArchive<FileReader>,
    /// The samples that were not read yet, the last one first.
    samples: Vec<Part>,
    pub log: Log,
    /// The most bytes of a sample.
    max: usize,
    /// The number of the last sample.
    number: u64,
    count: ByteCount,
    /// The copy of a stream.
    _copy: Option<Temporary>,
}

/// A part of an archive.
struct Part {
    name: String,
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    size: u64,
}

impl Archive {
    /// Opens a log and finds its samples.
    pub fn open(source: Source, path: &Path, max: usize, count: &ByteCount) -> Result<Self> {
        let failed = |e| Error::io(Place::file(path), e);
        let invalid = |problem: String| Error::invalid(Place::file(path), problem);
        let (file, copy) = match source.file.clone().filter(|_| source.packed.is_none()) {
            Some(file) => (file, None),
            None => {
                let copy = aside::copy(source.into_stream(), path, u64::MAX, u64::MAX)?;
                (copy.path().to_owned(), Some(copy))
            }
        };
        let file = File::open(file).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut buffer = vec![0; rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let archive = ZipArchive::from_file(file, &mut buffer)
            .map_err(|e| invalid(format!("not a valid archive: {e}")))?;
        let (mut samples, mut heads, mut packed) = (Vec::new(), Vec::new(), 0u64);
        let mut entries = archive.entries(&mut buffer);
        while let Some(entry) =
            entries.next_entry().map_err(|e| invalid(format!("not a valid archive: {e}")))?
        {
            let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            let part = Part {
                place: entry.wayfinder(),
                method: entry.compression_method(),
                size: entry.compressed_size_hint(),
                name,
            };
            packed = packed.saturating_add(part.size);
            match part.name.as_str() {
                "header.json" => heads.insert(0, part),
                "_journal/start.json" => heads.push(part),
                name if name.starts_with("samples/") && name.ends_with(".json") => {
                    samples.push(part)
                }
                _ => {}
            }
            if samples.len() > MOST_PARTS {
                return Err(invalid(format!("the log has more than {MOST_PARTS} samples")));
            }
        }
        // In an honest archive no part lies in another one.
        if packed > length {
            return Err(invalid("the parts of the archive overlap".to_owned()));
        }
        let Some(head) = heads.first() else {
            let problem = "this archive is no log of Inspect: it has neither header.json nor \
                           _journal/start.json";
            return Err(invalid(problem.to_owned()));
        };
        let place = |name: &str| Place::file(path.join(name));
        let bytes = unpack(&archive, head, max).map_err(|problem| invalid(named(head, problem)))?;
        let text = super::super::utf8::utf8(bytes, &place(&head.name))?;
        let log = Node::root(&text, String::new())
            .map_err(|e| format!("wrong JSON: {}", super::super::described(&e)))
            .and_then(|node| Log::new(&node.needed("eval")?))
            .map_err(|problem| invalid(named(head, problem)))?;
        samples.reverse();
        let count = ByteCount::clone(count);
        Ok(Self { archive, samples, log, max, number: 0, count, _copy: copy })
    }

    /// The next sample: its number, its name, and its bytes or what is wrong with them.
    pub fn next(&mut self) -> Option<(u64, String, std::result::Result<Vec<u8>, String>)> {
        let part = self.samples.pop()?;
        self.number += 1;
        self.count.fetch_add(part.size, std::sync::atomic::Ordering::Relaxed);
        let bytes = unpack(&self.archive, &part, self.max);
        Some((self.number, part.name, bytes))
    }
}

fn named(part: &Part, problem: String) -> String {
    format!("{}: {problem}", part.name)
}

/// Unpacks a part, of which at most so many bytes are read.
fn unpack(
    archive: &ZipArchive<FileReader>,
    part: &Part,
    max: usize,
) -> std::result::Result<Vec<u8>, String> {
    let broken = |e: &dyn std::fmt::Display| format!("the part cannot be unpacked: {e}");
    let entry = archive.get_entry(part.place).map_err(|e| broken(&e))?;
    let mut bytes = Vec::new();
    let most = max as u64 + 1;
    let packed = BufReader::new(entry.reader());
    match part.method {
        CompressionMethod::STORE => take(&entry, packed, most, &mut bytes),
        CompressionMethod::DEFLATE => {
            take(&entry, flate2::bufread::DeflateDecoder::new(packed), most, &mut bytes)
        }
        CompressionMethod::ZSTD => {
            take(&entry, zstandard(packed).map_err(|e| broken(&e))?, most, &mut bytes)
        }
        other => {
            return Err(format!(
                "the part is compressed in a way that is not read ({}); Inspect uses Deflate or \
                 Zstandard",
                other.as_u16()
            ));
        }
    }
    .map_err(|e| broken(&e))?;
    match bytes.len() > max {
        true => Err(format!("the sample has more than {max} bytes")),
        false => Ok(bytes),
    }
}

/// Reads at most so many bytes. Length and checksum are compared at the end of the part.
fn take<R: Read>(
    entry: &ZipEntry<'_, FileReader>,
    unpacked: R,
    most: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<()> {
    entry.verifying_reader(unpacked).take(most).read_to_end(bytes).map(|_| ())
}

#[cfg(feature = "zstd")]
fn zstandard<'a, R: Read + 'a>(packed: BufReader<R>) -> io::Result<impl Read + 'a> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
    decoder.window_log_max(crate::read::source::LARGEST_WINDOW)?;
    Ok(decoder)
}

#[cfg(not(feature = "zstd"))]
fn zstandard<R: Read>(_: BufReader<R>) -> io::Result<io::Empty> {
    Err(io::Error::other("this program was built without the feature `zstd`"))
}
