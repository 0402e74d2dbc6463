//! The result in words: what a reader should take away before looking at any figure.

use storymeter_meta::{Document, Sheet};

use crate::facets::{Facets, Kind};

/// A heading and the sentences under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Paragraph {
    pub heading: String,
    pub sentences: Vec<String>,
}

/// Differences below this are called significant.
const SIGNIFICANT: f64 = 0.05;
/// So many names are listed before "and others".
const NAMED: usize = 4;

/// What a result says.
pub fn of(document: &Document) -> Vec<Paragraph> {
    let mut paragraphs = Vec::new();
    let mut add = |heading: &str, sentences: Vec<String>| {
        if !sentences.is_empty() {
            paragraphs.push(Paragraph { heading: heading.into(), sentences });
        }
    };
    let entries = correlations(document);
    add("Best metrics", best_metrics(&entries));
    add("What differs significantly", differences(document, &entries));
    add("Systems", systems(document));
    add("Warnings", warnings(document));
    paragraphs
}

/// One metric's correlation with one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub metric: String,
    pub criterion: String,
    pub level: String,
    pub coefficient: String,
    pub value: f64,
    pub n: f64,
}

/// All correlations of a result between metrics and people.
pub fn correlations(document: &Document) -> Vec<Entry> {
    let columns = |sheet: &Sheet, names: &[&str]| -> Option<Vec<usize>> {
        names.iter().map(|name| sheet.columns.iter().position(|head| head.name == *name)).collect()
    };
    if let Some(sheet) = document.sheet("correlations") {
        let Some(at) =
            columns(sheet, &["metric", "criterion", "level", "coefficient", "value", "n"])
        else {
            return Vec::new();
        };
        let text = |row: &[storymeter_meta::Cell], c: usize| row[at[c]].text().to_owned();
        return sheet
            .rows
            .iter()
            .map(|row| Entry {
                metric: text(row, 0),
                criterion: text(row, 1),
                level: text(row, 2),
                coefficient: text(row, 3),
                value: row[at[4]].value(),
                n: row[at[5]].value(),
            })
            .collect();
    }
    // UNION's Table 5 has one criterion and one level.
    let Some(sheet) = document.sheet("table-5") else { return Vec::new() };
    let Some(at) = columns(sheet, &["metric", "n", "r", "rho", "tau"]) else { return Vec::new() };
    let one = |row: &Vec<storymeter_meta::Cell>| {
        [("pearson", 2), ("spearman", 3), ("kendall", 4)].map(|(coefficient, c)| Entry {
            metric: row[at[0]].text().into(),
            criterion: "human score".into(),
            level: "pooled".into(),
            coefficient: coefficient.into(),
            value: row[at[c]].value(),
            n: row[at[1]].value(),
        })
    };
    sheet.rows.iter().flat_map(one).collect()
}

/// Values in order of appearance, each once.
fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// The mean |Pearson| over the criteria, strongest first.
fn best_metrics(entries: &[Entry]) -> Vec<String> {
    let mut sentences = Vec::new();
    for level in distinct(entries.iter().map(|e| e.level.as_str())) {
        let here: Vec<&Entry> = entries
            .iter()
            .filter(|e| e.level == level && e.coefficient == "pearson" && e.value.is_finite())
            .collect();
        let criteria = distinct(here.iter().map(|e| e.criterion.as_str()));
        let mut means: Vec<(&str, f64)> = distinct(here.iter().map(|e| e.metric.as_str()))
            .into_iter()
            .map(|metric| {
                let own: Vec<f64> =
                    here.iter().filter(|e| e.metric == metric).map(|e| e.value.abs()).collect();
                (metric, own.iter().sum::<f64>() / own.len() as f64)
            })
            .collect();
        means.sort_by(|a, b| b.1.total_cmp(&a.1));
        let Some((best, value)) = means.first() else { continue };
        let over = match criteria.len() {
            1 => format!("with {}", criteria[0]),
            n => format!("over the {n} criteria"),
        };
        let next: Vec<String> =
            means[1..].iter().take(2).map(|(m, v)| format!("{m} ({v:.3})")).collect();
        let after = if next.is_empty() {
            String::new()
        } else {
            format!(", before {}", next.join(" and "))
        };
        sentences.push(format!(
            "{}: {best} has the highest mean |Pearson| {over}, {value:.3}{after}.",
            place(level)
        ));
    }
    sentences
}

fn place(level: &str) -> String {
    match level {
        "pooled" => "Over all stories in one pool".into(),
        level => format!("At {level} level"),
    }
}

