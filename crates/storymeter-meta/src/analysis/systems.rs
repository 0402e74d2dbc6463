//! Systems: their mean scores, and what is left of a correlation among the best of them (Figure 8).

use storymeter_stats::Coefficient;

use super::heatmaps::Label;
use super::{Edition, Study, round_half_even};
use crate::correlations::{Noise, SystemMeans, associate};
use crate::error::Result;
use crate::sheet::{Cell, Form, Sheet};

/// Figure 8 starts with this many systems; three would leave six possible orders.
const FEWEST_SYSTEMS: usize = 4;

impl Study {
    /// Mean of each criterion by system.
    pub fn system_means(&self, label: Label) -> Sheet {
        let mut sheet = Sheet::new(label.id, label.title, Form::Table)
            .column("system", 0)
            .columns(self.criteria.iter().map(|&c| self.name(c)), 2);
        for (at, system) in self.table.systems().iter().enumerate() {
            let mut row = vec![Cell::from(system)];
            row.extend(
                self.criteria.iter().map(|&c| Cell::number(self.means.means[c][at], "no rating")),
            );
            sheet.push(row);
        }
        sheet
    }

    /// The k best systems by a criterion, k from the fewest to all, best first.
    ///
    /// As published, means are rounded to two decimals first, which makes ties; they stand in alphabetical order.
    fn best_systems(&self, criterion: usize, edition: Edition) -> Vec<usize> {
        let means = &self.means.means[criterion];
        let mut order: Vec<usize> = (0..means.len()).filter(|&s| !means[s].is_nan()).collect();
        let names = self.table.systems();
        order.sort_by(|&a, &b| names[a].cmp(&names[b]));
        let key = |s: usize| match edition {
            Edition::Corrected => means[s],
            Edition::Published => round_half_even(means[s], 2),
        };
        order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
        order
    }

    /// |Spearman| at system level among the k best systems.
    fn among_best(&self, criterion: usize, metric: usize, edition: Edition) -> Result<Vec<f64>> {
        let order = self.best_systems(criterion, edition);
        (FEWEST_SYSTEMS..=order.len())
            .map(|k| {
                let pick = |column: usize| -> Vec<f64> {
                    order[..k].iter().map(|&s| self.means.means[column][s]).collect()
                };
                Ok(associate(Coefficient::Spearman, &pick(criterion), &pick(metric))?.value.abs())
            })
            .collect()
    }

    /// Figure 8: |Spearman| between metrics and criteria among the k best systems.
    pub fn top_systems(&self, label: Label, metrics: &[usize]) -> Result<Sheet> {
        let systems = self.table.systems().len();
        let mut sheet = Sheet::new(label.id, label.title, Form::Lines)
            .columns(["criterion", "metric"], 0)
            .columns((FEWEST_SYSTEMS..=systems).map(|k| format!("k={k}")), 3)
            .note("Spearman: the paper's caption says Pearson, its numbers are Spearman's");
        for &criterion in &self.criteria {
            for &metric in metrics {
                let mut row = vec![Cell::from(self.name(criterion)), self.name(metric).into()];
                let values = self.among_best(criterion, metric, self.edition)?;
                let missing = systems + 1 - FEWEST_SYSTEMS.min(systems + 1) - values.len();
                row.extend(values.into_iter().map(|v| Cell::number(v, "a column is constant")));
                row.extend((0..missing).map(|_| Cell::number(f64::NAN, "a system has no rating")));
                sheet.push(row);
            }
        }
        Ok(sheet)
    }

    /// Systems whose means on a criterion are equal, and come out unequal when numpy sums them.
    pub fn tie_differences(&self, sheet: &mut Sheet) {
        let (kept, removed) = (
            SystemMeans::of(&self.table, Noise::Kept),
            SystemMeans::of(&self.table, Noise::Removed),
        );
        for &criterion in &self.criteria {
            for (second, name) in self.table.systems().iter().enumerate() {
                for (first, other) in self.table.systems()[..second].iter().enumerate() {
                    let tied = |means: &SystemMeans| {
                        means.means[criterion][first] == means.means[criterion][second]
                    };
                    if tied(&removed) != tied(&kept) {
                        sheet.push(vec![
                            "system means (last bits)".into(),
                            self.name(criterion).into(),
                            format!("{other} and {name} differ").into(),
                            format!("{other} and {name} tie").into(),
                        ]);
                    }
                }
            }
        }
    }

    /// Where rounding the system means first changes who is among the best.
    pub fn top_systems_differences(&self, metrics: &[usize], sheet: &mut Sheet) -> Result<()> {
        for &criterion in &self.criteria {
            for &metric in metrics {
                let show = |edition| -> Result<String> {
                    let values = self.among_best(criterion, metric, edition)?;
                    Ok(values.iter().map(|v| format!("{v:.2}")).collect::<Vec<_>>().join(" "))
                };
                let (published, corrected) = (show(Edition::Published)?, show(Edition::Corrected)?);
                if published != corrected {
                    let subject = format!("{}, {}", self.name(criterion), self.name(metric));
                    sheet.push(vec![
                        "top-k systems (rounded means)".into(),
                        subject.into(),
                        published.into(),
                        corrected.into(),
                    ]);
                }
            }
        }
        Ok(())
    }
}
