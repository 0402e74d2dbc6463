//! Which of several systems is better by a metric or a human criterion, and how sure that is.
//!
//! This needs no ratings: it compares the systems whose stories were scored. Systems are ranked by
//! their mean in the direction of the metric. Every two systems are tested, on the items that both
//! wrote a story for where they share enough of them, and the p-values are corrected for the number
//! of pairs.
//!
//! ```
//! use storymeter_core::{Column, Direction, Row, ScoreTable};
//! use storymeter_meta::systems::{Options, compare_systems};
//! use storymeter_meta::view::conclusion;
//!
//! let story = |system: &str, item: usize| Row {
//!     id: format!("{system}-{item}"),
//!     system: Some(system.to_owned()),
//!     item: item.to_string(),
//!     ..Row::default()
//! };
//! let rows = ["tale", "rain"].iter().flat_map(|system| (0..20).map(|item| story(system, item)));
//! let mut table = ScoreTable::new(rows.collect());
//! let value = |i: usize| Ok((i % 20 % 7) as f64 + if i < 20 { 1.0 } else { 0.0 });
//! table.push(Column::metric("union", Direction::Higher), (0..40).map(value).collect());
//!
//! let found = compare_systems(&table, "union", &Options::default())?;
//! assert_eq!(found.systems[0].name, "tale");
//! assert!(found.pairs[0].is_significant());
//! assert!(conclusion(&found).starts_with("tale is better than rain by union"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod stories;
pub mod verdict;

use serde::{Deserialize, Serialize};
use storymeter_core::{Column, Direction, Progress, Signature};
use storymeter_stats::{Correction, Interval, Resampling};

pub(crate) use compare::MOST_SYSTEMS;
pub use compare::{compare, compare_systems, compare_two};
pub use storymeter_stats::{ItemWins, Pairing};
pub(crate) use verdict::is_people;

use crate::outcome::{Outcome, written};
use crate::ratings::quantile;
use crate::study::{PValue, Side, Sides};

/// The quartiles of values that are sorted and not empty, by linear interpolation between them.
///
/// ```
/// use storymeter_meta::systems::quartiles;
/// assert_eq!(quartiles(&[1.0, 2.0, 4.0, 8.0]), [1.75, 3.0, 5.0]);
/// ```
pub fn quartiles(sorted: &[f64]) -> [f64; 3] {
    [0.25, 0.5, 0.75].map(|share| quantile(sorted, share))
}

/// What to compare, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The metrics and criteria to compare by; every column where it is empty.
    pub columns: Vec<String>,
    /// Systems to leave out.
    pub without: Vec<String>,
    /// Only pairs with this system are tested, where one is named.
    pub against: Option<String>,
    /// Metrics whose direction is another than the table says, or that the table does not know.
    pub directions: Vec<(String, Direction)>,
    /// The number of resamples of intervals and tests.
    pub resamples: usize,
    /// The confidence of the intervals. A corrected p-value of at most 1 less this is significant.
    pub confidence: f64,
    /// Whether tests are two-sided.
    pub sides: Sides,
    /// How p-values are corrected for the number of pairs.
    pub correction: Correction,
    /// The seed of all draws.
    pub seed: u64,
    /// What hears how far the work has come.
    pub progress: Progress,
}

impl Default for Options {
    fn default() -> Self {
        let Resampling { resamples, confidence, seed, .. } = Resampling::default();
        Self {
            columns: Vec::new(),
            without: Vec::new(),
            against: None,
            directions: Vec::new(),
            resamples,
            confidence,
            sides: Sides::Two,
            correction: Correction::Holm,
            seed,
            progress: Progress::unwatched(),
        }
    }
}

