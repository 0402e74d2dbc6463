//! Which of two systems is better, and how sure is the score of one system?
//!
//! This is the one engine behind every comparison of systems. A system is a [`Sample`]: its stories
//! with their items, and per story the terms that a score is made of.
//! [`score_intervals`](crate::score_intervals) gives the intervals of its own scores and
//! [`compare_samples`] those of its difference from another system.
//!
//! The rules are the same everywhere. Items are what is drawn and exchanged, and several stories of
//! one item count as their mean. Two systems are compared on the items that they share, or, if they
//! share too few, as two groups of items. The number of draws, the confidence and the seed are
//! those of [`Resampling`]. Draws belong to their number and never to a thread or to the pair, so
//! that a result does not depend on what else is compared, and items are in the order of their
//! keys, so that it does not depend on the order of the stories either.

use rayon::prelude::*;

use crate::association::jackknife_error;
use crate::bootstrap::WeightedSums;
use crate::deal::{deal, hands};
use crate::error::{Result, StatsError};
use crate::interval::{Interval, percentile_interval, student_interval};
use crate::resample::{draw_from, stream};
use crate::sample::{ItemMeans, Resampling, Sample, Score, is_drawn};
use crate::subsets::{MaskedSums, exchanged_sums};
use crate::summation::{mean, standard_deviation};

/// Which stories of two systems are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Pairing {
    /// Both systems on the items that both have: a paired test.
    Paired {
        /// The number of shared items.
        items: usize,
    },
    /// All items of one system and all items of the other, because they share too few.
    Unpaired {
        /// The number of items of the first system.
        first: usize,
        /// The number of items of the second system.
        second: usize,
    },
}

impl Pairing {
    /// The number of shared items, or of items of the system that has fewer.
    pub fn observations(self) -> usize {
        match self {
            Self::Paired { items } => items,
            Self::Unpaired { first, second } => first.min(second),
        }
    }
}

/// On how many shared items the score of the first of two systems is higher, equal or lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ItemWins {
    /// The first system is higher, or, where less is better, lower.
    pub wins: usize,
    /// Both are equal.
    pub ties: usize,
    /// The second system is.
    pub losses: usize,
}

/// By how much the score of one system differs from that of another.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Difference {
    /// The score of the first system less that of the second; NaN if one has no score.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub difference: f64,
    /// The interval of the difference.
    pub interval: Interval,
    /// The probability of a difference at least as large by chance, in either direction.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_two_sided: f64,
    /// The same in the direction of the observed difference only.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub p_one_sided: f64,
    /// Whether all exchanges were tried, so that the p-values are exact.
    pub exact: bool,
    /// The standard error of a difference of means; NaN for other scores.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub standard_error: f64,
    /// On how many shared items which mean is higher; only for paired means.
    pub items: Option<ItemWins>,
}

impl Difference {
    /// The same comparison with the second system first.
    #[must_use]
    pub fn reversed(self) -> Self {
        let turned = |items: ItemWins| ItemWins { wins: items.losses, losses: items.wins, ..items };
        Self {
            difference: -self.difference,
            interval: Interval { low: -self.interval.high, high: -self.interval.low },
            items: self.items.map(turned),
            ..self
        }
    }
}

/// Two systems compared.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleComparison {
    /// Which stories were compared.
    pub pairing: Pairing,
    /// One difference per score.
    pub columns: Vec<Difference>,
}

