//! HANNA's machine-written stories, each predicted by models that have not seen its prompt, beside
//! the baselines.

use serde::Serialize;
use storymeter::union::Agreement;
use storymeter_stats::Coefficient;

use super::calibrated::{Nearness, Predicted, predicted};
use super::{
    CRITERIA, Draws, Folds, Layout, Level, MODEL, OVERALL, Published, RELEVANCE, Sampled, Scores,
};
use crate::evaluate::Rated;
use crate::{Error, Result};

/// The name of the set in the rows.
pub(super) const SET: &str = "hanna unseen prompts";

/// The name of the row with the mean of the six correlations.
pub(super) const MEAN_OF_SIX: &str = "mean of six";

/// What a row says about the best published metric, before its name.
pub(super) const BEST: &str = "best of 72: ";

/// The figures of a cross-validation over HANNA's prompts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossValidation {
    /// The number of stories.
    pub stories: usize,
    /// The number of prompts, which intervals are drawn from.
    pub prompts: usize,
    /// The number of folds.
    pub folds: usize,
    /// The number of runs, with different seeds, whose predictions were averaged in each fold.
    pub runs: usize,
    /// One row for each level, criterion and metric, in this order.
    pub rows: Vec<Agreement>,
    /// How near the predicted ratings are to those of the readers.
    pub nearness: Vec<Nearness>,
}

impl CrossValidation {
    /// Compares held-out predictions and the baselines with the ratings of HANNA.
    ///
    /// # Errors
    /// If the predictions or the set lack a criterion.
    pub fn new(
        folds: &Folds,
        set: &Rated,
        baselines: &[Scores],
        published: &Published,
    ) -> Result<Self> {
        let ratings = ratings(set)?;
        let predicted = predicted(folds)?;
        let mut metrics = vec![model(folds, &predicted)?];
        let near = |(name, ratings): (&str, &&[f64])| {
            let own = predicted.iter().find(|own| own.criterion == name)?;
            Some(Nearness::new(own, ratings, &set.stories))
        };
        let nearness =
            CRITERIA.into_iter().chain([OVERALL]).zip(&ratings).filter_map(near).collect();
        metrics.extend_from_slice(baselines);
        metrics.extend(folds.cosines().map(|cosines| Scores::new("cosine", cosines)));
        let layout = Layout::new(&set.stories);
        let table =
            Table { ratings, metrics, published, draws: Draws::new(layout.items(), 0), layout };
        Ok(Self {
            stories: set.stories.len(),
            prompts: table.layout.items(),
            folds: folds.folds,
            runs: folds.runs,
            rows: Level::ALL.into_iter().flat_map(|level| table.rows(level)).collect(),
            nearness,
        })
    }
}

/// The ratings of the six criteria, and their mean, which `overall` is compared with.
fn ratings(set: &Rated) -> Result<Vec<&[f64]>> {
    let of = |name: &str| {
        let found = set.criteria.iter().find(|(criterion, _)| criterion == name);
        let missing = || Error::failed(format!("the set {} has no ratings of {name}", set.name));
        found.map(|(_, values)| values.as_slice()).ok_or_else(missing)
    };
    let six: Result<Vec<&[f64]>> = CRITERIA.into_iter().map(of).collect();
    Ok(six?.into_iter().chain([set.mean()]).collect())
}

/// The six criteria and `overall`, as the heads predict them. Only relevance is predicted from two
/// numbers, head and cosine, so the slopes of its calibration decide how much each of them counts.
fn model(folds: &Folds, predicted: &[Predicted]) -> Result<Scores> {
    let relevance = predicted.iter().find(|own| own.criterion == RELEVANCE);
    let column = |name: &str| match relevance {
        Some(own) if own.criterion == name => Ok(own.slopes_alone.clone()),
        _ => folds.head(name),
    };
    let columns: Result<Vec<Vec<f64>>> =
        CRITERIA.into_iter().chain([OVERALL]).map(column).collect();
    Ok(Scores::by_criterion(MODEL, columns?))
}

struct Table<'a> {
    /// Those of the six criteria, and their mean.
    ratings: Vec<&'a [f64]>,
    metrics: Vec<Scores>,
    published: &'a Published,
    layout: Layout,
    draws: Draws,
}

/// The three coefficients, in the order of [`Coefficient::ALL`].
type Three = [Sampled; 3];