/// For each Williams matrix, whom the strongest metric beats.
fn differences(document: &Document, entries: &[Entry]) -> Vec<String> {
    let mut sentences = Vec::new();
    for sheet in &document.sheets {
        let Some(Facets {
            kind: Kind::Williams,
            level: Some(level),
            criterion: Some(criterion),
            ..
        }) = Facets::of(sheet)
        else {
            continue;
        };
        let mut here: Vec<&Entry> = entries
            .iter()
            .filter(|e| {
                e.level == level
                    && e.criterion == criterion
                    && e.coefficient == "pearson"
                    && e.value.is_finite()
            })
            .collect();
        here.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
        // Those next in strength are named first.
        let Some((best, others)) = here.split_first() else { continue };
        let beats = |other: &str| sheet.value(&best.metric, other) < SIGNIFICANT;
        let (beaten, not): (Vec<&str>, Vec<&str>) =
            others.iter().map(|other| other.metric.as_str()).partition(|other| beats(other));
        let rest = match not.len() {
            0 => String::new(),
            n if n <= NAMED => format!(", but not than {}", not.join(", ")),
            n => format!(
                ", but not than {} and {} others",
                not[..NAMED - 1].join(", "),
                n + 1 - NAMED
            ),
        };
        sentences.push(format!(
            "{criterion}, {level} level: {} (r = {:.3}) is significantly stronger than {} of {} other metrics{rest}.",
            best.metric,
            best.value,
            beaten.len(),
            others.len()
        ));
    }
    if !sentences.is_empty() {
        sentences.push(
            "Williams' tests, one-sided, p < 0.05, each on its own: of twenty comparisons without any difference one \
             comes out so by chance."
                .into(),
        );
    }
    sentences
}

fn systems(document: &Document) -> Vec<String> {
    let averages = ["table-4", "systems"].iter().find_map(|id| document.sheet(id));
    let Some(sheet) = averages.filter(|s| s.columns.last().is_some_and(|h| h.name == "Average *"))
    else {
        return Vec::new();
    };
    let last = sheet.columns.len() - 1;
    let marked = |mark: &str| -> Vec<&[storymeter_meta::Cell]> {
        sheet.rows.iter().map(Vec::as_slice).filter(|row| row[last].text() == mark).collect()
    };
    let Some(best) = marked("*").first().copied() else { return Vec::new() };
    let near: Vec<&str> = marked("+").iter().map(|row| row[0].text()).collect();
    let rest = match near.len() {
        0 => "no other system lies inside its 95% interval".to_owned(),
        _ => format!("inside its 95% interval: {}", near.join(", ")),
    };
    let (mean, reach) = (best[last - 2].value(), best[last - 1].value());
    vec![format!("{} is rated best on average, {mean:.2} ± {reach:.2}; {rest}.", best[0].text())]
}

/// How many warnings of each kind, and what the kind means for the numbers.
fn warnings(document: &Document) -> Vec<String> {
    let kinds = distinct(document.warnings.iter().map(|w| w.kind.as_str()));
    kinds
        .into_iter()
        .map(|kind| {
            let own: Vec<_> = document.warnings.iter().filter(|w| w.kind == kind).collect();
            let subjects: Vec<&str> = own.iter().map(|w| w.subject.as_str()).take(3).collect();
            let more =
                if own.len() > 3 { format!(" and {} more", own.len() - 3) } else { String::new() };
            format!("{kind} ({}): {}{more}.", own.len(), subjects.join(", "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_meta::{Form, Warning};

    fn document() -> Document {
        let mut correlations = Sheet::new("correlations", "", Form::Table)
            .columns(["metric", "criterion", "level", "coefficient", "value", "n"], 4);
        for (metric, value) in [("good", -0.9), ("fair", 0.5), ("poor", 0.1)] {
            correlations.push(vec![
                metric.into(),
                "plot".into(),
                "system".into(),
                "pearson".into(),
                value.into(),
                10usize.into(),
            ]);
        }
        let mut williams = Sheet::new(
            "w",
            "Williams tests between metrics for plot, system-level Pearson",
            Form::Heatmap,
        )
        .columns(["metric", "good", "fair", "poor"], 3);
        williams.push(vec!["good".into(), "".into(), 0.2.into(), 0.01.into()]);
        Document {
            kind: "table".into(),
            signature: String::new(),
            warnings: vec![Warning::new("constant", "flat", "always 1")],
            sheets: vec![correlations, williams],
        }
    }

    #[test]
    fn the_summary_names_the_best_and_whom_it_beats() {
        let told = of(&document());
        let text: Vec<&str> =
            told.iter().flat_map(|p| p.sentences.iter().map(String::as_str)).collect();
        assert_eq!(
            text[0],
            "At system level: good has the highest mean |Pearson| with plot, 0.900, before fair (0.500) and poor (0.100)."
        );
        assert_eq!(
            text[1],
            "plot, system level: good (r = -0.900) is significantly stronger than 1 of 2 other metrics, but not than fair."
        );
        assert_eq!(text.last(), Some(&"constant (1): flat."));
    }
}
