//! Writes an explanation of predictions for people.

use storymeter_core::{Rationale, Span, SpanKind};

use super::explain::{ExplainedCriterion, Explanation};
use crate::show::Spans;

impl Rationale for Explanation {
    /// An object with the field `criteria`, so that it can stand beside the explanation of another
    /// metric, and with the text that its places are in.
    fn to_json(&self) -> String {
        serde_json::json!({ "text": self.text, "criteria": self }).to_string()
    }

    /// One line per criterion with its prediction and interval. What a sentence does to a
    /// prediction is much less than the interval is wide, so it is left to programs.
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
        }
        spans.0
    }

    fn legend(&self) -> Vec<Span> {
        let mut spans = Spans::default();
        spans.plain(
            "How to read this: each criterion has the rating that readers are predicted to give, and \
             the range\nthat held 80% of the ratings of other stories with this prediction. What single \
             sentences do to a\nprediction is much less than that, and only in the JSON.\n\n",
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
