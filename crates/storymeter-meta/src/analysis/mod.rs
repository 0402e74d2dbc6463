//! The analysis both `meta hanna` and `meta table` run: everything a table of systems, items, criteria and
//! metrics allows, as sheets.

mod compare;
pub mod heatmaps;
mod rankings;
mod systems;

use storymeter_core::{Role, ScoreTable};
use storymeter_stats::Coefficient;

use crate::correlations::{Correlations, Noise, SystemMeans, columns_of};
use crate::error::{Error, Result};
use crate::level::Level;
use crate::pairwise::{self, BootstrapOptions, Duel};

pub use rankings::{Ballot, ballots};

/// Which of two analyses is shown, where the published one has a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// Directions count, signs are kept, ties share their ranks, nothing is rounded on the way.
    Corrected,
    /// As HANNA's authors published it, defects included.
    Published,
}

/// A table and all that was computed from it once.
pub struct Study {
    table: ScoreTable,
    criteria: Vec<usize>,
    metrics: Vec<usize>,
    correlations: Correlations,
    means: SystemMeans,
    duels: Vec<Duel>,
    bootstrap: BootstrapOptions,
    edition: Edition,
}

impl Study {
    /// Computes all correlations and draws all duels.
    pub fn new(table: ScoreTable, edition: Edition, bootstrap: BootstrapOptions) -> Result<Self> {
        let criteria = columns_of(&table, Role::Human);
        let metrics = columns_of(&table, Role::Metric);
        if criteria.is_empty() {
            return Err(Error::unfit("no human criterion to compare metrics with"));
        }
        if metrics.is_empty() {
            return Err(Error::unfit("no metric to evaluate"));
        }
        if bootstrap.draws == 0 {
            return Err(Error::unfit("the number of draws must be at least 1"));
        }
        let noise = match edition {
            Edition::Corrected => Noise::Removed,
            Edition::Published => Noise::Kept,
        };
        let means = SystemMeans::of(&table, noise);
        let correlations = Correlations::of(&table, &means)?;
        let duels = pairwise::duels(&table, bootstrap);
        Ok(Self { table, criteria, metrics, correlations, means, duels, bootstrap, edition })
    }

    /// The table.
    pub fn table(&self) -> &ScoreTable {
        &self.table
    }

    /// The correlations.
    pub fn correlations(&self) -> &Correlations {
        &self.correlations
    }

    /// The metric columns.
    pub fn metrics(&self) -> &[usize] {
        &self.metrics
    }

    /// The criterion columns.
    pub fn criteria(&self) -> &[usize] {
        &self.criteria
    }

    fn name(&self, column: usize) -> &str {
        &self.table.columns()[column].name
    }

    /// How many observations stand behind a correlation of this level for the Williams test.
    pub(crate) fn observations(&self, level: Level) -> usize {
        match level {
            Level::Story => self.table.items().len(),
            Level::System => self.table.systems().len(),
            Level::Pooled => self.table.systems().len() * self.table.items().len(),
        }
    }

    /// |correlation| of a metric with a criterion.
    fn strength(
        &self,
        level: Level,
        coefficient: Coefficient,
        metric: usize,
        criterion: usize,
    ) -> f64 {
        self.correlations.value(level, coefficient, metric, criterion).abs()
    }
}

/// Rounds half to even, as numpy does.
pub(crate) fn round_half_even(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round_ties_even() / scale
}
