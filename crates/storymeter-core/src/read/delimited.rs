//! Cuts CSV and TSV files into records and fields. What the columns hold is in
//! [`header`](super::header).
//!
//! CSV is quoted as in RFC 4180 and may have line breaks inside quotes; its fields may also be
//! separated by semicolons, tabs or vertical bars. TSV has no quotes: a tab always ends a field.

use std::borrow::Cow;

use super::Format;
use super::cutter::Cut;
use super::lines::{Line, LineReader, is_blank};
use crate::{Error, Place, Result};

/// How fields are separated and quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub delimiter: u8,
    /// Whether fields may stand in quotation marks.
    pub quoted: bool,
}

impl Dialect {
    pub const CSV: Self = Self { delimiter: b',', quoted: true };
    pub const TSV: Self = Self { delimiter: b'\t', quoted: false };

    /// The delimiters that are looked for, the most usual one first.
    pub const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

    /// How a header separates its fields: with the first delimiter that separates a wanted name
    /// from the others, or else the one that makes most fields. `None` if none makes two.
    pub fn of_header(header: &str, is_wanted: impl Fn(Self) -> bool) -> Option<Self> {
        let dialects = Self::DELIMITERS.map(|delimiter| Self { delimiter, quoted: true });
        dialects.into_iter().find(|&it| is_wanted(it)).or_else(|| {
            // Of equally many columns, the first delimiter wins, because max_by_key takes the last.
            let most = dialects.into_iter().rev().max_by_key(|&it| fields(header, it).count());
            most.filter(|&it| fields(header, it).count() > 1)
        })
    }
}

impl From<Format> for Dialect {
    fn from(format: Format) -> Self {
        if format == Format::Tsv { Self::TSV } else { Self::CSV }
    }
}

/// The names in a header.
pub(super) fn names_of(
    header: &str,
    dialect: impl Into<Dialect>,
    most: usize,
    place: &Place,
) -> Result<Vec<String>> {
    let names: Vec<String> =
        fields(header, dialect).take(most + 1).map(|name| name.trim().to_owned()).collect();
    if names.len() > most {
        let problem = format!("the header has more than {most} columns");
        return Err(Error::invalid(place.clone(), problem));
    }
    Ok(names)
}

/// The fields of a CSV record that must have as many as the header.
pub(super) fn cells<'a>(record: &'a str, width: usize, place: &Place) -> Result<Vec<Cow<'a, str>>> {
    let cells: Vec<_> = fields(record, Format::Csv).take(width + 1).collect();
    if cells.len() != width {
        return Err(wrong_width(place, fields(record, Format::Csv).count(), width));
    }
    Ok(cells)
}

/// The error for a record that has another number of fields than the header.
pub(super) fn wrong_width(place: &Place, fields: usize, header: usize) -> Error {
    let problem = format!("the record has {fields} fields, but the header has {header}");
    Error::invalid(place.clone(), problem)
}

/// The fields of a record, unquoted.
pub(super) fn fields(record: &str, dialect: impl Into<Dialect>) -> Fields<'_> {
    Fields { unread: Some(record), dialect: dialect.into() }
}

/// The iterator of [`fields`].
pub(super) struct Fields<'a> {
    unread: Option<&'a str>,
    dialect: Dialect,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let unread = self.unread?;
        let Dialect { delimiter, quoted } = self.dialect;
        if quoted && unread.starts_with('"') {
            let (field, after) = unquote(&unread[1..], delimiter);
            self.unread = after;
            return Some(field);
        }
        let (field, after) = cut_at(unread, delimiter);
        self.unread = after;
        Some(Cow::Borrowed(field))
    }
}

fn cut_at(text: &str, delimiter: u8) -> (&str, Option<&str>) {
    match memchr::memchr(delimiter, text.as_bytes()) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Reads a quoted field from behind its opening quote. Returns it, and the text after the
/// delimiter.
///
/// RFC 4180 does not allow text between the closing quote and the delimiter. Such text is kept, as
/// most readers do.
fn unquote(text: &str, delimiter: u8) -> (Cow<'_, str>, Option<&str>) {
    let mut unescaped = String::new();
    let mut unread = text;
    loop {
        let (part, after) = cut_at(unread, b'"');
        let after = after.unwrap_or("");
        if let Some(next) = after.strip_prefix('"') {
            unescaped.push_str(part);
            unescaped.push('"');
            unread = next;
            continue;
        }
        let (tail, next) = cut_at(after, delimiter);
        if unescaped.is_empty() && tail.is_empty() {
            return (Cow::Borrowed(part), next);
        }
        unescaped.push_str(part);
        unescaped.push_str(tail);
        return (Cow::Owned(unescaped), next);
    }
}

/// Whether a CSV record goes on after this line, because a quote is open.
pub(super) fn is_open_after(line: &[u8], mut open: bool, delimiter: u8) -> bool {
    let mut unread = line;
    loop {
        if open {
            let Some(quote) = memchr::memchr(b'"', unread) else { return true };
            unread = &unread[quote + 1..];
            if unread.first() == Some(&b'"') {
                unread = &unread[1..];
                continue;
            }
            open = false;
        } else if unread.first() == Some(&b'"') {
            unread = &unread[1..];
            open = true;
            continue;
        }
        let Some(end) = memchr::memchr(delimiter, unread) else { return false };
        unread = &unread[end + 1..];
    }
}

/// The next record of a file that is separated by commas.
pub(super) fn cut_csv(lines: &mut LineReader) -> Result<Option<Cut>> {
    cut_quoted(lines, Dialect::CSV.delimiter)
}

/// The next CSV record: one line, or several lines if a quoted field spans them. Blank lines
/// between records are skipped.
pub(super) fn cut_quoted(lines: &mut LineReader, delimiter: u8) -> Result<Option<Cut>> {
    let mut record = Vec::new();
    let mut begin = None;
    let mut open = false;
    let broken = |line, problem: String| Ok(Some(Cut { line, body: Err(problem) }));
    loop {
        match (lines.next()?, begin) {
            (None, None) => return Ok(None),
            (None, Some(line)) => {
                return broken(line, "a quote that opens in this record is never closed".into());
            }
            (Some(Line::Broken(problem)), None) => return broken(lines.number(), problem),
            (Some(Line::Broken(problem)), Some(line)) => {
                let number = lines.number();
                return broken(line, format!("the record goes on to line {number}: {problem}"));
            }
            (Some(Line::Text(line)), None) if is_blank(&line) => {}
            (Some(Line::Text(line)), _) => {
                let begin = *begin.get_or_insert(lines.number());
                open = is_open_after(&line, open, delimiter);
                if record.is_empty() && begin == lines.number() {
                    record = line;
                } else {
                    record.push(b'\n');
                    record.extend_from_slice(&line);
                }
                if record.len() > lines.max() {
                    let max = lines.max();
                    return broken(
                        begin,
                        format!("the record has more than {max} bytes; is a quote left open?"),
                    );
                }
                if !open {
                    return Ok(Some(Cut { line: begin, body: Ok(record) }));
                }
            }
        }
    }
}
