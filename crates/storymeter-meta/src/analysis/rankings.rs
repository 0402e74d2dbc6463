//! Metrics ranked: the best few by criterion, and Borda counts over many correlations.

use storymeter_stats::ranking::{BordaCount, BordaTies, argsort_numpy_1_23, borda};
use storymeter_stats::{Coefficient, Matrix};

use super::{Edition, Study, round_half_even};
use crate::correlations::{Correlations, Noise, SystemMeans, settle};
use crate::error::Result;
use crate::level::Level;
use crate::sheet::{Cell, Form, Sheet};

/// The correlations a Borda count takes as voters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballot {
    /// `global`, `story_pearson`, `kendall`, `Relevance`, ...
    pub name: String,
    /// Which correlations, in the order of the published files.
    pub voters: Vec<(Level, Coefficient, usize)>,
}

/// All correlations at these levels, then those of each level, of each coefficient, of both, of each criterion.
///
/// With story and system level and six criteria these are the 18 rankings HANNA published.
pub fn ballots(study: &Study, levels: &[Level]) -> Vec<Ballot> {
    let criteria = study.criteria();
    let block = |level: Level, coefficient: Coefficient| {
        criteria.iter().map(move |&criterion| (level, coefficient, criterion))
    };
    let all =
        || levels.iter().flat_map(|&l| Coefficient::ALL.into_iter().flat_map(move |c| block(l, c)));
    let mut ballots = vec![Ballot { name: "global".into(), voters: all().collect() }];
    for &level in levels {
        let voters = all().filter(|voter| voter.0 == level).collect();
        ballots.push(Ballot { name: level.name().into(), voters });
    }
    for coefficient in Coefficient::ALL {
        let voters = all().filter(|voter| voter.1 == coefficient).collect();
        ballots.push(Ballot { name: coefficient.name().into(), voters });
    }
    for &level in levels {
        for coefficient in Coefficient::ALL {
            let voters = block(level, coefficient).collect();
            ballots.push(Ballot { name: format!("{level}_{coefficient}"), voters });
        }
    }
    for &criterion in criteria {
        let voters = all().filter(|voter| voter.2 == criterion).collect();
        ballots.push(Ballot { name: study.name(criterion).to_owned(), voters });
    }
    ballots
}

impl Study {
    /// The numbers a ballot ranks by, in the layout of the published ranking files: |correlation|, one row a
    /// metric, one column a voter.
    pub fn ranking_file(&self, ballot: &Ballot) -> Sheet {
        let head = |&(level, coefficient, criterion): &(Level, Coefficient, usize)| {
            format!("{}_{level}_{coefficient}", self.name(criterion))
        };
        let title = format!("Absolute correlations: {}", ballot.name);
        let mut sheet = Sheet::new(format!("rankings_{}", ballot.name), title, Form::Table)
            .column("Model", 0)
            .columns(ballot.voters.iter().map(head), 4);
        for &metric in &self.metrics {
            let mut row = vec![Cell::from(self.name(metric))];
            row.extend(ballot.voters.iter().map(|&(level, coefficient, criterion)| {
                let found = self.correlations.get(level, coefficient, metric, criterion);
                Cell::number(found.value.abs(), &found.reason())
            }));
            sheet.push(row);
        }
        sheet
    }

    /// The metrics for which every voter of a ballot has a number, the others cannot be ranked; and their counts.
    fn count(
        &self,
        correlations: &Correlations,
        ballot: &Ballot,
        ties: BordaTies,
    ) -> Result<(Vec<usize>, BordaCount)> {
        let votes = |metric: usize| -> Vec<f64> {
            let one = |&(level, coefficient, criterion): &(Level, Coefficient, usize)| {
                let strength = correlations.value(level, coefficient, metric, criterion).abs();
                // A metric and its mirror image are equally strong; their last bits need not be.
                if ties == BordaTies::MidRank { settle(strength) } else { strength }
            };
            ballot.voters.iter().map(one).collect()
        };
        let complete = |&metric: &usize| votes(metric).iter().all(|vote| !vote.is_nan());
        let candidates: Vec<usize> = self.metrics.iter().copied().filter(complete).collect();
        let strengths: Vec<f64> = candidates.iter().flat_map(|&metric| votes(metric)).collect();
        let matrix = Matrix::new(&strengths, candidates.len(), ballot.voters.len())?;
        Ok((candidates, borda(matrix, ties)?))
    }

    fn ties(&self) -> BordaTies {
        match self.edition {
            Edition::Corrected => BordaTies::MidRank,
            Edition::Published => BordaTies::Numpy123,
        }
    }

