//! Drawings in SVG, for a page and as files of their own.

use std::borrow::Cow;
use std::fmt::Write as _;

/// One figure.
///
/// Every mark that stands for a number carries it in full precision as `data-v`, with the names of
/// its row and column as `data-r` and `data-c`. The page shows these under the pointer, and tests
/// read them back.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The name, which is also the name of the file without its ending.
    pub id: String,
    /// What the figure shows.
    pub title: String,
    /// What a reader should know besides the numbers.
    pub notes: Vec<String>,
    /// How the numbers were computed.
    pub signature: String,
    width: f64,
    height: f64,
    body: String,
}

impl Figure {
    /// The width in pixels.
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// The drawing inside a page. Its text has the colour and the font of the page.
    pub fn inline(&self) -> String {
        let (w, h) = (xy(self.width), xy(self.height));
        format!(
            "<svg class=\"figure\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {w} {h}\" \
             style=\"--width:{w}px\">{}</svg>",
            escape(&self.title),
            self.body,
        )
    }

    /// The drawing as a file of its own, on a white ground and with its title.
    pub fn standalone(&self) -> String {
        let (w, h) = (xy(self.width), xy(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" \
             color=\"#1a1a1a\"><title>{}</title><desc>{}</desc>\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>{}</svg>\n",
            escape(&self.title),
            escape(&self.signature),
            self.body,
        )
    }
}

/// Which part of a text stands at its point.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    /// Larger than the others: the number that counts most.
    Diamond,
    /// A circle that is not filled: what was before.
    Ring,
}

impl Shape {
    /// The shape of the n-th of several kinds of marks.
    pub fn of_kind(at: usize) -> Self {
        [Self::Circle, Self::Square, Self::Triangle][at % 3]
    }

    fn radius(self) -> f64 {
        match self {
            Self::Diamond => 5.0,
            Self::Ring => 4.0,
            _ => 3.4,
        }
    }
}

/// Collects the marks of a drawing.
#[derive(Debug, Default)]
pub struct Canvas {
    body: String,
}

/// The number that a mark stands for, and the names of its row and column.
#[derive(Debug, Clone, Copy)]
pub struct Datum<'a> {
    pub value: f64,
    pub row: &'a str,
    pub column: &'a str,
}

impl Datum<'_> {
    fn attributes(&self) -> String {
        format!(
            " data-v=\"{}\" data-r=\"{}\" data-c=\"{}\"",
            self.value,
            escape(self.row),
            escape(self.column)
        )
    }
}

impl Canvas {
    /// Makes the figure, which has no name yet.
    pub fn finish(self, title: &str, width: f64, height: f64) -> Figure {
        Figure {
            id: String::new(),
            title: title.into(),
            notes: Vec::new(),
            signature: String::new(),
            width,
            height,
            body: self.body,
        }
    }

