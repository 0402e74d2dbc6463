//! What changed between two runs, with significance where the data allow.

use std::collections::HashMap;

use storymeter_core::Role;
use storymeter_meta::{Cell, Form, Sheet};
use storymeter_stats::distribution::normal_sf;
use storymeter_stats::{pearson, williams};

use crate::inputs::Inputs;
use crate::stories::StoryTable;
use crate::summary::{Entry, correlations};

/// Changes are called significant below this.
const SIGNIFICANT: f64 = 0.05;
/// A change below this is none: last digits.
const NOTHING: f64 = 1e-9;

/// Every later run against the first: one sheet a pair, the largest changes first.
///
/// At system and pooled level the p-value is that of Fisher's z for independent samples, which is cautious where both
/// runs rest on the same stories. Where scores of both runs are given and share stories, Williams' test for
/// dependent correlations takes that into account; see [`same_stories`].
pub fn runs(inputs: &Inputs) -> Vec<Sheet> {
    let Some((first, later)) = inputs.runs.split_first() else { return Vec::new() };
    let before = correlations(&first.document);
    let one = |(at, run): (usize, &crate::Run)| {
        let id = format!("changes-{}", at + 1);
        let title = format!("What changed from {} to {}", first.name, run.name);
        changes(&before, &correlations(&run.document), Sheet::new(id, title, Form::Table))
    };
    later.iter().enumerate().map(one).collect()
}

type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

fn key(entry: &Entry) -> Key<'_> {
    (&entry.metric, &entry.criterion, &entry.level, &entry.coefficient)
}

fn changes(before: &[Entry], after: &[Entry], sheet: Sheet) -> Sheet {
    let known: HashMap<Key<'_>, &Entry> = before.iter().map(|entry| (key(entry), entry)).collect();
    let mut rows: Vec<(f64, Vec<Cell>)> = Vec::new();
    let (mut shared, mut significant, mut fresh) = (0, 0, 0);
    for new in after {
        let Some(old) = known.get(&key(new)) else {
            fresh += 1;
            continue;
        };
        shared += 1;
        let change = new.value - old.value;
        let same = change.abs() < NOTHING || (new.value.is_nan() && old.value.is_nan());
        if same {
            continue;
        }
        let p = fisher(old, new);
        significant += usize::from(p < SIGNIFICANT);
        let none = "not defined in one of the runs";
        let reason = match new.level.as_str() {
            "story" => "a mean of coefficients has no p-value of its own",
            _ => "too few observations",
        };
        let row = vec![
            new.metric.as_str().into(),
            new.criterion.as_str().into(),
            new.level.as_str().into(),
            new.coefficient.as_str().into(),
            Cell::number(old.value, none),
            Cell::number(new.value, none),
            Cell::number(change, none),
            Cell::number(p, reason),
        ];
        rows.push((change.abs(), row));
    }
    // NaN changes first: a number that appeared or vanished is the largest change there is.
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let gone = before.len() - shared.min(before.len());
    let mut sheet = sheet
        .columns(["metric", "criterion", "level", "coefficient"], 0)
        .columns(["before", "after", "change", "p (Fisher z)"], 4)
        .note(format!(
            "{} of {shared} shared correlations changed, {significant} of them significantly (p < {SIGNIFICANT}); {fresh} \
             are only in the later run, {gone} only in the first",
            rows.len()
        ))
        .note("p for independent samples: cautious where both runs rest on the same stories; none at story level");
    rows.into_iter().for_each(|(_, row)| sheet.push(row));
    sheet
}

/// Two-sided p-value of a difference between correlations of independent samples. The variances of the transformed
/// rank coefficients are those of Fieller, Hartley and Pearson (1957).
fn fisher(a: &Entry, b: &Entry) -> f64 {
    let variance = |n: f64| match a.coefficient.as_str() {
        "pearson" => 1.0 / (n - 3.0),
        "spearman" => 1.06 / (n - 3.0),
        _ => 0.437 / (n - 4.0),
    };
    if a.level == "story" || a.n < 5.0 || b.n < 5.0 {
        return f64::NAN;
    }
    let z = (a.value.atanh() - b.value.atanh()) / (variance(a.n) + variance(b.n)).sqrt();
    2.0 * normal_sf(z.abs())
}

