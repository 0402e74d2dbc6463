//! The table of a run: for each column all stories together, then each system, and at the end the
//! signatures of the metrics.

use std::sync::Arc;

use storymeter_core::number::Digits;
use storymeter_core::{MetricError, Progress, ScoreColumn, Signature, terminal};
use storymeter_executor::MetricSet;
use storymeter_meta::view::text::p_text;
use storymeter_stats::Interval;

use crate::layout::{aligned, arrow};
use crate::summary::{Against, Comparison, Resampling, Summary};
use crate::trust::TrustNote;
use crate::{Result, Run, text_notes};

/// Intervals of fewer stories or items than this come with a warning.
const FEW: usize = 10;

/// The digits after the point of a score.
const DECIMALS: u8 = 4;

/// The digits after the point of a p-value.
const P_DECIMALS: usize = 4;

/// The scores of all stories together and of each system, with intervals, or those of each story if
/// there are at most five and no metric scores them as a whole. Its text is what `storymeter score`
/// prints.
///
/// ```
/// # use storymeter::input::{Inputs, ReadOptions};
/// # use storymeter::{Error, Overview, Progress, Scorer, summary::Resampling};
/// # let progress = Progress::unwatched();
/// let scorer = Scorer::new().metrics(["text-length"]).build()?;
/// let inputs = Inputs::texts(vec!["Rain fell.".to_owned()], ReadOptions::default());
/// let scored = scorer.table(&inputs, &progress)?;
/// let overview = Overview::new(&scored.run, &Resampling::default(), None, &progress)?;
/// assert!(overview.to_text().contains("text-length  3.0000"));
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
    against: Option<Against>,
    /// One signature per metric.
    pub signatures: Vec<Signature>,
    resampling: Resampling,
    /// The cells of the table of flags; empty without any flag.
    flags: Vec<Vec<String>>,
    few: Option<FewTable>,
    trust: TrustNote,
}

/// What is shown of a few stories instead of means: the cells of the table, and its text with all
/// that is said under it, or with one line.
struct FewTable {
    rows: Vec<Vec<String>>,
    text: String,
    brief: String,
}

impl Overview {
    /// Draws the intervals of a run, and tests every other system against one of them if that is
    /// asked for.
    ///
    /// # Errors
    /// Returns an error if there is no such system, or the work was cancelled.
    pub fn new(
        run: &Run,
        resampling: &Resampling,
        against: Option<&Against>,
        progress: &Progress,
    ) -> Result<Self> {
        let (score_rows, metrics) = (run.score_rows(), run.metrics());
        let systems = score_rows.systems().len();
        progress.begin("drawing intervals");
        progress.expect(1 + systems as u64 * if against.is_some() { 2 } else { 1 });
        let comparisons = match against {
            Some(against) => score_rows.against(against, metrics, resampling, progress)?,
            None => Vec::new(),
        };
        let all = score_rows.all(metrics, resampling);
        let systems = score_rows.by_system(metrics, resampling, progress);
        if progress.is_cancelled() {
            return Err(MetricError::Interrupted.into());
        }
        Ok(Self {
            metrics: Arc::clone(run.metrics()),
            all,
            systems,
            comparisons,
            against: against.cloned(),
            signatures: run.signatures(resampling),
            resampling: *resampling,
            flags: text_notes::rows(run),
            trust: TrustNote::new(run),
            few: run.few().filter(|_| against.is_none()).map(|few| FewTable {
                rows: few.rows(),
                text: few.text(false),
                brief: few.text(true),
            }),
        })
    }

    /// The text of [`Overview::to_text`], of which the words about how far to trust it are kept to
    /// one line.
    pub fn to_brief_text(&self) -> String {
        match &self.few {
            Some(few) => few.brief.clone(),
            None => self.text(self.trust.brief.as_slice()),
        }
    }

    fn columns(&self) -> &[ScoreColumn] {
        self.metrics.columns()
    }

    /// The table as aligned text. Names of users in it are plain.
    pub fn to_text(&self) -> String {
        self.text(&self.trust.sentences)
    }