    /// Writes text in the colour of its surroundings.
    pub fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        self.raw_text(x, y, size, anchor, "", text);
    }

    /// Writes text in a colour of its own.
    pub fn coloured_text(
        &mut self,
        x: f64,
        y: f64,
        size: f64,
        anchor: Anchor,
        colour: &str,
        text: &str,
    ) {
        self.raw_text(x, y, size, anchor, &format!(" style=\"fill:{colour}\""), text);
    }

    /// Writes text that is turned around its point by an angle in degrees.
    pub fn turned_text(
        &mut self,
        x: f64,
        y: f64,
        size: f64,
        anchor: Anchor,
        angle: f64,
        text: &str,
    ) {
        let turn = format!(" transform=\"rotate({} {} {})\"", xy(angle), xy(x), xy(y));
        self.raw_text(x, y, size, anchor, &turn, text);
    }

    fn raw_text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, more: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y, size) = (xy(x), xy(y), xy(size));
        let _ = write!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"currentColor\"{anchor}{more}>\
             {}</text>",
            escape(&label(text))
        );
    }

    /// Draws a filled rectangle, which may stand for a number.
    pub fn rect(&mut self, [x, y, w, h]: [f64; 4], fill: &str, datum: Option<Datum<'_>>) {
        let data = datum.map(|d| d.attributes()).unwrap_or_default();
        let (x, y, w, h) = (xy(x), xy(y), xy(w), xy(h));
        let _ = write!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\"{data}/>"
        );
    }

    /// Puts a faint ground under a row that is pointed out.
    pub fn tint(&mut self, [x, y, w, h]: [f64; 4]) {
        let (x, y, w, h) = (xy(x), xy(y), xy(w), xy(h));
        let _ = write!(
            self.body,
            "<rect class=\"tint\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" \
             fill=\"#ffe7a3\"/>"
        );
    }

    /// Marks a number that is absent: a stroke through an area that tells the reason.
    pub fn absent(&mut self, [x, y, w, h]: [f64; 4], row: &str, column: &str, reason: &str) {
        let tip = escape(&format!("{row} · {column}: absent ({reason})"));
        let _ = write!(self.body, "<g data-tip=\"{tip}\">");
        self.rect([x, y, w, h], "transparent", None);
        self.line([x + 3.0, y + h - 3.0, x + w - 3.0, y + 3.0], true);
        self.close();
    }

    /// Draws a thin line in the colour of the text.
    pub fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], faint: bool) {
        let opacity = if faint { " stroke-opacity=\"0.15\"" } else { "" };
        let _ = write!(
            self.body,
            "<path d=\"M{} {}L{} {}\" stroke=\"currentColor\"{opacity} fill=\"none\"/>",
            xy(x1),
            xy(y1),
            xy(x2),
            xy(y2)
        );
    }

    /// Draws a path. The attributes must be valid markup.
    pub fn path(&mut self, points: &[(f64, f64)], closed: bool, attributes: &str) {
        self.body.push_str("<path d=\"");
        for (at, &(x, y)) in points.iter().enumerate() {
            let _ = write!(self.body, "{}{} {}", if at == 0 { "M" } else { "L" }, xy(x), xy(y));
        }
        let _ = write!(self.body, "{}\" {attributes}/>", if closed { "Z" } else { "" });
    }

    /// Draws a dot that stands for a number.
    pub fn dot(&mut self, x: f64, y: f64, radius: f64, fill: &str, datum: Datum<'_>) {
        let (x, y, radius) = (xy(x), xy(y), xy(radius));
        let data = datum.attributes();
        let _ = write!(
            self.body,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"{data}/>"
        );
    }

    /// Draws a mark of some shape that stands for a number. Shapes tell marks apart where colours
    /// cannot.
    pub fn mark(&mut self, (x, y): (f64, f64), shape: Shape, fill: &str, datum: Option<Datum<'_>>) {
        let data = datum.map(|d| d.attributes()).unwrap_or_default();
        let radius = shape.radius();
        let corners: &[(f64, f64)] = match shape {
            Shape::Circle | Shape::Ring => {
                let look = match shape {
                    Shape::Ring => format!("fill=\"none\" stroke=\"{fill}\" stroke-width=\"1.6\""),
                    _ => format!("fill=\"{fill}\""),
                };
                let (x, y, radius) = (xy(x), xy(y), xy(radius));
                let _ = write!(
                    self.body,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {look}{data}/>"
                );
                return;
            }
            Shape::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Shape::Triangle => &[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
            Shape::Diamond => &[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)],
        };
        let points: Vec<(f64, f64)> =
            corners.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius)).collect();
        self.path(&points, true, &format!("fill=\"{fill}\"{data}"));
    }

    /// Opens a group of all marks of one system or curve, which the page can highlight.
    pub fn open(&mut self, name: &str) {
        let _ = write!(self.body, "<g class=\"series\" data-series=\"{}\">", escape(name));
    }

    /// Opens a group of marks that stand for one number or for none, with what the page says of it
    /// under the pointer.
    pub fn open_tip(&mut self, tip: &str, datum: Option<Datum<'_>>) {
        let data = datum.map(|d| d.attributes()).unwrap_or_default();
        let _ = write!(self.body, "<g data-tip=\"{}\"{data}>", escape(tip));
    }

    /// Closes the group that was opened last.
    pub fn close(&mut self) {
        self.body.push_str("</g>");
    }
}

/// The most characters of a text in a drawing. The marks carry the whole names.
const LONGEST_LABEL: usize = 80;

/// A text as a drawing shows it: a name of thousands of letters would make the drawing so wide that
/// no program could show it.
fn label(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_LABEL) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]).into(),
        None => text.into(),
    }
}

/// A coordinate with at most two decimals; nobody sees a hundredth of a pixel. Numbers so large
/// that their differences are infinite are drawn at the edge, because a drawing with an infinite
/// coordinate is broken.
pub fn xy(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text that can stand inside an element or a quoted attribute.
///
/// Control characters, which XML forbids, become U+FFFD. So do the marks that turn the direction of
/// writing around until they are revoked: a name with such a mark would turn the sentence around in
/// which it stands.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => out.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// An upper estimate of the width of a text, from the widths of the letters of DejaVu Sans.
pub fn text_width(text: &str, size: f64) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | 'J' | ' ' | '.' | ',' | ':' | ';' | '/' | '|' | '\'' => 0.34,
        'f' | 'r' | 't' | '-' | '(' | ')' | '[' | ']' => 0.42,
        'm' | 'W' | '@' | '%' => 1.0,
        'w' | 'M' | 'D' | 'G' | 'H' | 'N' | 'O' | 'Q' | 'U' => 0.87,
        'A'..='Z' => 0.7,
        c if c.is_ascii() => 0.64,
        // Letters of Chinese, Japanese and Korean are as wide as the font is high.
        c if c >= '\u{2e80}' => 1.0,
        _ => 0.8,
    };
    label(text).chars().map(width).sum::<f64>() * size
}

