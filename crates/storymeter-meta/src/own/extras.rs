//! What a user may add to a table: error types named by raters, and scores of the same metrics trained elsewhere.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use storymeter_core::read::scored;
use storymeter_core::{Error as CoreError, Place, Role, ScoreTable};
use storymeter_stats::Coefficient;

use crate::correlations::{associate, columns_of};
use crate::error::Result;
use crate::error_types::ErrorTypes;
use crate::sheet::{Cell, Form, Sheet, Warning};

/// Stories of a table by id, each with its cell.
pub(super) type Cells = Vec<(String, usize)>;

#[derive(Deserialize)]
struct Line {
    id: serde_json::Value,
    errors: Vec<Option<String>>,
}

/// Error types from JSONL, `{"id", "errors": [type or null, one a rater]}`: UNION's Tables 2 and 7 on one's own stories.
pub(super) fn error_types(
    path: &Path,
    table: &ScoreTable,
    cells: &Cells,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Sheet>> {
    let text =
        fs::read_to_string(path).map_err(|source| CoreError::io(Place::file(path), source))?;
    let at: HashMap<&str, usize> = cells.iter().map(|(id, cell)| (id.as_str(), *cell)).collect();
    let (mut names, mut named, mut stories): (Vec<String>, Vec<_>, Vec<usize>) = Default::default();
    let (mut strangers, mut seen) = (0, HashSet::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = Place::file(path).at_line(number as u64 + 1);
        let line: Line = serde_json::from_str(line)
            .map_err(|e| CoreError::invalid(place.clone(), e.to_string()))?;
        let id = line.id.as_str().map_or_else(|| line.id.to_string(), str::to_owned);
        let Some(&cell) = at.get(id.as_str()) else {
            strangers += 1;
            continue;
        };
        if !seen.insert(cell) {
            return Err(CoreError::invalid(place, format!("id \"{id}\" was here before")).into());
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
        warnings.push(Warning::new("missing", "errors", message));
    }
    let specific = names.len();
    let errors = ErrorTypes::new(names, specific, named);
    let mut sheets = errors.shares("error-types")?;
    let pick = |column: usize| {
        stories.iter().map(|&cell| table.values(column)[cell]).collect::<Vec<f64>>()
    };
    let metrics: Vec<(&str, Vec<f64>)> = columns_of(table, Role::Metric)
        .into_iter()
        .map(|m| (table.columns()[m].name.as_str(), pick(m)))
        .collect();
    for criterion in columns_of(table, Role::Human) {
        let id = format!("error-types-{}", table.columns()[criterion].name);
        let scores = metrics.iter().map(|(name, values)| (*name, values.as_slice()));
        sheets.push(errors.by_type(&id, scores, &pick(criterion))?);
    }
    Ok(sheets)
}

/// UNION's Table 6 on one's own stories: scores of metrics trained on other data beside those of the table.
pub(super) fn drift(path: &Path, table: &ScoreTable, cells: &Cells) -> Result<Sheet> {
    let at: HashMap<&str, usize> = cells.iter().map(|(id, cell)| (id.as_str(), *cell)).collect();
    let size = table.systems().len() * table.items().len();
    let mut drifted: Vec<(String, Vec<f64>)> = Vec::new();
    let mut joined = 0;
    for record in scored(path)? {
        let Some(&cell) = at.get(record.id.as_str()) else { continue };
        joined += 1;
        for (metric, score) in record.scores {
            let column =
                drifted.iter().position(|(name, _)| *name == metric).unwrap_or_else(|| {
                    drifted.push((metric, vec![f64::NAN; size]));
                    drifted.len() - 1
                });
            drifted[column].1[cell] = score;
        }
    }
    if joined == 0 {
        return Err(
            CoreError::invalid(Place::file(path), "none of its ids is in the scores").into()
        );
    }
    let symbols = Coefficient::ALL.map(Coefficient::name);
    let mut sheet = Sheet::new(
        "dataset-drift",
        "Scores of metrics trained on other data, beside those at home",
        Form::Table,
    )
    .brief()
    .columns(["metric", "criterion", "n"], 0)
    .columns(symbols, 4)
    .columns(symbols.map(|symbol| format!("p_{symbol}")), 4)
    .columns(symbols.map(|symbol| format!("{symbol} at home")), 4)
    .note(format!(
        "all stories in one pool; {joined} of {} stories of the table have such scores",
        cells.len()
    ));
    for (metric, scores) in &drifted {
        let home = columns_of(table, Role::Metric)
            .into_iter()
            .find(|&m| table.columns()[m].name == *metric);
        for criterion in columns_of(table, Role::Human) {
            let human = table.values(criterion);
            let found: Vec<_> = Coefficient::ALL
                .iter()
                .map(|c| associate(*c, scores, human))
                .collect::<Result<_>>()?;
            let mut row = vec![
                Cell::from(metric),
                table.columns()[criterion].name.as_str().into(),
                found[0].n.into(),
            ];
            row.extend(found.iter().map(|one| Cell::number(one.value, &one.reason())));
            row.extend(found.iter().map(|one| Cell::number(one.p_value, &one.reason())));
            for coefficient in Coefficient::ALL {
                row.push(match home {
                    None => Cell::number(f64::NAN, "the table has no such metric"),
                    Some(home) => {
                        let one = associate(coefficient, table.values(home), human)?;
                        Cell::number(one.value, &one.reason())
                    }
                });
            }
            sheet.push(row);
        }
    }
    Ok(sheet)
}
