//! Metrics as judges between systems (HANNA Figures 7 and 26) and of pairs of stories, and metrics
//! against each other (Figures 27 to 38).

use std::cmp::Ordering;

use rayon::prelude::*;
use storymeter_core::{Direction, Progress};
use storymeter_stats::{
    Coefficient, DependentTest, Design, Exchange, Matrix, SharedCorrelations, StatsError,
    WilliamsRules, calibrate_ties, meng_rosenthal_rubin, permutation_test, steiger,
    weighted_f1_of_present, williams, williams_matrix,
};

use super::correlations::Slices;
use super::pairwise::verdicts;
use super::{Analysis, Settings, gap_of};
use crate::error::Result;
use crate::level::Level;
use crate::outcome::{Gap, Outcome};
use crate::study::{
    Comparison, Difference, DifferenceKind, Edition, PValue, PairAccuracy, Pairwise, PairwiseRow,
    Side, Sides, Test, TestMatrix, Turn, pair_index,
};

/// The published matrices call an increase significant below this.
const SIGNIFICANT: f64 = 0.05;
/// The fewest observations of a test between two metrics.
const FEWEST: usize = 4;
/// Up to this many stories, all pairs of stories are compared (two million).
const MOST_POOLED: usize = 2000;

impl Analysis {
    /// Weighted F1 in percent between the verdicts of each criterion and of a metric, over the
    /// pairs of systems that both can judge.
    fn f1(&self, metric: usize, edition: Edition) -> Result<(Vec<Outcome<f64>>, Vec<usize>)> {
        let (options, directed) = (self.settings.duels, edition == Edition::Corrected);
        // The published analysis has no such rule; HANNA's systems share all items.
        let fewest = match edition {
            Edition::Corrected => options.fewest_items(self.settings.sides),
            Edition::Published => 1,
        };
        let share = self.winning_share(edition);
        let say = |column| verdicts(&self.grid, &self.duels, column, directed, share, fewest);
        let predicted = say(metric);
        let mut found = (Vec::new(), Vec::new());
        for &criterion in &self.criteria {
            let f1 = weighted_f1_of_present(&say(criterion), &predicted)?;
            // The published analysis has an F1 also where people call all systems equal.
            let value = match edition {
                Edition::Corrected => f1.informative(),
                Edition::Published => f1.undefined.map_or(Ok(f1.value), Err),
            };
            found.0.push(match value {
                Ok(value) => Ok(100.0 * value),
                Err(_) if f1.n > 0 => Err(Gap::NoDifference),
                Err(_) if self.share_an_item(metric, criterion) => Err(Gap::FewSharedItems(fewest)),
                Err(_) => Err(Gap::NoSharedItem),
            });
            found.1.push(f1.n);
        }
        Ok(found)
    }

    /// Whether any two systems have values of both columns on the same item.
    fn share_an_item(&self, a: usize, b: usize) -> bool {
        self.duels.iter().any(|duel| duel.shared[a] > 0 && duel.shared[b] > 0)
    }

    /// The share of the draws that a system must win to be called better than another.
    fn winning_share(&self, edition: Edition) -> f64 {
        self.settings.duels.winning_share(self.settings.sides_of(edition))
    }

    /// All metrics as judges between systems.
    pub fn pairwise(&self) -> Result<Pairwise> {
        let row = |&metric: &usize| -> Result<PairwiseRow> {
            let (f1, n) = self.f1(metric, self.edition)?;
            Ok(PairwiseRow { metric: self.key(metric), f1, n })
        };
        Ok(Pairwise {
            pairs: self.duels.len(),
            draws: self.settings.duels.draws,
            confidence: self.winning_share(self.edition),
            seed: self.settings.duels.seed,
            directed: self.edition == Edition::Corrected,
            rows: self.metrics.iter().map(row).collect::<Result<_>>()?,
        })
    }

