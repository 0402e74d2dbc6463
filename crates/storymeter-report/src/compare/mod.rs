//! What changed between two runs, with a test that fits the data.
//!
//! Two runs on the same stories are not independent samples. Where the score tables of both runs
//! are given, Williams' test for dependent correlations compares them on the stories that both
//! have. Where the tables show that the runs share no story, Fisher's z for independent samples is
//! right. Where neither is known, there is no test, and the page says so.

mod pairing;

use std::collections::HashMap;

use storymeter_core::{Key, Role};
use storymeter_meta::study::Turn;
use storymeter_meta::view::{Cell, Form, Sheet, Subject};
use storymeter_meta::{Agreement, Level};
use storymeter_stats::{Coefficient, SharedCorrelations, fisher_difference, holm};

use crate::inputs::{Inputs, NamedTable, Run};
use crate::leaderboard::{SIGNIFICANT, distinct};
use crate::stories::StoryTable;
use pairing::Pairing;

/// Smaller changes are rounding errors.
const ROUNDING: f64 = 1e-9;
/// Correlations of a score table and a study made from it differ by less than this.
const MATCHING: f64 = 1e-6;
const NO_TABLES: &str = "it is not known whether the runs rest on the same stories; with one score \
                         table per run, in the same order, the report includes a test";
const OTHER_TABLES: &str =
    "the score tables do not have the numbers of the runs; they must be given in the same order";

/// What changed between two runs or two score tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// Which of the two is meant: "from a to b".
    pub between: String,
    /// What a reader should conclude, in one sentence.
    pub conclusion: String,
    /// How many correlations changed, with the test and the number of stories.
    pub headline: String,
    /// The largest changes of Pearson's coefficient, the largest first.
    pub largest: Vec<LargeChange>,
    /// Every correlation that changed, the largest changes first.
    pub sheet: Sheet,
}

/// A correlation that both sides have and that changed.
#[derive(Debug, Clone, PartialEq)]
pub struct LargeChange {
    /// The metric.
    pub metric: Key,
    /// The criterion.
    pub criterion: Key,
    /// What one observation is.
    pub level: Level,
    /// Pearson's coefficient before.
    pub before: f64,
    /// Pearson's coefficient after.
    pub after: f64,
    /// How the coefficients of the metric count.
    pub turn: Turn,
    /// The p-value after Holm's correction, where the change was tested.
    pub p_value: Option<f64>,
}

impl LargeChange {
    /// Whether the change is more than chance.
    pub fn is_significant(&self) -> bool {
        self.p_value.is_some_and(|p| p < SIGNIFICANT)
    }

    /// Whether the metric agrees better with people than before.
    pub fn is_stronger(&self) -> bool {
        self.turn.apply(self.after) > self.turn.apply(self.before)
    }

    /// What happened to the agreement with people, in words.
    pub fn verdict(&self) -> &'static str {
        match (self.p_value, self.is_significant(), self.is_stronger()) {
            (None, ..) => "not tested",
            (_, false, _) => "may be chance",
            (_, true, true) => "stronger",
            (_, true, false) => "weaker",
        }
    }
}

/// The most changes that are kept for the first screen.
const MOST_LARGEST: usize = 8;

/// Compares every later run with the first. Without several runs, compares later score tables with
/// the first.
pub fn all(inputs: &Inputs) -> Vec<Changes> {
    match inputs.runs.split_first() {
        Some((first, later)) if !later.is_empty() => {
            let pairs = later.iter().enumerate();
            pairs.map(|(at, run)| compare_runs(inputs, first, run, at + 1)).collect()
        }
        _ => match inputs.tables.split_first() {
            Some((first, later)) => {
                let pairs = later.iter().enumerate();
                pairs.filter_map(|(at, table)| compare_tables(first, table, at + 1)).collect()
            }
            None => Vec::new(),
        },
    }
}

/// How the stories of two runs are related.
enum Relation<'a> {
    /// Both runs have these stories.
    Paired(Pairing<'a>),
    /// The runs share no story.
    Independent,
    /// The score tables do not tell, for this reason.
    Unknown(&'static str),
}

/// One correlation before and after.
struct Change<'a> {
    metric: &'a Key,
    turn: Turn,
    criterion: &'a Key,
    level: Level,
    coefficient: Coefficient,
    before: Result<f64, String>,
    after: Result<f64, String>,
    n: (usize, usize),
    test: Result<Tested, String>,
}

