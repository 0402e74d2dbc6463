//! Matrices of correlations: criteria with criteria, metrics with criteria, metrics with metrics.

use storymeter_stats::{Coefficient, benjamini_hochberg, benjamini_yekutieli};

use super::{Edition, Study, round_half_even};
use crate::error::Result;
use crate::level::Level;
use crate::sheet::{Cell, Form, Sheet};

/// What a heat-map is called.
pub struct Label {
    /// Id of the sheet.
    pub id: String,
    /// Title of the sheet.
    pub title: String,
}

impl Study {
    /// A correlation as it is shown: signed; or, as published, in percent, rounded, without its sign.
    fn shown(&self, level: Level, coefficient: Coefficient, a: usize, b: usize) -> Cell {
        let found = self.correlations.get(level, coefficient, a, b);
        match self.edition {
            Edition::Corrected => Cell::number(found.value, &found.reason()),
            Edition::Published => {
                Cell::number(round_half_even(100.0 * found.value, 0).abs(), &found.reason())
            }
        }
    }

    fn decimals(&self) -> u8 {
        match self.edition {
            Edition::Corrected => 3,
            Edition::Published => 0,
        }
    }

    fn unit(&self) -> &'static str {
        match self.edition {
            Edition::Corrected => "signed",
            Edition::Published => "absolute, rounded percent",
        }
    }

    /// Criteria against criteria (Figures 1, 2, 10 to 13) or metrics against metrics (Figures 5, 6, 20 to 25).
    pub fn square(
        &self,
        label: Label,
        level: Level,
        coefficient: Coefficient,
        columns: &[usize],
    ) -> Sheet {
        let mut sheet = Sheet::new(label.id, label.title, Form::Heatmap)
            .column("column", 0)
            .columns(columns.iter().map(|&c| self.name(c)), self.decimals())
            .note(self.unit());
        for &row in columns {
            let mut cells = vec![Cell::from(self.name(row))];
            cells.extend(columns.iter().map(|&column| self.shown(level, coefficient, row, column)));
            sheet.push(cells);
        }
        sheet
    }

    /// Metrics against criteria (Figures 3, 4, 14 to 19), with the mean over criteria of the absolute values and
    /// the number of observations after undefined ones were left out.
    pub fn against_criteria(
        &self,
        label: Label,
        level: Level,
        coefficient: Coefficient,
        metrics: &[usize],
    ) -> Sheet {
        let mut sheet = Sheet::new(label.id, label.title, Form::Heatmap)
            .column("metric", 0)
            .columns(self.criteria.iter().map(|&c| self.name(c)), self.decimals())
            .column("Avg", self.decimals())
            .column("n", 0)
            .note(self.unit());
        for &metric in metrics {
            let cells: Vec<Cell> =
                self.criteria.iter().map(|&c| self.shown(level, coefficient, metric, c)).collect();
            let mean =
                cells.iter().map(|cell| cell.value().abs()).sum::<f64>() / cells.len() as f64;
            // The published average is taken over numbers already rounded, and rounded again.
            let mean =
                if self.edition == Edition::Published { round_half_even(mean, 0) } else { mean };
            let n = self
                .criteria
                .iter()
                .map(|&c| self.correlations.get(level, coefficient, metric, c).n)
                .min();
            let mut row = vec![Cell::from(self.name(metric))];
            row.extend(cells);
            row.push(Cell::number(mean, "a correlation is missing"));
            row.push(n.unwrap_or(0).into());
            sheet.push(row);
        }
        sheet
    }

    /// Every correlation of a metric with a criterion, one a row: value, p-value, p-values adjusted for the number
    /// of tests at that level, and what it rests on.
    pub fn all_correlations(&self) -> Result<Sheet> {
        let mut sheet =
            Sheet::new("correlations", "Every metric against every criterion", Form::Table)
                .columns(["metric", "criterion", "level", "coefficient"], 0)
                .column("value", 4)
                .column("p", 4)
                .column("p (Benjamini-Hochberg)", 4)
                .column("p (Benjamini-Yekutieli)", 4)
                .columns(["n", "left out"], 0)
                .note("n: items at story level, systems at system level, stories in the pool")
                .note("p-values are two-sided; a story-level mean of coefficients has none");
        for level in Level::ALL {
            for coefficient in Coefficient::ALL {
                let pairs: Vec<(usize, usize)> = self
                    .metrics
                    .iter()
                    .flat_map(|&metric| {
                        self.criteria.iter().map(move |&criterion| (metric, criterion))
                    })
                    .collect();
                let found: Vec<_> = pairs
                    .iter()
                    .map(|&(m, c)| self.correlations.get(level, coefficient, m, c))
                    .collect();
                let tested: Vec<f64> =
                    found.iter().map(|f| f.p_value).filter(|p| !p.is_nan()).collect();
                let (mut hochberg, mut yekutieli) = if tested.is_empty() {
                    (Vec::new().into_iter(), Vec::new().into_iter())
                } else {
                    (
                        benjamini_hochberg(&tested)?.into_iter(),
                        benjamini_yekutieli(&tested)?.into_iter(),
                    )
                };
                for (&(metric, criterion), found) in pairs.iter().zip(&found) {
                    let reason = match found.gap {
                        Some(gap) => gap.to_string(),
                        None => "a mean of coefficients has no p-value of its own".into(),
                    };
                    let next = |adjusted: &mut std::vec::IntoIter<f64>| {
                        let value = if found.p_value.is_nan() { None } else { adjusted.next() };
                        Cell::number(value.unwrap_or(f64::NAN), &reason)
                    };
                    let (first, second) = (next(&mut hochberg), next(&mut yekutieli));
                    sheet.push(vec![
                        self.name(metric).into(),
                        self.name(criterion).into(),
                        level.name().into(),
                        coefficient.name().into(),
                        Cell::number(found.value, &reason),
                        Cell::number(found.p_value, &reason),
                        first,
                        second,
                        found.n.into(),
                        found.dropped.into(),
                    ]);
                }
            }
        }
        Ok(sheet)
    }
}
