//! The sheets of a user's own table.

use storymeter_core::Role;
use storymeter_stats::Coefficient;

use super::correlations::{against, between_title, find_between, list, square};
use super::rankings::{best, ranking, rankings};
use super::robustness::{biased_sets, by_error_type, error_types, own_drift};
use super::systems::study_pairs;
use super::tests::{matrices, pair_accuracy, pairwise, title, top_systems, top_systems_title};
use super::{Sheet, label, ratings};
use crate::level::Level;
use crate::study::{Finding, RankMethod, Study};

pub(super) fn sheets(study: &Study) -> Vec<Sheet> {
    let defined = study.levels();
    // Where nothing is defined, the pool still shows why.
    let levels = if defined.is_empty() { vec![Level::Pooled] } else { defined };
    let mut sheets = ratings::sheets(study, ["agreement", "systems", "ratings"]);
    let highest = label("best-metrics", "The metrics with the highest correlations");
    let top = best(study, highest, &Coefficient::ALL, &levels, 3);
    sheets.push(top.brief());
    let metrics = study.metrics().len();
    for (method, id, title) in [
        (RankMethod::Borda, "borda", "Metrics by Borda count over all correlations"),
        (RankMethod::MeanRank, "mean-rank", "Metrics by mean rank over all correlations"),
        (RankMethod::Kemeny, "kemeny", "Metrics by Kemeny consensus over all correlations"),
    ] {
        let found = rankings(study, method);
        if !found.is_empty() {
            sheets.push(ranking(study, label(id, title), &found, metrics));
        }
    }
    sheets.push(list(study));
    for &level in &levels {
        sheets.extend(heatmaps(study, level));
    }
    for finding in &study.findings {
        match finding {
            Finding::Pairwise(found) => {
                let name = "Weighted macro F1 (%) of verdicts on pairs of systems";
                let criteria = study.criteria();
                let sheet = pairwise(label("pairwise", name), &criteria, found, None);
                sheets.push(sheet.brief());
            }
            Finding::SystemPairs(found) => sheets.push(study_pairs(found)),
            Finding::PairAccuracy(found) => {
                let name = "Pairwise accuracy with tie calibration";
                sheets.push(pair_accuracy(label("pair-accuracy", name), found));
            }
            Finding::TopSystems(found) => {
                let name = top_systems_title(study.edition);
                sheets.push(top_systems(label("top-systems", name), found, &|_| true));
            }
            Finding::Tests(matrix) => {
                let id = format!("{}-{}-{}", matrix.test.name(), matrix.level, matrix.criterion);
                sheets.extend(matrices(study.edition, matrix, label(id, title(matrix))));
            }
            _ => {}
        }
    }
    for finding in &study.findings {
        match finding {
            Finding::BiasedSets(found) => {
                sheets.extend(biased_sets(&format!("drift-{}", found.criterion), found));
            }
            Finding::ErrorTypes(found) => sheets.extend(error_types("error-types", found)),
            Finding::ByErrorType(found) => {
                sheets.push(by_error_type(&format!("error-types-{}", found.criterion), found));
            }
            Finding::Drift(found) => sheets.push(own_drift("dataset-drift", found)),
            _ => {}
        }
    }
    sheets
}

fn heatmaps(study: &Study, level: Level) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for coefficient in Coefficient::ALL {
        let name = |what: &str, between: &str| {
            let title = between_title(level, coefficient, between);
            label(format!("{what}-{level}-{coefficient}"), title)
        };
        let metrics = name("against", "metrics and criteria");
        let sheet = against(study, metrics, level, coefficient, None);
        sheets.push(if coefficient == Coefficient::Spearman { sheet.brief() } else { sheet });
        for (role, what) in [(Role::Human, "criteria"), (Role::Metric, "metrics")] {
            if let Some(between) = find_between(study, role, level, coefficient) {
                sheets.push(square(study, name(what, what), between, None));
            }
        }
    }
    sheets
}