/// The outcome of a test.
#[derive(Debug, Clone, PartialEq)]
struct Tested {
    name: &'static str,
    p_value: f64,
    /// The number of observations that both sides share, or one number per side.
    n: String,
}

impl Change<'_> {
    fn difference(&self) -> Option<f64> {
        Some(self.after.as_ref().ok()? - self.before.as_ref().ok()?)
    }

    /// Whether there is a difference, or a number on one side only.
    fn is_change(&self) -> bool {
        match self.difference() {
            Some(difference) => difference.abs() >= ROUNDING,
            None => self.before.is_ok() != self.after.is_ok(),
        }
    }
}

fn compare_runs(inputs: &Inputs, first: &Run, run: &Run, number: usize) -> Changes {
    let relation = relation(inputs, first, run);
    type Place<'a> = (&'a Key, &'a Key, Level, Coefficient);
    fn place(one: &Agreement) -> Place<'_> {
        (&one.metric, &one.criterion, one.level, one.coefficient)
    }
    let before: HashMap<Place<'_>, &Agreement> =
        first.study.agreements().map(|one| (place(one), one)).collect();
    let mut shared = 0;
    let mut only_after = 0;
    let mut changes = Vec::new();
    for after in run.study.agreements() {
        let Some(before) = before.get(&place(after)) else {
            only_after += 1;
            continue;
        };
        shared += 1;
        let value = |one: &Agreement| match &one.value {
            Ok(estimate) => Ok(estimate.value),
            Err(gap) => Err(gap.to_string()),
        };
        let mut change = Change {
            metric: &after.metric,
            turn: run.study.turn(&after.metric),
            criterion: &after.criterion,
            level: after.level,
            coefficient: after.coefficient,
            before: value(before),
            after: value(after),
            n: (before.n, after.n),
            test: Err(String::new()),
        };
        if change.is_change() {
            change.test = test(&relation, &change);
            changes.push(change);
        }
    }
    let only_before = before.len() - shared;
    let method = match &relation {
        Relation::Paired(pairing) => format!(
            "The runs rest on the same stories, so changes of Pearson's coefficient are tested \
             by Williams' test for dependent correlations on the {} stories that both score tables \
             have, two-sided.",
            pairing.rows.len()
        ),
        Relation::Independent => "The runs rest on different stories, so changes are tested by \
                                  Fisher's z for independent samples, two-sided."
            .into(),
        Relation::Unknown(reason) => {
            format!("No test was made, because {reason}.")
        }
    };
    let mut counts = format!(
        "{} of {shared} shared correlations changed{}",
        changes.len(),
        significant(&changes)
    );
    for (count, what) in [(only_after, "later"), (only_before, "first")] {
        if count > 0 {
            counts.push_str(&format!("; {count} are only in the {what} run"));
        }
    }
    Changes {
        between: format!("from {} to {}", first.name, run.name),
        conclusion: conclusion(&changes),
        largest: largest(&changes),
        headline: format!("{counts}. {method}"),
        sheet: sheet(
            format!("changes-{number}"),
            format!("What changed from {} to {}", first.name, run.name),
            changes,
        )
        .note(method),
    }
}

/// Compares the same metrics in two score tables on the stories that both have.
fn compare_tables(first: &NamedTable, later: &NamedTable, number: usize) -> Option<Changes> {
    let pairing = Pairing::new(&first.stories, &later.stories)?;
    let mut changes = Vec::new();
    let mut compared = 0;
    for criterion in first.stories.keys(Role::Human) {
        for metric in first.stories.keys(Role::Metric) {
            let Some(at) = first.stories.column(metric, Role::Metric) else { continue };
            let turn = first.stories.turn(at);
            for level in Level::ALL {
                let Some(found) = pairing.correlations(metric, criterion, level) else { continue };
                compared += 1;
                let value = |r: f64| match r.is_finite() {
                    true => Ok(r),
                    false => Err("the correlation is not defined".to_owned()),
                };
                let change = Change {
                    metric,
                    turn,
                    criterion,
                    level,
                    coefficient: Coefficient::Pearson,
                    before: value(found.second),
                    after: value(found.first),
                    n: (found.n, found.n),
                    test: williams(&found),
                };
                if change.is_change() {
                    changes.push(change);
                }
            }
        }
    }
    if compared == 0 {
        return None;
    }
    let method = format!(
        "Both tables have {} stories in common; Williams' test for dependent correlations, \
         two-sided, compares Pearson's coefficients on these.",
        pairing.rows.len()
    );
    Some(Changes {
        between: format!("from {} to {}", first.name, later.name),
        conclusion: conclusion(&changes),
        largest: largest(&changes),
        headline: format!(
            "{} of {compared} correlations changed{}. {method}",
            changes.len(),
            significant(&changes)
        ),
        sheet: sheet(
            format!("same-stories-{number}"),
            format!("The same stories scored twice: {}, then {}", first.name, later.name),
            changes,
        )
        .note(method),
    })
}

