//! How words and tables are laid out as text.

use storymeter_core::{Direction, terminal};
use unicode_width::UnicodeWidthStr;

/// The most characters of a line of text.
const WIDTH: usize = 100;

/// What says after the name of a metric which values are better.
pub(crate) fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => " ↑",
        Direction::Lower => " ↓",
        Direction::None => "",
    }
}

/// Aligns the columns, those with words to the left and those with numbers to the right. Names of
/// users are made plain first.
pub(crate) fn aligned(rows: &[Vec<String>], has_words: impl Fn(usize) -> bool) -> String {
    let plain = |row: &Vec<String>| -> Vec<String> {
        row.iter().map(|cell| terminal::plain(cell).into_owned()).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(plain).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| UnicodeWidthStr::width(cell.as_str())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - UnicodeWidthStr::width(cell.as_str()));
            let (left, right) = if has_words(column) {
                (cell.as_str(), blanks.as_str())
            } else {
                (blanks.as_str(), cell.as_str())
            };
            if column > 0 {
                line.push_str("  ");
            }
            line.push_str(left);
            line.push_str(right);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// `a`, `a and b`, or `a, b and c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Breaks a text at spaces into lines.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let own = word.chars().count();
        if length > 0 && length + 1 + own > WIDTH {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += own;
    }
    lines
}