    fn text(&self, trust: &[String]) -> String {
        let mut text = match &self.few {
            Some(few) => few.text.clone(),
            None => aligned(&self.rows(), |column| column < 2),
        };
        text.push('\n');
        // A few stories have their flags in the table, and what they are worth under it.
        let is_few = self.few.is_some();
        if !is_few && !self.flags.is_empty() {
            text.push_str(&aligned(&self.flags, |column| column < 1));
            text.push('\n');
        }
        let trust = trust.iter().filter(|_| !is_few).cloned();
        for note in self.notes().into_iter().chain(trust) {
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
        if self.few.is_some() {
            return Vec::new();
        }
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
        if let Some(against) = &self.against {
            let (resamples, others) = (self.resampling.resamples, self.comparisons.len());
            notes.push(format!(
                "minus {}: the difference on the items that both systems have, several stories of \
                 one item counting as their mean (on all stories, if they share fewer than half); \
                 p: {} randomisation test ({resamples} resamples, or all where there are fewer); \
                 corrected: {} for {others} {}.",
                terminal::plain(&against.system),
                against.sides.name(),
                against.correction.name(),
                if others == 1 { "comparison" } else { "comparisons" },
            ));
        }
        notes
    }

    /// The cells of the table of flags, the names of its columns first; none without any flag.
    /// There is one row for all texts and one per system, and one column per flag that occurs.
    /// Names of users are as they are.
    pub fn flag_rows(&self) -> &[Vec<String>] {
        &self.flags
    }

    /// The cells of the table, the names of its columns first. Names of users are as they are.
    pub fn rows(&self) -> Vec<Vec<String>> {
        if let Some(few) = &self.few {
            return few.rows.clone();
        }
        let mut rows = vec![self.header()];
        for (at, column) in self.columns().iter().enumerate() {
            let name = format!("{}{}", column.key, arrow(column.direction));
            let digits = self.digits(at);
            rows.push(self.row(name, &self.all, at, digits));
            let row = |system: &Summary| self.row(String::new(), system, at, digits);
            rows.extend(self.systems.iter().map(row));
        }
        rows
    }

    fn header(&self) -> Vec<String> {
        let percent = 100.0 * self.resampling.confidence;
        let mut header: Vec<String> =
            ["metric", "system", "stories", "score"].map(str::to_owned).to_vec();
        header.push(format!("{percent}% interval"));
        if let Some(Against { system, .. }) = &self.against {
            header.push(format!("minus {system}"));
            header.push(format!("{percent}% interval"));
            header.extend(["p", "corrected"].map(str::to_owned));
        }
        header
    }

    /// How the scores of one metric are written.
    fn digits(&self, column: usize) -> Digits {
        let scores = std::iter::once(&self.all)
            .chain(&self.systems)
            .filter_map(|summary| summary.columns[column].score.as_ref().ok().copied());
        Digits::new(scores, DECIMALS)
    }

    fn row(&self, name: String, summary: &Summary, column: usize, digits: Digits) -> Vec<String> {
        let own = &summary.columns[column];
        let system = summary.system.as_deref().unwrap_or("all").to_owned();
        let score = own.score.as_ref().map_or("absent".to_owned(), |score| digits.text(*score));
        let interval = own.interval.map_or(String::new(), |interval| shown(interval, digits));
        let mut row = vec![name, system, summary.stories.to_string(), score, interval];
        if self.against.is_some() {
            let comparison = self
                .comparisons
                .iter()
                .find(|other| Some(&other.system) == summary.system.as_ref());
            row.extend(match comparison.map(|comparison| &comparison.columns[column]) {
                Some(Ok(found)) => [
                    digits.signed(found.difference.difference),
                    shown(found.difference.interval, digits),
                    p_text(found.p_value.raw, P_DECIMALS),
                    p_text(found.p_value.corrected, P_DECIMALS),
                ],
                Some(Err(absence)) => {
                    [absence.to_string(), String::new(), String::new(), String::new()]
                }
                None => [(); 4].map(|()| String::new()),
            });
        }
        row
    }
}

/// An interval, or nothing where there is none.
fn shown(interval: Interval, digits: Digits) -> String {
    match interval.is_defined() {
        true => format!("[{}, {}]", digits.text(interval.low), digits.text(interval.high)),
        false => String::new(),
    }
}