/// Compares two systems.
///
/// If both have at least two items in common, and these are at least half of the items of the
/// system that has fewer, the test is approximate randomisation (Noreen 1989): the outputs of the
/// two systems are exchanged at random, item by item. Otherwise all items are dealt out again at
/// random into groups of the same sizes. The p-value is the share of exchanges with a difference at
/// least as large as the observed one: of all exchanges if there are no more than resamples, and
/// otherwise `(c + 1) / (resamples + 1)`, where `c` counts the random ones. An exchange without a
/// score counts, which can only make p larger.
///
/// The interval of the difference is found as that of a score
/// ([`score_intervals`](crate::score_intervals)), with Welch's degrees of freedom if the items are
/// not paired.
///
/// ```
/// use storymeter_stats::{Pairing, Resampling, Sample, Score, compare_samples};
/// let sample = |values: [f64; 3]| {
///     let mut sample = Sample::new(1);
///     (0..).zip(values).for_each(|(item, value)| sample.push(item, &[value]));
///     sample
/// };
/// let (a, b) = (sample([3.0, 4.0, 5.0]), sample([1.0, 3.0, 2.0]));
/// let found = compare_samples(&a, &b, Score::Mean, &Resampling::default())?;
/// assert_eq!(found.pairing, Pairing::Paired { items: 3 });
/// let one = found.columns[0];
/// assert!(one.exact && one.difference == 2.0 && one.p_two_sided == 0.25); // 2 of 8 exchanges
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a system has fewer than two items, there are no resamples, or the confidence
/// does not lie strictly between 0 and 1.
pub fn compare_samples(
    first: &Sample,
    second: &Sample,
    score: Score<'_>,
    resampling: &Resampling,
) -> Result<SampleComparison> {
    let (a, b) = (first.item_means(), second.item_means());
    let fewest = a.items.len().min(b.items.len());
    StatsError::check_count("a comparison of systems", "items", 2, fewest)?;
    resampling.bootstrap().check(2, fewest)?;
    let shared = shared(&a, &b);
    // With fewer shared items than half of what the smaller system has, a paired test would throw
    // away more than pairing gains.
    if shared.len() >= 2 && 2 * shared.len() >= fewest {
        let pairing = Pairing::Paired { items: shared.len() };
        let (a, b) = shared.iter().map(|&(i, j)| (a.of(i), b.of(j))).unzip();
        let engine = Engine::new(a, b, score, resampling);
        return Ok(SampleComparison { pairing, columns: engine.paired()? });
    }
    let pairing = Pairing::Unpaired { first: a.items.len(), second: b.items.len() };
    let [a, b] = [&a, &b].map(|own| (0..own.items.len()).map(|at| own.of(at)).collect());
    let engine = Engine::new(a, b, score, resampling);
    Ok(SampleComparison { pairing, columns: engine.unpaired()? })
}

/// Where the items that both systems have stand in either. Stories of one item alone are not
/// paired: nothing says which of them belong together.
fn shared(a: &ItemMeans, b: &ItemMeans) -> Vec<(usize, usize)> {
    let is_one = |own: &ItemMeans| own.items.first() == own.items.last();
    if is_one(a) || is_one(b) {
        return Vec::new();
    }
    let mut theirs = b.items.iter().enumerate().peekable();
    let mut shared = Vec::new();
    for (at, item) in a.items.iter().enumerate() {
        while theirs.next_if(|(_, their)| *their < item).is_some() {}
        if let Some((other, _)) = theirs.next_if(|(_, their)| *their == item) {
            shared.push((at, other));
        }
    }
    shared
}

/// What the items of two systems are tested with.
struct Engine<'a> {
    a: Vec<&'a [f64]>,
    b: Vec<&'a [f64]>,
    score: Score<'a>,
    columns: usize,
    /// By term: what it is divided by before terms are added up. Means are in units of the largest
    /// value, so that differences of the smallest numbers are not rounded away and those of the
    /// largest ones do not overflow.
    units: Vec<f64>,
    resampling: &'a Resampling,
}

/// How many exchanges had a difference at least as large as the observed one.
#[derive(Clone, Copy, Default)]
struct Extreme {
    either: usize,
    same: usize,
}

/// The observed difference of a column, in its unit, and how far below it a difference still counts
/// as equal: sums of the same numbers in another order differ in their last bits.
#[derive(Clone, Copy)]
struct Observed {
    difference: f64,
    slack: f64,
}

impl Observed {
    fn count(&self, found: f64, extreme: &mut Extreme) {
        let least = self.difference.abs() - self.slack;
        let same = if self.difference < 0.0 { -found } else { found };
        extreme.either += usize::from(found.is_nan() || found.abs() >= least);
        extreme.same += usize::from(found.is_nan() || same >= least);
    }
}

impl<'a> Engine<'a> {
    fn new(
        a: Vec<&'a [f64]>,
        b: Vec<&'a [f64]>,
        score: Score<'a>,
        resampling: &'a Resampling,
    ) -> Self {
        let width = a[0].len();
        let mut units = vec![1.0; width];
        if let Score::Mean = score {
            units = vec![0.0f64; width];
            for row in a.iter().chain(&b) {
                units.iter_mut().zip(*row).for_each(|(unit, term)| *unit = unit.max(term.abs()));
            }
            units.iter_mut().filter(|unit| **unit == 0.0).for_each(|unit| *unit = 1.0);
        }
        Self { columns: score.columns(width), a, b, score, units, resampling }
    }

