//! The files of METEOR's tables, in a folder or in the program's archive.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;
use storymeter_core::{Error, Place, file};

/// The largest table that is read. Real ones are far smaller.
const MOST_BYTES: u64 = 64 << 20;

/// Where the small tables are.
pub(crate) enum TableSource {
    /// A folder with the folders `function`, `nonbreaking` and `synonym`.
    Folder(PathBuf),
    /// `meteor-1.5.jar`, which is a ZIP archive.
    Jar(PathBuf),
}

impl TableSource {
    /// Reads a table, by its name in the archive.
    pub fn read(&self, name: &str) -> Result<String, Error> {
        match self {
            Self::Folder(folder) => file::read_text(&folder.join(name), MOST_BYTES),
            Self::Jar(jar) => read_member(jar, name).map_err(|error| failed(jar, name, &error)),
        }
    }

    /// The file that a table is in, which errors about its content name.
    pub fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(name),
            Self::Jar(jar) => jar.join(name),
        }
    }
}

/// The error of a table that could not be read.
pub(crate) fn failed(path: &Path, name: &str, error: &io::Error) -> Error {
    Error::invalid(Place::file(path), format!("METEOR's table \"{name}\": {error}"))
}

fn bad(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<usize> {
    let field = bytes.get(at..at + 2).ok_or_else(|| bad("the archive is damaged"))?;
    Ok(usize::from(u16::from_le_bytes([field[0], field[1]])))
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<usize> {
    Ok(u16_at(bytes, at)? | u16_at(bytes, at + 2)? << 16)
}

/// Reads a member of a ZIP archive, stored or deflated (PKWARE's APPNOTE 6.3, sections 4.3.7,
/// 4.3.12 and 4.3.16).
fn read_member(path: &Path, name: &str) -> io::Result<String> {
    const END: &[u8] = b"PK\x05\x06";
    const ENTRY: &[u8] = b"PK\x01\x02";
    let mut file = BufReader::new(File::open(path)?);
    // The end of the directory is within the last 64 KiB and 22 bytes.
    let length = file.seek(SeekFrom::End(0))?;
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(65_557)))?;
    file.read_to_end(&mut tail)?;
    let end = tail
        .windows(4)
        .rposition(|window| window == END)
        .ok_or_else(|| bad("the file is not a ZIP archive"))?;
    let mut directory = vec![0; u32_at(&tail, end + 12)?.min(length as usize)];
    file.seek(SeekFrom::Start(u32_at(&tail, end + 16)? as u64))?;
    file.read_exact(&mut directory)?;

    let mut at = 0;
    while directory.get(at..at + 4) == Some(ENTRY) {
        let name_length = u16_at(&directory, at + 28)?;
        if directory.get(at + 46..at + 46 + name_length) == Some(name.as_bytes()) {
            let (method, packed, start) = (
                u16_at(&directory, at + 10)?,
                u32_at(&directory, at + 20)?,
                u32_at(&directory, at + 42)?,
            );
            let mut header = [0; 30];
            file.seek(SeekFrom::Start(start as u64))?;
            file.read_exact(&mut header)?;
            file.seek_relative((u16_at(&header, 26)? + u16_at(&header, 28)?) as i64)?;
            let member = file.take(packed as u64);
            let unpacked: Box<dyn Read> = match method {
                0 => Box::new(member),
                8 => Box::new(DeflateDecoder::new(member)),
                _ => return Err(bad("it is packed by an unknown method")),
            };
            // A few kilobytes can unpack to any size.
            let mut text = String::new();
            unpacked.take(MOST_BYTES + 1).read_to_string(&mut text)?;
            return match text.len() as u64 > MOST_BYTES {
                true => Err(bad("it is larger than any table of METEOR")),
                false => Ok(text),
            };
        }
        at += 46 + name_length + u16_at(&directory, at + 30)? + u16_at(&directory, at + 32)?;
    }
    Err(bad("it is not in the archive"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// An archive with one deflated member.
    fn archive(name: &str, content: impl Iterator<Item = [u8; 4096]>) -> Vec<u8> {
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        content.for_each(|part| packed.write_all(&part).unwrap());
        let packed = packed.finish().unwrap();
        let (length, size) =
            ((name.len() as u16).to_le_bytes(), (packed.len() as u32).to_le_bytes());
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.resize(26, 0);
        bytes.extend_from_slice(&length);
        bytes.resize(30, 0);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(&packed);
        let start = bytes.len();
        bytes.extend_from_slice(b"PK\x01\x02");
        bytes.resize(start + 10, 0);
        bytes.push(8);
        bytes.resize(start + 20, 0);
        bytes.extend_from_slice(&size);
        bytes.resize(start + 28, 0);
        bytes.extend_from_slice(&length);
        bytes.resize(start + 46, 0);
        bytes.extend_from_slice(name.as_bytes());
        let end = bytes.len();
        bytes.extend_from_slice(b"PK\x05\x06");
        bytes.resize(end + 12, 0);
        bytes.extend_from_slice(&((end - start) as u32).to_le_bytes());
        bytes.extend_from_slice(&(start as u32).to_le_bytes());
        bytes.resize(end + 22, 0);
        bytes
    }

    fn read(bytes: &[u8], name: &str) -> Result<String, Error> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        TableSource::Jar(file.path().to_owned()).read(name)
    }

    #[test]
    fn a_member_that_unpacks_to_any_size_is_refused() {
        let small = archive("function/english.words", [[b'a'; 4096]].into_iter());
        assert_eq!(read(&small, "function/english.words").unwrap(), "a".repeat(4096));
        let bomb = archive("function/english.words", (0..17_000).map(|_| [b'a'; 4096]));
        assert!(bomb.len() < 200_000, "{}", bomb.len());
        let error = read(&bomb, "function/english.words").unwrap_err().to_string();
        assert!(error.ends_with("it is larger than any table of METEOR"), "{error}");
    }

    #[test]
    fn a_damaged_archive_is_an_error() {
        let whole = archive("a", [[b'a'; 4096]].into_iter());
        // The last two bytes are the length of a comment, which nobody needs.
        for length in 0..whole.len() - 2 {
            assert!(read(&whole[..length], "a").is_err(), "{length}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            // Some bytes do not matter; none makes the reader panic.
            let _ = read(&damaged, "a");
        }
    }
}
