//! The files of METEOR's tables, in a folder or in the program's archive.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::DeflateDecoder;
use storymeter_core::{Error, Place};

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
        let (path, text) = match self {
            Self::Folder(folder) => (folder.join(name), std::fs::read_to_string(folder.join(name))),
            Self::Jar(jar) => (jar.clone(), read_member(jar, name)),
        };
        text.map_err(|error| failed(&path, name, &error))
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
            let mut text = String::new();
            match method {
                0 => BufReader::new(member).read_to_string(&mut text)?,
                8 => DeflateDecoder::new(member).read_to_string(&mut text)?,
                _ => return Err(bad("it is packed by an unknown method")),
            };
            return Ok(text);
        }
        at += 46 + name_length + u16_at(&directory, at + 30)? + u16_at(&directory, at + 32)?;
    }
    Err(bad("it is not in the archive"))
}
