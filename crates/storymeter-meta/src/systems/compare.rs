//! The computation behind a comparison of systems.

use rayon::prelude::*;
use storymeter_core::{Column, Direction, Progress, ScoreTable, Signature};
use storymeter_stats::{
    BootstrapMethod, BootstrapOptions, Correction, Interval, PowerTarget,
    compare_independent_scores, compare_scores, mean, mean_interval, standard_deviation,
};

use super::sample::{Sample, Stories};
use super::{
    Caution, Cluster, Design, Duel, ItemWins, Method, Options, Power, RankedSystem,
    SystemComparison, SystemPair,
};
use crate::error::{Error, Result};
use crate::grid::{check_numbers, file_of};
use crate::outcome::{Gap, Outcome, finite_or};
use crate::study::{PValue, Side};

/// The most systems. Every two of them are tested with thousands of resamples.
const MOST_SYSTEMS: usize = 300;

/// The probability with which a difference that exists is to be found.
const POWER: f64 = 0.8;

/// Differences from this many standard deviations on are worth a warning if too few stories are
/// there to be sure of them. It is what Cohen (1988) calls a small effect.
const SMALL_EFFECT: f64 = 0.2;

/// Compares the systems by every column that the options name, or by every column.
///
/// # Errors
/// Where a name in the options is not known, only some stories have a system, a number is too
/// large, or there are too many systems.
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
        columns.into_iter().map(|(at, column)| one(table, &stories, at, column, options)).collect()
    };
    all().map_err(|error| error.in_file(file.as_deref()))
}

/// Compares the systems by one column, named by its key.
///
/// # Errors
/// As [`compare`], and where there is no such column.
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

/// One column of the table.
fn one(
    table: &ScoreTable,
    stories: &Stories,
    at: usize,
    column: Column,
    options: &Options,
) -> Result<SystemComparison> {
    let samples = stories.samples(table, at, &options.without);
    if samples.len() > MOST_SYSTEMS {
        let (what, found) = ("systems", samples.len());
        return Err(Error::TooLarge { file: file_of(table), what, found, most: MOST_SYSTEMS });
    }
    if options.resamples == 0 {
        return Err(Error::NoDraws);
    }
    let method = Method {
        resamples: options.resamples,
        confidence: options.confidence,
        correction: options.correction,
        seed: options.seed,
        against: options.against.clone(),
    };
    let sign = column.direction.sign();
    let contest = Contest { sign, method: &method, progress: &options.progress };
    let samples = contest.ranked(samples);
    let mut pairs = contest.pairs(&samples)?;
    contest.correct(&mut pairs)?;
    let mut systems = contest.systems(&samples)?;
    for pair in &pairs {
        let Some((better, worse)) = pair.verdict() else { continue };
        for system in &mut systems {
            system.better_than += usize::from(system.name == better);
            system.worse_than += usize::from(system.name == worse);
        }
    }
    let cautions = contest.cautions(&samples, &pairs, column.direction);
    let signature = Signature::new("compare")
        .with("metric", "m", &column.key)
        .with("systems", "s", systems.len())
        .with("seed", "seed", method.seed)
        .with("resamples", "n", method.resamples)
        .with("confidence", "conf", method.confidence)
        .with("correction", "corr", method.correction.name())
        .with_version();
    let clusters = if method.against.is_some() { Vec::new() } else { clusters(&systems, &pairs) };
    let counts = storymeter_core::Counts {
        present: samples.iter().map(|sample| sample.values.len() as u64).sum(),
        absent: samples.iter().map(|sample| sample.absent as u64).sum(),
        ..column.counts
    };
    let column = Column { counts, ..column };
    Ok(SystemComparison { column, systems, pairs, clusters, cautions, method, signature })
}

/// How the systems of one column are compared.
struct Contest<'a> {
    /// -1 where less is better.
    sign: f64,
    method: &'a Method,
    progress: &'a Progress,
}

