//! Tests between metrics, and metrics as judges.

use super::correlations::{average, count};
use super::{Cell, Form, Label, Sheet, Subject, label};
use crate::level::Level;
use crate::outcome::Absence;
use crate::study::{Edition, PairAccuracy, Pairwise, Sides, Test, TestMatrix, TopSystems};

/// The name of a test in words.
pub fn test_title(test: Test) -> &'static str {
    match test {
        Test::Williams => "Williams tests",
        Test::Steiger => "Steiger's tests",
        Test::Meng => "Tests of Meng, Rosenthal and Rubin",
        Test::Permutation => "Permutation tests (PERM-BOTH)",
    }
}

/// What tests between metrics over all stories take for granted.
pub(crate) const INDEPENDENT: &str = "stories of one item count as independent observations here, so \
    that p-values are too small if they resemble each other";

/// The title of a matrix of tests.
pub(super) fn title(matrix: &TestMatrix) -> String {
    let TestMatrix { criterion, level, .. } = matrix;
    let coefficient = matrix.coefficient.author();
    let tests = test_title(matrix.test);
    let sides = matrix.sides.name();
    format!("{tests} between metrics for {criterion}, {level}-level {coefficient}, {sides}")
}

/// Three sheets at most: raw p-values, corrected ones, and the numbers of observations where these
/// differ from pair to pair.
pub(super) fn matrices(edition: Edition, matrix: &TestMatrix, label_of: Label) -> Vec<Sheet> {
    let TestMatrix { test, criterion, level, coefficient, correction, sides, metrics, pairs } =
        matrix;
    let id = label_of.id.clone();
    let subject = |correction| Subject::Tests {
        test: *test,
        criterion: criterion.clone(),
        level: *level,
        coefficient: *coefficient,
        correction,
    };
    let fill = |mut sheet: Sheet, cell: &dyn Fn(usize, usize) -> Cell| {
        for (row, metric) in metrics.iter().enumerate() {
            let mut line = vec![Cell::from(metric)];
            line.extend((0..metrics.len()).map(|column| cell(row, column)));
            sheet.push(line);
        }
        sheet
    };
    let p = |corrected: bool| {
        move |row: usize, column: usize| match matrix.get(row, column) {
            None => Cell::from(""),
            Some(one) => {
                one.p_value.clone().map(|p| if corrected { p.corrected } else { p.raw }).into()
            }
        }
    };
    let counts = count(pairs.iter().map(|pair| pair.n));
    let n = match &counts {
        Cell::Count(n) => format!("n = {n} {}", observations(*level)),
        other => format!("n = {} {}, by pair of metrics", other.text(), observations(*level)),
    };
    let n = match level {
        Level::Pooled => format!("{n}; {INDEPENDENT}"),
        Level::Story | Level::System => n,
    };
    let meaning = match sides {
        Sides::Two => {
            "two-sided p-value of the difference, where the row's correlation is higher than the \
             column's; empty where it is lower"
        }
        Sides::One => {
            "one-sided p-value that the row's correlation is higher than the column's; empty where \
             it is not"
        }
    };
    let turned = match edition {
        Edition::Published => "directions are ignored, as published",
        Edition::Corrected => {
            "correlations are signed; those of metrics where less is better are turned round \
             first, and of metrics whose direction is not known the size counts"
        }
    };
    let impossible = pairs.iter().filter(|pair| pair.p_value == Err(Absence::Impossible)).count();
    let corrected_title = format!("{}, corrected after {}", label_of.title, correction.name());
    let mut raw =
        label_of.sheet(subject(None), Form::Heatmap).note(meaning).note(turned).note(n.as_str());
    if edition == Edition::Published {
        raw = raw.note(
            "signs as published: most impossible triples of correlations got a p-value; where the \
             formula has none, the cell is NaN here and was drawn as empty",
        );
    }
    if impossible > 0 {
        raw = raw.note(format!(
            "{impossible} pairs have no p-value, because their three correlations cannot occur \
             together"
        ));
    }
    let corrected = label(format!("{id}-corrected"), corrected_title)
        .sheet(subject(Some(*correction)), Form::Heatmap)
        .note(meaning)
        .note(format!("corrected for the number of tests of this matrix; {n}"));
    let headed = |sheet: Sheet| sheet.column("metric", 0).p_columns(metrics, 3);
    let mut sheets = vec![fill(headed(raw), &p(false)), fill(headed(corrected), &p(true))];
    if matches!(counts, Cell::Text(_)) {
        let title = format!("Observations behind the tests for {criterion}, {level} level");
        let subject = Subject::TestCounts { criterion: criterion.clone(), level: *level };
        let sheet = label(format!("{id}-n"), title).sheet(subject, Form::Table);
        let sheet = sheet.column("metric", 0).columns(metrics, 0);
        sheets.push(fill(sheet, &|row, column| match row == column {
            true => Cell::from(""),
            false => {
                let at = crate::study::pair_index(row.min(column), row.max(column));
                Cell::from(pairs[at].n)
            }
        }));
    }
    sheets
}

