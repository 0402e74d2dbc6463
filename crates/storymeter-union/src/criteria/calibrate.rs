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
/// Returns [`Error::Ratings`] if there are too few stories, if predictions do not rise with
/// ratings, if a rating is not on the scale, or if two lines disagree on the rating of a story.
/// Also if there is no such set.
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
