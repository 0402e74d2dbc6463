//! The figures as text.

use std::fmt::Write;

use storymeter::union::{Agreement, Estimate};

use super::cross_validation::BEST;
use super::{CrossValidation, LeftOut, Level, MODEL, Nearness, Packed, Report, SystemMean};

/// The widths of a figure with its interval, and of the name of a criterion.
const FIGURE: usize = 22;
const NAME: usize = 13;

/// The whole report as text.
pub fn page(report: &Report) -> String {
    let mut text = String::new();
    if let Some(found) = &report.cross_validation {
        prompts(&mut text, found);
        nearness(&mut text, &found.nearness);
    }
    if let Some(found) = &report.left_out {
        sets(&mut text, found);
    }
    if let Some(found) = &report.packed {
        model(&mut text, found);
    }
    text.push_str("About these figures\n");
    for note in &report.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

fn shown(x: Estimate) -> String {
    if x.value.is_nan() {
        return "undefined".to_owned();
    }
    format!("{:.3} [{:.3}, {:.3}]", x.value, x.low, x.high)
}

/// Takes a coefficient from a row.
type Taken = fn(&Agreement) -> Estimate;

/// The coefficients of a row, Spearman first.
const COEFFICIENTS: [(&str, Taken); 3] = [
    ("Spearman", |row| row.spearman),
    ("Pearson", |row| row.pearson),
    ("Kendall", |row| row.kendall),
];

fn prompts(text: &mut String, found: &CrossValidation) {
    let _ = writeln!(
        text,
        "HANNA, {} machine-written stories, cross-validated over {} prompts\n",
        found.stories, found.prompts
    );
    for level in Level::ALL {
        let rows: Vec<&Agreement> =
            found.rows.iter().filter(|row| row.level == level.name()).collect();
        for (coefficient, value) in COEFFICIENTS {
            let _ = writeln!(text, "{coefficient}, {}: {}", level.name(), level.meaning());
            matrix(text, &rows, value);
        }
        let best = rows.iter().filter_map(|row| {
            row.metric.strip_prefix(BEST).map(|metric| format!("{} {metric}", row.criterion))
        });
        let _ = writeln!(text, "best of 72: {}\n", best.collect::<Vec<_>>().join(", "));
    }
}

/// One line per criterion and one column per metric.
fn matrix(text: &mut String, rows: &[&Agreement], value: Taken) {
    let mut lines = rows.chunk_by(|a, b| a.criterion == b.criterion).peekable();
    let heading = |row: &&Agreement| {
        let name =
            if row.metric.starts_with(BEST) { BEST.trim_end_matches(": ") } else { &row.metric };
        format!("{name:<FIGURE$}")
    };
    let names = lines.peek().map(|line| line.iter().map(heading).collect::<Vec<_>>());
    let _ = writeln!(text, "{:<NAME$} {}", "", names.unwrap_or_default().join(" ").trim_end());
    for line in lines {
        let figures: Vec<String> =
            line.iter().map(|row| format!("{:<FIGURE$}", shown(value(row)))).collect();
        let _ = writeln!(text, "{:<NAME$} {}", line[0].criterion, figures.join(" ").trim_end());
    }
    text.push('\n');
}

fn sets(text: &mut String, found: &LeftOut) {
    const SET: usize = 38;
    let count = found.differences.len();
    let _ = writeln!(text, "Unseen sets: `overall` against the mean rating, Spearman, pooled");
    let names: Vec<String> =
        found.means.iter().map(|(metric, _)| format!("{metric:<FIGURE$}")).collect();
    let _ = writeln!(text, "{:<SET$} {:>4}  {} difference", "", "n", names.join(" "));
    let mut line = |name: &str, n: &str, figures: Vec<Estimate>| {
        let figures: Vec<String> =
            figures.into_iter().map(|x| format!("{:<FIGURE$}", shown(x))).collect();
        let _ = writeln!(text, "{name:<SET$} {n:>4}  {}", figures.join(" ").trim_end());
    };
    for (rows, difference) in found.rows.chunk_by(|a, b| a.set == b.set).zip(&found.differences) {
        let own = rows.iter().map(|row| row.spearman).chain([difference.difference]);
        line(&difference.set, &rows[0].n.to_string(), own.collect());
    }
    let means = found.means.iter().map(|(_, mean)| *mean).chain([found.mean_difference]);
    line("mean over the sets", "", means.collect());
    let union = found.means.get(1).map_or("", |(metric, _)| metric);
    let _ = writeln!(text, "\n{MODEL} is above {union} on {} of {count} sets", found.above);
    if !found.missing.is_empty() {
        let _ = writeln!(text, "no predictions for: {}", found.missing.join(", "));
    }
    text.push('\n');
}

/// How near predicted ratings are to those of the readers.
fn nearness(text: &mut String, found: &[Nearness]) {
    text.push_str("Predicted ratings of the same stories, on HANNA's scale\n");
    let _ = writeln!(
        text,
        "{:<NAME$} {:<FIGURE$} {:<10} mean distance to the rating",
        "", "in the 80% interval", "its width"
    );
    for row in found {
        let (coverage, distance) = (shown(row.coverage), shown(row.distance));
        let _ = writeln!(
            text,
            "{:<NAME$} {coverage:<FIGURE$} {:<10.2} {distance}",
            row.criterion, row.width
        );
    }
    text.push_str("\nMean predicted / mean rating of each system, unseen prompts\n");
    let columns: Vec<(&str, &[SystemMean])> =
        found.iter().map(|row| (row.criterion.as_str(), row.systems.as_slice())).collect();
    systems(text, &columns);
}

/// One line per system and one column per criterion.
fn systems(text: &mut String, columns: &[(&str, &[SystemMean])]) {
    const SYSTEM: usize = 16;
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("{name:<12}")).collect();
    let _ = writeln!(text, "{:<SYSTEM$} {}", "", names.join(" ").trim_end());
    let count = columns.first().map_or(0, |(_, means)| means.len());
    for at in 0..count {
        let means: Vec<String> = columns
            .iter()
            .map(|(_, means)| format!("{:.2} / {:.2}", means[at].predicted, means[at].rated))
            .map(|both| format!("{both:<12}"))
            .collect();
        let system = &columns[0].1[at].system;
        let _ = writeln!(text, "{system:<SYSTEM$} {}", means.join(" ").trim_end());
    }
    text.push('\n');
}

fn model(text: &mut String, found: &Packed) {
    let _ = writeln!(text, "{}\n", found.signature);
    text.push_str(
        "Spearman's correlation of its predictions with those for the same stories, written \
         differently\n",
    );
    for rows in found.robustness.chunk_by(|a, b| (&a.set, &a.variant) == (&b.set, &b.variant)) {
        let figures: Vec<String> =
            rows.iter().map(|row| format!("{} {:.3}", row.criterion, row.spearman)).collect();
        let (set, variant) = (&rows[0].set, &rows[0].variant);
        let _ = writeln!(text, "{set:<24} {variant:<16} {}", figures.join("  "));
    }
    if let Some(least) = found.least_robust() {
        let _ = writeln!(
            text,
            "the lowest: {:.3} ({}, {}, {})",
            least.spearman, least.criterion, least.variant, least.set
        );
    }
    text.push_str(
        "\nMean predicted / mean rating of each system of HANNA, on which it was trained\n",
    );
    let columns: Vec<(&str, &[SystemMean])> =
        found.systems.iter().map(|(name, means)| (name.as_str(), means.as_slice())).collect();
    systems(text, &columns);
}
