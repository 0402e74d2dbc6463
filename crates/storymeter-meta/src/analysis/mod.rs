//! The analysis that HANNA's table and a user's own table share: everything that systems, items,
//! criteria and metrics allow, as findings.

mod agreements;
mod compare;
mod correlations;
mod degenerate;
mod error_types;
mod pairwise;
mod quality;
mod rankings;
mod systems;

use std::collections::HashSet;
use std::path::PathBuf;

use storymeter_core::{Direction, Key, Progress, Role, ScoreTable, Signature};
use storymeter_stats::{BootstrapMethod, BootstrapOptions, Coefficient, Correction};

pub(crate) use agreements::{agreement_of, with_interval, with_item_p_value};
pub(crate) use compare::compare_columns;
pub(crate) use correlations::{
    Correlations, Found, Noise, SystemMeans, associate, coefficient_only, significant_digits,
};
pub(crate) use degenerate::inspect;
pub(crate) use error_types::{ErrorTypes, EvaluationSet, NamedErrors, RatersNeeded};
pub use pairwise::PairOptions;
use pairwise::{PairWins, published_wins};
pub use quality::DrawOptions;
pub(crate) use quality::{Sample, biased_sets, spread};

use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::study::{Edition, Finding, IntervalMethod, Kind, Sides, Study, Test, Turn, Warning};
use crate::systems::{MOST_SYSTEMS, Options, SystemComparison, compare as compare_all_systems};

/// How metrics are compared, and how sure the numbers are.
///
/// ```
/// use storymeter_meta::{Settings, study::{IntervalMethod, Test}};
/// let (test, interval) = (Test::Steiger, IntervalMethod::Bca);
/// let settings = Settings::default().with(|it| (it.test, it.interval) = (test, interval));
/// assert_eq!(settings.confidence, 0.95);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The test between two metrics.
    pub test: Test,
    /// Whether tests between metrics and between systems are two-sided. The published analysis
    /// always has one-sided tests.
    pub sides: Sides,
    /// The coefficient that tests between metrics compare.
    pub coefficient: Coefficient,
    /// How the p-values of a matrix of tests are corrected for their number.
    pub correction: Correction,
    /// How intervals of correlations are computed.
    pub interval: IntervalMethod,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The number of resamples of bootstrap intervals and permutation tests.
    pub resamples: usize,
    /// The comparison of every two systems.
    pub pairs: PairOptions,
    /// How biased sets are drawn.
    pub draws: DrawOptions,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            test: Test::Williams,
            sides: Sides::Two,
            coefficient: Coefficient::Pearson,
            correction: Correction::Holm,
            interval: IntervalMethod::Fisher,
            confidence: 0.95,
            resamples: 1000,
            pairs: PairOptions::default(),
            draws: DrawOptions::default(),
        }
    }
}

impl Settings {
    /// The settings after a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The options of a bootstrap, where intervals are bootstrapped.
    pub(crate) fn bootstrap(&self) -> Option<BootstrapOptions> {
        let method = match self.interval {
            IntervalMethod::Fisher => return None,
            IntervalMethod::Percentile => BootstrapMethod::Percentile,
            IntervalMethod::Bca => BootstrapMethod::Bca,
        };
        let (resamples, confidence, seed) = (self.resamples, self.confidence, self.pairs.seed);
        Some(BootstrapOptions { resamples, confidence, method, seed })
    }

    /// Adds to a signature what can change a number. Defaults that were always used are left out.
    pub(crate) fn sign(&self, signature: Signature, seed: u64, draws: usize) -> Signature {
        let default = Self::default();
        let mut signature = signature.with("seed", "seed", seed).with("draws", "d", draws);
        if self.test != default.test {
            signature = signature.with("test", "t", self.test.name());
        }
        if self.sides != default.sides {
            signature = signature.with("sides", "sides", self.sides.name());
        }
        if self.coefficient != default.coefficient {
            signature = signature.with("coefficient", "k", self.coefficient);
        }
        if self.correction != default.correction {
            signature = signature.with("correction", "corr", self.correction.name());
        }
        if self.interval != default.interval {
            signature = signature.with("interval", "ci", self.interval.name());
        }
        if self.confidence != default.confidence {
            signature = signature.with("confidence", "conf", self.confidence);
        }
        if self.test == Test::Permutation || self.interval != IntervalMethod::Fisher {
            signature = signature.with("resamples", "n", self.resamples);
        }
        signature.with_version()
    }

