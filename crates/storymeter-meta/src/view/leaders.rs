//! Who leads by what, as a table.

use storymeter_core::Signature;
use storymeter_core::number::Digits;
use storymeter_stats::Correction;

use super::systems::decimals;
use super::verdict::{
    LEADERS_TITLE, adjusted_meaning, key_with_arrow, not_counted, percentile_meaning,
};
use super::{Cell, Form, Sheet, Subject};
use crate::systems::SystemComparison;
use crate::systems::verdict::{ColumnMean, ColumnVerdict, Lead, Recheck, Verdict};

/// The most systems whose means stand beside the leaders.
const MOST_MEANS: usize = 4;

/// Who leads by what: one row per column, with what length and flags do to the lead. The means of
/// the systems stand beside it if there are few of them.
pub fn leaders(verdict: &Verdict, found: &[SystemComparison]) -> Sheet {
    let rechecks = [
        ("at its length", &verdict.length.percentiles),
        ("length adjusted", &verdict.length.adjusted),
        ("without flagged", &verdict.flags.without),
    ];
    let made: Vec<(&str, &Recheck)> =
        rechecks.into_iter().filter_map(|(name, one)| Some((name, one.as_ref()?))).collect();
    let with_means = verdict.systems.len() <= MOST_MEANS;
    let mut sheet = Sheet::new("leaders", Subject::SystemLeaders, LEADERS_TITLE, Form::Table)
        .columns(["column", "leads", "survives"], 0)
        .columns(made.iter().map(|(name, _)| name), 0);
    if with_means {
        sheet = sheet.columns(verdict.systems.iter().map(|system| &system.name), 0);
    }
    for column in &verdict.columns {
        let mut row: Vec<Cell> = vec![
            key_with_arrow(column.key.as_str(), column.direction).into(),
            not_counted(&column.vote).unwrap_or_else(|| lead(&column.lead)).into(),
        ];
        row.push(survives(column).into());
        row.extend(made.iter().map(|(_, recheck)| Cell::from(again(recheck, column))));
        if with_means {
            let digits = found
                .iter()
                .find(|one| one.column.key == column.key && one.column.role == column.role)
                .map_or(3, decimals);
            for system in &verdict.systems {
                let own = column.means.iter().find(|one| one.system == system.name);
                row.push(mean(own, digits));
            }
        }
        sheet.push(row);
    }
    let mut sheet = notes(sheet, verdict, &made);
    if let Some(one) = found.first() {
        let signature = Signature::new("verdict")
            .with("columns", "c", verdict.columns.len())
            .with("systems", "s", verdict.systems.len())
            .with("tests", "t", verdict.tests)
            .with("seed", "seed", one.method.seed)
            .with("resamples", "n", one.method.resamples)
            .with("confidence", "conf", one.method.confidence)
            .with("correction", "corr", Correction::Holm.name());
        sheet.signature = signature.with_version().to_string();
    }
    sheet
}

fn notes(sheet: Sheet, verdict: &Verdict, made: &[(&str, &Recheck)]) -> Sheet {
    let mut sheet = sheet.note(format!(
        "leads: the system that is significantly better than every other one by this column; with ~, \
         systems that share the lead; survives: whether that is so after Holm's correction over \
         all {} tests of the columns that are counted",
        verdict.tests
    ));
    for (name, _) in made {
        sheet = sheet.note(match *name {
            "at its length" => format!("at its length: who leads by {}", percentile_meaning()),
            "length adjusted" => format!("length adjusted: who leads by {}", adjusted_meaning()),
            _ => "without flagged: who leads by the stories without the flags named above".into(),
        });
    }
    sheet
}

fn lead(lead: &Lead) -> String {
    match lead {
        Lead::Alone { system } => system.clone(),
        Lead::Shared { systems } => format!("~ {}", systems.join(", ")),
        Lead::Nobody => "nobody".to_owned(),
    }
}

fn survives(column: &ColumnVerdict) -> &'static str {
    match (&column.survives, column.lead.alone()) {
        (Some(after), Some(before)) if after.alone() == Some(before) => "yes",
        (Some(_), Some(_)) => "no",
        _ => "",
    }
}

fn again(recheck: &Recheck, column: &ColumnVerdict) -> String {
    let own = recheck.columns.iter().find(|one| one.key == column.key && one.role == column.role);
    own.map_or(String::new(), |one| lead(&one.lead))
}

fn mean(own: Option<&ColumnMean>, digits: u8) -> Cell {
    match own.map(|one| &one.mean) {
        Some(Ok(mean)) => Digits::new([1.0], digits).text(*mean).into(),
        Some(Err(reason)) => Cell::missing(reason),
        None => "".into(),
    }
}
