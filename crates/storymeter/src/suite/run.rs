//! Scores the texts of a suite, and says what each metric sees.

use std::collections::HashMap;
use std::sync::Arc;

use storymeter_core::read::{ReadOptions, RowValue};
use storymeter_core::{
    Absence, Column, Error as CoreError, Place, Progress, Role, ScoreTable, Value,
};
use storymeter_meta::suite::{
    AspectScores, Example, ExampleScore, MetricScores, SuiteOptions, SuiteResult, SuiteScores,
    analyse,
};

use super::read::{Suite, SuiteAspect};
use crate::input::Inputs;
use crate::{ReadyScorer, Result, ScoredTable};

/// The number of pairs of each aspect that are shown to readers.
const EXAMPLES: usize = 5;

/// The scores of all texts of a suite.
#[derive(Debug, Clone, Default)]
pub struct TextScores {
    /// The metrics.
    pub columns: Vec<Column>,
    /// The scores: one list per column, one value per text.
    pub values: Vec<Vec<Value>>,
    /// What was noticed on the way, for the user.
    pub notes: Vec<String>,
}

impl Suite {
    /// Scores every text once.
    ///
    /// # Errors
    /// Returns an error if a metric fails, or needs something that the texts lack, such as a
    /// reference.
    pub fn score(&self, scorer: &ReadyScorer, progress: &Progress) -> Result<TextScores> {
        // Rows are told apart by their number. Ids of texts are unique only within an aspect.
        let row = |(at, text): (usize, &super::SuiteText)| {
            let story = &text.story;
            let texts = [("id", Some(at.to_string())), ("story", Some(story.text.clone()))];
            let texts = texts.into_iter().chain([("prompt", story.prompt.clone())]);
            let fields = texts.filter_map(|(name, text)| Some((name, RowValue::from(text?))));
            let row: RowValue = fields.map(|(name, text)| (name.to_owned(), text)).collect();
            row.with_references(&story.references)
        };
        let rows: Vec<RowValue> = self.texts.iter().enumerate().map(row).collect();
        let inputs = Inputs::rows(Arc::new(rows), ReadOptions::default());
        let ScoredTable { table, run, .. } = scorer.table(&inputs, progress)?;
        let columns = run.columns();
        let metrics = table.of_role(Role::Metric).into_iter();
        let values = metrics.map(|at| table.values(at).to_vec()).collect();
        Ok(TextScores { columns, values, notes: run.notes() })
    }

    /// Takes the scores of the texts from a table, by system and id: originals have the system
    /// `original`, and twins the name of their aspect, as in `texts.jsonl`. A text without a row
    /// has no score, and is counted as absent.
    ///
    /// # Errors
    /// Returns an error if the table has no metric, or no row for any text.
    pub fn join(&self, table: &ScoreTable) -> Result<TextScores> {
        let index: HashMap<(&str, &str), usize> = table
            .rows()
            .iter()
            .enumerate()
            .filter_map(|(at, row)| Some(((row.system.as_deref()?, row.id.as_str()), at)))
            .collect();
        let places: Vec<Option<usize>> = self
            .texts
            .iter()
            .map(|text| {
                let hyphenated = text.system().replace(' ', "-");
                let key = |system: &str| index.get(&(system, text.story.id.as_str())).copied();
                key(text.system()).or_else(|| key(&hyphenated))
            })
            .collect();
        let found = places.iter().flatten().count();
        let metrics = table.of_role(Role::Metric);
        let refuse = |problem: &str| {
            Err(CoreError::invalid(Place::file("scores"), problem.to_owned()).into())
        };
        if metrics.is_empty() {
            return refuse("the table has no column of scores");
        }
        if found == 0 && !self.texts.is_empty() {
            return refuse(
                "no row belongs to a text of the suite; rows are found by their system, which is \
                 \"original\" or the name of an aspect, and their id, as in texts.jsonl",
            );
        }
        let mut scores = TextScores::default();
        for at in metrics {
            let column = table.values(at);
            let value = |place: &Option<usize>| match place {
                Some(row) => column[*row].clone(),
                None => Err(Absence::NotGiven),
            };
            scores.columns.push(table.columns()[at].clone());
            scores.values.push(places.iter().map(value).collect());
        }
        if found < self.texts.len() {
            let missing = self.texts.len() - found;
            scores.notes.push(format!("{missing} of {} texts have no score", self.texts.len()));
        }
        scores.notes.extend(table.notes().iter().cloned());
        Ok(scores)
    }
}

impl TextScores {
    /// These scores together with those of other metrics.
    ///
    /// # Errors
    /// Returns an error if both have a column of the same name.
    pub fn and(mut self, other: Self) -> Result<Self> {
        for column in &other.columns {
            if self.columns.iter().any(|own| own.key == column.key) {
                let problem = format!("the column \"{}\" is there twice", column.key);
                return Err(CoreError::invalid(Place::file("scores"), problem).into());
            }
        }
        self.columns.extend(other.columns);
        self.values.extend(other.values);
        self.notes.extend(other.notes);
        Ok(self)
    }

    /// What each metric sees, and what disturbs it.
    ///
    /// # Errors
    /// Returns an error if the options are out of range.
    pub fn analyse(&self, suite: &Suite, options: &SuiteOptions) -> Result<SuiteResult> {
        let pick = |column: &[Value], places: &[usize]| -> Vec<Value> {
            places.iter().map(|&place| column[place].clone()).collect()
        };
        let of_aspect = |aspect: &SuiteAspect| AspectScores {
            aspect: aspect.aspect,
            stories: aspect.stories,
            left_out: aspect.left_out.clone(),
            rules: aspect.rules.clone(),
            pairing: aspect.pairing,
            scores: self
                .values
                .iter()
                .map(|column| MetricScores {
                    originals: pick(column, &aspect.originals),
                    twins: pick(column, &aspect.twins),
                })
                .collect(),
        };
        let originals: Vec<usize> =
            (0..suite.texts.len()).filter(|&at| suite.texts[at].aspect.is_none()).collect();
        let scores = SuiteScores {
            columns: self.columns.clone(),
            aspects: suite.aspects.iter().map(of_aspect).collect(),
            missing: suite.missing.clone(),
            originals: self.values.iter().map(|column| pick(column, &originals)).collect(),
        };
        let mut result = analyse(&scores, options)?;
        result.examples = suite.aspects.iter().flat_map(|aspect| self.examples(aspect)).collect();
        Ok(result)
    }

    /// Some pairs of an aspect, evenly spread over all of them.
    fn examples(&self, aspect: &SuiteAspect) -> Vec<Example> {
        let step = aspect.pairs.len().div_ceil(EXAMPLES).max(1);
        let number = |value: &Value| value.as_ref().ok().copied().filter(|x| x.is_finite());
        aspect
            .pairs
            .iter()
            .enumerate()
            .step_by(step)
            .map(|(at, pair)| {
                let (original, twin) = pair.pieces();
                let scores = self.columns.iter().zip(&self.values);
                let score = |(column, values): (&Column, &Vec<Value>)| ExampleScore {
                    metric: column.key.clone(),
                    original: number(&values[aspect.originals[at]]),
                    twin: number(&values[aspect.twins[at]]),
                };
                Example {
                    aspect: aspect.aspect,
                    rule: pair.rule.clone(),
                    id: pair.id.clone(),
                    original,
                    twin,
                    scores: scores.map(score).collect(),
                }
            })
            .collect()
    }
}
