//! The numbers and texts a page carries, cut down to what a browser can hold.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use storymeter_core::Role;
use storymeter_meta::{Cell, Sheet};

use crate::facets::Facets;
use crate::figures::SystemColours;
use crate::inputs::Inputs;
use crate::stories::StoryTable;

/// Numbers of stories on one page; about 8 bytes each.
const MOST_NUMBERS: usize = 1_000_000;
/// Bytes of story texts and prompts on one page.
const MOST_TEXT: usize = 3_000_000;
/// A longer story is cut: nobody reads a novel in a report.
const LONGEST_TEXT: usize = 20_000;
/// Significant digits on the page; the files have all.
const DIGITS: usize = 6;

/// Everything the page's script needs, and what the reader must be told was left out.
pub struct Data {
    pub json: Value,
    pub notes: Vec<String>,
}

/// Builds it. `extra` are sheets of the report itself (comparisons).
pub fn data(inputs: &Inputs, extra: &[Sheet], colours: &SystemColours) -> Data {
    let runs: Vec<Value> = inputs
        .runs
        .iter()
        .map(|run| {
            let sheets: Vec<Value> =
                run.document.sheets.iter().filter(|s| is_shown(s)).map(sheet).collect();
            json!({"name": run.name, "kind": run.document.kind, "sheets": sheets})
        })
        .collect();
    let mut notes = Vec::new();
    let stories = stories(&inputs.stories, &mut notes);
    let palette: Map<String, Value> =
        colours.names().iter().map(|name| (name.clone(), colours.get(name).into())).collect();
    let extra: Vec<Value> = extra.iter().map(sheet).collect();
    Data {
        json: json!({"runs": runs, "extra": extra, "stories": stories, "colours": palette}),
        notes,
    }
}

/// Ranking files repeat the table of all correlations, outlines are drawn already.
pub fn is_shown(sheet: &Sheet) -> bool {
    !sheet.id.starts_with("rankings_") && !sheet.id.ends_with("-density")
}

fn sheet(sheet: &Sheet) -> Value {
    let rows: Vec<Value> = sheet.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    json!({
        "id": sheet.id,
        "title": sheet.title,
        "form": sheet.form,
        "signature": sheet.signature,
        "notes": sheet.notes,
        "facets": Facets::of(sheet),
        "columns": sheet.columns.iter().map(|h| json!([h.name, h.decimals])).collect::<Vec<_>>(),
        "rows": rows,
    })
}

fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Number(value) => number(*value),
        Cell::Count(count) => (*count).into(),
        Cell::Text(text) => text.as_str().into(),
        Cell::Missing { nan } => json!({ "nan": nan }),
    }
}

/// A number of few digits, `null` where it is none.
fn number(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        (rounded as i64).into()
    } else {
        rounded.into()
    }
}

fn stories(table: &StoryTable, notes: &mut Vec<String>) -> Value {
    let width = table.columns.len().max(1);
    let most = (MOST_NUMBERS / width).max(1);
    let stride = table.len().div_ceil(most).max(1);
    let kept: Vec<usize> = (0..table.len()).step_by(stride).collect();
    if stride > 1 {
        notes.push(format!(
            "{} of {} stories are on this page, every {stride}th; the summary, the tables and the figures rest on all.",
            kept.len(),
            table.len()
        ));
    }
    let (systems, system) = indexed(kept.iter().map(|&at| table.systems[at].as_str()));
    let (items, item) = indexed(kept.iter().map(|&at| clip(&table.items[at], 80)));
    let columns: Vec<Value> = table
        .columns
        .iter()
        .map(|column| {
            let values: Vec<Value> = kept.iter().map(|&at| number(column.values[at])).collect();
            json!({"name": column.name, "human": column.role == Role::Human, "values": values})
        })
        .collect();
    let texts = texts(table, &kept, notes);
    let pair = table.strongest_pair();
    json!({
        "total": table.len(),
        "ids": kept.iter().map(|&at| table.ids[at].as_str()).collect::<Vec<_>>(),
        "systems": systems,
        "system": system,
        "items": items,
        "item": item,
        "columns": columns,
        "texts": texts,
        "metric": pair.map(|p| p.0),
        "criterion": pair.map(|p| p.1),
    })
}

/// The distinct values and, for each row, which it has.
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

/// Texts of as many stories as fit, by position: half the room for those on which metric and people disagree most,
/// half for an even sample of the others.
fn texts(table: &StoryTable, kept: &[usize], notes: &mut Vec<String>) -> Value {
    let known: Vec<usize> =
        (0..kept.len()).filter(|&row| table.texts[kept[row]].is_some()).collect();
    let cost = |row: usize| {
        let at = kept[row];
        let length = |text: &Option<String>| text.as_ref().map_or(0, |t| t.len().min(LONGEST_TEXT));
        length(&table.texts[at]) + length(&table.prompts[at]) + 40
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
            "The texts of {shown} of {} stories are on this page: those with the worst disagreements and an even sample.",
            known.len()
        ));
    }
    let mut texts = Map::new();
    for row in known.into_iter().filter(|&row| chosen[row]) {
        let at = kept[row];
        let text = table.texts[at].as_deref().unwrap_or_default();
        let mut entry = json!({ "text": clip(text, LONGEST_TEXT) });
        if text.len() > LONGEST_TEXT {
            entry["cut"] = true.into();
        }
        if let Some(prompt) = &table.prompts[at] {
            entry["prompt"] = clip(prompt, LONGEST_TEXT).into();
        }
        if let Some(explanation) = &table.explanations[at] {
            entry["explanation"] = explanation.clone();
        }
        texts.insert(row.to_string(), entry);
    }
    texts.into()
}

/// Rows by the distance between their rank under the default metric and under the default criterion.
fn by_disagreement(table: &StoryTable, kept: &[usize], known: &[usize]) -> Vec<usize> {
    let Some((metric, criterion)) = table.strongest_pair() else { return known.to_vec() };
    let backwards = table
        .correlation(metric, criterion, storymeter_stats::Coefficient::Pearson)
        .is_some_and(|r| r < 0.0);
    let ranks = |column: usize| {
        let values = &table.columns[column].values;
        let mut order: Vec<usize> = known.to_vec();
        order.sort_by(|&a, &b| values[kept[a]].total_cmp(&values[kept[b]]));
        let mut ranks = vec![0.0; kept.len()];
        order.iter().enumerate().for_each(|(rank, &row)| ranks[row] = rank as f64);
        ranks
    };
    let (scored, human) = (ranks(metric), ranks(criterion));
    let last = known.len() as f64 - 1.0;
    let distance = |row: &usize| {
        let scored = if backwards { last - scored[*row] } else { scored[*row] };
        (scored - human[*row]).abs()
    };
    let mut rows = known.to_vec();
    rows.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    rows
}

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
    fn numbers_keep_six_digits_and_nan_is_null() {
        assert_eq!(number(0.123456789).to_string(), "0.123457");
        assert_eq!(number(3.0).to_string(), "3");
        assert_eq!(number(f64::NAN), Value::Null);
        assert_eq!(number(3e-321).as_f64(), Some(3e-321));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(clip("aé", 2), "a");
    }
}
