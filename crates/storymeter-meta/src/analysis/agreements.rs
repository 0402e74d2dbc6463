//! How metrics agree with criteria, and columns of one role with each other.

use rayon::prelude::*;
use storymeter_core::{Key, Role};
use storymeter_stats::{
    BootstrapMethod, BootstrapOptions, ClusteredCorrelation, Coefficient, are_clustered,
    benjamini_hochberg, benjamini_yekutieli, clustered_correlation,
    clustered_correlation_bootstrap, correlation_interval, fisher_interval,
};

use super::correlations::Slices;
use super::{Analysis, Found, Settings};
use crate::error::Result;
use crate::level::Level;
use crate::study::{Adjusted, Agreement, Between, Edition, Estimate, Interval};

/// Correlations above this are perfect but for rounding.
const PERFECT: f64 = 1.0 - 1e-12;

/// The agreement of two columns, from their correlation.
pub(crate) fn agreement_of(
    found: Found,
    metric: &Key,
    criterion: &Key,
    level: Level,
    coefficient: Coefficient,
) -> Agreement {
    Agreement {
        metric: metric.clone(),
        criterion: criterion.clone(),
        level,
        coefficient,
        value: found.value,
        n: found.n,
        left_out: found.left_out,
    }
}

/// A correlation of two vectors with its interval, where the method has one.
///
/// `items` has the item of each observation, or nothing. Where several observations are of one
/// item, whole items are resampled, for the p-value too.
pub(crate) fn with_interval(
    mut found: Found,
    coefficient: Coefficient,
    (x, y): (&[f64], &[f64]),
    items: &[usize],
    settings: &Settings,
) -> Result<Found> {
    let Ok(estimate) = &mut found.value else { return Ok(found) };
    let fewest = if coefficient == Coefficient::Kendall { 5 } else { 4 };
    let clustered = Clustered::of(x, y, items);
    let by_item = match &clustered {
        Some(pairs) => Some(pairs.correlate(coefficient, settings.confidence)?),
        None => None,
    };
    if let Some(by_item) = &by_item {
        set_p_value(estimate, by_item);
    }
    let interval = match (settings.bootstrap(), clustered, by_item) {
        (None, _, Some(by_item)) => Some(by_item.interval),
        // A perfect correlation has no finite z, and its interval would have no width.
        (None, ..) if found.n < fewest || estimate.value.abs() > PERFECT => None,
        (None, ..) => {
            Some(fisher_interval(coefficient, estimate.value, found.n, settings.confidence)?)
        }
        (Some(options), Some(pairs), _) => Some(clustered_correlation_bootstrap(
            coefficient,
            &pairs.x,
            &pairs.y,
            &pairs.items,
            &options,
        )?),
        (Some(options), None, _) => {
            Some(correlation_interval(coefficient, x, y, &options)?.interval)
        }
    };
    estimate.interval = interval.and_then(finite);
    Ok(found)
}

/// A correlation of two vectors whose p-value allows for several observations of one item.
pub(crate) fn with_item_p_value(
    mut found: Found,
    coefficient: Coefficient,
    (x, y): (&[f64], &[f64]),
    items: &[usize],
) -> Result<Found> {
    if let (Ok(estimate), Some(pairs)) = (&mut found.value, Clustered::of(x, y, items)) {
        let confidence = Settings::default().confidence;
        set_p_value(estimate, &pairs.correlate(coefficient, confidence)?);
    }
    Ok(found)
}

fn set_p_value(estimate: &mut Estimate, found: &ClusteredCorrelation) {
    estimate.p_value = Some(found.correlation.p_value).filter(|p| p.is_finite());
    estimate.items = Some(found.clusters);
}

/// Pairs without missing values, of which several are of one item.
struct Clustered {
    x: Vec<f64>,
    y: Vec<f64>,
    items: Vec<usize>,
}

impl Clustered {
    /// `None` where each pair has an item of its own, all have the same, or items are not known.
    fn of(x: &[f64], y: &[f64], items: &[usize]) -> Option<Self> {
        let mut pairs = Self { x: Vec::new(), y: Vec::new(), items: Vec::new() };
        for ((&x, &y), &item) in x.iter().zip(y).zip(items) {
            if !x.is_nan() && !y.is_nan() {
                pairs.x.push(x);
                pairs.y.push(y);
                pairs.items.push(item);
            }
        }
        are_clustered(&pairs.items).then_some(pairs)
    }

    fn correlate(&self, coefficient: Coefficient, confidence: f64) -> Result<ClusteredCorrelation> {
        Ok(clustered_correlation(coefficient, &self.x, &self.y, &self.items, confidence)?)
    }
}

fn finite(interval: storymeter_stats::Interval) -> Option<Interval> {
    let (low, high) = (interval.low, interval.high);
    (low.is_finite() && high.is_finite()).then_some(Interval { low, high })
}

