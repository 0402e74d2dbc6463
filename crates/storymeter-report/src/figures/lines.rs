//! Curves in panels: the k best systems (HANNA, Figure 8), biased sets (UNION, Figure 2), training.

use crate::palette;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width, ticks};

const PANEL: (f64, f64) = (300.0, 190.0);
const MARGIN: (f64, f64) = (62.0, 34.0);
/// The height of a panel with its title and the labels under it.
const PITCH: f64 = PANEL.1 + MARGIN.1 + 40.0;
/// Curves with more points than this get no dots.
const MOST_DOTS: usize = 60;
/// Curves after these many are drawn with the next dash pattern.
const CURVES_PER_DASH: usize = 4;

/// What a chart shows.
pub(crate) struct Chart {
    /// Where the points stand, and what is written under them.
    pub axis: Axis,
    /// The panels, three in a row.
    pub panels: Vec<Panel>,
    /// How the panels are scaled.
    pub scale: PanelScale,
    /// What the vertical axis shows; empty where the titles of the panels say it.
    pub quantity: String,
}

/// The horizontal axis that all panels of a chart share.
pub(crate) struct Axis {
    /// What the points are.
    pub title: String,
    pub labels: Vec<String>,
    pub positions: Vec<f64>,
}

impl Axis {
    /// Points at the same distance from each other.
    pub fn even(title: &str, labels: Vec<String>) -> Self {
        let positions = (0..labels.len()).map(|at| at as f64).collect();
        Self { title: title.into(), positions, labels }
    }

