//! Correlations as matrices and as one long list.

use storymeter_core::{Key, Role};
use storymeter_stats::Coefficient;

use super::{Cell, Form, Label, Sheet, Subject};
use crate::analysis::round_half_even;
use crate::level::Level;
use crate::outcome::{Absence, Outcome};
use crate::study::{Agreement, Between, Edition, Estimate, Interval, Study};

/// A correlation as it is shown: signed; or, as published, in percent, rounded, without its sign.
fn shown(edition: Edition, value: Outcome<f64>) -> Outcome<f64> {
    match edition {
        Edition::Corrected => value,
        Edition::Published => value.map(|value| round_half_even(100.0 * value, 0).abs()),
    }
}

fn decimals(edition: Edition) -> u8 {
    match edition {
        Edition::Corrected => 3,
        Edition::Published => 0,
    }
}

fn unit(edition: Edition) -> &'static str {
    match edition {
        Edition::Corrected => "signed",
        Edition::Published => "absolute, rounded percent",
    }
}

/// The columns of a role against each other; all of them, or those at these positions.
pub(super) fn square(
    study: &Study,
    label: Label,
    between: &Between,
    positions: Option<&[usize]>,
) -> Sheet {
    let Between { role, level, coefficient, keys, .. } = between;
    let (role, level, coefficient) = (*role, *level, *coefficient);
    let all: Vec<usize> = (0..keys.len()).collect();
    let chosen = positions.unwrap_or(&all);
    let mut sheet = label
        .sheet(Subject::Between { role, level, coefficient }, Form::Heatmap)
        .column("column", 0)
        .columns(chosen.iter().map(|&c| &keys[c]), decimals(study.edition))
        .note(unit(study.edition));
    for &row in chosen {
        let mut cells = vec![Cell::from(&keys[row])];
        cells.extend(chosen.iter().map(|&column| {
            Cell::from(shown(study.edition, between.get(row, column).value.clone()))
        }));
        sheet.push(cells);
    }
    sheet
}

/// The correlations between the columns of a role at one level with one coefficient.
pub(super) fn find_between(
    study: &Study,
    role: Role,
    level: Level,
    coefficient: Coefficient,
) -> Option<&Between> {
    study.between(role).find(|one| one.level == level && one.coefficient == coefficient)
}

/// All agreements of one level and coefficient, by metric.
fn by_metric(
    study: &Study,
    level: Level,
    coefficient: Coefficient,
) -> Vec<(&Key, Vec<&Agreement>)> {
    let mut rows: Vec<(&Key, Vec<&Agreement>)> = Vec::new();
    let here = study.agreements().filter(|a| a.level == level && a.coefficient == coefficient);
    for agreement in here {
        // Agreements of one metric stand together.
        match rows.last_mut() {
            Some((metric, own)) if **metric == agreement.metric => own.push(agreement),
            _ => rows.push((&agreement.metric, vec![agreement])),
        }
    }
    rows
}

/// Metrics against criteria, with the mean over criteria and the number of observations; all
/// metrics, or those at these positions.
pub(super) fn against(
    study: &Study,
    label: Label,
    level: Level,
    coefficient: Coefficient,
    positions: Option<&[usize]>,
) -> Sheet {
    let edition = study.edition;
    let mut sheet = label
        .sheet(Subject::Against { level, coefficient }, Form::Heatmap)
        .column("metric", 0)
        .columns(study.criteria(), decimals(edition))
        .column("Avg", decimals(edition))
        .column("n", 0)
        .note(unit(edition));
    let rows = by_metric(study, level, coefficient);
    let all: Vec<usize> = (0..rows.len()).collect();
    for (metric, agreements) in positions.unwrap_or(&all).iter().map(|&at| &rows[at]) {
        let values: Vec<Outcome<f64>> = agreements
            .iter()
            .map(|one| shown(edition, one.value.clone().map(|e| e.value)))
            .collect();
        let mut row = vec![Cell::from(*metric)];
        row.extend(values.iter().map(Cell::from));
        row.push(average(edition, &values).into());
        row.push(count(agreements.iter().map(|one| one.n)));
        sheet.push(row);
    }
    sheet
}