    /// What it does to metrics where less is better if their direction is ignored and a verdict has
    /// one side.
    pub fn pairwise_differences(&self, differences: &mut Vec<Difference>) -> Result<()> {
        for &metric in &self.metrics {
            if self.grid.columns()[metric].direction == Direction::Lower {
                let mean = |(f1, _): (Vec<Outcome<f64>>, Vec<usize>)| match f1
                    .iter()
                    .copied()
                    .sum::<Outcome<f64>>()
                {
                    Ok(sum) => format!("{:.0}", sum / f1.len() as f64),
                    Err(gap) => gap.to_string(),
                };
                let published = mean(self.f1(metric, Edition::Published)?);
                let corrected = mean(self.f1(metric, Edition::Corrected)?);
                if published != corrected {
                    differences.push(Difference {
                        kind: DifferenceKind::Pairwise,
                        subject: self.key(metric).to_string(),
                        published,
                        corrected,
                    });
                }
            }
        }
        Ok(())
    }

    /// How often each metric orders two stories as each criterion does, with calibrated ties: pairs
    /// within an item where systems share items, otherwise all pairs of stories.
    pub fn pair_accuracy(&self) -> Result<Vec<PairAccuracy>> {
        let apart = self.grid.most_systems_per_item() < 2;
        let level = if apart { Level::Pooled } else { Level::Story };
        let (systems, items) = (self.grid.systems().len(), self.grid.items().len());
        let group = |values: &[f64]| -> Vec<Vec<f64>> {
            match level {
                Level::Story => {
                    let item = |item| (0..systems).map(|s| values[s * items + item]).collect();
                    (0..items).map(item).collect()
                }
                _ => vec![values.to_vec()],
            }
        };
        let pairs = self.metrics.iter().flat_map(|&m| self.criteria.iter().map(move |&c| (m, c)));
        let many = apart && self.grid.stories() > MOST_POOLED;
        let one = |(metric, criterion): (usize, usize)| -> Result<PairAccuracy> {
            let (scores, ratings) =
                (group(&self.grid.oriented(metric)), group(self.grid.values(criterion)));
            let groups: Vec<(&[f64], &[f64])> =
                ratings.iter().zip(&scores).map(|(r, s)| (r.as_slice(), s.as_slice())).collect();
            let calibrated = if many { Ok(None) } else { calibrate_ties(&groups).map(Some) };
            let (found, n) = match calibrated {
                Ok(None) => (Err(Gap::TooMany), 0),
                Ok(Some(found)) => (Ok(found), found.pairs),
                Err(StatsError::TooFew { .. }) if apart => (Err(Gap::Fewer(2)), 0),
                Err(StatsError::TooFew { .. }) => (Err(Gap::NoSharedItem), 0),
                Err(StatsError::TooMany { .. }) => (Err(Gap::TooMany), 0),
                Err(StatsError::NotFinite { .. }) => (Err(Gap::Infinite), 0),
                Err(e) => return Err(e.into()),
            };
            Ok(PairAccuracy {
                metric: self.key(metric),
                criterion: self.key(criterion),
                level,
                accuracy: found.map(|calibration| calibration.accuracy),
                uncalibrated: found.map(|calibration| calibration.uncalibrated),
                threshold: found.map(|calibration| calibration.threshold),
                n,
            })
        };
        pairs.collect::<Vec<_>>().into_par_iter().map(one).collect()
    }

    /// The correlations of a criterion with every two metrics and between them, pair by pair, with
    /// the number of observations that all three rest on.
    fn threes(
        &self,
        level: Level,
        coefficient: Coefficient,
        criterion: usize,
        edition: Edition,
    ) -> Result<Vec<SharedCorrelations>> {
        let slices = match (level, edition) {
            (Level::Story, Edition::Corrected) => Some(Slices::of(&self.grid, coefficient)?),
            _ => None,
        };
        let number = |a, b| self.correlations.number(level, coefficient, a, b);
        let three = |(i, j): (usize, usize)| -> Result<SharedCorrelations> {
            let (first, second) = (self.metrics[i], self.metrics[j]);
            let columns = [criterion, first, second];
            if let Some(slices) = &slices {
                return slices.three(criterion, first, second);
            }
            let vector = |column: usize| match level {
                Level::System => self.means.means[column].as_slice(),
                _ => self.grid.values(column),
            };
            let complete = columns.iter().all(|&c| vector(c).iter().all(|v| !v.is_nan()));
            if edition == Edition::Corrected && !complete {
                let [x, y, z] = columns.map(vector);
                return Ok(SharedCorrelations::from_columns(coefficient, x, y, z)?);
            }
            Ok(SharedCorrelations {
                first: number(first, criterion),
                second: number(second, criterion),
                between: number(first, second),
                n: self.observations(level),
                dropped: 0,
            })
        };
        pairs(self.metrics.len()).into_par_iter().map(three).collect()
    }

