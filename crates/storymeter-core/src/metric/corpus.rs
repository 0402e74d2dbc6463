//! What a metric knows about a corpus, as bytes.

use std::io::{self, Read, Write};

/// Writes what a metric knows about a corpus. Numbers are little-endian.
pub struct CorpusWriter<'a>(&'a mut dyn Write);

impl<'a> CorpusWriter<'a> {
    /// Writes to this output.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self(out)
    }

    /// Writes a number.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn u32(&mut self, number: u32) -> io::Result<()> {
        self.0.write_all(&number.to_le_bytes())
    }

    /// Writes a number.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn u64(&mut self, number: u64) -> io::Result<()> {
        self.0.write_all(&number.to_le_bytes())
    }

    /// Writes all bits of a number.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn f64(&mut self, number: f64) -> io::Result<()> {
        self.u64(number.to_bits())
    }

    /// Writes a text after its length.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or the text has 4 GiB or more.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        self.u32(length)?;
        self.0.write_all(text.as_bytes())
    }
}

/// Reads what a [`CorpusWriter`] wrote. Whatever the bytes are, it takes no more memory than they
/// do.
///
/// ```
/// use storymeter_core::{CorpusReader, CorpusWriter};
/// let mut bytes = Vec::new();
/// let mut out = CorpusWriter::new(&mut bytes);
/// out.f64(0.5)?;
/// out.text("lamp")?;
/// let mut input = bytes.as_slice();
/// let mut input = CorpusReader::new(&mut input);
/// assert_eq!((input.f64()?, input.text()?), (0.5, "lamp".to_owned()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct CorpusReader<'a>(&'a mut dyn Read);

impl<'a> CorpusReader<'a> {
    /// Reads from this input.
    pub fn new(input: &'a mut dyn Read) -> Self {
        Self(input)
    }

    /// Reads a number.
    ///
    /// # Errors
    /// Returns an error if the input ends or cannot be read.
    pub fn u32(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.0.read_exact(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads a number.
    ///
    /// # Errors
    /// Returns an error if the input ends or cannot be read.
    pub fn u64(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a number.
    ///
    /// # Errors
    /// Returns an error if the input ends or cannot be read.
    pub fn f64(&mut self) -> io::Result<f64> {
        self.u64().map(f64::from_bits)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// Returns an error if the input ends, cannot be read, or is not UTF-8.
    pub fn text(&mut self) -> io::Result<String> {
        let length = u64::from(self.u32()?);
        let mut bytes = Vec::new();
        if (&mut *self.0).take(length).read_to_end(&mut bytes)? as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        String::from_utf8(bytes).map_err(|_| wrong("a text is not UTF-8"))
    }

    /// An error about what was read.
    pub fn wrong(problem: &str) -> io::Error {
        wrong(problem)
    }
}

fn wrong(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.to_owned())
}
