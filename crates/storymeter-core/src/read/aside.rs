//! Puts inputs aside that can be read only once, so that they can be read again.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use super::ReadOptions;
use super::source::{self, PARQUET_MAGIC};
use super::tools::ARCHIVE_MAGIC;
use crate::file::Temporary;
use crate::{Error, Place, Result};

/// The most that is taken from a device that is not a terminal. Devices such as `/dev/zero` never
/// end, and no corpus is kept in one.
const MOST_OF_A_DEVICE: u64 = 64 << 20;

/// Copies an input that can be read only once to a temporary file: standard input (`-`), a pipe, or
/// a device. The caller keeps the file while it is needed, and names it in
/// [`ReadOptions::copies`].
///
/// Returns `None` for a file or a folder, which can be read again, and for a name that does not
/// exist, which is an error when it is opened.
///
/// # Errors
/// Returns an error if the input cannot be read or copied, if it is a device without an end, or if
/// one of its lines is longer than [`ReadOptions::max_line`], because it may never end either.
/// Compressed data and Parquet have no lines.
pub fn put_aside(path: &Path, options: &ReadOptions) -> Result<Option<Temporary>> {
    let failed = |e| Error::io(Place::file(path), e);
    let file = if source::is_stdin(path) {
        standard_input().map_err(failed)?
    } else {
        match fs::metadata(path) {
            Ok(there) if !there.is_file() && !there.is_dir() => File::open(path).map_err(failed)?,
            _ => return Ok(None),
        }
    };
    let most = if is_endless(&file) { MOST_OF_A_DEVICE } else { u64::MAX };
    copy(file, path, most, options.max_line as u64).map(Some)
}

/// Standard input, as a file of its own.
#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn standard_input() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// Whether a file is a device that may have no end. A terminal ends when the user says so.
fn is_endless(file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let there = file.metadata();
        there.is_ok_and(|there| there.file_type().is_char_device()) && !file.is_terminal()
    }
    #[cfg(not(unix))]
    {
        let _ = (file, file.is_terminal());
        false
    }
}

/// Copies a stream to a temporary file.
pub(super) fn copy(
    mut input: impl Read,
    path: &Path,
    most: u64,
    max_line: u64,
) -> Result<Temporary> {
    let folder = std::env::temp_dir();
    let mut copy = Temporary::file_in(&folder)?;
    let mut buffer = vec![0; 1 << 16];
    // The bytes so far, the lines that ended, and the bytes of the line that did not.
    let (mut total, mut lines, mut open) = (0u64, 0u64, 0u64);
    let mut has_lines = true;
    loop {
        let bytes = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => &buffer[..count],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Error::io(Place::file(path), e)),
        };
        if total == 0 {
            has_lines = source::packing(bytes).is_none()
                && !bytes.starts_with(PARQUET_MAGIC)
                && !bytes.starts_with(ARCHIVE_MAGIC);
        }
        total += bytes.len() as u64;
        lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        open = match memchr::memrchr(b'\n', bytes) {
            Some(end) => (bytes.len() - end - 1) as u64,
            None => open + bytes.len() as u64,
        };
        if total > most {
            let problem = format!(
                "this is a device and has more than {most} bytes; name a file or a pipe that ends"
            );
            return Err(Error::invalid(Place::file(path), problem));
        }
        if has_lines && open > max_line {
            let problem = format!("the line has more than {max_line} bytes");
            return Err(Error::invalid(Place::file(path).at_line(lines + 1), problem));
        }
        copy.write_all(bytes).map_err(|e| Error::io(Place::file(&folder), e))?;
    }
    copy.flush().map_err(|e| Error::io(Place::file(&folder), e))?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_line_is_an_error_and_compressed_data_have_no_lines() {
        let input = io::Cursor::new(b"fine\n".to_vec()).chain(io::repeat(b'a'));
        let problem = copy(input, Path::new("pipe"), u64::MAX, 1000).err().unwrap().to_string();
        assert_eq!(problem, "pipe:2: the line has more than 1000 bytes");
        let packed = io::Cursor::new([0x1f, 0x8b]).chain(io::repeat(b'a').take(100_000));
        let kept = copy(packed, Path::new("pipe"), u64::MAX, 1000).unwrap();
        assert_eq!(fs::metadata(kept.path()).unwrap().len(), 100_002);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_endless_device_does_not_fill_the_disk() {
        let options = ReadOptions { max_line: usize::MAX, ..ReadOptions::default() };
        let problem = put_aside(Path::new("/dev/zero"), &options).err().unwrap().to_string();
        assert!(problem.starts_with("/dev/zero: this is a device and has more than"), "{problem}");
        assert!(put_aside(Path::new("/no/such/file"), &options).unwrap().is_none());
        assert!(put_aside(Path::new("/"), &options).unwrap().is_none());
    }
}
