//! Ratings predicted for HANNA's stories, as a released model predicts them, and how far they are
//! off.
//!
//! A released model turns the outputs of its heads into ratings with numbers that were fitted on
//! held-out stories. Here they are fitted anew for each fold, on the stories of the other folds, so
//! that nothing that is reported about a story rests on its own rating.

use serde::Serialize;
use storymeter::core::Story;
use storymeter::union::Estimate;
use storymeter::union::criteria::{Criterion, HeldOut, calibrate};
use storymeter_stats::mean;

use super::{CRITERIA, Draws, Folds, Layout, OVERALL, RELEVANCE, Sampled};
use crate::{Error, Result};

/// The lowest and the highest rating of HANNA.
const SCALE: [f64; 2] = [1.0, 5.0];

/// Predicted ratings of one criterion, in the order of the stories.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// The criterion.
    pub criterion: &'static str,
    /// The ratings, on HANNA's scale.
    pub ratings: Vec<f64>,
    /// The range for each story that should hold its rating with a probability of 80%.
    pub intervals: Vec<[f64; 2]>,
    /// The ratings without their intercept, for correlations over all folds.
    ///
    /// The intercept of a fold comes from the other folds, so it is low just where the readers of
    /// the fold itself gave high ratings. A finished model has only one intercept, and does not
    /// suffer from that.
    pub slopes_alone: Vec<f64>,
}

/// Predicts the six criteria and `overall`, each fold with what was fitted on the other folds.
/// Relevance is left out if the stories have no cosines.
///
/// # Errors
/// If a criterion is missing or cannot be fitted.
pub fn predicted(folds: &Folds) -> Result<Vec<Predicted>> {
    let has_cosines = folds.cosines().is_some();
    let is_predicted = |name: &&'static str| has_cosines || *name != RELEVANCE;
    let names: Vec<&'static str> =
        CRITERIA.into_iter().chain([OVERALL]).filter(is_predicted).collect();
    let fitted: Vec<Vec<Criterion>> = (0..folds.folds)
        .map(|fold| {
            let others = folds.lines.iter().enumerate().filter(|(number, _)| *number != fold);
            let others: Vec<HeldOut> = others.flat_map(|(_, lines)| lines).cloned().collect();
            Ok(calibrate(names.iter().copied(), &others, None, SCALE)?.heads)
        })
        .collect::<Result<_>>()?;
    let of_criterion = |(number, &criterion): (usize, &&'static str)| {
        let outputs = folds.head(criterion)?;
        let cosines = folds.cosines().unwrap_or_else(|| vec![0.0; outputs.len()]);
        // Neither mean depends on ratings.
        let means = [mean(&outputs), mean(&cosines)];
        let mut found = Predicted {
            criterion,
            ratings: Vec::new(),
            intervals: Vec::new(),
            slopes_alone: Vec::new(),
        };
        for (at, (output, cosine)) in outputs.into_iter().zip(cosines).enumerate() {
            let own = fitted[folds.fold[at]][number].calibration.as_ref();
            let unfitted = || Error::failed(format!("no ratings of {criterion} to fit it on"));
            let own = own.ok_or_else(unfitted)?;
            let rating = own.prediction(output, cosine);
            found.ratings.push(rating);
            found.intervals.push(own.interval(rating).ok_or_else(unfitted)?);
            let slopes = own.head * (output - means[0]) + own.cosine * (cosine - means[1]);
            found.slopes_alone.push(slopes);
        }
        Ok(found)
    };
    names.iter().enumerate().map(of_criterion).collect()
}

/// How near the predicted ratings of a criterion are to those of the readers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Nearness {
    /// The criterion.
    pub criterion: String,
    /// The share of stories whose rating lies in the interval that should hold 80% of them.
    pub coverage: Estimate,
    /// The mean width of the intervals.
    pub width: f64,
    /// The mean distance of prediction and rating.
    pub distance: Estimate,
    /// The mean predictions of the systems beside their mean ratings.
    pub systems: Vec<SystemMean>,
}

/// What is predicted for a system, and what readers said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemMean {
    /// The system.
    pub system: String,
    /// The mean of the predicted ratings.
    pub predicted: f64,
    /// The mean of the readers' ratings.
    pub rated: f64,
}

