//! Leave-one-set-out: each rated set, predicted by models that have not seen it, beside the
//! baselines.

use serde::Serialize;
use storymeter::union::{Agreement, EMBEDDED_NAME, Estimate};
use storymeter_stats::Coefficient;

use super::{Draws, Folds, Judged, Layout, Level, MODEL, OVERALL, Sampled, Scores};
use crate::{Error, Result};

/// The baselines that are shown for every set.
const SHOWN: [&str; 3] = [EMBEDDED_NAME, "length", "distinct-2"];

/// How `overall` agrees with the mean rating of sets that the models have not seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// One row for each set and metric.
    pub rows: Vec<Agreement>,
    /// Spearman's correlation of each metric, averaged over the sets.
    pub means: Vec<(String, Estimate)>,
    /// How far the model is above the embedded UNION model on each set.
    pub differences: Vec<SetDifference>,
    /// The mean of the differences.
    pub mean_difference: Estimate,
    /// The number of sets on which the model is above the embedded UNION model.
    pub above: usize,
    /// The rated sets that no file has.
    pub missing: Vec<String>,
}

/// A difference between two Spearman correlations on one set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetDifference {
    /// The set.
    pub set: String,
    /// The number of runs, with different seeds, whose predictions were averaged.
    pub runs: usize,
    /// The difference. Its interval comes from resamples that both metrics share.
    pub difference: Estimate,
}

impl LeftOut {
    /// Compares predictions and baselines with the mean ratings. `unseen` has the position of a set
    /// in `sets` and its predictions, and `baselines` the scores for the stories of every set.
    ///
    /// # Errors
    /// If the predictions lack `overall`, or the scores lack a baseline.
    pub fn new(
        unseen: &[(usize, Folds)],
        sets: &[Judged],
        baselines: &[Vec<Scores>],
    ) -> Result<Self> {
        let (mut rows, mut differences) = (Vec::new(), Vec::new());
        // The Spearman correlations of each metric, set by set.
        let mut spearmans: Vec<Vec<Sampled>> = vec![Vec::new(); 1 + SHOWN.len()];
        for (at, folds) in unseen {
            let set = &sets[*at].set;
            let mut metrics = vec![Scores::new(MODEL, folds.head(OVERALL)?)];
            for name in SHOWN {
                let found = baselines[*at].iter().find(|scores| scores.metric == name);
                let missing = || Error::failed(format!("no scores of the baseline {name}"));
                metrics.push(found.ok_or_else(missing)?.clone());
            }
            let layout = Layout::new(&set.stories);
            // Each set has draws of its own, so that the sets are independent in the mean.
            let draws = Draws::new(layout.items(), *at as u64);
            for (metric, scores) in metrics.iter().enumerate() {
                let pair = (scores.against(0), set.mean());
                let [pearson, spearman, kendall] = Coefficient::ALL.map(|coefficient| {
                    Sampled::correlation(Level::Pooled, coefficient, pair, &layout, &draws)
                });
                rows.push(Agreement {
                    set: format!("{} unseen", set.name),
                    criterion: OVERALL.to_owned(),
                    level: Level::Pooled.name().to_owned(),
                    metric: scores.metric.clone(),
                    n: set.stories.len(),
                    pearson: pearson.estimate(),
                    spearman: spearman.estimate(),
                    kendall: kendall.estimate(),
                });
                spearmans[metric].push(spearman);
            }
            differences.push((set.name.clone(), folds.runs));
        }
        let above: Vec<Sampled> =
            spearmans[0].iter().zip(&spearmans[1]).map(|(own, union)| own.above(union)).collect();
        let mean =
            |sampled: &[Sampled]| Sampled::mean(&sampled.iter().collect::<Vec<_>>()).estimate();
        let names = [MODEL].into_iter().chain(SHOWN).map(str::to_owned);
        let is_missing = |at: &usize| unseen.iter().all(|(seen, _)| seen != at);
        Ok(Self {
            rows,
            means: names.zip(spearmans.iter().map(|each| mean(each))).collect(),
            differences: differences
                .into_iter()
                .zip(&above)
                .map(|((set, runs), found)| SetDifference {
                    set,
                    runs,
                    difference: found.estimate(),
                })
                .collect(),
            mean_difference: mean(&above),
            above: above.iter().filter(|found| found.value > 0.0).count(),
            missing: (0..sets.len())
                .filter(is_missing)
                .map(|at| sets[at].set.name.clone())
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use storymeter::core::Story;

    use super::super::Prediction;
    use super::*;
    use crate::evaluate::Rated;

    const RATINGS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

    fn judged(name: &str) -> Judged {
        let story = |at: usize| Story { id: format!("{name}-{at}"), ..Story::default() };
        Judged::whole(Rated {
            name: name.to_owned(),
            stories: (0..6).map(story).collect(),
            criteria: vec![("score".to_owned(), RATINGS.to_vec())],
        })
    }

    fn predicted(values: [f64; 6]) -> Folds {
        let prediction =
            |value: f64| Prediction { raw: [(OVERALL.to_owned(), value)].into(), cosine: None };
        Folds {
            predictions: values.map(prediction).to_vec(),
            fold: vec![0; 6],
            folds: 1,
            runs: 3,
            lines: Vec::new(),
        }
    }

    fn scores(union: [f64; 6]) -> Vec<Scores> {
        let other = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0].to_vec();
        vec![
            Scores::new(EMBEDDED_NAME, union.to_vec()),
            Scores::new("length", other.clone()),
            Scores::new("distinct-2", other),
        ]
    }

    #[test]
    fn sets_are_counted_and_averaged() {
        let sets = ["atlas", "birch", "cedar"].map(judged);
        let backwards = RATINGS.map(|rating| -rating);
        let baselines = [scores(backwards), scores(RATINGS), Vec::new()];
        let unseen = [(0, predicted(RATINGS)), (1, predicted(RATINGS))];
        let found = LeftOut::new(&unseen, &sets, &baselines).unwrap();
        // 1 against -1 on the first set, and 1 against 1 on the second.
        assert_eq!(found.differences[0].difference.value, 2.0);
        assert_eq!(found.differences[1].difference.value, 0.0);
        assert_eq!((found.above, found.mean_difference.value), (1, 1.0));
        assert_eq!((found.differences[0].runs, found.rows.len()), (3, 8));
        let means: Vec<(&str, f64)> =
            found.means.iter().map(|(metric, mean)| (metric.as_str(), mean.value)).collect();
        assert_eq!(means[..2], [(MODEL, 1.0), (EMBEDDED_NAME, 0.0)]);
        assert_eq!(found.missing, ["cedar"]);
    }

    #[test]
    fn a_set_without_overall_or_baselines_is_an_error() {
        let sets = [judged("atlas")];
        let mut folds = predicted(RATINGS);
        let without = LeftOut::new(&[(0, folds.clone())], &sets, &[Vec::new()]).unwrap_err();
        assert_eq!(without.to_string(), "no scores of the baseline union-compact");
        folds.predictions[0].raw.clear();
        let without = LeftOut::new(&[(0, folds)], &sets, &[scores(RATINGS)]).unwrap_err();
        assert_eq!(without.to_string(), "the predictions have no head \"overall\"");
    }
}
