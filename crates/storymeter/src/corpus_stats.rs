//! Files of corpus statistics: what metrics learn from a first pass over all stories.
//!
//! The file begins with a line that names its kind and version. Then come the number of stories and
//! one section per metric: its key, its signature before the first pass, and what it knows, in
//! blocks. A SHA-256 checksum of everything is at the end. The same stories give the same bytes.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use storymeter_core::{
    AtomicFile, CorpusReader, CorpusWriter, Error as InputError, Metric, MetricError, Place,
};
use storymeter_executor::MetricSet;

use crate::{Error, Result};

/// The first bytes. The number is the version of the format.
const MAGIC: &[u8] = b"storymeter corpus statistics 1\n";
/// What files of all versions begin with.
const KIND: &[u8] = b"storymeter corpus statistics ";

/// The bytes of a checksum.
const SUM: usize = 32;

/// The size of a block.
const BLOCK: usize = 1 << 16;

/// The largest number of sections, which is far above that of any run.
const MOST_SECTIONS: u32 = 10_000;

/// Writes what these metrics know after a first pass over this number of stories. `before` are the
/// same metrics before it.
pub(crate) fn write(
    path: &Path,
    before: &MetricSet,
    surveyed: &MetricSet,
    stories: u64,
) -> Result<()> {
    let failed = |e| Error::from(InputError::io(Place::file(path), e));
    let needs = |metric: &dyn Metric| metric.description().needs.corpus;
    let mut out = Summed { inner: AtomicFile::create(path)?, sum: Sha256::new() };
    let parts: Vec<_> =
        before.parts().zip(surveyed.parts()).filter(|(part, _)| needs(part.metric)).collect();
    let begun = out.write_all(MAGIC).and_then(|()| {
        let mut numbers = CorpusWriter::new(&mut out);
        numbers.u64(stories)?;
        numbers.u32(parts.len() as u32)
    });
    begun.map_err(failed)?;
    for (before, surveyed) in parts {
        let description = before.metric.description();
        let mut begin = || {
            let mut texts = CorpusWriter::new(&mut out);
            texts.text(&description.key)?;
            texts.text(&description.signature.to_string())
        };
        begin().map_err(failed)?;
        let mut blocks = Blocks { out: &mut out, block: Vec::with_capacity(BLOCK) };
        surveyed.metric.save_corpus(&mut CorpusWriter::new(&mut blocks)).map_err(|e| {
            if e.kind() == io::ErrorKind::Unsupported {
                MetricError::CorpusNotSaved { metric: description.key.clone() }.into()
            } else {
                failed(e)
            }
        })?;
        blocks.finish().map_err(failed)?;
    }
    let Summed { mut inner, sum } = out;
    inner.write_all(&sum.finalize()).map_err(failed)?;
    Ok(inner.commit()?)
}

/// The same metrics, of which those that need a corpus know that of a file.
pub(crate) fn read(path: &Path, metrics: MetricSet) -> Result<MetricSet> {
    check(path)?;
    let mut sections = Sections::open(path)?;
    let mut known: Vec<Section> = Vec::new();
    while let Some(section) = sections.next(&metrics)? {
        known.push(section);
    }
    metrics.with_corpus(|metric| {
        let description = metric.description();
        let (key, signature) = (&description.key, description.signature.to_string());
        let Some(at) = known.iter().position(|section| section.key == *key) else {
            return Err(Error::CorpusStatsLack {
                file: path.display().to_string(),
                metric: key.clone(),
                known: known.iter().map(|section| section.key.clone()).collect(),
            });
        };
        let section = &mut known[at];
        match section.restored.take() {
            Some(restored) => Ok((restored, section.fingerprint.clone())),
            None => Err(Error::CorpusStatsMismatch {
                file: path.display().to_string(),
                made_for: section.signature.clone(),
                asked: signature,
            }),
        }
    })
}

