//! Metrics in order: by their agreement with people, the best few by criterion, and over many
//! correlations.

use serde::{Deserialize, Serialize};
use storymeter_core::Key;
use storymeter_stats::ranking::argsort_numpy_1_23;
use storymeter_stats::{Coefficient, Correction};

use super::{Agreement, Edition, Finding, Study, Test, TestMatrix};
use crate::Level;
use crate::analysis::significant_digits;

/// Corrected p-values below this are called significant.
pub const SIGNIFICANT: f64 = 0.05;

/// One metric and its correlation with one criterion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leader<'a> {
    /// The metric.
    pub metric: &'a Key,
    /// The correlation, turned by the direction of the metric (see [`Turn`](super::Turn)).
    pub strength: f64,
}

/// Which correlations take part in a ranking.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ballot {
    /// All of them.
    Global,
    /// The correlations of one level.
    Level(Level),
    /// The correlations with one coefficient.
    Coefficient(Coefficient),
    /// The correlations of one level with one coefficient.
    Block(Level, Coefficient),
    /// The correlations with one criterion.
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

/// The metrics in order of how well they agree with people at one level: by the mean of their
/// Pearson correlations with the criteria, best first.
///
/// Correlations are turned by the direction of each metric (see [`Turn`](super::Turn)), so that a
/// metric that runs against its direction has a negative mean and comes last. A metric that lacks a
/// correlation with one of the criteria is not ranked: its mean would be over other criteria than
/// those of its rivals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricRanking {
    /// What one observation is.
    pub level: Level,
    /// The criteria that have a correlation with some metric.
    pub criteria: Vec<Key>,
    /// The ranked metrics, best first. There is at least one.
    pub places: Vec<RankedMetric>,
    /// The number of metrics that are not ranked.
    pub unranked: usize,
    /// The largest number of observations behind a correlation.
    pub n: usize,
    /// The test that compares metrics, and its correction; `None` if none was made.
    pub test: Option<(Test, Correction)>,
}

/// One metric of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedMetric {
    /// The metric.
    pub metric: Key,
    /// The mean of its correlations over the criteria.
    pub mean: f64,
    /// How the first metric compares; `None` for the first itself, and if nothing was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_first: Option<AgainstFirst>,
}

/// On how many criteria the first metric of a ranking is significantly stronger than another, after
/// correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgainstFirst {
    /// The criteria on which the first metric is significantly stronger.
    pub weaker: usize,
    /// The criteria on which the first metric is significantly weaker, although its mean is higher.
    pub stronger: usize,
    /// The criteria on which the two were tested.
    pub tested: usize,
}

impl MetricRanking {
    /// The first metric.
    pub fn best(&self) -> &RankedMetric {
        &self.places[0]
    }

    /// The position of a metric.
    pub fn position(&self, metric: &Key) -> Option<usize> {
        self.places.iter().position(|place| place.metric == *metric)
    }

    /// The metrics that cannot be told apart from the first: it is significantly stronger on no
    /// criterion.
    pub fn undecided(&self) -> Vec<&str> {
        let is_undecided =
            |place: &&RankedMetric| place.against_first.is_some_and(|found| found.weaker == 0);
        self.places.iter().filter(is_undecided).map(|place| place.metric.as_str()).collect()
    }

    /// The number of metrics that were tested against the first on at least one criterion.
    pub fn tested(&self) -> usize {
        self.places.iter().filter(|place| place.against_first.is_some()).count()
    }

    /// Whether the first metric is significantly stronger than every other one on every criterion.
    pub fn leads_on_every_criterion(&self) -> bool {
        let all = self.criteria.len();
        let leads =
            |place: &RankedMetric| place.against_first.is_some_and(|found| found.weaker == all);
        self.places.iter().skip(1).all(leads)
    }
}