/// The mean of the values as they are shown, which is signed. The published average is taken over
/// numbers that have no sign and are already rounded, and is rounded again.
pub(super) fn average(edition: Edition, values: &[Outcome<f64>]) -> Outcome<f64> {
    let sum: f64 =
        values.iter().cloned().sum::<Outcome<f64>>().map_err(|_| Absence::NoCorrelation)?;
    let mean = sum / values.len() as f64;
    Ok(if edition == Edition::Published { round_half_even(mean, 0) } else { mean })
}

/// One number where all are equal, otherwise the smallest and the largest.
pub(super) fn count(numbers: impl Iterator<Item = usize> + Clone) -> Cell {
    match (numbers.clone().min(), numbers.max()) {
        (Some(least), Some(most)) if least != most => Cell::from(format!("{least} to {most}")),
        (least, _) => Cell::from(least.unwrap_or(0)),
    }
}

/// Every correlation of a metric with a criterion, one per row: value, interval, p-value, p-values
/// corrected for the number of tests at that level, and what it rests on.
pub(super) fn list(study: &Study) -> Sheet {
    let mut sheet = Sheet::new(
        "correlations",
        Subject::Agreements,
        "Every metric against every criterion",
        Form::Table,
    )
    .columns(["metric", "criterion", "level", "coefficient"], 0)
    .column("value", 4)
    .p_columns(["p", "p (Benjamini-Hochberg)", "p (Benjamini-Yekutieli)"], 4)
    .columns(["n", "left out"], 0)
    .columns(["low", "high"], 4)
    .note("n: items at story level, systems at system level, stories in the pool")
    .note("p-values are two-sided; a story-level mean of coefficients has none");
    if let Some(note) = resampled(study.agreements()) {
        sheet = sheet.note(note);
    }
    for one in study.agreements() {
        let no_p = match one.level {
            Level::Story => Absence::MeanOfCoefficients,
            Level::System | Level::Pooled => Absence::NoCorrelation,
        };
        let p_value = |part: fn(&Estimate) -> Option<f64>| part_cell(&one.value, part, &no_p);
        let [value, low, high] = interval_cells(&one.value);
        sheet.push(vec![
            (&one.metric).into(),
            (&one.criterion).into(),
            one.level.name().into(),
            one.coefficient.name().into(),
            value,
            p_value(|e| e.p_value),
            p_value(|e| Some(e.adjusted?.benjamini_hochberg)),
            p_value(|e| Some(e.adjusted?.benjamini_yekutieli)),
            one.n.into(),
            one.left_out.into(),
            low,
            high,
        ]);
    }
    sheet
}

/// A part of an estimate, or why there is none.
fn part_cell(
    found: &Outcome<Estimate>,
    part: impl Fn(&Estimate) -> Option<f64>,
    none: &Absence,
) -> Cell {
    Cell::from(found.clone().and_then(|estimate| part(&estimate).ok_or(none.clone())))
}

/// The coefficient of an estimate.
pub(crate) fn value_cell(found: &Outcome<Estimate>) -> Cell {
    Cell::from(found.clone().map(|estimate| estimate.value))
}

/// The p-value of an estimate.
pub(crate) fn p_cell(found: &Outcome<Estimate>) -> Cell {
    part_cell(found, |estimate| estimate.p_value, &Absence::NoPValue)
}

/// The coefficient of an estimate and the ends of its interval.
pub(crate) fn interval_cells(found: &Outcome<Estimate>) -> [Cell; 3] {
    let end = |end: fn(Interval) -> f64| {
        part_cell(found, |estimate| estimate.interval.map(end), &Absence::NoInterval)
    };
    [value_cell(found), end(|interval| interval.low), end(|interval| interval.high)]
}

/// That p-values and intervals are found by resampling items, where they are.
pub(crate) fn resampled<'a>(agreements: impl IntoIterator<Item = &'a Agreement>) -> Option<String> {
    let items = agreements.into_iter().filter_map(|one| one.value.as_ref().ok()?.items).max()?;
    Some(format!(
        "several stories are of one item: p-values and intervals of correlations over stories \
         resample whole items, of which there are {items}"
    ))
}

/// What is correlated, in words: `story-level kendall correlations between criteria`.
pub(super) fn between_title(level: Level, coefficient: Coefficient, what: &str) -> String {
    format!("{level}-level {coefficient} correlations between {what}")
}