    /// Borda counts of some ballots (Table 6), the best so many metrics of each.
    pub fn borda(&self, id: &str, title: &str, ballots: &[Ballot], best: usize) -> Result<Sheet> {
        let mut sheet = Sheet::new(id, title, Form::Table)
            .column("ranking", 0)
            .column("place", 0)
            .column("metric", 0)
            .column("Borda count", 1)
            .note(match self.edition {
                Edition::Corrected => "equal correlations share their ranks",
                Edition::Published => {
                    "equal correlations stand as numpy 1.23's unstable sort left them"
                }
            });
        for ballot in ballots {
            let (candidates, count) = self.count(&self.correlations, ballot, self.ties())?;
            if candidates.len() < self.metrics.len() {
                let without = self.metrics.len() - candidates.len();
                sheet = sheet.note(format!(
                    "{}: {without} metrics lack a correlation and are not ranked",
                    ballot.name
                ));
            }
            for (place, &candidate) in count.order.iter().take(best).enumerate() {
                sheet.push(vec![
                    ballot.name.as_str().into(),
                    (place + 1).into(),
                    self.name(candidates[candidate]).into(),
                    count.scores[candidate].into(),
                ]);
            }
        }
        Ok(sheet)
    }

    /// Where the published order of ties, among system means as numpy sums them, gives another top five than shared
    /// ranks among means that tie when they are equal.
    pub fn borda_differences(&self, ballots: &[Ballot], sheet: &mut Sheet) -> Result<()> {
        let with = |noise| self.correlations.with_means(&SystemMeans::of(&self.table, noise));
        let (kept, removed) = (with(Noise::Kept)?, with(Noise::Removed)?);
        for ballot in ballots {
            let top = |correlations, ties| -> Result<Vec<String>> {
                let (candidates, count) = self.count(correlations, ballot, ties)?;
                Ok(count
                    .order
                    .iter()
                    .take(5)
                    .map(|&c| self.name(candidates[c]).to_owned())
                    .collect())
            };
            let (published, corrected) =
                (top(&kept, BordaTies::Numpy123)?, top(&removed, BordaTies::MidRank)?);
            if published != corrected {
                sheet.push(vec![
                    "Borda top 5 (ties)".into(),
                    ballot.name.as_str().into(),
                    published.join("; ").into(),
                    corrected.join("; ").into(),
                ]);
            }
        }
        Ok(())
    }

    /// A correlation in percent. The published tables are rounded to two decimals, and those with one decimal were
    /// rounded from these again, halves upwards.
    fn percent(&self, strength: f64, decimals: u8) -> f64 {
        match (self.edition, decimals) {
            (Edition::Corrected, _) => 100.0 * strength,
            (Edition::Published, 1) => {
                (round_half_even(100.0 * strength, 2) * 10.0 + 0.5 + 1e-9).floor() / 10.0
            }
            (Edition::Published, _) => round_half_even(100.0 * strength, 2),
        }
    }

    /// The metrics with the strongest correlations, criterion by criterion (Tables 5, 8, 9).
    pub fn best_metrics(
        &self,
        sheet: Sheet,
        levels: &[Level],
        coefficients: &[Coefficient],
        best: usize,
    ) -> Sheet {
        let decimals = if best > 3 { 2 } else { 1 };
        let mut sheet = sheet
            .columns(["level", "criterion", "coefficient", "place", "metric"], 0)
            .column("|r| (%)", decimals);
        for &level in levels {
            for &criterion in &self.criteria {
                for &coefficient in coefficients {
                    let found: Vec<(usize, f64)> = self
                        .metrics
                        .iter()
                        .map(|&m| (m, self.strength(level, coefficient, m, criterion)))
                        .filter(|(_, strength)| !strength.is_nan())
                        .collect();
                    let strengths: Vec<f64> = found.iter().map(|(_, strength)| *strength).collect();
                    let order: Vec<usize> = match self.edition {
                        Edition::Published => {
                            argsort_numpy_1_23(&strengths).into_iter().rev().collect()
                        }
                        Edition::Corrected => {
                            let mut order: Vec<usize> = (0..strengths.len()).collect();
                            order.sort_by(|&a, &b| {
                                settle(strengths[b]).total_cmp(&settle(strengths[a]))
                            });
                            order
                        }
                    };
                    for (place, at) in order.into_iter().take(best).enumerate() {
                        sheet.push(vec![
                            level.name().into(),
                            self.name(criterion).into(),
                            coefficient.name().into(),
                            (place + 1).into(),
                            self.name(found[at].0).into(),
                            self.percent(found[at].1, decimals).into(),
                        ]);
                    }
                }
            }
        }
        sheet
    }
}
