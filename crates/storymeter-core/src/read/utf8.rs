//! Bytes of a record as text.

use std::str::Utf8Error;

use crate::{Error, Place, Result};

/// The bytes as text, which must be UTF-8 without NUL. An error names the byte, and its line within
/// a record of several lines.
pub(super) fn utf8(bytes: Vec<u8>, place: &Place) -> Result<String> {
    refuse_nul(&bytes, place)?;
    String::from_utf8(bytes).map_err(|e| not_utf8(e.as_bytes(), e.utf8_error(), place))
}

/// The same for bytes that stay where they are.
pub(super) fn utf8_in<'a>(bytes: &'a [u8], place: &Place) -> Result<&'a str> {
    refuse_nul(bytes, place)?;
    std::str::from_utf8(bytes).map_err(|e| not_utf8(bytes, e, place))
}

fn refuse_nul(bytes: &[u8], place: &Place) -> Result<()> {
    let problem = "a NUL, which no text has; if the file is UTF-16, save it as UTF-8";
    memchr::memchr(0, bytes).map_or(Ok(()), |nul| Err(wrong_byte(&bytes[..nul], problem, place)))
}

fn not_utf8(bytes: &[u8], e: Utf8Error, place: &Place) -> Error {
    wrong_byte(&bytes[..e.valid_up_to()], "not UTF-8", place)
}

/// The error about the byte after some others.
fn wrong_byte(before: &[u8], problem: &str, place: &Place) -> Error {
    let lines = memchr::memchr_iter(b'\n', before).count() as u64;
    let start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
    let place = Place { line: place.line.map(|line| line + lines), ..place.clone() };
    let byte = before.len() - start + 1;
    Error::invalid(place, format!("byte {byte} of the line is {problem}"))
}
