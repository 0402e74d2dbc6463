//! Fits the numbers that turn outputs of heads into ratings on the scale of the readers.
//!
//! They are fitted on stories that the model has not learned from, by least squares with an
//! intercept. The mean of the predictions for these stories is therefore the mean of their ratings.
//! How far the ratings are from the predictions is kept as two quantiles for each of a few ranges
//! of the prediction, because a criterion may be harder to predict for good stories than for bad
//! ones.

use std::collections::{BTreeMap, BTreeSet};

use storymeter_core::Error as CoreError;
use storymeter_core::terminal::excerpt;

use super::{CalibratedOn, Calibration, Criterion, HeldOut, Residual};
use crate::{Error, Result};

/// The criterion that is predicted from the cosine of prompt and story as well.
const RELEVANCE: &str = "relevance";
/// The smallest number of stories on which a criterion is calibrated.
const FEWEST_STORIES: usize = 20;
/// The smallest number of stories in a range of predictions.
const FEWEST_IN_RANGE: usize = 20;
/// The largest number of ranges of predictions.
const MOST_RANGES: usize = 5;
/// The quantiles of the residuals: 80% of them lie between the two.
const QUANTILES: [f64; 2] = [0.1, 0.9];

/// The calibrated criteria of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The criteria in the order that was asked for. A criterion without any rating has no
    /// calibration.
    pub heads: Vec<Criterion>,
    /// What they were fitted on.
    pub on: CalibratedOn,
}

/// A held-out story with the outputs of all runs that did not learn from it.
struct Outputs<'a> {
    story: &'a HeldOut,
    /// The mean outputs by criterion.
    raw: BTreeMap<&'a str, f64>,
    cosine: Option<f64>,
}

/// One story for one criterion.
#[derive(Debug, Clone, Copy)]
struct Example {
    output: f64,
    /// 0 if the criterion does not need it.
    cosine: f64,
    rating: f64,
}

/// Fits the calibrations of these criteria on the held-out stories of one set, which is the set of
/// the first story if none is named. `scale` has the lowest and the highest possible rating.
///
/// Relevance is predicted from the output of its head and from the cosine of prompt and story, all
/// other criteria from the output of their head alone. If several runs have read a story, the mean
/// of their outputs counts.
///
/// ```
/// use storymeter_union::criteria::{HeldOut, calibrate};
///
/// let story = |n: u32| HeldOut {
///     set: "rated".into(),
///     id: n.to_string(),
///     raw: [("coherence".to_owned(), f64::from(n % 7) - 3.0)].into(),
///     rating: [("coherence".to_owned(), 3.0 + 0.5 * (f64::from(n % 7) - 3.0))].into(),
///     ..HeldOut::default()
/// };
/// let stories: Vec<HeldOut> = (0..42).map(story).collect();
/// let fitted = calibrate(["coherence"], &stories, None, [1.0, 5.0])?;
/// let calibration = fitted.heads[0].calibration.as_ref().unwrap();
/// assert!((calibration.prediction(1.0, f64::NAN) - 3.5).abs() < 1e-12);
/// # Ok::<(), storymeter_union::Error>(())
/// ```
///
/// # Errors
/// [`Error::Ratings`] if there are too few stories, if predictions do not rise with ratings, if a
/// rating is not on the scale, or if two lines disagree on the rating of a story. Also if there is
/// no such set.
pub fn calibrate<'a>(
    criteria: impl IntoIterator<Item = &'a str>,
    stories: &[HeldOut],
    set: Option<&str>,
    scale: [f64; 2],
) -> Result<Fitted> {
    let [low, high] = scale;
    if !(low.is_finite() && high.is_finite() && low < high) {
        return Err(ratings(format!("the scale {low} to {high} is none")));
    }
    let sets: BTreeSet<&str> = stories.iter().map(|story| story.set.as_str()).collect();
    let first = stories.first().map(|story| story.set.as_str());
    let Some(set) = set.or(first) else {
        return Err(ratings("there is no held-out story".to_owned()));
    };
    if !sets.contains(set) {
        return Err(CoreError::unknown("set of held-out stories", set, sets).into());
    }
    let stories: Vec<&HeldOut> = stories.iter().filter(|story| story.set == set).collect();
    let stories = merged(&stories)?;
    let fit = |name: &str| -> Result<Criterion> {
        let examples = examples(name, &stories, scale)?;
        let rated = stories.iter().any(|one| one.story.rating.contains_key(name));
        let calibration = rated.then(|| fitted(name, &examples, scale)).transpose()?;
        Ok(Criterion { name: name.to_owned(), calibration, ..Criterion::default() })
    };
    let heads: Vec<Criterion> = criteria.into_iter().map(fit).collect::<Result<_>>()?;
    if heads.iter().all(|criterion| criterion.calibration.is_none()) {
        return Err(ratings(format!(
            "no story of the set {} has a rating of a criterion of the model",
            excerpt(set, 60)
        )));
    }
    let items: BTreeSet<&str> = stories.iter().map(|one| one.story.item.as_str()).collect();
    let on = CalibratedOn { set: set.to_owned(), stories: stories.len(), items: items.len() };
    Ok(Fitted { heads, on })
}

