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
    fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "criteria": self })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(spans: &[Span]) -> String {
        spans.iter().map(|span| span.text.as_str()).collect()
    }

    fn explanation() -> Explanation {
        let strongest = |text: &str, effect| {
            Some(StrongestSentence { sentence: 0, text: text.to_owned(), effect })
        };
        let absent = ExplainedCriterion {
            name: "relevance".to_owned(),
            prediction: None,
            low: None,
            high: None,
            absent: Some("the story has no prompt"),
            base: None,
            raises: None,
            lowers: None,
        };
        let coherence = ExplainedCriterion {
            name: "coherence".to_owned(),
            prediction: Some(3.214),
            low: Some(2.5),
            high: Some(3.999),
            absent: None,
            base: Some(3.0),
            raises: strongest("Mira ran home.", 0.123),
            lowers: strongest(&"A whale\nsang. ".repeat(20), -0.456),
        };
        let bare = ExplainedCriterion {
            name: "overall".to_owned(),
            prediction: Some(-0.5),
            ..absent.clone()
        };
        Explanation {
            predictions: vec![absent, coherence, bare],
            warnings: vec![crate::Warning { kind: "poem", looks: "looks like a poem or a song" }],
            sentences: Vec::new(),
        }
    }

    #[test]
    fn every_part_of_an_explanation_is_shown_in_words() {
        assert_eq!(
            shown(&explanation().spans()),
            "\
criteria
  Warning: the text looks like a poem or a song. The ratings were of English stories.
  relevance  absent: the story has no prompt
  coherence  3.21  (80% of such stories: 2.50 to 4.00)
    raised most by   +0.12  \"Mira ran home.\"
    lowered most by  -0.46  \"A whale\\nsang. A whale\\nsang. A whale\\nsang. A whale\\nsang. A \
whale\\nsang. A whal...\"
  overall    -0.50
"
        );
    }

    #[test]
    fn the_legend_fits_a_terminal() {
        let legend = shown(&explanation().legend());
        assert!(legend.lines().all(|line| line.len() <= 100), "{legend}");
    }

    #[test]
    fn programs_find_the_criteria_under_one_field() {
        let json = explanation().to_json();
        assert_eq!(json["criteria"]["predictions"][1]["raises"]["text"], "Mira ran home.");
        assert_eq!(json["criteria"]["predictions"][0]["absent"], "the story has no prompt");
    }
}