/// Finds out whether two runs rest on the same stories, from their score tables.
fn relation<'a>(inputs: &'a Inputs, first: &Run, run: &Run) -> Relation<'a> {
    if inputs.tables.len() != inputs.runs.len() {
        return Relation::Unknown(NO_TABLES);
    }
    let table_of = |wanted: &Run| {
        let at = inputs.runs.iter().position(|run| std::ptr::eq(run, wanted))?;
        Some(&inputs.tables[at].stories)
    };
    let (Some(before), Some(after)) = (table_of(first), table_of(run)) else {
        return Relation::Unknown(NO_TABLES);
    };
    if !can_belong(first, before) || !can_belong(run, after) {
        return Relation::Unknown(OTHER_TABLES);
    }
    match Pairing::new(before, after) {
        Some(pairing) => Relation::Paired(pairing),
        None => Relation::Independent,
    }
}

/// Whether a run can have been made from a score table: the table has its metrics, and where it
/// has ratings too, the same correlations over all stories.
fn can_belong(run: &Run, table: &StoryTable) -> bool {
    let find = |key: &Key, role| table.column(key, role);
    run.study.agreements().filter(|one| one.coefficient == Coefficient::Pearson).all(|one| {
        let Some(metric) = find(&one.metric, Role::Metric) else { return false };
        let (Level::Pooled, Ok(estimate), Some(criterion)) =
            (one.level, &one.value, find(&one.criterion, Role::Human))
        else {
            return true;
        };
        // The sign is that of the direction where a study turns metrics around.
        table
            .pearson(metric, criterion)
            .is_some_and(|r| (r.abs() - estimate.value.abs()).abs() < MATCHING)
    })
}

/// Tests a change in the way that fits the stories of the two runs.
fn test(relation: &Relation<'_>, change: &Change<'_>) -> Result<Tested, String> {
    match relation {
        Relation::Unknown(reason) => Err((*reason).to_owned()),
        Relation::Paired(_) if change.coefficient != Coefficient::Pearson => {
            Err("only Pearson's coefficients are tested".into())
        }
        Relation::Paired(pairing) => {
            let found = pairing.correlations(change.metric, change.criterion, change.level);
            williams(&found.ok_or("the score tables lack one of the columns")?)
        }
        Relation::Independent if change.level == Level::Story => {
            Err("a mean of coefficients has no test of its own".into())
        }
        Relation::Independent => {
            let (before, after) = (change.before.clone()?, change.after.clone()?);
            let sides = ((after, change.n.1), (before, change.n.0));
            let test = fisher_difference(change.coefficient, sides.0, sides.1)
                .map_err(|e| e.to_string())?;
            match test.undefined {
                Some(reason) => Err(reason.to_string()),
                None => Ok(Tested {
                    name: "Fisher's z",
                    p_value: test.p_two_sided,
                    n: format!("{} and {}", change.n.0, change.n.1),
                }),
            }
        }
    }
}

fn williams(found: &SharedCorrelations) -> Result<Tested, String> {
    let test = found.williams().map_err(|e| e.to_string())?;
    match test.undefined {
        Some(reason) => Err(reason.to_string()),
        None => Ok(Tested { name: "Williams", p_value: test.p_two_sided, n: test.n.to_string() }),
    }
}

