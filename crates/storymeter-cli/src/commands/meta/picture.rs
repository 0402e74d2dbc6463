//! Small heat-maps and bars for a terminal, in colour where the terminal has colours.

use std::fmt::Write as _;

use anstyle::{Color, RgbColor, Style};
use storymeter_core::terminal::plain;
use storymeter_meta::view::{Cell, Form, Sheet, Subject};
use unicode_width::UnicodeWidthStr;

/// How a picture may be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// With 24-bit colours.
    Colour,
    /// With shades of characters.
    Plain,
}

/// The most columns of a heat-map. Wider ones are for a page.
const MOST_COLUMNS: usize = 20;
/// The length of the longest bar, in cells.
const BAR: f64 = 40.0;

/// Draws a sheet; `None` where it is a table to read, or too large.
pub fn picture(sheet: &Sheet, paint: Paint) -> Option<String> {
    match sheet.form {
        Form::Heatmap => heatmap(sheet, paint),
        Form::Bars => bars(sheet, paint),
        Form::Table | Form::Lines => None,
    }
}

fn heatmap(sheet: &Sheet, paint: Paint) -> Option<String> {
    let columns: Vec<usize> =
        (1..sheet.columns.len()).filter(|&c| sheet.columns[c].name != "n").collect();
    if columns.len() > MOST_COLUMNS {
        return None;
    }
    let values = || sheet.rows.iter().flat_map(|row| columns.iter().map(|&c| row[c].value()));
    // Values above 1 are percents.
    let high = if values().any(|v| v.abs() > 1.5) { 100.0 } else { 1.0 };
    let names: Vec<_> = sheet.rows.iter().map(|row| plain(row[0].text())).collect();
    let name_width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let mut text = String::new();
    for (row, name) in sheet.rows.iter().zip(&names) {
        let _ = write!(text, "  {name}{} ", " ".repeat(name_width - name.width()));
        for &column in &columns {
            let share = row[column].value() / high;
            match (share.is_finite(), paint) {
                (false, _) => text.push_str("    "),
                (true, Paint::Colour) => {
                    let (style, percent) = (cell_style(share), share * 100.0);
                    let _ = write!(text, "{style}{percent:>4.0}{style:#}");
                }
                (true, Paint::Plain) => {
                    let _ = write!(
                        text,
                        " {0}{0}{1}",
                        shade(share),
                        if share < 0.0 { '-' } else { ' ' }
                    );
                }
            }
        }
        text.push('\n');
    }
    if paint == Paint::Plain {
        text.push_str(
            "  shades: \u{b7} below .2, \u{2591} .4, \u{2592} .6, \u{2593} .8, \u{2588} above; - negative\n",
        );
    }
    Some(text)
}

/// The colours of the figures: blue for negative, red for positive, white for 0.
fn cell_style(share: f64) -> Style {
    let fade = |end: [f64; 3]| end.map(|c| (247.0 + (c - 247.0) * share.abs().min(1.0)) as u8);
    let [r, g, b] =
        if share < 0.0 { fade([33.0, 102.0, 172.0]) } else { fade([178.0, 24.0, 43.0]) };
    let ink = if share.abs() > 0.6 { RgbColor(255, 255, 255) } else { RgbColor(0, 0, 0) };
    Style::new().fg_color(Some(Color::Rgb(ink))).bg_color(Some(Color::Rgb(RgbColor(r, g, b))))
}

fn shade(share: f64) -> char {
    match share.abs() {
        s if s < 0.2 => '\u{b7}',
        s if s < 0.4 => '\u{2591}',
        s if s < 0.6 => '\u{2592}',
        s if s < 0.8 => '\u{2593}',
        _ => '\u{2588}',
    }
}

/// One bar per row, of its last column.
fn bars(sheet: &Sheet, paint: Paint) -> Option<String> {
    let last = sheet.columns.len().checked_sub(1)?;
    let most = sheet
        .rows
        .iter()
        .map(|row| row[last].value())
        .filter(|v| v.is_finite())
        .fold(0.0, f64::max);
    if most <= 0.0 || sheet.subject == Subject::Ratings {
        return None;
    }
    let label = |row: &[Cell]| match &row[0] {
        Cell::Text(text) => plain(text).into_owned(),
        cell => cell.value().to_string(),
    };
    let width = sheet.rows.iter().map(|row| label(row).width()).max().unwrap_or(0);
    let style = match paint {
        Paint::Colour => Style::new().fg_color(Some(Color::Rgb(RgbColor(0, 114, 178)))),
        Paint::Plain => Style::new(),
    };
    let mut text = String::new();
    for row in &sheet.rows {
        let (name, value) = (label(row), row[last].value());
        let cells = (value.max(0.0) / most * BAR).round() as usize;
        let (gap, bar) = (" ".repeat(width - name.width()), "\u{2588}".repeat(cells));
        let _ = writeln!(text, "  {name}{gap} {style}{bar}{style:#} {value}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(form: Form) -> Sheet {
        let mut sheet = Sheet::new("x", Subject::Other, "X", form)
            .column("metric", 0)
            .column("plot", 2)
            .column("style", 2);
        sheet.push(vec!["é".into(), 0.9.into(), (-0.5).into()]);
        sheet.push(vec!["long".into(), 0.1.into(), f64::NAN.into()]);
        sheet
    }

    #[test]
    fn a_plain_heat_map_uses_shades_and_no_escape() {
        let text = picture(&sheet(Form::Heatmap), Paint::Plain).unwrap();
        assert!(!text.contains('\u{1b}'));
        assert_eq!(text.lines().next(), Some("  é     \u{2588}\u{2588}  \u{2592}\u{2592}-"));
        assert_eq!(text.lines().nth(1), Some("  long  \u{b7}\u{b7}     "));
    }

    #[test]
    fn names_from_files_do_nothing_to_a_terminal() {
        for form in [Form::Heatmap, Form::Bars] {
            let mut hostile = sheet(form);
            hostile.push(vec!["a\u{1b}[2J\u{202e}\n".into(), 0.5.into(), 0.5.into()]);
            let text = picture(&hostile, Paint::Plain).unwrap();
            assert!(text.contains(r"a\u{1b}[2J\u{202e}\n"), "{text}");
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        }
    }

    #[test]
    fn a_coloured_heat_map_prints_percents_on_their_colours() {
        let text = picture(&sheet(Form::Heatmap), Paint::Colour).unwrap();
        assert!(text.contains("\u{1b}[48;2;") && text.contains("  90") && text.contains(" -50"));
    }

    #[test]
    fn the_longest_bar_fills_its_room() {
        let mut counts = Sheet::new("x", Subject::Other, "X", Form::Bars)
            .column("score", 0)
            .column("stories", 0);
        counts.push(vec!["0/7".into(), 10usize.into()]);
        counts.push(vec!["1/7".into(), 40usize.into()]);
        let text = picture(&counts, Paint::Plain).unwrap();
        let bars: Vec<usize> = text.lines().map(|l| l.matches('\u{2588}').count()).collect();
        assert_eq!(bars, [10, 40]);
    }
}
