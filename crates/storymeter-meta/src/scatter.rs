//! One metric against one criterion, story by story: what a scatter plot shows.

use storymeter_core::{Role, ScoreTable};
use storymeter_stats::{Coefficient, mid_ranks};

use crate::analysis::coefficient_only;
use crate::error::Result;
use crate::grid::numbers;
use crate::outcome::{Absence, Outcome};
use crate::study::{Edition, Turn};

/// The stories of a score table that have both a score and a rating.
///
/// ```
/// use storymeter_core::{Column, Direction, Ratings, Row, ScoreTable};
/// use storymeter_meta::scatter::Scatter;
/// let row = |i: u32| {
///     let mut ratings = Ratings::new();
///     ratings.push("fun", Some(f64::from(i)));
///     Row { id: i.to_string(), ratings, ..Row::default() }
/// };
/// let mut table = ScoreTable::new((0..4).map(row).collect());
/// let scores = [1.0, 3.0, 5.0, 8.0].map(Ok).to_vec();
/// table.push(Column::metric("bleu", Direction::Higher), scores);
/// let scatter = Scatter::new(&table, 1, 0)?;
/// // numpy.polyfit([0, 1, 2, 3], [1, 3, 5, 8], 1) -> 2.3, 0.8
/// assert!((scatter.slope - 2.3).abs() < 1e-12 && (scatter.intercept - 0.8).abs() < 1e-12);
/// # Ok::<(), storymeter_meta::Absence>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// The rows of the table.
    pub rows: Vec<usize>,
    /// The rating of each row.
    pub ratings: Vec<f64>,
    /// The score of each row.
    pub scores: Vec<f64>,
    /// Pearson's correlation.
    pub r: f64,
    /// The least-squares line: the score at a rating of 0.
    pub intercept: f64,
    /// The least-squares line: what one more point of the rating adds to the score.
    pub slope: f64,
    turn: Turn,
}

impl Scatter {
    /// Compares a metric with a criterion, both given by the positions of their columns.
    ///
    /// # Errors
    /// Returns the reason why there is no correlation.
    pub fn new(table: &ScoreTable, metric: usize, criterion: usize) -> Outcome<Self> {
        let (all_ratings, all_scores) = (numbers(table, criterion), numbers(table, metric));
        let has_both = |&row: &usize| !all_ratings[row].is_nan() && !all_scores[row].is_nan();
        let rows: Vec<usize> = (0..all_scores.len()).filter(has_both).collect();
        let pick = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let (ratings, scores) = (pick(&all_ratings), pick(&all_scores));
        let found = coefficient_only(Coefficient::Pearson, &ratings, &scores);
        let r = found.map_err(|_| Absence::NotDefined)?.value?.value;
        let (intercept, slope) = regression(&ratings, &scores);
        let turn = turn(table, metric);
        Ok(Self { rows, ratings, scores, r, intercept, slope, turn })
    }

    /// By row of the plot: how far the place of the story among the scores is from its place among
    /// the ratings, from 0 to 1.
    pub fn disagreement(&self) -> Vec<f64> {
        let sign = self.turn.sign(self.r);
        let turned: Vec<f64> = self.scores.iter().map(|score| sign * score).collect();
        let (Ok(scored), Ok(rated)) = (places(&turned), places(&self.ratings)) else {
            return Vec::new();
        };
        scored.iter().zip(rated).map(|(scored, rated)| (scored - rated).abs()).collect()
    }
}

/// The metric with the highest Pearson correlation with a criterion over all stories, turned by its
/// direction. Both are positions of columns.
pub fn strongest_metric(table: &ScoreTable, criterion: usize) -> Option<usize> {
    let metrics = table.of_role(Role::Metric).into_iter();
    let strength = |metric: usize| {
        Some((metric, turn(table, metric).apply(Scatter::new(table, metric, criterion).ok()?.r)))
    };
    metrics.filter_map(strength).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(metric, _)| metric)
}

/// How the correlations of a metric count.
pub(crate) fn turn(table: &ScoreTable, metric: usize) -> Turn {
    Turn::new(table.columns()[metric].direction, Edition::Corrected)
}

/// The place of each value among all of them: its mid-rank, from 0, the lowest, to 1, the highest.
pub(crate) fn places(values: &[f64]) -> Result<Vec<f64>> {
    let last = (values.len() as f64 - 1.0).max(1.0);
    Ok(mid_ranks(values)?.into_iter().map(|rank| (rank - 1.0) / last).collect())
}

/// Intercept and slope of the least-squares line.
fn regression(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let sxy: f64 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let sxx: f64 = x.iter().map(|x| (x - mx) * (x - mx)).sum();
    let slope = sxy / sxx;
    (my - slope * mx, slope)
}
