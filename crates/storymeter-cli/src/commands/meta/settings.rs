//! How metrics are compared: what `meta`, `correlate` and `compare` have in common.

use clap::{Args, ValueEnum};
use storymeter_core::Direction;
use storymeter_meta::study::{IntervalMethod, Sides, Test};
use storymeter_meta::{Coefficient, Correction};
use storymeter_meta::{DrawOptions, PairOptions, Settings};

use crate::args::count;

/// What a study of metrics and systems draws and tests.
#[derive(Debug, Clone, Args)]
pub struct StudyArgs {
    /// Draws per pair of systems: 9999 by default, as `compare` has, and 1000 draws of the paired
    /// bootstrap of the papers with --compat
    #[arg(long, value_name = "N", value_parser = count())]
    draws: Option<u64>,
    /// The seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    compare: CompareArgs,
}

impl StudyArgs {
    /// The settings of the analysis.
    pub fn settings(&self) -> Settings {
        let pairs = PairOptions { draws: self.draws.map(|draws| draws as usize), seed: self.seed };
        let draws = DrawOptions { seed: self.seed, ..DrawOptions::default() };
        self.compare.settings(pairs, draws)
    }
}

/// Whether tests are two-sided, wherever something is tested.
#[derive(Debug, Clone, Copy, Args)]
pub struct SidesArgs {
    /// Test only whether the better one of two is better by chance, as in the papers. The p-values
    /// are half as large, although nobody said beforehand which one is better
    #[arg(long)]
    one_sided: bool,
}

impl SidesArgs {
    /// The sides of the tests.
    pub fn sides(self) -> Sides {
        if self.one_sided { Sides::One } else { Sides::Two }
    }
}

/// Tests between metrics and intervals of correlations.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// The test between two metrics
    #[arg(long, value_enum, default_value_t = TestName::Williams, value_name = "TEST")]
    test: TestName,
    #[command(flatten)]
    sides: SidesArgs,
    /// How the p-values of these tests are corrected for their number
    #[arg(long, value_enum, default_value_t = CorrectionName::Holm, value_name = "METHOD")]
    correction: CorrectionName,
    /// How intervals of correlations are computed
    #[arg(long, value_enum, default_value_t = IntervalName::Fisher, value_name = "METHOD")]
    interval: IntervalName,
    /// The confidence of these intervals
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share)]
    confidence: f64,
    /// The number of resamples of bootstrap intervals and permutation tests
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = count())]
    resamples: u64,
}

/// The tests between two metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestName {
    /// Williams (1959), as in HANNA
    Williams,
    /// Steiger (1980)
    Steiger,
    /// Meng, Rosenthal and Rubin (1992)
    Meng,
    /// PERM-BOTH of Deutsch, Dror and Roth (2021)
    Permutation,
}

/// The corrections for many tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CorrectionName {
    /// Holm (1979)
    Holm,
    /// Benjamini and Hochberg (1995)
    BenjaminiHochberg,
    /// Benjamini and Yekutieli (2001)
    BenjaminiYekutieli,
}

impl From<CorrectionName> for Correction {
    fn from(name: CorrectionName) -> Self {
        match name {
            CorrectionName::Holm => Self::Holm,
            CorrectionName::BenjaminiHochberg => Self::BenjaminiHochberg,
            CorrectionName::BenjaminiYekutieli => Self::BenjaminiYekutieli,
        }
    }
}

/// The kinds of intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IntervalName {
    /// Fisher's z, with whole items left out where several stories are of one item; none at story
    /// level
    Fisher,
    /// Quantiles of a bootstrap of stories, or of items where several stories are of one
    Percentile,
    /// The same, corrected for bias and acceleration
    Bca,
}

/// A number strictly between 0 and 1.
pub fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("it must lie strictly between 0 and 1, as in 0.95".to_owned()),
    }
}

impl CompareArgs {
    /// The settings, with the draws and the seed of the other options.
    pub fn settings(&self, pairs: PairOptions, draws: DrawOptions) -> Settings {
        Settings::default().with(|it| {
            it.test = match self.test {
                TestName::Williams => Test::Williams,
                TestName::Steiger => Test::Steiger,
                TestName::Meng => Test::Meng,
                TestName::Permutation => Test::Permutation,
            };
            it.sides = self.sides.sides();
            it.coefficient = Coefficient::Pearson;
            it.correction = self.correction.into();
            it.interval = match self.interval {
                IntervalName::Fisher => IntervalMethod::Fisher,
                IntervalName::Percentile => IntervalMethod::Percentile,
                IntervalName::Bca => IntervalMethod::Bca,
            };
            it.confidence = self.confidence;
            it.resamples = self.resamples as usize;
            it.pairs = pairs;
            it.draws = draws;
        })
    }
}

/// Which way metrics point, where the user knows better than the header of the scores.
#[derive(Debug, Clone, Args)]
pub struct DirectionArgs {
    /// Metrics where less is better, whatever the header of the scores says
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    lower: Vec<String>,
    /// Metrics where more is better, whatever the header of the scores says
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    higher: Vec<String>,
}

impl DirectionArgs {
    /// The metrics that were named, with their directions.
    pub fn pairs(&self) -> Vec<(String, Direction)> {
        let lower = self.lower.iter().map(|name| (name.clone(), Direction::Lower));
        let higher = self.higher.iter().map(|name| (name.clone(), Direction::Higher));
        lower.chain(higher).collect()
    }
}
