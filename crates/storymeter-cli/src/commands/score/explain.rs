//! `--explain`: why a story got its score, for people on the terminal and for programs in JSON.

use std::io::Write;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use clap::ValueEnum;
use rayon::prelude::*;
use storymeter::core::read::Record;
use storymeter::union::{Explanation, Scorer};

use super::OutputFormat;

/// The values of `--explain`: which sentences of a long story are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Sentences {
    /// Those of the windows that score lowest
    Weakest,
    /// Every one
    All,
}

/// Explains stories.
pub(super) struct Explainer {
    model: Arc<Scorer>,
    sentences: Sentences,
    /// Explanations are for people unless they are written as JSON.
    show: bool,
    colour: bool,
}

/// Explanations of a batch.
pub(super) struct Explained {
    pub(super) explanations: Vec<Explanation>,
    /// As people see them, where they do.
    pub(super) shown: Vec<u8>,
}

impl Explainer {
    pub(super) fn new(model: Arc<Scorer>, sentences: Sentences, format: OutputFormat) -> Self {
        let colour =
            anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
        Self { model, sentences, show: format != OutputFormat::Jsonl, colour }
    }

    /// Explains a batch.
    pub(super) fn explain(&self, records: &[Record]) -> anyhow::Result<Explained> {
        let explain = |record: &Record| match self.sentences {
            Sentences::Weakest => self.model.explain(&record.story),
            Sentences::All => self.model.explain_every_sentence(&record.story),
        };
        let explanations: Vec<Explanation> = (records.par_iter().map(explain))
            .collect::<Result<_, _>>()
            .context("the model could not explain")?;
        let mut shown = Vec::new();
        if self.show {
            for (record, explanation) in records.iter().zip(&explanations) {
                show(&mut shown, &record.story.id, explanation, self.colour)?;
            }
        }
        Ok(Explained { explanations, shown })
    }
}

/// One story: its score, the diagnosis, then a line a sentence with what it adds and the edits in it.
fn show(
    out: &mut impl Write,
    id: &str,
    explanation: &Explanation,
    colour: bool,
) -> anyhow::Result<()> {
    writeln!(out, "{id}: union {:.4}", explanation.union)?;
    if let Some(diagnosis) = &explanation.diagnosis {
        writeln!(
            out,
            "  repetition {:.2}  incoherence {:.2}  wrong order {:.2}  contradiction {:.2}",
            diagnosis.repetition,
            diagnosis.incoherence,
            diagnosis.wrong_order,
            diagnosis.contradiction
        )?;
    }
    if explanation.repetition_cost >= 0.005 {
        writeln!(
            out,
            "  words over and over cost {:.2} of the calibrated logit",
            explanation.repetition_cost
        )?;
    }
    let weighed =
        explanation.sentences.iter().filter(|sentence| sentence.contribution.is_some()).count();
    if weighed < explanation.sentences.len() {
        let all = explanation.sentences.len();
        writeln!(
            out,
            "  {weighed} of {all} sentences weighed, those of the weakest windows; --explain=all weighs every one"
        )?;
    }
    let whole = [(0, explanation.text.len(), None)];
    let sentences: Vec<(usize, usize, Option<f64>)> = if explanation.sentences.is_empty() {
        whole.to_vec()
    } else {
        explanation.sentences.iter().map(|s| (s.start, s.end, s.contribution)).collect()
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
