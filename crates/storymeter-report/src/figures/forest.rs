//! One row per metric or system: marks on a common axis, with a line for a range or an interval.

use crate::svg::{Anchor, Canvas, Datum, Figure, Shape, short, text_width, ticks};

/// The width of the area with the marks.
const WIDTH: f64 = 340.0;
const ROW: f64 = 25.0;
const LABEL: f64 = 12.0;

/// What is drawn.
pub(crate) struct Forest {
    pub title: String,
    /// What the numbers are, with their unit.
    pub axis: String,
    pub rows: Vec<Row>,
    /// What the marks mean.
    pub legend: Vec<(Shape, String, String)>,
    /// What the line of a row means, for the legend.
    pub line: Option<&'static str>,
    /// Whether the axis must begin at zero, as for absolute values.
    pub from_zero: bool,
}

/// One row.
pub(crate) struct Row {
    pub label: String,
    /// The ends of a thin line.
    pub line: Option<(f64, f64)>,
    pub marks: Vec<Mark>,
    /// Whether the row is pointed out.
    pub is_marked: bool,
}

/// One mark.
pub(crate) struct Mark {
    pub shape: Shape,
    pub colour: String,
    pub value: f64,
    /// What the number is, beside the label of the row.
    pub name: String,
}

/// Draws the rows from top to bottom.
pub(crate) fn draw(forest: &Forest) -> Figure {
    let numbers = forest.rows.iter().flat_map(|row| {
        let ends = row.line.map(|(low, high)| [low, high]).into_iter().flatten();
        ends.chain(row.marks.iter().map(|mark| mark.value)).filter(|value| value.is_finite())
    });
    let (least, most) =
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let (least, most) = if least > most { (0.0, 1.0) } else { (least, most) };
    let least = if forest.from_zero { least.min(0.0) } else { least };
    let span = if most > least { most - least } else { 1.0 };
    let (low, high) = match forest.from_zero && least == 0.0 {
        true => (0.0, most + span * 0.05),
        false => (least - span * 0.05, most + span * 0.05),
    };
    let widest = forest.rows.iter().map(|row| text_width(&row.label, LABEL)).fold(0.0, f64::max);
    let (left, top) = (widest + 14.0, 10.0);
    let bottom = top + forest.rows.len() as f64 * ROW;
    let at_x = |value: f64| left + (value - low) / (high - low) * WIDTH;
    let mut canvas = Canvas::default();
    for tick in ticks(low, high, 5) {
        canvas.line([at_x(tick), top, at_x(tick), bottom], true);
        canvas.text(at_x(tick), bottom + 15.0, 10.5, Anchor::Middle, &short(tick));
    }
    canvas.line([left, bottom, left + WIDTH, bottom], false);
    canvas.text(left + WIDTH / 2.0, bottom + 33.0, 11.0, Anchor::Middle, &forest.axis);
    for (at, row) in forest.rows.iter().enumerate() {
        draw_row(&mut canvas, row, left, top + (at as f64 + 0.5) * ROW, &at_x);
    }
    let legend = draw_legend(&mut canvas, forest, left, bottom + 46.0);
    let axis = left + WIDTH / 2.0 + text_width(&forest.axis, 11.0) / 2.0;
    canvas.finish(&forest.title, (left + WIDTH).max(axis) + 12.0, bottom + 46.0 + legend)
}

fn draw_row(canvas: &mut Canvas, row: &Row, left: f64, y: f64, at_x: &impl Fn(f64) -> f64) {
    if row.is_marked {
        let area = [0.0, y - ROW / 2.0 + 1.0, left + WIDTH, ROW - 2.0];
        canvas.tint(area);
    }
    canvas.open(&row.label);
    canvas.text(left - 8.0, y + 4.0, LABEL, Anchor::End, &row.label);
    if let Some((low, high)) = row.line {
        let ends = [(at_x(low), y), (at_x(high), y)];
        let look = "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.6\" \
                    stroke-opacity=\"0.6\"";
        canvas.path(&ends, false, look);
    }
    for mark in row.marks.iter().filter(|mark| mark.value.is_finite()) {
        let datum = Datum { value: mark.value, row: &row.label, column: &mark.name };
        canvas.mark((at_x(mark.value), y), mark.shape, &mark.colour, Some(datum));
    }
    canvas.close();
}

/// Says what marks and lines mean, as many per line as fit. Returns the height.
fn draw_legend(canvas: &mut Canvas, forest: &Forest, left: f64, top: f64) -> f64 {
    let right = left + WIDTH;
    let (mut x, mut y) = (8.0, top);
    let mut place = |wide: f64| {
        if x > 8.0 && x + wide > right {
            x = 8.0;
            y += 17.0;
        }
        let here = (x, y);
        x += wide;
        here
    };
    for (shape, colour, name) in &forest.legend {
        let (x, y) = place(text_width(name, 10.5) + 28.0);
        canvas.mark((x + 6.0, y + 5.0), *shape, colour, None);
        canvas.text(x + 15.0, y + 8.8, 10.5, Anchor::Start, name);
    }
    if let Some(name) = forest.line {
        let (x, y) = place(text_width(name, 10.5) + 40.0);
        let look = "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.6\" \
                    stroke-opacity=\"0.6\"";
        canvas.path(&[(x, y + 5.0), (x + 20.0, y + 5.0)], false, look);
        canvas.text(x + 26.0, y + 8.8, 10.5, Anchor::Start, name);
    }
    y - top + 20.0
}