/// Williams' test between the same metric in two score files, over the stories both have: did its correlation with
/// people change? Files after the second are compared with the first as well.
pub fn same_stories(inputs: &Inputs) -> Vec<Sheet> {
    let Some(((first_name, first), later)) = inputs.scores.split_first() else { return Vec::new() };
    let one = |(at, (name, table)): (usize, &(String, StoryTable))| {
        let mut sheet = Sheet::new(
            format!("same-stories-{}", at + 1),
            format!("The same stories scored twice: {first_name}, then {name}"),
            Form::Table,
        )
        .columns(["metric", "criterion"], 0)
        .columns(["stories"], 0)
        .columns(["before", "after", "change", "p (Williams)"], 4)
        .note("Pearson over all stories that both files have; two-sided test for dependent correlations");
        let places: HashMap<&str, usize> =
            table.ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
        let pairs: Vec<(usize, usize)> = first
            .ids
            .iter()
            .enumerate()
            .filter_map(|(i, id)| Some((i, *places.get(id.as_str())?)))
            .collect();
        // Ratings may have come with the stories.
        let people = &inputs.stories;
        for criterion in people.of_role(Role::Human) {
            for metric in first.of_role(Role::Metric) {
                let Some(again) = table.of_role(Role::Metric).find(|c| c.name == metric.name)
                else {
                    continue;
                };
                let rows: Vec<[f64; 3]> = pairs
                    .iter()
                    .map(|&(i, j)| [criterion.values[i], metric.values[i], again.values[j]])
                    .filter(|row| row.iter().all(|v| v.is_finite()))
                    .collect();
                if let Some(row) = williams_row(&rows, &metric.name, &criterion.name) {
                    sheet.push(row);
                }
            }
        }
        sheet
    };
    later.iter().enumerate().map(one).filter(|sheet| !sheet.rows.is_empty()).collect()
}

fn williams_row(rows: &[[f64; 3]], metric: &str, criterion: &str) -> Option<Vec<Cell>> {
    let column = |c: usize| rows.iter().map(|row| row[c]).collect::<Vec<f64>>();
    let (human, before, after) = (column(0), column(1), column(2));
    if before == after || rows.len() < 4 {
        return None;
    }
    let r = |x: &[f64], y: &[f64]| pearson(x, y).ok().map(|found| found.coefficient);
    let (old, new, between) = (r(&human, &before)?, r(&human, &after)?, r(&before, &after)?);
    let p = williams(new, old, between, rows.len()).map_or(f64::NAN, |test| test.p_two_sided);
    Some(vec![
        metric.into(),
        criterion.into(),
        rows.len().into(),
        Cell::number(old, "constant"),
        Cell::number(new, "constant"),
        Cell::number(new - old, "constant"),
        Cell::number(p, "the correlations cannot be tested"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(level: &str, value: f64) -> Entry {
        let text = |s: &str| s.to_owned();
        Entry {
            metric: text("m"),
            criterion: text("c"),
            level: text(level),
            coefficient: text("pearson"),
            value,
            n: 103.0,
        }
    }

    #[test]
    fn a_change_at_pooled_level_has_fishers_p_and_one_at_story_level_has_none() {
        let before = [entry("pooled", 0.3), entry("story", 0.3), entry("system", 0.2)];
        let after = [entry("pooled", 0.6), entry("story", 0.2), entry("system", 0.2)];
        let sheet = changes(&before, &after, Sheet::new("x", "", Form::Table));
        assert_eq!(sheet.rows.len(), 2, "what did not change is not listed");
        // scipy 1.17.1: 2 * norm.sf(abs(arctanh(.3) - arctanh(.6)) / sqrt(2 / 100)) = 0.006674623395023024
        let p = sheet.rows[0][7].value();
        assert!((p - 0.006674623395023024).abs() < 1e-12, "{p}");
        assert!(sheet.rows[1][7].value().is_nan());
        assert!(
            sheet.notes[0]
                .starts_with("2 of 3 shared correlations changed, 1 of them significantly")
        );
    }
}
