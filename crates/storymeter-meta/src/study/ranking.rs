//! Metrics in order: the best few by criterion, and all of them over many correlations.

use serde::{Deserialize, Serialize};
use storymeter_core::Key;
use storymeter_stats::Coefficient;

use crate::Level;

/// The metrics with the highest correlations with one criterion, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leaders {
    /// What one observation is.
    pub level: Level,
    /// The criterion.
    pub criterion: Key,
    /// Pearson, Spearman or Kendall.
    pub coefficient: Coefficient,
    /// All metrics that have a correlation. Those that run against their direction come last.
    pub order: Vec<Leader>,
}

/// One metric and its correlation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leader {
    /// The metric.
    pub metric: Key,
    /// The correlation, turned by the direction of the metric (see [`Turn`](super::Turn)).
    pub strength: f64,
}

/// Which correlations take part in a ranking.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ballot {
    /// All of them.
    Global,
    /// Those of one level.
    Level(Level),
    /// Those with one coefficient.
    Coefficient(Coefficient),
    /// Those of one level with one coefficient.
    Block(Level, Coefficient),
    /// Those with one criterion.
    Criterion(Key),
}

/// One voter of a ranking: the correlations with a criterion, at a level, with a coefficient.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Voter {
    /// What one observation is.
    pub level: Level,
    /// Pearson, Spearman or Kendall.
    pub coefficient: Coefficient,
    /// The criterion.
    pub criterion: Key,
}

/// How votes are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankMethod {
    /// Borda counts; more is better.
    Borda,
    /// Mean ranks; less is better.
    MeanRank,
    /// The consensus that contradicts the voters least.
    Kemeny,
}

/// Metrics ranked by their correlations, which are turned by the direction of each metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// How votes were combined.
    pub method: RankMethod,
    /// Which correlations voted.
    pub ballot: Ballot,
    /// The voters.
    pub voters: Vec<Voter>,
    /// The metrics that every voter has a number for, best first.
    pub places: Vec<Place>,
    /// The number of metrics that lack a correlation and are not ranked.
    pub unranked: usize,
    /// Kemeny only: whether no other order contradicts the voters less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
}

/// One ranked metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The metric.
    pub metric: Key,
    /// The Borda count or the mean rank; `None` for Kemeny, which gives an order only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}
