//! Metrics against human scores: Table 5, Table 6 and Figure 2.

use std::path::Path;

use storymeter_stats::{
    Coefficient, WilliamsRules, fisher_interval, williams_matrix_of_columns,
};

use super::rated::{RatedSet, Scores};
use crate::correlations::associate;
use crate::error::{Error, Result};
use crate::level::Association;
use crate::quality::{self, DrawOptions};
use crate::scale::Scale;
use crate::sheet::{Cell, Form, Sheet, Warning};

/// The paper's star: p-value below 0.01.
const SIGNIFICANT: f64 = 0.01;

/// The symbols of the three coefficients, as the paper writes them.
const SYMBOLS: [&str; 3] = ["r", "rho", "tau"];

/// All three coefficients of a metric with the human scores.
fn three(scores: &[f64], human: &[f64]) -> Result<Vec<Association>> {
    Coefficient::ALL.iter().map(|coefficient| associate(*coefficient, scores, human)).collect()
}

/// Appends each coefficient with its star, and after them the p-values.
fn push_three(row: &mut Vec<Cell>, found: &[Association]) {
    for one in found {
        row.push(Cell::number(one.value, &one.reason()));
        row.push(if one.p_value < SIGNIFICANT { "*" } else { "" }.into());
    }
    row.extend(found.iter().map(|one| Cell::number(one.p_value, &one.reason())));
}

fn three_columns(mut sheet: Sheet) -> Sheet {
    for symbol in SYMBOLS {
        sheet = sheet.column(symbol, 4).column(format!("{symbol}*"), 0);
    }
    sheet.columns(SYMBOLS.map(|symbol| format!("p({symbol})")), 4)
}

/// Table 5: every metric against the mean human score, with stars; and the metrics against each other.
pub(super) fn table_5(set: &RatedSet) -> Result<Vec<Sheet>> {
    let head = Sheet::new("table-5", "Correlation with human judgments", Form::Table)
        .brief()
        .columns(["class", "metric", "n"], 0);
    let mut sheet = three_columns(head).note(format!("* p < {SIGNIFICANT}, two-sided"));
    if let Some(negated) = set.metrics.iter().find(|s| s.metric.negated) {
        sheet = sheet.note(format!("{} is negated, so that more is better", negated.metric.name));
    }
    for Scores { metric, values } in &set.metrics {
        let found = three(values, &set.human)?;
        let mut row = vec![metric.class.into(), Cell::from(&metric.name), found[0].n.into()];
        push_three(&mut row, &found);
        sheet.push(row);
    }
    let mut sheets = vec![sheet, intervals(set)?];
    if set.len() > 3 {
        sheets.push(williams(set)?);
    }
    for coefficient in Coefficient::ALL {
        sheets.push(between_metrics(set, coefficient)?);
    }
    Ok(sheets)
}

/// 95% intervals of Table 5 through Fisher's z.
fn intervals(set: &RatedSet) -> Result<Sheet> {
    let mut sheet = Sheet::new(
        "table-5-intervals",
        "95% intervals of the correlations (Fisher's z)",
        Form::Table,
    )
    .columns(["metric", "coefficient"], 0)
    .columns(["value", "low", "high"], 4);
    for scores in &set.metrics {
        for (coefficient, found) in
            Coefficient::ALL.into_iter().zip(three(&scores.values, &set.human)?)
        {
            let (low, high, reason) = match found.gap {
                Some(gap) => (f64::NAN, f64::NAN, gap.to_string()),
                None if found.n < 5 => (f64::NAN, f64::NAN, "fewer than 5 stories".into()),
                None => {
                    let interval = fisher_interval(coefficient, found.value, found.n, 0.95)?;
                    (interval.low, interval.high, String::new())
                }
            };
            let mut row = vec![Cell::from(&scores.metric.name), coefficient.name().into()];
            row.extend([found.value, low, high].map(|value| Cell::number(value, &reason)));
            sheet.push(row);
        }
    }
    Ok(sheet)
}

