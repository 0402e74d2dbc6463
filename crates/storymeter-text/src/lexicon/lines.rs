//! Reads the lines of a user's table, with limits, and keeps a hash of what was read.

use std::io::{BufRead, Read};

use super::LexiconError;

/// The most bytes of a line and of a table. Both are far above those of ConceptNet, whose antonyms
/// have a few megabytes. They keep a wrong name, such as `/dev/zero`, from taking all memory.
const MOST_OF_A_LINE: u64 = 1 << 20;
const MOST_OF_A_TABLE: u64 = 256 << 20;

/// The number of lines of a table that are not empty, and a hash of them (FNV-1a).
///
/// The hash tells two tables apart that were mixed up by mistake. It is no protection against
/// somebody who looks for two tables with the same hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digest {
    lines: u64,
    hash: u64,
}

impl Default for Digest {
    fn default() -> Self {
        Self { lines: 0, hash: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Digest {
    fn add(&mut self, line: &str) {
        self.lines += 1;
        self.mix(line.trim_end().as_bytes());
        self.mix(b"\n");
    }

    fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The digest of two tables, one after the other.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.lines += other.lines;
        self.mix(&other.hash.to_le_bytes());
        self
    }

    /// The digest with the name of what was read: `antonyms:35748:1a2b3c4d5e6f7a8b`.
    pub(super) fn name(self, what: &str) -> String {
        format!("{what}:{}:{:016x}", self.lines, self.hash)
    }
}

/// Calls `take` with every line that is not empty. A problem that it returns becomes an error that
/// names the line.
pub(super) fn for_each_line(
    mut reader: impl BufRead,
    place: &str,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<Digest, LexiconError> {
    let mut digest = Digest::default();
    let mut size = 0;
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = reader.by_ref().take(MOST_OF_A_LINE + 1).read_until(b'\n', &mut bytes);
        let failed = |source| LexiconError::Io { place: place.to_owned(), line, source };
        let wrong = |problem| LexiconError::Invalid { place: place.to_owned(), line, problem };
        if read.map_err(failed)? == 0 {
            break;
        }
        size += bytes.len() as u64;
        if bytes.len() as u64 > MOST_OF_A_LINE {
            return Err(wrong(format!("the line has more than {MOST_OF_A_LINE} bytes")));
        }
        if size > MOST_OF_A_TABLE {
            return Err(wrong(format!("the table has more than {MOST_OF_A_TABLE} bytes")));
        }
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| wrong("the line is not UTF-8 text".to_owned()))?;
        let text = text.trim_start_matches('\u{feff}');
        if !text.trim().is_empty() {
            digest.add(text);
            take(text).map_err(wrong)?;
        }
    }
    Ok(digest)
}
