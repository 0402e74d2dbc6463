//! Criteria are put on the scale of ratings by held-out stories.

use storymeter_union::Result;
use storymeter_union::criteria::{Criterion, Fitted, HeldOut, calibrate};

const RELEVANCE: &str = "relevance";

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
    assert_eq!((fitted.on.set.as_str(), fitted.on.stories, fitted.on.items), ("hanna", 500, 12));
    for Criterion { name, calibration, .. } in &fitted.heads {
        let calibration = calibration.as_ref().unwrap();
        let [mut predicted, mut rated] = [0.0; 2];
        for story in &stories {
            predicted += calibration.intercept
                + calibration.head * story.raw[name]
                + calibration.cosine * story.cosine.unwrap();
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
    assert!(error.contains("99 of coherence of the story \"0\" is not on the scale"), "{error}");
}

#[test]
fn what_cannot_be_calibrated_is_said() {
    let error = |stories: &[HeldOut]| fitted_on(stories).unwrap_err().to_string();
    assert_eq!(
        error(&[]),
        "the model cannot be calibrated on these ratings: there is no held-out story"
    );
    let few = error(&stories()[..19]);
    assert!(few.contains("relevance cannot be calibrated: there are 19 rated stories"), "{few}");
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
