//! A metric against a human criterion: points, density, regression.

use storymeter_core::Role;
use storymeter_stats::{Coefficient, drop_nan_pairs};

use crate::figures::SystemColours;
use crate::palette;
use crate::stories::StoryTable;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width, ticks};

/// At most so many points are drawn; density and regression rest on all.
const MOST_POINTS: usize = 1500;
const SIZE: (f64, f64) = (420.0, 300.0);
/// Cells of the density under the points.
const GRID: (usize, usize) = (28, 20);

/// For each criterion the metric of the strongest Pearson correlation over all stories.
pub fn of_best(stories: &StoryTable, colours: &SystemColours) -> Vec<Figure> {
    let columns =
        |role| (0..stories.columns.len()).filter(move |&c| stories.columns[c].role == role);
    columns(Role::Human)
        .filter_map(|criterion| {
            let strength = |metric: &usize| {
                stories.correlation(*metric, criterion, Coefficient::Pearson).map_or(-1.0, f64::abs)
            };
            let metric =
                columns(Role::Metric).max_by(|a, b| strength(a).total_cmp(&strength(b)))?;
            draw(stories, metric, criterion, colours)
        })
        .collect()
}

/// Least squares: intercept and slope.
pub fn regression(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let sxy: f64 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let sxx: f64 = x.iter().map(|x| (x - mx) * (x - mx)).sum();
    let slope = sxy / sxx;
    (my - slope * mx, slope)
}