/// Holm's corrected p-values of all changes that were tested.
fn corrected(changes: &[Change<'_>]) -> Vec<Option<f64>> {
    let raw: Vec<f64> =
        changes.iter().filter_map(|c| Some(c.test.as_ref().ok()?.p_value)).collect();
    let mut adjusted = holm(&raw).unwrap_or_default().into_iter();
    changes.iter().map(|change| change.test.as_ref().ok().and_then(|_| adjusted.next())).collect()
}

/// The largest changes of Pearson's coefficient. The other coefficients tell the same.
fn largest(changes: &[Change<'_>]) -> Vec<LargeChange> {
    let mut found: Vec<LargeChange> = changes
        .iter()
        .zip(corrected(changes))
        .filter(|(change, _)| change.coefficient == Coefficient::Pearson)
        .filter_map(|(change, p_value)| {
            let (before, after) = (*change.before.as_ref().ok()?, *change.after.as_ref().ok()?);
            let (metric, criterion) = (change.metric.clone(), change.criterion.clone());
            let (level, turn) = (change.level, change.turn);
            Some(LargeChange { metric, criterion, level, before, after, turn, p_value })
        })
        .collect();
    let size = |change: &LargeChange| (change.after - change.before).abs();
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    // What is certain comes before what may be chance, however large.
    found.sort_by_key(|change| !change.is_significant());
    found.truncate(MOST_LARGEST);
    found
}

/// What a reader should conclude.
fn conclusion(changes: &[Change<'_>]) -> String {
    if changes.is_empty() {
        return "Nothing changed: all correlations that both have are the same.".into();
    }
    let tested = corrected(changes).into_iter().flatten().count();
    let largest = largest(changes);
    let Some(first) = largest.first() else {
        return "Correlations appeared or vanished; none that both have changed.".into();
    };
    let example = format!(
        "{} with {} went from r = {:.2} to {:.2} ({} level)",
        first.metric, first.criterion, first.before, first.after, first.level
    );
    match (tested, first.is_significant()) {
        (0, _) => format!(
            "It is not known whether the changes are more than chance, because none was tested. \
             The largest: {example}."
        ),
        (_, false) => format!(
            "No change is certain: each of the {tested} tested changes may be chance. The largest: \
             {example}."
        ),
        (_, true) => {
            let ways = [("stronger", true), ("weaker", false)].map(|(name, is_stronger)| {
                let is_own = |change: &&LargeChange| {
                    change.is_significant() && change.is_stronger() == is_stronger
                };
                let metrics = distinct(largest.iter().filter(is_own).map(|c| c.metric.as_str()));
                (name, metrics)
            });
            let told: Vec<String> = ways
                .iter()
                .filter(|(_, metrics)| !metrics.is_empty())
                .map(|(name, metrics)| {
                    let agree = if metrics.len() == 1 { "agrees" } else { "agree" };
                    let than = if *name == "stronger" { "more" } else { "less" };
                    format!("{} {agree} {than} with people than before", metrics.join(", "))
                })
                .collect();
            format!("Some changes are certain: {}. For example, {example}.", told.join("; "))
        }
    }
}

/// How many changes are significant, where any was tested.
fn significant(changes: &[Change<'_>]) -> String {
    let corrected: Vec<f64> = corrected(changes).into_iter().flatten().collect();
    if corrected.is_empty() {
        return String::new();
    }
    let count = corrected.iter().filter(|p| **p < SIGNIFICANT).count();
    let tested = corrected.len();
    let are = if count == 1 { "is" } else { "are" };
    format!(
        "; of {tested} tested changes, {count} {are} significant (p < {SIGNIFICANT} after Holm's \
         correction)"
    )
}

fn sheet(id: String, title: String, changes: Vec<Change<'_>>) -> Sheet {
    let mut sheet = Sheet::new(id, Subject::Other, title, Form::Table)
        .columns(["metric", "criterion", "level", "coefficient"], 0)
        .columns(["before", "after", "change"], 4)
        .columns(["test", "n of the test"], 0)
        .columns(["p", "p (Holm)"], 4);
    let adjusted = corrected(&changes);
    let mut rows: Vec<(&Change<'_>, Option<f64>)> = changes.iter().zip(adjusted).collect();
    // A number that appeared or vanished is the largest change there is.
    let size = |change: &Change<'_>| change.difference().map_or(f64::INFINITY, f64::abs);
    rows.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)));
    for (change, adjusted) in rows {
        let number = |value: &Result<f64, String>| match value {
            Ok(value) => Cell::from(*value),
            Err(reason) => Cell::missing(reason),
        };
        let difference = change.difference().ok_or("one of the runs has no coefficient".to_owned());
        let [name, n, p, adjusted] = match (&change.test, adjusted) {
            (Ok(test), Some(adjusted)) => {
                [test.name.into(), test.n.as_str().into(), test.p_value.into(), adjusted.into()]
            }
            (test, _) => {
                let reason = test.as_ref().err().map_or("not tested", String::as_str);
                ["none".into(), "".into(), Cell::missing(reason), Cell::missing(reason)]
            }
        };
        sheet.push(vec![
            change.metric.into(),
            change.criterion.into(),
            change.level.name().into(),
            change.coefficient.name().into(),
            number(&change.before),
            number(&change.after),
            number(&difference),
            name,
            n,
            p,
            adjusted,
        ]);
    }
    sheet
}

#[cfg(test)]
mod tests;
