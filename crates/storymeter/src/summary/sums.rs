//! Exact sums over many stories, and the scores and normal intervals that follow from them.

use rayon::prelude::*;
use storymeter_core::{Header, MetricSums as MetricTotals, Pooling, SystemTotals, Value};
use storymeter_executor::{MetricSet, Part, mean};
use storymeter_stats::distribution::normal_quantile;
use storymeter_stats::{ExactSum, Interval};

use super::{ColumnSummary, Summary};

/// Rows up to this width have the sums of the products of their numbers, from which their
/// covariances follow. The widest metric today that adds rows up, chrF++, has rows of 24 numbers
/// and so 300 products.
pub(super) const NARROW: usize = 32;

/// The sums of a header are left out if they would take more bytes than this. The rest of a header
/// is much smaller than what remains.
const MOST_SUMS: usize = Header::MOST_BYTES as usize / 4 * 3;

/// How far the sums of a system are indented in a header.
const INDENT: usize = 6;

/// How many stories one thread adds up at a time.
const CHUNK: usize = 4096;

/// Whole numbers up to this size are multiplied and added as integers, which is much faster. A
/// chunk of the largest products still fits into 63 bits.
const SMALL: f64 = (1u32 << 24) as f64;

/// Sums over stories, by system.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sums {
    /// The stories without a system, and then those of each system.
    groups: Vec<Group>,
}

/// Sums over some stories.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    pub stories: u64,
    /// By metric; empty as long as there is no story.
    pub metrics: Vec<MetricSums>,
}

/// The sums of one metric.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MetricSums {
    /// By column, how many values there are, if the metric averages values.
    pub present: Vec<u64>,
    /// Sums and sums of squares by column, if the metric averages values; otherwise sums of rows
    /// and, if they are narrow, of products.
    pub sums: Vec<ExactSum>,
}

impl MetricSums {
    fn new(part: &Part<'_>) -> Self {
        let (present, sums) =
            shape(part.metric.description().pooling, part.columns.len(), part.stats.len());
        Self { present: vec![0; present], sums: vec![ExactSum::default(); sums] }
    }

    fn merge(&mut self, other: &Self) {
        self.present.iter_mut().zip(&other.present).for_each(|(own, more)| *own += more);
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, more)| own.merge(more));
    }
}

/// How many counts and how many sums a metric has.
pub(super) fn shape(pooling: Pooling, columns: usize, width: usize) -> (usize, usize) {
    match pooling {
        Pooling::Mean => (columns, 2 * columns),
        Pooling::Sum if width <= NARROW => (0, width + width * (width + 1) / 2),
        Pooling::Sum => (0, width),
    }
}

impl Sums {
    /// Sums of rows of this width, whose stories have these systems.
    pub(super) fn of(
        (rows, width): (&[f64], usize),
        system_of: &[Option<u32>],
        systems: usize,
        metrics: &MetricSet,
    ) -> Self {
        let parts: Vec<Part<'_>> = metrics.parts().collect();
        // A metric may have rows without any number, which no chunk could be cut from.
        let chunks = rows.par_chunks(CHUNK * width.max(1)).zip(system_of.par_chunks(CHUNK));
        let empty = || Self { groups: vec![Group::default(); systems + 1] };
        chunks
            .map(|(rows, system_of)| {
                let mut sums = empty();
                let rows: Vec<&[f64]> = rows.chunks_exact(width.max(1)).collect();
                let mut members: Vec<Vec<&[f64]>> = vec![Vec::new(); systems + 1];
                for (row, system) in rows.iter().zip(system_of) {
                    members[place(*system)].push(row);
                }
                for (group, rows) in sums.groups.iter_mut().zip(members) {
                    if !rows.is_empty() {
                        group.stories = rows.len() as u64;
                        group.metrics = parts.iter().map(|part| add_up(part, &rows)).collect();
                    }
                }
                sums
            })
            .reduce(empty, |mut a, b| {
                a.groups.iter_mut().zip(&b.groups).for_each(|(own, more)| own.merge(more));
                a
            })
    }

    /// The sums of each system as a header has them, unless there are too many systems, which have
    /// these names.
    pub(super) fn totals(
        &self,
        systems: &[String],
        no_stories: &[u64],
    ) -> Option<Vec<SystemTotals>> {
        let names = std::iter::once(None).chain(systems.iter().cloned().map(Some));
        let (mut bytes, none) = (0, Group::default());
        let mut totals = Vec::new();
        for (at, name) in names.enumerate() {
            let group = self.groups.get(at).unwrap_or(&none);
            let no_stories = no_stories.get(at).copied().unwrap_or(0);
            if group.stories == 0 && no_stories == 0 {
                continue;
            }
            let system = SystemTotals { no_stories, ..group.totals(name) };
            let text = serde_json::to_string_pretty(&system).ok()?;
            bytes += text.len() + (INDENT + 1) * (text.lines().count() + 1);
            if bytes > MOST_SUMS {
                return None;
            }
            totals.push(system);
        }
        Some(totals)
    }