impl Options {
    /// The options after a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn resampling(&self) -> Resampling {
        Resampling::default().with(|it| {
            (it.resamples, it.confidence, it.seed) = (self.resamples, self.confidence, self.seed);
        })
    }

    fn method(&self) -> Method {
        Method {
            resamples: self.resamples,
            confidence: self.confidence,
            sides: self.sides,
            correction: self.correction,
            seed: self.seed,
            against: self.against.clone(),
        }
    }
}

/// All systems of a table, compared by one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemComparison {
    /// The metric or criterion.
    pub column: Column,
    /// The systems, best first. Systems without any value come last.
    pub systems: Vec<RankedSystem>,
    /// Every two systems, or every system with [`Method::against`]. The first of a pair is the one
    /// that is ranked higher, and pairs are in the order of the ranking.
    pub pairs: Vec<SystemPair>,
    /// Groups of systems that cannot be told apart; see [`Cluster`]. Empty where only pairs with
    /// one system were tested.
    pub clusters: Vec<Cluster>,
    /// What a reader of the numbers should know.
    pub cautions: Vec<Caution>,
    /// How the numbers were made.
    pub method: Method,
    /// How the numbers came about, on one line.
    pub signature: Signature,
}

/// One system of a [`SystemComparison`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedSystem {
    /// Its name.
    pub name: String,
    /// Its rank, from 1. Systems with equal means share the better rank.
    pub rank: usize,
    /// The number of its stories that have a value.
    pub stories: usize,
    /// The number of its stories without a value, which are left out.
    pub absent: usize,
    /// The mean over the stories.
    #[serde(with = "written")]
    pub mean: Outcome<f64>,
    /// The standard deviation over the stories.
    #[serde(with = "written")]
    pub sd: Outcome<f64>,
    /// The interval of the mean, with items as observations where several stories are of one
    /// ([`score_intervals`](storymeter_stats::score_intervals)). A few stories that are all equal
    /// have none.
    #[serde(with = "written")]
    pub interval: Outcome<Interval>,
    /// The number of systems that it is significantly better than.
    pub better_than: usize,
    /// The number of systems that are significantly better.
    pub worse_than: usize,
}

/// Two systems of a [`SystemComparison`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemPair {
    /// The system that is ranked higher.
    pub first: String,
    /// The system that is ranked lower.
    pub second: String,
    /// Which stories were compared.
    pub design: Pairing,
    /// What the comparison gave, or why there is none.
    #[serde(with = "written")]
    pub found: Outcome<PairResult>,
}

impl SystemPair {
    /// Whether one of the two is significantly better, after the correction.
    pub fn is_significant(&self) -> bool {
        self.better().is_some()
    }

    /// Which of the two is significantly better.
    pub fn better(&self) -> Option<Side> {
        self.found.as_ref().ok().and_then(|found| found.better)
    }

    /// The names of the better and of the worse system, where one is significantly better.
    pub fn verdict(&self) -> Option<(&str, &str)> {
        self.better().map(|side| match side {
            Side::First => (self.first.as_str(), self.second.as_str()),
            Side::Second => (self.second.as_str(), self.first.as_str()),
        })
    }
}

/// The comparison of two systems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairResult {
    /// The mean of the first system less the mean of the second, on the items that were compared.
    pub difference: f64,
    /// The interval of the difference, found as that of a mean ([`RankedSystem::interval`]).
    #[serde(with = "written")]
    pub interval: Outcome<Interval>,
    /// The p-value of a randomisation test, raw and corrected.
    pub p_value: PValue,
    /// Whether all exchanges were tried, so that the raw p-value is exact.
    pub exact: bool,
    /// The difference in standard deviations of the stories, pooled over both systems (Cohen's d).
    #[serde(with = "written")]
    pub effect: Outcome<f64>,
    /// On how many shared items which system is better; only for a paired test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemWins>,
    /// Which system is significantly better.
    pub better: Option<Side>,
    /// How many stories it takes to see a difference.
    pub power: Power,
}

