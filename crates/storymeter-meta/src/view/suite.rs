//! The result of a test suite as sheets.

use storymeter_core::{Aspect, AspectTest, Column, Direction};

use super::suite_words::reaction;
use super::{Cell, Form, Sheet, Subject, unique_stems};
use crate::outcome::{Absence, Outcome};
use crate::suite::{SuiteCell, SuiteResult};

/// All sheets of a suite: an overview where there are several metrics, then one table per metric.
///
/// Each table has one row per aspect, whose first cell is the name of the aspect. Aspects of
/// discrimination come first and those of invariance follow, because the two must be read together.
/// An aspect without pairs keeps its row, and the last column says why it has none.
pub fn suite_sheets(result: &SuiteResult) -> Vec<Sheet> {
    let keys = result.metrics.iter().map(|column| format!("suite-{}", column.key));
    let keys: Vec<String> = keys.collect();
    let ids = unique_stems(keys.iter().map(String::as_str), &[OVERVIEW, CELLS]);
    let mut sheets = Vec::new();
    if result.metrics.len() > 1 {
        sheets.push(overview(result));
    }
    let own = result.metrics.iter().zip(ids).map(|(column, id)| metric(result, column, id));
    sheets.extend(own);
    sheets
}

/// The id of the overview.
const OVERVIEW: &str = "suite";
/// The id of the table for programs.
const CELLS: &str = "result";

/// All numbers in one table, for programs: one row per metric and aspect, and the columns that
/// `result.json` has under the same names.
pub fn suite_cells(result: &SuiteResult) -> Sheet {
    let mut sheet = Sheet::new(CELLS, Subject::SuiteCells, "What metrics see", Form::Table)
        .columns(["metric", "aspect", "test", "pairs", "originals", "twins", "absent"], 0);
    for name in SuiteCell::NUMBERS {
        sheet = if name == "p_r" { sheet.p_column(name) } else { sheet.column(name, 6) };
    }
    for cell in &result.cells {
        let names = [cell.metric.as_str(), cell.aspect.name(), cell.test.name()];
        let counts = [cell.pairs, cell.originals, cell.twins, cell.absent];
        let mut row: Vec<Cell> = names.map(Cell::from).to_vec();
        row.extend(counts.map(Cell::from));
        row.extend(cell.numbers().map(Cell::from));
        sheet.push(row);
    }
    sheet.signature = result.signature.to_string();
    sheet
}

/// A column of numbers that a table may do without.
struct Numbers {
    name: &'static str,
    decimals: u8,
    value: fn(&SuiteCell) -> &Outcome<f64>,
    /// The whole column is left out if all its numbers are absent for this reason.
    unless: Option<Absence>,
}

const NUMBERS: [Numbers; 7] = [
    Numbers { name: "AUC", decimals: 3, value: |cell| &cell.auc, unless: None },
    Numbers { name: "shift", decimals: 3, value: |cell| &cell.shift, unless: None },
    Numbers { name: "low", decimals: 3, value: |cell| &cell.shift_low, unless: None },
    Numbers { name: "high", decimals: 3, value: |cell| &cell.shift_high, unless: None },
    Numbers {
        name: "right order",
        decimals: 3,
        value: |cell| &cell.right_order,
        unless: Some(Absence::NotPaired),
    },
    Numbers { name: "r", decimals: 3, value: |cell| &cell.r, unless: None },
    Numbers {
        name: "times typo",
        decimals: 2,
        value: |cell| &cell.times_typo,
        unless: Some(Absence::NoTypos),
    },
];