impl Analysis {
    /// Every metric with every criterion at every level, with corrected p-values and intervals.
    pub fn agreements(&self) -> Result<Vec<Agreement>> {
        let pairs: Vec<(usize, usize)> = self
            .metrics
            .iter()
            .flat_map(|&metric| self.criteria.iter().map(move |&criterion| (metric, criterion)))
            .collect();
        let mut all = Vec::new();
        // The papers counted every story as an observation of its own.
        let items = match self.edition {
            Edition::Corrected => self.grid.item_of_cells(),
            Edition::Published => &[],
        };
        self.progress.begin("intervals of correlations");
        self.progress.expect((pairs.len() * Level::ALL.len() * Coefficient::ALL.len()) as u64);
        for level in Level::ALL {
            for coefficient in Coefficient::ALL {
                let slices = match (level, self.settings.bootstrap()) {
                    (Level::Story, Some(_)) => Some(Slices::of(&self.grid, coefficient)?),
                    _ => None,
                };
                let one = |&(metric, criterion): &(usize, usize)| -> Result<Agreement> {
                    let found =
                        self.correlations.get(level, coefficient, metric, criterion).clone();
                    let found = match level {
                        Level::Story => {
                            self.story_interval(found, slices.as_ref(), metric, criterion)?
                        }
                        Level::System => {
                            self.interval(found, coefficient, &self.means.means, metric, criterion)?
                        }
                        Level::Pooled => {
                            let (x, y) = (self.grid.values(criterion), self.grid.values(metric));
                            with_interval(found, coefficient, (x, y), items, &self.settings)?
                        }
                    };
                    self.progress.advance(1);
                    let (metric, criterion) = (self.key(metric), self.key(criterion));
                    Ok(agreement_of(found, &metric, &criterion, level, coefficient))
                };
                let mut block = pairs.par_iter().map(one).collect::<Result<Vec<_>>>()?;
                adjust(&mut block)?;
                all.extend(block);
            }
        }
        self.progress.end();
        Ok(all)
    }

    fn interval(
        &self,
        found: Found,
        coefficient: Coefficient,
        vectors: &[Vec<f64>],
        metric: usize,
        criterion: usize,
    ) -> Result<Found> {
        let pair = (vectors[criterion].as_slice(), vectors[metric].as_slice());
        with_interval(found, coefficient, pair, &[], &self.settings)
    }

    /// At story level, items are drawn again, each with its own coefficient.
    fn story_interval(
        &self,
        mut found: Found,
        slices: Option<&Slices>,
        metric: usize,
        criterion: usize,
    ) -> Result<Found> {
        let (Some(slices), Some(options)) = (slices, self.settings.bootstrap()) else {
            return Ok(found);
        };
        let Ok(estimate) = &mut found.value else { return Ok(found) };
        let by_item = slices.by_item(criterion, metric).collect::<Result<Vec<_>>>()?;
        let values: Vec<f64> = by_item.into_iter().flatten().filter(|r| !r.is_nan()).collect();
        if values.len() > 1 {
            estimate.interval = mean_interval(&values, &options)?;
        }
        Ok(found)
    }

    /// The correlations between the columns of a role.
    pub fn between(&self, role: Role, level: Level, coefficient: Coefficient) -> Between {
        let columns = match role {
            Role::Human => &self.criteria,
            Role::Metric => &self.metrics,
        };
        let row = |at: usize| {
            let cell = move |&b: &usize| {
                self.correlations.get(level, coefficient, columns[at], b).association()
            };
            columns[at..].iter().map(cell)
        };
        let cells = (0..columns.len()).flat_map(row).collect();
        Between { role, level, coefficient, keys: self.keys(columns), cells }
    }
}

/// The interval of a mean over items. Quantiles are too narrow for few of them.
fn mean_interval(values: &[f64], options: &BootstrapOptions) -> Result<Option<Interval>> {
    let method = match options.method {
        BootstrapMethod::Percentile => BootstrapMethod::Auto,
        method => method,
    };
    let options = BootstrapOptions { method, ..*options };
    Ok(finite(storymeter_stats::mean_interval(values, &options)?.interval))
}

/// Corrects the p-values of one level and coefficient for their number.
fn adjust(block: &mut [Agreement]) -> Result<()> {
    let estimates: Vec<_> = block
        .iter_mut()
        .filter_map(|one| one.value.as_mut().ok())
        .filter_map(|estimate| estimate.p_value.map(|p| (estimate, p)))
        .collect();
    let raw: Vec<f64> = estimates.iter().map(|(_, p)| *p).collect();
    let (hochberg, yekutieli) = (benjamini_hochberg(&raw)?, benjamini_yekutieli(&raw)?);
    for ((estimate, _), (bh, by)) in estimates.into_iter().zip(hochberg.into_iter().zip(yekutieli))
    {
        estimate.adjusted = Some(Adjusted { benjamini_hochberg: bh, benjamini_yekutieli: by });
    }
    Ok(())
}
