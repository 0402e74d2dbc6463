//! Sheets: results as tables that a terminal, a CSV file and a figure can all show.

use std::borrow::Borrow;

use serde::{Serialize, Serializer};
use storymeter_core::number::Digits;
use storymeter_core::{Key, Role};
use storymeter_stats::{Coefficient, Correction};

use crate::study::{Ballot, RankMethod, Test};
use crate::{Absence, Level, Outcome};

/// What a sheet shows. Programs choose sheets by this, never by title.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Subject {
    /// Every metric against every criterion, one row per correlation.
    Agreements,
    /// Metrics against criteria, as a matrix.
    Against {
        /// What one observation is.
        level: Level,
        /// Pearson, Spearman or Kendall.
        coefficient: Coefficient,
    },
    /// Columns of one role against each other, as a matrix.
    Between {
        /// Criteria or metrics.
        role: Role,
        /// What one observation is.
        level: Level,
        /// Pearson, Spearman or Kendall.
        coefficient: Coefficient,
    },
    /// Tests between metrics for one criterion.
    Tests {
        /// Which test.
        test: Test,
        /// The criterion.
        criterion: Key,
        /// What one observation is.
        level: Level,
        /// Pearson, Spearman or Kendall.
        coefficient: Coefficient,
        /// `None` for raw p-values, otherwise how they were corrected.
        correction: Option<Correction>,
    },
    /// The number of observations behind each test between metrics.
    TestCounts {
        /// The criterion.
        criterion: Key,
        /// What one observation is.
        level: Level,
    },
    /// The metrics in order of their agreement with people.
    MetricRanking,
    /// The metrics with the strongest correlations.
    Leaders,
    /// Metrics ranked over many correlations; several ballots may stand in one sheet.
    Ranking {
        /// How votes were combined.
        method: RankMethod,
    },
    /// The numbers that a ballot ranks by.
    Votes(Ballot),
    /// Metrics as judges between systems.
    Pairwise,
    /// How often metrics order two stories as people do.
    PairAccuracy,
    /// Correlations among the best systems.
    TopSystems,
    /// How far raters agree.
    RaterAgreement,
    /// All intraclass correlations.
    IntraclassCorrelations,
    /// The systems' mean ratings.
    SystemAverages,
    /// Counts and quartiles of single ratings.
    Ratings,
    /// The outlines of violins.
    RatingDensities,
    /// How many stories have which human score.
    HumanScores,
    /// Biased sets of stories: what they hold, correlations on them, or their variance.
    BiasedSets {
        /// The criterion.
        criterion: Key,
        /// Which part.
        part: BiasedSetsPart,
    },
    /// The shares of error types.
    ErrorTypes,
    /// How many error types a story has.
    ErrorTypeCounts,
    /// Correlations between error types.
    ErrorTypeCorrelations,
    /// Correlations on the stories of each error type.
    ByErrorType {
        /// The criterion.
        criterion: Key,
    },
    /// Scores of metrics that were trained on other data.
    Drift,
    /// Correlations on the stories of each generator.
    InsideGenerators,
    /// Correlations on several datasets.
    AcrossDatasets,
    /// Whether a model edits bad stories.
    Edits,
    /// The stories that metrics misjudge most.
    Misjudged,
    /// Intervals of correlations.
    Intervals,
    /// The systems of a comparison, best first.
    SystemRanking {
        /// The metric or criterion that they are compared by.
        key: Key,
    },
    /// Every two systems of a comparison.
    SystemPairs {
        /// The metric or criterion that they are compared by.
        key: Key,
    },
    /// Every two systems of several comparisons.
    AllSystemPairs,
    /// The means of the systems of several comparisons.
    SystemMeans,
    /// Who leads by which column of a comparison.
    SystemLeaders,
    /// What one metric sees and what disturbs it, one row per aspect of a test suite.
    SuiteMetric {
        /// The metric.
        key: Key,
    },
    /// All metrics of a test suite side by side, one row per aspect.
    SuiteOverview,
    /// Every metric on every aspect of a test suite, one row per pair of them.
    SuiteCells,
    /// Anything else, such as a training log.
    Other,
}

/// A part of what is known about biased sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BiasedSetsPart {
    /// The mean number of stories by quality level.
    Stories,
    /// The mean correlation over the draws.
    Means,
    /// The variance of the correlation over the draws.
    Variances,
}

/// How a sheet is best drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Rows to read.
    Table,
    /// A matrix of numbers under a colour scale; the first column names the rows.
    Heatmap,
    /// One curve per row; the first columns name it, and the other columns are the points.
    Lines,
    /// Counts under categories; the first columns name the row.
    Bars,
}

