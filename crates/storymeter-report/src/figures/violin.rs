//! Ratings by system as violins (HANNA, Figure 9): outline, quartiles, median and mean, with one
//! panel per criterion.

use storymeter_meta::study::{RatingDistribution, RatingSummary};

use super::SystemColours;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width, ticks};

const HEIGHT: f64 = 170.0;
/// The width of one violin with the space around it.
const SLOT: f64 = 46.0;
/// Wider panels stand below each other instead of side by side.
const WIDEST_OF_TWO: f64 = 560.0;

pub(crate) fn draw(ratings: &RatingDistribution, title: &str, colours: &SystemColours) -> Figure {
    let mut systems: Vec<&str> = Vec::new();
    let mut criteria: Vec<&str> = Vec::new();
    for row in &ratings.rows {
        if !systems.contains(&row.system.as_str()) {
            systems.push(&row.system);
        }
        if !criteria.contains(&row.criterion.as_str()) {
            criteria.push(row.criterion.as_str());
        }
    }
    let low = ratings.grid.first().copied().unwrap_or(0.0);
    let high = ratings.grid.last().copied().unwrap_or(1.0);
    let (left, head) = (40.0, 26.0);
    let labels = systems.iter().map(|s| text_width(s, 10.5)).fold(0.0, f64::max) * 0.71 + 14.0;
    let panel_width = systems.len() as f64 * SLOT;
    let across = if panel_width > WIDEST_OF_TWO { 1 } else { 2 }.min(criteria.len()).max(1);
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
            let is_own = |row: &&RatingSummary| {
                row.system == *system && row.criterion.as_str() == *criterion
            };
            canvas.open(system);
            if let Some(row) = ratings.rows.iter().find(is_own) {
                draw_violin(&mut canvas, centre, &ratings.grid, row, at_y, colours.get(system));
            }
            canvas.turned_text(centre, y + HEIGHT + 14.0, 10.5, Anchor::End, -45.0, system);
            canvas.close();
        }
        canvas.line([x, y + HEIGHT, x + panel_width, y + HEIGHT], false);
    }
    let width = left + across as f64 * (panel_width + left + labels / 2.0);
    let height = head + criteria.len().div_ceil(across) as f64 * (HEIGHT + head + labels);
    canvas.finish(title, width, height)
}

fn draw_violin(
    canvas: &mut Canvas,
    centre: f64,
    grid: &[f64],
    row: &RatingSummary,
    at_y: impl Fn(f64) -> f64,
    colour: &str,
) {
    if let Ok(density) = &row.density {
        draw_outline(canvas, centre, grid, density, &at_y, colour);
    }
    let Ok([mean, quartile1, median, quartile3]) = row.summary else { return };
    let height = (at_y(quartile1) - at_y(quartile3)).max(1.0);
    canvas.rect([centre - 2.5, at_y(quartile3), 5.0, height], "#222222", None);
    for (name, value, colour, radius) in
        [("median", median, "#ffffff", 2.6), ("mean", mean, "#d55e00", 2.2)]
    {
        let column = format!("{}, {name}", row.criterion);
        let datum = Datum { value, row: &row.system, column: &column };
        canvas.dot(centre, at_y(value), radius, colour, datum);
    }
}

/// Draws the outline, scaled so that its widest part fills the slot.
fn draw_outline(
    canvas: &mut Canvas,
    centre: f64,
    grid: &[f64],
    density: &[f64],
    at_y: impl Fn(f64) -> f64,
    colour: &str,
) {
    let widest = density.iter().copied().fold(0.0, f64::max);
    if widest <= 0.0 {
        return;
    }
    let side = |sign: f64| {
        let half = move |density: &f64| sign * density.max(0.0) / widest * SLOT * 0.44;
        grid.iter().zip(density).map(move |(&value, density)| (value, half(density)))
    };
    let place = |(value, half): (f64, f64)| (centre + half, at_y(value));
    let mut points: Vec<(f64, f64)> = side(1.0).map(place).collect();
    let mut back: Vec<(f64, f64)> = side(-1.0).map(place).collect();
    back.reverse();
    points.append(&mut back);
    let style = format!("fill=\"{colour}\" fill-opacity=\"0.75\" stroke=\"{colour}\"");
    canvas.path(&points, true, &style);
}
