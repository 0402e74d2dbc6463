//! The computation behind a comparison of systems.

use rayon::prelude::*;
use storymeter_core::{Column, Direction, Range, ScoreTable, Signature};
use storymeter_stats::{
    Correction, Difference, Interval, PowerTarget, SampleComparison, Score, compare_samples, mean,
    score_intervals, standard_deviation,
};

use super::stories::{Stories, SystemValues, alike};
use super::{
    Caution, Cluster, ItemWins, Method, Options, PairResult, Pairing, Power, RankedSystem,
    SystemComparison, SystemPair,
};
use crate::error::{Error, Result};
use crate::grid::{check_numbers, file_of};
use crate::outcome::{Absence, Outcome, finite_or};
use crate::study::{PValue, Side, Sides};

/// The most systems. Every two of them are tested with thousands of resamples.
pub(crate) const MOST_SYSTEMS: usize = 300;

/// The probability with which a difference that exists is to be found.
const POWER: f64 = 0.8;

/// Differences from this many standard deviations on are worth a warning if too few stories are
/// there to be sure of them. It is what Cohen (1988) calls a small effect.
const SMALL_EFFECT: f64 = 0.2;

/// Compares the systems by every column that the options name, or by every column.
///
/// # Errors
/// Returns an error if a name in the options is not known, only some stories have a system, a
/// number is too large, or there are too many systems.
pub fn compare(table: &ScoreTable, options: &Options) -> Result<Vec<SystemComparison>> {
    let file = file_of(table);
    let all = || -> Result<Vec<SystemComparison>> {
        check_numbers(table)?;
        let stories = Stories::of_table(table)?;
        options.without.iter().chain(&options.against).try_for_each(|name| stories.check(name))?;
        let columns = columns(table, options)?;
        if columns.is_empty() {
            return Err(Error::NoMetric { file: file.clone() });
        }
        if options.resamples == 0 {
            return Err(Error::NoDraws);
        }
        options.progress.begin("comparing pairs of systems");
        let method = options.method();
        let positions: Vec<usize> = columns.iter().map(|(at, _)| *at).collect();
        let mut found: Vec<Option<SystemComparison>> = vec![None; columns.len()];
        for alike in alike(table, &positions) {
            let group = Group::new(table, &stories, &alike, columns.len(), options)?;
            for (place, at) in alike.into_iter().enumerate() {
                for (column, found) in columns.iter().zip(&mut found) {
                    if column.0 == at {
                        *found = Some(by_column(column.1.clone(), &group, place, &method)?);
                    }
                }
            }
        }
        Ok(found.into_iter().flatten().collect())
    };
    all().map_err(|error| error.in_file(file.as_deref()))
}

/// Compares the systems by one column, named by its key.
///
/// # Errors
/// Fails as [`compare`] does, and if there is no such column.
pub fn compare_systems(
    table: &ScoreTable,
    key: &str,
    options: &Options,
) -> Result<SystemComparison> {
    let options = Options { columns: vec![key.to_owned()], ..options.clone() };
    let mut found = compare(table, &options)?;
    Ok(found.swap_remove(0))
}

/// The columns to compare by, with their directions.
fn columns(table: &ScoreTable, options: &Options) -> Result<Vec<(usize, Column)>> {
    let positions: Vec<usize> = match options.columns.as_slice() {
        [] => (0..table.columns().len()).collect(),
        names => {
            names.iter().map(|name| table.find(name)).collect::<storymeter_core::Result<_>>()?
        }
    };
    let mut turned: Vec<Column> = table.columns().to_vec();
    for (name, direction) in &options.directions {
        turned[table.find(name)?].direction = *direction;
    }
    Ok(positions.into_iter().map(|at| (at, turned[at].clone())).collect())
}

/// The systems by columns that have values for the same stories.
struct Group {
    systems: Vec<SystemValues>,
    /// By system, by column.
    intervals: Vec<Vec<Interval>>,
    /// The pairs of systems that were compared, by their positions.
    pairs: Vec<((usize, usize), Outcome<SampleComparison>)>,
}

