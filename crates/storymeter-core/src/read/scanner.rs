//! Cuts the values of a stream of JSON, without looking into them.

use std::io::{self, BufRead, ErrorKind};
use std::path::{Path, PathBuf};

use super::lines::ENDLESS;
use super::shown::quoted;
use super::source::damage;

/// Why there is no next record.
pub(super) enum Fault {
    /// The operating system reported an error.
    System(io::Error),
    /// The content is wrong, and nothing after it can be read.
    Content(String),
}

pub(super) type Step<T> = Result<T, Fault>;

impl From<io::Error> for Fault {
    fn from(e: io::Error) -> Self {
        match damage(&e) {
            Some(damage) => Self::Content(damage.to_string()),
            None => Self::System(e),
        }
    }
}

pub(super) fn incomplete() -> Fault {
    Fault::Content("the JSON ends here too early: the file is incomplete".to_owned())
}

pub(super) fn unexpected(found: u8, expected: &str) -> Fault {
    let found = match found {
        b' '..=b'~' => quoted(&char::from(found).to_string()),
        _ => format!("byte {found}"),
    };
    Fault::Content(format!(
        "wrong JSON: {expected} is expected here, not {found}; nothing after it can be read"
    ))
}

/// Cuts values out of a stream of JSON, without looking into them.
pub(super) struct Scanner {
    input: Box<dyn BufRead + Send>,
    pub path: PathBuf,
    /// The 1-based line of the next byte.
    pub line: u64,
    /// Nothing was read yet, so a byte order mark may follow.
    at_start: bool,
}

impl Scanner {
    pub fn new(input: Box<dyn BufRead + Send>, path: &Path) -> Self {
        Self { input, path: path.to_owned(), line: 1, at_start: true }
    }

    fn available(&mut self) -> io::Result<&[u8]> {
        while let Err(e) = self.input.fill_buf() {
            if e.kind() != ErrorKind::Interrupted {
                return Err(e);
            }
        }
        self.input.fill_buf()
    }

    /// The next byte that is not white space; `None` at the end.
    pub fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let at_start = std::mem::take(&mut self.at_start);
            let bytes = self.available()?;
            let mark = if at_start && bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
            let blank = &bytes[mark..];
            let end = blank.iter().position(|b| !b.is_ascii_whitespace());
            let next = end.map(|end| blank[end]);
            let used = end.unwrap_or(blank.len());
            let lines = memchr::memchr_iter(b'\n', &blank[..used]).count() as u64;
            let (used, ended) = (used + mark, bytes.is_empty());
            self.input.consume(used);
            self.line += lines;
            if next.is_some() || ended {
                return Ok(next);
            }
        }
    }

    /// Passes over the byte that [`Scanner::peek`] showed.
    pub fn bump(&mut self) {
        self.input.consume(1);
    }

    /// The next key of an object and the colon after it; `None` at the end of the object.
    pub fn key(&mut self, first: bool) -> Step<Option<String>> {
        /// No field of a story has a longer name.
        const LONGEST: usize = 10_000;
        match self.peek()?.ok_or_else(incomplete)? {
            b'}' => {
                self.bump();
                return Ok(None);
            }
            b',' if !first => self.bump(),
            b'"' if first => {}
            other if first => return Err(unexpected(other, "a name in quotes or }")),
            other => return Err(unexpected(other, "a comma or }")),
        }
        match self.peek()?.ok_or_else(incomplete)? {
            b'"' => {}
            other => return Err(unexpected(other, "a name in quotes")),
        }
        let mut raw = Vec::new();
        if self.value(&mut raw, LONGEST)? > LONGEST {
            return Err(Fault::Content(format!("a name has more than {LONGEST} bytes")));
        }
        let name = serde_json::from_slice(&raw)
            .map_err(|e| Fault::Content(format!("a name is wrong: {}", super::described(&e))))?;
        match self.peek()?.ok_or_else(incomplete)? {
            b':' => self.bump(),
            other => return Err(unexpected(other, "a colon")),
        }
        Ok(Some(name))
    }

    /// Cuts out a value that begins at the next byte. Returns its length; of a longer value than
    /// `most`, only the length is kept.
    pub fn value(&mut self, value: &mut Vec<u8>, most: usize) -> Step<usize> {
        let mut end = ValueEnd::default();
        let mut length = 0usize;
        loop {
            let bytes = self.available()?;
            if bytes.is_empty() {
                return Err(incomplete());
            }
            let (used, is_over) = end.find(bytes);
            length = length.saturating_add(used);
            if length <= most {
                value.extend_from_slice(&bytes[..used]);
            } else {
                value.clear();
            }
            self.line += memchr::memchr_iter(b'\n', &bytes[..used]).count() as u64;
            self.input.consume(used);
            if is_over {
                break;
            }
            if most > 0 && length > most.saturating_mul(ENDLESS) {
                let problem = format!("a value has more than {length} bytes and does not end");
                return Err(Fault::Content(problem));
            }
        }
        if length == 0 {
            let next = self.peek()?.unwrap_or(b' ');
            return Err(unexpected(next, "a value"));
        }
        Ok(length)
    }
}

/// Finds the end of a value, which may come in several parts.
#[derive(Default)]
pub(super) struct ValueEnd {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl ValueEnd {
    /// How many of the bytes belong to the value, and whether it ends with them.
    pub fn find(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() {
            if self.escaped {
                self.escaped = false;
                at += 1;
            } else if self.in_string {
                let Some(next) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else { break };
                at += next + 1;
                if bytes[at - 1] == b'\\' {
                    self.escaped = true;
                    continue;
                }
                self.in_string = false;
                if self.depth == 0 {
                    return (at, true);
                }
            } else {
                match bytes[at] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    // The end of what a number or a word stands in.
                    b'}' | b']' | b',' | b':' if self.depth == 0 => return (at, true),
                    b if self.depth == 0 && b.is_ascii_whitespace() => return (at, true),
                    b'}' | b']' => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
        }
        (bytes.len(), false)
    }
}
