//! Prints the explanations of `--explain`, in colour if the terminal has colours.

use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use storymeter::Scored;
use storymeter_core::{Effect, Error, Place, Span, SpanKind, terminal};

use crate::output::{Output, Reader};

/// The explanations on standard output.
pub(super) struct Shown {
    out: Output,
    colour: bool,
    is_first: bool,
}

impl Shown {
    /// Nothing is printed before [`Shown::finish`].
    pub(super) fn open() -> anyhow::Result<Self> {
        let choice = anstream::AutoStream::choice(&io::stdout());
        let colour = choice != anstream::ColorChoice::Never;
        Ok(Self { out: Output::open(None, Reader::Person)?, colour, is_first: true })
    }

    /// Adds the explanations of a batch, one paragraph per story. How to read them comes before the
    /// first one.
    pub(super) fn batch(&mut self, scored: &Scored) -> storymeter::Result<()> {
        let mut text = String::new();
        for (at, record) in scored.records.iter().enumerate() {
            let Some(rationale) = scored.rationales.get(at).and_then(Option::as_ref) else {
                if let Some(reason) = &scored.checks[at].no_score {
                    let id = terminal::plain(&record.story.id);
                    text.push_str(&format!("{id}: no score, because {reason}\n\n"));
                }
                continue;
            };
            if std::mem::take(&mut self.is_first) {
                text.push_str(&self.painted(&rationale.legend()));
            }
            text.push_str(&format!("{}: ", terminal::plain(&record.story.id)));
            text.push_str(&self.painted(&rationale.spans()));
            text.push('\n');
        }
        let written = self.out.write_all(text.as_bytes());
        Ok(written.map_err(|e| Error::io(Place::file("the explanations"), e))?)
    }

    /// Prints them.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.out.finish()
    }

    fn painted(&self, spans: &[Span]) -> String {
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
    fn style(&self, kind: SpanKind) -> Style {
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
