//! Writes an explanation of predictions for people.

use storymeter_core::terminal::excerpt;
use storymeter_core::{Effect, Rationale, Span, SpanKind};

use super::explain::{ExplainedCriterion, Explanation, StrongestSentence};
use crate::show::{Spans, signed};

/// The most characters of a sentence that are shown.
const LONGEST_SENTENCE: usize = 76;

impl Rationale for Explanation {
    /// An object with the field `criteria`, so that it can stand beside the explanation of another
    /// metric.
    fn to_json(&self) -> String {
        serde_json::json!({ "criteria": self }).to_string()
    }

    /// One line per criterion with its prediction and interval, and the sentences that raise and
    /// lower it most.
    fn spans(&self) -> Vec<Span> {
        let mut spans = Spans::default();
        spans.plain("criteria\n");
        for warning in &self.warnings {
            spans.push(&format!("  Warning: the text {}.", warning.looks), SpanKind::Warning);
            spans.plain(" The ratings were of English stories.\n");
        }
        let widest = self.predictions.iter().map(|own| own.name.len()).max().unwrap_or(0);
        for own in &self.predictions {
            spans.plain(&format!("  {:<widest$}  {}\n", own.name, predicted(own)));
            for (strongest, words, effect) in [
                (&own.raises, "raised most by ", Effect::Raises),
                (&own.lowers, "lowered most by", Effect::Lowers),
            ] {
                let Some(strongest) = strongest else { continue };
                sentence(&mut spans, strongest, words, effect);
            }
        }
        spans.0
    }

    fn legend(&self) -> Vec<Span> {
        let mut spans = Spans::default();
        spans.plain(
            "How to read this: each criterion has the rating that readers are predicted to give, and \
             the range\nthat held 80% of the ratings of other stories with this prediction. The number \
             before a sentence is\nhow much the prediction would lack without it, if the rest were \
             read as before.\n\n",
        );
        spans.0
    }
}

/// The prediction and its interval, or why there is none.
fn predicted(own: &ExplainedCriterion) -> String {
    match (own.prediction, own.low, own.high) {
        (Some(value), Some(low), Some(high)) => {
            format!("{value:.2}  (80% of such stories: {low:.2} to {high:.2})")
        }
        (Some(value), ..) => format!("{value:.2}"),
        (None, ..) => format!("absent: {}", own.absent.unwrap_or_default()),
    }
}

fn sentence(spans: &mut Spans, strongest: &StrongestSentence, words: &str, effect: Effect) {
    spans.plain("    ");
    spans.push(words, SpanKind::Changes(effect));
    spans.plain(&format!("  {}  ", signed(strongest.effect)));
    spans.push(&excerpt(&strongest.text, LONGEST_SENTENCE), SpanKind::Changes(effect));
    spans.plain("\n");
}
