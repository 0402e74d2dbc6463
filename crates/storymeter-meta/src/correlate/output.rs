//! The result of a correlation as JSON and as sheets.

use serde_json::{Map, Value, json};
use storymeter_core::Key;
use storymeter_core::terminal::plain;
use storymeter_stats::Coefficient;

use super::{Correlated, Row};
use crate::study::{Agreement, Sides, Turn};
use crate::systems::verdict::ColumnTrust;
use crate::view::{
    Cell, Form, INDEPENDENT, Sheet, Subject, TrustWords, interval_cells, p_cell, resampled,
    test_title, value_cell,
};

/// The column of the sheet of correlations in which the coefficients begin.
const FIRST_COEFFICIENT: usize = 4;

/// The key of the tests between sources. The name of a source never has a `=` in it.
const TESTS: &str = "=tests";

impl Correlated {
    /// One JSON object: `{"NAME": {"n", "pearson", ..., "p_pearson", ..., "interval_pearson",
    /// ...}}`.
    ///
    /// Where several stories are of one item, a source also has `"items"`, their number, and
    /// `"resampled": "items"`: its p-values and intervals rest on whole items.
    ///
    /// With two sources and more, the key `=tests` lists a test between every two of them.
    pub fn to_json(&self) -> Value {
        let mut all = Map::new();
        for row in &self.rows {
            all.insert(row.name.clone(), row_json(row));
        }
        if !self.tests.is_empty() {
            all.insert(TESTS.into(), self.tests_json());
        }
        Value::Object(all)
    }

    fn tests_json(&self) -> Value {
        let test = |test: &super::PairTest| {
            let p = test.comparison.p_value.clone();
            let mut one = json!({
                "first": test.first,
                "second": test.second,
                "coefficient": test.coefficient.name(),
                "test": self.test.name(),
                "sides": self.sides,
                "n": test.comparison.n,
                "stronger": test.stronger(),
                "p": p.as_ref().ok().map(|p| p.raw),
                "p_corrected": p.as_ref().ok().map(|p| p.corrected),
                "correction": self.correction.name(),
            });
            if let (Err(reason), Some(object)) = (p, one.as_object_mut()) {
                object.insert("reason".into(), json!(reason.to_string()));
            }
            one
        };
        Value::Array(self.tests.iter().map(test).collect())
    }

    /// The correlations, their intervals, and the tests between sources.
    pub fn sheets(&self) -> Vec<Sheet> {
        let mut sheets = vec![self.correlations(), self.intervals()];
        if !self.tests.is_empty() {
            sheets.push(self.test_sheet());
        }
        sheets
    }

    /// How far the sources can be trusted that are trained metrics, under the names that they go by
    /// here.
    pub fn trust(&self) -> TrustWords {
        let known = self
            .rows
            .iter()
            .filter_map(|row| Some((Key::new(row.name.as_str()), row.trust.as_ref()?)));
        let known: Vec<(Key, &ColumnTrust)> = known.collect();
        TrustWords::new(known.iter().map(|(name, trust)| (name, *trust)))
    }

    /// All correlations in one table, for programs: one row per source and coefficient.
    pub fn flat_sheet(&self) -> Sheet {
        let mut sheet = Sheet::new("correlate", Subject::Agreements, "Correlations", Form::Table)
            .columns(["scores", "criterion", "coefficient", "n"], 0)
            .columns(["value", "low", "high"], 6)
            .p_columns(["p"], 6)
            .columns(["without_score", "without_human"], 0);
        for row in &self.rows {
            for one in &row.agreements {
                let mut cells: Vec<Cell> = vec![
                    (&row.name).into(),
                    (&self.criterion).into(),
                    one.coefficient.name().into(),
                    one.n.into(),
                ];
                cells.extend(interval_cells(&one.value));
                cells.push(p_cell(&one.value));
                cells.extend([Cell::from(row.without_score), row.without_human.into()]);
                sheet.push(cells);
            }
        }
        sheet
    }

    fn correlations(&self) -> Sheet {
        let mut title = format!("Correlation with \"{}\"", self.criterion);
        if let Some(file) = &self.file {
            title += &format!(" of {}", file.display());
        }
        let mut sheet = Sheet::new("correlate", Subject::Agreements, title, Form::Table)
            .columns(["scores", "n", "without score", "without human"], 0)
            .columns(["pearson", "spearman", "kendall"], 4)
            .p_columns(["p_pearson", "p_spearman", "p_kendall"], 4);
        for row in &self.rows {
            let mut cells = vec![Cell::from(&row.name), row.agreements[0].n.into()];
            cells.extend([Cell::from(row.without_score), row.without_human.into()]);
            cells.extend(row.agreements.iter().map(|one| value_cell(&one.value)));
            cells.extend(row.agreements.iter().map(|one| p_cell(&one.value)));
            sheet.push(cells);
            for (at, agreement) in row.agreements.iter().enumerate() {
                if self.is_highest(at, row.turn, agreement) {
                    sheet.mark(FIRST_COEFFICIENT + at, true, "");
                }
            }
        }
        if let Some(note) = self.resampled() {
            sheet = sheet.note(note);
        }
        let signatures: Vec<String> =
            self.rows.iter().map(|row| plain(&row.signature.to_string()).into_owned()).collect();
        sheet.signature = signatures.join("\n  ");
        sheet
    }

