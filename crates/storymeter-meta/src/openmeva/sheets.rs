//! The tasks as tables.

use std::ops::Range;

use storymeter_core::Key;
use storymeter_stats::Coefficient;

use super::conclusion::{SIGNIFICANT, is_significant};
use super::tasks::{ByErrorType, HumanTasks, InsideGenerators, MetricAgreement, StorySet};
use crate::outcome::{Absence, Outcome};
use crate::study::Agreement;
use crate::view::{Cell, Form, Mark, Sheet, Subject, p_cell, unique_stems, value_cell};

impl HumanTasks {
    /// The tasks as tables, in the order of the paper. The last one has every number, one per row.
    pub fn sheets(&self) -> Vec<Sheet> {
        let mut sheets = vec![self.overall_sheet()];
        sheets.extend(self.by_error_type.iter().map(|one| self.error_sheet(one)));
        sheets.extend(self.inside_generators.iter().map(|one| self.generator_sheet(one)));
        sheets.push(self.dataset_sheet());
        sheets.push(self.flat_sheet());
        let ids = unique_stems(sheets.iter().map(|sheet| sheet.id.as_str()), &["index"]);
        for (sheet, id) in sheets.iter_mut().zip(ids) {
            sheet.signature = format!("{id}|{}", self.signature);
            sheet.id = id;
        }
        sheets
    }

    /// What is to be known about all tables.
    fn noted(&self, mut sheet: Sheet) -> Sheet {
        sheet = sheet.note(format!("* p < {SIGNIFICANT}, two-sided"));
        if !self.turned.is_empty() {
            sheet =
                sheet.note(format!("less is better, so it is turned: {}", listed(&self.turned)));
        }
        if !self.undirected.is_empty() {
            sheet = sheet.note(format!(
                "it is not known whether more is better, and it is taken to be: {}",
                listed(&self.undirected)
            ));
        }
        sheet
    }

    fn overall_sheet(&self) -> Sheet {
        let title = "Correlation with human scores over all stories";
        let mut sheet = Sheet::new("human-scores", Subject::Agreements, title, Form::Table)
            .brief()
            .columns(["dataset", "metric", "n"], 0)
            .columns(Coefficient::ALL, 4);
        for coefficient in Coefficient::ALL {
            sheet = sheet.p_column(format!("p_{coefficient}"));
        }
        sheet = self.noted(sheet);
        for facts in self.datasets.iter().filter(|facts| facts.rated < facts.stories) {
            let missing = facts.stories - facts.rated;
            sheet = sheet.note(format!(
                "{}: {missing} of {} stories have no human score",
                facts.name, facts.stories
            ));
        }
        for one in &self.overall {
            let begin = sheet.rows.len();
            for own in &one.metrics {
                let n = own.agreements.first().map_or(0, |one| one.n);
                let row = vec![Cell::from(&one.dataset), Cell::from(&own.metric), n.into()];
                push(&mut sheet, row, own.agreements.iter().map(Ok).collect(), true);
            }
            embolden(&mut sheet, begin, 3..3 + Coefficient::ALL.len());
        }
        sheet
    }

    fn error_sheet(&self, found: &ByErrorType) -> Sheet {
        let criterion = self.criterion(&found.dataset);
        let title = format!("Pearson correlation by error type on {}", found.dataset);
        let id = format!("error-types-{}", found.dataset);
        let subject = Subject::ByErrorType { criterion };
        let sheet = self.noted(Sheet::new(id, subject, title, Form::Table)).note(format!(
            "each set has the {} stories for which no rater names an error, and those for which at \
             least {} raters name the error type, or a majority where there are fewer; their \
             number is in parentheses",
            found.reasonable, found.raters_needed
        ));
        let sheet = match found.unknown {
            0 => sheet,
            unknown => sheet.note(format!(
                "{unknown} stories are in no set, because the data do not say whether they have \
                 errors"
            )),
        };
        self.sets(sheet, &found.dataset, "by error type", &found.sets)
    }

    fn generator_sheet(&self, found: &InsideGenerators) -> Sheet {
        let title = format!("Pearson correlation inside each generator on {}", found.dataset);
        let id = format!("generators-{}", found.dataset);
        let sheet = self
            .noted(Sheet::new(id, Subject::InsideGenerators, title, Form::Table))
            .note("the number of stories is in parentheses");
        let sheet = match found.unknown {
            0 => sheet,
            unknown => sheet.note(format!("{unknown} stories name no generator")),
        };
        self.sets(sheet, &found.dataset, "by generator", &found.sets)
    }

    /// One row per metric and one column per set, after the column of all stories.
    fn sets(
        &self,
        sheet: Sheet,
        dataset: &str,
        what: &str,
        sets: &Outcome<Vec<StorySet>>,
    ) -> Sheet {
        let overall = self.overall.iter().find(|one| one.dataset == dataset);
        let all: &[MetricAgreement] = overall.map_or(&[], |one| &one.metrics);
        let names = match sets {
            Ok(sets) => sets.iter().map(|set| format!("{} ({})", set.name, set.stories)).collect(),
            Err(_) => vec![what.to_owned()],
        };
        let stories = self.datasets.iter().find(|facts| facts.name == dataset);
        let stories = stories.map_or(0, |facts| facts.stories);
        let mut sheet = sheet
            .brief()
            .column("metric", 0)
            .column(format!("all ({stories})"), 4)
            .columns(&names, 4);
        for (at, own) in all.iter().enumerate() {
            let mut found: Found<'_> = vec![own.pearson().ok_or(Absence::NotComputed)];
            match sets {
                Ok(sets) => found.extend(sets.iter().map(|set| {
                    let own = set.metrics.get(at).and_then(MetricAgreement::pearson);
                    own.ok_or(Absence::NotComputed)
                })),
                Err(reason) => found.push(Err(reason.clone())),
            }
            push(&mut sheet, vec![Cell::from(&own.metric)], found, false);
        }
        embolden(&mut sheet, 0, 1..2 + names.len());
        sheet
    }