impl Contest<'_> {
    fn bootstrap(&self) -> BootstrapOptions {
        BootstrapOptions {
            resamples: self.method.resamples,
            confidence: self.method.confidence,
            method: BootstrapMethod::Auto,
            seed: self.method.seed,
        }
    }

    /// The samples, best mean first. Equal means keep the order of the table; systems without a
    /// value come last.
    fn ranked(&self, mut samples: Vec<Sample>) -> Vec<Sample> {
        let key = |sample: &Sample| match sample.values.is_empty() {
            true => f64::NEG_INFINITY,
            false => self.sign * mean(&sample.values),
        };
        samples.sort_by(|a, b| key(b).total_cmp(&key(a)));
        samples
    }

    fn systems(&self, samples: &[Sample]) -> Result<Vec<RankedSystem>> {
        let options = self.bootstrap();
        let mut systems: Vec<RankedSystem> = Vec::with_capacity(samples.len());
        for (at, sample) in samples.iter().enumerate() {
            let present = |value: f64, gap: Gap| finite_or(value, gap);
            let own = present(mean(&sample.values), Gap::Empty);
            let rank = match systems.last() {
                Some(before) if before.mean == own => before.rank,
                _ => at + 1,
            };
            let interval = match sample.values.len() {
                0 => Err(Gap::Empty),
                1 => Err(Gap::Fewer(2)),
                _ => defined(mean_interval(&sample.values, &options)?.interval),
            };
            systems.push(RankedSystem {
                name: sample.name.clone(),
                rank,
                stories: sample.values.len(),
                absent: sample.absent,
                mean: own,
                sd: present(standard_deviation(&sample.values), Gap::Fewer(2)),
                interval,
                better_than: 0,
                worse_than: 0,
            });
        }
        Ok(systems)
    }

    /// Tests all pairs, without any correction yet.
    fn pairs(&self, samples: &[Sample]) -> Result<Vec<SystemPair>> {
        let all = (0..samples.len())
            .flat_map(|first| (first + 1..samples.len()).map(move |second| (first, second)));
        let wanted = |&(first, second): &(usize, usize)| {
            let against = self.method.against.as_deref();
            against.is_none_or(|name| samples[first].name == name || samples[second].name == name)
        };
        let all: Vec<(usize, usize)> = all.filter(wanted).collect();
        let tests = all.len();
        self.progress.begin("comparing pairs of systems");
        self.progress.expect(tests as u64);
        all.into_par_iter()
            .map(|(first, second)| {
                let pair = self.pair(&samples[first], &samples[second], tests);
                self.progress.advance(1);
                pair
            })
            .collect()
    }

    fn pair(&self, first: &Sample, second: &Sample, tests: usize) -> Result<SystemPair> {
        let (a, b) = first.shared(second);
        // With fewer shared items than half of what the smaller system has, a paired test would
        // throw away more than pairing gains.
        let least = first.items.len().min(second.items.len());
        let paired = a.len() >= 2 && 2 * a.len() >= least;
        let design = match paired {
            true => Design::Paired { items: a.len() },
            false => Design::Unpaired { first: first.values.len(), second: second.values.len() },
        };
        let found = match (first.values.len().min(second.values.len()), paired) {
            (0, _) => Err(Gap::Empty),
            (1, _) => Err(Gap::Fewer(2)),
            (_, true) => Ok(self.paired(first, second, &a, &b, tests)?),
            (_, false) => Ok(self.unpaired(first, second, tests)?),
        };
        let (first, second) = (first.name.clone(), second.name.clone());
        Ok(SystemPair { first, second, design, found })
    }

    fn paired(
        &self,
        first: &Sample,
        second: &Sample,
        a: &[f64],
        b: &[f64],
        tests: usize,
    ) -> Result<Duel> {
        let test = compare_scores(a, b, &self.bootstrap())?;
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let mut items = ItemWins::default();
        for ((a, b), difference) in a.iter().zip(b).zip(&differences) {
            // Means over several stories of one item tie up to their last bits.
            let slack = 1e-12 * a.abs().max(b.abs());
            match self.sign * difference {
                better if better > slack => items.wins += 1,
                worse if worse < -slack => items.losses += 1,
                _ => items.ties += 1,
            }
        }
        let difference = test.bootstrap.difference;
        let spread = standard_deviation(&differences);
        let target = self.target(tests);
        Ok(Duel {
            difference,
            interval: defined(test.bootstrap.interval),
            p_value: raw(test.randomisation.p_value),
            exact: test.randomisation.exact,
            effect: effect(difference, first, second),
            items: Some(items),
            better: None,
            power: Power {
                needed: target.pairs_needed(difference / spread),
                detectable: target.detectable(spread / (a.len() as f64).sqrt()),
            },
        })
    }

    fn unpaired(&self, first: &Sample, second: &Sample, tests: usize) -> Result<Duel> {
        let test = compare_independent_scores(&first.values, &second.values, &self.bootstrap())?;
        let difference = test.randomisation.difference;
        let target = self.target(tests);
        let variance = |sample: &Sample| {
            standard_deviation(&sample.values).powi(2) / sample.values.len() as f64
        };
        Ok(Duel {
            difference,
            interval: defined(test.interval),
            p_value: raw(test.randomisation.p_value),
            exact: test.randomisation.exact,
            effect: effect(difference, first, second),
            items: None,
            better: None,
            power: Power {
                needed: effect(difference, first, second)
                    .ok()
                    .and_then(|effect| target.per_group_needed(effect)),
                detectable: target.detectable((variance(first) + variance(second)).sqrt()),
            },
        })
    }

    /// What the tests are asked for: a level that holds for all of them together.
    fn target(&self, tests: usize) -> PowerTarget {
        PowerTarget { level: self.method.level() / tests.max(1) as f64, power: POWER }
    }

    /// Corrects the p-values for the number of pairs and says who is better.
    fn correct(&self, pairs: &mut [SystemPair]) -> Result<()> {
        let raw: Vec<Option<f64>> = pairs
            .iter()
            .map(|pair| pair.found.as_ref().ok().map(|duel| duel.p_value.raw))
            .collect();
        let corrected = self.method.correction.adjust_present(&raw)?;
        for (pair, corrected) in pairs.iter_mut().zip(corrected) {
            if let (Ok(duel), Some(corrected)) = (&mut pair.found, corrected) {
                duel.p_value.corrected = corrected;
                duel.better = match self.sign * duel.difference {
                    _ if corrected > self.method.level() => None,
                    better if better > 0.0 => Some(Side::First),
                    worse if worse < 0.0 => Some(Side::Second),
                    _ => None,
                };
            }
        }
        Ok(())
    }

    fn cautions(
        &self,
        samples: &[Sample],
        pairs: &[SystemPair],
        direction: Direction,
    ) -> Vec<Caution> {
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
            pair.found.is_err() || pair.design.observations() < fewest(pair.design, level)
        };
        let reachable = match self.method.correction == Correction::Holm && pairs.iter().all(is_out)
        {
            true => level,
            false => self.method.level(),
        };
        for pair in pairs {
            let size = |name: &str| {
                let sample = samples.iter().find(|sample| sample.name == name);
                sample.map_or(0, |sample| sample.items.len())
            };
            let items = size(&pair.first).max(size(&pair.second));
            cautions.extend(pair_cautions(pair, reachable, items));
        }
        cautions
    }
}

