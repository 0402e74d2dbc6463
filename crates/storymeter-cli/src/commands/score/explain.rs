//! Prints the explanations of `--explain`, in colour if the terminal has colours.

use anstyle::{AnsiColor, Style};
use storymeter::Scored;
use storymeter::core::{SpanKind, terminal};

/// How explanations are shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    show: bool,
    colour: bool,
}

impl Shown {
    /// Prints explanations if `show` is set, and nothing otherwise.
    pub(super) fn new(show: bool) -> Self {
        let choice = anstream::AutoStream::choice(&std::io::stdout());
        Self { show, colour: choice != anstream::ColorChoice::Never }
    }

    /// The explanations of a batch, one paragraph per story.
    pub(super) fn batch(self, scored: &Scored<'_>) -> Vec<u8> {
        let mut text = String::new();
        let rationales = scored.rationales.filter(|_| self.show).unwrap_or_default();
        for (record, rationale) in scored.records.iter().zip(rationales) {
            text.push_str(&format!("{}: ", terminal::plain(&record.story.id)));
            for span in rationale.spans() {
                let style = self.style(span.kind);
                // The colours are ours; whatever else a terminal obeys is written out.
                let shown = terminal::plain_lines(&span.text);
                text.push_str(&format!("{style}{shown}{style:#}"));
            }
            text.push('\n');
        }
        text.into_bytes()
    }

    fn style(self, kind: SpanKind) -> Style {
        let paint = |colour: AnsiColor| Style::new().fg_color(Some(colour.into())).bold();
        match kind {
            SpanKind::Old if self.colour => paint(AnsiColor::Red),
            SpanKind::New if self.colour => paint(AnsiColor::Green),
            _ => Style::new(),
        }
    }
}
