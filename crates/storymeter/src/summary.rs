//! Scores of many stories together: the whole input and each system, with intervals, and system against system.
//!
//! Metrics know nothing of resampling and statistics know nothing of stories, so what needs both lives here. All of it
//! works on the stories' rows of sufficient statistics; the texts are long gone.
//!
//! ```
//! use storymeter::core::{Place, Story, read::Record};
//! use storymeter::metrics::{Options, Scorer};
//! use storymeter::summary::{Ledger, Resampling};
//!
//! let scorer = Scorer::new(&["text-length"], &Options::default())?;
//! let mut ledger = Ledger::new(scorer.width());
//! for (number, text) in ["Rain.", "Rain fell.", "Rain fell all night."].into_iter().enumerate() {
//!     let story = Story { text: text.into(), ..Story::default() };
//!     let record = Record { story, number: number as u64, place: Place::default() };
//!     let rows = scorer.batch(&[record.clone()])?;
//!     ledger.push(&record.story, rows.stats(0));
//! }
//! let summary = ledger.all(&scorer, &Resampling::default());
//! assert_eq!((summary.stories, summary.columns[0].score), (3, 10.0 / 3.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use rayon::prelude::*;
use storymeter_core::{Metric, Pooling, Story};
use storymeter_metrics::Scorer;
use storymeter_stats::resample::{draw_with_replacement, stream};
use storymeter_stats::{
    Interval, RandomisationTest, approximate_randomisation, percentile_interval,
};

/// What is kept of the stories: their statistics, who wrote them and what for.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    width: usize,
    stats: Vec<f64>,
    systems: Vec<String>,
    numbers: HashMap<String, u32>,
    /// By story: the number of its system, if it has one.
    system_of: Vec<Option<u32>>,
    /// By story: a hash of its item, which may be a long prompt.
    item_of: Vec<u64>,
}

/// How intervals and tests are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// Number of resamples.
    pub resamples: usize,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Seed of the draws.
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
    /// The system, `None` for all stories.
    pub system: Option<String>,
    /// How many stories.
    pub stories: usize,
    /// By column of the scorer.
    pub columns: Vec<ColumnSummary>,
}

/// One column of a summary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnSummary {
    /// The score of the stories together.
    pub score: f64,
    /// Percentile bootstrap interval over stories; NaN for fewer than two.
    pub interval: Interval,
}

/// One system against another.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The system compared.
    pub system: String,
    /// Items both systems have a story for.
    pub items: usize,
    /// By column of the scorer, on these items; `None` where there is no common item.
    pub columns: Vec<Option<RandomisationTest>>,
}

impl Ledger {
    /// An empty ledger of rows of this width.
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Takes in a story's row.
    ///
    /// # Panics
    /// If the row has another width than the ledger.
    pub fn push(&mut self, story: &Story, row: &[f64]) {
        assert_eq!(row.len(), self.width, "a row of the ledger's width");
        self.stats.extend_from_slice(row);
        let system = story.system.as_deref().map(|name| self.number_of(name));
        self.system_of.push(system);
        self.item_of.push(BuildHasherDefault::<DefaultHasher>::new().hash_one(story.item()));
    }

    /// Takes in a later part of the stories.
    ///
    /// # Panics
    /// If its rows have another width.
    pub fn append(&mut self, later: Self) {
        assert_eq!(later.width, self.width, "rows of the ledger's width");
        self.stats.extend_from_slice(&later.stats);
        let numbers: Vec<u32> = later.systems.iter().map(|name| self.number_of(name)).collect();
        let system = |number: Option<u32>| number.map(|number| numbers[number as usize]);
        self.system_of.extend(later.system_of.into_iter().map(system));
        self.item_of.extend(later.item_of);
    }

    /// The number of a system, a new one where it has none.
    fn number_of(&mut self, system: &str) -> u32 {
        if let Some(&number) = self.numbers.get(system) {
            return number;
        }
        let number = self.systems.len() as u32;
        self.systems.push(system.to_owned());
        self.numbers.insert(system.to_owned(), number);
        number
    }

    /// Number of stories.
    pub fn len(&self) -> usize {
        self.system_of.len()
    }

    /// Whether there are no stories.
    pub fn is_empty(&self) -> bool {
        self.system_of.is_empty()
    }

    /// The systems, in order of first story.
    pub fn systems(&self) -> &[String] {
        &self.systems
    }

