//! The bytes of one file of weights, of which parts are read when they are asked for.

use crate::error::excerpt;
use crate::parameters::Tensor;
use crate::{Error, Result};
use half::{bf16, f16};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The most bytes of one file of weights. Larger models are cut into several files.
const LARGEST_FILE: u64 = 1 << 36;

/// A file of weights, or its bytes in memory.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    path: PathBuf,
    length: u64,
    place: Place<'a>,
}

#[derive(Debug)]
enum Place<'a> {
    File(Mutex<File>),
    Memory(Cow<'a, [u8]>),
}

impl<'a> Content<'a> {
    /// Opens an ordinary file. A device or a pipe is refused, because it may have no end.
    pub(crate) fn open(path: &Path) -> Result<Content<'a>> {
        let failed = |source| Error::reading(path, source);
        // This is asked before the file is opened, because opening a pipe waits for its writer.
        let there = path.metadata().map_err(failed)?;
        if !there.is_file() {
            let what = if there.is_dir() { "a folder" } else { "a device or a pipe" };
            return Err(failed(io::Error::other(format!("this is {what}, not an ordinary file"))));
        }
        if there.len() > LARGEST_FILE {
            let problem = format!("the file has more than {LARGEST_FILE} bytes");
            return Err(failed(io::Error::new(io::ErrorKind::InvalidData, problem)));
        }
        let file = File::open(path).map_err(failed)?;
        let place = Place::File(Mutex::new(file));
        Ok(Content { path: path.into(), length: there.len(), place })
    }

    /// The content of a file that is in memory. Errors name `path`.
    pub(crate) fn from_bytes(path: &Path, bytes: impl Into<Cow<'a, [u8]>>) -> Content<'a> {
        let bytes = bytes.into();
        Content { path: path.into(), length: bytes.len() as u64, place: Place::Memory(bytes) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The error that the file as a whole is broken.
    pub(crate) fn broken(&self, problem: impl Into<String>) -> Error {
        Error::Weights { path: self.path.clone(), problem: problem.into() }
    }

    /// The error that one tensor is broken.
    pub(crate) fn tensor_error(&self, name: &str, problem: impl Into<String>) -> Error {
        Error::Tensor { path: self.path.clone(), name: excerpt(name), problem: problem.into() }
    }

    /// A tensor with these numbers, all of which must be finite.
    pub(crate) fn tensor(&self, name: &str, shape: Vec<usize>, data: Vec<f32>) -> Result<Tensor> {
        if let Some(place) = data.iter().position(|v| !v.is_finite()) {
            let count = data.iter().filter(|v| !v.is_finite()).count();
            let problem = format!(
                "{count} of {} numbers are not finite, first {} at {place}",
                data.len(),
                data[place]
            );
            return Err(self.tensor_error(name, problem));
        }
        Ok(Tensor { name: name.into(), shape, data })
    }

    /// Reads `length` bytes from `offset` on. Nothing is allocated for bytes that are not there.
    pub(crate) fn read(&self, offset: u64, length: u64) -> Result<Cow<'_, [u8]>> {
        let end = offset.checked_add(length).filter(|end| *end <= self.length);
        let Some(end) = end else {
            let problem = format!(
                "{length} bytes at {offset} are asked for, but the file has {} bytes",
                self.length
            );
            return Err(self.broken(problem));
        };
        match &self.place {
            Place::Memory(bytes) => Ok(bytes[offset as usize..end as usize].into()),
            Place::File(file) => {
                let failed = |source: io::Error| Error::Io { path: self.path.clone(), source };
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(length as usize).map_err(|e| failed(e.into()))?;
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(offset)).map_err(failed)?;
                Read::by_ref(&mut *file).take(length).read_to_end(&mut bytes).map_err(failed)?;
                if bytes.len() as u64 != length {
                    return Err(self.broken("the file became shorter while it was read"));
                }
                Ok(bytes.into())
            }
        }
    }

    /// Reads the file from its beginning.
    pub(crate) fn reader(&self) -> impl Read {
        io::BufReader::with_capacity(1 << 20, Reader { content: self, at: 0 })
    }

    /// Adds the whole file to a checksum.
    pub(crate) fn add_to(&self, sum: &mut Sha256) -> Result<()> {
        const STEP: u64 = 1 << 22;
        let mut at = 0;
        while at < self.length {
            let length = STEP.min(self.length - at);
            sum.update(self.read(at, length)?);
            at += length;
        }
        Ok(())
    }
}

