//! Metrics that run against the ratings of the same stories.

use std::collections::BTreeMap;

use storymeter_core::{Role, item_key};
use storymeter_stats::{
    Coefficient, Correction, Correlation, LEAST_PAIRS, are_clustered, clustered_correlation,
};

use super::Vote;
use super::profile::Stories;
use super::recheck::values_of;
use crate::error::Result;
use crate::study::{Edition, Turn};
use crate::systems::{Options, SystemComparison};

/// A metric and a criterion that correlate.
struct Sign<'a> {
    metric: usize,
    criterion: &'a SystemComparison,
    /// The correlation, and what it is if it is turned by the direction of the metric.
    r: f64,
    turned: f64,
    p: f64,
    stories: usize,
}

/// By comparison: the vote that a metric loses because it runs significantly against the ratings
/// of some criterion, and significantly with those of none. The p-values are corrected over all
/// metrics and criteria.
pub(super) fn backwards(
    stories: &Stories<'_>,
    found: &[&SystemComparison],
    options: &Options,
) -> Result<Vec<Option<Vote>>> {
    let mut signs = Vec::new();
    for (metric, one) in found.iter().enumerate().filter(|(_, one)| one.column.role == Role::Metric)
    {
        let turn = Turn::new(one.column.direction, Edition::Corrected);
        if turn == Turn::Absolute {
            continue;
        }
        for criterion in found.iter().filter(|one| one.column.role == Role::Human) {
            let found = correlate(stories, one, criterion, options)?;
            let Some(found) = found.filter(|found| found.p_value.is_finite()) else { continue };
            let (r, p, n) = (found.coefficient, found.p_value, found.n);
            let turned = turn.apply(r);
            signs.push(Sign { metric, criterion, r, turned, p, stories: n });
        }
    }
    let raw: Vec<f64> = signs.iter().map(|sign| sign.p).collect();
    let corrected = Correction::Holm.adjust(&raw)?;
    let level = options.method().level();
    let significant: Vec<&Sign<'_>> =
        signs.iter().zip(&corrected).filter(|(_, p)| **p <= level).map(|(sign, _)| sign).collect();
    let vote = |metric: usize| {
        let own = || significant.iter().filter(|sign| sign.metric == metric);
        let worst = own().min_by(|a, b| a.turned.total_cmp(&b.turned))?;
        let is_backwards = own().all(|sign| sign.turned < 0.0);
        is_backwards.then(|| Vote::Backwards {
            criterion: worst.criterion.column.key.clone(),
            r: worst.r,
            stories: worst.stories,
        })
    };
    Ok((0..found.len()).map(vote).collect())
}

/// Pearson's correlation over the stories that have both values. Stories of one item are not taken
/// to be independent.
fn correlate(
    stories: &Stories<'_>,
    metric: &SystemComparison,
    criterion: &SystemComparison,
    options: &Options,
) -> Result<Option<Correlation>> {
    let (scores, ratings) = (values_of(stories, metric), values_of(stories, criterion));
    let mut items: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut x, mut y, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
    for &(row, _) in &stories.rows {
        let (Ok(score), Ok(rating)) = (&scores[row], &ratings[row]) else { continue };
        let next = items.len();
        clusters.push(*items.entry(item_key(&stories.table.rows()[row].item)).or_insert(next));
        x.push(*score);
        y.push(*rating);
    }
    if x.len() < LEAST_PAIRS {
        return Ok(None);
    }
    let pearson = Coefficient::Pearson;
    Ok(Some(match are_clustered(&clusters) {
        true => clustered_correlation(pearson, &x, &y, &clusters, options.confidence)?.correlation,
        false => pearson.compute(&x, &y)?,
    }))
}