    fn width(&self) -> usize {
        self.units.len()
    }

    fn sums(&self, rows: &[&[f64]]) -> Vec<f64> {
        let mut sums = vec![0.0; self.width()];
        for row in rows {
            for ((sum, term), unit) in sums.iter_mut().zip(*row).zip(&self.units) {
                *sum += term / unit;
            }
        }
        sums
    }

    /// The scores of sums over so many items, in units.
    fn scores(&self, sums: &[f64], n: usize) -> Vec<f64> {
        let mut scores = vec![0.0; self.columns];
        self.score.write(sums, n as f64, &mut scores);
        scores
    }

    /// The unit of a column's score.
    fn unit(&self, column: usize) -> f64 {
        match self.score {
            Score::Mean => self.units[column],
            Score::OfSums { .. } => 1.0,
        }
    }

    /// The observed differences in units, and those that are reported.
    fn observed(&self, sums: [&[f64]; 2]) -> (Vec<Observed>, Vec<f64>) {
        let a = self.scores(sums[0], self.a.len());
        let b = self.scores(sums[1], self.b.len());
        let one = |column: usize| {
            let difference = a[column] - b[column];
            let column_of = |rows: &[&[f64]]| rows.iter().map(|row| row[column]).collect();
            match self.score {
                Score::Mean => {
                    let [a, b] = [&self.a, &self.b].map(|rows| -> Vec<f64> { column_of(rows) });
                    (Observed { difference, slack: 1e-13 }, mean(&a) - mean(&b))
                }
                Score::OfSums { .. } => {
                    let slack = 1e-12 * (a[column].abs() + b[column].abs());
                    (Observed { difference, slack }, difference)
                }
            }
        };
        (0..self.columns).map(one).unzip()
    }

    fn paired(&self) -> Result<Vec<Difference>> {
        let n = self.a.len();
        let [a, b] = [&self.a, &self.b].map(|rows| self.sums(rows));
        let (observed, differences) = self.observed([&a, &b]);
        // What an exchange of an item takes from the sums of one system and gives to the other.
        let moved: Vec<f64> = self
            .a
            .iter()
            .zip(&self.b)
            .flat_map(|(a, b)| a.iter().zip(*b).zip(&self.units).map(|((a, b), u)| a / u - b / u))
            .collect();
        let MaskedSums { sums, exact } =
            exchanged_sums(&moved, self.width(), self.resampling.resamples, self.resampling.seed);
        let count = |mut extreme: Vec<Extreme>, moved: &[f64]| {
            let less: Vec<f64> = a.iter().zip(moved).map(|(a, moved)| a - moved).collect();
            let more: Vec<f64> = b.iter().zip(moved).map(|(b, moved)| b + moved).collect();
            let (first, second) = (self.scores(&less, n), self.scores(&more, n));
            for (column, extreme) in extreme.iter_mut().enumerate() {
                observed[column].count(first[column] - second[column], extreme);
            }
            extreme
        };
        let extreme = self.fold(sums.par_chunks(self.width()), count);
        let intervals = self.paired_intervals(&moved)?;
        let rounds = sums.len() / self.width();
        Ok(self.differences(&differences, intervals, &extreme, (exact, rounds), true))
    }