    /// All stories together.
    pub fn all(&self, scorer: &Scorer, resampling: &Resampling) -> Summary {
        self.summary(None, &(0..self.len()).collect::<Vec<_>>(), scorer, resampling)
    }

    /// Each system on its own.
    pub fn by_system(&self, scorer: &Scorer, resampling: &Resampling) -> Vec<Summary> {
        (0..self.systems.len() as u32)
            .map(|number| {
                let name = self.systems[number as usize].clone();
                self.summary(Some(name), &self.stories_of(number), scorer, resampling)
            })
            .collect()
    }

    /// Every other system against one of them, by approximate randomisation over the items both have.
    ///
    /// `None` where there is no such system.
    pub fn against(
        &self,
        system: &str,
        scorer: &Scorer,
        resampling: &Resampling,
    ) -> Option<Vec<Comparison>> {
        let base = *self.numbers.get(system)?;
        let base_stories = self.stories_of(base);
        let others = (0..self.systems.len() as u32).filter(|&other| other != base);
        let compare = |other| {
            let pairs = self.pairs(&self.stories_of(other), &base_stories);
            Comparison {
                system: self.systems[other as usize].clone(),
                items: pairs.len(),
                columns: self.test(&pairs, scorer, resampling),
            }
        };
        Some(others.map(compare).collect())
    }

    fn row(&self, story: usize) -> &[f64] {
        &self.stats[story * self.width..(story + 1) * self.width]
    }

    fn stories_of(&self, system: u32) -> Vec<usize> {
        (0..self.len()).filter(|&story| self.system_of[story] == Some(system)).collect()
    }

    /// Stories of two systems on the same item; where a system has several, the first with the first and so on.
    fn pairs(&self, a: &[usize], b: &[usize]) -> Vec<(usize, usize)> {
        let mut waiting: HashMap<u64, std::collections::VecDeque<usize>> = HashMap::new();
        b.iter()
            .for_each(|&story| waiting.entry(self.item_of[story]).or_default().push_back(story));
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
        scorer: &Scorer,
        resampling: &Resampling,
    ) -> Summary {
        let rows: Vec<&[f64]> = stories.iter().map(|&story| self.row(story)).collect();
        let scores = scorer.aggregate(&rows);
        let intervals = intervals(&rows, scorer, resampling);
        let columns = scores.into_iter().zip(intervals);
        let columns = columns.map(|(score, interval)| ColumnSummary { score, interval }).collect();
        Summary { system, stories: stories.len(), columns }
    }

    fn test(
        &self,
        pairs: &[(usize, usize)],
        scorer: &Scorer,
        resampling: &Resampling,
    ) -> Vec<Option<RandomisationTest>> {
        let mut tests = Vec::new();
        for part in scorer.parts() {
            for column in 0..part.scores.len() {
                let scores = |exchanged: &[bool]| {
                    let side = |first: bool| {
                        let rows: Vec<&[f64]> = pairs
                            .iter()
                            .zip(exchanged)
                            .map(|(&(a, b), &swap)| {
                                &self.row(if first != swap { a } else { b })[part.stats.clone()]
                            })
                            .collect();
                        let mut scores = vec![0.0; part.scores.len()];
                        part.metric.aggregate(&rows, &mut scores);
                        scores[column]
                    };
                    (side(true), side(false))
                };
                tests.push(
                    approximate_randomisation(
                        pairs.len(),
                        scores,
                        resampling.resamples,
                        resampling.seed,
                    )
                    .ok(),
                );
            }
        }
        tests
    }
}

/// Draws that are summed together. The statistics of a large input do not fit in a cache, so that one pass over them must
/// serve several draws, or all threads wait for memory.
const TOGETHER: usize = 8;

/// Percentile bootstrap intervals of all columns, from the same draws.
fn intervals(rows: &[&[f64]], scorer: &Scorer, resampling: &Resampling) -> Vec<Interval> {
    let columns = scorer.columns().len();
    if rows.len() < 2 {
        return vec![Interval { low: f64::NAN, high: f64::NAN }; columns];
    }
    let terms = Terms::new(rows, scorer);
    let draw = |resample: &u64| {
        let mut drawn = vec![0; rows.len()];
        draw_with_replacement(&mut stream(resampling.seed, *resample), &mut drawn);
        let mut times = vec![0u32; rows.len()];
        drawn.into_iter().for_each(|story| times[story] += 1);
        times
    };
    let resamples: Vec<u64> = (0..resampling.resamples as u64).collect();
    let values: Vec<Vec<f64>> = resamples
        .par_chunks(TOGETHER)
        .flat_map_iter(|some| terms.scores(&some.iter().map(draw).collect::<Vec<_>>(), scorer))
        .collect();
    let of_column =
        |column: usize| values.iter().map(|scores| scores[column]).collect::<Vec<f64>>();
    let interval = |column| percentile_interval(&of_column(column), resampling.confidence);
    (0..columns)
        .map(|column| interval(column).unwrap_or(Interval { low: f64::NAN, high: f64::NAN }))
        .collect()
}

