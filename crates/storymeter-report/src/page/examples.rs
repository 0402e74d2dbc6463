//! Pairs of a test suite to read: a story and its twin side by side, with what differs.
//!
//! The texts are those of users. They are escaped, and the only markup inside them are the marks of
//! the pieces that differ.

use std::fmt::Write as _;

use storymeter_core::{Aspect, Column};
use storymeter_meta::suite::{Example, ExampleScore, Piece, SuiteResult};

use super::Page;
use super::suite::twin;
use crate::svg::{escape, short};

/// The most bytes of example pairs of one suite on a page, with their scores.
const MOST_BYTES: usize = 1_500_000;
/// Longer texts are cut, in bytes.
const LONGEST_TEXT: usize = 20_000;
/// An aspect with more bytes of pairs is not printed unless it is open.
const MOST_PRINTED_BYTES: usize = 20_000;
/// About the bytes of markup around a piece or a score.
const MARKUP: usize = 40;

impl Page<'_> {
    /// The example pairs of a suite, aspect by aspect.
    pub fn write_suite_examples(&mut self, prefix: &str, result: &SuiteResult, is_linked: bool) {
        if result.examples.is_empty() {
            return;
        }
        let mut room = MOST_BYTES;
        let mut kept: Vec<&Example> = Vec::new();
        for example in &result.examples {
            if let Some(left) = room.checked_sub(cost(example)) {
                room = left;
                kept.push(example);
            }
        }
        let about = "original and twin side by side, with their scores";
        let link = is_linked.then_some("Examples");
        self.open_fold(&format!("{prefix}-examples"), link, "Examples of each aspect", about);
        if kept.len() < result.examples.len() {
            self.paragraph(
                "note",
                &format!(
                    "{} of {} pairs are on this page; the others would make it too large.",
                    kept.len(),
                    result.examples.len()
                ),
            );
        }
        for aspect in Aspect::ALL {
            let own: Vec<&Example> =
                kept.iter().copied().filter(|example| example.aspect == aspect).collect();
            if !own.is_empty() {
                self.write_examples_of(prefix, result, aspect, &own);
            }
        }
        self.close_part();
    }

    fn write_examples_of(
        &mut self,
        prefix: &str,
        result: &SuiteResult,
        aspect: Aspect,
        examples: &[&Example],
    ) {
        let is_large =
            examples.iter().map(|example| cost(example)).sum::<usize>() > MOST_PRINTED_BYTES;
        let count = match examples.len() {
            1 => "1 pair".to_owned(),
            count => format!("{count} pairs"),
        };
        let _ = writeln!(
            self.main,
            "<details class=\"examples{shelf}\" id=\"{prefix}-examples-{stem}\"><summary>\
             <b>{aspect}</b> <span class=\"about\">{twin} ({test}, {count})</span></summary>",
            shelf = if is_large { " shelf" } else { "" },
            stem = aspect.file_stem(),
            twin = twin(aspect),
            test = aspect.test(),
        );
        for example in examples {
            self.write_example(result, example);
        }
        self.close_part();
    }

    fn write_example(&mut self, result: &SuiteResult, example: &Example) {
        let _ = write!(
            self.main,
            "<article class=\"example\"><p class=\"about\">Story <bdi>{}</bdi> \
             \u{b7} rule: <bdi>{}</bdi></p><div class=\"twins\">",
            escape(&example.id),
            escape(&example.rule)
        );
        for (name, pieces, mark) in
            [("Original", &example.original, "del"), ("Twin", &example.twin, "ins")]
        {
            let (text, is_cut) = marked(pieces, mark);
            let cut = if is_cut { "<p class=\"caption\">The text is cut here.</p>" } else { "" };
            let _ = write!(
                self.main,
                "<div><h4>{name}</h4><p class=\"text\" dir=\"auto\">{text}</p>{cut}</div>"
            );
        }
        self.main.push_str("</div>");
        if !example.scores.is_empty() {
            let rows: String = example.scores.iter().map(|one| score(result, one)).collect();
            let _ = write!(
                self.main,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Scores\"><table>\
                 <thead><tr><th scope=\"col\" class=\"word\">metric</th><th scope=\"col\">original\
                 </th><th scope=\"col\">twin</th><th scope=\"col\" class=\"word\">prefers</th></tr>\
                 </thead><tbody>{rows}</tbody></table></div>"
            );
        }
        self.main.push_str("</article>\n");
    }
}

