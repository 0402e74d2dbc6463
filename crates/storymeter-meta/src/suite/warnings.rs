//! What a reader of a suite must know before trusting its numbers.

use storymeter_core::{Column, Direction};

use super::{AspectSummary, Pairing, SuiteCell};
use crate::outcome::Absence;
use crate::study::{Warning, WarningKind};

/// Below this many pairs, a metric that tosses coins has an AUC of 0.7 or more with a probability
/// of more than about one in a hundred.
const FEW_PAIRS: usize = 24;

/// The warnings about the aspects, and then those about the metrics.
pub fn of(metrics: &[Column], aspects: &[AspectSummary], cells: &[SuiteCell]) -> Vec<Warning> {
    let mut found: Vec<Warning> = aspects.iter().filter_map(few).collect();
    for metric in metrics {
        let own: Vec<&SuiteCell> = cells.iter().filter(|cell| cell.metric == metric.key).collect();
        let key = metric.key.to_string();
        let warn = |kind, message: String| Warning::new(kind, key.clone(), message);
        if metric.direction == Direction::None {
            let message = "it is not known whether more is better, so more counts as better here";
            found.push(warn(WarningKind::Direction, message.to_owned()));
        }
        if own.iter().all(|cell| cell.originals + cell.twins == 0) {
            if !own.is_empty() {
                found.push(warn(WarningKind::Empty, "it has no score for any text".to_owned()));
            }
            continue;
        }
        let lost = aspects_with(&own, |cell| cell.absent > 0, |cell| format!(" ({})", cell.absent));
        if !lost.is_empty() {
            let message = format!("texts without a score are left out of {lost}");
            found.push(warn(WarningKind::Missing, message));
        }
        let infinite =
            aspects_with(&own, |cell| cell.shift == Err(Absence::Infinite), |_| "".into());
        if !infinite.is_empty() {
            let message = format!("infinite scores leave no shift and no r for {infinite}");
            found.push(warn(WarningKind::Infinite, message));
        }
        if own.iter().all(|cell| cell.is_constant()) {
            let message = "it gives all texts of each aspect the same score";
            found.push(warn(WarningKind::Constant, message.to_owned()));
        }
    }
    found
}

/// A warning about an aspect with few pairs. One without any says so by itself.
fn few(summary: &AspectSummary) -> Option<Warning> {
    let texts = summary.originals.min(summary.twins);
    let what = match (texts, summary.pairing) {
        (1, Pairing::Paired) => "is only 1 pair".to_owned(),
        (1, Pairing::Unpaired) => "is only 1 text of one kind".to_owned(),
        (texts, Pairing::Paired) => format!("are only {texts} pairs"),
        (texts, Pairing::Unpaired) => format!("are only {texts} texts of one kind"),
    };
    (1..FEW_PAIRS).contains(&texts).then(|| {
        let message = format!("there {what}, so that chance alone may look good");
        Warning::new(WarningKind::Few, summary.aspect.name(), message)
    })
}

/// The names of the aspects of some cells.
fn aspects_with(
    cells: &[&SuiteCell],
    hit: impl Fn(&SuiteCell) -> bool,
    detail: impl Fn(&SuiteCell) -> String,
) -> String {
    let hits = cells.iter().filter(|cell| hit(cell));
    let names: Vec<String> =
        hits.map(|cell| format!("{}{}", cell.aspect.name(), detail(cell))).collect();
    names.join(", ")
}