/// Whether one metric's Pearson correlation is really higher than another's on the same stories.
fn williams(set: &RatedSet) -> Result<Sheet> {
    let names = || set.metrics.iter().map(|s| s.metric.name.as_str());
    let columns: Vec<&[f64]> = set.metrics.iter().map(|s| s.values.as_slice()).collect();
    let matrix = williams_matrix_of_columns(
        Coefficient::Pearson,
        &set.human,
        &columns,
        WilliamsRules::Corrected,
    )?;
    let mut sheet = Sheet::new(
        "table-5-williams",
        "Williams tests between metrics (Pearson)",
        Form::Heatmap,
    )
    .column("metric", 0)
    .columns(names(), 4)
    .note(
        "one-sided p-value that the row's |r| is higher than the column's; empty where it is not",
    );
    for (row, name) in matrix.rows().zip(names()) {
        let mut line = vec![Cell::from(name)];
        line.extend(row.iter().map(|cell| match cell {
            None => Cell::from(""),
            Some(test) => {
                let reason = test.undefined.map_or_else(String::new, |why| why.to_string());
                Cell::number(test.p_value, &reason)
            }
        }));
        sheet.push(line);
    }
    Ok(sheet)
}

fn between_metrics(set: &RatedSet, coefficient: Coefficient) -> Result<Sheet> {
    let title = format!("{coefficient} correlation between metrics");
    let mut sheet = Sheet::new(format!("metrics-{coefficient}"), title, Form::Heatmap)
        .column("metric", 0)
        .columns(set.metrics.iter().map(|s| s.metric.name.as_str()), 3);
    for first in &set.metrics {
        let mut row = vec![Cell::from(&first.metric.name)];
        for second in &set.metrics {
            let found = associate(coefficient, &first.values, &second.values)?;
            row.push(Cell::number(found.value, &found.reason()));
        }
        sheet.push(row);
    }
    Ok(sheet)
}

/// Table 6: scores of metrics trained on another dataset, beside those of the same metrics trained on this one.
pub(super) fn table_6(rated: &Path, scores: &Path, scale: Scale) -> Result<(Sheet, Vec<Warning>)> {
    let mut set = RatedSet::read(rated, scale)?;
    let drifted = set.scores(scores)?;
    if drifted.is_empty() {
        return Err(Error::unfit(format!(
            "{}: no score files (*.txt) for Table 6",
            scores.display()
        )));
    }
    let title = format!(
        "Dataset drift: scores in {} against the ratings of {}",
        file_name(scores),
        set.name
    );
    let head = Sheet::new("table-6", title, Form::Table).brief().columns(["metric", "n"], 0);
    let mut sheet = three_columns(head)
        .columns(SYMBOLS.map(|symbol| format!("{symbol} at home")), 4)
        .note(format!("* p < {SIGNIFICANT}, two-sided"))
        .note("at home: the same metric trained on this dataset, from metric_output");
    for Scores { metric, values } in &drifted {
        let found = three(values, &set.human)?;
        let mut row = vec![Cell::from(&metric.name), found[0].n.into()];
        push_three(&mut row, &found);
        match set.metrics.iter().find(|home| home.metric.id == metric.id) {
            Some(home) => {
                let at_home = three(&home.values, &set.human)?;
                row.extend(at_home.iter().map(|one| Cell::number(one.value, &one.reason())));
            }
            None => {
                row.extend(SYMBOLS.map(|_| Cell::number(f64::NAN, "no such file in metric_output")))
            }
        }
        sheet.push(row);
    }
    Ok((sheet, set.warnings))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Figure 2: the biased sets, what they hold (left) and how each metric does on them (right).
pub(super) fn figure_2(set: &RatedSet, options: DrawOptions) -> Result<Vec<Sheet>> {
    let (names, scores): (Vec<_>, Vec<_>) =
        set.metrics.iter().map(|s| (s.metric.name.clone(), s.values.clone())).unzip();
    let sets = quality::biased_sets(&set.levels(), set.raters, &set.human, &scores, options)?;
    let labels: Vec<String> =
        (0..=set.raters).map(|level| format!("{level}/{}", set.raters)).collect();
    Ok(quality::sheets("figure-2", &sets, &labels, &names, options))
}
