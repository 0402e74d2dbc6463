//! Prints the table of scores: for each column all stories together, then each system, and at the
//! end the signatures of the metrics.

use std::io::Write as _;
use std::path::Path;

use storymeter::core::{Direction, ScoreColumn, Signature, terminal};
use storymeter::ledger::{Comparison, Summary};

use crate::output::{Output, Reader};

/// The content of the table.
pub struct Table<'a> {
    pub columns: &'a [ScoreColumn],
    pub all: Summary,
    pub systems: Vec<Summary>,
    pub comparisons: Vec<Comparison>,
    pub against: Option<&'a str>,
    pub signatures: Vec<Signature>,
    pub confidence: f64,
}

impl Table<'_> {
    /// Prints the table to a file or to standard output.
    pub fn write(&self, path: Option<&Path>) -> anyhow::Result<()> {
        let mut output = Output::open(path, Reader::Person)?;
        output.write_all(self.to_text().as_bytes())?;
        output.finish()
    }

    fn to_text(&self) -> String {
        let mut rows = vec![self.header()];
        for (at, column) in self.columns.iter().enumerate() {
            let arrow = match column.direction {
                Direction::Higher => " ↑",
                Direction::Lower => " ↓",
                Direction::None => "",
            };
            rows.push(self.row(format!("{}{arrow}", column.key), &self.all, at));
            rows.extend(self.systems.iter().map(|system| self.row(String::new(), system, at)));
        }
        let mut text = aligned(&rows);
        text.push('\n');
        for signature in &self.signatures {
            text.push_str(&terminal::plain(&signature.to_string()));
            text.push('\n');
        }
        text
    }

    fn header(&self) -> Vec<String> {
        let percent = 100.0 * self.confidence;
        let mut header: Vec<String> =
            ["metric", "system", "stories", "score"].map(str::to_owned).to_vec();
        header.push(format!("{percent}% interval"));
        if let Some(system) = self.against {
            header.push(format!("less {system}"));
            header.push("p".to_owned());
        }
        header
    }

    fn row(&self, name: String, summary: &Summary, column: usize) -> Vec<String> {
        let own = &summary.columns[column];
        let system = summary.system.as_deref().unwrap_or("all").to_owned();
        let score = own.score.as_ref().map_or("absent".to_owned(), |score| format!("{score:.4}"));
        let interval = own.interval.map_or(String::new(), |interval| {
            format!("[{:.4}, {:.4}]", interval.low, interval.high)
        });
        let mut row = vec![name, system, summary.stories.to_string(), score, interval];
        if self.against.is_some() {
            let comparison = self
                .comparisons
                .iter()
                .find(|other| Some(&other.system) == summary.system.as_ref());
            match comparison.map(|comparison| &comparison.columns[column]) {
                Some(Ok(test)) => {
                    row.extend([format!("{:+.4}", test.difference), format!("{:.4}", test.p_value)])
                }
                Some(Err(absence)) => row.extend([absence.to_string(), String::new()]),
                None => row.extend([String::new(), String::new()]),
            }
        }
        row
    }
}

/// Aligns the columns. The first two hold names and are aligned to the left, the others to the
/// right. Names of users are made plain first.
fn aligned(rows: &[Vec<String>]) -> String {
    let plain = |row: &Vec<String>| -> Vec<String> {
        row.iter().map(|cell| terminal::plain(cell).into_owned()).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(plain).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| unicode_width::UnicodeWidthStr::width(cell.as_str())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let blanks =
                " ".repeat(widths[column] - unicode_width::UnicodeWidthStr::width(cell.as_str()));
            let (left, right) = if column < 2 {
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
