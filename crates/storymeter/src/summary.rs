//! Scores of many stories together: of the whole input and of each system, with intervals, and
//! one system against another.
//!
//! Metrics know nothing of resampling, and statistics know nothing of stories, so what needs both
//! is here. It works on the stories' rows of sufficient statistics; the texts are long gone.
//!
//! Rows are kept up to [`MOST_ROWS`] stories. With more, only exact sums over the stories are kept,
//! so that memory is bounded, and intervals are normal ones over stories instead of bootstrap ones.
//! The sums do not depend on the order of the stories or on how they were cut into files.
//!
//! Where several stories are of one item, intervals resample whole items.
//!
//! ```
//! use storymeter::{Place, Story, input::Record};
//! use storymeter::summary::{ScoreRows, Resampling};
//! use storymeter::{MetricSet, catalogue};
//!
//! let metrics = MetricSet::new(&["text-length"], &catalogue(), Default::default())?;
//! let mut score_rows = ScoreRows::new(metrics.width());
//! for (number, text) in (0..).zip(["Rain.", "Rain fell.", "Rain fell all night."]) {
//!     let record = Record { story: Story::from(text), number, place: Place::default() };
//!     let batch = metrics.batch(std::slice::from_ref(&record))?;
//!     score_rows.push(&record.story, batch.stats(0));
//! }
//! let summary = score_rows.all(&metrics, &Resampling::default());
//! assert_eq!((summary.stories, summary.columns[0].score.clone()), (3, Ok(10.0 / 3.0)));
//! # Ok::<(), storymeter::Error>(())
//! ```

pub(crate) mod rows;
mod statistics;
mod sums;

use std::borrow::Cow;
use std::collections::HashMap;

use storymeter_core::{Story, SystemTotals, Value, item_key};
use storymeter_executor::MetricSet;

pub use rows::{IdHash, read_rows};
pub use statistics::{Against, ColumnComparison, ColumnSummary, Comparison, Resampling, Summary};
pub use storymeter_meta::study::{PValue, Sides};
pub use storymeter_stats::{Difference, Pairing};
use sums::Sums;

/// The number of stories up to which their rows are kept and intervals are drawn by the bootstrap.
pub const MOST_ROWS: usize = 1_000_000;

/// What is kept of the stories: their statistics, who wrote them and what for.
#[derive(Debug, Clone)]
pub struct ScoreRows {
    width: usize,
    /// The number of stories up to which intervals are drawn by the bootstrap.
    most: usize,
    /// Whether rows are kept beyond that number too.
    keeps_rows: bool,
    stories: usize,
    /// How many texts have no row, because they are no stories: those without a system, and then
    /// those of each system.
    no_stories: Vec<u64>,
    /// What is left of the rows, once there are too many of them.
    sums: Option<Sums>,
    stats: Vec<f64>,
    systems: Vec<String>,
    numbers: HashMap<String, u32>,
    /// By story: the number of its system, if it has one.
    system_of: Vec<Option<u32>>,
    /// By story: a hash of its item, because the item may be a long prompt.
    item_of: Vec<u64>,
}