    /// The sums of a header, if they are those of the metrics. The systems are numbered in the
    /// order in which the header names them.
    pub(super) fn from_totals(totals: &[SystemTotals], metrics: &MetricSet) -> Option<Self> {
        let mut groups = vec![Group::default()];
        for system in totals {
            let group = Group::from_totals(system, metrics)?;
            match system.system {
                None => groups[0] = group,
                Some(_) => groups.push(group),
            }
        }
        Some(Self { groups })
    }

    /// Adds the sums of later stories. Their systems have these numbers here.
    pub(super) fn merge(&mut self, later: &Self, numbers: &[u32]) {
        for (at, group) in later.groups.iter().enumerate() {
            let own = place(at.checked_sub(1).map(|system| numbers[system]));
            if self.groups.len() <= own {
                self.groups.resize_with(own + 1, Group::default);
            }
            self.groups[own].merge(group);
        }
    }

    /// All stories together.
    pub(super) fn all(&self) -> Group {
        let mut all = Group::default();
        self.groups.iter().for_each(|group| all.merge(group));
        all
    }

    /// The stories of the system with this number.
    pub(super) fn of_system(&self, number: u32) -> Group {
        self.groups.get(place(Some(number))).cloned().unwrap_or_default()
    }
}

/// Where the sums of a system stand.
pub(super) fn place(system: Option<u32>) -> usize {
    system.map_or(0, |number| number as usize + 1)
}

/// Adds up what a metric needs of rows of the whole set.
fn add_up(part: &Part<'_>, rows: &[&[f64]]) -> MetricSums {
    let mut total = MetricSums::new(part);
    let own = rows.iter().map(|row| &row[part.stats.clone()]);
    match part.metric.description().pooling {
        Pooling::Mean => {
            let mut values: Vec<Value> = vec![Ok(0.0); part.columns.len()];
            for row in own {
                part.metric.values(row, &mut values);
                for (at, value) in values.iter().enumerate() {
                    if let Ok(value) = *value {
                        total.present[at] += 1;
                        total.sums[2 * at].add(value);
                        total.sums[2 * at + 1].add_product(value, value);
                    }
                }
            }
        }
        Pooling::Sum => {
            let width = part.stats.len();
            let products = total.sums.len() > width;
            let mut whole = vec![0i64; total.sums.len()];
            let mut integers = vec![0i64; width];
            for row in own {
                let mut small = true;
                for (integer, &number) in integers.iter_mut().zip(row) {
                    *integer = number as i64;
                    small &= *integer as f64 == number && number.abs() <= SMALL;
                }
                if small {
                    add_products(&integers, &mut whole, products);
                } else {
                    add_row(row, &mut total.sums, products);
                }
            }
            for (sum, whole) in total.sums.iter_mut().zip(whole) {
                sum.add_integer(whole);
            }
        }
    }
    total
}

fn add_products(row: &[i64], sums: &mut [i64], products: bool) {
    let (first, mut triangle) = sums.split_at_mut(row.len());
    first.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
    for at in (0..row.len()).filter(|_| products) {
        let (line, remainder) = triangle.split_at_mut(row.len() - at);
        line.iter_mut().zip(&row[at..]).for_each(|(sum, other)| *sum += row[at] * other);
        triangle = remainder;
    }
}

fn add_row(row: &[f64], sums: &mut [ExactSum], products: bool) {
    let (first, mut triangle) = sums.split_at_mut(row.len());
    first.iter_mut().zip(row).for_each(|(sum, number)| sum.add(*number));
    for at in (0..row.len()).filter(|_| products) {
        let (line, remainder) = triangle.split_at_mut(row.len() - at);
        line.iter_mut().zip(&row[at..]).for_each(|(sum, other)| sum.add_product(row[at], *other));
        triangle = remainder;
    }
}

impl Group {
    fn totals(&self, system: Option<String>) -> SystemTotals {
        let metrics = self.metrics.iter().map(|own| {
            let sums: Vec<String> = own.sums.iter().map(ExactSum::to_string).collect();
            MetricTotals { present: own.present.clone(), sums: sums.join(" ") }
        });
        SystemTotals { system, stories: self.stories, no_stories: 0, metrics: metrics.collect() }
    }

    fn from_totals(totals: &SystemTotals, metrics: &MetricSet) -> Option<Self> {
        let mut group = Self { stories: totals.stories, metrics: Vec::new() };
        if totals.stories == 0 && totals.metrics.is_empty() {
            return Some(group);
        }
        if totals.metrics.len() != metrics.parts().count() {
            return None;
        }
        for (part, own) in metrics.parts().zip(&totals.metrics) {
            let sums = own.sums.split(' ').filter(|text| !text.is_empty());
            let sums = sums.map(str::parse).collect::<Result<Vec<ExactSum>, _>>().ok()?;
            let pooling = part.metric.description().pooling;
            let shape = shape(pooling, part.columns.len(), part.stats.len());
            if (own.present.len(), sums.len()) != shape {
                return None;
            }
            group.metrics.push(MetricSums { present: own.present.clone(), sums });
        }
        Some(group)
    }

