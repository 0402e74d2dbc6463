//! Whether the parts of a study fit together.
//!
//! A study that an analysis made always does. One that was read from a file may have been edited,
//! and whoever shows it looks up one part by the positions of another.

use storymeter_core::{Key, Role};
use storymeter_stats::Coefficient;

use super::{
    Finding, Kind, MetricRanking, RankMethod, Ranking, RatingDistribution, Study, SystemAverages,
};
use crate::level::Level;
use crate::outcome::Outcome;

/// What is wrong with a study: the finding, and what does not fit.
type Check = Result<(), String>;

impl Study {
    /// Checks that lists that belong together have the same length, that findings are about the
    /// columns of the study, and that nothing is missing that the analysis always gives.
    pub(crate) fn check(&self) -> Check {
        for role in [Role::Human, Role::Metric] {
            let keys: Vec<&Key> = self.keys(role).collect();
            let mut distinct = keys.clone();
            distinct.sort();
            distinct.dedup();
            fits("columns", "distinct keys", distinct.len(), keys.len())?;
        }
        for finding in &self.findings {
            self.check_finding(finding)?;
        }
        self.check_agreements()
    }

    fn check_finding(&self, finding: &Finding) -> Check {
        match finding {
            Finding::Between(one) => {
                let keys = one.keys.len();
                self.check_keys("between", one.role, one.keys.iter())?;
                fits("between", "cells", one.cells.len(), keys * (keys + 1) / 2)
            }
            Finding::Tests(one) => {
                let metrics = one.metrics.len();
                self.check_keys("tests", Role::Metric, one.metrics.iter())?;
                let pairs = metrics * metrics.saturating_sub(1) / 2;
                fits("tests", "pairs", one.pairs.len(), pairs)
            }
            Finding::Pairwise(one) => {
                let metrics = one.rows.iter().map(|row| &row.metric);
                self.check_keys("pairwise", Role::Metric, metrics)?;
                let criteria = self.criteria().len();
                one.rows.iter().try_for_each(|row| {
                    fits("pairwise", "f1", row.f1.len(), criteria)?;
                    fits("pairwise", "n", row.n.len(), criteria)
                })
            }
            Finding::SystemPairs(all) => all.iter().try_for_each(|one| {
                let is_known = |key: &Key| self.columns.iter().any(|column| column.key == *key);
                match is_known(&one.column.key) {
                    true => Ok(()),
                    false => Err("\"system-pairs\": a column is not one of the study".to_owned()),
                }
            }),
            Finding::TopSystems(one) => one.rows.iter().try_for_each(|row| {
                fits("top-systems", "strength", row.strength.len(), one.k.len())
            }),
            Finding::BiasedSets(one) => one.sets.iter().try_for_each(|set| {
                fits("biased-sets", "stories", set.stories.len(), one.levels.len())?;
                fits("biased-sets", "metrics", set.metrics.len(), one.metrics.len())
            }),
            Finding::ByErrorType(one) => one.rows.iter().try_for_each(|row| {
                fits("by-error-type", "values", row.values.len(), one.sets.len())?;
                fits("by-error-type", "n", row.n.len(), one.sets.len())
            }),
            Finding::Drift(one) => one.rows.iter().try_for_each(|row| {
                let all = Coefficient::ALL.len();
                fits("drift", "drifted", row.drifted.len(), all)?;
                row.home.as_ref().map_or(Ok(()), |home| fits("drift", "home", home.len(), all))
            }),
            Finding::Misjudged(one) => one.metrics.iter().try_for_each(|own| {
                let known = self.keys(Role::Metric).any(|key| *key == own.metric);
                if !known {
                    return Err("\"misjudged\": a metric is not one of the study".to_owned());
                }
                [&own.overrated, &own.underrated].into_iter().try_for_each(|stories| {
                    match stories.len() <= one.most {
                        true => Ok(()),
                        false => fits("misjudged", "stories", stories.len(), one.most),
                    }
                })
            }),
            Finding::MetricRanking(one) => self.check_metric_ranking(one),
            Finding::Ranking(one) => check_ranking(one),
            Finding::SystemAverages(one) => check_averages(one),
            Finding::Ratings(one) => check_ratings(one),
            Finding::HumanScores(one) => {
                fits("human-scores", "counts", one.counts.len(), one.raters.saturating_add(1))
            }
            Finding::Agreements(_)
            | Finding::RaterAgreement(_)
            | Finding::PairAccuracy(_)
            | Finding::ErrorTypes(_)
            | Finding::Edits(_) => Ok(()),
        }
    }

