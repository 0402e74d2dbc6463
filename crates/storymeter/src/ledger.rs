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
//! use storymeter::core::{Place, Story, read::Record};
//! use storymeter::ledger::{Ledger, Resampling};
//! use storymeter::metrics::{MetricSet, catalogue};
//!
//! let metrics = MetricSet::new(&["text-length"], &catalogue(), Default::default())?;
//! let mut ledger = Ledger::new(metrics.width());
//! for (number, text) in (0..).zip(["Rain.", "Rain fell.", "Rain fell all night."]) {
//!     let record = Record { story: Story::from(text), number, place: Place::default() };
//!     let batch = metrics.batch(std::slice::from_ref(&record))?;
//!     ledger.push(&record.story, batch.stats(0));
//! }
//! let summary = ledger.all(&metrics, &Resampling::default());
//! assert_eq!((summary.stories, summary.columns[0].score.clone()), (3, Ok(10.0 / 3.0)));
//! # Ok::<(), storymeter::Error>(())
//! ```

mod sums;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use storymeter_core::{Absence, Pooling, Progress, ScoreColumn, Story, Value};
use storymeter_metrics::{MetricSet, Part, mean};
use storymeter_stats::{
    Bootstrap, BootstrapMethod, BootstrapOptions, Interval, RandomisationTest, WeightedSums,
    approximate_randomisation,
};

pub(crate) use sums::{Group, MetricSums as MetricTerms, Sums, shape};

use crate::shards::item_hash;

/// The number of stories up to which their rows are kept and intervals are drawn by the bootstrap.
pub const MOST_ROWS: usize = 1_000_000;

/// What is kept of the stories: their statistics, who wrote them and what for.
#[derive(Debug, Clone)]
pub struct Ledger {
    width: usize,
    /// The number of stories up to which intervals are drawn by the bootstrap.
    most: usize,
    /// Whether rows are kept beyond that number too.
    keeps_rows: bool,
    stories: usize,
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

/// How intervals and tests are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// The number of resamples.
    pub resamples: usize,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The seed of the draws.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { resamples: 1000, confidence: 0.95, seed: 0 }
    }
}

/// The scores of some stories together.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The system; `None` for all stories.
    pub system: Option<String>,
    /// How many stories there are.
    pub stories: usize,
    /// How many items they were written for, where several stories are of one item. Then whole
    /// items were resampled for the intervals, because stories of one item are not independent of
    /// each other. `None` beyond [`MOST_ROWS`] stories, whose items are not kept.
    pub items: Option<usize>,
    /// One entry per column of the metrics.
    pub columns: Vec<ColumnSummary>,
}

/// One column of a [`Summary`].
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSummary {
    /// The score of the stories together.
    pub score: Value,
    /// The interval over stories or items ([`Summary::items`]): of the percentile bootstrap; of
    /// Student's t for fewer than [`LARGE_SAMPLE`](storymeter_stats::LARGE_SAMPLE) of them; or a
    /// normal one beyond [`MOST_ROWS`] stories. `None` for fewer than two, and for few values that
    /// are all equal.
    pub interval: Option<Interval>,
}

/// One system against another.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The system that is compared.
    pub system: String,
    /// How many items both systems have a story for.
    pub items: usize,
    /// One entry per column of the metrics, on these items.
    pub columns: Vec<Result<RandomisationTest, Absence>>,
}

