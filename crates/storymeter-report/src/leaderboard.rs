//! Metrics in order of how well they agree with people, and how certain that order is.

use storymeter_core::Key;
use storymeter_meta::study::{Test, TestMatrix, Turn};
use storymeter_meta::view::{Cell, Form, Sheet, Subject};
use storymeter_meta::{Agreement, Edition, Level, Study};
use storymeter_stats::{Coefficient, Correction};

/// Corrected p-values below this are called significant.
pub const SIGNIFICANT: f64 = 0.05;

/// The metrics of a study at one level, by their mean Pearson correlation over the criteria.
///
/// Correlations are turned by the direction of each metric, so that a metric that runs against its
/// direction has a negative mean and comes last. Of a metric whose direction is not known, and of
/// all metrics of a published edition, absolute values are taken.
///
/// A metric that lacks a correlation with one of the criteria is not ranked: its mean would be over
/// other criteria than those of its rivals.
pub struct Leaderboard<'a> {
    /// What one observation is.
    pub level: Level,
    /// The criteria that have a correlation with some metric.
    pub criteria: Vec<&'a Key>,
    /// The ranked metrics, best first. There is at least one.
    pub rows: Vec<Ranked<'a>>,
    /// How many metrics are not ranked.
    pub unranked: usize,
    /// The largest number of observations behind a correlation.
    pub n: usize,
    /// The test that compares metrics, and its correction; `None` where none was made.
    pub test: Option<(Test, Correction)>,
    /// The metrics that run against their direction, each with its mean, which is negative.
    pub backwards: Vec<(&'a Key, f64)>,
    /// What the numbers are called: `r`, or `|r|` where all of them are absolute values.
    pub symbol: &'static str,
}

/// One metric of a leaderboard.
pub struct Ranked<'a> {
    /// The metric.
    pub metric: &'a Key,
    /// The mean of the correlations over the criteria, turned by the direction of the metric.
    pub mean: f64,
    /// The correlation with each criterion, in the order of the criteria.
    pub correlations: Vec<&'a Agreement>,
    /// How these correlations count.
    pub turn: Turn,
    /// How the first metric compares; `None` for the first itself, and where nothing was tested.
    pub behind: Option<Behind>,
}

/// On how many criteria the first metric of a leaderboard is significantly stronger than another,
/// after correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behind {
    /// The criteria on which the first metric is significantly stronger.
    pub weaker: usize,
    /// The criteria on which the first metric is significantly weaker, although its mean is higher.
    pub stronger: usize,
    /// The criteria on which the two were tested.
    pub tested: usize,
}

impl<'a> Leaderboard<'a> {
    /// The leaderboard of every level that has one, the main one first.
    ///
    /// The story level comes first where it exists, because it has the most observations that
    /// compare systems on the same item.
    pub fn all(study: &'a Study) -> Vec<Self> {
        Level::ALL.into_iter().filter_map(|level| Self::new(study, level)).collect()
    }

    fn new(study: &'a Study, level: Level) -> Option<Self> {
        let here = || {
            let is_here =
                |one: &&Agreement| one.level == level && one.coefficient == Coefficient::Pearson;
            study.agreements().filter(is_here)
        };
        let criteria = distinct(here().filter(|one| one.value.is_ok()).map(|one| &one.criterion));
        let metrics = distinct(here().map(|one| &one.metric));
        if criteria.is_empty() {
            return None;
        }
        let mut rows: Vec<Ranked<'a>> = Vec::new();
        for &metric in &metrics {
            let own: Vec<&Agreement> = here().filter(|one| one.metric == *metric).collect();
            let found = criteria.iter().map(|&criterion| {
                own.iter().copied().find(|one| one.criterion == *criterion && one.value.is_ok())
            });
            let Some(correlations) = found.collect::<Option<Vec<&Agreement>>>() else { continue };
            let sum: f64 = correlations.iter().filter_map(|one| study.directed(one)).sum();
            let mean = sum / criteria.len() as f64;
            if mean.is_finite() {
                let turn = study.turn(metric);
                rows.push(Ranked { metric, mean, correlations, turn, behind: None });
            }
        }
        rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        let best = rows.first()?.metric;
        let matrices: Vec<&TestMatrix> = criteria
            .iter()
            .filter_map(|&criterion| {
                study.tests().find(|matrix| {
                    matrix.level == level
                        && matrix.coefficient == Coefficient::Pearson
                        && matrix.criterion == *criterion
                })
            })
            .collect();
        for row in rows.iter_mut().skip(1) {
            row.behind = behind(&matrices, best, row.metric);
        }
        Some(Self {
            level,
            unranked: metrics.len() - rows.len(),
            n: here().map(|one| one.n).max().unwrap_or(0),
            test: matrices.first().map(|matrix| (matrix.test, matrix.correction)),
            backwards: study.backwards(level),
            symbol: if study.edition == Edition::Published { "|r|" } else { "r" },
            criteria,
            rows,
        })
    }

