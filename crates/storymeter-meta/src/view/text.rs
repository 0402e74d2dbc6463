//! Sheets as aligned text for a terminal, and as CSV.

use std::borrow::Cow;
use std::fmt::Write as _;

use storymeter_core::number::Digits;
use storymeter_core::repeated::Repeated;
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::terminal::{plain, plain_lines};
use unicode_width::UnicodeWidthStr as _;

use super::{Cell, Head, Sheet};
use crate::study::{Study, Warning, WarningKind};

/// A whole study for a terminal: its signature, its warnings, then the sheets asked for.
///
/// `wanted` names sheets by id. Empty means those marked as brief, and `all` means every one.
pub fn study(study: &Study, sheets: &[Sheet], wanted: &[String]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}", plain(&study.signature.to_string()));
    if !study.warnings.is_empty() {
        text.push_str("\nWarnings\n");
    }
    for (kind, warning) in warnings(study) {
        let _ = writeln!(text, "  {kind}: {}", plain(&warning.to_string()));
    }
    for shown in sheets.iter().filter(|shown| is_wanted(shown, wanted)) {
        text.push('\n');
        text.push_str(&sheet(shown));
    }
    text
}

/// The warnings of a study. What several subjects have in common is said once.
pub fn warnings(study: &Study) -> Vec<(WarningKind, Repeated)> {
    let said = |warning: &Warning| (warning.kind, warning.subject.clone(), warning.message.clone());
    let all = study.warnings.iter().map(said);
    Repeated::gathered_by(all)
}

/// Whether a sheet is among those asked for.
pub fn is_wanted(sheet: &Sheet, wanted: &[String]) -> bool {
    wanted.iter().any(|id| *id == "all" || *id == sheet.id) || (wanted.is_empty() && sheet.brief)
}

/// Whether cells that stand out are printed in bold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// With the escape sequences of a terminal.
    Terminal,
    /// Not at all.
    None,
}

/// One sheet with its title, its notes and its signature.
///
/// Names of columns, systems and metrics come from files. Characters in them that a terminal would
/// obey are written out, before anything is aligned.
pub fn sheet(sheet: &Sheet) -> String {
    emphasised(sheet, Emphasis::None)
}