    /// The number of observations in a table without gaps.
    fn observations(&self, level: Level) -> usize {
        match level {
            Level::Story => self.grid.items().len(),
            Level::System => self.grid.systems().len(),
            Level::Pooled => self.grid.systems().len() * self.grid.items().len(),
        }
    }

    /// Tests between all pairs of metrics for each criterion at one level.
    pub fn tests(&self, level: Level) -> Result<Vec<TestMatrix>> {
        let pairs = self.metrics.len() * self.metrics.len().saturating_sub(1) / 2;
        self.progress.begin("tests between metrics");
        self.progress.expect((self.criteria.len() * pairs) as u64);
        let test = |&criterion: &usize| self.test(level, criterion, self.edition);
        let tests = self.criteria.iter().map(test).collect();
        self.progress.end();
        tests
    }

    fn test(&self, level: Level, criterion: usize, edition: Edition) -> Result<TestMatrix> {
        let Settings { test, coefficient, correction, .. } = self.settings;
        let threes = self.threes(level, coefficient, criterion, edition)?;
        let (systems, items) = (self.grid.systems().len(), self.grid.items().len());
        let design = Design {
            coefficient,
            level: match level {
                Level::Story => storymeter_stats::CorrelationLevel::Item,
                Level::System => storymeter_stats::CorrelationLevel::System,
                Level::Pooled => storymeter_stats::CorrelationLevel::Pooled,
            },
            exchange: Exchange::Both,
        };
        let scores = |metric: usize| self.grid.values(self.metrics[metric]);
        let permutation = Permutation {
            systems,
            items,
            design,
            ratings: self.grid.values(criterion),
            scores: &scores,
        };
        let turns: Vec<Turn> = self.metrics.iter().map(|&m| self.turn(m, edition)).collect();
        Ok(TestMatrix {
            test,
            criterion: self.key(criterion),
            level,
            coefficient,
            correction,
            sides: self.settings.sides_of(edition),
            metrics: self.keys(&self.metrics),
            pairs: compare_all(
                &turns,
                &threes,
                (&self.settings, &self.progress),
                edition,
                &permutation,
            )?,
        })
    }

    /// How many tests of each matrix are significant or undefined in each edition.
    pub fn williams_differences(
        &self,
        level: Level,
        differences: &mut Vec<Difference>,
    ) -> Result<()> {
        for &criterion in &self.criteria {
            let summary = |edition| -> Result<String> {
                let threes = self.threes(level, Coefficient::Pearson, criterion, edition)?;
                let turn = |&metric: &usize| self.turn(metric, edition);
                let turns: Vec<Turn> = self.metrics.iter().map(turn).collect();
                let sides = self.settings.sides_of(edition);
                let tests = williams_tests(&turns, &threes, sides, edition)?;
                let small = |one: &&Comparison| one.p_value.is_ok_and(|p| p.raw < SIGNIFICANT);
                let significant = tests.iter().filter(small).count();
                let impossible =
                    tests.iter().filter(|one| one.p_value == Err(Gap::Impossible)).count();
                Ok(format!("{significant} significant, {impossible} impossible"))
            };
            let (published, corrected) =
                (summary(Edition::Published)?, summary(Edition::Corrected)?);
            if published != corrected {
                differences.push(Difference {
                    kind: DifferenceKind::Williams(level),
                    subject: self.key(criterion).to_string(),
                    published,
                    corrected,
                });
            }
        }
        Ok(())
    }
}

