//! Writes CSV as in RFC 4180, with lines that end in `\n`.

use std::io::{self, Write};

use crate::Story;

const COLUMNS: [&str; 6] = ["id", "system", "item", "prompt", "story", "reference"];

/// Writes the names of the columns.
pub(super) fn write_header(out: &mut impl Write) -> io::Result<()> {
    cells(out, COLUMNS.into_iter())
}

/// Writes one record.
pub(super) fn write(out: &mut impl Write, story: &Story) -> io::Result<()> {
    cells(
        out,
        [
            story.id.as_str(),
            story.system.as_deref().unwrap_or_default(),
            story.item.as_deref().unwrap_or_default(),
            story.prompt.as_deref().unwrap_or_default(),
            &story.text,
            story.references.first().map_or("", String::as_str),
        ]
        .into_iter(),
    )
}

/// Writes one record: fields separated by commas, in quotation marks if they need them.
pub(super) fn cells<'a>(
    out: &mut impl Write,
    cells: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            out.write_all(b",")?;
        }
        if cell.contains([',', '"', '\n', '\r']) {
            write!(out, "\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            out.write_all(cell.as_bytes())?;
        }
    }
    out.write_all(b"\n")
}