/// One table, or the numbers behind one figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sheet {
    /// The name by which a user asks for the sheet, and its file name without the ending:
    /// `table-5`, `figure-14`.
    pub id: String,
    /// What it shows, for programs.
    pub subject: Subject,
    /// What it shows, for readers.
    pub title: String,
    /// How to draw it.
    pub form: Form,
    /// How its numbers came about.
    pub signature: String,
    /// Whether a terminal shows it unless others are asked for.
    pub brief: bool,
    /// What the reader should know beside the numbers.
    pub notes: Vec<String>,
    /// The heads of the columns.
    pub columns: Vec<Head>,
    /// The cells: one vector per row, as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// Cells that stand out where a table is printed. Files of numbers have no marks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// What is printed with one cell beside its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// The row, from 0.
    pub row: usize,
    /// The column, from 0.
    pub column: usize,
    /// Whether the cell is printed in bold, because it is the best of its column.
    pub bold: bool,
    /// What stands behind the content: stars of significance, or letters of groups.
    pub suffix: String,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Head {
    /// Its name.
    pub name: String,
    /// The number of digits after the point on a terminal. Files keep full precision.
    pub decimals: u8,
    /// Whether the numbers are p-values. One that would be printed as 0.000 is printed as `<0.001`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub p_values: bool,
}

/// One cell. A number that is absent gives the reason, in JSON as `{"nan": reason}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// How many.
    Count(u64),
    /// A finite number.
    Number(f64),
    /// A name or a mark.
    Text(String),
    /// No number, and the reason.
    Missing(#[serde(serialize_with = "reason")] Absence),
}

/// Writes why there is no number.
fn reason<S: Serializer>(absence: &Absence, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("nan", absence.to_string())])
}

impl Cell {
    /// A cell without a number, for a reason.
    pub fn missing(reason: impl Borrow<Absence>) -> Self {
        Self::Missing(reason.borrow().clone())
    }

    /// The number in the cell; NaN where there is none.
    pub fn value(&self) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Count(count) => *count as f64,
            Self::Text(_) | Self::Missing(_) => f64::NAN,
        }
    }

    /// The text in the cell; empty where it is a number.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Number(_) | Self::Count(_) | Self::Missing(_) => "",
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

impl From<&Key> for Cell {
    fn from(key: &Key) -> Self {
        Self::Text(key.to_string())
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Number(value) } else { Self::Missing(Absence::NotDefined) }
    }
}

impl From<&Outcome<f64>> for Cell {
    fn from(outcome: &Outcome<f64>) -> Self {
        match outcome {
            Ok(value) => Self::from(*value),
            Err(reason) => Self::missing(reason),
        }
    }
}

impl From<Outcome<f64>> for Cell {
    fn from(outcome: Outcome<f64>) -> Self {
        Self::from(&outcome)
    }
}

impl Sheet {
    /// An empty sheet.
    pub fn new(
        id: impl Into<String>,
        subject: Subject,
        title: impl Into<String>,
        form: Form,
    ) -> Self {
        Self {
            id: id.into(),
            subject,
            title: title.into(),
            form,
            signature: String::new(),
            brief: false,
            notes: Vec::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The same sheet, shown on a terminal unless others are asked for.
    #[must_use]
    pub fn brief(mut self) -> Self {
        self.brief = true;
        self
    }

    /// The same sheet with one more column, whose numbers a terminal shows with so many decimals.
    #[must_use]
    pub fn column(mut self, name: impl ToString, decimals: u8) -> Self {
        self.columns.push(Head { name: name.to_string(), decimals, p_values: false });
        self
    }

    /// The same sheet with more columns of the same kind.
    #[must_use]
    pub fn columns(self, names: impl IntoIterator<Item = impl ToString>, decimals: u8) -> Self {
        names.into_iter().fold(self, |sheet, name| sheet.column(name, decimals))
    }

    /// The same sheet with one more column of p-values.
    #[must_use]
    pub fn p_column(self, name: impl ToString) -> Self {
        self.p_columns([name], 3)
    }

    /// The same sheet with more columns of p-values, shown with so many decimals.
    #[must_use]
    pub fn p_columns(
        mut self,
        names: impl IntoIterator<Item = impl ToString>,
        decimals: u8,
    ) -> Self {
        let head = |name: &dyn ToString| Head { name: name.to_string(), decimals, p_values: true };
        self.columns.extend(names.into_iter().map(|name| head(&name)));
        self
    }

    /// The same sheet with one more note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Prints a cell of the last row in bold, or with something behind it.
    pub fn mark(&mut self, column: usize, bold: bool, suffix: impl Into<String>) {
        let row = self.rows.len().saturating_sub(1);
        self.marks.push(Mark { row, column, bold, suffix: suffix.into() });
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If the row is not as long as the columns: a programming error, not bad input.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "one cell per column in {}", self.id);
        self.rows.push(row);
    }

    /// How a person reads the numbers of a column.
    pub fn digits(&self, column: usize) -> Digits {
        let number = |row: &Vec<Cell>| match row.get(column) {
            Some(Cell::Number(value)) => Some(*value),
            _ => None,
        };
        let decimals = self.columns.get(column).map_or(0, |head| head.decimals);
        Digits::new(self.rows.iter().filter_map(number), decimals)
    }

    /// The number at a row named by its first cell and a column named by its head; NaN where there
    /// is none.
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