/// How many stories a test needs.
///
/// The probability of finding a difference is 80%. The significance level is divided by the number
/// of pairs, so that the numbers hold after any correction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// The number of items, or of stories per system, that would find the observed difference.
    /// `None` where there is no difference, or no variation.
    pub needed: Option<u64>,
    /// The smallest difference that the stories at hand would find.
    pub detectable: f64,
}

/// Systems that cannot be told apart: a run of neighbours in the ranking of which no two differ
/// significantly, and which cannot be made longer.
///
/// Clusters may overlap: A and B, and B and C, can be hard to tell apart while A is clearly better
/// than C. A system that differs from both neighbours is a cluster of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// The letter or letters by which tables refer to it: `a` for the best one.
    pub letter: String,
    /// The systems, best first.
    pub systems: Vec<String>,
}

/// What a reader of a comparison should know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caution {
    /// It is not known whether more is better. The highest mean comes first.
    NoDirection,
    /// All values of all systems are equal.
    Constant,
    /// Stories without a value.
    Absent {
        /// The system.
        system: String,
        /// The number of its stories without a value.
        stories: usize,
    },
    /// A system with several stories for one item. Their mean counts in paired tests.
    Averaged {
        /// The system.
        system: String,
        /// The number of items with several stories.
        items: usize,
    },
    /// Two systems that are compared on a part of their items, because they share no more.
    PartlyShared {
        /// The first system.
        first: String,
        /// The second system.
        second: String,
        /// The number of shared items.
        shared: usize,
        /// The number of items of the system that has more.
        items: usize,
    },
    /// So few stories that no difference whatever could be significant.
    NeverSignificant {
        /// The first system.
        first: String,
        /// The second system.
        second: String,
        /// The number of items, or of stories of the system that has fewer.
        stories: usize,
        /// The smallest number with which a difference could be significant.
        needed: usize,
    },
    /// So few resamples that no difference whatever could be significant after the correction.
    FewResamples {
        /// The smallest number of resamples with which a difference could be significant.
        needed: usize,
    },
    /// A difference that would matter, and too few stories to be sure of it.
    TooFewStories {
        /// The first system.
        first: String,
        /// The second system.
        second: String,
        /// The difference in standard deviations.
        effect: f64,
        /// The number of items, or of stories of the system that has fewer.
        stories: usize,
        /// About how many would be needed.
        needed: u64,
    },
}

/// How the numbers of a comparison were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The number of resamples of intervals and tests.
    pub resamples: usize,
    /// The confidence of the intervals; 1 less this is the level of the tests.
    pub confidence: f64,
    /// Whether tests are two-sided.
    #[serde(default)]
    pub sides: Sides,
    /// How p-values are corrected for the number of pairs.
    pub correction: Correction,
    /// The seed of all draws.
    pub seed: u64,
    /// The system that all others were compared with, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

impl SystemComparison {
    /// The significance level.
    pub fn level(&self) -> f64 {
        self.method.level()
    }

    /// The pair of two systems, in either order.
    pub fn pair(&self, one: &str, other: &str) -> Option<&SystemPair> {
        self.pairs.iter().find(|pair| {
            (pair.first == one && pair.second == other)
                || (pair.first == other && pair.second == one)
        })
    }

    /// The letters of the clusters that a system belongs to, such as `ab`.
    pub fn letters(&self, system: &str) -> String {
        let mine = self.clusters.iter().filter(|one| one.systems.iter().any(|name| name == system));
        let letters: Vec<&str> = mine.map(|cluster| cluster.letter.as_str()).collect();
        // Beyond z, a letter has two characters, and only a comma keeps them apart.
        letters.join(if letters.iter().any(|letter| letter.len() > 1) { "," } else { "" })
    }
}

impl Method {
    /// The significance level.
    pub fn level(&self) -> f64 {
        // 1 - 0.95 is not 0.05 to the last bit, and a p-value of exactly 0.05 counts.
        ((1.0 - self.confidence) * 1e12).round() / 1e12
    }
}
