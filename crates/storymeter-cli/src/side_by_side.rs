//! Original and damaged story in two columns, the damage marked: in colour where the terminal can, else `{so}`.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use storymeter::perturb::{Perturbation, Technique, stretches};
use unicode_width::UnicodeWidthStr;

/// Width of the page where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 100;

/// A stretch of text and what happened to it.
type Piece = (String, Option<Technique>);

/// How wide the page is, and whether it can show colours.
pub struct Page {
    width: usize,
    colour: bool,
}

impl Page {
    /// The page that standard output is.
    pub fn of_this_terminal() -> Self {
        let width =
            terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        let choice = anstream::AutoStream::choice(&io::stdout());
        Self { width: width.clamp(40, 200), colour: choice != anstream::ColorChoice::Never }
    }

    /// Prints one sample.
    pub fn print(
        &self,
        out: &mut impl Write,
        title: &str,
        original: &str,
        sample: &Perturbation,
    ) -> anyhow::Result<()> {
        let techniques: Vec<String> = sample
            .techniques
            .iter()
            .map(|technique| self.paint(technique.name(), Some(*technique)))
            .collect();
        writeln!(out, "{title}: {}", techniques.join(", "))?;
        let column = (self.width - 3) / 2;
        let left = wrap(&[(original.to_owned(), None)], column);
        let right = wrap(&self.marked(original, sample)?, column);
        for row in 0..left.len().max(right.len()) {
            let left = left.get(row).map_or(&[][..], Vec::as_slice);
            let padding =
                column - left.iter().map(|(text, _)| text.width()).sum::<usize>().min(column);
            let line = format!(
                "{}{:padding$} | {}",
                self.line(left),
                "",
                self.line(right.get(row).map_or(&[][..], Vec::as_slice))
            );
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out)?;
        Ok(())
    }

    /// The damaged story in pieces; without colours, braces stand around what is new.
    fn marked(&self, original: &str, sample: &Perturbation) -> anyhow::Result<Vec<Piece>> {
        let pieces = stretches(original, &sample.edits)?.into_iter().map(|stretch| {
            let text = stretch.text.into_owned();
            match stretch.technique {
                Some(_) if !self.colour => (brace(&text), None),
                technique => (text, technique),
            }
        });
        Ok(pieces.collect())
    }

    fn line(&self, pieces: &[Piece]) -> String {
        pieces.iter().map(|(text, technique)| self.paint(text, *technique)).collect()
    }

    fn paint(&self, text: &str, technique: Option<Technique>) -> String {
        match technique {
            Some(technique) if self.colour => {
                let style = style(technique);
                format!("{style}{text}{style:#}")
            }
            _ => text.to_owned(),
        }
    }
}

/// Braces around the text, inside the blanks at its edges.
fn brace(text: &str) -> String {
    let body = text.trim();
    let (start, end) = (text.len() - text.trim_start().len(), text.trim_end().len());
    if body.is_empty() {
        text.to_owned()
    } else {
        format!("{}{{{body}}}{}", &text[..start], &text[end..])
    }
}

fn style(technique: Technique) -> Style {
    let colour = match technique {
        Technique::Repetition => AnsiColor::Yellow,
        Technique::Substitution => AnsiColor::Magenta,
        Technique::Reordering => AnsiColor::Cyan,
        Technique::Negation => AnsiColor::Red,
    };
    Style::new().fg_color(Some(colour.into())).bold()
}

/// Breaks the pieces into lines of at most `width` columns, at blanks.
fn wrap(pieces: &[Piece], width: usize) -> Vec<Vec<Piece>> {
    let mut lines: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut used = 0;
    let mut blank = false;
    for word in words(pieces) {
        let size: usize = word.iter().map(|(text, _)| text.width()).sum();
        if used > 0 && used + usize::from(blank) + size > width {
            lines.push(Vec::new());
            used = 0;
        }
        let line = lines.last_mut().expect("there is a line");
        if used > 0 {
            line.push((" ".to_owned(), None));
            used += 1;
        }
        line.extend(word);
        used += size;
        blank = true;
    }
    lines
}

/// The words between blanks; a word may be of several pieces.
fn words(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut words: Vec<Vec<Piece>> = vec![Vec::new()];
    for (text, technique) in pieces {
        for (i, part) in text.split(char::is_whitespace).enumerate() {
            if i > 0 {
                words.push(Vec::new());
            }
            if !part.is_empty() {
                words.last_mut().expect("there is a word").push((part.to_owned(), *technique));
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_keep_their_marks() {
        let pieces =
            [("he ran".to_owned(), None), (" and ran".to_owned(), Some(Technique::Repetition))];
        let lines = wrap(&pieces, 7);
        let shown: Vec<String> =
            lines.iter().map(|line| line.iter().map(|(text, _)| text.as_str()).collect()).collect();
        assert_eq!(shown, ["he ran", "and ran"]);
        assert_eq!(lines[1][0].1, Some(Technique::Repetition));
    }

    #[test]
    fn braces_stand_inside_the_blanks() {
        assert_eq!(brace(" and cool"), " {and cool}");
        assert_eq!(brace("  "), "  ");
    }
}
