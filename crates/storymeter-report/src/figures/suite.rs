//! What metrics see and what disturbs them: one heat-map of a whole test suite.
//!
//! Discrimination and invariance stand side by side, because they must be read together. Each has
//! its own number and its own scale of colours.

use std::f64::consts::FRAC_1_SQRT_2;

use storymeter_core::number::Digits;
use storymeter_core::{Aspect, AspectTest, Key};
use storymeter_meta::Outcome;
use storymeter_meta::suite::{SuiteCell, SuiteResult};
use storymeter_meta::view::reaction;

use crate::palette;
use crate::svg::{Anchor, Canvas, Datum, Figure, short, text_width};

/// The name of the figure and of its files.
pub(super) const ID: &str = "what-metrics-see";
/// The row of the metric that gives all texts the same score.
const CONSTANT: &str = "constant metric";

/// From this shift on, in either direction, the colour is the darkest.
const DARKEST_SHIFT: f64 = 0.3;
/// The most characters of a name beside its row. The marks carry the whole name.
const LONGEST_NAME: usize = 36;

const CELL: (f64, f64) = (46.0, 26.0);
const LABEL: f64 = 11.0;
/// The space between the two tests.
const GAP: f64 = 22.0;
/// The space above the constant metric, which is a baseline and none of the metrics.
const ROW_GAP: f64 = 8.0;
/// The width of one sample of a legend.
const SAMPLE: f64 = 42.0;

