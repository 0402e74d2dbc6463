//! `--explain`: why a story got its score, for people on the terminal and for programs in JSON.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use rayon::prelude::*;
use storymeter::core::read::Record;
use storymeter::union::{Explanation, Scorer};

use super::OutputFormat;
use super::learned::LearnedArgs;
use crate::output::Output;

/// Explains stories, and shows them where no file takes them.
pub(super) struct Explainer {
    scorer: Scorer,
    shown: Option<Output>,
    colour: bool,
}

impl Explainer {
    /// Shows explanations unless they are written as JSON.
    pub(super) fn new(args: &LearnedArgs, format: OutputFormat) -> anyhow::Result<Self> {
        let shown = (format != OutputFormat::Jsonl).then(|| Output::open(None)).transpose()?;
        let colour = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
        Ok(Self { scorer: args.load()?, shown, colour })
    }

    /// Explains a batch.
    pub(super) fn explain(&mut self, records: &[Record]) -> anyhow::Result<Vec<Explanation>> {
        let explained: Vec<Explanation> =
            records.par_iter().map(|record| self.scorer.explain(&record.story)).collect::<Result<_, _>>()?;
        if let Some(out) = &mut self.shown {
            for (record, explanation) in records.iter().zip(&explained) {
                show(out, &record.story.id, explanation, self.colour)?;
            }
        }
        Ok(explained)
    }

    /// Writes out what was shown.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.shown.map_or(Ok(()), Output::finish)
    }
}

/// One story: its score, the diagnosis, then a line a sentence with what it adds and the edits in it.
fn show(out: &mut impl Write, id: &str, explanation: &Explanation, colour: bool) -> anyhow::Result<()> {
    writeln!(out, "{id}: union {:.4}", explanation.union)?;
    if let Some(diagnosis) = &explanation.diagnosis {
        writeln!(
            out,
            "  repetition {:.2}  incoherence {:.2}  wrong order {:.2}  contradiction {:.2}",
            diagnosis.repetition, diagnosis.incoherence, diagnosis.wrong_order, diagnosis.contradiction
        )?;
    }
    let whole = [(0, explanation.text.len(), None)];
    let sentences: Vec<(usize, usize, Option<f64>)> = if explanation.sentences.is_empty() {
        whole.to_vec()
    } else {
        explanation.sentences.iter().map(|s| (s.start, s.end, Some(s.contribution))).collect()
    };
    for (start, end, contribution) in sentences {
        let share = contribution.map_or(String::new(), |share| format!("{share:+.2}"));
        writeln!(out, "  {share:>7}  {}", marked(explanation, start, end, colour))?;
    }
    writeln!(out)?;
    Ok(())
}

/// A sentence with the suggested edits: `old -> new` in braces, in colour where the terminal can.
fn marked(explanation: &Explanation, start: usize, end: usize, colour: bool) -> String {
    let (old, new) = if colour {
        let paint = |colour: AnsiColor| Style::new().fg_color(Some(colour.into())).bold();
        (paint(AnsiColor::Red), paint(AnsiColor::Green))
    } else {
        (Style::new(), Style::new())
    };
    let mut line = String::new();
    let mut from = start;
    for edit in explanation.edits.iter().filter(|edit| edit.start >= start && edit.end <= end) {
        line.push_str(&explanation.text[from..edit.start]);
        let (text, suggestion, sure) = (&edit.text, &edit.suggestion, 100.0 * edit.probability);
        line.push_str(&format!("{{{old}{text}{old:#} -> {new}{suggestion}{new:#} {sure:.0}%}}"));
        from = edit.end;
    }
    line.push_str(&explanation.text[from..end]);
    line
}
