//! Curves: top-k systems (HANNA Figure 8), quality drift (UNION Figure 2), training.
//!
//! Where rows carry two names the first chooses a panel, the second the curve.

use storymeter_meta::{Cell, Sheet};

use crate::palette;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width, ticks};

const PANEL: (f64, f64) = (300.0, 190.0);
const MARGIN: (f64, f64) = (52.0, 34.0);
/// Beyond so many points a curve gets no dots.
const MOST_DOTS: usize = 60;

struct Curve<'a> {
    name: &'a str,
    panel: &'a str,
    values: Vec<f64>,
}

pub fn draw(sheet: &Sheet) -> Figure {
    let named =
        sheet.rows[0].iter().take_while(|cell| matches!(cell, Cell::Text(_))).count().clamp(1, 2);
    let points = points(sheet, named);
    let curves: Vec<Curve<'_>> = sheet
        .rows
        .iter()
        .map(|row| Curve {
            name: row[named - 1].text(),
            panel: if named == 2 { row[0].text() } else { "" },
            values: points.iter().map(|&c| row[c].value()).collect(),
        })
        .collect();
    let heads: Vec<&str> = points.iter().map(|&c| sheet.columns[c].name.as_str()).collect();
    let mut panels: Vec<&str> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for curve in &curves {
        if !panels.contains(&curve.panel) {
            panels.push(curve.panel);
        }
        if !names.contains(&curve.name) {
            names.push(curve.name);
        }
    }
    let across = panels.len().min(3);
    let down = panels.len().div_ceil(across.max(1));
    // Each panel of a training log has its own quantity, so its own scale and no need for a legend.
    let own_scale = sheet.id.starts_with("training-");
    let shared = extent(&curves.iter().collect::<Vec<_>>());
    let mut canvas = Canvas::default();
    for (at, panel) in panels.iter().enumerate() {
        let own: Vec<&Curve<'_>> = curves.iter().filter(|curve| curve.panel == *panel).collect();
        let x = MARGIN.0 + (at % across) as f64 * (PANEL.0 + MARGIN.0);
        let y = MARGIN.1 + (at / across) as f64 * (PANEL.1 + MARGIN.1 + 24.0);
        let range = if own_scale { extent(&own) } else { shared };
        draw_panel(&mut canvas, (x, y), panel, &heads, &own, &names, range);
    }
    let width = MARGIN.0 + across as f64 * (PANEL.0 + MARGIN.0);
    let body = MARGIN.1 + down as f64 * (PANEL.1 + MARGIN.1 + 24.0);
    let legend = if own_scale { 0.0 } else { draw_legend(&mut canvas, &names, body + 6.0, width) };
    canvas.finish(&sheet.id, &sheet.title, width, body + legend + 10.0)
}

/// The columns that are points of a curve. A sheet may end in a summary of the curve, such as its variance, which is
/// none: points are named by a number, `#1`, `k=4`, `300`.
fn points(sheet: &Sheet, named: usize) -> Vec<usize> {
    let numbered =
        |name: &str| name.trim_start_matches('#').trim_start_matches("k=").parse::<f64>().is_ok();
    let all = named..sheet.columns.len();
    let found: Vec<usize> = all.clone().filter(|&c| numbered(&sheet.columns[c].name)).collect();
    if found.is_empty() { all.collect() } else { found }
}

fn extent(curves: &[&Curve<'_>]) -> (f64, f64) {
    let values =
        || curves.iter().flat_map(|curve| curve.values.iter().copied()).filter(|v| v.is_finite());
    let (low, high) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return (0.0, 1.0);
    }
    let low = if low > 0.0 && low < high / 2.0 { 0.0 } else { low };
    if low == high { (low - 0.5, high + 0.5) } else { (low, high) }
}

fn draw_panel(
    canvas: &mut Canvas,
    (left, top): (f64, f64),
    title: &str,
    heads: &[&str],
    curves: &[&Curve<'_>],
    names: &[&str],
    (low, high): (f64, f64),
) {
    // Steps of a log are not evenly spaced; sets and ranks are.
    let numbers: Vec<f64> = heads.iter().filter_map(|head| head.parse().ok()).collect();
    let places = if numbers.len() == heads.len() {
        numbers
    } else {
        (0..heads.len()).map(|i| i as f64).collect()
    };
    let (first, last) =
        (places.first().copied().unwrap_or(0.0), places.last().copied().unwrap_or(1.0));
    let at_x = |x: f64| left + (x - first) / (last - first).max(f64::MIN_POSITIVE) * PANEL.0;
    let at_y = |y: f64| top + PANEL.1 - (y - low) / (high - low) * PANEL.1;
    canvas.text(left, top - 10.0, 12.0, Anchor::Start, title);
    for tick in ticks(low, high, 5) {
        canvas.line([left, at_y(tick), left + PANEL.0, at_y(tick)], true);
        canvas.text(left - 6.0, at_y(tick) + 3.5, 10.0, Anchor::End, &short(tick));
    }
    let widest = heads.iter().map(|head| text_width(head, 10.0) + 8.0).fold(1.0, f64::max);
    let every = (heads.len() as f64 * widest / PANEL.0).ceil().max(1.0) as usize;
    for (head, place) in heads.iter().zip(&places).step_by(every) {
        canvas.text(at_x(*place), top + PANEL.1 + 15.0, 10.0, Anchor::Middle, head);
    }
    canvas.line([left, top + PANEL.1, left + PANEL.0, top + PANEL.1], false);
    for curve in curves {
        let style = names.iter().position(|name| *name == curve.name).unwrap_or(0);
        let colour = palette::category(style);
        let points: Vec<(usize, f64)> =
            curve.values.iter().copied().enumerate().filter(|(_, v)| v.is_finite()).collect();
        let path: Vec<(f64, f64)> =
            points.iter().map(|&(i, v)| (at_x(places[i]), at_y(v))).collect();
        canvas.open(curve.name);
        let dash = palette::dash(style / 4);
        canvas.path(
            &path,
            false,
            &format!(
                "fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dash}\""
            ),
        );
        if points.len() <= MOST_DOTS {
            for (&(i, value), &(x, y)) in points.iter().zip(&path) {
                let column = if title.is_empty() {
                    heads[i].to_owned()
                } else {
                    format!("{title}, {}", heads[i])
                };
                canvas.dot(x, y, 2.8, colour, Datum { value, row: curve.name, column: &column });
            }
        }
        canvas.close();
    }
}

/// Names in their colours, as many a line as fit; returns the height.
fn draw_legend(canvas: &mut Canvas, names: &[&str], top: f64, width: f64) -> f64 {
    let (mut x, mut y) = (MARGIN.0, top);
    for (at, name) in names.iter().enumerate() {
        let wide = text_width(name, 11.0) + 44.0;
        if x > MARGIN.0 && x + wide > width {
            x = MARGIN.0;
            y += 18.0;
        }
        canvas.open(name);
        let (colour, dash) = (palette::category(at), palette::dash(at / 4));
        canvas.path(
            &[(x, y + 4.0), (x + 26.0, y + 4.0)],
            false,
            &format!(
                "fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dash}\""
            ),
        );
        canvas.text(x + 31.0, y + 8.0, 11.0, Anchor::Start, name);
        canvas.close();
        x += wide;
    }
    y - top + 18.0
}
