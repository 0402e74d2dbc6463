//! The pieces of markup that parts of the page share.

use std::fmt::Write as _;

use storymeter_core::Key;
use storymeter_core::number::Digits;
use storymeter_meta::view::{Cell, Sheet, capitalised};

use super::Page;
use crate::embed::is_p_value;
use crate::figures;
use crate::svg::{Figure, escape};

impl Page<'_> {
    /// A heading of a part that can be folded, with a line about what is in it. A part with a short
    /// name has a link at the top of the page.
    pub fn open_part(&mut self, id: &'static str, name: &'static str, heading: &str, about: &str) {
        if !name.is_empty() {
            self.links.push((id.to_owned(), name.to_owned()));
        }
        let (heading, about) = (escape(heading), escape(about));
        let _ = writeln!(
            self.main,
            "<details class=\"part\" id=\"{id}\"><summary><h2>{heading}</h2> \
             <span class=\"about\">{about}</span></summary>"
        );
    }

    pub fn close_part(&mut self) {
        self.main.push_str("</details>\n");
    }

    pub fn paragraph(&mut self, class: &str, text: &str) {
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let _ = writeln!(self.main, "<p{class}>{}</p>", escape(text));
    }

    /// A table that is part of the markup, so that it is there without scripts. The rows of the
    /// metric that the user points out are marked.
    pub fn write_table(&mut self, sheet: Sheet, marked: Option<&Key>) {
        let is_words = |column: usize| {
            sheet.rows.iter().any(|row| matches!(row[column], Cell::Text(_))).then_some("word")
        };
        let words: Vec<Option<&str>> = (0..sheet.columns.len()).map(is_words).collect();
        let class = |column: usize| match words[column] {
            Some(class) => format!(" class=\"{class}\""),
            None => String::new(),
        };
        let heads: String = sheet
            .columns
            .iter()
            .enumerate()
            .map(|(at, head)| format!("<th scope=\"col\"{}>{}</th>", class(at), escape(&head.name)))
            .collect();
        let digits: Vec<Digits> =
            (0..sheet.columns.len()).map(|column| sheet.digits(column)).collect();
        // The first column of words names the row.
        let header = words.iter().position(Option::is_some).unwrap_or(0);
        let mut rows = String::new();
        for (line, row) in sheet.rows.iter().enumerate() {
            let name = row[header].text();
            let mark = if marked.is_some_and(|key| key.as_str() == name) { " own" } else { "" };
            let _ = write!(rows, "<tr class=\"row{mark}\" data-name=\"{}\">", escape(name));
            for (at, cell) in row.iter().enumerate() {
                let head = &sheet.columns[at];
                let text = match cell {
                    Cell::Number(value) if is_p_value(head) => p_value(*value),
                    Cell::Number(value) => digits[at].text(*value),
                    Cell::Count(count) => count.to_string(),
                    Cell::Text(text) => text.clone(),
                    Cell::Missing(_) => "absent".into(),
                };
                let tip = match cell {
                    Cell::Missing(absence) => {
                        format!(" title=\"{}\"", escape(&absence.to_string()))
                    }
                    _ => String::new(),
                };
                let (open, close) = match at == header {
                    true => ("th scope=\"row\"", "th"),
                    false => ("td", "td"),
                };
                let mark = sheet.marks.iter().find(|mark| mark.row == line && mark.column == at);
                let (mut text, suffix) = (escape(&text), mark.map_or("", |mark| &mark.suffix));
                if mark.is_some_and(|mark| mark.bold) {
                    text = format!("<b>{text}</b>");
                }
                let suffix = escape(suffix);
                let _ = write!(rows, "<{open}{}{tip}>{text}{suffix}</{close}>", class(at));
            }
            rows.push_str("</tr>");
        }
        let _ = writeln!(
            self.main,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
             <table class=\"ranked\"><caption>{title}</caption><thead><tr>{heads}</tr></thead>\
             <tbody>{rows}</tbody></table></div><p class=\"save\" data-extra=\"{extra}\"></p>",
            title = escape(&sheet.title),
            extra = self.extra.len(),
        );
        self.extra.push(sheet);
    }

    /// A place that the script of the page fills with a table that can be sorted.
    pub fn write_sorted(&mut self, sheet: Sheet) {
        let _ =
            writeln!(self.main, "<div class=\"sorted\" data-extra=\"{}\"></div>", self.extra.len());
        self.extra.push(sheet);
    }

    /// Draws a figure of the plan, unless it is already on the page. Says whether it is there now.
    pub fn write_planned(&mut self, at: usize) -> bool {
        let planned = &self.plan[at];
        if self.drawn.contains(&planned.id) {
            return false;
        }
        let Some(figure) = figures::draw(planned, self.report) else { return false };
        self.drawn.push(planned.id.clone());
        self.write_figure(&figure);
        true
    }

    fn write_figure(&mut self, figure: &Figure) {
        let notes: Vec<&str> = figure.notes.iter().map(|note| note.trim_end_matches('.')).collect();
        let notes = match notes.join(". ") {
            notes if notes.is_empty() => notes,
            notes => format!(" {}.", escape(&notes)),
        };
        let title = escape(&capitalised(&figure.title));
        let _ = writeln!(
            self.main,
            "<figure id=\"fig-{id}\" data-id=\"{id}\"{class} style=\"--width:{width}px\">\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
             {svg}</div><figcaption><b>{title}.</b>{notes}</figcaption>\
             <p class=\"save\" data-figure=\"{id}\"></p></figure>",
            id = escape(&figure.id),
            class = if figure.width() > WIDEST_OF_TWO { " class=\"broad\"" } else { "" },
            width = figure.width().ceil(),
            svg = figure.inline(),
        );
    }
}

/// Wider figures have a row of the grid for themselves.
const WIDEST_OF_TWO: f64 = 640.0;

/// A p-value as a table shows it.
fn p_value(p: f64) -> String {
    if p < 0.001 { "<\u{a0}0.001".into() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_never_zero() {
        assert_eq!((p_value(0.0), p_value(0.0124)), ("<\u{a0}0.001".into(), "0.012".into()));
    }
}