fn ratings(problem: String) -> Error {
    Error::Ratings { problem }
}

/// One entry per story, in the order of first appearance.
fn merged<'a>(lines: &[&'a HeldOut]) -> Result<Vec<Outputs<'a>>> {
    let mut places: BTreeMap<(Option<&str>, &str), usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&'a HeldOut>> = Vec::new();
    for &line in lines {
        let at = *places.entry((line.system.as_deref(), &line.id)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(line);
    }
    groups.into_iter().map(mean_of_runs).collect()
}

/// The mean of what several runs say about one story.
fn mean_of_runs<'a>(runs: Vec<&'a HeldOut>) -> Result<Outputs<'a>> {
    let story = runs[0];
    if let Some(other) = runs.iter().find(|run| run.rating != story.rating) {
        return Err(ratings(format!(
            "the story {} is there twice with different ratings",
            excerpt(&other.id, 60)
        )));
    }
    let mean = |numbers: Option<Vec<f64>>| {
        numbers.map(|numbers| numbers.iter().sum::<f64>() / numbers.len() as f64)
    };
    let raw = story.raw.keys().filter_map(|name| {
        let outputs = runs.iter().map(|run| run.raw.get(name).copied()).collect();
        Some((name.as_str(), mean(outputs)?))
    });
    let (raw, cosine) = (raw.collect(), mean(runs.iter().map(|run| run.cosine).collect()));
    Ok(Outputs { story, raw, cosine })
}