impl Group {
    fn new(
        table: &ScoreTable,
        stories: &Stories,
        columns: &[usize],
        total: usize,
        options: &Options,
    ) -> Result<Self> {
        let systems = stories.by_system(table, columns, &options.without);
        if systems.len() > MOST_SYSTEMS {
            let (what, found) = ("systems", systems.len());
            return Err(Error::TooLarge { file: file_of(table), what, found, most: MOST_SYSTEMS });
        }
        let resampling = options.resampling();
        let intervals = systems
            .par_iter()
            .map(|system| score_intervals(&system.sample, Score::Mean, &resampling))
            .collect::<storymeter_stats::Result<_>>()?;
        let is_wanted = |&(first, second): &(usize, usize)| {
            let against = options.against.as_deref();
            against.is_none_or(|name| [first, second].iter().any(|&at| systems[at].name == name))
        };
        let all = (0..systems.len())
            .flat_map(|first| (first + 1..systems.len()).map(move |second| (first, second)));
        let pairs: Vec<(usize, usize)> = all.filter(is_wanted).collect();
        options.progress.expect((pairs.len() * total) as u64);
        let compare = |(first, second): (usize, usize)| {
            let samples = [first, second].map(|at| &systems[at].sample);
            let found = compare_two(samples, Score::Mean, &resampling)?;
            options.progress.advance(columns.len() as u64);
            Ok(((first, second), found))
        };
        let pairs = pairs.into_par_iter().map(compare).collect::<Result<_>>()?;
        Ok(Self { systems, intervals, pairs })
    }
}

/// Compares the second sample with the first one, or says why there is nothing to compare.
///
/// # Errors
/// Returns an error if the engine refuses the samples, because a value is infinite for example.
pub fn compare_two(
    [first, second]: [&storymeter_stats::Sample; 2],
    score: Score<'_>,
    resampling: &storymeter_stats::Resampling,
) -> Result<Outcome<SampleComparison>> {
    Ok(match first.observations().min(second.observations()) {
        0 => Err(Absence::Empty),
        1 => Err(Absence::Fewer(2)),
        _ => Ok(compare_samples(first, second, score, resampling)?),
    })
}

/// The comparison by one column, which is the one at this place of its group.
fn by_column(
    column: Column,
    group: &Group,
    place: usize,
    method: &Method,
) -> Result<SystemComparison> {
    let sign = column.direction.sign();
    let samples: Vec<Sample> = group
        .systems
        .iter()
        .zip(&group.intervals)
        .map(|(system, intervals)| Sample::new(system, place, intervals[place], column.range))
        .collect();
    let ranking = Ranking::new(samples, sign);
    let judge = Judge { sign, method, samples: &ranking.samples };
    let mut pairs = judge.pairs(group, place, &ranking.places);
    judge.correct(&mut pairs)?;
    let mut systems = ranking.systems();
    for pair in &pairs {
        let Some((better, worse)) = pair.verdict() else { continue };
        for system in &mut systems {
            system.better_than += usize::from(system.name == better);
            system.worse_than += usize::from(system.name == worse);
        }
    }
    let cautions = judge.cautions(&pairs, column.direction);
    let signature = Signature::new("compare")
        .with("metric", "m", &column.key)
        .with("systems", "s", systems.len())
        .with("seed", "seed", method.seed)
        .with("resamples", "n", method.resamples)
        .with("confidence", "conf", method.confidence)
        .with("correction", "corr", method.correction.name());
    let signature = match method.sides {
        Sides::Two => signature,
        Sides::One => signature.with("sides", "sides", method.sides.name()),
    };
    let signature = signature.with_version();
    let clusters = if method.against.is_some() { Vec::new() } else { clusters(&systems, &pairs) };
    let samples = &ranking.samples;
    let counts = storymeter_core::Counts {
        present: samples.iter().map(|sample| sample.values.len() as u64).sum(),
        absent: samples.iter().map(|sample| sample.absent as u64).sum(),
        ..column.counts
    };
    let (column, method) = (column.with(|it| it.counts = counts), method.clone());
    Ok(SystemComparison { column, systems, pairs, clusters, cautions, method, signature })
}

