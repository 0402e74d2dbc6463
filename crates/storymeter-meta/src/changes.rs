//! What changed between two studies, or between two score tables, with a test that fits the data.
//!
//! Two studies of the same stories are not independent samples. If the score tables of both are
//! given, Williams' test for dependent correlations compares them on the stories that both have. If
//! the tables show that the studies share no story, Fisher's z for independent samples is right. If
//! neither is known, there is no test, and the reason is given.

use std::collections::HashMap;

use storymeter_core::{Key, Role, ScoreTable};
use storymeter_stats::{
    Coefficient, Correction, SharedCorrelations, StatsError, Undefined, fisher_difference, mean,
};

use crate::grid::{Names, numbers};
use crate::level::Level;
use crate::outcome::{Absence, Outcome, absence};
use crate::scatter::{Scatter, turn};
use crate::study::{Agreement, PValue, SIGNIFICANT, Study, Turn};

/// Smaller changes are rounding errors.
const ROUNDING: f64 = 1e-9;
/// Correlations of a score table and a study made from it differ by less than this.
const MATCHING: f64 = 1e-6;
/// Fewer systems than this have no correlation.
const LEAST_SYSTEMS: usize = 3;

/// What changed between two studies or two score tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// How changes were tested.
    pub method: Method,
    /// The number of correlations that both have.
    pub shared: usize,
    /// The number of correlations that only the first has.
    pub only_before: usize,
    /// The number of correlations that only the later one has.
    pub only_after: usize,
    /// Every correlation that changed, the largest changes first.
    pub changes: Vec<Change>,
}

/// How changes were tested, two-sided and with Holm's correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// Both rest on the same stories: Williams' test on so many of them.
    SameStories(usize),
    /// They share no story: Fisher's z.
    OtherStories,
    /// They were not tested, for this reason.
    Untested(Absence),
}

/// A correlation that changed, appeared or vanished.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The metric.
    pub metric: Key,
    /// The criterion.
    pub criterion: Key,
    /// What one observation is.
    pub level: Level,
    /// Pearson, Spearman or Kendall.
    pub coefficient: Coefficient,
    /// How the coefficients of the metric count.
    pub turn: Turn,
    /// The coefficient before.
    pub before: Outcome<f64>,
    /// The coefficient after.
    pub after: Outcome<f64>,
    /// The test of the change.
    pub test: Outcome<ChangeTest>,
}

/// The test of one change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeTest {
    /// The p-value of this change alone, and corrected after Holm for all that were tested.
    pub p_value: PValue,
    /// The number of observations that both share; or one number per side, before and after.
    pub n: (usize, Option<usize>),
}

impl Change {
    /// The coefficient after, less that before.
    ///
    /// # Errors
    /// Returns the reason why one of the two has no coefficient.
    pub fn difference(&self) -> Outcome<f64> {
        Ok(self.after.clone()? - self.before.clone()?)
    }

    /// Whether the change is more than chance.
    pub fn is_significant(&self) -> bool {
        self.test.as_ref().is_ok_and(|test| test.p_value.corrected < SIGNIFICANT)
    }

    /// Whether the metric agrees better with people than before.
    pub fn is_stronger(&self) -> bool {
        let counted = |value: Outcome<f64>| value.map_or(f64::NAN, |value| self.turn.apply(value));
        counted(self.after.clone()) > counted(self.before.clone())
    }

    /// Whether there is a difference, or a number on one side only.
    fn is_change(&self) -> bool {
        match self.difference() {
            Ok(difference) => difference.abs() >= ROUNDING,
            Err(_) => self.before.is_ok() != self.after.is_ok(),
        }
    }
}

impl Changes {
    /// What changed from one study to a later one. Each may come with the score table that it was
    /// made from.
    pub fn between_studies(
        (first, first_table): (&Study, Option<&ScoreTable>),
        (later, later_table): (&Study, Option<&ScoreTable>),
    ) -> Self {
        let relation = Relation::new((first, first_table), (later, later_table));
        fn place(one: &Agreement) -> (&Key, &Key, Level, Coefficient) {
            (&one.metric, &one.criterion, one.level, one.coefficient)
        }
        let before: HashMap<_, &Agreement> =
            first.agreements().map(|one| (place(one), one)).collect();
        let (mut shared, mut only_after, mut changes) = (0, 0, Vec::new());
        for after in later.agreements() {
            let Some(before) = before.get(&place(after)) else {
                only_after += 1;
                continue;
            };
            shared += 1;
            let value = |one: &Agreement| one.value.clone().map(|estimate| estimate.value);
            let mut change = Change {
                metric: after.metric.clone(),
                criterion: after.criterion.clone(),
                level: after.level,
                coefficient: after.coefficient,
                turn: later.turn(&after.metric),
                before: value(before),
                after: value(after),
                test: Err(Absence::NotTested),
            };
            if change.is_change() {
                change.test = relation.test(&change, (before.n, after.n));
                changes.push(change);
            }
        }
        let method = match relation {
            Relation::Paired(pairing) => Method::SameStories(pairing.rows.len()),
            Relation::Independent => Method::OtherStories,
            Relation::Unknown(reason) => Method::Untested(reason),
        };
        let only_before = before.len() - shared;
        Self { method, shared, only_before, only_after, changes }.finished()
    }

