//! Systems by their ratings: means with intervals (HANNA Table 4) and distributions (Figure 9).

use storymeter_stats::distribution::student_t_quantile;

use super::RatingTable;
use crate::error::Result;
use crate::scale::Scale;
use crate::sheet::{Cell, Form, Sheet};
use crate::study::{Edition, round_half_even};

/// A mean with half the width of its 95% interval, `t(0.975, n-1) s / sqrt(n)`.
struct Average {
    mean: f64,
    reach: f64,
}

impl Average {
    fn of(ratings: &[f64], edition: Edition) -> Self {
        let n = ratings.len() as f64;
        let mean = ratings.iter().sum::<f64>() / n;
        let squares: f64 = ratings.iter().map(|r| (r - mean) * (r - mean)).sum();
        let reach = if ratings.len() > 1 {
            student_t_quantile(0.975, n - 1.0) * (squares / (n - 1.0) / n).sqrt()
        } else {
            f64::NAN
        };
        match edition {
            Edition::Corrected => Self { mean, reach },
            Edition::Published => {
                Self { mean: round_half_even(mean, 2), reach: round_half_even(reach, 2) }
            }
        }
    }
}

/// Table 4: each system's mean rating by criterion and over all, with the half width of its interval.
///
/// `outsiders` are systems, such as human writers, that are shown and do not compete for the best mean. The best is
/// marked `*`, a mean inside the best one's interval `+`.
pub fn system_averages(
    ratings: &RatingTable,
    id: &str,
    edition: Edition,
    outsiders: &[&str],
) -> Sheet {
    let mut sheet =
        Sheet::new(id, "Mean ratings with the half width of their 95% interval", Form::Table)
            .brief()
            .column("system", 0);
    let all = ratings.criteria.len();
    for name in ratings.criteria.iter().map(String::as_str).chain(["Average"]) {
        sheet = sheet.column(name, 2).column(format!("{name} ±"), 2).column(format!("{name} *"), 0);
    }
    let systems = ratings.systems();
    let averages: Vec<Vec<Average>> = systems
        .iter()
        .map(|system| {
            let by_criterion: Vec<Vec<f64>> =
                (0..all).map(|c| ratings.of_system(system, c)).collect();
            let over_all = by_criterion.concat();
            by_criterion
                .iter()
                .chain([&over_all])
                .map(|ratings| Average::of(ratings, edition))
                .collect()
        })
        .collect();
    let competes = |system: usize| !outsiders.contains(&systems[system]);
    let best: Vec<usize> = (0..=all)
        .map(|column| {
            let rivals =
                (0..systems.len()).filter(|&s| competes(s) && !averages[s][column].mean.is_nan());
            rivals
                .max_by(|&a, &b| averages[a][column].mean.total_cmp(&averages[b][column].mean))
                .unwrap_or(0)
        })
        .collect();
    for (system, name) in systems.iter().enumerate() {
        let mut row = vec![Cell::from(*name)];
        for (column, average) in averages[system].iter().enumerate() {
            let top = &averages[best[column]][column];
            let mark = match () {
                () if !competes(system) => "",
                () if average.mean == top.mean => "*",
                () if (average.mean - top.mean).abs() <= top.reach => "+",
                () => "",
            };
            row.push(Cell::number(average.mean, "no rating"));
            row.push(Cell::number(average.reach, "fewer than two ratings"));
            row.push(mark.into());
        }
        sheet.push(row);
    }
    sheet.note("* best, + inside the interval of the best")
}

/// Points a violin's outline is given at, over the scale and half a step beyond.
const OUTLINE: usize = 61;

/// Figure 9: how ratings are distributed by system and criterion: counts and quartiles, and a violin's outline, the
/// Gaussian kernel density with Scott's bandwidth.
pub fn distributions(ratings: &RatingTable, id: &str, scale: Scale) -> Result<Vec<Sheet>> {
    let mut values: Vec<f64> =
        ratings.stories.iter().flat_map(|s| s.ratings.concat()).filter(|r| !r.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    // Ratings between the steps (means, sliders) have no bars worth counting; the outline shows them.
    let steps = if values.len() <= 11 { values } else { Vec::new() };
    let mut counts = Sheet::new(id, "Distribution of ratings by system", Form::Bars)
        .columns(["system", "criterion", "n"], 0)
        .columns(steps.iter().map(|step| format!("rated {step}")), 0)
        .columns(["mean", "quartile 1", "median", "quartile 3"], 2);
    let margin = (scale.high - scale.low) / 8.0;
    let (from, to) = (scale.low - margin, scale.high + margin);
    let grid: Vec<f64> =
        (0..OUTLINE).map(|i| from + (to - from) * i as f64 / (OUTLINE - 1) as f64).collect();
    let mut outline = Sheet::new(format!("{id}-density"), "Outlines of the violins", Form::Lines)
        .columns(["system", "criterion"], 0)
        .columns(grid.iter().map(|x| format!("{x:.3}")), 4);
    for system in ratings.systems() {
        for (at, criterion) in ratings.criteria.iter().enumerate() {
            let mut own = ratings.of_system(system, at);
            own.sort_by(f64::total_cmp);
            let mut row = vec![Cell::from(system), criterion.into(), own.len().into()];
            row.extend(
                steps.iter().map(|step| Cell::from(own.iter().filter(|r| *r == step).count())),
            );
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            let summary = [mean, quantile(&own, 0.25), quantile(&own, 0.5), quantile(&own, 0.75)];
            row.extend(summary.map(|value| Cell::number(value, "no rating")));
            counts.push(row);
            let mut row = vec![Cell::from(system), criterion.into()];
            let density = density(&own, &grid);
            row.extend(density.into_iter().map(|d| Cell::number(d, "ratings do not vary")));
            outline.push(row);
        }
    }
    Ok(vec![counts, outline])
}

/// Linear interpolation between order statistics, numpy's default.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    if sorted.is_empty() {
        return f64::NAN;
    }
    let position = p * (sorted.len() - 1) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

fn density(values: &[f64], grid: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let bandwidth = variance.sqrt() * n.powf(-0.2);
    let norm = n * bandwidth * (2.0 * std::f64::consts::PI).sqrt();
    let kernel =
        |x: f64| values.iter().map(|v| (-0.5 * ((x - v) / bandwidth).powi(2)).exp()).sum::<f64>();
    grid.iter().map(|&x| kernel(x) / norm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_numpys() {
        // numpy.quantile([1, 2, 4, 8], [.25, .5, .75]) -> 1.75, 3, 5
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!([0.25, 0.5, 0.75].map(|p| quantile(&sorted, p)), [1.75, 3.0, 5.0]);
    }

    #[test]
    fn an_outline_encloses_probability_one() {
        let grid: Vec<f64> = (0..6001).map(|i| -10.0 + i as f64 * 0.005).collect();
        let area: f64 = density(&[1.0, 2.0, 2.0, 5.0], &grid).iter().sum::<f64>() * 0.005;
        assert!((area - 1.0).abs() < 1e-6, "{area}");
    }
}
