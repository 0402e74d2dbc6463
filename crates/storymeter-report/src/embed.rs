//! The numbers and texts that a page carries, reduced to what a browser can hold.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use storymeter_core::Role;
use storymeter_core::repeated::Repeated;
use storymeter_meta::Study;
use storymeter_meta::scatter::Scatter;
use storymeter_meta::view::{Cell, Head, Mark, Sheet};

use crate::figures::MEAN;
use crate::heat::Heat;
use crate::report::Report;
use crate::stories::StoryTable;

/// The most numbers of single stories on one page. Each takes about 8 bytes.
const MOST_NUMBERS: usize = 1_000_000;
/// The most bytes of story texts and prompts on one page.
const MOST_TEXT: usize = 3_000_000;
/// Longer stories are cut.
const LONGEST_TEXT: usize = 20_000;
/// The longest item that is shown, in bytes. An item can be a whole prompt.
const LONGEST_ITEM: usize = 80;
/// Significant digits of numbers on the page. The result files have all digits.
const DIGITS: usize = 6;

/// Gathers the data of a page, with tables that belong to no study, and the stories.
pub fn data(report: &Report<'_>, extra: &[Sheet], stories: Option<Value>) -> Value {
    let inputs = report.inputs();
    let runs: Vec<Value> = inputs
        .runs
        .iter()
        .map(|run| {
            let sheets: Vec<Value> =
                run.shown_sheets().map(|shown| sheet(shown, Some(&run.study))).collect();
            json!({"name": run.name, "sheets": sheets})
        })
        .collect();
    let colours = report.colours();
    let palette: Map<String, Value> =
        colours.names().iter().map(|name| (name.clone(), colours.get(name).into())).collect();
    let extra: Vec<Value> = extra.iter().map(|one| sheet(one, None)).collect();
    let highlight = inputs.highlight.as_ref().map(|key| key.as_str());
    json!({
        "runs": runs,
        "extra": extra,
        "stories": stories,
        "colours": palette,
        "highlight": highlight,
        "mean": MEAN,
    })
}

/// The stories of a page, and remarks on what was left out.
pub fn stories(report: &Report<'_>) -> (Option<Value>, Vec<String>) {
    let inputs = report.inputs();
    let Some(table) = inputs.stories() else { return (None, Vec::new()) };
    let sentence = |note: &Repeated| format!("{}.", note.to_string().trim_end_matches('.'));
    let mut notes: Vec<String> = Repeated::gathered(table.notes()).iter().map(sentence).collect();
    let mut stories = story_data(table, &mut notes);
    let own = inputs.highlight.as_ref().and_then(|key| table.column(key, Role::Metric));
    if let Some(metric) = own {
        stories["metric"] = metric.into();
    }
    (Some(stories), notes)
}

/// Whether the numbers under this head are p-values, which are never shown as zero.
pub fn is_p_value(head: &Head) -> bool {
    let name = head.name.as_str();
    head.p_values || name == "p" || ["p (", "p(", "p_"].iter().any(|start| name.starts_with(start))
}

fn sheet(sheet: &Sheet, study: Option<&Study>) -> Value {
    let rows: Vec<Value> = sheet.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let p_values: Vec<usize> =
        (0..sheet.columns.len()).filter(|&column| is_p_value(&sheet.columns[column])).collect();
    json!({
        "id": sheet.id,
        "title": sheet.title,
        "signature": sheet.signature,
        "notes": sheet.notes,
        "heat": study.and_then(|study| Heat::new(study, sheet)),
        "columns": sheet.columns.iter().map(|h| json!([h.name, h.decimals])).collect::<Vec<_>>(),
        "p": p_values,
        "marks": sheet.marks.iter().map(mark).collect::<Vec<_>>(),
        "rows": rows,
    })
}

/// A cell that stands out: row, column, whether it is bold, and what stands behind it.
fn mark(mark: &Mark) -> Value {
    json!([mark.row, mark.column, mark.bold, mark.suffix])
}

fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Number(value) => number(*value),
        Cell::Count(count) => (*count).into(),
        Cell::Text(text) => text.as_str().into(),
        Cell::Missing(absence) => json!({ "absent": absence.to_string() }),
    }
}

/// A number with few digits.
fn number(value: f64) -> Value {
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        (rounded as i64).into()
    } else {
        rounded.into()
    }
}

fn story_data(table: &StoryTable, notes: &mut Vec<String>) -> Value {
    let scores = table.scores();
    let most = (MOST_NUMBERS / scores.columns().len().max(1)).max(1);
    let stride = table.len().div_ceil(most).max(1);
    let kept: Vec<usize> = (0..table.len()).step_by(stride).collect();
    if stride > 1 {
        notes.push(format!(
            "This page has an even sample of {} of the {} stories; the summary, the tables and the \
             figures rest on all.",
            kept.len(),
            table.len()
        ));
    }
    let row = |&at: &usize| &scores.rows()[at];
    let system = |at| row(at).system.as_deref().unwrap_or_default();
    let (systems, system) = indexed(kept.iter().map(system));
    let (items, item) = indexed(kept.iter().map(|at| clip(&row(at).item, LONGEST_ITEM)));
    let columns: Vec<Value> =
        (0..scores.columns().len()).map(|c| column(table, c, &kept)).collect();
    let texts = texts(table, &kept, notes);
    let pair = table.default_pair();
    json!({
        "total": table.len(),
        "ids": kept.iter().map(|at| row(at).id.as_str()).collect::<Vec<_>>(),
        "systems": systems,
        "system": system,
        "items": items,
        "item": item,
        "columns": columns,
        "texts": texts,
        "metric": pair.map(|(metric, _)| metric),
        "criterion": pair.map(|(_, criterion)| criterion),
    })
}

