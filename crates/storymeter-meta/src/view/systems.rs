//! Comparisons of systems as sheets.

use storymeter_core::{Direction, Key, Role};
use storymeter_stats::LARGE_SAMPLE;

use super::verdict::{adjusted_meaning, key_with_arrow, percentile_meaning};
use super::{Cell, Form, Sheet, Subject, file_stem, leaders};
use crate::outcome::{Absence, Outcome};
use crate::systems::verdict::{ColumnMean, LengthCheck, Verdict};
use crate::systems::{ItemWins, Pairing, RankedSystem, SystemComparison, SystemPair};

/// All sheets of some comparisons: the means by all columns where there are several, then the
/// ranking and the pairs by each column.
///
/// The best mean is bold. Letters behind means name groups that cannot be told apart, and stars
/// behind p-values mark significant ones; the notes say so.
pub fn system_sheets(found: &[SystemComparison]) -> Vec<Sheet> {
    all_sheets(found, None)
}

/// The same with what a verdict adds: who leads by what, where there are several columns, and
/// beside the plain means those that allow for length, where lengths differ.
pub fn verdict_sheets(verdict: &Verdict, found: &[SystemComparison]) -> Vec<Sheet> {
    all_sheets(found, Some(verdict))
}

fn all_sheets(found: &[SystemComparison], verdict: Option<&Verdict>) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    if found.len() > 1 {
        sheets.extend(verdict.map(|verdict| leaders(verdict, found)));
        sheets.push(means(found));
    }
    for one in found {
        sheets.push(ranking(one, verdict));
        if !one.pairs.is_empty() {
            sheets.push(pairs(one));
        }
    }
    sheets
}

/// The means of all systems in one table, for programs: one row per system and one column per
/// column of scores, under its key.
pub fn flat_means(found: &[SystemComparison]) -> Sheet {
    let mut sheet = means(found);
    for (head, one) in sheet.columns.iter_mut().skip(1).zip(found) {
        head.name = one.column.key.to_string();
    }
    sheet
}

/// The rankings of all comparisons in one table, for programs: one row per column and system.
pub fn flat_systems(found: &[SystemComparison]) -> Sheet {
    let mut sheet = Sheet::new("systems", Subject::SystemMeans, "Systems", Form::Table)
        .columns(["metric", "rank", "system", "stories", "absent"], 0)
        .columns(["mean", "low", "high", "sd"], 6)
        .columns(["better_than", "worse_than", "group"], 0);
    for one in found {
        for system in &one.systems {
            let [low, high] = interval(system);
            sheet.push(vec![
                (&one.column.key).into(),
                system.rank.into(),
                (&system.name).into(),
                system.stories.into(),
                system.absent.into(),
                system.mean.clone().into(),
                low,
                high,
                system.sd.clone().into(),
                system.better_than.into(),
                system.worse_than.into(),
                one.letters(&system.name).into(),
            ]);
        }
    }
    sheet
}

/// The pairs of all comparisons in one table, for programs: one row per column and pair.
pub fn flat_pairs(found: &[SystemComparison]) -> Sheet {
    let mut sheet = Sheet::new("pairs", Subject::AllSystemPairs, "Pairs of systems", Form::Table)
        .columns(["metric", "first", "second", "test", "n_first", "n_second"], 0)
        .columns(["difference", "low", "high", "effect"], 6)
        .columns(["wins", "ties", "losses"], 0)
        .p_columns(["p", "p_corrected"], 6)
        .columns(["better", "stories_needed"], 0)
        .columns(["detectable"], 6);
    for one in found {
        for pair in &one.pairs {
            let (test, n, m) = match pair.design {
                Pairing::Paired { items } => ("paired", items, items),
                Pairing::Unpaired { first, second } => ("unpaired", first, second),
            };
            let mut row: Vec<Cell> = vec![
                (&one.column.key).into(),
                (&pair.first).into(),
                (&pair.second).into(),
                test.into(),
                n.into(),
                m.into(),
            ];
            row.extend(difference(pair));
            row.extend(item_wins(pair));
            row.extend(p_values(pair));
            row.push(pair.verdict().map_or("", |(better, _)| better).into());
            row.push(match &pair.found {
                Ok(found) => found.power.needed.map_or("".into(), Cell::Count),
                Err(gap) => Cell::missing(gap),
            });
            row.push(
                pair.found
                    .as_ref()
                    .map_or_else(Cell::missing, |found| found.power.detectable.into()),
            );
            sheet.push(row);
        }
    }
    sheet
}