    /// The intervals of the differences over shared items.
    fn paired_intervals(&self, moved: &[f64]) -> Result<Vec<Interval>> {
        let (n, width) = (self.a.len(), self.width());
        let options = self.resampling.bootstrap();
        // A mean of differences is the difference of means, at half the cost.
        let found = match self.score {
            Score::Mean => {
                let row = |moved: &[f64]| moved.iter().copied().chain([1.0]).collect::<Vec<f64>>();
                let rows = moved.chunks_exact(width).flat_map(row).collect();
                let scores = |sums: &[f64], out: &mut [f64]| {
                    for (column, score) in out.iter_mut().enumerate() {
                        *score = self.units[column] * (sums[column] / sums[width]);
                    }
                };
                WeightedSums::new(width + 1, rows)?.bootstrap(self.columns, scores, &options)?
            }
            Score::OfSums { .. } => {
                let rows = self.a.iter().zip(&self.b).flat_map(|(a, b)| a.iter().chain(*b));
                let scores = |sums: &[f64], out: &mut [f64]| {
                    let (a, b) = sums.split_at(width);
                    let (a, b) = (self.scores(a, n), self.scores(b, n));
                    out.iter_mut().zip(a).zip(b).for_each(|((score, a), b)| *score = a - b);
                };
                WeightedSums::new(2 * width, rows.copied().collect())?.bootstrap(
                    self.columns,
                    scores,
                    &options,
                )?
            }
        };
        Ok(found.into_iter().map(|one| one.interval).collect())
    }

    fn unpaired(&self) -> Result<Vec<Difference>> {
        let (n, m) = (self.a.len(), self.b.len());
        let [a, b] = [&self.a, &self.b].map(|rows| self.sums(rows));
        let (observed, differences) = self.observed([&a, &b]);
        let pool: Vec<&[f64]> = self.a.iter().chain(&self.b).copied().collect();
        let total = self.sums(&pool);
        // The smaller group is dealt, and the other one has what is left.
        let dealt = n.min(m);
        let count = |mut extreme: Vec<Extreme>, hand: &[usize]| {
            let hand: Vec<&[f64]> = hand.iter().map(|&card| pool[card]).collect();
            let dealt_sums = self.sums(&hand);
            let left: Vec<f64> =
                total.iter().zip(&dealt_sums).map(|(all, own)| all - own).collect();
            let own = self.scores(&dealt_sums, dealt);
            let other = self.scores(&left, pool.len() - dealt);
            for (column, extreme) in extreme.iter_mut().enumerate() {
                let found = own[column] - other[column];
                observed[column].count(if n <= m { found } else { -found }, extreme);
            }
            extreme
        };
        let Resampling { resamples, seed, .. } = *self.resampling;
        let (extreme, exact, rounds) = match hands(pool.len(), dealt, resamples) {
            Some(hands) => {
                (self.fold(hands.par_iter(), |e, hand| count(e, hand)), true, hands.len())
            }
            None => {
                let round = |extreme: Vec<Extreme>, round: usize| {
                    // Every round starts from a sorted deck, so that it does not depend on others.
                    let mut deck: Vec<usize> = (0..pool.len()).collect();
                    deal(&mut stream(seed, round as u64), &mut deck, dealt);
                    count(extreme, &deck[..dealt])
                };
                (self.fold((0..resamples).into_par_iter(), round), false, resamples)
            }
        };
        let intervals = self.unpaired_intervals([&a, &b])?;
        Ok(self.differences(&differences, intervals, &extreme, (exact, rounds), false))
    }

    /// The intervals of the differences between two groups of items.
    fn unpaired_intervals(&self, sums: [&[f64]; 2]) -> Result<Vec<Interval>> {
        let (n, m) = (self.a.len(), self.b.len());
        let scores = sums.iter().zip([n, m]).map(|(sums, n)| self.scores(sums, n));
        let scores: Vec<Vec<f64>> = scores.collect();
        if !is_drawn(n.min(m)) || !is_drawn(n.max(m)) {
            let [first, second] = [0, 1].map(|side| {
                let (rows, sums) = ([&self.a, &self.b][side], sums[side]);
                self.left_out(rows, sums)
            });
            let welch = |column: usize| {
                let side = |values: &[Vec<f64>]| {
                    let values: Vec<f64> = values.iter().map(|scores| scores[column]).collect();
                    (jackknife_error(&values).powi(2), values.len() as f64 - 1.0)
                };
                let ((a, in_a), (b, in_b)) = (side(&first), side(&second));
                let df = (a + b).powi(2) / (a * a / in_a + b * b / in_b);
                let estimate = scores[0][column] - scores[1][column];
                let confidence = self.resampling.confidence;
                self.in_units(column, student_interval(estimate, (a + b).sqrt(), df, confidence))
            };
            return Ok((0..self.columns).map(welch).collect());
        }
        let draw = |resample: usize| {
            let mut random = stream(self.resampling.seed, resample as u64);
            let mut side = |rows: &[&[f64]]| {
                let mut drawn = vec![0; rows.len()];
                draw_from(&mut random, rows.len(), &mut drawn);
                let drawn: Vec<&[f64]> = drawn.into_iter().map(|at| rows[at]).collect();
                self.scores(&self.sums(&drawn), rows.len())
            };
            let (a, b) = (side(&self.a), side(&self.b));
            a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>()
        };
        let drawn: Vec<Vec<f64>> =
            (0..self.resampling.resamples).into_par_iter().map(draw).collect();
        let interval = |column: usize| {
            let values = drawn.iter().map(|scores| scores[column]).filter(|v| !v.is_nan());
            let found =
                percentile_interval(&values.collect::<Vec<f64>>(), self.resampling.confidence)?;
            Ok(self.in_units(column, found))
        };
        (0..self.columns).map(interval).collect()
    }

