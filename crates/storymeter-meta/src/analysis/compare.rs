//! Metrics as judges between systems (HANNA Figures 7 and 26) and of pairs of stories, and metrics
//! against each other (Figures 27 to 38).

use std::cmp::Ordering;

use rayon::prelude::*;
use storymeter_core::Progress;
use storymeter_stats::{
    Coefficient, DependentTest, Design, Exchange, Matrix, SharedCorrelations, StatsError,
    WilliamsRules, calibrate_ties, meng_rosenthal_rubin, permutation_test, steiger,
    weighted_f1_of_present, williams, williams_matrix,
};

use super::correlations::Slices;
use super::pairwise::{PUBLISHED_SHARE, Preferred, pairs, preferred};
use super::{Analysis, Settings};
use crate::error::Result;
use crate::level::Level;
use crate::outcome::{Absence, Outcome, absence};
use crate::study::{
    Comparison, Edition, PValue, PairAccuracy, Pairwise, PairwiseRow, Side, Sides, Test,
    TestMatrix, Turn, pair_index,
};

/// The fewest observations of a test between two metrics.
const FEWEST: usize = 4;
/// Up to this many stories, all pairs of stories are compared (two million).
const MOST_POOLED: usize = 2000;

impl Analysis {
    /// Which of the systems of each pair a column calls better.
    fn judgments(&self, column: usize, fewest: usize) -> Vec<Option<Preferred>> {
        if self.edition == Edition::Published {
            return self.wins.iter().map(|pair| pair.preferred(column)).collect();
        }
        let (key, systems) = (&self.grid.columns()[column].key, self.grid.systems());
        let found = self.comparisons.iter().find(|found| found.column.key == *key);
        pairs(systems.len())
            .into_iter()
            .map(|(a, b)| preferred(found?, &systems[a], &systems[b], fewest))
            .collect()
    }

    /// Weighted F1 in percent between the judgments of each criterion and of a metric, over the
    /// pairs of systems that both can judge.
    fn f1(
        &self,
        criteria: &[Vec<Option<Preferred>>],
        metric: usize,
        fewest: usize,
    ) -> Result<(Vec<Outcome<f64>>, Vec<usize>)> {
        let predicted = self.judgments(metric, fewest);
        let mut found = (Vec::new(), Vec::new());
        for criterion in criteria {
            let f1 = weighted_f1_of_present(criterion, &predicted)?;
            // The published analysis has an F1 also where people call all systems equal.
            let value = match self.edition {
                Edition::Corrected => f1.informative(),
                Edition::Published => f1.undefined.map_or(Ok(f1.value), Err),
            };
            found.0.push(match value {
                Ok(value) => Ok(100.0 * value),
                Err(_) if f1.n > 0 => Err(Absence::NoDifference),
                Err(_) => Err(Absence::Fewer(fewest)),
            });
            found.1.push(f1.n);
        }
        Ok(found)
    }

    /// The fewest items on which one system can be called better than another: with fewer, one that
    /// is better on every single item would still be so by chance more often than the confidence
    /// allows. The published analysis has no such rule; HANNA's systems share all items.
    fn fewest_items(&self) -> usize {
        if self.edition == Edition::Published {
            return 1;
        }
        let sides = self.settings.sides.choose(2.0, 1.0);
        let smallest = |items: i32| sides * 0.5f64.powi(items);
        let chance = (1.0 - self.settings.confidence).max(f64::MIN_POSITIVE);
        (1..1100).find(|&items| smallest(items) <= chance).unwrap_or(1100) as usize
    }

