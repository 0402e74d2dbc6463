//! Systems compared by their scores, where there is no meta-evaluation: tables of ranks and pairs.

use storymeter_core::{Direction, Role};
use storymeter_meta::systems::{Design, Options, SystemComparison, compare_systems};
use storymeter_meta::view::{Cell, Form, Sheet, Subject};

use crate::inputs::Inputs;

/// The most metrics that a page compares the systems by.
const MOST_METRICS: usize = 12;
/// About how many values are drawn in all resamples of one metric. More would take seconds.
const MOST_DRAWS: usize = 200_000_000;
/// The fewest resamples. Fewer could not show that a difference is significant.
const LEAST_RESAMPLES: usize = 999;

/// The systems of the first score table, compared by its metrics.
#[derive(Debug, Default)]
pub struct Comparisons {
    /// One comparison per metric; the metric that the user points out comes first.
    pub found: Vec<SystemComparison>,
    /// What a reader should know about comparisons that are not there.
    pub notes: Vec<String>,
}

impl Comparisons {
    /// Compares the systems where there is a score table and no meta-evaluation.
    ///
    /// A table without metrics is compared by its ratings.
    pub fn new(inputs: &Inputs) -> Self {
        let mut all = Self::default();
        let (true, Some(stories)) = (inputs.runs.is_empty(), inputs.stories()) else { return all };
        let keys = |role| stories.keys(role).collect::<Vec<_>>();
        let mut columns = keys(Role::Metric);
        if columns.is_empty() {
            columns = keys(Role::Human);
        }
        // The user's own metric first, the others in the order of the table.
        columns.sort_by_key(|key| Some(*key) != inputs.highlight.as_ref());
        if columns.len() > MOST_METRICS {
            all.notes.push(format!(
                "Systems are compared by {MOST_METRICS} of {} metrics.",
                columns.len()
            ));
            columns.truncate(MOST_METRICS);
        }
        let resamples = MOST_DRAWS / stories.len().max(1);
        let usual = Options::default();
        let options = Options {
            resamples: resamples.clamp(LEAST_RESAMPLES, usual.resamples),
            ..usual
        };
        for key in columns {
            match compare_systems(stories.scores(), key.as_str(), &options) {
                Ok(found) => all.found.push(found),
                Err(error) => all.notes.push(format!("{key}: the systems are not compared: {error}")),
            }
        }
        all
    }
}

/// The systems in order, with their intervals and the groups that cannot be told apart.
pub fn ranking(id: &str, found: &SystemComparison) -> Sheet {
    let key = &found.column.key;
    let arrow = match found.column.direction {
        Direction::Higher => " \u{2191}",
        Direction::Lower => " \u{2193}",
        Direction::None => "",
    };
    let mut sheet = Sheet::new(id, Subject::Other, format!("Systems by {key}"), Form::Table)
        .columns(["rank", "system"], 0)
        .column(format!("mean {key}{arrow}"), 3)
        .columns(["low", "high"], 3)
        .columns(["stories", "group"], 0);
    for system in &found.systems {
        let (low, high) = match &system.interval {
            Ok(interval) => (Cell::from(interval.low), Cell::from(interval.high)),
            Err(gap) => (Cell::missing(gap), Cell::missing(gap)),
        };
        sheet.push(vec![
            system.rank.into(),
            system.name.as_str().into(),
            (&system.mean).into(),
            low,
            high,
            system.stories.into(),
            found.letters(&system.name).into(),
        ]);
    }
    sheet.signature = found.signature.to_string();
    sheet
}

/// How to read a ranking.
pub fn ranking_note(found: &SystemComparison) -> String {
    let paired = found.pairs.iter().filter(|pair| matches!(pair.design, Design::Paired { .. }));
    let design = match (paired.count(), found.pairs.len()) {
        (_, 0) => return "There is one system, so nothing is compared.".into(),
        (paired, all) if paired == all => "paired by item",
        (0, _) => "not paired, because the systems share too few items",
        _ => "paired where two systems share enough items",
    };
    format!(
        "Systems with the same letter in the column \"group\" cannot be told apart. Low and high \
         are the ends of {:.0}% bootstrap intervals. Tests are randomisation tests, {design}, \
         {} resamples, corrected after {} for {} pairs.",
        found.method.confidence * 100.0,
        found.method.resamples,
        found.method.correction.name(),
        found.pairs.len()
    )
}

/// Every two systems, with difference, interval, p-values, and wins, ties and losses.
pub fn pairs(id: &str, found: &SystemComparison) -> Sheet {
    let title = format!("All pairs of systems by {}", found.column.key);
    let mut sheet = Sheet::new(id, Subject::Other, title, Form::Table)
        .columns(["higher", "lower"], 0)
        .columns(["difference", "low", "high"], 4)
        .columns(["p", "p (corrected)"], 4)
        .columns(["verdict", "wins", "ties", "losses", "compared on"], 0)
        .note("Difference: the mean of the higher system less that of the lower.")
        .note("Wins, ties, losses: shared items on which the higher system is better, equal, worse.");
    for pair in &found.pairs {
        let compared = match pair.design {
            Design::Paired { items } => format!("{items} shared items"),
            Design::Unpaired { first, second } => format!("{first} and {second} stories"),
        };
        let verdict = match pair.verdict() {
            Some((better, _)) => format!("{better} is better"),
            None => "cannot be told apart".into(),
        };
        let mut row: Vec<Cell> = vec![pair.first.as_str().into(), pair.second.as_str().into()];
        match &pair.found {
            Ok(duel) => {
                let numbers = [
                    duel.difference,
                    duel.interval.low,
                    duel.interval.high,
                    duel.p_value.raw,
                    duel.p_value.corrected,
                ];
                row.extend(numbers.map(Cell::from));
                row.push(verdict.into());
                row.extend(match duel.items {
                    Some(items) => [items.wins, items.ties, items.losses].map(Cell::from),
                    None => [(); 3].map(|()| Cell::missing("the systems share too few items")),
                });
            }
            Err(gap) => {
                row.extend([(); 5].map(|()| Cell::missing(gap)));
                row.push("not tested".into());
                row.extend([(); 3].map(|()| Cell::missing(gap)));
            }
        }
        row.push(compared.into());
        sheet.push(row);
    }
    sheet.signature = found.signature.to_string();
    sheet
}