    /// Whether no other source agrees better by the same coefficient.
    fn is_highest(&self, coefficient: usize, turn: Turn, agreement: &Agreement) -> bool {
        let counted =
            |turn: Turn, one: &Agreement| Some(turn.apply(one.value.as_ref().ok()?.value));
        let all =
            self.rows.iter().filter_map(|row| counted(row.turn, &row.agreements[coefficient]));
        let highest = all.fold(f64::NEG_INFINITY, f64::max);
        self.rows.len() > 1 && counted(turn, agreement) == Some(highest)
    }

    /// That p-values and intervals are found by resampling items, where they are.
    fn resampled(&self) -> Option<String> {
        resampled(self.rows.iter().flat_map(|row| &row.agreements))
    }

    /// The sources whose correlations count in this way.
    fn turned(&self, turn: Turn) -> Vec<&str> {
        let is_turned = |row: &&Row| row.turn == turn;
        self.rows.iter().filter(is_turned).map(|row| row.name.as_str()).collect()
    }

    fn intervals(&self) -> Sheet {
        let percent = 100.0 * self.confidence;
        let title = format!("{percent}% intervals of the correlations ({})", self.interval.name());
        let mut sheet = Sheet::new("intervals", Subject::Intervals, title, Form::Table)
            .columns(["scores", "coefficient", "n"], 0)
            .columns(["value", "low", "high"], 4);
        for one in self.rows.iter().flat_map(|row| &row.agreements) {
            let mut cells: Vec<Cell> =
                vec![(&one.metric).into(), one.coefficient.name().into(), one.n.into()];
            cells.extend(interval_cells(&one.value));
            sheet.push(cells);
        }
        sheet.signature =
            format!("interval:{}|confidence:{}", self.interval.name(), self.confidence);
        sheet
    }

    fn test_sheet(&self) -> Sheet {
        let title = "Which of two scores agrees better: tests on the stories that have both";
        let mut sheet = Sheet::new("tests", Subject::Other, title, Form::Table)
            .columns(["first", "second", "coefficient", "n", "stronger"], 0)
            .p_columns(["p", "p corrected"], 4)
            .note(format!(
                "{}, {}; corrected after {} for the tests of the same coefficient",
                test_title(self.test),
                match self.sides {
                    Sides::Two => "two-sided: the probability of such a difference by chance",
                    Sides::One => {
                        "one-sided: the probability that the stronger one is stronger by chance"
                    }
                },
                self.correction.name()
            ));
        let turns = [
            (
                Turn::Absolute,
                "it is not known whether more is better, so that the size of r counts",
            ),
            (Turn::Reversed, "less is better, so that correlations are turned round first"),
        ];
        for (turn, meaning) in turns {
            let names = self.turned(turn);
            if !names.is_empty() {
                sheet = sheet.note(format!("{meaning}: {}", names.join(", ")));
            }
        }
        if self.resampled().is_some() {
            sheet = sheet.note(INDEPENDENT);
        }
        for test in &self.tests {
            let p = test.comparison.p_value.clone();
            sheet.push(vec![
                (&test.first).into(),
                (&test.second).into(),
                test.coefficient.name().into(),
                test.comparison.n.into(),
                test.stronger().unwrap_or_default().into(),
                p.clone().map(|p| p.raw).into(),
                p.map(|p| p.corrected).into(),
            ]);
        }
        let sides = match self.sides {
            Sides::Two => "",
            Sides::One => "|sides:one-sided",
        };
        sheet.signature =
            format!("test:{}{sides}|correction:{}", self.test.name(), self.correction.name());
        sheet
    }
}

fn row_json(row: &Row) -> Value {
    let mut one = Map::new();
    one.insert("n".into(), json!(row.agreements[0].n));
    if let Some(items) = row.agreements.iter().find_map(|one| one.value.as_ref().ok()?.items) {
        one.insert("items".into(), json!(items));
        one.insert("resampled".into(), json!("items"));
    }
    let mut each = |prefix: &str, value: &dyn Fn(&Agreement) -> Value| {
        for (coefficient, agreement) in Coefficient::ALL.iter().zip(&row.agreements) {
            one.insert(format!("{prefix}{coefficient}"), value(agreement));
        }
    };
    each("", &|agreement| json!(agreement.value.as_ref().ok().map(|e| e.value)));
    each("p_", &|agreement| json!(agreement.value.as_ref().ok().and_then(|e| e.p_value)));
    each("interval_", &|agreement| {
        json!(agreement.value.as_ref().ok().and_then(|e| e.interval).map(|i| [i.low, i.high]))
    });
    one.insert("without_score".into(), json!(row.without_score));
    one.insert("without_human".into(), json!(row.without_human));
    if let Some(reason) = row.agreements.iter().find_map(|agreement| agreement.value.clone().err())
    {
        one.insert("reason".into(), json!(reason.to_string()));
    }
    one.insert("signature".into(), json!(row.signature.to_string()));
    Value::Object(one)
}