    /// The sides of the tests of an edition.
    pub(crate) fn sides_of(&self, edition: Edition) -> Sides {
        match edition {
            Edition::Corrected => self.sides,
            Edition::Published => Sides::One,
        }
    }

    /// Compares the systems of a table by all of its columns, as these settings ask for. There are
    /// no comparisons of more systems than the engine compares.
    pub(crate) fn compare_systems(
        &self,
        table: &ScoreTable,
        without: &[String],
        directions: &[(String, Direction)],
        progress: &Progress,
    ) -> Result<Vec<SystemComparison>> {
        let named = table.rows().iter().filter_map(|row| row.system.as_ref());
        let (outside, competing): (HashSet<&String>, HashSet<&String>) =
            named.partition(|name| without.contains(name));
        if competing.len() < 2 || competing.len() > MOST_SYSTEMS {
            return Ok(Vec::new());
        }
        compare_all_systems(
            table,
            &Options {
                without: outside.into_iter().cloned().collect(),
                directions: directions.to_vec(),
                resamples: self.pairs.draws(Edition::Corrected),
                confidence: self.confidence,
                sides: self.sides,
                correction: self.correction,
                seed: self.pairs.seed,
                progress: progress.clone(),
                ..Options::default()
            },
        )
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.pairs.draws == Some(0) || self.draws.draws == 0 || self.resamples == 0 {
            return Err(Error::NoDraws);
        }
        Ok(())
    }
}

/// A grid and all that is computed from it once.
pub(crate) struct Analysis {
    pub grid: Grid,
    pub criteria: Vec<usize>,
    pub metrics: Vec<usize>,
    pub correlations: Correlations,
    means: SystemMeans,
    /// The systems compared by every column, in the corrected analysis.
    pub comparisons: Vec<SystemComparison>,
    /// How often each system won, in the published one.
    wins: Vec<PairWins>,
    pub settings: Settings,
    pub progress: Progress,
    pub edition: Edition,
}

impl Analysis {
    /// The study of these findings, on this grid.
    pub fn study(
        &self,
        kind: Kind,
        signature: Signature,
        warnings: Vec<Warning>,
        findings: Vec<Finding>,
    ) -> Study {
        Study {
            kind,
            edition: self.edition,
            signature,
            warnings,
            columns: self.grid.columns().to_vec(),
            turned: Vec::new(),
            systems: self.grid.systems().to_vec(),
            items: self.grid.items().len(),
            findings,
        }
    }

    /// Computes all correlations. `comparisons` are those of the systems of the grid, and `file`
    /// is named in errors.
    pub fn new(
        grid: Grid,
        comparisons: Vec<SystemComparison>,
        edition: Edition,
        (settings, progress): (Settings, &Progress),
        file: Option<PathBuf>,
    ) -> Result<Self> {
        let criteria = grid.of_role(Role::Human);
        let metrics = grid.of_role(Role::Metric);
        if criteria.is_empty() {
            return Err(Error::NoCriterion { file });
        }
        if metrics.is_empty() {
            return Err(Error::NoMetric { file });
        }
        settings.check()?;
        let noise = match edition {
            Edition::Corrected => Noise::Removed,
            Edition::Published => Noise::AsIs,
        };
        let means = SystemMeans::of(&grid, noise);
        let correlations = Correlations::of(&grid, &means)?;
        let wins = match edition {
            Edition::Corrected => Vec::new(),
            Edition::Published => published_wins(&grid, settings.pairs),
        };
        let progress = progress.clone();
        Ok(Self {
            grid,
            criteria,
            metrics,
            correlations,
            means,
            comparisons,
            wins,
            settings,
            progress,
            edition,
        })
    }

    /// How the correlations of a metric count.
    pub fn turn(&self, column: usize) -> Turn {
        Turn::new(self.grid.columns()[column].direction, self.edition)
    }

    /// The key of a column.
    pub fn key(&self, column: usize) -> Key {
        self.grid.columns()[column].key.clone()
    }

    /// The keys of columns.
    pub fn keys(&self, columns: &[usize]) -> Vec<Key> {
        columns.iter().map(|&column| self.key(column)).collect()
    }
}

/// Rounds half to even, as numpy does.
pub(crate) fn round_half_even(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round_ties_even() / scale
}