/// Checks the kind, the version and the checksum.
fn check(path: &Path) -> Result<()> {
    let place = || Place::file(path);
    let failed = |e| InputError::io(place(), e);
    let wrong = |problem: &str| Err(InputError::invalid(place(), problem).into());
    let file = File::open(path).map_err(failed)?;
    let there = file.metadata().map_err(failed)?;
    if !there.is_file() {
        return wrong("corpus statistics are kept in a file, and this is none");
    }
    let mut begin = Vec::new();
    (&file).take(MAGIC.len() as u64).read_to_end(&mut begin).map_err(failed)?;
    if begin != MAGIC {
        return wrong(match begin.starts_with(KIND) {
            true => "the corpus statistics were written by another version of storymeter",
            false => "this is not a file of corpus statistics",
        });
    }
    let Some(content) = there.len().checked_sub((MAGIC.len() + SUM) as u64) else {
        return wrong("the corpus statistics are incomplete");
    };
    let mut sum = Sha256::new();
    sum.update(MAGIC);
    let mut file = BufReader::with_capacity(BLOCK, file);
    let mut buffer = vec![0; BLOCK];
    let mut left = content;
    while left > 0 {
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = file.read(&mut buffer[..most]).map_err(failed)?;
        if read == 0 {
            return wrong("the corpus statistics are incomplete");
        }
        sum.update(&buffer[..read]);
        left -= read as u64;
    }
    let mut said = [0; SUM];
    file.read_exact(&mut said).map_err(failed)?;
    if sum.finalize()[..] != said {
        return wrong("the corpus statistics are damaged: their checksum does not fit");
    }
    Ok(())
}

/// What the file has for one metric.
struct Section {
    key: String,
    signature: String,
    fingerprint: String,
    /// The metric that knows it, if it is asked for and has the same signature.
    restored: Option<Box<dyn Metric>>,
}

/// The sections of a file.
struct Sections<'a> {
    path: &'a Path,
    file: BufReader<File>,
    left: u32,
}

impl<'a> Sections<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        let failed = |e| InputError::io(Place::file(path), e);
        let mut file = BufReader::with_capacity(BLOCK, File::open(path).map_err(failed)?);
        file.read_exact(&mut [0; MAGIC.len()]).map_err(failed)?;
        let mut sections = Self { path, file, left: 0 };
        let mut numbers = CorpusReader::new(&mut sections.file);
        let left = numbers.u64().and_then(|_| numbers.u32());
        sections.left = left.map_err(|e| sections.damaged(&e))?;
        if sections.left > MOST_SECTIONS {
            return Err(sections.damaged(&CorpusReader::wrong("too many sections")));
        }
        Ok(sections)
    }

    fn damaged(&self, e: &io::Error) -> Error {
        let problem = format!("the corpus statistics are damaged: {e}");
        InputError::invalid(Place::file(self.path), problem).into()
    }

    fn next(&mut self, metrics: &MetricSet) -> Result<Option<Section>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let mut texts = CorpusReader::new(&mut self.file);
        let names = texts.text().and_then(|key| Ok((key, texts.text()?)));
        let (key, signature) = names.map_err(|e| self.damaged(&e))?;
        let asked = metrics.parts().map(|part| part.metric).find(|metric| {
            let description = metric.description();
            description.key == key && description.signature.to_string() == signature
        });
        let mut state = State { file: &mut self.file, left: 0, ended: false, sum: Sha256::new() };
        let restored = asked.map(|metric| metric.with_corpus(&mut CorpusReader::new(&mut state)));
        let rest = match &restored {
            Some(Err(_)) => Ok(0),
            _ => io::copy(&mut state, &mut io::sink()),
        };
        let sum = std::mem::take(&mut state.sum).finalize();
        let fingerprint = sum.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let rest = rest.map_err(|e| self.damaged(&e))?;
        let restored = match restored {
            Some(Err(e)) if e.kind() == io::ErrorKind::Unsupported => {
                return Err(MetricError::CorpusNotSaved { metric: key }.into());
            }
            Some(Ok(_)) if rest > 0 => {
                return Err(self.damaged(&CorpusReader::wrong("a section is too long")));
            }
            restored => restored.transpose().map_err(|e| self.damaged(&e))?,
        };
        Ok(Some(Section { key, signature, fingerprint, restored }))
    }
}

/// An output whose bytes are summed.
struct Summed {
    inner: AtomicFile,
    sum: Sha256,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes what a metric knows in blocks, each after its length. The last one is empty.
struct Blocks<'a> {
    out: &'a mut Summed,
    block: Vec<u8>,
}

impl Blocks<'_> {
    fn end_block(&mut self) -> io::Result<()> {
        self.out.write_all(&(self.block.len() as u32).to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.end_block()
    }
}

impl Write for Blocks<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        if self.block.len() == BLOCK {
            self.end_block()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the blocks of one section.
struct State<'a> {
    file: &'a mut BufReader<File>,
    /// What is left of the block.
    left: usize,
    ended: bool,
    sum: Sha256,
}

impl Read for State<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.ended && !out.is_empty() {
            let mut length = [0; 4];
            self.file.read_exact(&mut length)?;
            self.left = u32::from_le_bytes(length) as usize;
            self.ended = self.left == 0;
        }
        let most = out.len().min(self.left);
        let read = self.file.read(&mut out[..most])?;
        if read == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.sum.update(&out[..read]);
        self.left -= read;
        Ok(read)
    }
}