/// Tests between all pairs of columns of scores, over the items that have a rating and both scores.
/// `turns` says how the correlations of each column count.
pub(crate) fn compare_columns(
    ratings: &[f64],
    columns: &[&[f64]],
    turns: &[Turn],
    settings: &Settings,
    progress: &Progress,
) -> Result<Vec<Comparison>> {
    let coefficient = settings.coefficient;
    let three = |(i, j): (usize, usize)| {
        SharedCorrelations::from_columns(coefficient, ratings, columns[i], columns[j])
    };
    let threes = pairs(columns.len())
        .into_par_iter()
        .map(three)
        .collect::<storymeter_stats::Result<Vec<_>>>()?;
    let level = storymeter_stats::CorrelationLevel::Pooled;
    let permutation = Permutation {
        systems: 1,
        items: ratings.len(),
        design: Design { coefficient, level, exchange: Exchange::Both },
        ratings,
        scores: &|metric| columns[metric],
    };
    progress.begin("tests between metrics");
    progress.expect(threes.len() as u64);
    let watched = (settings, progress);
    let tests = compare_all(turns, &threes, watched, Edition::Corrected, &permutation);
    progress.end();
    tests
}

/// The test of the settings between all pairs of metrics, with corrected p-values.
fn compare_all(
    turns: &[Turn],
    threes: &[SharedCorrelations],
    (settings, progress): (&Settings, &Progress),
    edition: Edition,
    permutation: &Permutation<'_>,
) -> Result<Vec<Comparison>> {
    let sides = settings.sides_of(edition);
    let mut comparisons: Vec<Comparison> = match settings.test {
        Test::Williams => williams_tests(turns, threes, sides, edition)?,
        Test::Steiger => dependent_tests(turns, threes, sides, steiger)?,
        Test::Meng => dependent_tests(turns, threes, sides, meng_rosenthal_rubin)?,
        Test::Permutation => {
            let test = |(pair, three)| {
                progress.advance(1);
                permutation.test(pair, three, turns, (settings, sides))
            };
            pairs(turns.len()).into_iter().zip(threes).map(test).collect::<Result<_>>()?
        }
    };
    let raw: Vec<Option<f64>> =
        comparisons.iter().map(|one| one.p_value.ok().map(|p| p.raw)).collect();
    let corrected = settings.correction.adjust_present(&raw)?;
    for (one, corrected) in comparisons.iter_mut().zip(corrected) {
        if let (Ok(p), Some(corrected)) = (&mut one.p_value, corrected) {
            p.corrected = corrected;
        }
    }
    Ok(comparisons)
}

/// Williams' tests, or those of the published matrices with their lost signs.
fn williams_tests(
    turns: &[Turn],
    threes: &[SharedCorrelations],
    sides: Sides,
    edition: Edition,
) -> Result<Vec<Comparison>> {
    if edition == Edition::Corrected {
        return dependent_tests(turns, threes, sides, williams);
    }
    let matrix =
        williams_matrix(
            turns.len(),
            WilliamsRules::Published,
            |i, j| Ok(threes[pair_index(i, j)]),
        )?;
    let one = |(i, j): (usize, usize)| {
        let n = threes[pair_index(i, j)].n;
        match (matrix.get(i, j), matrix.get(j, i)) {
            (Some(test), None) => comparison(Some(Side::First), test, sides),
            (None, Some(test)) => comparison(Some(Side::Second), test, sides),
            (Some(test), Some(_)) => comparison(None, test, sides),
            (None, None) => Comparison { stronger: None, p_value: Err(Gap::EquallyStrong), n },
        }
    };
    Ok(pairs(turns.len()).into_iter().map(one).collect())
}

/// A test between two correlations that share a variable.
type DependentCorrelations = fn(f64, f64, f64, usize) -> storymeter_stats::Result<DependentTest>;