/// One system by one column.
struct Sample {
    name: String,
    /// The values that are present, story by story.
    values: Vec<f64>,
    absent: usize,
    /// The number of items, or of stories if all are of one item.
    observations: usize,
    /// The number of items with several stories.
    repeated: usize,
    interval: Outcome<Interval>,
}

impl Sample {
    fn new(system: &SystemValues, column: usize, interval: Interval, range: Range) -> Self {
        let values = system.values(column);
        let interval = match values.len() {
            0 => Err(Absence::Empty),
            1 => Err(Absence::Fewer(2)),
            // Student's t does not know which scores are possible.
            _ => defined(interval).map(|interval| Interval {
                low: range.clamp(interval.low),
                high: range.clamp(interval.high),
            }),
        };
        Self {
            name: system.name.clone(),
            values,
            absent: system.absent,
            observations: system.sample.observations(),
            repeated: system.sample.repeated_items(),
            interval,
        }
    }
}

/// The systems, best mean first.
struct Ranking {
    samples: Vec<Sample>,
    /// By system, in the order of the table: its place in the ranking.
    places: Vec<usize>,
}

impl Ranking {
    /// Equal means keep the order of the table; systems without a value come last.
    fn new(samples: Vec<Sample>, sign: f64) -> Self {
        let key = |sample: &Sample| match sample.values.is_empty() {
            true => f64::NEG_INFINITY,
            false => sign * mean(&sample.values),
        };
        let mut order: Vec<(usize, Sample)> = samples.into_iter().enumerate().collect();
        order.sort_by(|(_, a), (_, b)| key(b).total_cmp(&key(a)));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, (at, _))| places[*at] = place);
        Self { samples: order.into_iter().map(|(_, sample)| sample).collect(), places }
    }

    fn systems(&self) -> Vec<RankedSystem> {
        let mut systems: Vec<RankedSystem> = Vec::with_capacity(self.samples.len());
        for (at, sample) in self.samples.iter().enumerate() {
            let own = finite_or(mean(&sample.values), Absence::Empty);
            let rank = match systems.last() {
                Some(before) if before.mean == own => before.rank,
                _ => at + 1,
            };
            systems.push(RankedSystem {
                name: sample.name.clone(),
                rank,
                stories: sample.values.len(),
                absent: sample.absent,
                mean: own,
                sd: finite_or(standard_deviation(&sample.values), Absence::Fewer(2)),
                interval: sample.interval.clone(),
                better_than: 0,
                worse_than: 0,
            });
        }
        systems
    }
}

/// Who is better by one column.
struct Judge<'a> {
    /// -1 where less is better.
    sign: f64,
    method: &'a Method,
    /// The systems, best mean first.
    samples: &'a [Sample],
}