impl ScoreRows {
    /// No rows yet, each of which has this width.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            most: MOST_ROWS,
            keeps_rows: false,
            stories: 0,
            no_stories: Vec::new(),
            sums: None,
            stats: Vec::new(),
            systems: Vec::new(),
            numbers: HashMap::new(),
            system_of: Vec::new(),
            item_of: Vec::new(),
        }
    }

    /// The same with another limit than [`MOST_ROWS`].
    #[must_use]
    pub fn most_rows(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// The same, which keeps all rows, as [`ScoreRows::against`] needs them. The limit still
    /// says how intervals are found.
    #[must_use]
    pub fn keeping_rows(mut self, keeps_rows: bool) -> Self {
        self.keeps_rows = keeps_rows;
        self
    }

    /// Adds the row of a story.
    ///
    /// # Panics
    /// If the row has another width, or rows are no longer kept.
    pub fn push(&mut self, story: &Story, row: &[f64]) {
        self.push_row(story.system.as_deref(), item_key(story.item()), row);
    }

    /// Adds texts of a system that have no row, because they are no stories. They are only counted.
    pub fn push_no_stories(&mut self, system: Option<&str>, count: u64) {
        let system = system.map(|name| self.number_of(name));
        self.count_no_stories(system, count);
    }

    fn count_no_stories(&mut self, system: Option<u32>, count: u64) {
        let place = sums::place(system);
        if self.no_stories.len() <= place && count > 0 {
            self.no_stories.resize(place + 1, 0);
        }
        self.no_stories.get_mut(place).into_iter().for_each(|known| *known += count);
    }

    /// Adds a row of which only a hash of the item is known.
    pub(crate) fn push_row(&mut self, system: Option<&str>, item: u64, row: &[f64]) {
        assert_eq!(row.len(), self.width, "a row of the same width");
        assert!(self.sums.is_none(), "rows are kept");
        self.stats.extend_from_slice(row);
        let system = system.map(|name| self.number_of(name));
        self.system_of.push(system);
        self.item_of.push(item);
        self.stories += 1;
    }

    /// Gives a story another item.
    pub(crate) fn set_item(&mut self, story: usize, item: u64) {
        self.item_of[story] = item;
    }

    /// Adds a later part of the stories, whose rows are those of the same metrics.
    ///
    /// # Panics
    /// If its rows have another width.
    pub fn append(&mut self, mut later: Self, metrics: &MetricSet) {
        assert_eq!(later.width, self.width, "rows of the same width");
        let stories = self.stories + later.stories;
        let texts = self.texts() + later.texts();
        if self.sums.is_some() || later.sums.is_some() || (texts > self.most && !self.keeps_rows) {
            self.condense(metrics);
            later.condense(metrics);
        }
        self.stories = stories;
        let numbers: Vec<u32> = later.systems.iter().map(|name| self.number_of(name)).collect();
        for (place, &count) in later.no_stories.iter().enumerate() {
            self.count_no_stories(place.checked_sub(1).map(|system| numbers[system]), count);
        }
        if let (Some(sums), Some(more)) = (&mut self.sums, later.sums) {
            sums.merge(&more, &numbers);
            return;
        }
        self.stats.extend_from_slice(&later.stats);
        let system = |number: Option<u32>| number.map(|number| numbers[number as usize]);
        self.system_of.extend(later.system_of.into_iter().map(system));
        self.item_of.extend(later.item_of);
    }

    /// The sums of a header, of whose stories nothing else is known; `None` if they are not those
    /// of the metrics.
    pub(crate) fn from_totals(totals: &[SystemTotals], metrics: &MetricSet) -> Option<Self> {
        let mut score_rows = Self::new(metrics.width());
        score_rows.systems = totals.iter().filter_map(|own| own.system.clone()).collect();
        score_rows.stories = totals.iter().map(|own| own.stories as usize).sum();
        score_rows.no_stories = vec![0; score_rows.systems.len() + 1];
        let mut place = 0;
        for own in totals {
            place += usize::from(own.system.is_some());
            score_rows.no_stories[if own.system.is_some() { place } else { 0 }] = own.no_stories;
        }
        score_rows.sums = Some(Sums::from_totals(totals, metrics)?);
        Some(score_rows)
    }

    /// The sums of each system as a header has them, unless there are too many systems.
    pub(crate) fn totals(&self, metrics: &MetricSet) -> Option<Vec<SystemTotals>> {
        self.sums(metrics).totals(&self.systems, &self.no_stories)
    }

    /// Forgets the rows and keeps their sums.
    pub(crate) fn condense(&mut self, metrics: &MetricSet) {
        if self.sums.is_none() {
            self.sums = Some(self.sums(metrics).into_owned());
            (self.stats, self.system_of, self.item_of) = (Vec::new(), Vec::new(), Vec::new());
        }
    }

    /// Whether the rows were forgotten.
    pub(crate) fn is_condensed(&self) -> bool {
        self.sums.is_some()
    }

    /// Exact sums over all stories, by system.
    fn sums(&self, metrics: &MetricSet) -> Cow<'_, Sums> {
        match &self.sums {
            Some(sums) => Cow::Borrowed(sums),
            None => {
                let rows = (self.stats.as_slice(), self.width);
                Cow::Owned(Sums::of(rows, &self.system_of, self.systems.len(), metrics))
            }
        }
    }

    /// Whether scores and intervals are found from sums, because there are too many stories to
    /// resample them.
    pub fn is_summed(&self) -> bool {
        self.sums.is_some() || self.texts() > self.most
    }

    /// The number of a system. A new system gets the next one.
    fn number_of(&mut self, system: &str) -> u32 {
        if let Some(&number) = self.numbers.get(system) {
            return number;
        }
        let number = self.systems.len() as u32;
        self.systems.push(system.to_owned());
        self.numbers.insert(system.to_owned(), number);
        number
    }

    /// The width of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of texts: of the stories, and of what is no story.
    pub fn texts(&self) -> usize {
        self.stories + self.no_stories.iter().sum::<u64>() as usize
    }

    /// The number of texts without a row, of those that name no system or of one system, by its
    /// place among [`ScoreRows::systems`].
    pub(crate) fn no_stories_of(&self, system: Option<usize>) -> u64 {
        let place = sums::place(system.map(|number| number as u32));
        self.no_stories.get(place).copied().unwrap_or(0)
    }

    /// The number of texts of each system, in the order of [`ScoreRows::systems`].
    pub(crate) fn texts_by_system(&self) -> Vec<u64> {
        let mut texts: Vec<u64> =
            (0..self.systems.len()).map(|system| self.no_stories_of(Some(system))).collect();
        match &self.sums {
            Some(sums) => {
                for (number, count) in (0..).zip(&mut texts) {
                    *count += sums.of_system(number).stories;
                }
            }
            None => {
                for system in self.system_of.iter().flatten() {
                    texts[*system as usize] += 1;
                }
            }
        }
        texts
    }

    /// The number of stories, which have rows.
    pub fn len(&self) -> usize {
        self.stories
    }

    /// Whether there are no stories.
    pub fn is_empty(&self) -> bool {
        self.stories == 0
    }

    /// The systems, in order of their first story.
    pub fn systems(&self) -> &[String] {
        &self.systems
    }

    /// The score of all stories together, one per column, without intervals.
    pub fn scores(&self, metrics: &MetricSet) -> Vec<Value> {
        if self.is_summed() {
            return self.sums(metrics).all().scores(metrics);
        }
        let rows: Vec<&[f64]> = (0..self.len()).map(|story| self.row(story)).collect();
        metrics.aggregate(&rows)
    }

    /// By story: the number of its system, a hash of its item, and its row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Option<u32>, u64, &[f64])> {
        (0..self.system_of.len())
            .map(|story| (self.system_of[story], self.item_of[story], self.row(story)))
    }

    fn row(&self, story: usize) -> &[f64] {
        &self.stats[story * self.width..(story + 1) * self.width]
    }
}

#[cfg(test)]
mod tests;
