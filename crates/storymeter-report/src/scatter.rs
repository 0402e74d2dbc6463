//! Metrics against human criteria: points, density and regression line, alone or side by side.

use storymeter_core::{Key, Role, ScoreTable};
use storymeter_meta::scatter::{Scatter, strongest_metric};

use crate::figures::SystemColours;
use crate::palette;
use crate::stories::StoryTable;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width, ticks};

/// The most points of one plot. Density and regression always rest on all stories.
const MOST_POINTS: usize = 1500;
/// The most points of one of several plots.
const MOST_POINTS_OF_PANEL: usize = 600;
/// The cells of the density under the points, across and down.
const GRID: (usize, usize) = (28, 20);
/// The most plots in one figure.
const MOST_PANELS: usize = 12;

/// The criteria that a metric can be plotted against, by position of their columns.
pub(crate) fn criteria(stories: &StoryTable) -> Vec<usize> {
    let scores = stories.scores();
    let has_plot = |&criterion: &usize| strongest_metric(scores, criterion).is_some();
    scores.of_role(Role::Human).into_iter().filter(has_plot).collect()
}

/// Where a plot stands and how large it is.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    most_points: usize,
}

impl Frame {
    /// The frame of a figure with one plot.
    const ALONE: Self =
        Self { left: 70.0, top: 34.0, width: 420.0, height: 300.0, most_points: MOST_POINTS };

    /// The frame of the n-th of several plots, three in a row.
    fn panel(at: usize) -> Self {
        let (width, height) = (250.0, 170.0);
        Self {
            left: 62.0 + (at % 3) as f64 * (width + 72.0),
            top: 30.0 + (at / 3) as f64 * (height + 84.0),
            width,
            height,
            most_points: MOST_POINTS_OF_PANEL,
        }
    }

    fn right(self) -> f64 {
        self.left + self.width
    }

    fn bottom(self) -> f64 {
        self.top + self.height
    }
}

/// The stories of a criterion and a metric: the user's own, or else the one with the strongest
/// correlation over all stories. Comes with the position of the metric.
fn chosen(
    stories: &StoryTable,
    criterion: usize,
    highlight: Option<&Key>,
) -> Option<(usize, Scatter)> {
    let scores = stories.scores();
    let plot = |metric: usize| Some((metric, Scatter::new(scores, metric, criterion).ok()?));
    let own = highlight.and_then(|key| stories.column(key, Role::Metric));
    own.and_then(plot).or_else(|| plot(strongest_metric(scores, criterion)?))
}

/// Plots one metric against one criterion; `None` where there is no correlation.
pub(crate) fn draw(
    stories: &StoryTable,
    criterion: usize,
    highlight: Option<&Key>,
    colours: &SystemColours,
) -> Option<Figure> {
    let (metric, plot) = chosen(stories, criterion, highlight)?;
    let mut canvas = Canvas::default();
    let frame = Frame::ALONE;
    let sample =
        draw_plot(&mut canvas, stories.scores(), &plot, (metric, criterion), colours, frame);
    let (left, top) = (frame.left, frame.bottom() + 48.0);
    let legend = legend(&mut canvas, stories.scores(), colours, (left, top), frame.right());
    let [metric, criterion] =
        [metric, criterion].map(|at| stories.scores().columns()[at].key.as_str());
    let title = format!("{metric} against {criterion}");
    let mut figure = canvas.finish(&title, frame.right() + 14.0, top + 4.0 + legend);
    figure.notes.extend(sample);
    Some(figure)
}

/// Plots every criterion against the metric that fits it best, side by side.
pub(crate) fn draw_all(
    stories: &StoryTable,
    highlight: Option<&Key>,
    colours: &SystemColours,
) -> Option<Figure> {
    let mut canvas = Canvas::default();
    let mut last = None;
    let mut is_sample = false;
    let criteria = criteria(stories);
    for (at, &criterion) in criteria.iter().take(MOST_PANELS).enumerate() {
        let (metric, plot) = chosen(stories, criterion, highlight)?;
        let frame = Frame::panel(at);
        let columns = (metric, criterion);
        let sample = draw_plot(&mut canvas, stories.scores(), &plot, columns, colours, frame);
        is_sample |= sample.is_some();
        last = Some(frame);
    }
    let across = Frame::panel(criteria.len().clamp(1, 3) - 1).right();
    let top = last?.bottom() + 54.0;
    let legend = legend(&mut canvas, stories.scores(), colours, (62.0, top), across);
    let title = match highlight.filter(|key| stories.column(key, Role::Metric).is_some()) {
        Some(key) => format!("{key} against each criterion"),
        None => "Each criterion against the metric that fits it best".into(),
    };
    let mut figure = canvas.finish(&title, across + 14.0, top + 4.0 + legend);
    if is_sample {
        figure.notes.push("Dots are an even sample; density and line rest on all stories".into());
    }
    if criteria.len() > MOST_PANELS {
        figure.notes.push(format!("The first {MOST_PANELS} of {} criteria", criteria.len()));
    }
    Some(figure)
}