/// About the bytes that an example takes on a page.
fn cost(example: &Example) -> usize {
    let of = |pieces: &[Piece]| {
        let bytes: usize = pieces.iter().map(|piece| piece.text.len()).sum();
        bytes.min(LONGEST_TEXT) + MARKUP * pieces.len().min(LONGEST_TEXT)
    };
    let names: usize = example.scores.iter().map(|one| one.metric.as_str().len()).sum();
    let own = example.id.len() + example.rule.len() + names + 4 * MARKUP * example.scores.len();
    of(&example.original) + of(&example.twin) + own
}

/// A text as markup, with an element around each piece that differs. Says whether it was cut.
fn marked(pieces: &[Piece], element: &str) -> (String, bool) {
    let mut room = LONGEST_TEXT;
    let mut markup = String::new();
    for piece in pieces.iter().filter(|piece| !piece.text.is_empty()) {
        let mut end = piece.text.len().min(room);
        while !piece.text.is_char_boundary(end) {
            end -= 1;
        }
        // Lines stay lines, which `escape` alone would join.
        let lines: Vec<String> = piece.text[..end].split('\n').map(escape).collect();
        let text = lines.join("\n");
        match piece.changed {
            true => {
                let _ = write!(markup, "<{element}>{text}</{element}>");
            }
            false => markup.push_str(&text),
        }
        if end < piece.text.len() {
            return (markup, true);
        }
        room -= end;
    }
    (markup, false)
}

/// What one metric says about a pair, as a row of a table.
fn score(result: &SuiteResult, one: &ExampleScore) -> String {
    let column = result.metrics.iter().find(|column| column.key == one.metric);
    let shown = |value: Option<f64>| match value {
        Some(value) => format!("<td>{}</td>", short(value)),
        None => "<td class=\"absent\">absent</td>".to_owned(),
    };
    format!(
        "<tr><th scope=\"row\" class=\"word\">{}</th>{}{}<td class=\"word\">{}</td></tr>",
        escape(one.metric.as_str()),
        shown(one.original),
        shown(one.twin),
        preference(column, one)
    )
}

/// Which text a metric prefers. More counts as better where it is not known what is better.
fn preference(column: Option<&Column>, one: &ExampleScore) -> &'static str {
    let (Some(original), Some(twin)) = (one.original, one.twin) else { return "" };
    let sign = column.map_or(1.0, |column| column.direction.sign());
    match (sign * original).partial_cmp(&(sign * twin)) {
        Some(std::cmp::Ordering::Greater) => "original",
        Some(std::cmp::Ordering::Less) => "twin",
        Some(std::cmp::Ordering::Equal) => "neither",
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_core::{Direction, Key};

    fn piece(text: &str, changed: bool) -> Piece {
        Piece { text: text.into(), changed }
    }

    #[test]
    fn a_text_is_escaped_piece_by_piece_and_keeps_its_lines() {
        let pieces = [piece("a\n<b>", false), piece("</del>\u{202e}", true), piece("", true)];
        let (text, is_cut) = marked(&pieces, "del");
        assert_eq!(text, "a\n&lt;b&gt;<del>&lt;/del&gt;\u{fffd}</del>");
        assert!(!is_cut);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = [piece(&"a".repeat(LONGEST_TEXT - 1), false), piece("\u{e9}\u{e9}", true)];
        let (text, is_cut) = marked(&long, "ins");
        assert!(is_cut && text.len() < LONGEST_TEXT + 20);
    }

    #[test]
    fn the_preference_follows_the_direction_of_the_metric() {
        let one = |original, twin| ExampleScore { metric: Key::new("m"), original, twin };
        let (up, down) =
            (Column::metric("m", Direction::Higher), Column::metric("m", Direction::Lower));
        assert_eq!(preference(Some(&up), &one(Some(2.0), Some(1.0))), "original");
        assert_eq!(preference(Some(&down), &one(Some(2.0), Some(1.0))), "twin");
        assert_eq!(preference(None, &one(Some(1.0), Some(1.0))), "neither");
        assert_eq!(preference(Some(&up), &one(None, Some(1.0))), "");
    }
}
