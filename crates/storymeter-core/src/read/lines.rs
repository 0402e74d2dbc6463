//! Cuts a stream into numbered lines of bytes. All text layouts are read from these.

use std::io::{BufRead, ErrorKind};
use std::path::{Path, PathBuf};

use super::source::damage;
use crate::{Error, Place, Result};

/// A line, or the reason why it cannot be read.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// The bytes without the end of the line (`\n` or `\r\n`).
    Text(Vec<u8>),
    /// What is wrong with the line. The reader goes on with the next one.
    Broken(String),
}

/// Cuts a stream into lines of bounded length. A byte order mark at the start is dropped.
pub(super) struct LineReader {
    input: Box<dyn BufRead + Send>,
    path: PathBuf,
    /// The number of lines given so far, which is the 1-based number of the last one.
    number: u64,
    max: usize,
    ended: bool,
}

/// A line that is this many times as long as the longest that is read is not skipped like others
/// that are too long. It probably never ends, as in a device or in compressed data that were made
/// to unpack to far more than their size.
pub(super) const ENDLESS: usize = 64;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl LineReader {
    pub fn new(input: Box<dyn BufRead + Send>, path: &Path, max: usize) -> Self {
        Self { input, path: path.to_owned(), number: 0, max, ended: false }
    }

    /// The 1-based number of the last line that was given.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The largest number of bytes that a line, or a record of several lines, may have.
    pub fn max(&self) -> usize {
        self.max
    }

    /// The next line; `None` at the end of the input.
    pub fn next(&mut self) -> Result<Option<Line>> {
        if self.ended {
            return Ok(None);
        }
        self.number += 1;
        let mut line = Vec::new();
        let mut length = 0usize;
        loop {
            let available = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return self.failed(e),
            };
            if available.is_empty() {
                self.ended = true;
                if length == 0 {
                    self.number -= 1;
                    return Ok(None);
                }
                break;
            }
            let newline = memchr::memchr(b'\n', available);
            let part = &available[..newline.unwrap_or(available.len())];
            length = length.saturating_add(part.len());
            if length <= self.max {
                line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.input.consume(used);
            if length > self.max.saturating_mul(ENDLESS) {
                self.ended = true;
                let problem = format!("the line has more than {length} bytes and does not end");
                return Err(Error::invalid(Place::file(&self.path).at_line(self.number), problem));
            }
            if newline.is_some() {
                break;
            }
        }
        if length > self.max {
            let max = self.max;
            return Ok(Some(Line::Broken(format!(
                "the line has {length} bytes, but at most {max} are read"
            ))));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if self.number == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Some(Line::Text(line)))
    }

    /// Ends the input. Damaged compressed data make a bad record, which can be skipped. Any other
    /// error comes from the operating system and cannot.
    fn failed(&mut self, e: std::io::Error) -> Result<Option<Line>> {
        self.ended = true;
        match damage(&e) {
            Some(damage) => Ok(Some(Line::Broken(damage.to_string()))),
            None => Err(Error::io(Place::file(&self.path).at_line(self.number), e)),
        }
    }
}

/// Whether a line is only white space.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &'static [u8], max: usize) -> Vec<(u64, Line)> {
        let mut reader = LineReader::new(Box::new(bytes), Path::new("t"), max);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().unwrap() {
            lines.push((reader.number(), line));
        }
        lines
    }

    fn text(s: &str) -> Line {
        Line::Text(s.as_bytes().to_vec())
    }

    #[test]
    fn line_ends_and_the_byte_order_mark_are_not_part_of_a_line() {
        assert_eq!(
            all(b"\xEF\xBB\xBFa\r\nb\n\nc", 9),
            [(1, text("a")), (2, text("b")), (3, text("")), (4, text("c"))]
        );
        assert_eq!(all(b"", 9), []);
        assert_eq!(all(b"a\n", 9), [(1, text("a"))]);
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_the_next_one_read() {
        let lines = all(b"abc\nabcdef\nab\n", 3);
        assert_eq!(lines[0], (1, text("abc")));
        let problem = "the line has 6 bytes, but at most 3 are read";
        assert_eq!(lines[1], (2, Line::Broken(problem.into())));
        assert_eq!(lines[2], (3, text("ab")));
    }

    #[test]
    fn a_line_that_does_not_end_is_not_read_for_ever() {
        let endless = std::io::BufReader::new(std::io::repeat(b'a'));
        let mut reader = LineReader::new(Box::new(endless), Path::new("t"), 1000);
        let error = reader.next().unwrap_err().to_string();
        assert!(error.starts_with("t:1: the line has more than ") && error.len() < 80, "{error}");
        assert_eq!(reader.next().unwrap(), None);
    }
}
