//! Writes CSV as in RFC 4180, with lines that end in `\n`.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::Story;
use crate::spreadsheet::TextCells;

/// The names of the columns. The first one is in quotation marks, which no cell needs less: that is
/// how a reader knows a file whose cells may have marks ([`spreadsheet`](crate::spreadsheet)).
pub(crate) const STORY_HEADER: &str = "\"id\",system,item,prompt,story,reference";

/// Writes one record.
pub(super) fn write(out: &mut impl Write, story: &Story, text: TextCells) -> io::Result<()> {
    let columns = [
        story.id.as_str(),
        story.system.as_deref().unwrap_or_default(),
        story.item.as_deref().unwrap_or_default(),
        story.prompt.as_deref().unwrap_or_default(),
        &story.text,
        story.references.first().map_or("", String::as_str),
    ];
    cells(out, columns.into_iter().map(|column| text.cell(column)))
}

/// Writes one record: fields separated by commas, in quotation marks if they need them.
pub(super) fn cells<'a>(
    out: &mut impl Write,
    cells: impl Iterator<Item = Cow<'a, str>>,
) -> io::Result<()> {
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            out.write_all(b",")?;
        }
        if cell.contains('\0') {
            let problem = "a text with a NUL character cannot be written as CSV; JSONL can hold it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        if cell.contains([',', '"', '\n', '\r']) {
            write!(out, "\"{}\"", cell.replace('"', "\"\""))?;
        } else {
            out.write_all(cell.as_bytes())?;
        }
    }
    out.write_all(b"\n")
}
