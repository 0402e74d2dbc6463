//! The options of `storymeter model pack` that calibrate a model that predicts ratings.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use storymeter_core::terminal::plain;
use storymeter_union::Card;
use storymeter_union::criteria::{Criterion, HeldOut, calibrate};

use crate::args::Common;

/// The options that calibrate criteria.
#[derive(Debug, Args)]
pub(super) struct RatingsArgs {
    /// Fit the calibration of a model that predicts ratings, on what `storymeter train --rated`
    /// wrote about stories that it did not learn from (held-out.jsonl of runs with --fold). Several
    /// files may follow, one per fold. If several runs have read a story, the mean of their outputs
    /// counts
    #[arg(
        long,
        value_name = "HELD-OUT",
        num_args = 1..,
        conflicts_with_all = ["calibrate", "temperature"]
    )]
    calibrate_ratings: Vec<PathBuf>,
    /// The set of rated stories whose scale the predictions are on. The default is the set of the
    /// first held-out story. Stories of other sets are left out of the calibration
    #[arg(long, value_name = "NAME", requires = "calibrate_ratings")]
    calibrate_set: Option<String>,
    /// The lowest and the highest rating that a reader of that set could give
    #[arg(
        long,
        value_name = "LOW,HIGH",
        default_value = "1,5",
        value_parser = scale,
        requires = "calibrate_ratings"
    )]
    scale: Scale,
}

/// The lowest and the highest possible rating.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale([f64; 2]);

fn scale(text: &str) -> Result<Scale, String> {
    let numbers = text.split_once(',').and_then(|(low, high)| {
        Some([low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?])
    });
    match numbers {
        Some([low, high]) if low.is_finite() && high.is_finite() && low < high => {
            Ok(Scale([low, high]))
        }
        _ => Err("a scale is two numbers, the lower one first: 1,5".to_owned()),
    }
}

impl RatingsArgs {
    /// The files that are read.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.calibrate_ratings
    }

    /// Fits the calibration of the card, if that is asked for.
    pub(super) fn calibrate(
        &self,
        card: &mut Card,
        model: &Path,
        common: &Common,
    ) -> anyhow::Result<()> {
        if self.calibrate_ratings.is_empty() {
            return Ok(());
        }
        let Some(criteria) = &mut card.criteria else {
            bail!(
                "--calibrate-ratings: {} is for the metric {}, which predicts no ratings",
                model.display(),
                card.kind.metric()
            );
        };
        let mut stories = Vec::new();
        for path in &self.calibrate_ratings {
            stories.extend(HeldOut::read(path)?);
        }
        let set = self.calibrate_set.as_deref();
        let fitted = calibrate(criteria.names(), &stories, set, self.scale.0)?;
        if !common.quiet {
            report(&fitted.heads, &fitted.on.set, fitted.on.stories);
        }
        for (own, fitted) in criteria.heads.iter_mut().zip(fitted.heads) {
            own.calibration = fitted.calibration;
        }
        criteria.calibrated_on = Some(fitted.on);
        Ok(())
    }
}

/// Says what was fitted, and which criteria have no ratings.
fn report(heads: &[Criterion], set: &str, stories: usize) {
    let set = plain(set);
    let (fitted, others): (Vec<&Criterion>, Vec<&Criterion>) =
        heads.iter().partition(|criterion| criterion.calibration.is_some());
    let names = |criteria: &[&Criterion]| {
        criteria.iter().map(|criterion| criterion.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    crate::note(&format!("calibrated on {stories} stories of {set}: {}", names(&fitted)));
    if !others.is_empty() {
        crate::note(&format!(
            "{set} has no ratings of {}; predictions stay in standard units",
            names(&others)
        ));
    }
}