/// The stories that a criterion is fitted on: those with a rating and with all that predicts it.
fn examples(name: &str, stories: &[Outputs<'_>], [low, high]: [f64; 2]) -> Result<Vec<Example>> {
    let mut examples = Vec::new();
    for Outputs { story, raw, cosine } in stories {
        let Some(&rating) = story.rating.get(name) else { continue };
        if !(low..=high).contains(&rating) {
            return Err(ratings(format!(
                "the rating {rating} of {name} of the story {} is not on the scale {low} to {high}",
                excerpt(&story.id, 60)
            )));
        }
        let cosine = if name == RELEVANCE { *cosine } else { Some(0.0) };
        if let (Some(&output), Some(cosine)) = (raw.get(name), cosine) {
            examples.push(Example { output, cosine, rating });
        }
    }
    Ok(examples)
}

fn fitted(name: &str, examples: &[Example], [low, high]: [f64; 2]) -> Result<Calibration> {
    let wrong = |problem: String| Err(ratings(format!("{name} cannot be calibrated: {problem}")));
    let count = examples.len();
    if count < FEWEST_STORIES {
        let stories = if name == RELEVANCE { "stories with a prompt" } else { "stories" };
        return wrong(format!(
            "there are {count} rated {stories}, and {FEWEST_STORIES} are needed"
        ));
    }
    let [head, cosine] = slopes(examples, name == RELEVANCE);
    if head < 0.0 || cosine < 0.0 || head + cosine == 0.0 {
        return wrong(format!("its predictions do not rise with the ratings of {count} stories"));
    }
    let mean =
        |number: fn(&Example) -> f64| examples.iter().map(number).sum::<f64>() / count as f64;
    let intercept =
        mean(|one| one.rating) - head * mean(|one| one.output) - cosine * mean(|one| one.cosine);
    let calibration = Calibration { intercept, head, cosine, low, high, residuals: Vec::new() };
    let residuals = residuals(&calibration, examples);
    Ok(Calibration { residuals, ..calibration })
}

/// The slopes of output and cosine by least squares. Where both count and the output does not help
/// beside the cosine, its slope is 0.
fn slopes(examples: &[Example], with_cosine: bool) -> [f64; 2] {
    let count = examples.len() as f64;
    let centred = |number: fn(&Example) -> f64| -> Vec<f64> {
        let mean = examples.iter().map(number).sum::<f64>() / count;
        examples.iter().map(|one| number(one) - mean).collect()
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let alone = |a: &[f64], y: &[f64]| {
        let square = product(a, a);
        if square > 0.0 { product(a, y) / square } else { 0.0 }
    };
    let (output, cosine, rating) =
        (centred(|one| one.output), centred(|one| one.cosine), centred(|one| one.rating));
    if !with_cosine {
        return [alone(&output, &rating), 0.0];
    }
    let (oo, oc, cc) =
        (product(&output, &output), product(&output, &cosine), product(&cosine, &cosine));
    let (or, cr) = (product(&output, &rating), product(&cosine, &rating));
    let determinant = oo * cc - oc * oc;
    // Two predictors that say the same have no slopes of their own.
    if determinant > 1e-9 * oo * cc {
        let head = (or * cc - cr * oc) / determinant;
        if head > 0.0 {
            return [head, (cr * oo - or * oc) / determinant];
        }
    }
    [0.0, alone(&cosine, &rating)]
}

/// The quantiles of rating minus prediction, in ranges of the prediction with equally many stories.
fn residuals(calibration: &Calibration, examples: &[Example]) -> Vec<Residual> {
    let mut predicted: Vec<(f64, f64)> = examples
        .iter()
        .map(|one| {
            let prediction = calibration.prediction(one.output, one.cosine);
            (prediction, one.rating - prediction)
        })
        .collect();
    predicted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let ranges = (predicted.len() / FEWEST_IN_RANGE).clamp(1, MOST_RANGES);
    let end = |range: usize| (range + 1) * predicted.len() / ranges;
    (0..ranges)
        .map(|range| {
            let (first, last) = (if range == 0 { 0 } else { end(range - 1) }, end(range));
            let mut own: Vec<f64> = predicted[first..last].iter().map(|(_, by)| *by).collect();
            own.sort_by(f64::total_cmp);
            let [low, high] = QUANTILES.map(|share| quantile(&own, share));
            // The next range begins halfway to its lowest prediction.
            let up_to = match predicted.get(last) {
                Some((next, _)) => (predicted[last - 1].0 + next) / 2.0,
                None => calibration.high,
            };
            Residual { up_to, low, high }
        })
        .collect()
}

/// The quantile of sorted numbers, interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = sorted[(below + 1).min(sorted.len() - 1)];
    sorted[below] + part * (above - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between -1 and 1 that look random and are always the same.
    fn noise(n: usize) -> f64 {
        f64::from(storymeter_encoder::Stream::new(7).normal(n as u64).tanh())
    }

    fn held_out(n: usize, raw: f64, cosine: Option<f64>, rating: f64) -> HeldOut {
        let both = |number| {
            [RELEVANCE, "coherence"].into_iter().map(|name| (name.to_owned(), number)).collect()
        };
        HeldOut {
            set: "hanna".into(),
            id: n.to_string(),
            item: (n % 12).to_string(),
            system: None,
            raw: both(raw),
            cosine,
            rating: both(rating),
        }
    }

    /// Stories whose ratings follow output and cosine, with noise that grows with the output.
    fn stories() -> Vec<HeldOut> {
        (0..500)
            .map(|n| {
                let (raw, cosine) = (2.0 * noise(n), 0.5 + 0.4 * noise(n + 1000));
                let wide = if raw > 0.0 { 0.8 } else { 0.2 };
                let rating = 2.0 + 0.4 * raw + 1.5 * cosine + wide * noise(n + 2000);
                held_out(n, raw, Some(cosine), rating.clamp(1.0, 5.0))
            })
            .collect()
    }

    fn fitted_on(stories: &[HeldOut]) -> Result<Fitted> {
        calibrate([RELEVANCE, "coherence"], stories, None, [1.0, 5.0])
    }

    #[test]
    fn the_mean_prediction_is_the_mean_rating() {
        let stories = stories();
        let fitted = fitted_on(&stories).unwrap();
        assert_eq!(
            (fitted.on.set.as_str(), fitted.on.stories, fitted.on.items),
            ("hanna", 500, 12)
        );
        for Criterion { name, calibration, .. } in &fitted.heads {
            let calibration = calibration.as_ref().unwrap();
            let [mut predicted, mut rated] = [0.0; 2];
            for story in &stories {
                predicted += calibration.unbounded(story.raw[name], story.cosine.unwrap());
                rated += story.rating[name];
            }
            assert!((predicted - rated).abs() < 1e-9 * rated, "{name}: {predicted} {rated}");
        }
    }

    #[test]
    fn relevance_alone_counts_the_cosine() {
        let fitted = fitted_on(&stories()).unwrap();
        let [relevance, coherence] = [0, 1].map(|at| fitted.heads[at].calibration.clone().unwrap());
        assert!(
            (relevance.head - 0.4).abs() < 0.05 && (relevance.cosine - 1.5).abs() < 0.2,
            "{relevance:?}"
        );
        assert!((coherence.head - 0.4).abs() < 0.05 && coherence.cosine == 0.0, "{coherence:?}");
        assert!(fitted.heads[0].needs_prompt() && !fitted.heads[1].needs_prompt());
    }

    #[test]
    fn eighty_percent_of_the_ratings_lie_in_the_interval_of_every_range() {
        let stories = stories();
        let calibration = fitted_on(&stories).unwrap().heads[0].calibration.clone().unwrap();
        assert_eq!(calibration.residuals.len(), 5);
        assert_eq!(calibration.residuals[4].up_to, 5.0);
        let mut inside = [(0, 0); 5];
        for story in &stories {
            let prediction = calibration.prediction(story.raw[RELEVANCE], story.cosine.unwrap());
            let [low, high] = calibration.interval(prediction).unwrap();
            let range = calibration.residuals.partition_point(|one| one.up_to < prediction);
            inside[range].0 += usize::from((low..=high).contains(&story.rating[RELEVANCE]));
            inside[range].1 += 1;
        }
        assert_eq!(inside, [(80, 100); 5]);
        let width = |at: usize| calibration.residuals[at].high - calibration.residuals[at].low;
        assert!(width(4) > 2.0 * width(0), "high predictions are less certain here");
    }

    #[test]
    fn an_output_that_only_repeats_the_cosine_is_left_out() {
        let same = |n: usize| {
            let cosine = noise(n);
            held_out(n, 3.0 * cosine, Some(cosine), 3.0 + cosine)
        };
        let stories: Vec<HeldOut> = (0..50).map(same).collect();
        let relevance = fitted_on(&stories).unwrap().heads[0].calibration.clone().unwrap();
        assert_eq!(relevance.head, 0.0);
        assert!((relevance.cosine - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_outputs_of_several_runs_are_averaged() {
        let stories = stories();
        let mut twice = stories.clone();
        for (story, by) in twice.iter_mut().zip([0.5, -0.25, 1.0].iter().cycle()) {
            story.raw.values_mut().for_each(|output| *output += by);
        }
        let mut opposite = stories.clone();
        for (story, by) in opposite.iter_mut().zip([0.5, -0.25, 1.0].iter().cycle()) {
            story.raw.values_mut().for_each(|output| *output -= by);
        }
        let both: Vec<HeldOut> = twice.into_iter().chain(opposite).collect();
        let (once, merged) = (fitted_on(&stories).unwrap(), fitted_on(&both).unwrap());
        assert_eq!(merged.on, once.on);
        let head = |fitted: &Fitted| fitted.heads[1].calibration.as_ref().unwrap().head;
        assert!((head(&once) - head(&merged)).abs() < 1e-12);
    }

    #[test]
    fn only_the_named_set_counts() {
        let mut stories = stories();
        let other = HeldOut { set: "other".into(), ..held_out(0, 0.0, None, 99.0) };
        stories.push(other);
        assert!(fitted_on(&stories).is_ok());
        let fit = |set| calibrate(["coherence"], &stories, Some(set), [1.0, 5.0]);
        let error = fit("hana").unwrap_err().to_string();
        assert!(error.contains("did you mean \"hanna\"?"), "{error}");
        let error = fit("other").unwrap_err().to_string();
        assert!(
            error.contains("99 of coherence of the story \"0\" is not on the scale"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_calibrated_is_said() {
        let error = |stories: &[HeldOut]| fitted_on(stories).unwrap_err().to_string();
        assert_eq!(
            error(&[]),
            "the model cannot be calibrated on these ratings: there is no held-out story"
        );
        let few = error(&stories()[..19]);
        assert!(
            few.contains("relevance cannot be calibrated: there are 19 rated stories"),
            "{few}"
        );
        let falling: Vec<HeldOut> =
            (0..30).map(|n| held_out(n, noise(n), Some(-noise(n)), 3.0 - noise(n))).collect();
        let falling = calibrate(["coherence"], &falling, None, [1.0, 5.0]).unwrap_err().to_string();
        assert!(falling.contains("do not rise with the ratings"), "{falling}");
        let constant: Vec<HeldOut> =
            (0..30).map(|n| held_out(n, 0.0, Some(0.0), 3.0 - noise(n))).collect();
        assert!(error(&constant).contains("do not rise"));
        let mut twice = stories();
        twice.push(held_out(0, 0.0, None, 1.0));
        assert!(error(&twice).contains("twice with different ratings"));
    }

    #[test]
    fn a_criterion_that_nobody_rated_stays_as_it_is() {
        let fit = |names: &[&str]| calibrate(names.iter().copied(), &stories(), None, [1.0, 5.0]);
        let fitted = fit(&["coherence", "overall"]).unwrap();
        assert!(fitted.heads[0].calibration.is_some() && fitted.heads[1].calibration.is_none());
        let error = fit(&["overall"]).unwrap_err().to_string();
        assert!(error.contains("has a rating of a criterion of the model"), "{error}");
    }
}