    /// All metrics as judges between systems, if the systems were compared.
    pub fn pairwise(&self) -> Result<Option<Pairwise>> {
        let method = self.comparisons.first().map(|found| found.method.clone());
        if method.is_none() && self.edition == Edition::Corrected {
            return Ok(None);
        }
        let fewest = self.fewest_items();
        let criteria: Vec<_> =
            self.criteria.iter().map(|&column| self.judgments(column, fewest)).collect();
        let row = |&metric: &usize| -> Result<PairwiseRow> {
            let (f1, n) = self.f1(&criteria, metric, fewest)?;
            Ok(PairwiseRow { metric: self.key(metric), f1, n })
        };
        Ok(Some(Pairwise {
            pairs: pairs(self.grid.systems().len()).len(),
            draws: self.settings.pairs.draws(self.edition),
            confidence: method.as_ref().map_or(PUBLISHED_SHARE, |method| method.confidence),
            seed: self.settings.pairs.seed,
            directed: self.edition == Edition::Corrected,
            method,
            rows: self.metrics.iter().map(row).collect::<Result<_>>()?,
        }))
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
                Ok(None) => (Err(Absence::TooMany), 0),
                Ok(Some(found)) => (Ok(found), found.pairs),
                Err(StatsError::TooFew { .. }) if apart => (Err(Absence::Fewer(2)), 0),
                Err(StatsError::TooFew { .. }) => (Err(Absence::NoSharedItem), 0),
                Err(StatsError::TooMany { .. }) => (Err(Absence::TooMany), 0),
                Err(StatsError::NotFinite { .. }) => (Err(Absence::Infinite), 0),
                Err(e) => return Err(e.into()),
            };
            Ok(PairAccuracy {
                metric: self.key(metric),
                criterion: self.key(criterion),
                level,
                accuracy: found.clone().map(|calibration| calibration.accuracy),
                uncalibrated: found.clone().map(|calibration| calibration.uncalibrated),
                threshold: found.map(|calibration| calibration.threshold),
                n,
            })
        };
        pairs.collect::<Vec<_>>().into_par_iter().map(one).collect()
    }

    /// The correlations of a criterion with every two metrics and between them, pair by pair, with
    /// the number of observations that all three rest on.
    fn triples(
        &self,
        level: Level,
        coefficient: Coefficient,
        criterion: usize,
    ) -> Result<Vec<SharedCorrelations>> {
        let slices = match (level, self.edition) {
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
            if self.edition == Edition::Corrected && !complete {
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
        let test = |&criterion: &usize| self.test(level, criterion);
        let tests = self.criteria.iter().map(test).collect();
        self.progress.end();
        tests
    }

    fn test(&self, level: Level, criterion: usize) -> Result<TestMatrix> {
        let Settings { test, coefficient, correction, .. } = self.settings;
        let triples = self.triples(level, coefficient, criterion)?;
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
        let turns: Vec<Turn> = self.metrics.iter().map(|&m| self.turn(m)).collect();
        Ok(TestMatrix {
            test,
            criterion: self.key(criterion),
            level,
            coefficient,
            correction,
            sides: self.settings.sides_of(self.edition),
            metrics: self.keys(&self.metrics),
            pairs: compare_all(
                &turns,
                &triples,
                (&self.settings, &self.progress),
                self.edition,
                &permutation,
            )?,
        })
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
    let triples = pairs(columns.len())
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
    progress.expect(triples.len() as u64);
    let watched = (settings, progress);
    let tests = compare_all(turns, &triples, watched, Edition::Corrected, &permutation);
    progress.end();
    tests
}

/// The test of the settings between all pairs of metrics, with corrected p-values.
fn compare_all(
    turns: &[Turn],
    triples: &[SharedCorrelations],
    (settings, progress): (&Settings, &Progress),
    edition: Edition,
    permutation: &Permutation<'_>,
) -> Result<Vec<Comparison>> {
    let sides = settings.sides_of(edition);
    let mut comparisons: Vec<Comparison> = match settings.test {
        Test::Williams => williams_tests(turns, triples, sides, edition)?,
        Test::Steiger => dependent_tests(turns, triples, sides, steiger)?,
        Test::Meng => dependent_tests(turns, triples, sides, meng_rosenthal_rubin)?,
        Test::Permutation => {
            let test = |(pair, three)| {
                progress.advance(1);
                permutation.test(pair, three, turns, (settings, sides))
            };
            pairs(turns.len()).into_iter().zip(triples).map(test).collect::<Result<_>>()?
        }
    };
    let raw: Vec<Option<f64>> =
        comparisons.iter().map(|one| one.p_value.as_ref().ok().map(|p| p.raw)).collect();
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
    triples: &[SharedCorrelations],
    sides: Sides,
    edition: Edition,
) -> Result<Vec<Comparison>> {
    if edition == Edition::Corrected {
        return dependent_tests(turns, triples, sides, williams);
    }
    let matrix = williams_matrix(turns.len(), WilliamsRules::Published, |i, j| {
        Ok(triples[pair_index(i, j)])
    })?;
    let one = |(i, j): (usize, usize)| {
        let n = triples[pair_index(i, j)].n;
        match (matrix.get(i, j), matrix.get(j, i)) {
            (Some(test), None) => comparison(Some(Side::First), test, sides),
            (None, Some(test)) => comparison(Some(Side::Second), test, sides),
            (Some(test), Some(_)) => comparison(None, test, sides),
            (None, None) => Comparison { stronger: None, p_value: Err(Absence::EquallyStrong), n },
        }
    };
    Ok(pairs(turns.len()).into_iter().map(one).collect())
}

/// A test between two correlations that share a variable.
type DependentCorrelations = fn(f64, f64, f64, usize) -> storymeter_stats::Result<DependentTest>;

/// A test of correlations, each turned by the direction of its metric.
fn dependent_tests(
    turns: &[Turn],
    triples: &[SharedCorrelations],
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
    pairs(turns.len()).into_iter().zip(triples).map(one).collect()
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
        let seed = settings.pairs.seed.wrapping_add(pair_index(i, j) as u64);
        let test = permutation_test(
            table(high)?,
            table(low)?,
            table(self.ratings)?,
            self.design,
            settings.resamples,
            seed,
        )?;
        let p = sides.choose(test.p_value, test.p_greater);
        let p_value = match p.is_nan() {
            true => Err(Absence::NoCorrelation),
            false => Ok(PValue { raw: p, corrected: p }),
        };
        Ok(Comparison { stronger: side, p_value, n: three.n })
    }
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
    let reason = match () {
        () if three.n < FEWEST => Absence::Fewer(FEWEST),
        () if missing => Absence::NoCorrelation,
        () => return None,
    };
    Some(Comparison { stronger: None, p_value: Err(reason), n: three.n })
}

fn comparison(stronger: Option<Side>, test: &DependentTest, sides: Sides) -> Comparison {
    let p = sides.choose(test.p_two_sided, test.p_value);
    let p_value = match test.undefined {
        Some(undefined) => Err(absence(undefined)),
        None => Ok(PValue { raw: p, corrected: p }),
    };
    Comparison { stronger, p_value, n: test.n }
}
