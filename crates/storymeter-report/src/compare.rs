//! What changed between two runs, with a test that fits the data.
//!
//! Two runs on the same stories are not independent samples. Where the score tables of both runs
//! are given, Williams' test for dependent correlations compares them on the stories that both
//! have. Where the tables show that the runs share no story, Fisher's z for independent samples is
//! right. Where neither is known, there is no test, and the page says so.

use std::collections::HashMap;

use storymeter_core::{Key, Role};
use storymeter_meta::view::{Cell, Form, Sheet, Subject};
use storymeter_meta::{Agreement, Level};
use storymeter_stats::{Coefficient, SharedCorrelations, fisher_difference, holm};

use crate::inputs::{Inputs, NamedTable, Run};
use crate::stories::StoryTable;

/// Changes with a corrected p-value below this are called significant.
const SIGNIFICANT: f64 = 0.05;
/// Smaller changes are rounding errors.
const ROUNDING: f64 = 1e-9;

/// What changed between two runs or two score tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// The conclusion in one or two sentences, with the test and the number of stories.
    pub headline: String,
    /// Every correlation that changed, the largest changes first.
    pub sheet: Sheet,
}

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
    /// The score tables of one of the runs are not known.
    Unknown,
}

/// The stories that two score tables share.
struct Pairing<'a> {
    before: &'a StoryTable,
    after: &'a StoryTable,
    /// Positions of the same story in both tables.
    rows: Vec<(usize, usize)>,
}

/// One correlation before and after.
struct Change<'a> {
    metric: &'a Key,
    criterion: &'a Key,
    level: Level,
    coefficient: Coefficient,
    before: Result<f64, String>,
    after: Result<f64, String>,
    n: (usize, usize),
    test: Result<Tested, String>,
}

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tested {
    name: &'static str,
    p_value: f64,
    /// The numbers of observations behind the test: one that both sides share, or one per side.
    n: Observations,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Observations {
    Shared(usize),
    Separate(usize, usize),
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
            "The runs rest on the same stories, so the change of Pearson's coefficient is tested by \
             Williams' test for dependent correlations on the {} stories that both score tables \
             have, two-sided.",
            pairing.rows.len()
        ),
        Relation::Independent => "The runs rest on different stories, so changes are tested by \
                                  Fisher's z for independent samples, two-sided."
            .into(),
        Relation::Unknown => "No test was made, because it is not known whether the runs rest on \
                              the same stories. With the score tables of both runs, the report \
                              includes a test."
            .into(),
    };
    let mut counts =
        format!("{} of {shared} shared correlations changed{}", changes.len(), significant(&changes));
    for (count, what) in [(only_after, "later"), (only_before, "first")] {
        if count > 0 {
            counts.push_str(&format!("; {count} are only in the {what} run"));
        }
    }
    Changes {
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
    for criterion in keys(&first.stories, Role::Human) {
        for metric in keys(&first.stories, Role::Metric) {
            for level in Level::ALL {
                let Some(found) = pairing.correlations(metric, criterion, level) else { continue };
                compared += 1;
                let value = |r: f64| match r.is_finite() {
                    true => Ok(r),
                    false => Err("the correlation is not defined".to_owned()),
                };
                let change = Change {
                    metric,
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

fn keys(stories: &StoryTable, role: Role) -> Vec<&Key> {
    let scores = stories.scores();
    scores.of_role(role).into_iter().map(|at| &scores.columns()[at].key).collect()
}

/// Finds out whether two runs rest on the same stories, from their score tables.
fn relation<'a>(inputs: &'a Inputs, first: &Run, run: &Run) -> Relation<'a> {
    let tables = || inputs.tables.iter().map(|table| &table.stories);
    let ratings = inputs.stories();
    let before = tables().find(|table| belongs(first, table, ratings));
    let after = tables().rev().find(|table| belongs(run, table, ratings));
    match (before, after) {
        (Some(before), Some(after)) if !std::ptr::eq(before, after) => {
            match Pairing::new(before, after) {
                Some(pairing) => Relation::Paired(pairing),
                None => Relation::Independent,
            }
        }
        _ => Relation::Unknown,
    }
}
