//! Reads a whole file, up to a limit.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use crate::{Error, Place, Result};

/// Reads a whole file that may have at most `most` bytes. Pipes are read to their end.
///
/// Whoever needs a file in one piece knows how large it can sensibly be. The limit keeps a wrong
/// name, such as `/dev/zero` or a video, from taking all memory.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("settings.toml");
/// std::fs::write(&path, "seed = 7\n")?;
/// assert_eq!(storymeter_core::file::read(&path, 100)?, b"seed = 7\n");
/// let error = storymeter_core::file::read(&path, 5).unwrap_err().to_string();
/// assert!(error.ends_with("the file has more than 5 bytes, which is the most that is read here"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the file cannot be read, is a folder, or has more than `most` bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |e| Error::io(Place::file(path), e);
    let file = File::open(path).map_err(failed)?;
    let there = file.metadata().map_err(failed)?;
    if there.is_dir() {
        let problem = io::Error::new(io::ErrorKind::IsADirectory, "this is a folder, not a file");
        return Err(failed(problem));
    }
    // A device has no end, or is no file of the user.
    let most = if is_device(&there) { most.min(MOST_OF_A_DEVICE) } else { most };
    let mut bytes = Vec::new();
    if !there.is_file() || there.len() <= most {
        bytes.reserve(there.len().min(most) as usize);
        file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 <= most {
            return Ok(bytes);
        }
    }
    let problem =
        format!("the file has more than {most} bytes, which is the most that is read here");
    Err(Error::invalid(Place::file(path), problem))
}

/// The most that is read of a device.
const MOST_OF_A_DEVICE: u64 = 64 << 20;

fn is_device(there: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        there.file_type().is_char_device()
    }
    #[cfg(not(unix))]
    {
        !there.is_file() && !there.is_dir()
    }
}

/// Reads a whole text file of at most `most` bytes.
///
/// # Errors
/// Fails as [`read`] does. If the file is not UTF-8, the error names the line.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    String::from_utf8(read(path, most)?).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = 1 + memchr::memchr_iter(b'\n', before).count() as u64;
        Error::invalid(Place::file(path).at_line(line), "the line is not UTF-8 text")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn an_endless_file_is_read_up_to_the_limit() {
        let error = read(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string();
        assert!(error.starts_with("/dev/zero: the file has more than 1048576 bytes"), "{error}");
        assert_eq!(read(Path::new("/dev/null"), 0).unwrap(), b"");
    }

    #[test]
    fn text_that_is_not_utf8_is_named_by_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        std::fs::write(&path, b"fine\nnot \xff fine\n").unwrap();
        let error = read_text(&path, 100).unwrap_err().to_string();
        assert!(error.ends_with("a.txt:2: the line is not UTF-8 text"), "{error}");
    }
}