    /// There is a first metric, and every ranked metric has a correlation with every criterion.
    fn check_metric_ranking(&self, ranking: &MetricRanking) -> Check {
        let is_known = |metric: &Key, criterion: &Key| {
            let (metric, criterion) = (metric.as_str(), criterion.as_str());
            self.agreement(metric, criterion, ranking.level, Coefficient::Pearson)
                .is_some_and(|one| one.value.is_ok())
        };
        let mut places = ranking.places.iter();
        let fits = !ranking.places.is_empty()
            && !ranking.criteria.is_empty()
            && places.all(|one| ranking.criteria.iter().all(|key| is_known(&one.metric, key)));
        match fits {
            true => Ok(()),
            false => Err("\"metric-ranking\": a metric has no such correlation".to_owned()),
        }
    }

    /// The keys of a finding are those of the study, in order.
    fn check_keys<'a>(
        &self,
        finding: &str,
        role: Role,
        keys: impl Iterator<Item = &'a Key>,
    ) -> Check {
        match keys.eq(self.keys(role)) {
            true => Ok(()),
            false => Err(format!("\"{finding}\": its columns are not those of the study")),
        }
    }

    /// At every level and with every coefficient that is there, all metrics have an agreement with
    /// all criteria, in the order of the columns. HANNA's study has all levels and coefficients.
    fn check_agreements(&self) -> Check {
        let (metrics, criteria) = (self.metrics(), self.criteria());
        let expected = || metrics.iter().flat_map(|&m| criteria.iter().map(move |&c| (m, c)));
        for level in Level::ALL {
            for coefficient in Coefficient::ALL {
                let found: Vec<(&Key, &Key)> = self
                    .agreements()
                    .filter(|one| one.level == level && one.coefficient == coefficient)
                    .map(|one| (&one.metric, &one.criterion))
                    .collect();
                let may_lack = self.kind != Kind::Hanna && found.is_empty();
                if !may_lack && !found.into_iter().eq(expected()) {
                    return Err(format!(
                        "\"agreements\": those of {level} level with {coefficient} are not one for \
                         each metric and criterion of the study, in their order"
                    ));
                }
            }
        }
        if self.kind != Kind::Union {
            return Ok(());
        }
        // The three coefficients of one metric stand together in this study.
        let all: Vec<_> = self.agreements().collect();
        all.chunk_by(|a, b| a.metric == b.metric).try_for_each(|own| {
            fits("agreements", "coefficients", own.len(), Coefficient::ALL.len())
        })
    }
}

fn check_ranking(ranking: &Ranking) -> Check {
    let scored = ranking.method != RankMethod::Kemeny;
    match ranking.places.iter().all(|place| place.score.is_some() == scored) {
        true => Ok(()),
        false if scored => Err("\"ranking\": a place has no score".to_owned()),
        false => Err("\"ranking\": a Kemeny consensus has no scores".to_owned()),
    }
}

fn check_averages(averages: &SystemAverages) -> Check {
    let expected = averages.criteria.len() + usize::from(averages.single_ratings);
    let mut systems = averages.systems.iter();
    systems.try_for_each(|(_, own)| fits("system-averages", "averages", own.len(), expected))
}

fn check_ratings(ratings: &RatingDistribution) -> Check {
    if !ratings.grid.is_sorted() {
        return Err("\"ratings\": the points of the grid do not ascend".to_owned());
    }
    let length =
        |density: &Outcome<Vec<f64>>| density.as_ref().map_or(ratings.grid.len(), Vec::len);
    ratings.rows.iter().try_for_each(|row| {
        fits("ratings", "counts", row.counts.len(), ratings.steps.len())?;
        fits("ratings", "density", length(&row.density), ratings.grid.len())
    })
}

fn fits(finding: &str, what: &str, found: usize, expected: usize) -> Check {
    match found == expected {
        true => Ok(()),
        false => Err(format!("\"{finding}\": {found} {what} where there must be {expected}")),
    }
}
