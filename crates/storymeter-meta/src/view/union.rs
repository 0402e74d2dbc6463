//! The sheets of UNION's tables and figures, numbered as in the paper.

use super::correlations::{interval_cells, square};
use super::robustness::{
    SIGNIFICANT, biased_sets, by_error_type, edits, error_types, misjudged, starred,
    starred_columns, union_drift,
};
use super::tests::{matrices, test_title};
use super::{Cell, Form, Sheet, Subject, label, ratings};
use crate::study::{Agreement, Finding, IntervalMethod, Study};
use crate::union::names;

pub(super) fn sheets(study: &Study) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    let mut drifts = 0;
    for finding in &study.findings {
        match finding {
            Finding::ErrorTypes(found) => sheets.extend(table_2(found)),
            Finding::Agreements(found) => {
                sheets.push(table_5(study, found));
                sheets.push(intervals(study, found));
            }
            Finding::Tests(matrix) => {
                let coefficient = matrix.coefficient.author();
                let title = format!("{} between metrics ({coefficient})", test_title(matrix.test));
                let label = label(format!("table-5-{}", matrix.test.name()), title);
                sheets.extend(matrices(study.edition, matrix, label));
            }
            Finding::Between(between) => {
                let title = format!("{} correlation between metrics", between.coefficient);
                let label = label(format!("metrics-{}", between.coefficient), title);
                sheets.push(square(study, label, between, None));
            }
            Finding::Drift(found) => {
                drifts += 1;
                let id = match drifts {
                    1 => "table-6".to_owned(),
                    number => format!("table-6-{number}"),
                };
                sheets.push(union_drift(&id, found));
            }
            Finding::ByErrorType(found) => sheets.push(by_error_type("table-7", found)),
            Finding::BiasedSets(found) => {
                let made = biased_sets("figure-2", found).into_iter();
                sheets.extend(made.map(|sheet| match sheet.id == "figure-2" {
                    true => sheet.brief(),
                    false => sheet,
                }));
            }
            Finding::HumanScores(found) => sheets.push(ratings::human_scores("figure-3", found)),
            Finding::RaterAgreement(found) => sheets.extend(ratings::agreement("agreement", found)),
            Finding::Edits(found) => sheets.push(edits("appendix-d", found)),
            Finding::Misjudged(found) => sheets.push(misjudged("table-11", found)),
            _ => {}
        }
    }
    sheets
}

fn table_2(found: &crate::study::ErrorTypeShares) -> Vec<Sheet> {
    let note = "the paper says \"less than 0.15, p > 0.01\" about its ROC set; this holds over all \
                stories, and not over the unreasonable ones";
    let noted = |sheet: Sheet| match sheet.subject {
        Subject::ErrorTypeCorrelations => sheet.note(note),
        _ => sheet,
    };
    error_types("table-2", found).into_iter().map(noted).collect()
}

/// Every metric against the mean human score, with stars.
fn table_5(study: &Study, found: &[Agreement]) -> Sheet {
    let title = "Correlation with human judgments";
    let head = Sheet::new("table-5", Subject::Agreements, title, Form::Table)
        .brief()
        .columns(["class", "metric", "n"], 0);
    let mut sheet = starred_columns(head).note(format!("* p < {SIGNIFICANT}, two-sided"));
    for metric in &study.turned {
        sheet = sheet.note(format!("{metric} is negated, so that more is better"));
    }
    // The three coefficients of one metric stand together.
    for own in found.chunk_by(|a, b| a.metric == b.metric) {
        let metric = &own[0].metric;
        let class = names::class(metric.as_str());
        let mut row = vec![class.into(), Cell::from(metric), own[0].n.into()];
        starred(&mut row, &own.iter().collect::<Vec<_>>());
        sheet.push(row);
    }
    sheet
}

fn intervals(study: &Study, found: &[Agreement]) -> Sheet {
    let bootstrapped = study.signature.get("interval");
    let method = match bootstrapped {
        None => "Fisher's z",
        Some(name) if name == IntervalMethod::Percentile.name() => "percentile bootstrap",
        Some(_) => "BCa bootstrap",
    };
    let confidence = study.signature.get("confidence").and_then(|share| share.parse().ok());
    let percent = 100.0 * confidence.unwrap_or(0.95);
    let title = format!("{percent}% intervals of the correlations ({method})");
    let mut sheet = Sheet::new("table-5-intervals", Subject::Intervals, title, Form::Table)
        .columns(["metric", "coefficient"], 0)
        .columns(["value", "low", "high"], 4);
    for one in found {
        let mut row = vec![Cell::from(&one.metric), one.coefficient.name().into()];
        row.extend(interval_cells(&one.value));
        sheet.push(row);
    }
    sheet
}
