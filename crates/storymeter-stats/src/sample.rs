//! The stories of one system, and how sure its scores are.

use crate::bootstrap::{BootstrapMethod, BootstrapOptions, LARGE_SAMPLE, WeightedSums};
use crate::error::Result;
use crate::interval::Interval;

/// The number of items up to which intervals are drawn. Of more items, the interval of Student's t
/// hardly differs, and drawing takes long.
pub const LARGEST_DRAWN: usize = 20_000;

/// Whether the interval of so many items is one of the bootstrap, and not one of Student's t.
pub(crate) fn is_drawn(items: usize) -> bool {
    (LARGE_SAMPLE..=LARGEST_DRAWN).contains(&items)
}

/// How many draws intervals and tests take, and from which random numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Resampling {
    /// The number of resamples.
    pub resamples: usize,
    /// The confidence of the intervals; 1 less this is the level of tests.
    pub confidence: f64,
    /// The seed of the draws.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { resamples: Self::RESAMPLES, confidence: 0.95, seed: Self::SEED }
    }
}

impl Resampling {
    /// The options after a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The default number of resamples.
    pub const RESAMPLES: usize = 9999;
    /// The default seed.
    pub const SEED: u64 = 1;

    pub(crate) fn bootstrap(&self) -> BootstrapOptions {
        BootstrapOptions {
            resamples: self.resamples,
            confidence: self.confidence,
            method: BootstrapMethod::Auto,
            seed: self.seed,
        }
    }
}

/// The stories of one system: the item of each, and the terms that its scores are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    width: usize,
    items: Vec<u64>,
    terms: Vec<f64>,
}

/// How the terms of stories become scores.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Score<'a> {
    /// Each term is a value of a column of its own, whose score is the mean of the values.
    Mean,
    /// The scores are functions of the sums of all terms, as those of corpus metrics are:
    /// `score(sums, scores)`.
    OfSums {
        /// How many scores there are.
        columns: usize,
        /// Writes the scores; NaN where there is none.
        score: &'a (dyn Fn(&[f64], &mut [f64]) + Sync),
    },
}

impl Sample {
    /// A sample without stories, of which each will have so many terms.
    pub fn new(width: usize) -> Self {
        Self { width, items: Vec::new(), terms: Vec::new() }
    }

    /// Adds a story.
    ///
    /// # Panics
    /// If it has another number of terms.
    pub fn push(&mut self, item: u64, terms: &[f64]) {
        assert_eq!(terms.len(), self.width, "one term per column");
        self.items.push(item);
        self.terms.extend_from_slice(terms);
    }

    /// The number of stories.
    pub fn stories(&self) -> usize {
        self.items.len()
    }

    /// The terms of a story.
    pub fn story(&self, at: usize) -> &[f64] {
        &self.terms[at * self.width..(at + 1) * self.width]
    }

    /// The number of items with several stories.
    pub fn repeated_items(&self) -> usize {
        self.by_item(|_, stories| usize::from(stories.len() > 1)).into_iter().sum()
    }

    /// The number of observations: of items, or of stories if all are of one item.
    pub fn observations(&self) -> usize {
        self.by_item(|_, _| ()).len()
    }

    /// The stories of each item, in the order of the items. If all stories are of one item, each
    /// stands for itself.
    fn by_item<T>(&self, mut of_item: impl FnMut(u64, &[usize]) -> T) -> Vec<T> {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|&story| self.items[story]);
        let is_one = self.items.iter().all(|item| *item == self.items[0]);
        let same = |a: &usize, b: &usize| !is_one && self.items[*a] == self.items[*b];
        order.chunk_by(same).map(|stories| of_item(self.items[stories[0]], stories)).collect()
    }

    /// The sums of the terms of each item, and how many stories they are of.
    fn item_sums(&self) -> Vec<f64> {
        let mut sums = Vec::with_capacity(self.terms.len() + self.items.len());
        self.by_item(|_, stories| {
            let start = sums.len();
            sums.resize(start + self.width, 0.0);
            for &story in stories {
                add(&mut sums[start..], self.story(story));
            }
            sums.push(stories.len() as f64);
        });
        sums
    }

    /// The mean terms of each item.
    pub(crate) fn item_means(&self) -> ItemMeans {
        let sums = self.item_sums();
        let mean = |sums: &[f64]| {
            let (terms, stories) = sums.split_at(self.width);
            terms.iter().map(|sum| sum / stories[0]).collect::<Vec<f64>>()
        };
        ItemMeans {
            width: self.width,
            items: self.by_item(|item, _| item),
            terms: sums.chunks_exact(self.width + 1).flat_map(mean).collect(),
        }
    }
}

impl Score<'_> {
    pub(crate) fn columns(&self, width: usize) -> usize {
        match self {
            Self::Mean => width,
            Self::OfSums { columns, .. } => *columns,
        }
    }

    /// The scores of so many observations, given their sums.
    pub(crate) fn write(&self, sums: &[f64], n: f64, scores: &mut [f64]) {
        match self {
            Self::Mean => {
                scores.iter_mut().zip(sums).for_each(|(score, sum)| *score = sum / n);
            }
            Self::OfSums { score, .. } => score(sums, scores),
        }
    }
}

/// The intervals of a system's scores.
///
/// They are those of the percentile bootstrap over items. For fewer than [`LARGE_SAMPLE`] items and
/// for more than [`LARGEST_DRAWN`], they are those of Student's t with the standard error of the
/// jackknife. An interval is undefined for fewer than two items and for few values that are all
/// equal.
///
/// The score itself counts every story, whatever its item is.
///
/// ```
/// use storymeter_stats::{Resampling, Sample, Score, score_intervals};
/// let mut sample = Sample::new(1);
/// for (item, value) in [(1, 1.0), (2, 2.0), (3, 6.0)] {
///     sample.push(item, &[value]);
/// }
/// let found = score_intervals(&sample, Score::Mean, &Resampling::default())?;
/// assert!(found[0].contains(3.0) && found[0].high > 9.5); // three stories say little
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if there are no resamples or the confidence does not lie strictly between 0
/// and 1.
pub fn score_intervals(
    sample: &Sample,
    score: Score<'_>,
    resampling: &Resampling,
) -> Result<Vec<Interval>> {
    let options = resampling.bootstrap();
    options.check(0, 0)?;
    let (width, columns) = (sample.width, score.columns(sample.width));
    let sums = WeightedSums::new(width + 1, sample.item_sums())?;
    if sums.items() < 2 {
        return Ok(vec![Interval::UNDEFINED; columns]);
    }
    let scores = |sums: &[f64], out: &mut [f64]| score.write(&sums[..width], sums[width], out);
    Ok(sums.bootstrap(columns, scores, &options)?.into_iter().map(|one| one.interval).collect())
}

/// The items of a system in the order of their keys, each with its mean terms.
pub(crate) struct ItemMeans {
    width: usize,
    pub items: Vec<u64>,
    terms: Vec<f64>,
}

impl ItemMeans {
    pub fn of(&self, at: usize) -> &[f64] {
        &self.terms[at * self.width..(at + 1) * self.width]
    }
}

fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
