//! Systems by one metric: means with intervals, all pairs, and how the scores are distributed.

use storymeter_core::Role;
use storymeter_meta::systems::{SystemComparison, SystemPair, quartiles};

use super::SystemColours;
use super::forest::{self, Forest, Mark, Row};
use crate::stories::StoryTable;
use crate::svg::{Anchor, Canvas, Datum, Figure, Shape, short, text_width, ticks};

/// Matrices and plots of more systems cannot be read.
const MOST_SYSTEMS: usize = 30;
/// The most dots of one system in a plot of all scores.
const MOST_DOTS: usize = 300;

/// The means of the systems with their intervals, best first.
pub(super) fn intervals(found: &SystemComparison, colours: &SystemColours) -> Option<Figure> {
    let key = found.column.key.as_str();
    let ranked = found.systems.iter().filter(|system| system.mean.is_ok()).take(MOST_SYSTEMS);
    let rows: Vec<Row> = ranked
        .map(|system| Row {
            label: system.name.clone(),
            line: system.interval.clone().ok().map(|interval| (interval.low, interval.high)),
            marks: vec![Mark {
                shape: Shape::Diamond,
                colour: colours.get(&system.name).into(),
                value: system.mean.clone().unwrap_or(f64::NAN),
                name: format!("mean {key}"),
            }],
            is_marked: false,
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let percent = found.method.confidence * 100.0;
    let forest = Forest {
        title: format!("Mean {key} of each system"),
        axis: format!("mean {key} {}", arrow(found)),
        rows,
        legend: vec![(Shape::Diamond, "currentColor".into(), "mean over the stories".into())],
        line: Some("interval of the mean"),
        from_zero: false,
    };
    let mut figure = forest::draw(&forest);
    figure.notes.push(format!(
        "Lines are {percent:.0}% intervals. Intervals that overlap do not prove that two systems \
         are equal; the test of each pair decides"
    ));
    figure.signature = found.signature.to_string();
    Some(figure)
}

/// Which way is better.
fn arrow(found: &SystemComparison) -> &'static str {
    match found.column.direction {
        storymeter_core::Direction::Higher => "(higher is better)",
        storymeter_core::Direction::Lower => "(lower is better)",
        storymeter_core::Direction::None => "(no known direction)",
    }
}

/// The colours of a system that is better, worse, or cannot be told apart.
const BETTER: &str = "#0072b2";
const WORSE: &str = "#d55e00";
const LEVEL: &str = "#dddddd";

/// Every two systems: the difference of their means, coloured by the verdict of the test.
pub(super) fn pairs(found: &SystemComparison) -> Option<Figure> {
    let names: Vec<&str> = found.systems.iter().map(|system| system.name.as_str()).collect();
    if !(2..=MOST_SYSTEMS).contains(&names.len()) {
        return None;
    }
    let (width, height, size) = (64.0, 24.0, 11.0);
    let widest = names.iter().map(|name| text_width(name, size)).fold(0.0, f64::max);
    let (left, top) = (widest + 14.0, widest * 0.71 + 40.0);
    let mut canvas = Canvas::default();
    canvas.text(0.0, 14.0, size, Anchor::Start, "row minus column");
    for (at, name) in names.iter().enumerate() {
        let x = left + (at as f64 + 0.5) * width;
        canvas.turned_text(x, top - 6.0, size, Anchor::Start, -45.0, name);
        let y = top + (at as f64 + 0.5) * height + 4.0;
        canvas.text(left - 8.0, y, size, Anchor::End, name);
    }
    for (r, row) in names.iter().enumerate() {
        for (c, column) in names.iter().enumerate().filter(|(c, _)| *c != r) {
            let area =
                [left + c as f64 * width, top + r as f64 * height, width - 2.0, height - 2.0];
            match found.pair(row, column).map(|pair| (pair, &pair.found)) {
                Some((pair, Ok(found))) => {
                    let is_turned = pair.first != **row;
                    let value = if is_turned { -found.difference } else { found.difference };
                    let fill = verdict_colour(pair, row);
                    let p = storymeter_meta::view::p_value(found.p_value.corrected);
                    let head = format!("{column}, {p} corrected");
                    canvas.rect(area, fill, Some(Datum { value, row, column: &head }));
                    let ink = if fill == LEVEL { "#000000" } else { "#ffffff" };
                    let (x, y) = (area[0] + area[2] / 2.0, area[1] + height / 2.0 + 2.8);
                    let text = signed(value);
                    canvas.coloured_text(x, y, 10.5, Anchor::Middle, ink, &text);
                }
                Some((_, Err(gap))) => canvas.absent(area, row, column, &gap.to_string()),
                None => {}
            }
        }
    }
    let bottom = top + names.len() as f64 * height + 12.0;
    let mut x = 8.0;
    for (colour, name) in
        [(BETTER, "row is better"), (WORSE, "row is worse"), (LEVEL, "cannot be told apart")]
    {
        canvas.rect([x, bottom, 12.0, 12.0], colour, None);
        canvas.text(x + 17.0, bottom + 10.0, 10.5, Anchor::Start, name);
        x += text_width(name, 10.5) + 30.0;
    }
    let right = (left + names.len() as f64 * width + widest * 0.71).max(x);
    let key = found.column.key.as_str();
    let title = format!("All pairs of systems: differences of their mean {key}");
    let mut figure = canvas.finish(&title, right + 8.0, bottom + 24.0);
    figure.notes.push(format!(
        "A cell is the mean of the row less the mean of the column, on the stories that were \
         compared. Coloured where the difference is significant (p < {}, corrected for all pairs)",
        found.level()
    ));
    figure.signature = found.signature.to_string();
    Some(figure)
}

fn verdict_colour(pair: &SystemPair, row: &str) -> &'static str {
    match pair.verdict() {
        Some((better, _)) if better == row => BETTER,
        Some(_) => WORSE,
        None => LEVEL,
    }
}

