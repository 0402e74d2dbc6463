//! The result of an analysis, as types.
//!
//! A [`Study`] is what every analysis of this crate returns, what `study.json` holds, and what
//! reports read. Each [`Finding`] says what was computed from which columns, at which level, and
//! from how many values. Titles, file names and sentences are made from these types last, by
//! [`view`](crate::view), and are never parsed.

mod agreement;
mod check;
mod comparison;
mod errors;
mod misjudged;
mod ranking;
mod ratings;
mod robustness;
mod turn;
mod warning;

use serde::{Deserialize, Serialize};
use storymeter_core::{Column, Key, Role, Signature};
use storymeter_stats::Coefficient;

pub(crate) use agreement::triangle;
pub use agreement::{
    Adjusted, Agreement, Association, Between, Estimate, Interval, IntervalMethod,
};
pub(crate) use comparison::pair_index;
pub use comparison::{
    Comparison, PValue, PairAccuracy, Pairwise, PairwiseRow, Side, Sides, Test, TestMatrix,
    TopSystems, TopSystemsRow,
};
pub use errors::{
    Edits, EditsRow, ErrorCorrelation, ErrorShare, ErrorTypeShares, ErrorTypesRow, ErrorTypesTable,
};
pub use misjudged::{MisjudgedBy, MisjudgedStory, Misjudgements};
pub use ranking::{
    AgainstFirst, Ballot, Leader, MetricRanking, Place, RankMethod, RankedMetric, Ranking,
    SIGNIFICANT, Voter,
};
pub use ratings::{
    HumanScores, IccEstimate, RaterAgreement, Raters, RatingDistribution, RatingSummary, Standing,
    SystemAverage, SystemAverages,
};
pub use robustness::{BiasedSet, BiasedSets, Drift, DriftRow, Spread};
pub use turn::Turn;
pub use warning::{Warning, WarningKind};

use crate::Level;
use crate::systems::SystemComparison;

/// Which analysis was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The meta-evaluation of the HANNA paper.
    Hanna,
    /// The meta-evaluation of the UNION paper.
    Union,
    /// The same analysis on a user's own table of scores.
    Table,
}

impl Kind {
    /// The lower-case name: `hanna`, `union` or `table`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hanna => "hanna",
            Self::Union => "union",
            Self::Table => "table",
        }
    }
}

/// Which of two analyses was made, where the published one has a defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edition {
    /// Directions count, signs are kept, ties share their ranks, and nothing is rounded on the way.
    #[default]
    Corrected,
    /// The analysis as HANNA's authors published it, with its defects.
    Published,
}

/// The whole result of one analysis.
///
/// ```
/// use storymeter_meta::{Level, table};
/// use storymeter_core::{Column, Direction, Ratings, Row, ScoreTable};
/// use storymeter_stats::Coefficient;
///
/// let rows = (0..8).map(|i| {
///     let mut ratings = Ratings::new();
///     ratings.push("fun", Some(f64::from(i * 3 % 8)));
///     Row { id: i.to_string(), item: i.to_string(), ratings, ..Row::default() }
/// });
/// let mut scores = ScoreTable::new(rows.collect());
/// let values = (0..8).map(|i| Ok(f64::from(i))).collect();
/// scores.push(Column::metric("bleu", Direction::Higher), values);
///
/// let study = table::analyse(&scores, &table::Options::default())?;
/// let found = study.agreement("bleu", "fun", Level::Pooled, Coefficient::Kendall).unwrap();
/// assert_eq!(found.n, 8);
/// assert!(found.value.as_ref().is_ok_and(|tau| tau.value > 0.0));
/// # Ok::<(), storymeter_meta::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Which analysis was made.
    pub kind: Kind,
    /// Whether the published defects were repeated.
    pub edition: Edition,
    /// Every parameter that can change a number.
    pub signature: Signature,
    /// What a reader must know before trusting a number.
    pub warnings: Vec<Warning>,
    /// The columns of the table, criteria and metrics, with direction, signature and counts.
    pub columns: Vec<Column>,
    /// Metrics whose scores were multiplied by -1 before anything else, so that more is better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turned: Vec<Key>,
    /// The systems that were compared.
    pub systems: Vec<String>,
    /// The number of items.
    pub items: usize,
    /// The results, in reading order.
    pub findings: Vec<Finding>,
}