    /// What changed between two tables of scores by the same metrics, on the stories that both
    /// have. `None` where they share no story, metric or criterion.
    pub fn between_tables(first: &ScoreTable, later: &ScoreTable) -> Option<Self> {
        let pairing = Pairing::new(first, later)?;
        let (mut shared, mut changes) = (0, Vec::new());
        for criterion in first.of_role(Role::Human) {
            for metric in first.of_role(Role::Metric) {
                let [key, rated] = [metric, criterion].map(|at| &first.columns()[at].key);
                for level in Level::ALL {
                    let Some(found) = pairing.correlations(key, rated, level) else { continue };
                    shared += 1;
                    let value =
                        |r: f64| if r.is_finite() { Ok(r) } else { Err(Absence::NotDefined) };
                    let change = Change {
                        metric: key.clone(),
                        criterion: rated.clone(),
                        level,
                        coefficient: Coefficient::Pearson,
                        turn: turn(first, metric),
                        before: value(found.second),
                        after: value(found.first),
                        test: williams(&found),
                    };
                    if change.is_change() {
                        changes.push(change);
                    }
                }
            }
        }
        let method = Method::SameStories(pairing.rows.len());
        let all = Self { method, shared, only_before: 0, only_after: 0, changes };
        (shared > 0).then(|| all.finished())
    }

    /// Corrects the p-values for their number, and puts the largest changes first. A number that
    /// appeared or vanished is the largest change there is.
    fn finished(mut self) -> Self {
        let raw: Vec<Option<f64>> = self
            .changes
            .iter()
            .map(|one| one.test.as_ref().ok().map(|test| test.p_value.raw))
            .collect();
        let corrected = Correction::Holm.adjust_present(&raw).unwrap_or_default();
        for (one, corrected) in self.changes.iter_mut().zip(corrected) {
            if let (Ok(test), Some(corrected)) = (&mut one.test, corrected) {
                test.p_value.corrected = corrected;
            }
        }
        let size = |one: &Change| one.difference().map_or(f64::INFINITY, f64::abs);
        self.changes.sort_by(|a, b| size(b).total_cmp(&size(a)));
        self
    }

    /// The changes of Pearson's coefficient that both sides have. What is certain comes before what
    /// may be chance, and then the largest come first. The other coefficients tell the same.
    pub fn largest(&self, most: usize) -> Vec<&Change> {
        let is_shown =
            |one: &&Change| one.coefficient == Coefficient::Pearson && one.difference().is_ok();
        let mut found: Vec<&Change> = self.changes.iter().filter(is_shown).collect();
        found.sort_by_key(|one| !one.is_significant());
        found.truncate(most);
        found
    }
}

/// How the stories of two studies are related.
enum Relation<'a> {
    /// Both rest on these stories.
    Paired(Pairing<'a>),
    /// They share no story.
    Independent,
    /// The score tables do not tell, for this reason.
    Unknown(Absence),
}