/// Draws one plot. Returns the remark that only a sample of the stories is drawn.
fn draw_plot(
    canvas: &mut Canvas,
    scores: &ScoreTable,
    plot: &Scatter,
    (metric, criterion): (usize, usize),
    colours: &SystemColours,
    frame: Frame,
) -> Option<String> {
    let [metric, criterion] = [metric, criterion].map(|at| scores.columns()[at].key.as_str());
    let range = |values: &[f64]| {
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
        let pad = (high - low) * 0.04;
        (low - pad, high + pad)
    };
    let ((x0, x1), (y0, y1)) = (range(&plot.ratings), range(&plot.scores));
    let Frame { left, top, width, height, most_points } = frame;
    let at_x = |x: f64| left + (x - x0) / (x1 - x0) * width;
    let at_y = |y: f64| top + height - (y - y0) / (y1 - y0) * height;
    density(canvas, (&plot.ratings, &plot.scores), (x0, x1), (y0, y1), frame);
    let parts = if width < 300.0 { 4 } else { 6 };
    for tick in ticks(x0, x1, parts) {
        canvas.text(at_x(tick), top + height + 15.0, 10.0, Anchor::Middle, &short(tick));
    }
    for tick in ticks(y0, y1, parts) {
        canvas.line([left, at_y(tick), left + width, at_y(tick)], true);
        canvas.text(left - 6.0, at_y(tick) + 3.5, 10.0, Anchor::End, &short(tick));
    }
    let stride = plot.rows.len().div_ceil(most_points).max(1);
    let points = plot.rows.iter().zip(plot.ratings.iter().zip(&plot.scores)).step_by(stride);
    for system in scores.systems().into_iter().map(Some).chain([None]) {
        let own = points.clone().filter(|(at, _)| scores.rows()[**at].system.as_deref() == system);
        let system = system.unwrap_or_default();
        canvas.open(system);
        for (&at, (&rating, &score)) in own {
            let column = format!("{metric}, {criterion} {}", short(rating));
            let datum = Datum { value: score, row: &scores.rows()[at].id, column: &column };
            canvas.dot(at_x(rating), at_y(score), 2.2, colours.get(system), datum);
        }
        canvas.close();
    }
    let ends: Vec<(f64, f64)> =
        [x0, x1].map(|x| (at_x(x), at_y((plot.intercept + plot.slope * x).clamp(y0, y1)))).to_vec();
    canvas.path(&ends, false, "fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"");
    canvas.line([left, top + height, left + width, top + height], false);
    let head = format!("r = {}, {} stories", short(plot.r), plot.rows.len());
    canvas.text(left, top - 10.0, 11.5, Anchor::Start, &head);
    let rating = format!("{criterion} (mean rating)");
    canvas.text(left + width / 2.0, top + height + 34.0, 11.0, Anchor::Middle, &rating);
    canvas.turned_text(left - 48.0, top + height / 2.0, 11.0, Anchor::Middle, -90.0, metric);
    (stride > 1).then(|| {
        format!(
            "An even sample of {} of the {} stories is drawn; density and regression rest on all",
            points.len(),
            plot.rows.len()
        )
    })
}

/// Names the systems beside their colours. Returns the height.
fn legend(
    canvas: &mut Canvas,
    scores: &ScoreTable,
    colours: &SystemColours,
    (left, top): (f64, f64),
    right: f64,
) -> f64 {
    let (mut x, mut y) = (left, top);
    for system in scores.systems() {
        let wide = text_width(system, 10.5) + 22.0;
        if x > left && x + wide > right {
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
    (x, y): (&[f64], &[f64]),
    (x0, x1): (f64, f64),
    (y0, y1): (f64, f64),
    Frame { left, top, width, height, .. }: Frame,
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
    let (w, h) = (width / across as f64, height / down as f64);
    for (at, &count) in cells.iter().enumerate().filter(|(_, count)| **count > 0.02 * most) {
        let (row, column) = ((at / across) as f64, (at % across) as f64);
        let points = [(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)]
            .map(|(dx, dy)| (left + column * w + dx, top + height - (row + 1.0) * h + dy));
        let shade = 0.3 * (count / most).sqrt();
        canvas.path(
            &points,
            true,
            &format!("fill=\"{}\" fill-opacity=\"{shade:.3}\"", palette::category(15)),
        );
    }
}