impl Study {
    /// The metrics by their correlations with one criterion, best first. Those that run against
    /// their direction come last, and those without a correlation are left out.
    pub fn leaders(
        &self,
        level: Level,
        criterion: &Key,
        coefficient: Coefficient,
    ) -> Vec<Leader<'_>> {
        let own = self.agreements().filter(|one| {
            one.level == level && one.coefficient == coefficient && one.criterion == *criterion
        });
        let mut found: Vec<Leader<'_>> = own
            .filter_map(|one| Some(Leader { metric: &one.metric, strength: self.directed(one)? }))
            .collect();
        match self.edition {
            Edition::Published => {
                let strengths: Vec<f64> = found.iter().map(|one| one.strength).collect();
                let order = argsort_numpy_1_23(&strengths);
                order.into_iter().rev().map(|at| found[at]).collect()
            }
            Edition::Corrected => {
                let digits = |one: &Leader<'_>| significant_digits(one.strength);
                found.sort_by(|a, b| digits(b).total_cmp(&digits(a)));
                found
            }
        }
    }

    /// The rankings of the metrics, one per level that has one.
    ///
    /// The story level comes first where it exists, because it has the most observations that
    /// compare systems on the same item.
    pub fn metric_rankings(&self) -> Vec<&MetricRanking> {
        let rankings = self.findings.iter().filter_map(|finding| match finding {
            Finding::MetricRanking(ranking) => Some(ranking),
            _ => None,
        });
        rankings.collect()
    }

    /// The same study with its metrics ranked at every level that has correlations. Rankings that
    /// it has already are replaced.
    #[must_use]
    pub fn with_metric_rankings(mut self) -> Self {
        self.findings.retain(|finding| !matches!(finding, Finding::MetricRanking(_)));
        let rankings = Level::ALL.into_iter().filter_map(|level| self.rank_metrics(level));
        let rankings: Vec<Finding> = rankings.map(Finding::MetricRanking).collect();
        self.findings.splice(0..0, rankings);
        self
    }

    fn rank_metrics(&self, level: Level) -> Option<MetricRanking> {
        let is_here =
            |one: &&Agreement| one.level == level && one.coefficient == Coefficient::Pearson;
        let here: Vec<&Agreement> = self.agreements().filter(is_here).collect();
        let (mut criteria, mut metrics) = (Vec::new(), Vec::new());
        for one in &here {
            if one.value.is_ok() && !criteria.contains(&one.criterion) {
                criteria.push(one.criterion.clone());
            }
            if !metrics.contains(&&one.metric) {
                metrics.push(&one.metric);
            }
        }
        let mut places = Vec::new();
        for metric in &metrics {
            let own = here.iter().filter(|one| one.metric == **metric);
            let turned: Vec<f64> = own.filter_map(|one| self.directed(one)).collect();
            let mean = turned.iter().sum::<f64>() / criteria.len() as f64;
            if turned.len() == criteria.len() && mean.is_finite() {
                places.push(RankedMetric { metric: (*metric).clone(), mean, against_first: None });
            }
        }
        // A metric and its mirror image are equally strong; the last bits of the sums need not be.
        places.sort_by(|a, b| significant_digits(b.mean).total_cmp(&significant_digits(a.mean)));
        let first = places.first()?.metric.clone();
        let matrices: Vec<&TestMatrix> = self
            .tests()
            .filter(|matrix| {
                matrix.level == level
                    && matrix.coefficient == Coefficient::Pearson
                    && criteria.contains(&matrix.criterion)
            })
            .collect();
        for place in places.iter_mut().skip(1) {
            place.against_first = against_first(&matrices, &first, &place.metric);
        }
        Some(MetricRanking {
            level,
            unranked: metrics.len() - places.len(),
            n: here.iter().map(|one| one.n).max().unwrap_or(0),
            test: matrices.first().map(|matrix| (matrix.test, matrix.correction)),
            criteria,
            places,
        })
    }
}

/// Compares the first metric with another on the criteria of these tests.
fn against_first(matrices: &[&TestMatrix], first: &Key, other: &Key) -> Option<AgainstFirst> {
    let mut found = AgainstFirst { weaker: 0, stronger: 0, tested: 0 };
    for matrix in matrices {
        let places = (matrix.position(first.as_str()), matrix.position(other.as_str()));
        let (Some(a), Some(b)) = places else { continue };
        let p = |row, column| {
            matrix.get(row, column).and_then(|one| one.p_value.clone().ok()).map(|p| p.corrected)
        };
        let (ahead, back) = (p(a, b), p(b, a));
        // An equally strong pair is no difference, also where a published analysis has no p-value.
        let is_tested = ahead.is_some()
            || back.is_some()
            || (matrix.get(a, b).is_none() && matrix.get(b, a).is_none());
        found.tested += usize::from(is_tested);
        found.weaker += usize::from(ahead.is_some_and(|p| p < SIGNIFICANT));
        found.stronger += usize::from(back.is_some_and(|p| p < SIGNIFICANT));
    }
    (found.tested > 0).then_some(found)
}
