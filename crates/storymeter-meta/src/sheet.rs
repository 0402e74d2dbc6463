//! What an analysis hands on: sheets of numbers that a terminal, a CSV file, a JSON file and a report can all
//! show without knowing where they come from.

use serde::{Deserialize, Serialize};

/// The whole outcome of one analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Which analysis: `hanna`, `union` or `table`.
    pub kind: String,
    /// How all its numbers came about.
    pub signature: String,
    /// What a reader must know before trusting a number: degenerate columns, missing cells, unknown directions.
    pub warnings: Vec<Warning>,
    /// The tables and the numbers behind the figures, in reading order.
    pub sheets: Vec<Sheet>,
}

impl Document {
    /// The sheet of that id.
    pub fn sheet(&self, id: &str) -> Option<&Sheet> {
        self.sheets.iter().find(|sheet| sheet.id == id)
    }
}

/// One thing to know about the data, and what it concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable name to filter by: `constant`, `underflow`, `duplicate`, `direction`, `missing`, ...
    pub kind: String,
    /// The column, system or file concerned.
    pub subject: String,
    /// What is the matter and what it does to the numbers.
    pub message: String,
}

impl Warning {
    /// A warning of a kind about a subject.
    pub fn new(kind: &str, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), subject: subject.into(), message: message.into() }
    }
}

/// How a sheet wants to be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Rows to read.
    Table,
    /// A matrix of numbers under a colour scale; the first column names the rows.
    Heatmap,
    /// One curve a row; the first column names it, the other columns are the points.
    Lines,
    /// Counts under categories; the first columns name the row.
    Bars,
}

/// One table, or the numbers behind one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// A file name without its ending: `table-5`, `figure-14`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to draw it.
    pub form: Form,
    /// How its numbers came about.
    pub signature: String,
    /// Whether a terminal shows it unasked.
    pub brief: bool,
    /// What the reader should know beside the numbers.
    pub notes: Vec<String>,
    /// The heads of the columns.
    pub columns: Vec<Head>,
    /// The cells, one vector a row, as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its name.
    pub name: String,
    /// Digits after the point on a terminal; files keep full precision.
    pub decimals: u8,
}

/// One cell. A number that could not be computed says why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// How many.
    Count(u64),
    /// A finite number.
    Number(f64),
    /// A name, a mark.
    Text(String),
    /// Not a number, and the reason.
    Missing {
        /// Why there is no number.
        nan: String,
    },
}

impl Cell {
    /// A number, or the reason there is none.
    pub fn number(value: f64, reason: &str) -> Self {
        if value.is_finite() { Self::Number(value) } else { Self::Missing { nan: reason.into() } }
    }

    /// The number in the cell, NaN where there is none.
    pub fn value(&self) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Count(count) => *count as f64,
            Self::Text(_) | Self::Missing { .. } => f64::NAN,
        }
    }

    /// The text in the cell, empty where it is a number.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Missing { nan } => nan,
            Self::Number(_) | Self::Count(_) => "",
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::number(value, "not defined")
    }
}

impl Sheet {
    /// An empty sheet.
    pub fn new(id: impl Into<String>, title: impl Into<String>, form: Form) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            form,
            signature: String::new(),
            brief: false,
            notes: Vec::new(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The same sheet, shown on a terminal unasked.
    #[must_use]
    pub fn brief(mut self) -> Self {
        self.brief = true;
        self
    }

    /// The same sheet with one more column, whose numbers a terminal shows with so many decimals.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>, decimals: u8) -> Self {
        self.columns.push(Head { name: name.into(), decimals });
        self
    }

    /// The same sheet with more columns of the same kind.
    #[must_use]
    pub fn columns(self, names: impl IntoIterator<Item = impl Into<String>>, decimals: u8) -> Self {
        names.into_iter().fold(self, |sheet, name| sheet.column(name, decimals))
    }

    /// The same sheet with one more note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If the row is not as long as the columns: a programming error, not bad input.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "one cell a column in {}", self.id);
        self.rows.push(row);
    }

    /// The number at a row named by its first cell and a column named by its head; NaN where there is none.
    pub fn value(&self, row: &str, column: &str) -> f64 {
        self.cell(row, column).map_or(f64::NAN, Cell::value)
    }

    /// The cell at a row named by its first cell and a column named by its head.
    pub fn cell(&self, row: &str, column: &str) -> Option<&Cell> {
        let at = self.columns.iter().position(|head| head.name == column)?;
        self.rows
            .iter()
            .find(|cells| cells.first().is_some_and(|cell| cell.text() == row))
            .map(|cells| &cells[at])
    }
}