    /// The first metric.
    pub fn best(&self) -> &Ranked<'a> {
        &self.rows[0]
    }

    /// The metrics that cannot be told apart from the first: it is significantly stronger on no
    /// criterion.
    pub fn undecided(&self) -> Vec<&Ranked<'a>> {
        let is_undecided = |row: &&Ranked<'a>| row.behind.is_some_and(|behind| behind.weaker == 0);
        self.rows.iter().filter(is_undecided).collect()
    }

    /// The number of metrics that were tested against the first on at least one criterion.
    pub fn tested(&self) -> usize {
        self.rows.iter().filter(|row| row.behind.is_some()).count()
    }

    /// Whether the first metric is significantly stronger than every other one on every criterion.
    pub fn leads_on_every_criterion(&self) -> bool {
        let all = self.criteria.len();
        self.rows.iter().skip(1).all(|row| row.behind.is_some_and(|behind| behind.weaker == all))
    }

    /// The metrics that are ranked by the size of their correlations among others that are not,
    /// because it is not known whether more is better.
    pub fn undirected(&self) -> Vec<&str> {
        let is_undirected = |row: &&Ranked<'a>| self.symbol == "r" && row.turn == Turn::Absolute;
        self.rows.iter().filter(is_undirected).map(|row| row.metric.as_str()).collect()
    }

    /// What the numbers are, in one sentence or two.
    pub fn meaning_of_r(&self) -> String {
        if self.symbol == "|r|" {
            return "|r| is the absolute value of Pearson's correlation with people's ratings, as \
                    published."
                .to_owned();
        }
        let mut told = "r is Pearson's correlation with people's ratings, turned round where less \
                        is better: a metric below zero runs against its direction."
            .to_owned();
        match self.undirected().as_slice() {
            [] => {}
            names => {
                let (names, its) =
                    (names.join(", "), if names.len() == 1 { "its" } else { "their" });
                told += &format!(
                    " It is not known whether more is better for {names}: {its} |r| counts."
                );
            }
        }
        told
    }

    /// The mean correlation of a metric at this level.
    pub fn mean_of(&self, metric: &Key) -> Option<f64> {
        self.rows.iter().find(|row| row.metric == metric).map(|row| row.mean)
    }

    /// The positions of the first metrics, and of one more that the user wants to see.
    pub fn shown(&self, most: usize, highlight: Option<&Key>) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.rows.len().min(most)).collect();
        let wanted = self.rows.iter().position(|row| Some(row.metric) == highlight);
        shown.extend(wanted.filter(|at| *at >= most));
        shown
    }

    /// The leaderboard as a table: the metrics at these positions, with their means at this level
    /// and at the others.
    pub fn sheet(&self, id: &str, others: &[Self], positions: &[usize]) -> Sheet {
        let count = positions.len();
        let title = match count == self.rows.len() {
            true => format!("All {count} metrics by mean {} with people's ratings", self.symbol),
            false => format!(
                "The best {} of {} metrics by mean {} with people's ratings",
                count.min(positions.iter().filter(|at| **at < count).count()),
                self.rows.len(),
                self.symbol
            ),
        };
        let mut sheet = Sheet::new(id, Subject::Other, title, Form::Table)
            .columns(["rank", "metric"], 0)
            .column(level_name(self.level), 3)
            .columns(others.iter().map(|other| level_name(other.level)), 3);
        if self.test.is_some() {
            sheet = sheet.column("certainly weaker?", 0);
        }
        for &at in positions {
            let row = &self.rows[at];
            let mut cells: Vec<Cell> = vec![(at + 1).into(), row.metric.into(), row.mean.into()];
            cells.extend(others.iter().map(|other| match other.mean_of(row.metric) {
                Some(mean) => Cell::from(mean),
                None => Cell::missing("it lacks a correlation with one of the criteria"),
            }));
            if self.test.is_some() {
                cells.push(match (at, row.behind) {
                    (0, _) => "is the first".into(),
                    (_, Some(behind)) => behind.words().into(),
                    (_, None) => Cell::missing("the two could not be tested"),
                });
            }
            sheet.push(cells);
        }
        sheet
    }
}

