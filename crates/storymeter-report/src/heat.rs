//! What a heat-map shows, from the typed subject of its sheet.

use serde::Serialize;
use storymeter_core::{Key, Role};
use storymeter_meta::study::Turn;
use storymeter_meta::view::{Form, Sheet, Subject};
use storymeter_meta::{Coefficient, Edition, Level, Study};

/// What the numbers of a heat-map are, by which a reader of the page chooses one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Correlations of metrics with criteria.
    Against,
    /// Correlations of metrics with metrics.
    Metrics,
    /// Correlations of criteria with criteria.
    Criteria,
    /// p-values of tests between metrics.
    Tests,
    /// p-values of tests between metrics, corrected for their number.
    CorrectedTests,
    /// How well metrics judge between systems.
    Pairwise,
    /// Anything else.
    Other,
}

/// What the rows or the columns of a heat-map are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    Metrics,
    Criteria,
    Other,
}

/// What the colours of a heat-map mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Correlations between -1 and 1.
    Correlation,
    /// Percentages between 0 and 100.
    Percent,
    /// p-values, in steps.
    Significance,
}

/// What a heat-map shows and how it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Heat {
    /// What the numbers are.
    pub kind: Kind,
    /// What one observation is, where the numbers belong to one level.
    pub level: Option<Level>,
    /// The coefficient, where there is one.
    pub coefficient: Option<Coefficient>,
    /// The criterion, where all numbers belong to one.
    pub criterion: Option<Key>,
    /// What the rows are.
    pub rows: Axis,
    /// What the columns are.
    pub columns: Axis,
    /// What the colours mean.
    pub scale: Scale,
    /// The columns of the sheet that are drawn, by position.
    pub shown: Vec<usize>,
    /// The column with the mean of the others, which is drawn apart.
    pub mean: Option<usize>,
    /// How a number of each row counts when rows are sorted: as it is (1), with the opposite sign
    /// (-1), or by its size (0).
    pub turns: Vec<i8>,
}

impl Heat {
    /// What a sheet of a study shows; `None` where it is not a heat-map.
    pub fn new(study: &Study, sheet: &Sheet) -> Option<Self> {
        if sheet.form != Form::Heatmap {
            return None;
        }
        // The published figures have percentages without a sign.
        let correlations = match study.edition {
            Edition::Corrected => Scale::Correlation,
            Edition::Published => Scale::Percent,
        };
        let mut heat = Self {
            kind: Kind::Other,
            level: None,
            coefficient: None,
            criterion: None,
            rows: Axis::Other,
            columns: Axis::Other,
            scale: Scale::Correlation,
            shown: (1..sheet.columns.len()).collect(),
            mean: None,
            turns: vec![1; sheet.rows.len()],
        };
        match &sheet.subject {
            Subject::Against { level, coefficient } => {
                heat.kind = Kind::Against;
                (heat.level, heat.coefficient) = (Some(*level), Some(*coefficient));
                (heat.rows, heat.columns) = (Axis::Metrics, Axis::Criteria);
                heat.scale = correlations;
                // The last column is the number of observations.
                heat.shown.pop();
                heat.mean = heat.shown.pop();
                let turn = |metric: &str| match study.turn(&Key::new(metric)) {
                    Turn::AsIs => 1,
                    Turn::Reversed => -1,
                    Turn::Absolute => 0,
                };
                heat.turns = sheet.rows.iter().map(|row| turn(row[0].text())).collect();
            }
            Subject::Between { role, level, coefficient } => {
                let (kind, axis) = match role {
                    Role::Metric => (Kind::Metrics, Axis::Metrics),
                    Role::Human => (Kind::Criteria, Axis::Criteria),
                };
                heat.kind = kind;
                (heat.level, heat.coefficient) = (Some(*level), Some(*coefficient));
                (heat.rows, heat.columns) = (axis, axis);
                heat.scale = correlations;
            }
            Subject::Tests { criterion, level, coefficient, correction, .. } => {
                heat.kind = if correction.is_some() { Kind::CorrectedTests } else { Kind::Tests };
                (heat.level, heat.coefficient) = (Some(*level), Some(*coefficient));
                heat.criterion = Some(criterion.clone());
                (heat.rows, heat.columns) = (Axis::Metrics, Axis::Metrics);
                heat.scale = Scale::Significance;
            }
            Subject::Pairwise => {
                heat.kind = Kind::Pairwise;
                (heat.rows, heat.columns) = (Axis::Metrics, Axis::Criteria);
                heat.scale = Scale::Percent;
            }
            _ => {}
        }
        Some(heat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::study;
    use storymeter_meta::Correction;
    use storymeter_meta::study::Test;

    fn heat(subject: Subject, edition: Edition) -> Heat {
        let sheet = Sheet::new("pearson", subject, "williams f1, story-level", Form::Heatmap)
            .columns(["metric", "n", "Avg", "n"], 3);
        Heat::new(&Study { edition, ..study(Vec::new()) }, &sheet).unwrap()
    }

    #[test]
    fn a_heat_map_is_what_its_subject_says_whatever_its_title_says() {
        let (level, coefficient) = (Level::System, Coefficient::Kendall);
        let against = heat(Subject::Against { level, coefficient }, Edition::Corrected);
        assert_eq!((against.kind, against.level), (Kind::Against, Some(level)));
        assert_eq!((against.scale, against.shown), (Scale::Correlation, vec![1]));
        assert_eq!(against.mean, Some(2), "a mean stands apart");
        let published = heat(Subject::Against { level, coefficient }, Edition::Published);
        assert_eq!(published.scale, Scale::Percent);

        let criterion = Key::new("story-level flow, pearson");
        let tests = |correction| Subject::Tests {
            test: Test::Williams,
            criterion: criterion.clone(),
            level,
            coefficient,
            correction,
        };
        let raw = heat(tests(None), Edition::Corrected);
        assert_eq!((raw.kind, raw.criterion), (Kind::Tests, Some(criterion.clone())));
        assert_eq!((raw.level, raw.scale), (Some(level), Scale::Significance));
        let corrected = heat(tests(Some(Correction::Holm)), Edition::Corrected);
        assert_eq!(corrected.kind, Kind::CorrectedTests);
    }
}