impl Ledger {
    /// An empty ledger for rows of this width.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            most: MOST_ROWS,
            keeps_rows: false,
            stories: 0,
            sums: None,
            stats: Vec::new(),
            systems: Vec::new(),
            numbers: HashMap::new(),
            system_of: Vec::new(),
            item_of: Vec::new(),
        }
    }

    /// The same ledger with another limit than [`MOST_ROWS`].
    #[must_use]
    pub fn most_rows(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// The same ledger, which keeps all rows, as [`Ledger::against`] needs them. The limit still
    /// says how intervals are found.
    #[must_use]
    pub fn keeping_rows(mut self, keeps_rows: bool) -> Self {
        self.keeps_rows = keeps_rows;
        self
    }

    /// Adds the row of a story.
    ///
    /// # Panics
    /// If the row has another width than the ledger, or the ledger no longer keeps rows.
    pub fn push(&mut self, story: &Story, row: &[f64]) {
        self.push_row(story.system.as_deref(), item_hash(story.item()), row);
    }

    /// Adds a row of which only a hash of the item is known.
    pub(crate) fn push_row(&mut self, system: Option<&str>, item: u64, row: &[f64]) {
        assert_eq!(row.len(), self.width, "a row of the ledger's width");
        assert!(self.sums.is_none(), "a ledger that keeps rows");
        self.stats.extend_from_slice(row);
        let system = system.map(|name| self.number_of(name));
        self.system_of.push(system);
        self.item_of.push(item);
        self.stories += 1;
    }

    /// Adds a later part of the stories, whose rows are those of the same metrics.
    ///
    /// # Panics
    /// If its rows have another width.
    pub fn append(&mut self, mut later: Self, metrics: &MetricSet) {
        assert_eq!(later.width, self.width, "rows of the ledger's width");
        let stories = self.stories + later.stories;
        if self.sums.is_some() || later.sums.is_some() || (stories > self.most && !self.keeps_rows)
        {
            self.condense(metrics);
            later.condense(metrics);
        }
        self.stories = stories;
        let numbers: Vec<u32> = later.systems.iter().map(|name| self.number_of(name)).collect();
        if let (Some(sums), Some(more)) = (&mut self.sums, later.sums) {
            sums.merge(&more, &numbers);
            return;
        }
        self.stats.extend_from_slice(&later.stats);
        let system = |number: Option<u32>| number.map(|number| numbers[number as usize]);
        self.system_of.extend(later.system_of.into_iter().map(system));
        self.item_of.extend(later.item_of);
    }

    /// Adds the sums of later stories, which have these systems.
    pub(crate) fn append_sums(&mut self, systems: &[String], sums: &Sums, metrics: &MetricSet) {
        let mut later = Self::new(self.width);
        later.systems = systems.to_vec();
        later.stories = sums.stories() as usize;
        later.sums = Some(sums.clone());
        self.append(later, metrics);
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
    pub(crate) fn sums(&self, metrics: &MetricSet) -> Cow<'_, Sums> {
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
        self.sums.is_some() || self.stories > self.most
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

    /// The number of stories.
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

    /// All stories together.
    pub fn all(&self, metrics: &MetricSet, resampling: &Resampling) -> Summary {
        if self.is_summed() {
            return self.sums(metrics).all().summary(None, metrics, resampling.confidence);
        }
        self.summary(None, &(0..self.len()).collect::<Vec<_>>(), metrics, resampling)
    }

    /// Each system on its own. The stage of `progress` that is under way hears of each.
    pub fn by_system(
        &self,
        metrics: &MetricSet,
        resampling: &Resampling,
        progress: &Progress,
    ) -> Vec<Summary> {
        let sums = self.is_summed().then(|| self.sums(metrics));
        let summary = |number: u32| {
            let name = self.systems[number as usize].clone();
            if let Some(sums) = &sums {
                progress.advance(1);
                let group = sums.of_system(number);
                return group.summary(Some(name), metrics, resampling.confidence);
            }
            let stories = self.stories_of(number);
            let summary = self.summary(Some(name), &stories, metrics, resampling);
            progress.advance(1);
            summary
        };
        (0..self.systems.len() as u32).map(summary).collect()
    }

    /// Every other system against one of them, by approximate randomisation over the items that
    /// both have. The stage of `progress` that is under way hears of each.
    ///
    /// # Errors
    /// Where there is no such system.
    ///
    /// # Panics
    /// If there are so many stories that their rows were forgotten
    /// ([`Ledger::keeping_rows`](Self::keeping_rows)).
    pub fn against(
        &self,
        system: &str,
        metrics: &MetricSet,
        resampling: &Resampling,
        progress: &Progress,
    ) -> crate::Result<Vec<Comparison>> {
        assert!(self.sums.is_none(), "a ledger that keeps rows");
        let Some(&base) = self.numbers.get(system) else {
            if self.systems.is_empty() {
                return Err(crate::Error::NoSystems);
            }
            let known = self.systems.iter().map(String::as_str);
            return Err(storymeter_core::Error::unknown("system", system, known).into());
        };
        let base_stories = self.stories_of(base);
        let others = (0..self.systems.len() as u32).filter(|&other| other != base);
        let compare = |other| {
            let pairs = self.pairs(&self.stories_of(other), &base_stories);
            let columns = self.test(&pairs, metrics, resampling);
            progress.advance(1);
            Comparison { system: self.systems[other as usize].clone(), items: pairs.len(), columns }
        };
        Ok(others.map(compare).collect())
    }

    /// By story: the number of its system, a hash of its item, and its row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Option<u32>, u64, &[f64])> {
        (0..self.system_of.len())
            .map(|story| (self.system_of[story], self.item_of[story], self.row(story)))
    }

    fn row(&self, story: usize) -> &[f64] {
        &self.stats[story * self.width..(story + 1) * self.width]
    }

    fn stories_of(&self, system: u32) -> Vec<usize> {
        (0..self.len()).filter(|&story| self.system_of[story] == Some(system)).collect()
    }

    /// Stories of two systems on the same item. Where a system has several for an item, the first
    /// one goes with the first of the other system, and so on.
    fn pairs(&self, a: &[usize], b: &[usize]) -> Vec<(usize, usize)> {
        let mut waiting: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for &story in b {
            waiting.entry(self.item_of[story]).or_default().push_back(story);
        }
        let partner = |&story: &usize| {
            let found = waiting.get_mut(&self.item_of[story])?.pop_front()?;
            Some((story, found))
        };
        a.iter().filter_map(partner).collect()
    }

    fn summary(
        &self,
        system: Option<String>,
        stories: &[usize],
        metrics: &MetricSet,
        resampling: &Resampling,
    ) -> Summary {
        let rows: Vec<&[f64]> = stories.iter().map(|&story| self.row(story)).collect();
        let units = self.units(stories);
        let items = repeated(&units, stories.len());
        let columns = metrics
            .aggregate(&rows)
            .into_iter()
            .zip(intervals(&rows, &units, metrics, resampling))
            .map(|(score, interval)| ColumnSummary { score, interval })
            .collect();
        Summary { system, stories: stories.len(), items, columns }
    }

    /// The number of items, where several stories are of one item and items are resampled.
    pub(crate) fn repeated_items(&self) -> Option<usize> {
        if self.is_summed() {
            return None;
        }
        repeated(&self.units(&(0..self.len()).collect::<Vec<_>>()), self.len())
    }

    /// What is resampled: the positions of the stories of each item, in order of the first of them.
    /// If all stories are of one item, each story stands for itself.
    fn units(&self, stories: &[usize]) -> Vec<Vec<usize>> {
        let mut places: HashMap<u64, usize> = HashMap::new();
        let mut units: Vec<Vec<usize>> = Vec::new();
        for (at, &story) in stories.iter().enumerate() {
            let place = *places.entry(self.item_of[story]).or_insert(units.len());
            if place == units.len() {
                units.push(Vec::new());
            }
            units[place].push(at);
        }
        if units.len() == 1 { (0..stories.len()).map(|at| vec![at]).collect() } else { units }
    }

    /// Tests the difference between the two stories of each pair, column by column.
    fn test(
        &self,
        pairs: &[(usize, usize)],
        metrics: &MetricSet,
        resampling: &Resampling,
    ) -> Vec<Result<RandomisationTest, Absence>> {
        let absent = || Err(Absence::because("the systems share no item"));
        let mut tests = Vec::with_capacity(metrics.columns().len());
        for part in metrics.parts() {
            for column in 0..part.columns.len() {
                if pairs.is_empty() {
                    tests.push(absent());
                    continue;
                }
                // What the two sides sum up: a draw then costs one pass over numbers, and not over
                // the rows of all columns.
                let terms = Terms::of_column(&part, column);
                let of = |story: usize| terms.of(&self.row(story)[part.stats.clone()]);
                let sides: Vec<[Vec<f64>; 2]> =
                    pairs.iter().map(|&(a, b)| [of(a), of(b)]).collect();
                let scores = |exchanged: &[bool]| {
                    let side = |first: usize| {
                        let mut sums = vec![0.0; terms.width];
                        for (pair, &swap) in sides.iter().zip(exchanged) {
                            let terms = &pair[first ^ usize::from(swap)];
                            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                        }
                        terms.scores(&sums)[0].clone().unwrap_or(f64::NAN)
                    };
                    (side(0), side(1))
                };
                let (draws, seed) = (resampling.resamples, resampling.seed);
                let test = approximate_randomisation(pairs.len(), scores, draws, seed);
                tests.push(match test {
                    Ok(test) if test.difference.is_finite() => Ok(test),
                    Ok(_) => Err(Absence::because("one of the systems has no value")),
                    Err(error) => Err(Absence::because(error.to_string())),
                });
            }
        }
        tests
    }
}