/// One metric.
fn metric(result: &SuiteResult, column: &Column, id: String) -> Sheet {
    let key = &column.key;
    let cells: Vec<&SuiteCell> = result.of_metric(key.as_str()).collect();
    let shown = |numbers: &&Numbers| {
        let Some(unless) = &numbers.unless else { return true };
        cells.iter().any(|cell| (numbers.value)(cell).as_ref().err() != Some(unless))
    };
    let numbers: Vec<&Numbers> = NUMBERS.iter().filter(shown).collect();
    let better = match column.direction {
        Direction::Higher => "higher is better",
        Direction::Lower => "lower is better",
        Direction::None => "more counts as better",
    };
    let title = format!("What {key} sees ({better})");
    let mut sheet = Sheet::new(id, Subject::SuiteMetric { key: key.clone() }, title, Form::Table)
        .columns(["aspect", "test", "pairs"], 0)
        .brief();
    for own in &numbers {
        sheet = sheet.column(own.name, own.decimals);
    }
    sheet = sheet.column("verdict", 0);
    for (aspect, reason) in result.outline() {
        let cell = cells.iter().find(|cell| cell.aspect == aspect);
        let mut row: Vec<Cell> = vec![aspect.name().into(), aspect.test().name().into()];
        match (reason, cell) {
            (None, Some(cell)) => {
                row.push(match cell.pairs {
                    0 => cell.size().into(),
                    pairs => pairs.into(),
                });
                row.extend(numbers.iter().map(|own| Cell::from((own.value)(cell))));
                row.push(
                    reaction(cell).map_or("".to_owned(), |reaction| reaction.to_string()).into(),
                );
            }
            (reason, _) => {
                row.push(0usize.into());
                row.extend(numbers.iter().map(|_| Cell::from("")));
                row.push(reason.unwrap_or_default().into());
            }
        }
        sheet.push(row);
    }
    sheet.notes = notes(result, numbers.iter().map(|own| own.name).collect());
    sheet.signature = match &column.signature {
        Some(own) => format!("{}\n  {own}", result.signature),
        None => result.signature.to_string(),
    };
    sheet
}

/// What the columns mean.
fn notes(result: &SuiteResult, shown: Vec<&str>) -> Vec<String> {
    let method = &result.method;
    let percent = (method.confidence * 1e8).round() / 1e6;
    let has = |name: &str| shown.contains(&name);
    let drawn = if has("right order") { "pairs" } else { "texts" };
    let mut notes = vec![format!(
        "AUC: the probability that an original scores above a twin, 0.5 is chance; shift: mean of \
         original less twin in standard deviations, with its {percent}% percentile bootstrap \
         interval over {drawn} ({} resamples); both are high where the metric prefers the original",
        method.resamples
    )];
    let mut others = Vec::new();
    if has("right order") {
        others.push("right order: the share of pairs in which the original scores higher");
    }
    others.push(
        "r: the correlation of the score with the label, 1 for originals and 0 for twins (its \
         p-value in the files takes all texts for independent)",
    );
    if has("times typo") {
        others.push("times typo: the shift divided by the absolute shift that typos cause");
    }
    notes.push(others.join("; "));
    if !has("times typo") {
        notes.push("there are no pairs with typos to compare the shifts with".to_owned());
    }
    if method.compat {
        notes.push(
            "compat: OpenMEVA's reading, in which originals and twins are two samples and not \
             pairs; for repetition the originals are all those of the suite"
                .to_owned(),
        );
    }
    notes
}

/// All metrics side by side, and the constant metric as the last column.
fn overview(result: &SuiteResult) -> Sheet {
    let title = "What metrics see and what disturbs them";
    let mut sheet = Sheet::new(OVERVIEW, Subject::SuiteOverview, title, Form::Table)
        .columns(["aspect", "number"], 0)
        .brief();
    for column in &result.metrics {
        sheet = sheet.column(&column.key, 2);
    }
    sheet = sheet.column("constant", 2);
    let mut absent = Vec::new();
    for (aspect, reason) in result.outline() {
        let name = if aspect.test() == AspectTest::Discrimination { "AUC" } else { "shift" };
        let mut row: Vec<Cell> = vec![aspect.name().into(), name.into()];
        match reason {
            None => row.extend(side_by_side(result, aspect)),
            Some(reason) => {
                row.resize(sheet.columns.len(), "".into());
                absent.push(format!("{aspect}: {reason}"));
            }
        }
        sheet.push(row);
    }
    sheet = sheet.note(
        "AUC of the aspects of discrimination, where 1 is best and 0.5 is blind; shift in standard \
         deviations of the aspects of invariance, where 0 is best; constant: a metric that gives \
         all texts the same score",
    );
    sheet.notes.extend(absent);
    sheet.signature = result.signature.to_string();
    sheet
}

/// The number of each metric on one aspect, and of the constant metric.
fn side_by_side(result: &SuiteResult, aspect: Aspect) -> impl Iterator<Item = Cell> {
    let number = |cell: Option<&SuiteCell>| match cell {
        Some(cell) if cell.test == AspectTest::Discrimination => Cell::from(&cell.auc),
        Some(cell) => Cell::from(&cell.shift),
        None => Cell::missing(Absence::Empty),
    };
    let metrics = result.metrics.iter();
    let metrics = metrics.map(move |column| result.cell(column.key.as_str(), aspect));
    let constant = result.constant.iter().find(|cell| cell.aspect == aspect);
    metrics.chain([constant]).map(number)
}