fn draw(
    stories: &StoryTable,
    metric: usize,
    criterion: usize,
    colours: &SystemColours,
) -> Option<Figure> {
    let (human, scored) = (&stories.columns[criterion], &stories.columns[metric]);
    let r = stories.correlation(metric, criterion, Coefficient::Pearson)?;
    let pairs = drop_nan_pairs(&human.values, &scored.values).ok()?;
    let range = |values: &[f64]| {
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        let pad = (high - low) * 0.04;
        (low - pad, high + pad)
    };
    let ((x0, x1), (y0, y1)) = (range(&pairs.x), range(&pairs.y));
    let widest = ticks(y0, y1, 6).iter().map(|t| text_width(&short(*t), 10.0)).fold(0.0, f64::max);
    let (left, top) = (widest + 30.0, 34.0);
    let at_x = |x: f64| left + (x - x0) / (x1 - x0) * SIZE.0;
    let at_y = |y: f64| top + SIZE.1 - (y - y0) / (y1 - y0) * SIZE.1;
    let mut canvas = Canvas::default();
    density(&mut canvas, &pairs.x, &pairs.y, (x0, x1), (y0, y1), (left, top));
    for tick in ticks(x0, x1, 6) {
        canvas.text(at_x(tick), top + SIZE.1 + 15.0, 10.0, Anchor::Middle, &short(tick));
    }
    for tick in ticks(y0, y1, 6) {
        canvas.line([left, at_y(tick), left + SIZE.0, at_y(tick)], true);
        canvas.text(left - 6.0, at_y(tick) + 3.5, 10.0, Anchor::End, &short(tick));
    }
    let present: Vec<usize> = (0..stories.len())
        .filter(|&at| !human.values[at].is_nan() && !scored.values[at].is_nan())
        .collect();
    let stride = present.len().div_ceil(MOST_POINTS);
    for system in stories.system_names().into_iter().chain([""]) {
        let own =
            present.iter().step_by(stride.max(1)).filter(|&&at| stories.systems[at] == system);
        canvas.open(system);
        for &at in own {
            let column = format!("{}, {} {}", scored.name, human.name, short(human.values[at]));
            let datum = Datum { value: scored.values[at], row: &stories.ids[at], column: &column };
            canvas.dot(
                at_x(human.values[at]),
                at_y(scored.values[at]),
                2.2,
                colours.get(system),
                datum,
            );
        }
        canvas.close();
    }
    let (intercept, slope) = regression(&pairs.x, &pairs.y);
    let ends: Vec<(f64, f64)> =
        [x0, x1].map(|x| (at_x(x), at_y((intercept + slope * x).clamp(y0, y1)))).to_vec();
    canvas.path(&ends, false, "fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"");
    canvas.line([left, top + SIZE.1, left + SIZE.0, top + SIZE.1], false);
    let head = format!("Pearson {} over {} stories", short(r), pairs.x.len());
    canvas.text(left, top - 12.0, 12.0, Anchor::Start, &head);
    canvas.text(left + SIZE.0 / 2.0, top + SIZE.1 + 34.0, 11.0, Anchor::Middle, &human.name);
    canvas.turned_text(12.0, top + SIZE.1 / 2.0, 11.0, Anchor::Middle, -90.0, &scored.name);
    let legend = legend(&mut canvas, stories, colours, (left, top + SIZE.1 + 48.0));
    let title = format!("{} against {}", scored.name, human.name);
    let id = format!(
        "scatter-{}",
        human.name.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    );
    let mut figure = canvas.finish(&id, &title, left + SIZE.0 + 14.0, top + SIZE.1 + 52.0 + legend);
    if stride > 1 {
        let drawn = present.len().div_ceil(stride);
        figure.notes.push(format!(
            "{drawn} of {} stories are drawn, evenly taken; density and regression rest on all",
            present.len()
        ));
    }
    Some(figure)
}

fn legend(
    canvas: &mut Canvas,
    stories: &StoryTable,
    colours: &SystemColours,
    (left, top): (f64, f64),
) -> f64 {
    let (mut x, mut y) = (left, top);
    for system in stories.system_names() {
        let wide = text_width(system, 10.5) + 22.0;
        if x > left && x + wide > left + SIZE.0 {
            x = left;
            y += 16.0;
        }
        canvas.open(system);
        canvas.rect([x, y, 9.0, 9.0], colours.get(system), None);
        canvas.text(x + 13.0, y + 8.5, 10.5, Anchor::Start, system);
        canvas.close();
        x += wide;
    }
    y - top + 16.0
}

/// Counts in cells, smoothed by a 3 x 3 binomial kernel, as shades.
fn density(
    canvas: &mut Canvas,
    x: &[f64],
    y: &[f64],
    (x0, x1): (f64, f64),
    (y0, y1): (f64, f64),
    (left, top): (f64, f64),
) {
    let (across, down) = GRID;
    let mut counts = vec![0.0; across * down];
    for (x, y) in x.iter().zip(y) {
        let column = (((x - x0) / (x1 - x0) * across as f64) as usize).min(across - 1);
        let row = (((y - y0) / (y1 - y0) * down as f64) as usize).min(down - 1);
        counts[row * across + column] += 1.0;
    }
    let weight = [1.0, 2.0, 1.0];
    let smooth = |row: usize, column: usize| -> f64 {
        let mut sum = 0.0;
        for (dr, wr) in weight.iter().enumerate() {
            for (dc, wc) in weight.iter().enumerate() {
                let (r, c) = ((row + dr).wrapping_sub(1), (column + dc).wrapping_sub(1));
                if r < down && c < across {
                    sum += wr * wc * counts[r * across + c];
                }
            }
        }
        sum / 16.0
    };
    let cells: Vec<f64> = (0..across * down).map(|at| smooth(at / across, at % across)).collect();
    let most = cells.iter().copied().fold(0.0, f64::max);
    let (w, h) = (SIZE.0 / across as f64, SIZE.1 / down as f64);
    for (at, &count) in cells.iter().enumerate().filter(|(_, count)| **count > 0.02 * most) {
        let (row, column) = ((at / across) as f64, (at % across) as f64);
        let points = [(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)]
            .map(|(dx, dy)| (left + column * w + dx, top + SIZE.1 - (row + 1.0) * h + dy));
        let shade = 0.3 * (count / most).sqrt();
        canvas.path(
            &points,
            true,
            &format!("fill=\"{}\" fill-opacity=\"{shade:.3}\"", palette::category(15)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_least_squares() {
        let (intercept, slope) = regression(&[0.0, 1.0, 2.0, 3.0], &[1.0, 3.0, 5.0, 8.0]);
        // numpy.polyfit([0, 1, 2, 3], [1, 3, 5, 8], 1) -> 2.3, 0.8
        assert!((slope - 2.3).abs() < 1e-12 && (intercept - 0.8).abs() < 1e-12);
    }
}