/// The same as a sheet of a study.
pub(super) fn study_pairs(found: &[SystemComparison]) -> Sheet {
    let mut sheet = flat_pairs(found);
    sheet.id = "system-pairs".to_owned();
    sheet.title = "Pairs of systems, by every metric and criterion".to_owned();
    let mut notes = Vec::new();
    for one in found {
        for note in test_notes(one) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    sheet.notes = notes;
    sheet
}

/// The means of all systems by all columns, as in a paper's table of results.
fn means(found: &[SystemComparison]) -> Sheet {
    let title = "Mean of each system";
    let mut sheet =
        Sheet::new("means", Subject::SystemMeans, title, Form::Table).column("system", 0);
    for one in found {
        sheet = sheet
            .column(key_with_arrow(one.column.key.as_str(), one.column.direction), decimals(one));
    }
    // Systems stand in the order of the first column; the other columns may lack some of them.
    for system in found.first().map_or(&[][..], |one| &one.systems) {
        let mut row = vec![Cell::from(&system.name)];
        let own = |one: &SystemComparison| {
            one.systems.iter().find(|other| other.name == system.name).cloned()
        };
        row.extend(found.iter().map(|one| match own(one) {
            Some(system) => system.mean.into(),
            None => Cell::missing(Absence::Empty),
        }));
        sheet.push(row);
        for (at, one) in found.iter().enumerate() {
            let best = own(one).is_some_and(|system| is_best(&system, one));
            let letters = one.letters(&system.name);
            let suffix = if letters.is_empty() { letters } else { format!(" {letters}") };
            sheet.mark(at + 1, best, suffix);
        }
    }
    sheet.signature =
        found.iter().map(|one| one.signature.to_string()).collect::<Vec<_>>().join("\n  ");
    sheet = sheet.note("bold: the best mean of each column; ↑ higher is better, ↓ lower is better");
    match found.first() {
        Some(one) if one.method.against.is_none() => sheet.note(groups(one)),
        _ => sheet,
    }
}

/// The means of the systems by one column, adjusted for length and as percentiles at the length of
/// each story, if a verdict has them.
pub fn means_by_length<'a>(
    check: &'a LengthCheck,
    key: &Key,
    role: Role,
) -> [Option<&'a [ColumnMean]>; 2] {
    [&check.adjusted, &check.percentiles].map(|again| {
        let columns = &again.as_ref()?.columns;
        let own = columns.iter().find(|one| one.key == *key && one.role == role)?;
        Some(own.means.as_slice())
    })
}

