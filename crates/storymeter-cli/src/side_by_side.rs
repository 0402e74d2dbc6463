//! Prints a story and its damaged version in two columns. The damage is marked in colour, or with
//! braces (`{so}`) if the terminal has no colours.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use storymeter::suite::Pair;
use storymeter_core::terminal;
use storymeter_meta::suite;
use storymeter_perturb::{Perturbation, Technique, stretches};
use unicode_width::UnicodeWidthStr;

/// The width of the page if standard output is not a terminal.
const DEFAULT_WIDTH: usize = 100;

/// A piece of text, and the colour of what changed it.
type Piece = (String, Option<AnsiColor>);

/// The colour of changes that no technique made.
const CHANGED: AnsiColor = AnsiColor::Red;

/// The width of the page, and whether it can show colours.
pub struct Page {
    width: usize,
    colour: bool,
}

impl Page {
    /// A page with the width and the colours of standard output.
    pub fn for_standard_output() -> Self {
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
            .map(|technique| self.paint(technique.name(), Some(colour(*technique))))
            .collect();
        writeln!(out, "{}: {}", terminal::plain(title), techniques.join(", "))?;
        self.columns(out, &[(original.to_owned(), None)], &self.marked(original, sample)?)
    }

    /// Prints a story and its twin, with the changes marked in both.
    pub fn print_pair(&self, out: &mut impl Write, pair: &Pair) -> anyhow::Result<()> {
        let title = format!("{} ({}: {})", pair.id, pair.aspect, pair.rule);
        writeln!(out, "{}", terminal::plain(&title))?;
        let (original, twin) = pair.pieces();
        let mark = |piece: suite::Piece| match piece.changed {
            true if !self.colour => (brace(&piece.text), None),
            true => (piece.text, Some(CHANGED)),
            false => (piece.text, None),
        };
        let [left, right] =
            [original, twin].map(|pieces| pieces.into_iter().map(mark).collect::<Vec<Piece>>());
        self.columns(out, &left, &right)
    }

    fn columns(&self, out: &mut impl Write, left: &[Piece], right: &[Piece]) -> anyhow::Result<()> {
        let column = (self.width - 3) / 2;
        let (left, right) = (wrap(left, column), wrap(right, column));
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

    /// The damaged story in pieces. Without colours, new text stands in braces.
    fn marked(&self, original: &str, sample: &Perturbation) -> anyhow::Result<Vec<Piece>> {
        let pieces = stretches(original, &sample.edits)?.into_iter().map(|stretch| {
            let text = stretch.text.into_owned();
            match stretch.technique {
                Some(_) if !self.colour => (brace(&text), None),
                technique => (text, technique.map(colour)),
            }
        });
        Ok(pieces.collect())
    }

    fn line(&self, pieces: &[Piece]) -> String {
        pieces.iter().map(|(text, colour)| self.paint(text, *colour)).collect()
    }

    fn paint(&self, text: &str, colour: Option<AnsiColor>) -> String {
        match colour {
            Some(colour) if self.colour => {
                let style = Style::new().fg_color(Some(colour.into())).bold();
                format!("{style}{text}{style:#}")
            }
            _ => text.to_owned(),
        }
    }
}

/// Puts braces around the text, inside the spaces at its ends.
fn brace(text: &str) -> String {
    let body = text.trim();
    let (start, end) = (text.len() - text.trim_start().len(), text.trim_end().len());
    if body.is_empty() {
        text.to_owned()
    } else {
        format!("{}{{{body}}}{}", &text[..start], &text[end..])
    }
}

fn colour(technique: Technique) -> AnsiColor {
    match technique {
        Technique::Repetition => AnsiColor::Yellow,
        Technique::Substitution => AnsiColor::Magenta,
        Technique::Reordering => AnsiColor::Cyan,
        Technique::Negation => AnsiColor::Red,
        _ => AnsiColor::Green,
    }
}

/// Breaks the pieces into lines of at most `width` columns, at spaces.
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

/// The words between spaces, made plain for the terminal. A word may consist of several pieces.
fn words(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut words: Vec<Vec<Piece>> = vec![Vec::new()];
    for (text, technique) in pieces {
        for (i, part) in text.split(char::is_whitespace).enumerate() {
            if i > 0 {
                words.push(Vec::new());
            }
            if !part.is_empty() {
                words
                    .last_mut()
                    .expect("there is a word")
                    .push((terminal::plain(part).into_owned(), *technique));
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
    fn lines_break_at_spaces_and_keep_their_marks() {
        let pieces =
            [("he ran".to_owned(), None), (" and ran".to_owned(), Some(AnsiColor::Yellow))];
        let lines = wrap(&pieces, 7);
        let shown: Vec<String> =
            lines.iter().map(|line| line.iter().map(|(text, _)| text.as_str()).collect()).collect();
        assert_eq!(shown, ["he ran", "and ran"]);
        assert_eq!(lines[1][0].1, Some(AnsiColor::Yellow));
    }

    #[test]
    fn braces_stand_inside_the_spaces() {
        assert_eq!(brace(" and cool"), " {and cool}");
        assert_eq!(brace("  "), "  ");
    }
}