    fn dataset_sheet<'a>(&'a self) -> Sheet {
        let title = "Pearson correlation across datasets";
        let across = &self.across_datasets;
        let sheet = Sheet::new("datasets", Subject::AcrossDatasets, title, Form::Table);
        let sheet = if across.datasets.len() > 1 { sheet.brief() } else { sheet };
        let mut sheet = self.noted(sheet.column("metric", 0).columns(&across.datasets, 4));
        for row in &across.rows {
            let cell = |cell: &'a Outcome<Vec<Agreement>>| match cell {
                Ok(agreements) => pearson(agreements).ok_or(Absence::NotComputed),
                Err(reason) => Err(reason.clone()),
            };
            let found = row.cells.iter().map(cell).collect();
            push(&mut sheet, vec![Cell::from(&row.metric)], found, false);
        }
        embolden(&mut sheet, 0, 1..1 + across.datasets.len());
        sheet
    }

    /// Every coefficient of every task, one per row.
    fn flat_sheet(&self) -> Sheet {
        let title = "All correlations with human scores";
        let mut sheet = Sheet::new("all", Subject::Agreements, title, Form::Table)
            .columns(["task", "dataset", "set", "stories", "metric", "coefficient"], 0)
            .column("value", 4)
            .p_column("p")
            .columns(["n", "left out"], 0);
        for (one, facts) in self.overall.iter().zip(&self.datasets) {
            let all = StorySet {
                name: "all".to_owned(),
                stories: facts.stories,
                metrics: one.metrics.clone(),
            };
            flat(&mut sheet, "overall", &one.dataset, &all);
        }
        for one in &self.by_error_type {
            one.sets
                .iter()
                .flatten()
                .for_each(|set| flat(&mut sheet, "error type", &one.dataset, set));
        }
        for one in &self.inside_generators {
            one.sets
                .iter()
                .flatten()
                .for_each(|set| flat(&mut sheet, "generator", &one.dataset, set));
        }
        sheet
    }

    fn criterion(&self, dataset: &str) -> Key {
        let facts = self.datasets.iter().find(|facts| facts.name == dataset);
        facts.map_or_else(|| Key::new("human"), |facts| facts.criterion.clone())
    }
}

fn pearson(agreements: &[Agreement]) -> Option<&Agreement> {
    agreements.iter().find(|one| one.coefficient == Coefficient::Pearson)
}

fn flat(sheet: &mut Sheet, task: &str, dataset: &String, set: &StorySet) {
    for one in set.metrics.iter().flat_map(|own| &own.agreements) {
        let mut row = vec![task.into(), dataset.into(), Cell::from(&set.name), set.stories.into()];
        row.extend([Cell::from(&one.metric), one.coefficient.name().into()]);
        row.extend([value_cell(&one.value), p_cell(&one.value)]);
        row.extend([Cell::from(one.n), one.left_out.into()]);
        sheet.push(row);
    }
}

fn listed(keys: &[Key]) -> String {
    keys.iter().map(Key::as_str).collect::<Vec<_>>().join(", ")
}

/// Correlations of one row of a table, or the reasons why there are none.
type Found<'a> = Vec<Outcome<&'a Agreement>>;

/// Appends a row that goes on with correlations, which have stars, and with their p-values if they
/// are wanted.
fn push(sheet: &mut Sheet, mut row: Vec<Cell>, found: Found<'_>, p_values: bool) {
    let mut stars = Vec::new();
    for one in &found {
        let cell = match one {
            Ok(one) => value_cell(&one.value),
            Err(reason) => Cell::missing(reason),
        };
        let estimate = one.as_ref().ok().and_then(|one| one.value.as_ref().ok());
        if estimate.is_some_and(is_significant) {
            stars.push(row.len());
        }
        row.push(cell);
    }
    if p_values {
        row.extend(found.iter().map(|one| match one {
            Ok(one) => p_cell(&one.value),
            Err(reason) => Cell::missing(reason),
        }));
    }
    sheet.push(row);
    stars.into_iter().for_each(|column| sheet.mark(column, false, "*"));
}

/// Prints the largest number of each of these columns in bold, among the rows from `begin` on.
fn embolden(sheet: &mut Sheet, begin: usize, columns: Range<usize>) {
    if sheet.rows.len() - begin < 2 {
        return;
    }
    for column in columns {
        let value = |row: usize| sheet.rows[row][column].value();
        let present = (begin..sheet.rows.len()).filter(|&row| !value(row).is_nan());
        let Some(best) = present.max_by(|&a, &b| value(a).total_cmp(&value(b))) else { continue };
        match sheet.marks.iter_mut().find(|mark| (mark.row, mark.column) == (best, column)) {
            Some(mark) => mark.bold = true,
            None => {
                let (row, suffix) = (best, String::new());
                sheet.marks.push(Mark { row, column, bold: true, suffix });
            }
        }
    }
}