    fn merge(&mut self, other: &Self) {
        self.stories += other.stories;
        if self.metrics.is_empty() {
            self.metrics.clone_from(&other.metrics);
            return;
        }
        self.metrics.iter_mut().zip(&other.metrics).for_each(|(own, more)| own.merge(more));
    }

    /// The score of the stories together, one per column.
    pub(super) fn scores(&self, metrics: &MetricSet) -> Vec<Value> {
        let parts = metrics.parts().enumerate();
        parts.flat_map(|(at, part)| self.values(&part, at)).collect()
    }

    /// The scores with normal intervals.
    pub(super) fn summary(
        &self,
        system: Option<String>,
        metrics: &MetricSet,
        confidence: f64,
    ) -> Summary {
        let reach = normal_quantile(0.5 + confidence / 2.0);
        let mut columns = Vec::with_capacity(metrics.columns().len());
        for (at, part) in metrics.parts().enumerate() {
            let scores = self.values(&part, at);
            let variances = self.variances(&part, at);
            for (score, variance) in scores.into_iter().zip(variances) {
                let interval = score.as_ref().ok().zip(variance).map(|(score, variance)| {
                    let half = reach * variance.max(0.0).sqrt();
                    Interval { low: score - half, high: score + half }
                });
                let interval = interval.filter(Interval::is_defined);
                columns.push(ColumnSummary { score, interval });
            }
        }
        Summary { system, stories: self.stories as usize, items: None, columns }
    }

    /// The scores of the columns of one metric.
    fn values(&self, part: &Part<'_>, at: usize) -> Vec<Value> {
        let Some(own) = self.metrics.get(at) else { return part.aggregate(&[]) };
        match part.metric.description().pooling {
            Pooling::Mean => {
                let value =
                    |column: usize| mean(own.sums[2 * column].value(), own.present[column] as f64);
                (0..part.columns.len()).map(value).collect()
            }
            Pooling::Sum => {
                let sums: Vec<f64> =
                    own.sums[..part.stats.len()].iter().map(ExactSum::value).collect();
                let mut values: Vec<Value> = vec![Ok(0.0); part.columns.len()];
                part.metric.pooled_values(&sums, &mut values);
                values
            }
        }
    }

    /// The variances of the scores of one metric.
    fn variances(&self, part: &Part<'_>, at: usize) -> Vec<Option<f64>> {
        let none = vec![None; part.columns.len()];
        let Some(own) = self.metrics.get(at) else { return none };
        match part.metric.description().pooling {
            Pooling::Mean => {
                let variance = |column: usize| {
                    let count = own.present[column] as f64;
                    let sum = own.sums[2 * column].value();
                    let squares = own.sums[2 * column + 1].value();
                    (count >= 2.0).then(|| (squares - sum * sum / count) / (count - 1.0) / count)
                };
                (0..part.columns.len()).map(variance).collect()
            }
            Pooling::Sum if self.stories < 2 || own.sums.len() == part.stats.len() => none,
            Pooling::Sum => delta_method(part, &own.sums, self.stories as f64),
        }
    }
}

/// The variances of functions of summed rows, to first order: the covariances of the sums between
/// the slopes of the function, which are found by a small step to either side.
fn delta_method(part: &Part<'_>, sums: &[ExactSum], stories: f64) -> Vec<Option<f64>> {
    let width = part.stats.len();
    let values: Vec<f64> = sums.iter().map(ExactSum::value).collect();
    let (sums, products) = values.split_at(width);
    let columns = part.columns.len();
    let pooled = |sums: &[f64]| {
        let mut found: Vec<Value> = vec![Ok(0.0); columns];
        part.metric.pooled_values(sums, &mut found);
        found.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect::<Vec<f64>>()
    };
    // A number that is the same in every row does not vary, whatever its slope is.
    let covariance = |a: usize, b: usize| {
        let (a, b) = (a.min(b), a.max(b));
        let product = products[a * width - a * (a + 1) / 2 + b];
        (product - sums[a] * sums[b] / stories) * stories / (stories - 1.0)
    };
    let varies: Vec<usize> = (0..width).filter(|&at| covariance(at, at) > 0.0).collect();
    let slope = |&at: &usize| {
        let step = 1e-6 * if sums[at] == 0.0 { 1.0 } else { sums[at].abs() };
        let moved = |by: f64| {
            let mut moved = sums.to_vec();
            moved[at] += by;
            pooled(&moved)
        };
        let (above, below) = (moved(step), moved(-step));
        above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * step)).collect::<Vec<f64>>()
    };
    let slopes: Vec<Vec<f64>> = varies.iter().map(slope).collect();
    let variance = |column: usize| {
        let mut variance = 0.0;
        for (i, &a) in varies.iter().enumerate() {
            for (j, &b) in varies.iter().enumerate() {
                variance += slopes[i][column] * slopes[j][column] * covariance(a, b);
            }
        }
        Some(variance).filter(|variance| variance.is_finite())
    };
    (0..columns).map(variance).collect()
}

#[cfg(test)]
mod tests;