/// The number of units of so many stories, where some have several stories.
fn repeated(units: &[Vec<usize>], stories: usize) -> Option<usize> {
    (units.len() < stories).then_some(units.len())
}

/// What must be summed over stories, so that any draw of them is scored by one sum: rows where a
/// metric pools rows; values, and how many there are, where it averages values.
struct Terms<'a, 'b> {
    part: &'a Part<'b>,
    /// The columns whose scores are wanted, counted within the metric.
    columns: std::ops::Range<usize>,
    width: usize,
}

impl<'a, 'b> Terms<'a, 'b> {
    fn new(part: &'a Part<'b>, columns: std::ops::Range<usize>) -> Self {
        let width = match part.metric.description().pooling {
            Pooling::Sum => part.stats.len(),
            Pooling::Mean => 2 * columns.len(),
        };
        Self { part, columns, width }
    }

    fn of_column(part: &'a Part<'b>, column: usize) -> Self {
        Self::new(part, column..column + 1)
    }

    /// The terms of one story, given its row.
    fn of(&self, row: &[f64]) -> Vec<f64> {
        match self.part.metric.description().pooling {
            Pooling::Sum => row.to_vec(),
            Pooling::Mean => {
                let mut values: Vec<Value> = vec![Ok(0.0); self.part.columns.len()];
                self.part.metric.values(row, &mut values);
                let term = |value: &Value| match value {
                    Ok(value) => [*value, 1.0],
                    Err(_) => [0.0, 0.0],
                };
                values[self.columns.clone()].iter().flat_map(term).collect()
            }
        }
    }