impl Table<'_> {
    fn rows(&self, level: Level) -> Vec<Agreement> {
        let row = |criterion: &str, metric: String, three: &Three| {
            let [pearson, spearman, kendall] = [0, 1, 2].map(|at: usize| three[at].estimate());
            let n = self.layout.stories();
            let [set, criterion, level] = [SET, criterion, level.name()].map(str::to_owned);
            Agreement { set, criterion, level, metric, n, pearson, spearman, kendall }
        };
        let all: Vec<Vec<Three>> =
            self.metrics.iter().map(|scores| self.by_criterion(level, scores)).collect();
        let mut rows = Vec::new();
        let named = || self.metrics.iter().map(|scores| scores.metric.clone()).zip(&all);
        rows.extend(named().map(|(metric, each)| row(MEAN_OF_SIX, metric, &mean_of_six(each))));
        let six = &self.ratings[..CRITERIA.len()];
        if let Some(best) = self.published.best(level, Coefficient::Spearman, six, &self.layout) {
            let each = self.by_criterion(level, &Scores::new("", best.scores));
            rows.push(row(MEAN_OF_SIX, format!("{BEST}{}", best.name), &mean_of_six(&each)));
        }
        for (at, criterion) in CRITERIA.into_iter().chain([OVERALL]).enumerate() {
            rows.extend(named().map(|(metric, each)| row(criterion, metric, &each[at])));
            let ratings = self.ratings[at];
            let best = self.published.best(level, Coefficient::Spearman, &[ratings], &self.layout);
            rows.extend(best.map(|best| {
                let three = self.three(level, &best.scores, ratings);
                row(criterion, format!("{BEST}{}", best.name), &three)
            }));
        }
        rows
    }

    /// The correlations of a metric with the six criteria and their mean.
    fn by_criterion(&self, level: Level, scores: &Scores) -> Vec<Three> {
        let ratings = self.ratings.iter().enumerate();
        ratings.map(|(at, ratings)| self.three(level, scores.against(at), ratings)).collect()
    }

    fn three(&self, level: Level, scores: &[f64], ratings: &[f64]) -> Three {
        Coefficient::ALL.map(|coefficient| {
            let pair = (scores, ratings);
            Sampled::correlation(level, coefficient, pair, &self.layout, &self.draws)
        })
    }
}

fn mean_of_six(each: &[Three]) -> Three {
    [0, 1, 2].map(|coefficient: usize| {
        let six: Vec<&Sampled> =
            each[..CRITERIA.len()].iter().map(|three| &three[coefficient]).collect();
        Sampled::mean(&six)
    })
}

#[cfg(test)]
mod tests {
    use super::super::calibrated::tests::{perfect, rated};
    use super::*;

    fn found() -> CrossValidation {
        let set = rated();
        let count = set.stories.len();
        let constant = Scores::new("constant", vec![1.0; count]);
        let noise = (0..count).map(|at| (at * 31 % count) as f64).collect();
        let published = Published {
            names: vec!["noise".to_owned(), "twin of empathy".to_owned()],
            columns: vec![noise, set.criteria[2].1.clone()],
        };
        CrossValidation::new(&perfect(&set), &set, &[constant], &published).unwrap()
    }

    fn row<'a>(
        found: &'a CrossValidation,
        level: Level,
        criterion: &str,
        metric: &str,
    ) -> &'a Agreement {
        let wanted = (level.name(), criterion, metric);
        let is_wanted = |row: &&Agreement| {
            (row.level.as_str(), row.criterion.as_str(), row.metric.as_str()) == wanted
        };
        found.rows.iter().find(is_wanted).unwrap_or_else(|| panic!("no row {wanted:?}"))
    }

    #[test]
    fn perfect_predictions_have_correlation_1_at_every_level() {
        let found = found();
        assert_eq!((found.stories, found.prompts, found.folds, found.runs), (72, 24, 2, 1));
        for level in Level::ALL {
            for criterion in CRITERIA.into_iter().chain([MEAN_OF_SIX]) {
                let row = row(&found, level, criterion, MODEL);
                assert!(row.pearson.low > 1.0 - 1e-6, "{level:?} {criterion}: {row:?}");
                // Predicted ratings are rounded, which breaks ties between equal ones.
                if !["relevance", MEAN_OF_SIX].contains(&criterion) {
                    assert!(row.spearman.low > 1.0 - 1e-12, "{level:?} {criterion}: {row:?}");
                    assert!(row.kendall.low > 1.0 - 1e-12, "{level:?} {criterion}: {row:?}");
                }
            }
        }
    }

    #[test]
    fn overall_is_compared_with_the_mean_rating() {
        let found = found();
        let own = row(&found, Level::Pooled, OVERALL, MODEL);
        assert_eq!((own.spearman.value, own.n), (1.0, 72));
        let other = row(&found, Level::Pooled, OVERALL, "best of 72: twin of empathy");
        assert!((0.1..0.9).contains(&other.spearman.value), "{other:?}");
    }

    #[test]
    fn the_best_published_metric_is_named_in_its_row() {
        let found = found();
        let best = row(&found, Level::Pooled, "empathy", "best of 72: twin of empathy");
        assert!((best.kendall.value - 1.0).abs() < 1e-12);
        assert!(row(&found, Level::Pooled, "empathy", "constant").spearman.value.is_nan());
        // The cosine is that of relevance.
        assert!(row(&found, Level::Pooled, "empathy", "cosine").spearman.value < 0.9);
        assert!(row(&found, Level::Pooled, "relevance", "cosine").spearman.value > 0.99);
    }

    #[test]
    fn a_missing_head_is_an_error() {
        let set = rated();
        let mut folds = perfect(&set);
        folds.predictions[3].raw.remove("surprise");
        let error = CrossValidation::new(&folds, &set, &[], &Published::default()).unwrap_err();
        assert_eq!(error.to_string(), "the predictions have no head \"surprise\"");
    }
}