/// Round numbers that divide a range into about so many parts.
pub fn ticks(low: f64, high: f64, parts: usize) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    let raw = span / parts as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|m| m * power)
        .into_iter()
        .find(|&s| s >= raw)
        .unwrap_or(raw);
    // Between two numbers that are next to each other there is nothing to mark.
    if !(step > 0.0 && step.is_finite() && low + step > low) {
        return vec![low];
    }
    let first = (low / step).ceil() as i64;
    (first..).map(|i| i as f64 * step).take_while(|&t| t <= high + step * 1e-9).take(50).collect()
}

/// A number with at most four significant digits, for an axis.
pub fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs();
    if !(1e-3..1e5).contains(&size) {
        return format!("{value:.0e}").replace('-', "\u{2212}");
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 4) as usize;
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(3.0, 3.0, 5), [3.0]);
        assert_eq!(short(0.6000000000000001), "0.6");
        assert_eq!(
            (short(-0.25), short(1234.0), short(1e-9)),
            ("−0.25".into(), "1234".into(), "1e−9".into())
        );
    }

    #[test]
    fn an_axis_of_extreme_numbers_has_ticks_and_ends() {
        let extremes =
            [f64::MAX, -f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.0, 1e17, 1e17 + 16.0, -5e-324];
        for low in extremes {
            for high in extremes {
                let ticks = ticks(low, high, 6);
                assert!((1..=50).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            }
        }
        assert_eq!((xy(f64::NAN), xy(f64::INFINITY)), ("0".into(), "0".into()));
    }

    #[test]
    fn a_long_name_is_shortened_in_the_drawing_and_whole_in_its_mark() {
        let name = "\u{e9}".repeat(10_000);
        let mut canvas = Canvas::default();
        canvas.text(0.0, 0.0, 10.0, Anchor::Start, &name);
        canvas.dot(0.0, 0.0, 1.0, "red", Datum { value: 1.0, row: &name, column: "c" });
        let svg = canvas.finish("t", 1.0, 1.0).standalone();
        assert_eq!(svg.matches(&name).count(), 1, "in the mark");
        assert!(text_width(&name, 10.0) < 1000.0);
    }

    #[test]
    fn every_character_gives_a_drawing_that_is_xml() {
        // All that XML 1.0 forbids (section 2.2), all that turns writing around, and some others.
        let hostile: String = ('\0'..='\u{a0}')
            .chain('\u{2028}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
            .chain(['\u{fffe}', '\u{ffff}', '\u{1fffe}', '\u{feff}', '\u{e000}', '\u{10ffff}'])
            .collect();
        let hostile = format!("]]>--><![CDATA[{hostile}</svg>");
        let mut canvas = Canvas::default();
        canvas.open(&hostile);
        canvas.text(0.0, 0.0, 10.0, Anchor::Start, &hostile);
        canvas.absent([0.0; 4], &hostile, &hostile, &hostile);
        canvas.dot(0.0, 0.0, 1.0, "red", Datum { value: 1.0, row: &hostile, column: &hostile });
        canvas.close();
        let mut figure = canvas.finish(&hostile, 10.0, 10.0);
        figure.signature.clone_from(&hostile);
        let svg = figure.standalone();
        let is_xml = |c: char| c == '\n' || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}');
        assert!(svg.chars().all(is_xml));
        assert!(!svg.contains(['\u{202e}', '\u{2066}', '\u{7f}', '\u{85}', '\u{2028}']));
        assert!(!svg.contains("]]>") && !svg.contains("<![CDATA["));
        #[cfg(feature = "figures")]
        crate::files::convertible(&svg);
    }

    #[test]
    fn markup_in_names_stays_text() {
        let mut canvas = Canvas::default();
        canvas.text(0.0, 0.0, 10.0, Anchor::Start, "</text><script>\u{0}\"'");
        let svg = canvas.finish("<b>", 1.0, 1.0).standalone();
        assert!(!svg.contains("<script") && !svg.contains("<b>") && !svg.contains('\u{0}'));
    }
}