    /// The scores of the wanted columns, given sums of terms.
    fn scores(&self, sums: &[f64]) -> Vec<Value> {
        match self.part.metric.description().pooling {
            Pooling::Sum => {
                let mut values: Vec<Value> = vec![Ok(0.0); self.part.columns.len()];
                self.part.metric.pooled_values(sums, &mut values);
                values.drain(self.columns.clone()).collect()
            }
            Pooling::Mean => sums.chunks_exact(2).map(|pair| mean(pair[0], pair[1])).collect(),
        }
    }
}

/// Intervals of all columns of all metrics, from the same draws of units, each of which has the
/// positions of its rows.
fn intervals(
    rows: &[&[f64]],
    units: &[Vec<usize>],
    metrics: &MetricSet,
    resampling: &Resampling,
) -> Vec<Option<Interval>> {
    let parts: Vec<Part<'_>> = metrics.parts().collect();
    let terms: Vec<Terms<'_, '_>> =
        parts.iter().map(|part| Terms::new(part, 0..part.columns.len())).collect();
    let width: usize = terms.iter().map(|terms| terms.width).sum();
    let of_row = |row: &[f64]| {
        let of = |terms: &Terms<'_, '_>| terms.of(&row[terms.part.stats.clone()]);
        terms.iter().flat_map(of).collect::<Vec<f64>>()
    };
    // The terms of a unit are the sums of the terms of its stories.
    let of_unit = |unit: &Vec<usize>| {
        let mut sums = vec![0.0; width];
        for &at in unit {
            sums.iter_mut().zip(of_row(rows[at])).for_each(|(sum, term)| *sum += term);
        }
        sums
    };
    let values = units.iter().flat_map(of_unit).collect();
    let score = |sums: &[f64], scores: &mut [f64]| {
        let mut start = 0;
        for terms in &terms {
            let found = terms.scores(&sums[start..start + terms.width]);
            start += terms.width;
            for (score, value) in scores[terms.part.columns.clone()].iter_mut().zip(found) {
                *score = value.unwrap_or(f64::NAN);
            }
        }
    };
    let options = BootstrapOptions {
        resamples: resampling.resamples,
        confidence: resampling.confidence,
        seed: resampling.seed,
        method: BootstrapMethod::Auto,
    };
    let columns = metrics.columns().len();
    let found =
        WeightedSums::new(width, values).and_then(|sums| sums.bootstrap(columns, score, &options));
    // Student's t does not know which scores are possible.
    let interval = |(found, column): (Bootstrap, &ScoreColumn)| {
        let Interval { low, high } = Some(found.interval).filter(Interval::is_defined)?;
        let (least, most) = (column.range.low, column.range.high);
        let low = least.map_or(low, |least| low.max(least));
        Some(Interval { low, high: most.map_or(high, |most| high.min(most)) })
    };
    match found {
        Ok(found) => found.into_iter().zip(metrics.columns()).map(interval).collect(),
        // Fewer than two stories or items.
        Err(_) => vec![None; columns],
    }
}

#[cfg(test)]
mod tests;
