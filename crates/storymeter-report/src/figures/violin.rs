//! Ratings by system as violins (HANNA, Figure 9): outline, quartiles, median and mean, with one
//! panel per criterion.

use storymeter_meta::study::{RatingDistribution, RatingSummary};

use super::SystemColours;
use crate::svg::{Anchor, Canvas, Datum, Figure, Shape, short, text_width, ticks};

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
    let (low, high) = scale(ratings);
    let (left, head) = (46.0, 26.0);
    let labels = systems.iter().map(|s| text_width(s, 10.5)).fold(0.0, f64::max) * 0.71 + 14.0;
    let panel_width = systems.len() as f64 * SLOT;
    let across = if panel_width > WIDEST_OF_TWO { 1 } else { 2 }.min(criteria.len()).max(1);
    let mut canvas = Canvas::default();
    for (at, criterion) in criteria.iter().enumerate() {
        let x = left + (at % across) as f64 * (panel_width + left + labels / 2.0);
        let y = head + (at / across) as f64 * (HEIGHT + head + labels);
        let at_y = |value: f64| y + HEIGHT - (value - low) / (high - low) * HEIGHT;
        canvas.text(x, y - 8.0, 12.0, Anchor::Start, criterion);
        canvas.turned_text(x - 30.0, y + HEIGHT / 2.0, 10.5, Anchor::Middle, -90.0, "rating");
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
                let inside = Outline { grid: &ratings.grid, low, high };
                draw_violin(&mut canvas, centre, inside, row, at_y, colours.get(system));
            }
            canvas.turned_text(centre, y + HEIGHT + 14.0, 10.5, Anchor::End, -45.0, system);
            canvas.close();
        }
        canvas.line([x, y + HEIGHT, x + panel_width, y + HEIGHT], false);
    }
    let width = left + across as f64 * (panel_width + left + labels / 2.0);
    let height = head + criteria.len().div_ceil(across) as f64 * (HEIGHT + head + labels);
    draw_legend(&mut canvas, left, height);
    canvas.finish(title, width.max(420.0), height + 22.0)
}

/// The lowest and the highest rating that was given. The outlines end there, because nobody can
/// rate beyond the scale.
fn scale(ratings: &RatingDistribution) -> (f64, f64) {
    let given = match ratings.steps.is_empty() {
        false => ratings.steps.as_slice(),
        true => ratings.grid.as_slice(),
    };
    match (given.first(), given.last()) {
        (Some(&low), Some(&high)) if low < high => (low, high),
        (Some(&only), _) => (only - 0.5, only + 0.5),
        _ => (0.0, 1.0),
    }
}

/// Says what the parts of a violin are.
fn draw_legend(canvas: &mut Canvas, left: f64, top: f64) {
    let y = top + 8.0;
    canvas.rect([left, y - 7.0, BOX, 14.0], BOX_COLOUR, None);
    canvas.text(left + 12.0, y + 4.0, 10.5, Anchor::Start, "middle half of the ratings");
    for (place, name, colour) in [(190.0, "median", MEDIAN), (260.0, "mean", MEAN)] {
        canvas.rect([left + place - 7.0, y - 7.0, 14.0, 14.0], BOX_COLOUR, None);
        canvas.mark((left + place, y), Shape::Circle, colour, None);
        canvas.text(left + place + 12.0, y + 4.0, 10.5, Anchor::Start, name);
    }
}

/// The width of the box from the first to the third quartile.
const BOX: f64 = 5.0;
const BOX_COLOUR: &str = "#222222";
const MEDIAN: &str = "#ffffff";
const MEAN: &str = "#e69f00";

/// Where an outline is known, and the ends of the scale.
#[derive(Clone, Copy)]
struct Outline<'a> {
    grid: &'a [f64],
    low: f64,
    high: f64,
}

fn draw_violin(
    canvas: &mut Canvas,
    centre: f64,
    inside: Outline<'_>,
    row: &RatingSummary,
    at_y: impl Fn(f64) -> f64,
    colour: &str,
) {
    if let Ok(density) = &row.density {
        draw_outline(canvas, centre, inside, density, &at_y, colour);
    }
    let Ok([mean, quartile1, median, quartile3]) = row.summary else { return };
    let height = (at_y(quartile1) - at_y(quartile3)).max(1.0);
    canvas.rect([centre - BOX / 2.0, at_y(quartile3), BOX, height], BOX_COLOUR, None);
    for (name, value, colour, radius) in
        [("median", median, MEDIAN, 2.6), ("mean", mean, MEAN, 2.2)]
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
    Outline { grid, low, high }: Outline<'_>,
    density: &[f64],
    at_y: impl Fn(f64) -> f64,
    colour: &str,
) {
    let outline: Vec<(f64, f64)> = clipped(grid, density, low, high);
    let widest = outline.iter().map(|(_, density)| *density).fold(0.0, f64::max);
    if widest <= 0.0 {
        return;
    }
    let side = |sign: f64| {
        let half = move |density: f64| sign * density.max(0.0) / widest * SLOT * 0.44;
        outline.iter().map(move |&(value, density)| (value, half(density)))
    };
    let place = |(value, half): (f64, f64)| (centre + half, at_y(value));
    let mut points: Vec<(f64, f64)> = side(1.0).map(place).collect();
    let mut back: Vec<(f64, f64)> = side(-1.0).map(place).collect();
    back.reverse();
    points.append(&mut back);
    let style = format!("fill=\"{colour}\" fill-opacity=\"0.75\" stroke=\"{colour}\"");
    canvas.path(&points, true, &style);
}

/// The outline between the ends of the scale. The ends themselves are interpolated.
fn clipped(grid: &[f64], density: &[f64], low: f64, high: f64) -> Vec<(f64, f64)> {
    let known = grid.len().min(density.len());
    let (grid, density) = (&grid[..known], &density[..known]);
    let at = |end: f64| {
        let above = grid.iter().position(|x| *x >= end)?;
        let below = above.checked_sub(1)?;
        let share = (end - grid[below]) / (grid[above] - grid[below]);
        Some((end, density[below] + (density[above] - density[below]) * share))
    };
    let inside = grid.iter().copied().zip(density.iter().copied());
    let inside = inside.filter(|(x, _)| low < *x && *x < high);
    at(low).into_iter().chain(inside).chain(at(high)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_ends_where_the_scale_ends() {
        let grid = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5];
        let outline = clipped(&grid, &[0.0, 2.0, 1.0, 1.0, 2.0, 0.0], 1.0, 5.0);
        let ends: Vec<f64> = outline.iter().map(|(x, _)| *x).collect();
        assert_eq!(ends, [1.0, 1.5, 2.5, 3.5, 4.5, 5.0]);
        assert_eq!((outline[0].1, outline[5].1), (1.0, 1.0));
    }
}
