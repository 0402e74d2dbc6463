//! Metrics as judges between systems (Figures 7, 26), and against each other (Figures 27 to 38).

use rayon::prelude::*;
use storymeter_core::Direction;
use storymeter_stats::{
    Coefficient, SharedCorrelations, WilliamsMatrix, WilliamsRules, weighted_f1, williams_matrix,
};

use super::heatmaps::Label;
use super::{Edition, Study};
use crate::error::Result;
use crate::level::Level;
use crate::pairwise::verdicts;
use crate::sheet::{Cell, Form, Sheet};

/// The published matrices call an increase significant below this.
const SIGNIFICANT: f64 = 0.05;

impl Study {
    /// Weighted F1 (in percent) between the verdicts of each criterion and of a metric, over all pairs of systems.
    fn f1(&self, metric: usize, directed: bool) -> Result<Vec<f64>> {
        let say = |column, directed| {
            verdicts(&self.table, &self.duels, column, directed, self.bootstrap.confidence)
        };
        let predicted = say(metric, directed);
        let one =
            |&criterion: &usize| Ok(100.0 * weighted_f1(&say(criterion, directed), &predicted)?.value);
        self.criteria.iter().map(one).collect()
    }

    /// Figures 7 and 26.
    pub fn pairwise(&self, label: Label, metrics: &[usize]) -> Result<Sheet> {
        let directed = self.edition == Edition::Corrected;
        let mut sheet = Sheet::new(label.id, label.title, Form::Heatmap)
            .column("metric", 0)
            .columns(self.criteria.iter().map(|&c| self.name(c)), 0)
            .column("Avg", 0)
            .note(format!(
                "{} pairs of systems, {} draws of the items a pair, {}% confidence, seed {}",
                self.duels.len(),
                self.bootstrap.draws,
                100.0 * self.bootstrap.confidence,
                self.bootstrap.seed
            ))
            .note(match directed {
                true => "metrics where less is better are turned round first",
                false => "the direction of a metric is ignored, as published",
            });
        for &metric in metrics {
            let scores = self.f1(metric, directed)?;
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let mut row = vec![Cell::from(self.name(metric))];
            row.extend(scores.into_iter().chain([mean]).map(Cell::from));
            sheet.push(row);
        }
        Ok(sheet)
    }

    /// What ignoring the direction does to the metrics where less is better.
    pub fn pairwise_differences(&self, sheet: &mut Sheet) -> Result<()> {
        for &metric in &self.metrics {
            if self.table.columns()[metric].direction == Direction::Lower {
                let mean = |scores: Vec<f64>| {
                    format!("{:.0}", scores.iter().sum::<f64>() / scores.len() as f64)
                };
                sheet.push(vec![
                    "pairwise F1, mean over criteria (direction)".into(),
                    self.name(metric).into(),
                    mean(self.f1(metric, false)?).into(),
                    mean(self.f1(metric, true)?).into(),
                ]);
            }
        }
        Ok(())
    }

    /// The Williams tests between all pairs of metrics for a criterion.
    fn williams(
        &self,
        level: Level,
        coefficient: Coefficient,
        criterion: usize,
        rules: WilliamsRules,
    ) -> Result<WilliamsMatrix> {
        let value = |a, b| self.correlations.value(level, coefficient, a, b);
        Ok(williams_matrix(self.metrics.len(), rules, |i, j| {
            let (first, second) = (self.metrics[i], self.metrics[j]);
            Ok(SharedCorrelations {
                first: value(first, criterion),
                second: value(second, criterion),
                between: value(first, second),
                n: self.observations(level),
                dropped: 0,
            })
        })?)
    }

    fn williams_rules(&self) -> WilliamsRules {
        match self.edition {
            Edition::Corrected => WilliamsRules::Corrected,
            Edition::Published => WilliamsRules::Published,
        }
    }

    /// Figures 27 to 38: one matrix a criterion.
    pub fn williams_matrices(
        &self,
        labels: Vec<Label>,
        level: Level,
        coefficient: Coefficient,
    ) -> Result<Vec<Sheet>> {
        let one = |(label, &criterion): (Label, &usize)| -> Result<Sheet> {
            let mut sheet = Sheet::new(label.id, label.title, Form::Heatmap)
                .column("metric", 0)
                .columns(self.metrics.iter().map(|&m| self.name(m)), 3)
                .note("one-sided p-value that the row's correlation is higher than the column's; empty where it is not");
            if self.edition == Edition::Published {
                sheet = sheet.note(
                    "signs as published: a contradiction they lead to is NaN here and was drawn as empty",
                );
            }
            let matrix = self.williams(level, coefficient, criterion, self.williams_rules())?;
            for (row, &metric) in matrix.rows().zip(&self.metrics) {
                let mut line = vec![Cell::from(self.name(metric))];
                line.extend(row.iter().map(|cell| match cell {
                    None => Cell::from(""),
                    Some(test) => {
                        let reason = test.undefined.map_or_else(String::new, |why| why.to_string());
                        Cell::number(test.p_value, &reason)
                    }
                }));
                sheet.push(line);
            }
            Ok(sheet)
        };
        labels.into_par_iter().zip(&self.criteria).map(one).collect()
    }

    /// How many cells of each matrix are significant or undefined with the published and with the right signs.
    pub fn williams_differences(
        &self,
        level: Level,
        coefficient: Coefficient,
        sheet: &mut Sheet,
    ) -> Result<()> {
        for &criterion in &self.criteria {
            let summary = |rules| -> Result<String> {
                let matrix = self.williams(level, coefficient, criterion, rules)?;
                let p_values = matrix.cells().iter().flatten().map(|test| test.p_value);
                let significant = p_values.clone().filter(|&p| p < SIGNIFICANT).count();
                let undefined = p_values.filter(|p| p.is_nan()).count();
                Ok(format!("{significant} significant, {undefined} undefined"))
            };
            let (published, corrected) =
                (summary(WilliamsRules::Published)?, summary(WilliamsRules::Corrected)?);
            if published != corrected {
                let what = format!("Williams tests, {level} level, {coefficient} (signs)");
                sheet.push(vec![
                    what.into(),
                    self.name(criterion).into(),
                    published.into(),
                    corrected.into(),
                ]);
            }
        }
        Ok(())
    }
}
