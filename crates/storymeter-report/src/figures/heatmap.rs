//! A matrix under a colour scale: correlations, F1, p-values (HANNA Figures 1 to 7, 10 to 38).

use storymeter_meta::{Cell, Sheet};

use crate::facets::{Facets, Kind};
use crate::palette;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width};

/// Numbers are written into cells only where they can be read.
const MOST_NUMBERED_COLUMNS: usize = 20;

/// What the colours mean.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// -1 to 1.
    Correlation,
    /// 0 to 100.
    Percent,
    /// p-values in steps.
    Significance,
}

impl Scale {
    fn of(sheet: &Sheet, facets: &Facets) -> Self {
        let largest =
            sheet.rows.iter().flat_map(|row| shown_columns(sheet).map(|c| row[c].value().abs()));
        match facets.kind {
            Kind::Williams => Self::Significance,
            Kind::Bootstrap => Self::Percent,
            // The published edition prints percents without a sign.
            _ if largest.fold(0.0, f64::max) > 1.5 => Self::Percent,
            _ => Self::Correlation,
        }
    }

    fn colour(self, value: f64) -> String {
        match self {
            Self::Correlation => palette::diverging(value),
            Self::Percent => palette::sequential(value / 100.0),
            Self::Significance => palette::significance(value).into(),
        }
    }

    fn print(self, value: f64) -> String {
        match self {
            Self::Correlation => format!("{value:.2}")
                .replace("-0.00", "0.00")
                .replace("0.", ".")
                .replace('-', "\u{2212}"),
            Self::Percent => format!("{value:.0}"),
            Self::Significance => format!("{value:.3}").replace("0.", "."),
        }
    }

    /// Where the legend samples the scale, with the label of each sample.
    fn legend(self) -> Vec<(f64, String)> {
        let ends = |low: f64, high: f64, parts: usize| -> Vec<(f64, String)> {
            (0..=parts)
                .map(|i| low + (high - low) * i as f64 / parts as f64)
                .map(|v| (v, short(v)))
                .collect()
        };
        match self {
            Self::Correlation => ends(-1.0, 1.0, 8),
            Self::Percent => ends(0.0, 100.0, 5),
            Self::Significance => {
                [(0.0005, "p < .001"), (0.005, "< .01"), (0.03, "< .05"), (0.5, "\u{2265} .05")]
                    .map(|(v, label)| (v, label.to_owned()))
                    .to_vec()
            }
        }
    }
}

/// All columns but the names and the number of observations.
fn shown_columns(sheet: &Sheet) -> impl Iterator<Item = usize> + '_ {
    (1..sheet.columns.len()).filter(|&c| sheet.columns[c].name != "n")
}

pub fn draw(sheet: &Sheet, facets: &Facets) -> Figure {
    let scale = Scale::of(sheet, facets);
    let columns: Vec<usize> = shown_columns(sheet).collect();
    let numbered = columns.len() <= MOST_NUMBERED_COLUMNS;
    let (cell_w, cell_h) = if numbered { (36.0, 20.0) } else { (13.0, 13.0) };
    let label = if numbered { 11.0 } else { 9.5 };
    let widest = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|n| text_width(n, label)).fold(0.0, f64::max)
    };
    let left = widest(&mut sheet.rows.iter().map(|row| row[0].text())) + 10.0;
    let tallest = widest(&mut columns.iter().map(|&c| sheet.columns[c].name.as_str()));
    let angle: f64 = if numbered { -45.0 } else { -90.0 };
    let top = tallest * angle.to_radians().sin().abs() + 16.0;
    let (width, height) = (columns.len() as f64 * cell_w, sheet.rows.len() as f64 * cell_h);
    let overhang = if numbered { tallest * 0.71 } else { 0.0 };
    let mut canvas = Canvas::default();
    for (at, &column) in columns.iter().enumerate() {
        let x = left + (at as f64 + 0.5) * cell_w + if numbered { 0.0 } else { label * 0.35 };
        canvas.turned_text(x, top - 6.0, label, Anchor::Start, angle, &sheet.columns[column].name);
    }
    for (at, row) in sheet.rows.iter().enumerate() {
        let (name, y) = (row[0].text(), top + at as f64 * cell_h);
        canvas.text(left - 6.0, y + cell_h / 2.0 + label * 0.35, label, Anchor::End, name);
        for (place, &column) in columns.iter().enumerate() {
            let value = row[column].value();
            let x = left + place as f64 * cell_w;
            if !value.is_finite() {
                // An empty cell of Williams' matrix says "not higher"; a missing number is struck out.
                if matches!(row[column], Cell::Missing { .. }) {
                    canvas.line([x + 3.0, y + cell_h - 3.0, x + cell_w - 3.0, y + 3.0], true);
                }
                continue;
            }
            let fill = scale.colour(value);
            let datum = Datum { value, row: name, column: &sheet.columns[column].name };
            canvas.rect([x, y, cell_w - 1.0, cell_h - 1.0], &fill, Some(datum));
            if numbered {
                let (x, y) = (x + (cell_w - 1.0) / 2.0, y + cell_h / 2.0 + 3.5);
                canvas.coloured_text(
                    x,
                    y,
                    10.0,
                    Anchor::Middle,
                    palette::ink_on(&fill),
                    &scale.print(value),
                );
            }
        }
    }
    let legend = draw_legend(&mut canvas, scale, left, top + height + 14.0);
    let right = (left + width + overhang).max(left + legend) + 10.0;
    canvas.finish(&sheet.id, &sheet.title, right, top + height + 50.0)
}

/// A strip of the scale's colours; returns its width.
fn draw_legend(canvas: &mut Canvas, scale: Scale, left: f64, top: f64) -> f64 {
    let step = if scale == Scale::Significance { 58.0 } else { 34.0 };
    let samples = scale.legend();
    for (at, (value, label)) in samples.iter().enumerate() {
        let x = left + at as f64 * step;
        canvas.rect([x, top, step - 1.0, 10.0], &scale.colour(*value), None);
        canvas.text(x + step / 2.0, top + 23.0, 9.5, Anchor::Middle, label);
    }
    samples.len() as f64 * step
}