impl Judge<'_> {
    /// The pairs in the order of the ranking, without any correction yet.
    fn pairs(&self, group: &Group, column: usize, places: &[usize]) -> Vec<SystemPair> {
        let tests = group.pairs.len();
        let pair = |((a, b), found): &((usize, usize), Outcome<SampleComparison>)| {
            let is_turned = places[*a] > places[*b];
            let (first, second) = match is_turned {
                true => (places[*b], places[*a]),
                false => (places[*a], places[*b]),
            };
            let [one, other] = [first, second].map(|place| &self.samples[place]);
            let turn = |pairing: Pairing| match pairing {
                Pairing::Unpaired { first, second } if is_turned => {
                    Pairing::Unpaired { first: second, second: first }
                }
                pairing => pairing,
            };
            let design = found.as_ref().map_or(
                Pairing::Unpaired { first: one.observations, second: other.observations },
                |found| turn(found.pairing),
            );
            let found = found.as_ref().map_err(Clone::clone).map(|found| {
                let difference = found.columns[column];
                let difference = if is_turned { difference.reversed() } else { difference };
                self.result(difference, design, [one, other], tests)
            });
            let names = (one.name.clone(), other.name.clone());
            ((first, second), SystemPair { first: names.0, second: names.1, design, found })
        };
        let mut pairs: Vec<_> = group.pairs.iter().map(pair).collect();
        pairs.sort_by_key(|(places, _)| *places);
        pairs.into_iter().map(|(_, pair)| pair).collect()
    }

    fn result(
        &self,
        found: Difference,
        design: Pairing,
        [first, second]: [&Sample; 2],
        tests: usize,
    ) -> PairResult {
        let target = PowerTarget { level: self.method.level() / tests.max(1) as f64, power: POWER };
        let effect = effect(found.difference, first, second);
        let needed = match design {
            Pairing::Paired { items } => {
                let spread = found.standard_error * (items as f64).sqrt();
                target.pairs_needed(found.difference / spread)
            }
            Pairing::Unpaired { .. } => {
                effect.as_ref().ok().and_then(|effect| target.per_group_needed(*effect))
            }
        };
        let turned = |items: ItemWins| match self.sign < 0.0 {
            true => ItemWins { wins: items.losses, losses: items.wins, ..items },
            false => items,
        };
        let raw = self.method.sides.choose(found.p_two_sided, found.p_one_sided);
        PairResult {
            difference: found.difference,
            interval: defined(found.interval),
            p_value: PValue { raw, corrected: raw },
            exact: found.exact,
            effect,
            items: found.items.map(turned),
            better: None,
            power: Power { needed, detectable: target.detectable(found.standard_error) },
        }
    }

    /// Corrects the p-values for the number of pairs and says who is better.
    fn correct(&self, pairs: &mut [SystemPair]) -> Result<()> {
        let raw: Vec<Option<f64>> = pairs
            .iter()
            .map(|pair| pair.found.as_ref().ok().map(|found| found.p_value.raw))
            .collect();
        let corrected = self.method.correction.adjust_present(&raw)?;
        for (pair, corrected) in pairs.iter_mut().zip(corrected) {
            if let (Ok(found), Some(corrected)) = (&mut pair.found, corrected) {
                found.p_value.corrected = corrected;
                found.better = match self.sign * found.difference {
                    _ if corrected > self.method.level() => None,
                    better if better > 0.0 => Some(Side::First),
                    worse if worse < 0.0 => Some(Side::Second),
                    _ => None,
                };
            }
        }
        Ok(())
    }

    fn cautions(&self, pairs: &[SystemPair], direction: Direction) -> Vec<Caution> {
        let samples = self.samples;
        let mut cautions = Vec::new();
        if direction == Direction::None && samples.len() > 1 {
            cautions.push(Caution::NoDirection);
        }
        let mut values = samples.iter().flat_map(|sample| &sample.values);
        if let Some(first) = values.next()
            && samples.iter().map(|sample| sample.values.len()).sum::<usize>() > 1
            && values.all(|value| value == first)
        {
            cautions.push(Caution::Constant);
        }
        for sample in samples {
            let system = sample.name.clone();
            if sample.absent > 0 {
                cautions.push(Caution::Absent { system: system.clone(), stories: sample.absent });
            }
            if sample.repeated > 0 {
                cautions.push(Caution::Averaged { system, items: sample.repeated });
            }
        }
        let tests = pairs.iter().filter(|pair| pair.found.is_ok()).count();
        // The smallest possible p-value of each test must survive the correction.
        let smallest = 1.0 / (self.method.resamples as f64 + 1.0);
        let level = self.method.level() / tests.max(1) as f64;
        if tests > 0 && smallest > level {
            cautions.push(Caution::FewResamples { needed: (1.0 / level).ceil() as usize });
        }
        // Holm's first step asks most of a p-value. The later steps ask less, as do the other
        // corrections at once, so that its level rules a difference out only if no pair passes it.
        let is_out = |pair: &SystemPair| {
            pair.found.is_err() || pair.design.observations() < self.fewest(pair.design, level)
        };
        let reachable = match self.method.correction == Correction::Holm && pairs.iter().all(is_out)
        {
            true => level,
            false => self.method.level(),
        };
        for pair in pairs {
            let size = |name: &str| {
                let sample = samples.iter().find(|sample| sample.name == name);
                sample.map_or(0, |sample| sample.observations)
            };
            let items = size(&pair.first).max(size(&pair.second));
            let needed = self.fewest(pair.design, reachable);
            cautions.extend(pair_cautions(pair, needed, items));
        }
        cautions
    }

    /// The fewest observations with which the smallest possible p-value is at most `level`.
    ///
    /// Of the `2^n` exchanges of n pairs, two are as extreme as possible, one of them on the same
    /// side; of the ways to deal two groups of n stories, as many are.
    fn fewest(&self, design: Pairing, level: f64) -> usize {
        let extreme = self.method.sides.choose(2.0, 1.0);
        let smallest = |n: usize| match design {
            Pairing::Paired { .. } => extreme * 0.5f64.powi(n as i32),
            Pairing::Unpaired { .. } => {
                extreme / (1..=n).fold(1.0, |ways, k| ways * (n + k) as f64 / k as f64)
            }
        };
        (1..200).find(|&n| smallest(n) <= level).unwrap_or(200)
    }
}