    /// Points at the numbers that are written under them.
    pub fn numeric(title: &str, positions: Vec<f64>) -> Self {
        let labels = positions.iter().map(f64::to_string).collect();
        Self { title: title.into(), labels, positions }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PanelScale {
    /// All panels show the same quantity, and a legend names the curves.
    Shared,
    /// Every panel shows one quantity of its own, which its title names.
    PerPanel,
}

pub(crate) struct Panel {
    pub title: String,
    pub curves: Vec<Curve>,
}

pub(crate) struct Curve {
    pub name: String,
    /// One value per point of the axis; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

/// Draws a chart.
pub(crate) fn draw(chart: &Chart, title: &str) -> Figure {
    let mut names: Vec<&str> = Vec::new();
    for curve in chart.panels.iter().flat_map(|panel| &panel.curves) {
        if !names.contains(&curve.name.as_str()) {
            names.push(&curve.name);
        }
    }
    let across = chart.panels.len().clamp(1, 3);
    let down = chart.panels.len().div_ceil(across);
    let all_curves = || chart.panels.iter().flat_map(|panel| &panel.curves);
    let mut canvas = Canvas::default();
    for (at, panel) in chart.panels.iter().enumerate() {
        let corner = (
            MARGIN.0 + (at % across) as f64 * (PANEL.0 + MARGIN.0),
            MARGIN.1 + (at / across) as f64 * PITCH,
        );
        let range = match chart.scale {
            PanelScale::Shared => extent(all_curves()),
            PanelScale::PerPanel => extent(panel.curves.iter()),
        };
        draw_panel(&mut canvas, corner, panel, chart, &names, range);
    }
    let width = MARGIN.0 + across as f64 * (PANEL.0 + MARGIN.0);
    let body = MARGIN.1 + down as f64 * PITCH;
    let legend = match chart.scale {
        PanelScale::Shared => draw_legend(&mut canvas, &names, body + 6.0, width),
        PanelScale::PerPanel => 0.0,
    };
    canvas.finish(title, width, body + legend + 10.0)
}

/// The range of the vertical axis. It begins at 0 where that does not flatten the curves.
fn extent<'a>(curves: impl Iterator<Item = &'a Curve>) -> (f64, f64) {
    let values = curves.flat_map(|curve| curve.values.iter().flatten().copied());
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return (0.0, 1.0);
    }
    let low = if low > 0.0 && low < high / 2.0 { 0.0 } else { low };
    if low == high { (low - 0.5, high + 0.5) } else { (low, high) }
}

fn draw_panel(
    canvas: &mut Canvas,
    (left, top): (f64, f64),
    panel: &Panel,
    chart: &Chart,
    names: &[&str],
    (low, high): (f64, f64),
) {
    let axis = &chart.axis;
    let first = axis.positions.first().copied().unwrap_or(0.0);
    let last = axis.positions.last().copied().unwrap_or(1.0);
    let at_x = |x: f64| left + (x - first) / (last - first).max(f64::MIN_POSITIVE) * PANEL.0;
    let at_y = |y: f64| top + PANEL.1 - (y - low) / (high - low) * PANEL.1;
    canvas.text(left, top - 10.0, 12.0, Anchor::Start, &panel.title);
    for tick in ticks(low, high, 5) {
        canvas.line([left, at_y(tick), left + PANEL.0, at_y(tick)], true);
        canvas.text(left - 6.0, at_y(tick) + 3.5, 10.0, Anchor::End, &short(tick));
    }
    let widest = axis.labels.iter().map(|label| text_width(label, 10.0) + 8.0).fold(1.0, f64::max);
    let every = (axis.labels.len() as f64 * widest / PANEL.0).ceil().max(1.0) as usize;
    for (label, &position) in axis.labels.iter().zip(&axis.positions).step_by(every) {
        canvas.text(at_x(position), top + PANEL.1 + 15.0, 10.0, Anchor::Middle, label);
    }
    canvas.line([left, top + PANEL.1, left + PANEL.0, top + PANEL.1], false);
    canvas.text(left + PANEL.0 / 2.0, top + PANEL.1 + 32.0, 10.5, Anchor::Middle, &axis.title);
    let (x, y) = (left - 46.0, top + PANEL.1 / 2.0);
    canvas.turned_text(x, y, 10.5, Anchor::Middle, -90.0, &chart.quantity);
    for curve in &panel.curves {
        let style = names.iter().position(|name| *name == curve.name).unwrap_or(0);
        let points: Vec<(usize, f64)> =
            curve.values.iter().enumerate().filter_map(|(at, v)| Some((at, (*v)?))).collect();
        let path: Vec<(f64, f64)> =
            points.iter().map(|&(at, v)| (at_x(axis.positions[at]), at_y(v))).collect();
        canvas.open(&curve.name);
        canvas.path(&path, false, &stroke(style, 1.8));
        if points.len() <= MOST_DOTS {
            for (&(at, value), &(x, y)) in points.iter().zip(&path) {
                let label = &axis.labels[at];
                let column = match panel.title.as_str() {
                    "" => label.clone(),
                    title => format!("{title}, {label}"),
                };
                let datum = Datum { value, row: &curve.name, column: &column };
                canvas.dot(x, y, 2.8, palette::category(style), datum);
            }
        }
        canvas.close();
    }
}

/// The attributes of the n-th curve's line.
fn stroke(style: usize, width: f64) -> String {
    let (colour, dash) = (palette::category(style), palette::dash(style / CURVES_PER_DASH));
    format!(
        "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-dasharray=\"{dash}\""
    )
}

/// Writes the names beside samples of their lines, as many per row as fit. Returns the height.
fn draw_legend(canvas: &mut Canvas, names: &[&str], top: f64, width: f64) -> f64 {
    let (mut x, mut y) = (MARGIN.0, top);
    for (style, name) in names.iter().enumerate() {
        let wide = text_width(name, 11.0) + 44.0;
        if x > MARGIN.0 && x + wide > width {
            x = MARGIN.0;
            y += 18.0;
        }
        canvas.open(name);
        canvas.path(&[(x, y + 4.0), (x + 26.0, y + 4.0)], false, &stroke(style, 2.5));
        canvas.text(x + 31.0, y + 8.0, 11.0, Anchor::Start, name);
        canvas.close();
        x += wide;
    }
    y - top + 18.0
}
