//! CSV as in RFC 4180, lines ending in `\n`.

use std::io::{self, Write};

use crate::Story;

const COLUMNS: [&str; 6] = ["id", "system", "item", "prompt", "story", "reference"];

/// Writes the names of the columns.
pub(super) fn write_header(out: &mut impl Write) -> io::Result<()> {
    row(out, COLUMNS)
}

/// Writes one record.
pub(super) fn write(out: &mut impl Write, story: &Story) -> io::Result<()> {
    row(
        out,
        [
            &story.id,
            story.system.as_deref().unwrap_or_default(),
            story.item.as_deref().unwrap_or_default(),
            story.prompt.as_deref().unwrap_or_default(),
            &story.text,
            story.references.first().map_or("", String::as_str),
        ],
    )
}

fn row(out: &mut impl Write, cells: [&str; 6]) -> io::Result<()> {
    for (number, cell) in cells.into_iter().enumerate() {
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