impl Study {
    /// The keys of the columns of a role, in order.
    pub fn keys(&self, role: Role) -> impl Iterator<Item = &Key> {
        self.columns.iter().filter(move |column| column.role == role).map(|column| &column.key)
    }

    /// The metrics.
    pub fn metrics(&self) -> Vec<&Key> {
        self.keys(Role::Metric).collect()
    }

    /// The human criteria.
    pub fn criteria(&self) -> Vec<&Key> {
        self.keys(Role::Human).collect()
    }

    /// How all metrics agree with all criteria, at every level and with every coefficient.
    pub fn agreements(&self) -> impl Iterator<Item = &Agreement> {
        self.findings.iter().flat_map(|finding| match finding {
            Finding::Agreements(all) => all.as_slice(),
            _ => &[],
        })
    }

    /// How one metric agrees with one criterion.
    pub fn agreement(
        &self,
        metric: &str,
        criterion: &str,
        level: Level,
        coefficient: Coefficient,
    ) -> Option<&Agreement> {
        self.agreements().find(|one| {
            one.level == level
                && one.coefficient == coefficient
                && one.metric.as_str() == metric
                && one.criterion.as_str() == criterion
        })
    }

    /// The levels at which at least one metric has a correlation with a criterion.
    pub fn levels(&self) -> Vec<Level> {
        let defined =
            |level: &Level| self.agreements().any(|one| one.level == *level && one.value.is_ok());
        Level::ALL.into_iter().filter(defined).collect()
    }

    /// The tests between metrics, one matrix per criterion and level.
    pub fn tests(&self) -> impl Iterator<Item = &TestMatrix> {
        self.findings.iter().filter_map(|finding| match finding {
            Finding::Tests(matrix) => Some(matrix),
            _ => None,
        })
    }

    /// The correlations between the columns of a role.
    pub fn between(&self, role: Role) -> impl Iterator<Item = &Between> {
        self.findings.iter().filter_map(move |finding| match finding {
            Finding::Between(between) if between.role == role => Some(between),
            _ => None,
        })
    }
}

/// One result of an analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Finding {
    /// The metrics in order of their agreement with people, at one level.
    MetricRanking(MetricRanking),
    /// How far raters agree with each other, one entry per criterion (HANNA Table 3).
    RaterAgreement(Vec<RaterAgreement>),
    /// The systems' mean ratings (HANNA Table 4).
    SystemAverages(SystemAverages),
    /// How single ratings are distributed by system and criterion (HANNA Figure 9).
    Ratings(RatingDistribution),
    /// How many stories have which human score (UNION Figure 3).
    HumanScores(HumanScores),
    /// How every metric agrees with every criterion.
    Agreements(Vec<Agreement>),
    /// Metrics ranked over many correlations (HANNA Table 6).
    Ranking(Ranking),
    /// Correlations between all columns of a role (HANNA Figures 1, 2, 5, 6, 10 to 13, 20 to 25).
    Between(Between),
    /// Metrics as judges between systems (HANNA Figures 7 and 26).
    Pairwise(Pairwise),
    /// The systems compared with each other, by every column.
    SystemPairs(Vec<SystemComparison>),
    /// How often metrics order two stories as people do, with calibrated ties.
    PairAccuracy(Vec<PairAccuracy>),
    /// Correlations among the best systems only (HANNA Figure 8).
    TopSystems(TopSystems),
    /// Tests between all pairs of metrics for one criterion (HANNA Figures 27 to 38).
    Tests(TestMatrix),
    /// Correlations on sets of stories that are mostly bad or mostly good (UNION Figure 2).
    BiasedSets(BiasedSets),
    /// Which error types unreasonable stories have (UNION Table 2).
    ErrorTypes(ErrorTypeShares),
    /// Correlations on the stories of each error type (UNION Table 7).
    ByErrorType(ErrorTypesTable),
    /// Scores of metrics that were trained on other data (UNION Table 6).
    Drift(Drift),
    /// Whether a model edits the stories that people find bad (UNION appendix D).
    Edits(Edits),
    /// The stories that metrics misjudge most (UNION Table 11).
    Misjudged(Misjudgements),
}