impl<'a> Relation<'a> {
    fn new(
        (first, before): (&Study, Option<&'a ScoreTable>),
        (later, after): (&Study, Option<&'a ScoreTable>),
    ) -> Self {
        let (Some(before), Some(after)) = (before, after) else {
            return Self::Unknown(Absence::NoScoreTables);
        };
        if !can_belong(first, before) || !can_belong(later, after) {
            return Self::Unknown(Absence::OtherScoreTables);
        }
        Pairing::new(before, after).map_or(Self::Independent, Self::Paired)
    }

    /// Tests a change in the way that fits the stories.
    fn test(&self, change: &Change, n: (usize, usize)) -> Outcome<ChangeTest> {
        match self {
            Self::Unknown(reason) => Err(reason.clone()),
            Self::Paired(_) if change.coefficient != Coefficient::Pearson => {
                Err(Absence::OnlyPearson)
            }
            Self::Paired(pairing) => {
                let found = pairing.correlations(&change.metric, &change.criterion, change.level);
                williams(&found.ok_or(Absence::NoSuchMetric)?)
            }
            Self::Independent if change.level == Level::Story => Err(Absence::MeanOfCoefficients),
            Self::Independent => {
                let sides = ((change.after.clone()?, n.1), (change.before.clone()?, n.0));
                let test = fisher_difference(change.coefficient, sides.0, sides.1);
                tested(test.map(|test| (test.p_two_sided, test.undefined)), (n.0, Some(n.1)))
            }
        }
    }
}

/// Whether a study can have been made from a score table: the table has its metrics, and where it
/// has ratings too, the same correlations over all stories.
fn can_belong(study: &Study, table: &ScoreTable) -> bool {
    study.agreements().filter(|one| one.coefficient == Coefficient::Pearson).all(|one| {
        let Some(metric) = column(table, &one.metric, Role::Metric) else { return false };
        let (Level::Pooled, Ok(estimate), Some(criterion)) =
            (one.level, &one.value, column(table, &one.criterion, Role::Human))
        else {
            return true;
        };
        // The sign is that of the direction where a study turns metrics around.
        Scatter::new(table, metric, criterion)
            .is_ok_and(|found| (found.r.abs() - estimate.value.abs()).abs() < MATCHING)
    })
}

fn williams(found: &SharedCorrelations) -> Outcome<ChangeTest> {
    tested(found.williams().map(|test| (test.p_two_sided, test.undefined)), (found.n, None))
}

fn tested(
    found: Result<(f64, Option<Undefined>), StatsError>,
    n: (usize, Option<usize>),
) -> Outcome<ChangeTest> {
    match found.map_err(|_| Absence::NotDefined)? {
        (_, Some(undefined)) => Err(absence(undefined)),
        (p, None) => Ok(ChangeTest { p_value: PValue { raw: p, corrected: p }, n }),
    }
}

/// The position of a column.
fn column(table: &ScoreTable, key: &Key, role: Role) -> Option<usize> {
    table.columns().iter().position(|column| column.role == role && column.key == *key)
}

/// The stories that two score tables share.
struct Pairing<'a> {
    before: &'a ScoreTable,
    after: &'a ScoreTable,
    /// Positions of the same story in both tables.
    rows: Vec<(usize, usize)>,
}

impl<'a> Pairing<'a> {
    /// Joins two tables by the systems and ids of their stories; `None` if they share none, or if
    /// their stories could belong together in several ways.
    fn new(before: &'a ScoreTable, after: &'a ScoreTable) -> Option<Self> {
        let matches = after.matches(before).ok()?;
        let rows: Vec<(usize, usize)> =
            matches.into_iter().enumerate().filter_map(|(at, row)| Some((at, row?))).collect();
        (!rows.is_empty()).then_some(Self { before, after, rows })
    }

    /// The correlations of a metric with a criterion after (`first`) and before (`second`), on the
    /// observations that have a rating and both scores.
    ///
    /// `None` where one of the columns is not there, or there are no systems at system level.
    fn correlations(
        &self,
        metric: &Key,
        criterion: &Key,
        level: Level,
    ) -> Option<SharedCorrelations> {
        let human = numbers(self.before, column(self.before, criterion, Role::Human)?);
        let before = numbers(self.before, column(self.before, metric, Role::Metric)?);
        let after = numbers(self.after, column(self.after, metric, Role::Metric)?);
        let triple = |&(old, new): &(usize, usize)| [human[old], after[new], before[old]];
        let rows = self.before.rows();
        let pearson = |triples: &[[f64; 3]]| {
            let column = |at: usize| triples.iter().map(|t| t[at]).collect::<Vec<f64>>();
            let (human, first, second) = (column(0), column(1), column(2));
            SharedCorrelations::from_columns(Coefficient::Pearson, &human, &first, &second).ok()
        };
        match level {
            Level::Pooled => pearson(&self.rows.iter().map(triple).collect::<Vec<_>>()),
            Level::Story => {
                let groups = grouped(&self.rows, |&(old, _)| Some(rows[old].item.as_str()));
                let found: Vec<SharedCorrelations> = groups
                    .iter()
                    .filter_map(|group| pearson(&group.iter().map(triple).collect::<Vec<_>>()))
                    .filter(|found| found.n >= LEAST_SYSTEMS)
                    .collect();
                (!found.is_empty()).then(|| SharedCorrelations::mean(&found))
            }
            Level::System => {
                let groups = grouped(&self.rows, |&(old, _)| rows[old].system.as_deref());
                if groups.len() < LEAST_SYSTEMS {
                    return None;
                }
                let means = |group: &Vec<(usize, usize)>| {
                    let complete: Vec<[f64; 3]> = group
                        .iter()
                        .map(triple)
                        .filter(|numbers| numbers.iter().all(|n| n.is_finite()))
                        .collect();
                    [0, 1, 2].map(|at| mean(&complete.iter().map(|t| t[at]).collect::<Vec<_>>()))
                };
                pearson(&groups.iter().map(means).collect::<Vec<_>>())
            }
        }
    }
}

/// Groups by name, in order of appearance. What has no name is left out.
fn grouped<'a, T: Copy>(all: &'a [T], name: impl Fn(&'a T) -> Option<&'a str>) -> Vec<Vec<T>> {
    let mut names = Names::default();
    let mut groups: Vec<Vec<T>> = Vec::new();
    for one in all {
        let Some(name) = name(one) else { continue };
        let at = names.position(name);
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(*one);
    }
    groups
}