/// What to know about one pair. `items` is the number of items of the system that has more.
fn pair_cautions(pair: &SystemPair, level: f64, items: usize) -> Vec<Caution> {
    let Ok(duel) = &pair.found else { return Vec::new() };
    let mut cautions = Vec::new();
    let (first, second) = (pair.first.clone(), pair.second.clone());
    let stories = pair.design.observations();
    if let Design::Paired { items: shared } = pair.design
        && shared < items
    {
        let (first, second) = (first.clone(), second.clone());
        cautions.push(Caution::PartlyShared { first, second, shared, items });
    }
    let needed = fewest(pair.design, level);
    if stories < needed {
        cautions.push(Caution::NeverSignificant { first, second, stories, needed });
    } else if let (Ok(effect), Some(needed), None) = (duel.effect, duel.power.needed, duel.better)
        && effect.abs() >= SMALL_EFFECT
        && needed > stories as u64
    {
        cautions.push(Caution::TooFewStories { first, second, effect, stories, needed });
    }
    cautions
}

/// The fewest observations with which the smallest possible p-value is at most `level`.
///
/// Of the `2^n` exchanges of n pairs, two are as extreme as possible; of the ways to deal two
/// groups of n stories, two are.
fn fewest(design: Design, level: f64) -> usize {
    let smallest = |n: usize| match design {
        Design::Paired { .. } => 2.0 * 0.5f64.powi(n as i32),
        Design::Unpaired { .. } => {
            2.0 / (1..=n).fold(1.0, |ways, k| ways * (n + k) as f64 / k as f64)
        }
    };
    (1..200).find(|&n| smallest(n) <= level).unwrap_or(200)
}

/// An interval, unless the values do not vary.
fn defined(interval: Interval) -> Outcome<Interval> {
    if interval.is_defined() { Ok(interval) } else { Err(Gap::Constant) }
}

/// A p-value that is not corrected yet.
fn raw(p: f64) -> PValue {
    PValue { raw: p, corrected: p }
}

/// The difference in pooled standard deviations of the stories.
fn effect(difference: f64, first: &Sample, second: &Sample) -> Outcome<f64> {
    let squares = |sample: &Sample| {
        let freedom = (sample.values.len() - 1) as f64;
        (standard_deviation(&sample.values).powi(2) * freedom, freedom)
    };
    let ((a, n), (b, m)) = (squares(first), squares(second));
    finite_or(difference / ((a + b) / (n + m)).sqrt(), Gap::Constant)
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