/// A test of correlations, each turned by the direction of its metric.
fn dependent_tests(
    turns: &[Turn],
    threes: &[SharedCorrelations],
    sides: Sides,
    test: DependentCorrelations,
) -> Result<Vec<Comparison>> {
    let one = |((i, j), three): ((usize, usize), &SharedCorrelations)| -> Result<Comparison> {
        let three = turned(three, turns[i], turns[j]);
        if let Some(untested) = untested(&three) {
            return Ok(untested);
        }
        let side = stronger(&three);
        let (high, low) = match side {
            Some(Side::Second) => (three.second, three.first),
            _ => (three.first, three.second),
        };
        Ok(comparison(side, &test(high, low, three.between, three.n)?, sides))
    };
    pairs(turns.len()).into_iter().zip(threes).map(one).collect()
}

/// What a permutation test between two metrics (PERM-BOTH) needs beside their correlations.
struct Permutation<'a> {
    systems: usize,
    items: usize,
    design: Design,
    ratings: &'a [f64],
    /// The scores of a metric, given by its position.
    scores: &'a (dyn Fn(usize) -> &'a [f64] + Sync),
}

impl Permutation<'_> {
    /// The scores of both metrics are turned by their directions.
    fn test(
        &self,
        (i, j): (usize, usize),
        three: &SharedCorrelations,
        turns: &[Turn],
        (settings, sides): (&Settings, Sides),
    ) -> Result<Comparison> {
        let side = stronger(&turned(three, turns[i], turns[j]));
        if let Some(untested) = untested(three) {
            return Ok(untested);
        }
        let scores = |metric: usize, correlation: f64| -> Vec<f64> {
            let sign = turns[metric].sign(correlation);
            (self.scores)(metric).iter().map(|v| sign * v).collect()
        };
        let (first, second) = (scores(i, three.first), scores(j, three.second));
        let (high, low) = match side {
            Some(Side::Second) => (&second, &first),
            _ => (&first, &second),
        };
        let table = |values| Matrix::new(values, self.systems, self.items);
        // Every pair has random streams of its own.
        let seed = settings.duels.seed.wrapping_add(pair_index(i, j) as u64);
        let test = permutation_test(
            table(high)?,
            table(low)?,
            table(self.ratings)?,
            self.design,
            settings.resamples,
            seed,
        )?;
        let p = match sides {
            Sides::Two => test.p_value,
            Sides::One => test.p_greater,
        };
        let p_value = match p.is_nan() {
            true => Err(Gap::NoCorrelation),
            false => Ok(PValue { raw: p, corrected: p }),
        };
        Ok(Comparison { stronger: side, p_value, n: three.n })
    }
}

/// The pairs `(0, 1), (0, 2), (1, 2), (0, 3), ...`.
fn pairs(metrics: usize) -> Vec<(usize, usize)> {
    (1..metrics).flat_map(|later| (0..later).map(move |earlier| (earlier, later))).collect()
}

/// The three correlations after both metrics were turned by their directions.
fn turned(three: &SharedCorrelations, first: Turn, second: Turn) -> SharedCorrelations {
    three.turned(first.sign(three.first), second.sign(three.second))
}

/// The metric with the higher correlation, after both were turned.
fn stronger(turned: &SharedCorrelations) -> Option<Side> {
    match turned.first.partial_cmp(&turned.second)? {
        Ordering::Greater => Some(Side::First),
        Ordering::Less => Some(Side::Second),
        Ordering::Equal => None,
    }
}

/// A pair with too few observations, or without one of the three correlations.
fn untested(three: &SharedCorrelations) -> Option<Comparison> {
    let missing = [three.first, three.second, three.between].iter().any(|r| r.is_nan());
    let gap = match () {
        () if three.n < FEWEST => Gap::Fewer(FEWEST),
        () if missing => Gap::NoCorrelation,
        () => return None,
    };
    Some(Comparison { stronger: None, p_value: Err(gap), n: three.n })
}

fn comparison(stronger: Option<Side>, test: &DependentTest, sides: Sides) -> Comparison {
    let p = match sides {
        Sides::Two => test.p_two_sided,
        Sides::One => test.p_value,
    };
    let p_value = match test.undefined {
        Some(undefined) => Err(gap_of(undefined)),
        None => Ok(PValue { raw: p, corrected: p }),
    };
    Comparison { stronger, p_value, n: test.n }
}