/// The systems by one column, best first.
fn ranking(found: &SystemComparison, verdict: Option<&Verdict>) -> Sheet {
    let key = &found.column.key;
    let better = match found.column.direction {
        Direction::Higher => "higher is better",
        Direction::Lower => "lower is better",
        Direction::None => "highest first",
    };
    let percent = percent(found.method.confidence);
    let digits = decimals(found);
    let grouped = !found.clusters.is_empty();
    let mut sheet = Sheet::new(
        format!("systems-{}", file_stem(key.as_str())),
        Subject::SystemRanking { key: key.clone() },
        format!("Systems by {key} ({better})"),
        Form::Table,
    )
    .columns(["rank", "system", "stories"], 0)
    .columns(["mean", "low", "high", "sd"], digits)
    .brief();
    let [adjusted, percentiles] = match verdict {
        Some(verdict) => means_by_length(&verdict.length, key, found.column.role),
        None => [None, None],
    };
    if adjusted.is_some() {
        sheet = sheet.column("adjusted", digits);
    }
    if percentiles.is_some() {
        sheet = sheet.column("percentile", 1);
    }
    sheet = sheet.column("better than", 0);
    if grouped {
        sheet = sheet.column("group", 0);
    }
    for system in &found.systems {
        let [low, high] = interval(system);
        let mut row = vec![
            system.rank.into(),
            (&system.name).into(),
            system.stories.into(),
            system.mean.clone().into(),
            low,
            high,
            system.sd.clone().into(),
        ];
        row.extend(adjusted.map(|means| mean_cell(means, &system.name, 1.0)));
        row.extend(percentiles.map(|means| mean_cell(means, &system.name, 100.0)));
        row.push(system.better_than.into());
        if grouped {
            row.push(found.letters(&system.name).into());
        }
        sheet.push(row);
        if is_best(system, found) {
            sheet.mark(1, true, "");
            sheet.mark(3, true, "");
        }
    }
    sheet = sheet.note(format!(
        "low and high: {percent}% interval of the mean over stories, of which whole items are drawn \
         (percentile bootstrap with {} resamples; Student's t for fewer than {LARGE_SAMPLE} items); \
         bold: the best mean; better than: the number of systems that it is significantly better \
         than",
        found.method.resamples
    ));
    if adjusted.is_some() {
        sheet = sheet.note(format!("adjusted: {}", adjusted_meaning()));
    }
    if percentiles.is_some() {
        sheet = sheet.note(format!("percentile: {}", percentile_meaning()));
    }
    if grouped {
        sheet = sheet.note(groups(found));
    }
    sheet.signature = found.signature.to_string();
    sheet
}

/// The mean of a system, times a factor. A system without stories in the comparison has none.
fn mean_cell(means: &[ColumnMean], system: &str, factor: f64) -> Cell {
    match means.iter().find(|own| own.system == system).map(|own| &own.mean) {
        Some(Ok(mean)) => (factor * mean).into(),
        Some(Err(reason)) => Cell::missing(reason),
        None => Cell::missing(Absence::Empty),
    }
}

/// Every two systems by one column.
fn pairs(found: &SystemComparison) -> Sheet {
    let key = &found.column.key;
    let digits = decimals(found);
    let mut sheet = Sheet::new(
        format!("pairs-{}", file_stem(key.as_str())),
        Subject::SystemPairs { key: key.clone() },
        format!("Pairs of systems by {key}"),
        Form::Table,
    )
    .columns(["first", "second", "test", "n"], 0)
    .columns(["difference", "low", "high"], digits)
    .column("d", 2)
    .columns(["wins", "ties", "losses"], 0)
    .p_column("p")
    .p_column("corrected")
    .brief();
    let corrected = sheet.columns.len() - 1;
    for pair in &found.pairs {
        let (test, n) = match pair.design {
            Pairing::Paired { items } => ("paired", Cell::from(items)),
            Pairing::Unpaired { first, second } => {
                ("unpaired", Cell::from(format!("{first}+{second}")))
            }
        };
        let mut row: Vec<Cell> = vec![(&pair.first).into(), (&pair.second).into(), test.into(), n];
        row.extend(difference(pair));
        row.extend(item_wins(pair));
        row.extend(p_values(pair));
        sheet.push(row);
        if let Some(stars) = stars(pair, found) {
            sheet.mark(corrected, false, stars);
        }
    }
    for note in test_notes(found) {
        sheet = sheet.note(note);
    }
    sheet.signature = found.signature.to_string();
    sheet
}