impl Behind {
    /// Whether the metric is certainly weaker than the first, in words.
    fn words(self) -> String {
        let Self { weaker, stronger, tested } = self;
        let but = match stronger {
            0 => String::new(),
            count => format!(", stronger on {count}"),
        };
        match (weaker, tested) {
            (0, _) => format!("no{but}"),
            (_, 1) => "yes".into(),
            (weaker, tested) => format!("on {weaker} of {tested} criteria{but}"),
        }
    }
}

/// Compares the first metric with another on the criteria of these tests.
fn behind(matrices: &[&TestMatrix], first: &Key, other: &Key) -> Option<Behind> {
    let mut found = Behind { weaker: 0, stronger: 0, tested: 0 };
    for matrix in matrices {
        let places = (matrix.position(first.as_str()), matrix.position(other.as_str()));
        let (Some(a), Some(b)) = places else { continue };
        let p = |row, column| {
            matrix.get(row, column).and_then(|one| one.p_value.ok()).map(|p| p.corrected)
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

impl Ranked<'_> {
    /// The correlations as they count, in the order of the criteria.
    pub fn counted(&self) -> impl Iterator<Item = f64> + Clone {
        let values = self.correlations.iter().filter_map(|one| one.value.as_ref().ok());
        values.map(|estimate| self.turn.apply(estimate.value))
    }

    /// The interval of a correlation, turned with it.
    pub fn interval(&self, one: &Agreement) -> Option<(f64, f64)> {
        let estimate = one.value.as_ref().ok()?;
        let turned = self.turn.interval(estimate.value, estimate.interval?);
        Some((turned.low, turned.high))
    }
}

/// A level as part of a sentence.
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::Story => "story level",
        Level::System => "system level",
        Level::Pooled => "pooled level",
    }
}

/// Values in order of first appearance.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen: Vec<T> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{compared, study};

    #[test]
    fn a_metric_without_a_correlation_is_not_ranked_and_the_others_are() {
        let study = compared();
        let boards = Leaderboard::all(&study);
        let board = &boards[0];
        let names: Vec<&str> = board.rows.iter().map(|row| row.metric.as_str()).collect();
        assert_eq!(names, ["good", "fair", "poor"]);
        assert_eq!((board.unranked, board.best().mean), (1, 0.9));
        assert!(board.undirected().is_empty());
        let undecided: Vec<&str> =
            board.undecided().iter().map(|row| row.metric.as_str()).collect();
        assert_eq!(undecided, ["fair"], "poor is weaker after correction");
        let sheet = board.sheet("ranking", &[], &[0, 1, 2]);
        let verdicts: Vec<&str> = sheet.rows.iter().map(|row| row[3].text()).collect();
        assert_eq!(verdicts, ["is the first", "no", "yes"]);
    }

    #[test]
    fn the_users_metric_is_shown_after_the_best_ones() {
        let study = compared();
        let board = &Leaderboard::all(&study)[0];
        assert_eq!(board.shown(2, Some(&Key::new("poor"))), [0, 1, 2]);
        assert_eq!(board.shown(2, Some(&Key::new("fair"))), [0, 1]);
        assert_eq!(board.shown(2, None), [0, 1]);
    }

    #[test]
    fn a_study_without_correlations_has_no_leaderboard() {
        assert!(Leaderboard::all(&study(Vec::new())).is_empty());
    }
}