/// Reads a file from its beginning.
struct Reader<'a> {
    content: &'a Content<'a>,
    at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (self.content.length - self.at).min(buffer.len() as u64);
        let bytes = self.content.read(self.at, count).map_err(io::Error::other)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.at += count;
        Ok(bytes.len())
    }
}

/// The first eight hexadecimal digits of the SHA-256 of a file.
pub(crate) fn fingerprint(file: &Content<'_>) -> Result<String> {
    let mut sum = Sha256::new();
    file.add_to(&mut sum)?;
    Ok(digits(sum))
}

/// The first eight hexadecimal digits of a checksum.
pub(crate) fn digits(sum: Sha256) -> String {
    sum.finalize()[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The types of numbers that weights are stored in without blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    F64,
    F32,
    F16,
    Bf16,
}

impl Number {
    /// The bytes of one number.
    pub(crate) fn size(self) -> usize {
        match self {
            Number::F64 => 8,
            Number::F32 => 4,
            Number::F16 | Number::Bf16 => 2,
        }
    }

    /// The numbers that `bytes` hold, in little-endian order.
    pub(crate) fn decode(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Number::F64 => {
                bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b) as f32).collect()
            }
            Number::F32 => bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
            Number::F16 => {
                bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32()).collect()
            }
            Number::Bf16 => {
                bytes.as_chunks().0.iter().map(|b| bf16::from_le_bytes(*b).to_f32()).collect()
            }
        }
    }
}

/// The number of elements of a shape, or `None` if it does not fit 48 bits.
pub(crate) fn elements(shape: &[usize]) -> Option<u64> {
    let product = shape.iter().try_fold(1u64, |product, n| product.checked_mul(*n as u64));
    product.filter(|count| *count < 1 << 48)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_there_are_an_error() {
        let content = Content::from_bytes(Path::new("x"), vec![1, 2, 3]);
        assert_eq!(content.read(1, 2).unwrap()[..], [2, 3]);
        assert_eq!(
            content.read(1, u64::MAX).unwrap_err().to_string(),
            "x: these weights cannot be read: 18446744073709551615 bytes at 1 are asked for, but \
             the file has 3 bytes"
        );
    }

    #[test]
    fn the_fingerprint_is_the_beginning_of_the_sha_256() {
        // printf abc | sha256sum
        let file = Content::from_bytes(Path::new("x"), &b"abc"[..]);
        assert_eq!(fingerprint(&file).unwrap(), "ba7816bf");
    }

    #[test]
    fn a_file_and_its_bytes_are_the_same_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, b"0123456789").unwrap();
        let content = Content::open(&path).unwrap();
        assert_eq!(content.read(3, 4).unwrap()[..], b"3456"[..]);
        assert_eq!(content.read(0, 1).unwrap()[..], b"0"[..]);
        assert_eq!(content.length(), 10);
        assert!(Content::open(folder.path()).unwrap_err().to_string().contains("is a folder"));
    }

    #[test]
    fn numbers_of_every_type_are_read() {
        assert_eq!(Number::F64.decode(&(-1.5f64).to_le_bytes()), [-1.5]);
        assert_eq!(Number::F32.decode(&(-1.5f32).to_le_bytes()), [-1.5]);
        assert_eq!(Number::F16.decode(&f16::from_f32(-1.5).to_le_bytes()), [-1.5]);
        assert_eq!(Number::Bf16.decode(&bf16::from_f32(-1.5).to_le_bytes()), [-1.5]);
        assert_eq!(elements(&[2, 3]), Some(6));
        assert_eq!(elements(&[1 << 40, 1 << 40]), None);
    }
}
