//! A matrix under a colour scale: correlations, F1 or p-values (HANNA, Figures 1 to 7 and 10 to
//! 38).

use storymeter_core::number::Digits;
use storymeter_meta::view::{Cell, Sheet};

use crate::heat::{Heat, Scale};
use crate::palette;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width};

/// Numbers are written into the cells of matrices with at most this many columns.
const MOST_NUMBERED_COLUMNS: usize = 20;

impl Scale {
    fn colour(self, value: f64) -> String {
        match self {
            Self::Correlation => palette::diverging(value),
            Self::Percent => palette::sequential(value / 100.0),
            Self::Significance => palette::significance(value).into(),
        }
    }

    fn print(self, value: f64) -> String {
        match self {
            Self::Correlation => Digits::new([1.0], 2).text(value).replace('-', "\u{2212}"),
            Self::Percent => format!("{value:.0}"),
            Self::Significance if value < 0.001 => "<0.001".into(),
            Self::Significance => format!("{value:.3}"),
        }
    }

    /// The samples of the legend, with their labels.
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
                [(0.0005, "< 0.001"), (0.005, "< 0.01"), (0.03, "< 0.05"), (0.5, "\u{2265} 0.05")]
                    .map(|(v, label)| (v, label.to_owned()))
                    .to_vec()
            }
        }
    }

    /// What the samples of the legend are.
    fn title(self) -> &'static str {
        match self {
            Self::Correlation => "correlation, with its sign",
            Self::Percent => "percent",
            Self::Significance => "p-value",
        }
    }
}

/// The space between the columns and their mean.
const GAP: f64 = 8.0;
/// The head of the column with the mean of the others.
pub(crate) const MEAN: &str = "mean";

/// Draws the shown columns of a sheet; its first column names the rows.
pub(crate) fn draw(sheet: &Sheet, heat: &Heat) -> Figure {
    let (scale, columns) = (heat.scale, &heat.shown);
    let numbered = columns.len() <= MOST_NUMBERED_COLUMNS;
    let (cell_w, cell_h) = match (numbered, scale) {
        (true, Scale::Significance) => (44.0, 20.0),
        (true, _) => (38.0, 20.0),
        (false, _) => (13.0, 13.0),
    };
    let label = if numbered { 11.0 } else { 9.5 };
    let widest = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|n| text_width(n, label)).fold(0.0, f64::max)
    };
    let left = widest(&mut sheet.rows.iter().map(|row| row[0].text())) + 10.0;
    let heads = columns.iter().map(|&c| sheet.columns[c].name.as_str());
    let tallest = widest(&mut heads.chain(heat.mean.map(|_| MEAN)));
    let angle: f64 = if numbered { -45.0 } else { -90.0 };
    let top = tallest * angle.to_radians().sin().abs() + 16.0;
    let apart = heat.mean.map_or(0.0, |_| cell_w + GAP);
    let width = columns.len() as f64 * cell_w + apart;
    let height = sheet.rows.len() as f64 * cell_h;
    let overhang = if numbered { tallest * 0.71 } else { 0.0 };
    let mut canvas = Canvas::default();
    let place = |at: usize| left + at as f64 * cell_w;
    let mut head = |x: f64, name: &str| {
        let x = x + 0.5 * cell_w + if numbered { 0.0 } else { label * 0.35 };
        canvas.turned_text(x, top - 6.0, label, Anchor::Start, angle, name);
    };
    for (at, &column) in columns.iter().enumerate() {
        head(place(at), &sheet.columns[column].name);
    }
    if heat.mean.is_some() {
        head(place(columns.len()) + GAP, MEAN);
    }
    for (at, row) in sheet.rows.iter().enumerate() {
        let (name, y) = (row[0].text(), top + at as f64 * cell_h);
        canvas.text(left - 6.0, y + cell_h / 2.0 + label * 0.35, label, Anchor::End, name);
        let mut cell = |x: f64, column: usize| {
            let value = row[column].value();
            let area = [x, y, cell_w - 1.0, cell_h - 1.0];
            let head = &sheet.columns[column].name;
            if let Cell::Missing(absence) = &row[column] {
                canvas.absent(area, name, head, &absence.to_string());
            }
            // A matrix of tests has an empty cell where the row is not the stronger metric.
            if !value.is_finite() {
                return;
            }
            let fill = scale.colour(value);
            canvas.rect(area, &fill, Some(Datum { value, row: name, column: head }));
            if numbered {
                let (x, y) = (x + (cell_w - 1.0) / 2.0, y + cell_h / 2.0 + 3.5);
                let (ink, text) = (palette::ink_on(&fill), scale.print(value));
                canvas.coloured_text(x, y, 10.0, Anchor::Middle, ink, &text);
            }
        };
        for (at, &column) in columns.iter().enumerate() {
            cell(place(at), column);
        }
        if let Some(column) = heat.mean {
            cell(place(columns.len()) + GAP, column);
        }
    }
    let legend = draw_legend(&mut canvas, heat, left, top + height + 14.0);
    let right = (left + width + overhang).max(left + legend) + 10.0;
    canvas.finish(&sheet.title, right, top + height + 66.0)
}

/// Draws samples of the scale with their labels and what they mean. Returns the width.
fn draw_legend(canvas: &mut Canvas, heat: &Heat, left: f64, top: f64) -> f64 {
    let scale = heat.scale;
    let step = if scale == Scale::Significance { 58.0 } else { 34.0 };
    let samples = scale.legend();
    for (at, (value, label)) in samples.iter().enumerate() {
        let x = left + at as f64 * step;
        canvas.rect([x, top, step - 1.0, 10.0], &scale.colour(*value), None);
        canvas.text(x + step / 2.0, top + 23.0, 9.5, Anchor::Middle, label);
    }
    let title = scale.title();
    canvas.text(left, top + 40.0, 10.0, Anchor::Start, title);
    (samples.len() as f64 * step).max(text_width(title, 10.0))
}
