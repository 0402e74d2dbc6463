//! One metric against one human criterion: points, density and regression line.

use storymeter_core::{Role, ScoreTable};
use storymeter_stats::drop_nan_pairs;

use crate::figures::SystemColours;
use crate::palette;
use crate::stories::StoryTable;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width, ticks};

/// The most points that are drawn. Density and regression always rest on all stories.
const MOST_POINTS: usize = 1500;
const SIZE: (f64, f64) = (420.0, 300.0);
/// The cells of the density under the points, across and down.
const GRID: (usize, usize) = (28, 20);

/// The criteria that a metric can be plotted against, by position of their columns.
pub(crate) fn criteria(stories: &StoryTable) -> Vec<usize> {
    let has_plot = |&criterion: &usize| {
        let metric = stories.strongest_metric(criterion);
        metric.is_some_and(|metric| stories.pearson(metric, criterion).is_some())
    };
    stories.scores().of_role(Role::Human).into_iter().filter(has_plot).collect()
}

/// Intercept and slope of the least-squares line.
fn regression(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let sxy: f64 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let sxx: f64 = x.iter().map(|x| (x - mx) * (x - mx)).sum();
    let slope = sxy / sxx;
    (my - slope * mx, slope)
}

/// Plots the metric with the strongest correlation over all stories; `None` where there is none.
pub(crate) fn draw(
    stories: &StoryTable,
    criterion: usize,
    colours: &SystemColours,
) -> Option<Figure> {
    let scores = stories.scores();
    let metric = stories.strongest_metric(criterion)?;
    let r = stories.pearson(metric, criterion)?;
    let (human, scored) = (stories.numbers(criterion), stories.numbers(metric));
    let [metric, criterion] = [metric, criterion].map(|at| scores.columns()[at].key.as_str());
    let pairs = drop_nan_pairs(&human, &scored).ok()?;
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
    let present: Vec<usize> = (0..scores.rows().len())
        .filter(|&at| !human[at].is_nan() && !scored[at].is_nan())
        .collect();
    let stride = present.len().div_ceil(MOST_POINTS);
    let drawn: Vec<usize> = present.iter().copied().step_by(stride.max(1)).collect();
    for system in scores.systems().into_iter().map(Some).chain([None]) {
        let is_own = |at: &&usize| scores.rows()[**at].system.as_deref() == system;
        let system = system.unwrap_or_default();
        canvas.open(system);
        for &at in drawn.iter().filter(is_own) {
            let column = format!("{metric}, {criterion} {}", short(human[at]));
            let datum = Datum { value: scored[at], row: &scores.rows()[at].id, column: &column };
            canvas.dot(at_x(human[at]), at_y(scored[at]), 2.2, colours.get(system), datum);
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
    canvas.text(left + SIZE.0 / 2.0, top + SIZE.1 + 34.0, 11.0, Anchor::Middle, criterion);
    canvas.turned_text(12.0, top + SIZE.1 / 2.0, 11.0, Anchor::Middle, -90.0, metric);
    let legend = legend(&mut canvas, scores, colours, (left, top + SIZE.1 + 48.0));
    let title = format!("{metric} against {criterion}");
    let mut figure = canvas.finish(&title, left + SIZE.0 + 14.0, top + SIZE.1 + 52.0 + legend);
    if drawn.len() < present.len() {
        figure.notes.push(format!(
            "An even sample of {} of the {} stories is drawn; density and regression rest on all",
            drawn.len(),
            present.len()
        ));
    }
    Some(figure)
}

/// Names the systems beside their colours. Returns the height.
fn legend(
    canvas: &mut Canvas,
    scores: &ScoreTable,
    colours: &SystemColours,
    (left, top): (f64, f64),
) -> f64 {
    let (mut x, mut y) = (left, top);
    for system in scores.systems() {
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

/// Draws counts per cell, smoothed by a 3 x 3 binomial kernel, as shades.
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
    fn the_line_has_least_squares() {
        let (intercept, slope) = regression(&[0.0, 1.0, 2.0, 3.0], &[1.0, 3.0, 5.0, 8.0]);
        // numpy.polyfit([0, 1, 2, 3], [1, 3, 5, 8], 1) -> 2.3, 0.8
        assert!((slope - 2.3).abs() < 1e-12 && (intercept - 0.8).abs() < 1e-12);
    }
}
