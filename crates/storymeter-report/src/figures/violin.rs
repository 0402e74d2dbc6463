//! Ratings by system as violins (HANNA Figure 9): outline, quartiles, median and mean, one panel a criterion.

use storymeter_meta::{Cell, Sheet};

use super::SystemColours;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width, ticks};

const HEIGHT: f64 = 170.0;
const SLOT: f64 = 46.0;

pub fn draw(summary: &Sheet, outline: &Sheet, colours: &SystemColours) -> Figure {
    let mut systems: Vec<&str> = Vec::new();
    let mut criteria: Vec<&str> = Vec::new();
    for row in &summary.rows {
        if !systems.contains(&row[0].text()) {
            systems.push(row[0].text());
        }
        if !criteria.contains(&row[1].text()) {
            criteria.push(row[1].text());
        }
    }
    let grid: Vec<f64> =
        outline.columns[2..].iter().filter_map(|head| head.name.parse().ok()).collect();
    let (low, high) = (grid.first().copied().unwrap_or(0.0), grid.last().copied().unwrap_or(1.0));
    let (left, head) = (40.0, 26.0);
    let labels = systems.iter().map(|s| text_width(s, 10.5)).fold(0.0, f64::max) * 0.71 + 14.0;
    let panel_width = systems.len() as f64 * SLOT;
    let across = if panel_width > 560.0 { 1 } else { 2 }.min(criteria.len());
    let mut canvas = Canvas::default();
    for (at, criterion) in criteria.iter().enumerate() {
        let x = left + (at % across) as f64 * (panel_width + left + labels / 2.0);
        let y = head + (at / across) as f64 * (HEIGHT + head + labels);
        let at_y = |value: f64| y + HEIGHT - (value - low) / (high - low) * HEIGHT;
        canvas.text(x, y - 8.0, 12.0, Anchor::Start, criterion);
        for tick in ticks(low, high, 6) {
            canvas.line([x, at_y(tick), x + panel_width, at_y(tick)], true);
            canvas.text(x - 6.0, at_y(tick) + 3.5, 10.0, Anchor::End, &short(tick));
        }
        for (place, system) in systems.iter().enumerate() {
            let centre = x + (place as f64 + 0.5) * SLOT;
            let density = row_of(outline, system, criterion);
            let numbers = |name: &str| {
                let column = summary.columns.iter().position(|head| head.name == name)?;
                row_of(summary, system, criterion)
                    .map(|row| row[column].value())
                    .filter(|v| v.is_finite())
            };
            canvas.open(system);
            if let Some(density) = density {
                violin(&mut canvas, centre, &grid, &density[2..], at_y, colours.get(system));
            }
            if let (Some(q1), Some(q3)) = (numbers("quartile 1"), numbers("quartile 3")) {
                let box_ = [centre - 2.5, at_y(q3), 5.0, (at_y(q1) - at_y(q3)).max(1.0)];
                canvas.rect(box_, "#222222", None);
            }
            for (name, colour, radius) in [("median", "#ffffff", 2.6), ("mean", "#d55e00", 2.2)] {
                if let Some(value) = numbers(name) {
                    let column = format!("{criterion}, {name}");
                    canvas.dot(
                        centre,
                        at_y(value),
                        radius,
                        colour,
                        Datum { value, row: system, column: &column },
                    );
                }
            }
            canvas.turned_text(centre, y + HEIGHT + 14.0, 10.5, Anchor::End, -45.0, system);
            canvas.close();
        }
        canvas.line([x, y + HEIGHT, x + panel_width, y + HEIGHT], false);
    }
    let width = left + across as f64 * (panel_width + left + labels / 2.0);
    let height = head + criteria.len().div_ceil(across.max(1)) as f64 * (HEIGHT + head + labels);
    canvas.finish(&summary.id, &summary.title, width, height)
}

fn row_of<'a>(sheet: &'a Sheet, system: &str, criterion: &str) -> Option<&'a Vec<Cell>> {
    sheet.rows.iter().find(|row| row[0].text() == system && row[1].text() == criterion)
}

/// The outline, scaled so that its widest part fills the slot.
fn violin(
    canvas: &mut Canvas,
    centre: f64,
    grid: &[f64],
    density: &[Cell],
    at_y: impl Fn(f64) -> f64,
    colour: &str,
) {
    let widest = density.iter().map(Cell::value).filter(|v| v.is_finite()).fold(0.0, f64::max);
    if widest <= 0.0 {
        return;
    }
    let half = |cell: &Cell| cell.value().max(0.0) / widest * SLOT * 0.44;
    let side = |sign: f64| grid.iter().zip(density).map(move |(&g, cell)| (g, sign * half(cell)));
    let right = side(1.0).map(|(g, w)| (centre + w, at_y(g)));
    let points: Vec<(f64, f64)> = right
        .chain(side(-1.0).collect::<Vec<_>>().into_iter().rev().map(|(g, w)| (centre + w, at_y(g))))
        .collect();
    canvas.path(
        &points,
        true,
        &format!("fill=\"{colour}\" fill-opacity=\"0.75\" stroke=\"{colour}\""),
    );
}