/// What to know about one pair. `needed` is the fewest observations with which it could differ, and
/// `items` the number of items of the system that has more.
fn pair_cautions(pair: &SystemPair, needed: usize, items: usize) -> Vec<Caution> {
    let Ok(found) = &pair.found else { return Vec::new() };
    let mut cautions = Vec::new();
    let (first, second) = (pair.first.clone(), pair.second.clone());
    let stories = pair.design.observations();
    if let Pairing::Paired { items: shared } = pair.design
        && shared < items
    {
        let (first, second) = (first.clone(), second.clone());
        cautions.push(Caution::PartlyShared { first, second, shared, items });
    }
    if stories < needed {
        cautions.push(Caution::NeverSignificant { first, second, stories, needed });
    } else if let (Ok(effect), Some(needed), None) =
        (&found.effect, found.power.needed, found.better)
        && effect.abs() >= SMALL_EFFECT
        && needed > stories as u64
    {
        cautions.push(Caution::TooFewStories { first, second, effect: *effect, stories, needed });
    }
    cautions
}

/// An interval, unless the values do not vary.
fn defined(interval: Interval) -> Outcome<Interval> {
    if interval.is_defined() { Ok(interval) } else { Err(Absence::Constant) }
}

/// The difference in pooled standard deviations of the stories.
fn effect(difference: f64, first: &Sample, second: &Sample) -> Outcome<f64> {
    let squares = |sample: &Sample| {
        let freedom = (sample.values.len() - 1) as f64;
        (standard_deviation(&sample.values).powi(2) * freedom, freedom)
    };
    let ((a, n), (b, m)) = (squares(first), squares(second));
    finite_or(difference / ((a + b) / (n + m)).sqrt(), Absence::Constant)
}

/// The maximal runs of the ranking in which no two systems differ significantly.
fn clusters(systems: &[RankedSystem], pairs: &[SystemPair]) -> Vec<Cluster> {
    let valued: Vec<&str> =
        systems.iter().filter(|one| one.mean.is_ok()).map(|one| one.name.as_str()).collect();
    let position = |name: &str| valued.iter().position(|known| *known == name);
    // By system: the first one below it that it can be told apart from.
    let mut ends: Vec<usize> = vec![valued.len(); valued.len()];
    for pair in pairs.iter().filter(|pair| pair.is_significant()) {
        if let (Some(first), Some(second)) = (position(&pair.first), position(&pair.second)) {
            ends[first] = ends[first].min(second);
        }
    }
    // A run must also stop where two systems further down differ.
    for at in (0..valued.len().saturating_sub(1)).rev() {
        ends[at] = ends[at].min(ends[at + 1]);
    }
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut reached = 0;
    for (start, &end) in ends.iter().enumerate() {
        if end > reached {
            reached = end;
            clusters.push(Cluster {
                letter: letter(clusters.len()),
                systems: valued[start..end].iter().map(|name| (*name).to_owned()).collect(),
            });
        }
    }
    clusters
}

/// a to z, then aa, ab, ...
fn letter(number: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        more => format!("{}{last}", letter(more - 1)),
    }
}
