//! Raters and ratings: agreement, means by system, distributions.

use serde::{Deserialize, Serialize};
use storymeter_core::Key;

use super::Interval;
use crate::outcome::{Outcome, written};

/// What is known about who rated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Raters {
    /// Nothing: the order of a story's ratings means nothing.
    #[default]
    Anonymous,
    /// Ratings carry worker ids, and were put into columns by them.
    Assigned,
}

/// How far raters agree on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RaterAgreement {
    /// The criterion.
    pub criterion: Key,
    /// What is known about who rated.
    pub raters_known: Raters,
    /// The number of raters per story.
    pub raters: usize,
    /// The number of stories that all of them rated. Everything but Krippendorff's alpha rests on
    /// these.
    pub n: usize,
    /// The number of stories that lack a rating, which only alpha can use.
    pub left_out: usize,
    /// The number of stories with at least two ratings, on which alpha rests.
    #[serde(default)]
    pub alpha_stories: usize,
    /// The six intraclass correlations, or the reason why there are none.
    #[serde(with = "written")]
    pub icc: Outcome<Vec<IccEstimate>>,
    /// Krippendorff's alpha of ordinal ratings.
    #[serde(with = "written")]
    pub alpha_ordinal: Outcome<f64>,
    /// Krippendorff's alpha of interval ratings.
    #[serde(with = "written")]
    pub alpha_interval: Outcome<f64>,
    /// Fleiss' kappa: every rating is a category of its own.
    #[serde(with = "written")]
    pub fleiss_kappa: Outcome<f64>,
    /// Kendall's coefficient of concordance.
    #[serde(with = "written")]
    pub kendall_w: Outcome<f64>,
    /// The p-value of Kendall's W: the probability of as much concordance by chance.
    #[serde(with = "written")]
    pub kendall_w_p: Outcome<f64>,
}

/// One form of the intraclass correlation, with its test and its 95% interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IccEstimate {
    /// The name of the form: `ICC1`, ..., `ICC3k`.
    pub form: String,
    /// The correlation.
    #[serde(with = "written")]
    pub value: Outcome<f64>,
    /// The F statistic.
    #[serde(with = "written")]
    pub f: Outcome<f64>,
    /// The degrees of freedom of the numerator.
    pub df1: f64,
    /// The degrees of freedom of the denominator.
    pub df2: f64,
    /// The p-value of no agreement.
    #[serde(with = "written")]
    pub p_value: Outcome<f64>,
    /// The 95% interval.
    #[serde(with = "written")]
    pub interval: Outcome<Interval>,
}

/// The systems' mean ratings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemAverages {
    /// The criteria, in order. Every system has one average more: over all its ratings.
    pub criteria: Vec<Key>,
    /// Whether the averages come from single ratings, so that they have intervals.
    pub single_ratings: bool,
    /// The systems with their averages: one per criterion, then one over all.
    pub systems: Vec<(String, Vec<SystemAverage>)>,
}

/// The mean rating of a system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemAverage {
    /// The mean.
    #[serde(with = "written")]
    pub mean: Outcome<f64>,
    /// Half the width of its 95% interval, by Student's t.
    #[serde(with = "written")]
    pub half_width: Outcome<f64>,
    /// The number of ratings.
    pub n: usize,
    /// How the system stands beside the others.
    pub standing: Standing,
}

/// How a system stands beside the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It has the best mean.
    Best,
    /// Its mean lies inside the interval of the best.
    Near,
    /// Its mean lies below the interval of the best, or the best has no interval.
    Below,
    /// It does not compete, such as human writers.
    Outside,
}

/// How single ratings are distributed by system and criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatingDistribution {
    /// The distinct ratings; empty where there are too many to count each.
    pub steps: Vec<f64>,
    /// The points at which densities are given.
    pub grid: Vec<f64>,
    /// One entry per system and criterion.
    pub rows: Vec<RatingSummary>,
}

/// The ratings of one system on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RatingSummary {
    /// The system.
    pub system: String,
    /// The criterion.
    pub criterion: Key,
    /// The number of ratings.
    pub n: usize,
    /// How often each step was given.
    pub counts: Vec<usize>,
    /// Mean, first quartile, median and third quartile.
    #[serde(with = "written")]
    pub summary: Outcome<[f64; 4]>,
    /// The Gaussian kernel density with Scott's bandwidth at the points of the grid.
    #[serde(with = "written")]
    pub density: Outcome<Vec<f64>>,
}

/// How many stories have which human score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HumanScores {
    /// The number of raters; a story's score is the number of those who call it reasonable.
    pub raters: usize,
    /// The number of stories by score, from 0 to the number of raters.
    pub counts: Vec<usize>,
}