/// A difference with its sign.
fn signed(value: f64) -> String {
    match value > 0.0 {
        true => format!("+{}", short(value)),
        false => short(value),
    }
}

/// All scores of each system as dots, with a box from the first to the third quartile.
pub(super) fn distribution(
    found: &SystemComparison,
    stories: &StoryTable,
    colours: &SystemColours,
) -> Option<Figure> {
    let column = [Role::Metric, Role::Human]
        .into_iter()
        .find_map(|role| stories.column(&found.column.key, role))?;
    let numbers = stories.numbers(column);
    let rows = stories.scores().rows();
    let of_system = |name: &str| -> Vec<f64> {
        let own = rows.iter().zip(&numbers).filter(|(row, value)| {
            !value.is_nan() && row.system.as_deref().is_none_or(|system| system == name)
        });
        let mut values: Vec<f64> = own.map(|(_, value)| *value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let systems: Vec<(&str, Vec<f64>)> = found
        .systems
        .iter()
        .take(MOST_SYSTEMS)
        .map(|system| (system.name.as_str(), of_system(&system.name)))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    let ends = || systems.iter().flat_map(|(_, values)| [values[0], values[values.len() - 1]]);
    let low = ends().fold(f64::INFINITY, f64::min);
    let high = ends().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return None;
    }
    let (low, high) = if low < high { (low, high) } else { (low - 0.5, high + 0.5) };
    let (width, row_height, size) = (420.0, 40.0, 12.0);
    let widest = systems.iter().map(|(name, _)| text_width(name, size)).fold(0.0, f64::max);
    let (left, top) = (widest + 16.0, 10.0);
    let bottom = top + systems.len() as f64 * row_height;
    let at_x = |value: f64| left + 4.0 + (value - low) / (high - low) * (width - 8.0);
    let mut canvas = Canvas::default();
    for tick in ticks(low, high, 6) {
        canvas.line([at_x(tick), top, at_x(tick), bottom], true);
        canvas.text(at_x(tick), bottom + 15.0, 10.5, Anchor::Middle, &short(tick));
    }
    canvas.line([left, bottom, left + width, bottom], false);
    let key = found.column.key.as_str();
    let axis = format!("{key} of single stories {}", arrow(found));
    canvas.text(left + width / 2.0, bottom + 33.0, 11.0, Anchor::Middle, &axis);
    for (at, (name, values)) in systems.iter().enumerate() {
        let y = top + (at as f64 + 0.5) * row_height;
        canvas.open(name);
        canvas.text(left - 8.0, y + 4.0, size, Anchor::End, name);
        let stride = values.len().div_ceil(MOST_DOTS).max(1);
        for (nth, value) in values.iter().enumerate().step_by(stride) {
            // Dots of equal scores are spread a little, the same in every run.
            let shift = ((nth * 7) % 11) as f64 / 10.0 - 0.5;
            let column = format!("{key} of a story");
            let datum = Datum { value: *value, row: name, column: &column };
            canvas.dot(at_x(*value), y + shift * 16.0, 2.2, colours.get(name), datum);
        }
        let [first, median, third] = quartiles(values);
        let box_points = [
            (at_x(first), y - 12.0),
            (at_x(third), y - 12.0),
            (at_x(third), y + 12.0),
            (at_x(first), y + 12.0),
        ];
        canvas.path(&box_points, true, "fill=\"none\" stroke=\"currentColor\"");
        canvas.path(
            &[(at_x(median), y - 12.0), (at_x(median), y + 12.0)],
            false,
            "fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.5\"",
        );
        canvas.close();
    }
    let title = format!("How the {key} of single stories is distributed");
    let mut figure = canvas.finish(&title, left + width + 12.0, bottom + 44.0);
    let is_sample = systems.iter().any(|(_, values)| values.len() > MOST_DOTS);
    figure.notes.push(format!(
        "A dot is a story{}; a box holds the middle half of the stories, and its thick line is \
         the median",
        if is_sample { " (an even sample is drawn)" } else { "" }
    ));
    figure.signature = found.signature.to_string();
    Some(figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_keeps_its_sign() {
        assert_eq!((signed(0.25), signed(-0.25)), ("+0.25".into(), "\u{2212}0.25".into()));
    }
}
