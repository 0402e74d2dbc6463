//! Counts per category: stories by human score (UNION, Figure 3).

use storymeter_meta::view::{Cell, Sheet};

use crate::palette;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, ticks};

const HEIGHT: f64 = 200.0;

/// Draws the last column of a sheet as bars; the first column names them.
pub(crate) fn draw(sheet: &Sheet) -> Figure {
    let last = sheet.columns.len() - 1;
    let values: Vec<f64> = sheet.rows.iter().map(|row| row[last].value()).collect();
    let most = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    let high = if most > 0.0 { most } else { 1.0 };
    let (left, top, step) = (60.0, 24.0, 46.0);
    let mut canvas = Canvas::default();
    let at_y = |value: f64| top + HEIGHT - value / high * HEIGHT;
    for tick in ticks(0.0, high, 5) {
        canvas.line([left, at_y(tick), left + values.len() as f64 * step, at_y(tick)], true);
        canvas.text(left - 6.0, at_y(tick) + 3.5, 10.0, Anchor::End, &short(tick));
    }
    for (at, (row, &value)) in sheet.rows.iter().zip(&values).enumerate() {
        let (name, x) = (label(row), left + at as f64 * step);
        if value.is_finite() {
            let datum = Datum { value, row: &name, column: &sheet.columns[last].name };
            let area = [x + 6.0, at_y(value), step - 12.0, top + HEIGHT - at_y(value)];
            canvas.rect(area, palette::category(0), Some(datum));
            canvas.text(x + step / 2.0, at_y(value) - 4.0, 10.0, Anchor::Middle, &short(value));
        }
        canvas.text(x + step / 2.0, top + HEIGHT + 15.0, 10.0, Anchor::Middle, &name);
    }
    canvas.line([left, top + HEIGHT, left + values.len() as f64 * step, top + HEIGHT], false);
    let middle = left + values.len() as f64 * step / 2.0;
    canvas.text(middle, top + HEIGHT + 34.0, 11.0, Anchor::Middle, &sheet.columns[0].name);
    let counted = &sheet.columns[last].name;
    canvas.turned_text(11.0, top + HEIGHT / 2.0, 11.0, Anchor::Middle, -90.0, counted);
    let width = left + values.len() as f64 * step + 12.0;
    canvas.finish(&sheet.title, width.max(200.0), top + HEIGHT + 44.0)
}

fn label(row: &[Cell]) -> String {
    match &row[0] {
        Cell::Text(text) => text.clone(),
        cell => short(cell.value()),
    }
}
