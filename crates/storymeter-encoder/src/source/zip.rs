//! The list of files in a zip archive, as PyTorch writes it: nothing is compressed.
//!
//! The layout is that of PKWARE's APPNOTE 6.3.

use super::content::Content;
use crate::Result;
use crate::error::excerpt;

/// The most bytes of the list of files. A model of a thousand tensors needs 100 KB.
const LARGEST_LIST: u64 = 1 << 26;

const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";

/// One file of the archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// The first byte of its content in the archive.
    pub(super) start: u64,
    /// The number of bytes of its content.
    pub(super) length: u64,
}

/// Reads fields of fixed sizes one after the other.
struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, after) = self.bytes.split_at_checked(count)?;
        self.bytes = after;
        Some(taken)
    }

    /// A little-endian whole number of up to eight bytes.
    fn number(&mut self, size: usize) -> Option<u64> {
        let taken = self.take(size)?;
        Some(taken.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// The files of an archive.
///
/// # Errors
/// Returns an error if the archive is cut off or damaged, or if a file in it is compressed or
/// encrypted.
pub(super) fn entries(content: &Content<'_>) -> Result<Vec<Entry>> {
    let cut = || content.broken("this zip archive is cut off or damaged");
    let (count, size, start) = directory(content)?;
    if size > LARGEST_LIST {
        return Err(content.broken(format!("the list of the zip archive has {size} bytes")));
    }
    let list = content.read(start, size)?;
    let mut list = Fields { bytes: &list };
    let mut entries = Vec::new();
    for _ in 0..count {
        let entry = read_entry(&mut list).ok_or_else(cut)?;
        let name = excerpt(&entry.name);
        if entry.method != 0 || entry.flags & 1 != 0 {
            let problem = format!(
                "{name:?} in this zip archive is compressed or encrypted, which PyTorch never does"
            );
            return Err(content.broken(problem));
        }
        // The header before the content repeats the name, and may have other extra fields.
        let header = content.read(entry.header, 30)?;
        let mut fields = Fields { bytes: &header };
        if fields.take(4) != Some(&LOCAL) {
            return Err(cut());
        }
        let lengths = fields.take(22).and_then(|_| Some((fields.number(2)?, fields.number(2)?)));
        let (name_length, extra) = lengths.ok_or_else(cut)?;
        // No sum overflows: reading the header has shown that it lies within the file.
        let start = entry.header + 30 + name_length + extra;
        if start.checked_add(entry.length).is_none_or(|end| end > content.length()) {
            return Err(cut());
        }
        entries.push(Entry { name: entry.name, start, length: entry.length });
    }
    Ok(entries)
}

/// The number of entries, the size of their list and its place.
fn directory(content: &Content<'_>) -> Result<(u64, u64, u64)> {
    let cut = || content.broken("this zip archive is cut off or damaged");
    // The last record has 22 bytes and a comment of at most 65,535.
    let tail_start = content.length().saturating_sub(22 + 65_535);
    let tail = content.read(tail_start, content.length() - tail_start)?;
    let at = (0..tail.len().saturating_sub(21)).rev().find(|at| tail[*at..].starts_with(&END));
    let at = at.ok_or_else(cut)?;
    let mut fields = Fields { bytes: &tail[at + 4..] };
    let read = (|| {
        fields.take(6)?;
        Some((fields.number(2)?, fields.number(4)?, fields.number(4)?))
    })();
    let (count, size, start) = read.ok_or_else(cut)?;
    if count < 0xffff && size < 0xffff_ffff && start < 0xffff_ffff {
        return Ok((count, size, start));
    }
    // The numbers do not fit, so they are in the larger record, which the locator points to.
    let locator = at.checked_sub(20).map(|before| &tail[before..at]);
    let place = locator.filter(|locator| locator.starts_with(&LOCATOR_64)).and_then(|locator| {
        let mut fields = Fields { bytes: &locator[8..] };
        fields.number(8)
    });
    let record = content.read(place.ok_or_else(cut)?, 56)?;
    let mut fields = Fields { bytes: &record };
    if fields.take(4) != Some(&END_64) {
        return Err(cut());
    }
    let read = fields
        .take(28)
        .and_then(|_| Some((fields.number(8)?, fields.number(8)?, fields.number(8)?)));
    read.ok_or_else(cut)
}

/// One line of the list of files.
struct Listed {
    name: String,
    flags: u64,
    method: u64,
    length: u64,
    header: u64,
}

fn read_entry(list: &mut Fields<'_>) -> Option<Listed> {
    if list.take(4)? != ENTRY {
        return None;
    }
    list.take(4)?;
    let (flags, method) = (list.number(2)?, list.number(2)?);
    list.take(8)?;
    let (mut packed, mut length) = (list.number(4)?, list.number(4)?);
    let (name, extra, comment) = (list.number(2)?, list.number(2)?, list.number(2)?);
    list.take(8)?;
    let mut header = list.number(4)?;
    let name = String::from_utf8_lossy(list.take(name as usize)?).into_owned();
    let mut extra = Fields { bytes: list.take(extra as usize)? };
    list.take(comment as usize)?;
    while let (Some(id), Some(size)) = (extra.number(2), extra.number(2)) {
        let mut field = Fields { bytes: extra.take(size as usize)? };
        if id == 1 {
            // Only the numbers that did not fit are here, in this order.
            for number in [&mut length, &mut packed, &mut header] {
                if *number == 0xffff_ffff {
                    *number = field.number(8)?;
                }
            }
        }
    }
    Some(Listed { name, flags, method, length, header })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::path::Path;

    /// An archive of files that are stored as they are.
    pub(in crate::source) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        for (name, content) in files {
            let start = bytes.len() as u32;
            let sizes: Vec<u8> = [0, content.len() as u32, content.len() as u32]
                .iter()
                .flat_map(|n| n.to_le_bytes())
                .collect();
            bytes.extend(LOCAL);
            bytes.extend([0; 10]);
            bytes.extend(&sizes);
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend([3, 0]);
            bytes.extend(name.as_bytes());
            bytes.extend([0; 3]);
            bytes.extend(*content);
            list.extend(ENTRY);
            list.extend([0; 12]);
            list.extend(&sizes);
            list.extend((name.len() as u16).to_le_bytes());
            list.extend([0; 12]);
            list.extend(start.to_le_bytes());
            list.extend(name.as_bytes());
        }
        let (start, size) = (bytes.len() as u32, list.len() as u32);
        bytes.extend(list);
        bytes.extend(END);
        bytes.extend([0; 4]);
        bytes.extend((files.len() as u16).to_le_bytes());
        bytes.extend((files.len() as u16).to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(start.to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }

    fn list(bytes: Vec<u8>) -> Result<Vec<Entry>> {
        entries(&Content::from_bytes(Path::new("x"), bytes))
    }

    #[test]
    fn the_files_of_an_archive_are_found() {
        let bytes = archive(&[("a/b", b"123"), ("c", b"")]);
        let found = list(bytes.clone()).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].name.as_str(), found[0].length), ("a/b", 3));
        assert_eq!(&bytes[found[0].start as usize..][..3], b"123");
        assert_eq!((found[1].name.as_str(), found[1].length), ("c", 0));
    }

    #[test]
    fn a_cut_or_changed_archive_never_panics() {
        let bytes = archive(&[("a/b", b"123"), ("c", b"45")]);
        for length in 0..bytes.len() {
            assert!(list(bytes[..length].to_vec()).is_err(), "{length}");
        }
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] = 0xff;
            let _ = list(changed);
        }
    }

    #[test]
    fn a_compressed_file_is_refused() {
        let mut bytes = archive(&[("a", b"123")]);
        let at = bytes.windows(4).position(|window| window == ENTRY).unwrap();
        bytes[at + 10] = 8;
        let error = list(bytes).unwrap_err().to_string();
        assert!(error.contains("\"a\" in this zip archive is compressed"), "{error}");
    }
}