impl Nearness {
    /// Compares predictions with ratings. Intervals are drawn from whole prompts.
    pub fn new(predicted: &Predicted, ratings: &[f64], stories: &[Story]) -> Self {
        let layout = Layout::new(stories);
        let draws = Draws::new(layout.items(), 0);
        let estimate = |value: &dyn Fn(usize) -> f64| {
            let values: Vec<f64> = (0..ratings.len()).map(value).collect();
            Sampled::mean_of_stories(&values, &layout, &draws).estimate()
        };
        let inside = |at: usize| {
            // A mean of ratings is a fraction, which may differ from the same number in its last
            // bits.
            let [low, high] = predicted.intervals[at];
            f64::from((low - 1e-9..=high + 1e-9).contains(&ratings[at]))
        };
        let widths: f64 = predicted.intervals.iter().map(|[low, high]| high - low).sum();
        Self {
            criterion: predicted.criterion.to_owned(),
            coverage: estimate(&inside),
            width: widths / ratings.len() as f64,
            distance: estimate(&|at| (predicted.ratings[at] - ratings[at]).abs()),
            systems: system_means(stories, &predicted.ratings, ratings),
        }
    }
}

/// The mean prediction and the mean rating of each system, in the order of the stories.
pub(super) fn system_means(stories: &[Story], predicted: &[f64], rated: &[f64]) -> Vec<SystemMean> {
    let mut means: Vec<(SystemMean, f64)> = Vec::new();
    for ((story, predicted), rated) in stories.iter().zip(predicted).zip(rated) {
        let system = story.system.as_deref().unwrap_or_default();
        let at = means.iter().position(|(known, _)| known.system == system).unwrap_or_else(|| {
            let none = SystemMean { system: system.to_owned(), predicted: 0.0, rated: 0.0 };
            means.push((none, 0.0));
            means.len() - 1
        });
        let (sums, count) = &mut means[at];
        sums.predicted += predicted;
        sums.rated += rated;
        *count += 1.0;
    }
    let mean = |(sums, count): (SystemMean, f64)| SystemMean {
        predicted: sums.predicted / count,
        rated: sums.rated / count,
        ..sums
    };
    means.into_iter().map(mean).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Prediction;
    use super::*;
    use crate::evaluate::Rated;

    /// Twenty-four prompts with three systems each, rated from 1 to 5 on all criteria.
    pub(in super::super) fn rated() -> Rated {
        let story = |at: usize| Story {
            id: format!("hanna-{at}"),
            item: Some((at / 3).to_string()),
            system: Some(["atlas", "birch", "cedar"][at % 3].to_owned()),
            text: "word ".repeat(3 + at * 5 % 12),
            ..Story::default()
        };
        let ratings = |criterion: usize| -> Vec<f64> {
            let thirds = |at: usize| (at * (2 * criterion + 3) + at * at + at % 3) % 13;
            (0..72).map(|at| 1.0 + thirds(at) as f64 / 3.0).collect()
        };
        let mut criteria: Vec<(String, Vec<f64>)> =
            (0..).zip(CRITERIA).map(|(at, name)| (name.to_owned(), ratings(at))).collect();
        let of_all = |at: usize| criteria.iter().map(|(_, values)| values[at]).sum::<f64>() / 6.0;
        let of_all = (0..72).map(of_all).collect();
        criteria.push(("mean".to_owned(), of_all));
        Rated { name: "hanna".to_owned(), stories: (0..72).map(story).collect(), criteria }
    }

    /// Predictions in two folds. `output` says what the heads give for a rating.
    fn predicted_by(set: &Rated, output: impl Fn(usize, f64) -> f64) -> Folds {
        let ratings = |at: usize| -> Vec<(String, f64)> {
            let named = CRITERIA.into_iter().chain([OVERALL]).map(str::to_owned);
            named.zip(&set.criteria).map(|(name, (_, values))| (name, values[at])).collect()
        };
        let mut folds = Folds { folds: 2, runs: 1, lines: vec![Vec::new(); 2], ..Folds::default() };
        for (at, story) in set.stories.iter().enumerate() {
            let rating = ratings(at);
            let cosine = Some(rating[0].1 / 5.0);
            let raw: std::collections::BTreeMap<String, f64> =
                rating.iter().map(|(name, rating)| (name.clone(), output(at, *rating))).collect();
            let fold = at / 3 % 2;
            folds.predictions.push(Prediction { raw: raw.clone(), cosine });
            folds.fold.push(fold);
            folds.lines[fold].push(HeldOut {
                set: set.name.clone(),
                id: story.id.clone(),
                item: story.item().to_owned(),
                system: story.system.clone(),
                raw,
                cosine,
                rating: rating.into_iter().collect(),
            });
        }
        folds
    }

    /// Predictions that are the ratings themselves.
    pub(in super::super) fn perfect(set: &Rated) -> Folds {
        predicted_by(set, |_, rating| rating)
    }

    #[test]
    fn standard_units_become_ratings() {
        let set = rated();
        let folds = predicted_by(&set, |_, rating| 2.0 * rating - 7.0);
        for (found, (_, ratings)) in predicted(&folds).unwrap().iter().zip(&set.criteria) {
            for (at, (predicted, rating)) in found.ratings.iter().zip(ratings).enumerate() {
                assert!((predicted - rating).abs() < 1e-9, "{} {at}", found.criterion);
            }
            let near = Nearness::new(found, ratings, &set.stories);
            assert_eq!((near.coverage.value, near.systems.len()), (1.0, 3));
            assert!(near.distance.value < 1e-9 && near.width < 1e-9, "{near:?}");
            let atlas = &near.systems[0];
            assert!((atlas.predicted - atlas.rated).abs() < 1e-9, "{atlas:?}");
        }
    }

    #[test]
    fn the_ratings_of_a_fold_do_not_change_its_own_predictions() {
        let set = rated();
        let noisy = |at: usize, rating: f64| rating + (at * 7 % 5) as f64 / 4.0;
        let given = predicted_by(&set, noisy);
        let mut other = given.clone();
        for line in &mut other.lines[0] {
            line.rating.values_mut().for_each(|rating| *rating = (*rating + 5.0) / 2.0);
        }
        let [given, other] = [given, other].map(|folds| predicted(&folds).unwrap());
        for (given, other) in given.iter().zip(&other) {
            for at in 0..72 {
                let same = given.ratings[at] == other.ratings[at];
                assert!(same || at / 3 % 2 == 1, "{} {at}", given.criterion);
            }
            assert_ne!(given.ratings, other.ratings, "the other fold sees the new ratings");
        }
    }

    #[test]
    fn the_intercept_of_a_fold_does_not_disturb_the_order_of_stories() {
        // The readers of the first fold give one more for everything that the model can see.
        let mut set = rated();
        let is_first = |at: usize| (at / 3).is_multiple_of(2);
        let generous =
            |(at, rating): (usize, &f64)| rating / 2.0 + f64::from(u8::from(is_first(at)));
        for (_, ratings) in &mut set.criteria {
            *ratings = ratings.iter().enumerate().map(generous).collect::<Vec<_>>();
            ratings.iter_mut().for_each(|rating| *rating = rating.clamp(1.0, 5.0));
        }
        let folds = predicted_by(&set, |at, rating| rating - f64::from(u8::from(is_first(at))));
        let found = &predicted(&folds).unwrap()[1];
        let of = |column: &[f64], first: bool| -> f64 {
            let kept: Vec<f64> =
                (0..72).filter(|&at| is_first(at) == first).map(|at| column[at]).collect();
            mean(&kept)
        };
        // Its predictions are too low for the first fold, and those without intercept are not.
        let gap = |column: &[f64]| of(column, true) - of(column, false);
        assert!(gap(&found.ratings) < gap(&found.slopes_alone) - 0.5, "{found:?}");
    }

    #[test]
    fn without_cosines_there_is_no_predicted_rating_of_relevance() {
        let mut folds = perfect(&rated());
        folds.predictions[5].cosine = None;
        let names: Vec<&str> =
            predicted(&folds).unwrap().iter().map(|found| found.criterion).collect();
        assert_eq!((names.len(), names[0]), (6, "coherence"));
    }

    #[test]
    fn intervals_of_noisy_predictions_hold_about_80_percent() {
        let set = rated();
        let noisy = |at: usize, rating: f64| rating + ((at * 37 + 11) % 72) as f64 / 36.0 - 1.0;
        let found = predicted(&predicted_by(&set, noisy)).unwrap();
        let coherence = Nearness::new(&found[1], &set.criteria[1].1, &set.stories);
        assert!((0.65..0.95).contains(&coherence.coverage.value), "{coherence:?}");
        assert!(coherence.coverage.low < coherence.coverage.high && coherence.width > 0.5);
    }
}