/// One column of the kept stories. An absent value is `null`, and `absent` lists the rows of each
/// reason.
fn column(table: &StoryTable, column: usize, kept: &[usize]) -> Value {
    let (head, values) = (&table.scores().columns()[column], table.scores().values(column));
    let mut absent: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut numbers: Vec<Value> = Vec::with_capacity(kept.len());
    for (row, &at) in kept.iter().enumerate() {
        numbers.push(match &values[at] {
            Ok(value) => number(*value),
            Err(reason) => {
                absent.entry(reason.to_string()).or_default().push(row);
                Value::Null
            }
        });
    }
    json!({
        "name": head.key.as_str(),
        "human": head.role == Role::Human,
        "direction": head.direction,
        "values": numbers,
        "absent": absent.into_iter().collect::<Vec<_>>(),
    })
}

/// The distinct values and, for each row, the position of its value among them.
fn indexed<'a>(values: impl Iterator<Item = &'a str>) -> (Vec<&'a str>, Vec<usize>) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::new();
    let indices = values
        .map(|value| {
            *places.entry(value).or_insert_with(|| {
                names.push(value);
                names.len() - 1
            })
        })
        .collect();
    (names, indices)
}

/// The texts of as many stories as there is room for, by row.
///
/// Half of the room goes to the stories on which metric and people disagree most, and half to an
/// even sample of all.
fn texts(table: &StoryTable, kept: &[usize], notes: &mut Vec<String>) -> Value {
    let details = |row: usize| &table.details()[kept[row]];
    let known: Vec<usize> = (0..kept.len()).filter(|&row| details(row).text.is_some()).collect();
    let cost = |row: usize| {
        let length = |text: &Option<String>| text.as_ref().map_or(0, |t| t.len().min(LONGEST_TEXT));
        length(&details(row).text) + length(&details(row).prompt) + 40
    };
    let all: usize = known.iter().map(|&row| cost(row)).sum();
    let mut chosen = vec![false; kept.len()];
    if all <= MOST_TEXT {
        known.iter().for_each(|&row| chosen[row] = true);
    } else {
        let mut room = MOST_TEXT / 2;
        for row in by_disagreement(table, kept, &known) {
            if cost(row) > room {
                break;
            }
            room -= cost(row);
            chosen[row] = true;
        }
        let mean = (all / known.len()).max(1);
        let stride = (known.len() * mean).div_ceil(MOST_TEXT / 2).max(1);
        known.iter().step_by(stride).for_each(|&row| chosen[row] = true);
        let shown = chosen.iter().filter(|c| **c).count();
        notes.push(format!(
            "The texts of {shown} of {} stories are on this page: those with the worst \
             disagreements, and an even sample.",
            known.len()
        ));
    }
    let mut texts = Map::new();
    for row in known.into_iter().filter(|&row| chosen[row]) {
        let details = details(row);
        let text = details.text.as_deref().unwrap_or_default();
        let mut entry = json!({ "text": clip(text, LONGEST_TEXT) });
        if text.len() > LONGEST_TEXT {
            entry["cut"] = true.into();
        }
        if let Some(prompt) = &details.prompt {
            entry["prompt"] = clip(prompt, LONGEST_TEXT).into();
        }
        if let Some(explanation) = &details.explanation {
            entry["explanation"] = explanation.clone();
        }
        texts.insert(row.to_string(), entry);
    }
    texts.into()
}

/// The rows by how far metric and people disagree about them, the largest disagreement first. Rows
/// without one of the numbers come last.
fn by_disagreement(table: &StoryTable, kept: &[usize], known: &[usize]) -> Vec<usize> {
    let plot = |(metric, criterion)| Scatter::new(table.scores(), metric, criterion).ok();
    let Some(plot) = table.default_pair().and_then(plot) else { return known.to_vec() };
    let distances: HashMap<usize, f64> =
        plot.rows.iter().copied().zip(plot.disagreement()).collect();
    let distance = |row: usize| distances.get(&kept[row]).copied().unwrap_or(-1.0);
    let mut rows = known.to_vec();
    rows.sort_by(|&a, &b| distance(b).total_cmp(&distance(a)));
    rows
}

/// The beginning of a text, cut between characters.
fn clip(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!(number(0.123456789).to_string(), "0.123457");
        assert_eq!(number(3.0).to_string(), "3");
        assert_eq!(number(3e-321).as_f64(), Some(3e-321));
    }

    #[test]
    fn an_absent_number_keeps_its_reason() {
        let absent = cell(&Cell::missing(storymeter_core::Absence::Constant));
        assert_eq!(absent, json!({"absent": "a column is constant"}));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(clip("aé", 2), "a");
    }
}