/// What is counted at a level.
fn observations(level: Level) -> &'static str {
    match level {
        Level::Story => "items",
        Level::System => "systems",
        Level::Pooled => "stories",
    }
}

/// Weighted F1 of the verdicts of metrics and people; all metrics, or those at these positions.
pub(super) fn pairwise(
    label: Label,
    criteria: &[&storymeter_core::Key],
    found: &Pairwise,
    positions: Option<&[usize]>,
) -> Sheet {
    let all: Vec<usize> = (0..found.rows.len()).collect();
    let chosen = || positions.unwrap_or(&all).iter().map(|&at| &found.rows[at]);
    let pairs = count(chosen().flat_map(|row| row.n.iter().copied()));
    let used = match &pairs {
        Cell::Count(n) if *n as usize == found.pairs => String::new(),
        Cell::Count(n) => format!(", of which {n} have enough items to be compared"),
        other => format!(", of which {} have enough items to be compared", other.text()),
    };
    let mut sheet = label
        .sheet(Subject::Pairwise, Form::Heatmap)
        .column("metric", 0)
        .columns(criteria, 0)
        .column("Avg", 0)
        .note(match &found.method {
            Some(method) => format!(
                "{} pairs of systems{used}; a system is better than another if the corrected {} p \
                 of `compare` is at most {}, with {} resamples, seed {}",
                found.pairs,
                method.sides.name(),
                method.level(),
                found.draws,
                found.seed
            ),
            None => format!(
                "{} pairs of systems{used}; {} draws of the items per pair, of which the better \
                 system wins {}%, seed {}",
                found.pairs,
                found.draws,
                100.0 * found.confidence,
                found.seed
            ),
        })
        .note(match found.directed {
            true => "metrics where less is better are turned round first",
            false => "the direction of a metric is ignored, as published",
        });
    for row in chosen() {
        let mut cells = vec![Cell::from(&row.metric)];
        cells.extend(row.f1.iter().map(Cell::from));
        // The average of numbers of which one is absent has the same reason.
        let reason = row.f1.iter().find_map(|one| one.clone().err());
        let mean = average(Edition::Corrected, &row.f1);
        cells.push(mean.map_err(|other| reason.unwrap_or(other)).into());
        sheet.push(cells);
    }
    sheet
}

/// How often metrics order two stories as people do.
pub(super) fn pair_accuracy(label: Label, found: &[PairAccuracy]) -> Sheet {
    let within = match found.first().map(|one| one.level) {
        Some(Level::Story) => "pairs of stories for the same item",
        _ => "all pairs of stories",
    };
    let mut sheet = label
        .sheet(Subject::PairAccuracy, Form::Table)
        .columns(["metric", "criterion"], 0)
        .columns(["accuracy", "without calibration", "threshold"], 4)
        .column("pairs", 0)
        .note(format!(
            "{within}; scores that differ by at most the threshold count as equal (Deutsch, Foster \
             and Freitag 2023)"
        ));
    for one in found {
        sheet.push(vec![
            (&one.metric).into(),
            (&one.criterion).into(),
            (&one.accuracy).into(),
            (&one.uncalibrated).into(),
            (&one.threshold).into(),
            one.n.into(),
        ]);
    }
    sheet
}

/// What the correlations among the best systems are.
pub(super) fn top_systems_title(edition: Edition) -> &'static str {
    match edition {
        Edition::Published => "System-level |Spearman| among the k best systems",
        Edition::Corrected => {
            "System-level Spearman among the k best systems, turned by the metric's direction"
        }
    }
}

/// Correlations among the k best systems; all metrics, or those of these names.
pub(super) fn top_systems(
    label: Label,
    found: &TopSystems,
    chosen: &dyn Fn(&storymeter_core::Key) -> bool,
) -> Sheet {
    let mut sheet = label
        .sheet(Subject::TopSystems, Form::Lines)
        .columns(["criterion", "metric"], 0)
        .columns(found.k.iter().map(|k| format!("k={k}")), 3);
    for row in found.rows.iter().filter(|row| chosen(&row.metric)) {
        let mut cells = vec![Cell::from(&row.criterion), (&row.metric).into()];
        cells.extend(row.strength.iter().map(Cell::from));
        sheet.push(cells);
    }
    sheet
}