/// What must be summed over stories, so that any draw of them is scored by one weighted sum: rows where a metric
/// pools rows, scores where it averages scores.
struct Terms {
    width: usize,
    values: Vec<f64>,
}

impl Terms {
    fn new(rows: &[&[f64]], scorer: &Scorer) -> Self {
        let width_of = |metric: &dyn Metric| match metric.pooling() {
            Pooling::Sum => metric.width(),
            Pooling::Mean => metric.columns().len(),
        };
        let width = scorer.parts().map(|part| width_of(part.metric)).sum();
        let mut values = vec![0.0; width * rows.len()];
        for (terms, row) in values.chunks_exact_mut(width).zip(rows) {
            let mut start = 0;
            for part in scorer.parts() {
                let terms = &mut terms[start..start + width_of(part.metric)];
                let own = &row[part.stats.clone()];
                match part.metric.pooling() {
                    Pooling::Sum => terms.copy_from_slice(own),
                    Pooling::Mean => part.metric.score(own, terms),
                }
                start += terms.len();
            }
        }
        Self { width, values }
    }

    /// The scores of several draws, given how many times each story is in each.
    fn scores(&self, draws: &[Vec<u32>], scorer: &Scorer) -> Vec<Vec<f64>> {
        let mut sums = vec![vec![0.0; self.width]; draws.len()];
        for (story, terms) in self.values.chunks_exact(self.width).enumerate() {
            for (sums, times) in sums.iter_mut().zip(draws) {
                let times = f64::from(times[story]);
                if times > 0.0 {
                    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += times * term);
                }
            }
        }
        let stories = (self.values.len() / self.width) as f64;
        sums.iter().map(|sums| scores_of(sums, stories, scorer)).collect()
    }
}

/// The scores of so many stories, given the sums of their terms.
fn scores_of(sums: &[f64], stories: f64, scorer: &Scorer) -> Vec<f64> {
    let mut scores = vec![0.0; scorer.columns().len()];
    let mut start = 0;
    for part in scorer.parts() {
        let own = &mut scores[part.scores.clone()];
        match part.metric.pooling() {
            Pooling::Sum => {
                part.metric.pooled_score(&sums[start..start + part.metric.width()], own);
                start += part.metric.width();
            }
            Pooling::Mean => {
                own.iter_mut().zip(&sums[start..]).for_each(|(score, sum)| *score = sum / stories);
                start += own.len();
            }
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_metrics::Options;

    fn story(system: Option<&str>, item: &str) -> Story {
        Story { system: system.map(str::to_owned), item: Some(item.to_owned()), ..Story::default() }
    }

    #[test]
    fn stories_taken_in_in_parts_are_summed_up_as_if_they_came_one_by_one() {
        let scorer = Scorer::new(&["text-length"], &Options::default()).expect("a known metric");
        let systems =
            [Some("rain"), None, Some("sun"), Some("rain"), Some("fog"), Some("sun"), None];
        let (mut whole, mut parts) = (Ledger::new(2), Ledger::new(2));
        for (start, part) in [(0, &systems[..1]), (1, &systems[1..5]), (5, &systems[5..])] {
            let mut ledger = Ledger::new(2);
            for (n, system) in (start..).zip(part) {
                let story = story(*system, &format!("item {}", n % 3));
                whole.push(&story, &[f64::from(n), 1.0]);
                ledger.push(&story, &[f64::from(n), 1.0]);
            }
            parts.append(ledger);
        }
        assert_eq!(parts.systems(), ["rain", "sun", "fog"]);
        let resampling = Resampling { resamples: 20, ..Resampling::default() };
        assert_eq!(parts.all(&scorer, &resampling), whole.all(&scorer, &resampling));
        assert_eq!(parts.system_of, whole.system_of);
        assert_eq!(parts.item_of, whole.item_of);
        let against = |ledger: &Ledger| ledger.against("rain", &scorer, &resampling);
        assert_eq!(against(&parts), against(&whole));
    }
}