    /// The scores without each of the items.
    fn left_out(&self, rows: &[&[f64]], sums: &[f64]) -> Vec<Vec<f64>> {
        let without = |row: &&[f64]| {
            let own = self.sums(&[*row]);
            let left: Vec<f64> = sums.iter().zip(own).map(|(all, own)| all - own).collect();
            self.scores(&left, rows.len() - 1)
        };
        rows.iter().map(without).collect()
    }

    fn in_units(&self, column: usize, found: Interval) -> Interval {
        let unit = self.unit(column);
        Interval { low: unit * found.low, high: unit * found.high }
    }

    /// Counts over all rounds. Counts are whole numbers, so that their order does not matter.
    fn fold<T: Send>(
        &self,
        rounds: impl ParallelIterator<Item = T>,
        count: impl Fn(Vec<Extreme>, T) -> Vec<Extreme> + Sync + Send,
    ) -> Vec<Extreme> {
        let none = || vec![Extreme::default(); self.columns];
        rounds.fold(none, &count).reduce(none, |mut all, more| {
            for (all, more) in all.iter_mut().zip(more) {
                all.either += more.either;
                all.same += more.same;
            }
            all
        })
    }

    fn differences(
        &self,
        differences: &[f64],
        intervals: Vec<Interval>,
        extreme: &[Extreme],
        (exact, rounds): (bool, usize),
        is_paired: bool,
    ) -> Vec<Difference> {
        // A random sample of exchanges gets the observed one added.
        let share = |count: usize, difference: f64| match exact {
            _ if difference.is_nan() => f64::NAN,
            true => count as f64 / rounds as f64,
            false => (count + 1) as f64 / (rounds + 1) as f64,
        };
        let one = |(column, interval): (usize, Interval)| {
            let difference = differences[column];
            let (standard_error, items) = match self.score {
                Score::Mean if is_paired => self.item_by_item(column),
                Score::Mean => (self.welch_error(column), None),
                Score::OfSums { .. } => (f64::NAN, None),
            };
            Difference {
                difference,
                interval: if difference.is_nan() { Interval::UNDEFINED } else { interval },
                p_two_sided: share(extreme[column].either, difference),
                p_one_sided: share(extreme[column].same, difference),
                exact,
                standard_error,
                items,
            }
        };
        intervals.into_iter().enumerate().map(one).collect()
    }

    /// The standard error of a mean difference, and which system is higher on how many items.
    fn item_by_item(&self, column: usize) -> (f64, Option<ItemWins>) {
        let mut items = ItemWins::default();
        let mut differences = Vec::with_capacity(self.a.len());
        for (a, b) in self.a.iter().zip(&self.b) {
            let (a, b) = (a[column], b[column]);
            differences.push(a - b);
            // Means over several stories of one item tie up to their last bits.
            let slack = 1e-12 * a.abs().max(b.abs());
            match a - b {
                higher if higher > slack => items.wins += 1,
                lower if lower < -slack => items.losses += 1,
                _ => items.ties += 1,
            }
        }
        let error = standard_deviation(&differences) / (differences.len() as f64).sqrt();
        (error, Some(items))
    }

    /// The standard error of the difference between the means of two groups.
    fn welch_error(&self, column: usize) -> f64 {
        let variance = |rows: &[&[f64]]| {
            let values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
            standard_deviation(&values).powi(2) / values.len() as f64
        };
        (variance(&self.a) + variance(&self.b)).sqrt()
    }
}
