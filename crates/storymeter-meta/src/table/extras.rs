//! What a user may add to a table: error types that raters named, and scores of the same metrics
//! trained elsewhere.

use std::path::Path;

use serde::Deserialize;
use storymeter_core::{Error as CoreError, Key, Place, Role, Row, ScoreTable, file};
use storymeter_stats::Coefficient;

use crate::analysis::{ErrorTypes, agreement_of, associate, with_item_p_value};
use crate::error::{Error, Result};
use crate::grid::{Grid, Names, check_numbers, file_of};
use crate::level::Level;
use crate::outcome::Absence;
use crate::study::{Agreement, Drift, DriftRow, Finding, Warning, WarningKind};

/// The largest file of error types that is read.
const MOST_BYTES: u64 = 1 << 30;
/// The most error types. Every two of them are correlated.
const MOST_TYPES: usize = 1000;

/// One line of a file of error types.
#[derive(Deserialize)]
struct Line {
    id: serde_json::Value,
    #[serde(default)]
    system: Option<String>,
    errors: Vec<Option<String>>,
}

/// A table of scores and its stories' places in a grid, to join other rows to by system and id.
#[derive(Clone, Copy)]
pub(super) struct Scored<'a> {
    pub table: &'a ScoreTable,
    /// The arrangement of the same table.
    pub grid: &'a Grid,
}

impl Scored<'_> {
    /// By row of another table: the cell of the same story.
    fn cells_of(&self, other: &ScoreTable) -> Result<Vec<Option<usize>>> {
        let cell = |row: usize| self.grid.cells()[row].1;
        Ok(self.table.matches(other)?.into_iter().map(|row| row.map(cell)).collect())
    }
}

/// Error types from JSONL, `{"id", "system", "errors": [type or null, one per rater]}`: UNION's
/// Tables 2 and 7 on a user's own stories. The system may be absent where ids are unique.
pub(super) fn error_types(
    path: &Path,
    scored: Scored<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Finding>> {
    let grid = scored.grid;
    let text = file::read_text(path, MOST_BYTES)?;
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    let lines = text.trim_start_matches('\u{feff}').lines();
    for (number, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = Place::file(path).at_line(number as u64 + 1);
        let line: Line = serde_json::from_str(line)
            .map_err(|e| CoreError::invalid(place.clone(), e.to_string()))?;
        let id = line.id.as_str().map_or_else(|| line.id.to_string(), str::to_owned);
        rows.push(Row { id, system: line.system, line: place.line, ..Row::default() });
        errors.push(line.errors);
    }
    let cells = scored.cells_of(&ScoreTable::new(rows).read_from(path))?;
    let mut types = Names::default();
    let (mut named, mut stories) = (Vec::new(), Vec::new());
    let mut strangers = 0;
    for (cell, errors) in cells.into_iter().zip(errors) {
        let Some(cell) = cell else {
            strangers += 1;
            continue;
        };
        let mut position = |name: Option<String>| Some(types.position(&name?));
        named.push(errors.into_iter().map(&mut position).collect());
        stories.push(cell);
    }
    if stories.is_empty() {
        return Err(CoreError::invalid(Place::file(path), "none of its ids has scores").into());
    }
    if strangers > 0 {
        let message = format!("{strangers} stories have no scores and are left out");
        warnings.push(Warning::new(WarningKind::Missing, "errors", message));
    }
    let specific = types.names.len();
    if specific > MOST_TYPES {
        let (what, found, most) = ("error types", specific, MOST_TYPES);
        return Err(Error::TooLarge { file: Some(path.to_owned()), what, found, most });
    }
    let errors = ErrorTypes::new(types.names, specific, named);
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
pub(super) fn drift(drifted: &ScoreTable, scored: Scored<'_>) -> Result<Drift> {
    let grid = scored.grid;
    check_numbers(drifted)?;
    let cells = scored.cells_of(drifted)?;
    let items = grid.item_of_cells();
    let joined = cells.iter().flatten().count();
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
        for (cell, value) in cells.iter().zip(drifted.values(column)) {
            if let (Some(cell), Ok(value)) = (cell, value) {
                scores[*cell] = *value;
            }
        }
        for criterion in grid.of_role(Role::Human) {
            let name = &grid.columns()[criterion].key;
            let human = grid.values(criterion);
            let home = home(metric).map(|home| grid.values(home));
            rows.push(drift_row(metric, (&scores, home), (name, human), items)?);
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

/// A metric that was trained on other data, and the same metric trained at home where there is one.
pub(crate) fn drift_row(
    metric: &Key,
    (drifted, home): (&[f64], Option<&[f64]>),
    human: (&Key, &[f64]),
    items: &[usize],
) -> Result<DriftRow> {
    Ok(DriftRow {
        metric: metric.clone(),
        criterion: human.0.clone(),
        drifted: three((metric, drifted), human, items)?,
        home: match home {
            Some(home) => Ok(three((metric, home), human, items)?),
            None => Err(Absence::NoSuchMetric),
        },
    })
}

/// All three coefficients of a metric with a criterion over all stories. The p-values allow for the
/// items of the stories, where these are given.
pub(crate) fn three(
    (metric, scores): (&Key, &[f64]),
    (criterion, human): (&Key, &[f64]),
    items: &[usize],
) -> Result<Vec<Agreement>> {
    let one = |coefficient: Coefficient| {
        let found = associate(coefficient, scores, human)?;
        let found = with_item_p_value(found, coefficient, (scores, human), items)?;
        Ok(agreement_of(found, metric, criterion, Level::Pooled, coefficient))
    };
    Coefficient::ALL.into_iter().map(one).collect()
}
