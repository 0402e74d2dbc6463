//! Prints the explanations of `--explain`, in colour if the terminal has colours.

use anstyle::{AnsiColor, Style};
use storymeter::Scored;
use storymeter::core::{Effect, Span, SpanKind, terminal};

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

    /// How to read the explanations. It comes before the first of them.
    pub(super) fn legend(self, scored: &Scored<'_>) -> Vec<u8> {
        let first = scored.rationales.filter(|_| self.show).and_then(<[_]>::first);
        first.map_or(Vec::new(), |rationale| self.painted(&rationale.legend()).into_bytes())
    }

    /// The explanations of a batch, one paragraph per story.
    pub(super) fn batch(self, scored: &Scored<'_>) -> Vec<u8> {
        let mut text = String::new();
        let rationales = scored.rationales.filter(|_| self.show).unwrap_or_default();
        for (record, rationale) in scored.records.iter().zip(rationales) {
            text.push_str(&format!("{}: ", terminal::plain(&record.story.id)));
            text.push_str(&self.painted(&rationale.spans()));
            text.push('\n');
        }
        text.into_bytes()
    }

    fn painted(self, spans: &[Span]) -> String {
        let mut text = String::new();
        for span in spans {
            let style = self.style(span.kind);
            // The colours are ours; whatever else a terminal obeys is written out.
            let shown = terminal::plain_lines(&span.text);
            text.push_str(&format!("{style}{shown}{style:#}"));
        }
        text
    }

    /// Red is what lowers the score and green what raises it, the stronger the bolder. The words
    /// say the same, for those who do not see the colours.
    fn style(self, kind: SpanKind) -> Style {
        let paint = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        if !self.colour {
            return Style::new();
        }
        match kind {
            SpanKind::Plain | SpanKind::Changes(Effect::Neither) => Style::new(),
            SpanKind::Old => paint(AnsiColor::Red).bold(),
            SpanKind::New => paint(AnsiColor::Green).bold(),
            SpanKind::Warning => paint(AnsiColor::Yellow).bold(),
            SpanKind::Changes(Effect::LowersALot) => paint(AnsiColor::Red).bold(),
            SpanKind::Changes(Effect::Lowers) => paint(AnsiColor::Red),
            SpanKind::Changes(Effect::LowersALittle) => paint(AnsiColor::Yellow),
            SpanKind::Changes(Effect::RaisesALittle) => paint(AnsiColor::Cyan),
            SpanKind::Changes(Effect::Raises) => paint(AnsiColor::Green),
            SpanKind::Changes(Effect::RaisesALot) => paint(AnsiColor::Green).bold(),
        }
    }
}
