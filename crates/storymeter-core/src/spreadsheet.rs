//! Keeps the text cells of CSV files from being run by a spreadsheet.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, even if the cell
//! is the name of a system or a story that somebody else wrote. Such a text cell gets a mark in
//! front, an apostrophe, which makes it text. Numbers are never marked.
//!
//! The mark can be undone. A cell that begins with apostrophes and then such a character gets one
//! more apostrophe too, so that [`unmarked`] always gives back the text that was written.
//!
//! Marks are removed where they cannot be somebody else's apostrophes:
//!
//! - Score files are storymeter's own layout, and their text cells are names. The marks of ids,
//!   systems, items and columns are always removed ([`read::scores`](crate::read::scores)). A
//!   spreadsheet that saves the file again keeps the marks, so this still works afterwards.
//! - A CSV file of stories may come from anywhere, and its cells are prose that may begin with an
//!   apostrophe. Marks are removed only in files of [`StoryWriter`](crate::write::StoryWriter).
//!   These can be told from all others by their header, in which the first name alone is in
//!   quotation marks: `"id",system,item,prompt,story,reference`.

use std::borrow::Cow;

/// What happens to text cells of CSV output that a spreadsheet would run as formulas.
///
/// ```
/// use storymeter_core::spreadsheet::{TextCells, unmarked};
/// assert_eq!(TextCells::Marked.cell("=1+1"), "'=1+1");
/// assert_eq!(TextCells::Marked.cell("It's 1+1"), "It's 1+1");
/// assert_eq!(TextCells::Raw.cell("=1+1"), "=1+1");
/// assert_eq!(unmarked("'=1+1"), "=1+1");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextCells {
    /// They are marked with an apostrophe.
    #[default]
    Marked,
    /// They stay as they are, for programs that take every cell literally. Only a cell that begins
    /// with an apostrophe and could be taken for a marked one gets one more, so that reading it
    /// back loses nothing.
    Raw,
}

impl TextCells {
    /// The text as it is written to a cell, before quotation marks.
    pub fn cell(self, text: &str) -> Cow<'_, str> {
        let bare = text.trim_start_matches(MARK);
        let is_marked =
            bare.starts_with(FORMULA) && (self == Self::Marked || bare.len() < text.len());
        if is_marked { Cow::Owned(format!("{MARK}{text}")) } else { Cow::Borrowed(text) }
    }
}

/// The text of a cell that [`TextCells::cell`] made, in either form.
pub fn unmarked(cell: &str) -> &str {
    match cell.strip_prefix(MARK) {
        Some(text) if text.trim_start_matches(MARK).starts_with(FORMULA) => text,
        _ => cell,
    }
}

const MARK: char = '\'';

/// What a formula can begin with. Spreadsheets skip a tab and the end of a line.
const FORMULA: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_mark_can_always_be_undone(text in "['=+@\t\r\n-]{0,4}[a'=1-]{0,3}") {
            for cells in [TextCells::Marked, TextCells::Raw] {
                let written = cells.cell(&text);
                prop_assert_eq!(unmarked(&written), text.as_str());
                prop_assert!(cells == TextCells::Raw || !written.starts_with(FORMULA));
            }
        }
    }

    #[test]
    fn only_the_beginning_of_a_cell_counts() {
        for text in ["", "'", "''", "'tis", "a=b", " =1", "5-3", "\u{2212}5"] {
            assert_eq!(TextCells::Marked.cell(text), text);
            assert_eq!(unmarked(text), text);
        }
        for (text, marked) in [("-5", "'-5"), ("'-5", "''-5"), ("\t=1", "'\t=1"), ("@a", "'@a")] {
            assert_eq!(TextCells::Marked.cell(text), marked);
        }
        assert_eq!(
            (TextCells::Raw.cell("-5"), TextCells::Raw.cell("'-5")),
            ("-5".into(), "''-5".into())
        );
    }
}
