//! What a user may add to a table: error types that raters named, and scores of the same metrics
//! trained elsewhere.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;
use storymeter_core::terminal::excerpt;
use storymeter_core::{Error as CoreError, Key, Place, Role, ScoreTable, file};
use storymeter_stats::Coefficient;

use crate::analysis::{ErrorTypes, agreement_of, associate};
use crate::error::{Error, Result};
use crate::grid::{Grid, check_numbers, file_of};
use crate::level::Level;
use crate::outcome::Gap;
use crate::study::{Agreement, Drift, DriftRow, Finding, Warning, WarningKind};

/// The largest file of error types that is read.
const MOST_BYTES: u64 = 1 << 30;
/// The most error types. Every two of them are correlated.
const MOST_TYPES: usize = 1000;

/// One line of a file of error types.
#[derive(Deserialize)]
struct Line {
    id: serde_json::Value,
    errors: Vec<Option<String>>,
}

/// Where each story of a grid stands.
fn positions(grid: &Grid) -> HashMap<&str, usize> {
    grid.cells().iter().map(|(id, cell)| (id.as_str(), *cell)).collect()
}

/// Error types from JSONL, `{"id", "errors": [type or null, one per rater]}`: UNION's Tables 2 and
/// 7 on a user's own stories.
pub(super) fn error_types(
    path: &Path,
    grid: &Grid,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Finding>> {
    let text = file::read_text(path, MOST_BYTES)?;
    let cells = positions(grid);
    let (mut names, mut named, mut stories): (Vec<String>, Vec<_>, Vec<usize>) = Default::default();
    let (mut strangers, mut seen) = (0, HashSet::new());
    let lines = text.trim_start_matches('\u{feff}').lines();
    for (number, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = Place::file(path).at_line(number as u64 + 1);
        let line: Line = serde_json::from_str(line)
            .map_err(|e| CoreError::invalid(place.clone(), e.to_string()))?;
        let id = line.id.as_str().map_or_else(|| line.id.to_string(), str::to_owned);
        let Some(&cell) = cells.get(id.as_str()) else {
            strangers += 1;
            continue;
        };
        if !seen.insert(cell) {
            return Err(
                CoreError::invalid(place, format!("duplicate id {}", excerpt(&id, 80))).into()
            );
        }
        let mut position = |name: String| {
            names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            })
        };
        named.push(line.errors.into_iter().map(|name| name.map(&mut position)).collect());
        stories.push(cell);
    }
    if stories.is_empty() {
        return Err(CoreError::invalid(Place::file(path), "none of its ids has scores").into());
    }
    if strangers > 0 {
        let message = format!("{strangers} stories have no scores and are left out");
        warnings.push(Warning::new(WarningKind::Missing, "errors", message));
    }
    let specific = names.len();
    if specific > MOST_TYPES {
        let (what, found, most) = ("error types", specific, MOST_TYPES);
        return Err(Error::TooLarge { file: Some(path.to_owned()), what, found, most });
    }
    let errors = ErrorTypes::new(names, specific, named);
    let pick = |column: usize| -> Vec<f64> {
        stories.iter().map(|&cell| grid.values(column)[cell]).collect()
    };
    let key = |column: usize| grid.columns()[column].key.clone();
    let metrics: Vec<(Key, Vec<f64>)> =
        grid.of_role(Role::Metric).into_iter().map(|m| (key(m), pick(m))).collect();
    let mut findings = vec![Finding::ErrorTypes(errors.shares()?)];
    for criterion in grid.of_role(Role::Human) {
        let table = errors.by_type(&key(criterion), &metrics, &pick(criterion))?;
        findings.push(Finding::ByErrorType(table));
    }
    Ok(findings)
}

/// UNION's Table 6 on a user's own stories: scores of metrics that were trained on other data,
/// beside those of the table.
pub(super) fn drift(drifted: &ScoreTable, grid: &Grid) -> Result<Drift> {
    check_numbers(drifted)?;
    let cells = positions(grid);
    let row_cell = |row: usize| cells.get(drifted.rows()[row].id.as_str()).copied();
    let joined = (0..drifted.rows().len()).filter(|&row| row_cell(row).is_some()).count();
    if joined == 0 {
        let file = file_of(drifted).unwrap_or_else(|| "the other scores".into());
        return Err(Error::NothingShared { file, other: "the table of scores".into() });
    }
    let size = grid.systems().len() * grid.items().len();
    let home = |key: &Key| {
        grid.of_role(Role::Metric).into_iter().find(|&metric| grid.columns()[metric].key == *key)
    };
    let mut rows = Vec::new();
    for column in drifted.of_role(Role::Metric) {
        let metric = &drifted.columns()[column].key;
        let mut scores = vec![f64::NAN; size];
        for (row, value) in drifted.values(column).iter().enumerate() {
            if let (Some(cell), Ok(value)) = (row_cell(row), value) {
                scores[cell] = *value;
            }
        }
        for criterion in grid.of_role(Role::Human) {
            let name = &grid.columns()[criterion].key;
            let human = grid.values(criterion);
            rows.push(DriftRow {
                metric: metric.clone(),
                criterion: name.clone(),
                drifted: three(metric, name, &scores, human)?,
                home: match home(metric) {
                    Some(home) => Ok(three(metric, name, grid.values(home), human)?),
                    None => Err(Gap::NoSuchMetric),
                },
            });
        }
    }
    let name =
        file_of(drifted).and_then(|file| Some(file.file_name()?.to_string_lossy().into_owned()));
    Ok(Drift {
        scores: name.unwrap_or_else(|| "other scores".into()),
        rated: "the table".into(),
        joined,
        stories: grid.stories(),
        rows,
    })
}

/// All three coefficients of a metric with a criterion over all stories.
pub(crate) fn three(
    metric: &Key,
    criterion: &Key,
    scores: &[f64],
    human: &[f64],
) -> Result<Vec<Agreement>> {
    let one = |coefficient: Coefficient| {
        let found = associate(coefficient, scores, human)?;
        Ok(agreement_of(found, metric, criterion, Level::Pooled, coefficient))
    };
    Coefficient::ALL.into_iter().map(one).collect()
}