/// What a test shows.
trait Shown {
    fn title(self) -> &'static str;
    fn number(self, cell: &SuiteCell) -> Outcome<f64>;
    fn print(self, value: f64) -> String;
    fn colour(self, value: f64) -> String;
    fn samples(self) -> Vec<(f64, &'static str)>;
    fn legend(self) -> [&'static str; 2];
}

impl Shown for AspectTest {
    fn title(self) -> &'static str {
        match self {
            Self::Discrimination => "Discrimination: does it see the damage?",
            Self::Invariance => "Invariance: does it stay calm?",
        }
    }

    fn number(self, cell: &SuiteCell) -> Outcome<f64> {
        match self {
            Self::Discrimination => cell.auc.clone(),
            Self::Invariance => cell.shift.clone(),
        }
    }

    fn print(self, value: f64) -> String {
        let digits = Digits::new([1.0], 2);
        let text = match self {
            _ if value.abs() >= 100.0 => return short(value),
            Self::Discrimination => digits.text(value),
            Self::Invariance => digits.signed(value),
        };
        text.replace('-', "\u{2212}")
    }

    fn colour(self, value: f64) -> String {
        match self {
            Self::Discrimination => palette::above_chance(value),
            Self::Invariance => palette::disturbance(value.abs() / DARKEST_SHIFT),
        }
    }

    fn samples(self) -> Vec<(f64, &'static str)> {
        match self {
            Self::Discrimination => {
                [(0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1")].to_vec()
            }
            Self::Invariance => {
                [(0.0, "0"), (0.1, "0.1"), (0.2, "0.2"), (0.3, "\u{2265} 0.3")].to_vec()
            }
        }
    }

    fn legend(self) -> [&'static str; 2] {
        match self {
            Self::Discrimination => {
                ["AUC of original against damaged twin", "1 sees all, 0.5 is blind, 0 is wrong"]
            }
            Self::Invariance => {
                ["|shift| by a change that means nothing", "in standard deviations, 0 is calm"]
            }
        }
    }
}

/// One column: an aspect, and why it has no numbers, if it has none.
struct Place {
    aspect: Aspect,
    reason: Option<String>,
    x: f64,
}

/// Draws the metrics of a suite as rows and its aspects as columns; `None` where there is no
/// aspect, or so many metrics that nobody could read them.
pub(crate) fn draw(result: &SuiteResult, highlight: Option<&Key>) -> Option<Figure> {
    let outline = result.outline();
    if outline.is_empty() || result.metrics.len() * outline.len() > super::MOST_CELLS {
        return None;
    }
    let names: Vec<String> = result.metrics.iter().map(|column| clipped(&column.key)).collect();
    let widths = names.iter().map(String::as_str).chain([CONSTANT]).map(|n| text_width(n, LABEL));
    let left = widths.fold(0.0, f64::max) + 14.0;
    let places = places(outline, left);
    // A head that is turned by 45 degrees is as high as it is wide.
    let turned = |place: &Place| text_width(place.aspect.name(), LABEL) * FRAC_1_SQRT_2;
    let top = 34.0 + places.iter().map(turned).fold(0.0, f64::max);
    let heads = places.iter().map(|place| place.x + CELL.0 / 2.0 + LABEL + turned(place));
    let overhang = heads.fold(0.0, f64::max);
    let across = places.last().map_or(left, |place| place.x + CELL.0);

    let mut canvas = Canvas::default();
    let row = |at: usize| top + at as f64 * CELL.1;
    if let Some(at) = result.metrics.iter().position(|column| Some(&column.key) == highlight) {
        canvas.tint([0.0, row(at), across, CELL.1 - 1.0]);
    }
    for (at, name) in names.iter().enumerate() {
        let key = result.metrics[at].key.as_str();
        draw_name(&mut canvas, left, row(at), name);
        for place in &places {
            draw_cell(&mut canvas, place, row(at), key, result.cell(key, place.aspect));
        }
    }
    let last = row(names.len()) + if names.is_empty() { 0.0 } else { ROW_GAP };
    draw_name(&mut canvas, left, last, CONSTANT);
    for place in &places {
        let cell = result.constant.iter().find(|cell| cell.aspect == place.aspect);
        draw_cell(&mut canvas, place, last, CONSTANT, cell);
    }
    for place in &places {
        let x = place.x + CELL.0 / 2.0;
        canvas.turned_text(x, top - 7.0, LABEL, Anchor::Start, -45.0, place.aspect.name());
    }
    let bottom = last + CELL.1;
    let right = draw_tests(&mut canvas, &places, bottom + 18.0).max(across).max(overhang);
    let title = match result.metrics.as_slice() {
        [only] => format!("What {} sees and what disturbs it", clipped(&only.key)),
        _ => "What metrics see and what disturbs them".to_owned(),
    };
    let mut figure = canvas.finish(&title, right + 8.0, bottom + 78.0);
    figure.notes = notes(&places);
    figure.signature = result.signature.to_string();
    Some(figure)
}

/// The columns from left to right. Those of the second test begin after a gap.
fn places(outline: Vec<(Aspect, Option<String>)>, left: f64) -> Vec<Place> {
    let first = outline[0].0.test();
    let place = |(at, (aspect, reason)): (usize, (Aspect, Option<String>))| {
        let gap = if aspect.test() == first { 0.0 } else { GAP };
        Place { aspect, reason, x: left + at as f64 * CELL.0 + gap }
    };
    outline.into_iter().enumerate().map(place).collect()
}

fn draw_name(canvas: &mut Canvas, left: f64, y: f64, name: &str) {
    canvas.text(left - 8.0, y + CELL.1 / 2.0 + 3.5, LABEL, Anchor::End, name);
}

fn draw_cell(canvas: &mut Canvas, place: &Place, y: f64, metric: &str, cell: Option<&SuiteCell>) {
    let test = place.aspect.test();
    let area = [place.x, y, CELL.0 - 1.0, CELL.1 - 1.0];
    let (x, base) = (place.x + (CELL.0 - 1.0) / 2.0, y + CELL.1 / 2.0 + 3.5);
    let here = format!("{metric} \u{b7} {}", place.aspect);
    let found = match (&place.reason, cell) {
        (Some(reason), _) => Err(reason.clone()),
        (None, Some(cell)) => match test.number(cell) {
            Ok(value) => Ok((cell, value)),
            Err(reason) => Err(reason.to_string()),
        },
        (None, None) => Err("no pairs".to_owned()),
    };
    match found {
        Ok((cell, value)) => {
            let datum = Datum { value, row: metric, column: place.aspect.name() };
            canvas.open_tip(&format!("{here}: {}", in_words(cell)), Some(datum));
            let fill = test.colour(value);
            canvas.rect(area, &fill, None);
            let ink = palette::ink_on(&fill);
            canvas.coloured_text(x, base, 10.5, Anchor::Middle, ink, &test.print(value));
        }
        Err(reason) => {
            canvas.open_tip(&format!("{here}: absent ({reason})"), None);
            canvas.rect(area, "transparent", None);
            let [left, top, right, bottom] =
                [area[0] + 0.5, area[1] + 0.5, area[0] + area[2] - 0.5, area[1] + area[3] - 0.5];
            canvas.path(
                &[(left, top), (right, top), (right, bottom), (left, bottom)],
                true,
                "fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.35\" \
                 stroke-dasharray=\"2 3\"",
            );
            canvas.text(x, base, 10.5, Anchor::Middle, "\u{2013}");
        }
    }
    canvas.close();
}

/// What the page says of a cell under the pointer.
fn in_words(cell: &SuiteCell) -> String {
    let shown = |value: Outcome<f64>| value.map_or("absent".to_owned(), short);
    let shift = match (cell.shift.clone(), cell.shift_low.clone(), cell.shift_high.clone()) {
        (Ok(shift), Ok(low), Ok(high)) => {
            format!("{} ({} to {})", short(shift), short(low), short(high))
        }
        (shift, ..) => shown(shift),
    };
    let size = match cell.pairs {
        0 => format!("{} originals, {} twins", cell.originals, cell.twins),
        1 => "1 pair".to_owned(),
        pairs => format!("{pairs} pairs"),
    };
    let reaction = reaction(cell).map_or("", |reaction| reaction.name());
    format!("{reaction}; AUC {}, shift {shift}, {size}", shown(cell.auc.clone()))
}

/// Draws the titles above the columns of each test and the legends under them. Returns the right
/// end of all.
fn draw_tests(canvas: &mut Canvas, places: &[Place], below: f64) -> f64 {
    let mut free = 0.0_f64;
    for test in [AspectTest::Discrimination, AspectTest::Invariance] {
        let mut own = places.iter().filter(|place| place.aspect.test() == test);
        let Some(first) = own.next() else { continue };
        // A test with few aspects is narrower than what is said about it.
        let x = first.x.max(free);
        canvas.text(x, 14.0, 12.5, Anchor::Start, test.title());
        for (at, (value, label)) in test.samples().into_iter().enumerate() {
            let x = x + at as f64 * SAMPLE;
            canvas.rect([x, below, SAMPLE - 1.0, 11.0], &test.colour(value), None);
            canvas.text(x + SAMPLE / 2.0, below + 23.0, 9.5, Anchor::Middle, label);
        }
        for (at, line) in test.legend().into_iter().enumerate() {
            canvas.text(x, below + 39.0 + 13.0 * at as f64, 10.0, Anchor::Start, line);
        }
        let lines = test.legend().map(|line| text_width(line, 10.0));
        let widths = lines.into_iter().chain([text_width(test.title(), 12.5)]);
        free = x + widths.fold(test.samples().len() as f64 * SAMPLE, f64::max) + GAP;
    }
    free - GAP
}

/// What a reader should know besides the numbers.
fn notes(places: &[Place]) -> Vec<String> {
    let mut notes = vec![
        "The constant metric gives all texts the same score. It is the baseline of a metric that sees \
         nothing"
            .to_owned(),
    ];
    let absent = places.iter().filter_map(|place| {
        let reason = place.reason.as_ref()?;
        Some(format!("{} ({reason})", place.aspect))
    });
    let absent: Vec<String> = absent.collect();
    if !absent.is_empty() {
        notes
            .push(format!("A dash stands for an absent number. Not tested: {}", absent.join(", ")));
    }
    notes
}

/// The beginning of a name.
fn clipped(key: &Key) -> String {
    match key.as_str().char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}\u{2026}", &key.as_str()[..end]),
        None => key.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_decimals_a_sign_where_it_matters_and_never_hundreds_of_digits() {
        let (auc, shift) = (AspectTest::Discrimination, AspectTest::Invariance);
        assert_eq!((auc.print(0.834), shift.print(0.126)), ("0.83".into(), "+0.13".into()));
        assert_eq!(
            (shift.print(-0.126), shift.print(-1e-9)),
            ("\u{2212}0.13".into(), "0.00".into())
        );
        assert_eq!(shift.print(1e300), "1e300");
        assert_eq!(shift.colour(-0.3), shift.colour(0.3), "the colour has no sign");
        assert_ne!(auc.colour(0.3), auc.colour(0.7));
    }
}
