//! The comparison made once more, with other values or fewer stories, by the same engine.

use std::collections::BTreeMap;

use storymeter_core::{Progress, Range, Row, ScoreTable, Value};

use super::decide::{Ballots, decide};
use super::profile::Stories;
use super::{Recheck, RecheckedColumn, means};
use crate::error::Result;
use crate::systems::{Caution, Options, SystemComparison, SystemPair, compare};

/// The columns of a comparison that is made once more: for each its position among the columns
/// that vote, its values by row of the table, and the values that are possible.
pub(super) type Values = Vec<(usize, Vec<Value>, Range)>;

/// The values of the column of a comparison, by row of the table.
pub(super) fn values_of<'a>(stories: &Stories<'a>, found: &SystemComparison) -> &'a [Value] {
    let is_it = |column: &storymeter_core::Column| {
        column.key == found.column.key && column.role == found.column.role
    };
    let at = stories.table.columns().iter().position(is_it);
    at.map_or(&[], |at| stories.table.values(at))
}

/// Compares the systems by these values, on the rows that are kept. Columns without values here
/// keep their comparison.
pub(super) fn recheck(
    stories: &Stories<'_>,
    ballots: &Ballots<'_>,
    values: Values,
    is_kept: &dyn Fn(usize) -> bool,
    options: &Options,
) -> Result<Recheck> {
    let kept: Vec<usize> =
        stories.rows.iter().map(|(row, _)| *row).filter(|&row| is_kept(row)).collect();
    let bare = |&row: &usize| {
        let Row { id, system, item, .. } = &stories.table.rows()[row];
        Row { id: id.clone(), system: system.clone(), item: item.clone(), ..Row::default() }
    };
    let mut table = ScoreTable::new(kept.iter().map(bare).collect());
    let mut places = Vec::with_capacity(values.len());
    for (at, values, range) in values {
        let mut column = ballots.comparisons[at].column.clone();
        column.range = range;
        table.push(column, kept.iter().map(|&row| values[row].clone()).collect());
        places.push(at);
    }
    // The columns have the directions that the user gave, and systems may be missing.
    let has = |name: &String| table.systems().contains(&name.as_str());
    let options = Options {
        columns: Vec::new(),
        directions: Vec::new(),
        without: Vec::new(),
        against: options.against.clone().filter(has),
        progress: Progress::unwatched(),
        ..options.clone()
    };
    let found: BTreeMap<usize, SystemComparison> = match kept.is_empty() || places.is_empty() {
        true => BTreeMap::new(),
        false => places.into_iter().zip(compare(&table, &options)?).collect(),
    };
    let all = ballots.comparisons.iter().enumerate();
    let again =
        ballots.with(all.map(|(at, one)| found.get(&at).unwrap_or(one)).collect(), &options)?;
    let column = |(&at, one): (&usize, &SystemComparison)| RecheckedColumn {
        key: one.column.key.clone(),
        role: one.column.role,
        lead: again.lead(at),
        means: means(one),
    };
    Ok(Recheck {
        columns: found.iter().map(column).collect(),
        untested: untested(&ballots.comparisons, &again.comparisons),
        leader: decide(&again, &options).ok(),
    })
}

/// The pairs that some column tested before, and that none can test now.
fn untested(before: &[&SystemComparison], now: &[&SystemComparison]) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for pair in before.iter().flat_map(|one| one.pairs.iter().filter(|pair| is_tested(one, pair))) {
        let (first, second) = (pair.first.as_str(), pair.second.as_str());
        let is_it = |(one, other): &(String, String)| {
            (one == first && other == second) || (one == second && other == first)
        };
        let again =
            |one: &&SystemComparison| one.pair(first, second).is_some_and(|it| is_tested(one, it));
        if !pairs.iter().any(is_it) && !now.iter().any(again) {
            pairs.push((first.to_owned(), second.to_owned()));
        }
    }
    pairs
}

/// Whether the two systems have so many stories that a difference could be found.
fn is_tested(found: &SystemComparison, pair: &SystemPair) -> bool {
    let rules_out = |caution: &Caution| {
        matches!(caution, Caution::NeverSignificant { first, second, .. }
            if *first == pair.first && *second == pair.second)
    };
    pair.found.is_ok() && !found.cautions.iter().any(rules_out)
}
