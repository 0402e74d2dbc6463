//! Systems: their mean scores, and what is left of a correlation among the best of them (HANNA
//! Figure 8).

use storymeter_stats::Coefficient;

use super::{Analysis, coefficient_only, round_half_even};
use crate::error::Result;
use crate::outcome::{Absence, Outcome, finite_or};
use crate::study::{Edition, Standing, SystemAverage, SystemAverages, TopSystems, TopSystemsRow};

/// Figure 8 starts with this many systems. Three would leave six possible orders.
const FEWEST_SYSTEMS: usize = 4;

impl Analysis {
    /// Each system's mean of each criterion, where there are no single ratings.
    pub fn system_means(&self) -> SystemAverages {
        let average = |criterion: usize, system: usize| SystemAverage {
            mean: finite_or(self.means.means[criterion][system], Absence::NoRating),
            half_width: Err(Absence::NoSingleRatings),
            n: self.grid.row(criterion, system).iter().filter(|v| !v.is_nan()).count(),
            standing: Standing::Outside,
        };
        let system = |(at, name): (usize, &String)| {
            (name.clone(), self.criteria.iter().map(|&c| average(c, at)).collect())
        };
        SystemAverages {
            criteria: self.keys(&self.criteria),
            single_ratings: false,
            systems: self.grid.systems().iter().enumerate().map(system).collect(),
        }
    }

    /// The systems by a criterion, best first.
    ///
    /// In the published analysis, means are rounded to two decimals first, which makes ties. They
    /// stand in alphabetical order.
    fn best_systems(&self, criterion: usize) -> Vec<usize> {
        let means = &self.means.means[criterion];
        let mut order: Vec<usize> = (0..means.len()).filter(|&s| !means[s].is_nan()).collect();
        let names = self.grid.systems();
        order.sort_by(|&a, &b| names[a].cmp(&names[b]));
        let key = |s: usize| match self.edition {
            Edition::Corrected => means[s],
            Edition::Published => round_half_even(means[s], 2),
        };
        order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
        order
    }

    /// Spearman at system level among the k best systems, for each k, turned by the direction of
    /// the metric.
    fn among_best(&self, criterion: usize, metric: usize) -> Result<Vec<Outcome<f64>>> {
        let order = self.best_systems(criterion);
        let turn = self.turn(metric);
        (FEWEST_SYSTEMS..=order.len())
            .map(|k| {
                let pick = |column: usize| -> Vec<f64> {
                    order[..k].iter().map(|&s| self.means.means[column][s]).collect()
                };
                let found =
                    coefficient_only(Coefficient::Spearman, &pick(criterion), &pick(metric))?;
                Ok(found.value.map(|estimate| turn.apply(estimate.value)))
            })
            .collect()
    }

    /// All metrics against all criteria among the k best systems.
    pub fn top_systems(&self) -> Result<TopSystems> {
        let k: Vec<usize> = (FEWEST_SYSTEMS..=self.grid.systems().len()).collect();
        let mut rows = Vec::new();
        for &criterion in &self.criteria {
            for &metric in &self.metrics {
                let mut strength = self.among_best(criterion, metric)?;
                strength.resize(k.len(), Err(Absence::UnratedSystem));
                let (criterion, metric) = (self.key(criterion), self.key(metric));
                rows.push(TopSystemsRow { criterion, metric, strength });
            }
        }
        Ok(TopSystems { k, coefficient: Coefficient::Spearman, rows })
    }
}
