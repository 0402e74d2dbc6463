//! The table of a run: for each column all stories together, then each system, and at the end the
//! signatures of the metrics.

use std::sync::Arc;

use storymeter_core::{Direction, MetricError, Progress, ScoreColumn, Signature, terminal};
use storymeter_metrics::MetricSet;
use unicode_width::UnicodeWidthStr;

use crate::ledger::{Comparison, Resampling, Summary};
use crate::{Result, Run};

/// Intervals of fewer stories or items than this come with a warning.
const FEW: usize = 10;

/// The scores of all stories together and of each system, with intervals. Its text is the table
/// that `storymeter score` prints.
///
/// ```
/// # use storymeter::core::Progress;
/// # use storymeter::core::read::ReadOptions;
/// # use storymeter::input::{Inputs, ReferenceFiles};
/// # use storymeter::{Error, Overview, Scorer, ledger::Resampling};
/// # let (none, progress) = (ReferenceFiles::default(), Progress::unwatched());
/// let scorer = Scorer::new().metrics(["text-length"]).build()?;
/// let inputs = Inputs::texts(vec!["Rain fell.".to_owned()], ReadOptions::default());
/// let run = scorer.over::<_, Error>(&inputs, &none, &progress, |_| Ok(()), |()| Ok(()))?;
/// let overview = Overview::new(&run, &Resampling::default(), None, &progress)?;
/// assert!(overview.to_text().contains("text-length  all           1  3.0000"));
/// # Ok::<(), Error>(())
/// ```
pub struct Overview {
    metrics: Arc<MetricSet>,
    /// All stories together.
    pub all: Summary,
    /// Each system, in order of its first story.
    pub systems: Vec<Summary>,
    /// Every other system against one of them, if that was asked for.
    pub comparisons: Vec<Comparison>,
    against: Option<String>,
    /// One signature per metric.
    pub signatures: Vec<Signature>,
    confidence: f64,
}

impl Overview {
    /// Draws the intervals of a run, and tests every other system against one of them if that is
    /// asked for.
    ///
    /// # Errors
    /// Where there is no such system, or the work was cancelled.
    pub fn new(
        run: &Run,
        resampling: &Resampling,
        against: Option<&str>,
        progress: &Progress,
    ) -> Result<Self> {
        let (ledger, metrics) = (run.ledger(), run.metrics());
        let systems = ledger.systems().len();
        progress.begin("drawing intervals");
        progress.expect(1 + systems as u64 * if against.is_some() { 2 } else { 1 });
        let comparisons = match against {
            Some(system) => ledger.against(system, metrics, resampling, progress)?,
            None => Vec::new(),
        };
        let all = ledger.all(metrics, resampling);
        let systems = ledger.by_system(metrics, resampling, progress);
        if progress.is_cancelled() {
            return Err(MetricError::Interrupted.into());
        }
        Ok(Self {
            metrics: Arc::clone(&run.metrics),
            all,
            systems,
            comparisons,
            against: against.map(str::to_owned),
            signatures: run.signatures(resampling),
            confidence: resampling.confidence,
        })
    }

    fn columns(&self) -> &[ScoreColumn] {
        self.metrics.columns()
    }

    /// The table as aligned text. Names of users in it are plain.
    pub fn to_text(&self) -> String {
        let mut text = aligned(&self.rows());
        text.push('\n');
        for note in self.notes() {
            text.push_str(&note);
            text.push('\n');
        }
        for signature in &self.signatures {
            text.push_str(&terminal::plain(&signature.to_string()));
            text.push('\n');
        }
        text
    }

    /// What a reader of the intervals should know, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let summaries = || std::iter::once(&self.all).chain(&self.systems);
        let mut notes = Vec::new();
        if let Some(items) = summaries().filter_map(|summary| summary.items).max() {
            notes.push(format!(
                "Several stories are of one item: intervals resample whole items, of which there \
                 are {items}."
            ));
        }
        let has_interval =
            |summary: &&Summary| summary.columns.iter().any(|column| column.interval.is_some());
        let sizes = summaries().filter(has_interval);
        let fewest = sizes.map(|summary| summary.items.unwrap_or(summary.stories)).min();
        if let Some(fewest) = fewest.filter(|&fewest| fewest < FEW) {
            notes.push(format!(
                "Intervals of few stories or items (here down to {fewest}) are rough: Student's t \
                 assumes scores that are nearly normal."
            ));
        }
        notes
    }

    /// The cells of the table, the names of its columns first. Names of users are as they are.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![self.header()];
        for (at, column) in self.columns().iter().enumerate() {
            let arrow = match column.direction {
                Direction::Higher => " ↑",
                Direction::Lower => " ↓",
                Direction::None => "",
            };
            rows.push(self.row(format!("{}{arrow}", column.key), &self.all, at));
            rows.extend(self.systems.iter().map(|system| self.row(String::new(), system, at)));
        }
        rows
    }

    fn header(&self) -> Vec<String> {
        let percent = 100.0 * self.confidence;
        let mut header: Vec<String> =
            ["metric", "system", "stories", "score"].map(str::to_owned).to_vec();
        header.push(format!("{percent}% interval"));
        if let Some(system) = &self.against {
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
        cells.map(|cell| UnicodeWidthStr::width(cell.as_str())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - UnicodeWidthStr::width(cell.as_str()));
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