/// The same, with the cells that stand out in bold where the reader is a terminal.
pub fn emphasised(sheet: &Sheet, emphasis: Emphasis) -> String {
    let mut text = format!("{}: {}\n", plain(&sheet.id), plain(&sheet.title));
    let heads: Vec<String> =
        sheet.columns.iter().map(|head| plain(&head.name).into_owned()).collect();
    let head = |text: String| Printed { text, bold: false, suffix: String::new() };
    let heads: Vec<Printed> = heads.into_iter().map(head).collect();
    let mut body = cells(sheet);
    for cell in body.iter_mut().flatten() {
        cell.text = plain(&cell.text).into_owned();
    }
    let width = |column: usize| {
        let cells = body.iter().map(|row| row[column].width());
        cells.chain([heads[column].width()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..sheet.columns.len()).map(width).collect();
    let words = word_columns(sheet);
    let mut line = |cells: &[Printed]| {
        let mut out = String::from(" ");
        for (column, cell) in cells.iter().enumerate() {
            let gap = " ".repeat(widths[column] - cell.width());
            let cell = match emphasis {
                Emphasis::Terminal if cell.bold => {
                    format!("\u{1b}[1m{}\u{1b}[22m{}", cell.text, cell.suffix)
                }
                _ => format!("{}{}", cell.text, cell.suffix),
            };
            let _ = if words[column] {
                write!(out, " {cell}{gap}")
            } else {
                write!(out, " {gap}{cell}")
            };
        }
        text.push_str(out.trim_end());
        text.push('\n');
    };
    line(&heads);
    body.iter().for_each(|row| line(row));
    for note in &sheet.notes {
        let _ = writeln!(text, "  note: {}", plain(note));
    }
    for reason in missing(sheet) {
        let _ = writeln!(text, "  nan: {}", plain(&reason));
    }
    // Several signatures stand below each other.
    let _ = writeln!(text, "  {}", plain_lines(&sheet.signature));
    text
}

/// A cell as it is printed.
#[derive(Debug, Clone)]
pub(super) struct Printed {
    /// The content.
    pub text: String,
    /// Whether the content is bold.
    pub bold: bool,
    /// What stands behind the content.
    pub suffix: String,
}

impl Printed {
    /// The columns of a terminal. Chinese, Japanese and Korean characters take two.
    fn width(&self) -> usize {
        self.text.width() + self.suffix.width()
    }
}

/// What the cells of a sheet look like in print, row by row.
pub(super) fn cells(sheet: &Sheet) -> Vec<Vec<Printed>> {
    let columns: Vec<(&Head, Digits)> =
        sheet.columns.iter().enumerate().map(|(at, head)| (head, sheet.digits(at))).collect();
    let printed = |(cell, (head, digits)): (&Cell, &(&Head, Digits))| Printed {
        text: shown(cell, head, *digits),
        bold: false,
        suffix: String::new(),
    };
    let row = |row: &Vec<Cell>| row.iter().zip(&columns).map(printed).collect();
    let mut body: Vec<Vec<Printed>> = sheet.rows.iter().map(row).collect();
    for mark in &sheet.marks {
        if let Some(cell) = body.get_mut(mark.row).and_then(|row| row.get_mut(mark.column)) {
            cell.bold |= mark.bold;
            cell.suffix.push_str(&mark.suffix);
        }
    }
    body
}

/// By column: whether it holds words, which are aligned left, and not numbers.
pub(super) fn word_columns(sheet: &Sheet) -> Vec<bool> {
    let is_word = |cell: &Cell| matches!(cell, Cell::Text(text) if !text.is_empty());
    (0..sheet.columns.len())
        .map(|column| sheet.rows.iter().any(|row| is_word(&row[column])))
        .collect()
}

/// How many reasons are listed under a sheet; the JSON file has all of them.
const REASONS_SHOWN: usize = 5;

/// The cells without a number, by reason: the first few reasons, and how many more there are.
pub(super) fn missing(sheet: &Sheet) -> Vec<String> {
    let mut all = Vec::new();
    for row in &sheet.rows {
        for (cell, head) in row.iter().zip(&sheet.columns) {
            if let Cell::Missing(gap) = cell {
                all.push(((), format!("{}, {}", row_name(row), head.name), gap.to_string()));
            }
        }
    }
    let reasons = Repeated::gathered_by(all);
    let shown = reasons.iter().take(REASONS_SHOWN).map(|((), reason)| reason.to_string());
    let more = reasons.len().saturating_sub(REASONS_SHOWN);
    let rest = (more > 0).then(|| format!("{more} more reasons: see the JSON file"));
    shown.chain(rest).collect()
}

/// The words that a row begins with, behind its rank if it has one.
fn row_name(row: &[Cell]) -> String {
    let behind = row.iter().skip_while(|cell| matches!(cell, Cell::Count(_)));
    let words = behind.map_while(|cell| match cell {
        Cell::Text(text) => Some(text.as_str()),
        _ => None,
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A p-value with so many decimals. One of 2e-14 is not 0, so the smallest that they can show is
/// its bound.
pub fn p_text(p: f64, decimals: usize) -> String {
    let least = 10f64.powi(-(decimals as i32));
    if p < least { format!("<{least:.decimals$}") } else { format!("{p:.decimals$}") }
}

/// A cell as a terminal and a document show it.
fn shown(cell: &Cell, head: &Head, digits: Digits) -> String {
    match cell {
        Cell::Count(count) => count.to_string(),
        Cell::Number(p) if head.p_values => p_text(*p, usize::from(head.decimals)),
        Cell::Number(value) => digits.text(*value),
        Cell::Text(text) => text.clone(),
        Cell::Missing(_) => "nan".into(),
    }
}

/// The sheet as CSV (RFC 4180), numbers in full precision, one line of heads. Names that a
/// spreadsheet would run as formulas are marked or left raw; numbers are never marked.
pub fn csv(sheet: &Sheet, names: TextCells) -> String {
    let mut text = String::new();
    csv_line(&mut text, sheet.columns.iter().map(|head| names.cell(&head.name)));
    for row in &sheet.rows {
        csv_line(&mut text, row.iter().map(|cell| full(cell, names)));
    }
    text
}

/// Many sheets in one CSV: `sheet,row,column,value`, for tools that want one long table.
pub fn long_csv<'a>(sheets: impl IntoIterator<Item = &'a Sheet>, names: TextCells) -> String {
    let mut text = String::from("sheet,row,column,value\n");
    for sheet in sheets {
        for (number, row) in sheet.rows.iter().enumerate() {
            for (cell, head) in row.iter().zip(&sheet.columns) {
                let number = Cow::Owned((number + 1).to_string());
                let fields =
                    [names.cell(&sheet.id), number, names.cell(&head.name), full(cell, names)];
                csv_line(&mut text, fields.into_iter());
            }
        }
    }
    text
}

fn full(cell: &Cell, names: TextCells) -> Cow<'_, str> {
    match cell {
        Cell::Count(count) => count.to_string().into(),
        // The shortest text that reads back as the same number, as Python's repr.
        Cell::Number(value) => format!("{value:?}").into(),
        Cell::Text(text) => names.cell(text),
        Cell::Missing(_) => "nan".into(),
    }
}

fn csv_line<'a>(text: &mut String, fields: impl Iterator<Item = Cow<'a, str>>) {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            text.push(',');
        }
        if field.contains([',', '"', '\n', '\r']) {
            let _ = write!(text, "\"{}\"", field.replace('"', "\"\""));
        } else {
            text.push_str(&field);
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_value_is_never_printed_as_zero() {
        let shown = [2e-14, 0.00096, 0.05, 1.0].map(|p| p_text(p, 3));
        assert_eq!(shown, ["<0.001", "<0.001", "0.050", "1.000"]);
        assert_eq!(p_text(2e-8, 4), "<0.0001");
    }
}