/// What was tested and how, as the caption of the table of pairs says it.
fn test_notes(found: &SystemComparison) -> Vec<String> {
    let method = &found.method;
    let is_paired = |pair: &&SystemPair| matches!(pair.design, Pairing::Paired { .. });
    let paired = found.pairs.iter().filter(is_paired).count();
    let resamples = format!("{} resamples, or all where there are fewer", method.resamples);
    let sides = method.sides.name();
    let mut notes = Vec::new();
    if paired > 0 {
        notes.push(format!(
            "paired: {sides} randomisation test that exchanges the two scores of an item \
             ({resamples}); n is the number of shared items"
        ));
    }
    if paired < found.pairs.len() {
        notes.push(format!(
            "unpaired: {sides} permutation test of the difference of means, because fewer than \
             half of the items are shared ({resamples}); n is the number of items of each"
        ));
    }
    let authors = method.correction.authors();
    notes.push(format!(
        "corrected: p after {authors}'s correction for {} {}; * at most {}, ** at most 0.01, *** \
         at most 0.001",
        found.pairs.len(),
        if found.pairs.len() == 1 { "pair" } else { "pairs" },
        method.level()
    ));
    notes.push(format!(
        "difference: first less second, with its {}% interval (found as that of a mean); d: the \
         difference in pooled standard deviations; wins: items on which the first is better",
        percent(method.confidence)
    ));
    notes
}

fn groups(found: &SystemComparison) -> String {
    format!(
        "systems that share a letter cannot be told apart (no two of them differ with a corrected p \
         of at most {})",
        found.method.level()
    )
}

/// One to three stars for a significant pair.
fn stars(pair: &SystemPair, found: &SystemComparison) -> Option<&'static str> {
    let p = pair.found.as_ref().ok()?.p_value.corrected;
    match p {
        _ if p > found.method.level() => None,
        p if p <= 0.001 => Some("***"),
        p if p <= 0.01 => Some("**"),
        _ => Some("*"),
    }
}

/// Whether a system has the best mean of at least two different ones. Where it is not known whether
/// more is better, none has.
fn is_best(system: &RankedSystem, found: &SystemComparison) -> bool {
    found.column.direction != Direction::None
        && system.rank == 1
        && system.mean.is_ok()
        && found.systems.iter().any(|other| other.rank > 1 && other.mean.is_ok())
}

fn interval(system: &RankedSystem) -> [Cell; 2] {
    match &system.interval {
        Ok(interval) => [interval.low.into(), interval.high.into()],
        Err(gap) => [Cell::missing(gap), Cell::missing(gap)],
    }
}

/// The difference, the ends of its interval, and the effect.
fn difference(pair: &SystemPair) -> [Cell; 4] {
    match &pair.found {
        Ok(found) => [
            found.difference.into(),
            found.interval.clone().map(|interval| interval.low).into(),
            found.interval.clone().map(|interval| interval.high).into(),
            Cell::from(&found.effect),
        ],
        Err(gap) => [(); 4].map(|()| Cell::missing(gap)),
    }
}

/// Wins, ties and losses; empty where the test is not paired.
fn item_wins(pair: &SystemPair) -> [Cell; 3] {
    match pair.found.as_ref().ok().and_then(|found| found.items) {
        Some(ItemWins { wins, ties, losses }) => [wins.into(), ties.into(), losses.into()],
        None => [(); 3].map(|()| "".into()),
    }
}

fn p_values(pair: &SystemPair) -> [Cell; 2] {
    let p: Outcome<[f64; 2]> =
        pair.found.clone().map(|found| [found.p_value.raw, found.p_value.corrected]);
    match p {
        Ok(both) => both.map(Cell::from),
        Err(gap) => [(); 2].map(|()| Cell::missing(gap.clone())),
    }
}

/// As many decimals as show three digits of the largest standard deviation, or of the largest mean
/// where nothing varies.
pub fn decimals(found: &SystemComparison) -> u8 {
    let largest = |values: &dyn Fn(&RankedSystem) -> Outcome<f64>| {
        found.systems.iter().filter_map(|one| values(one).ok()).map(f64::abs).fold(0.0, f64::max)
    };
    let scale = match largest(&|one| one.sd.clone()) {
        0.0 => largest(&|one| one.mean.clone()),
        spread => spread,
    };
    if scale == 0.0 {
        return 3;
    }
    (2.0 - scale.log10().floor()).clamp(0.0, 8.0) as u8
}

fn percent(share: f64) -> String {
    let percent = (share * 1e8).round() / 1e6;
    percent.to_string()
}
