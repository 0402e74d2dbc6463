//! Explanations of criteria in words.

use storymeter_core::{Rationale, Span};
use storymeter_union::Warning;
use storymeter_union::criteria::{ExplainedCriterion, Explanation, StrongestSentence};

fn shown(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

fn explanation() -> Explanation {
    let strongest =
        |text: &str, effect| Some(StrongestSentence { sentence: 0, text: text.to_owned(), effect });
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
    let bare =
        ExplainedCriterion { name: "overall".to_owned(), prediction: Some(-0.5), ..absent.clone() };
    Explanation {
        text: "Mira ran home.".to_owned(),
        predictions: vec![absent, coherence, bare],
        warnings: vec![Warning { kind: "poem", looks: "looks like a poem or a song" }],
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
    let json: serde_json::Value = serde_json::from_str(&explanation().to_json()).unwrap();
    assert_eq!(json["criteria"]["predictions"][1]["raises"]["text"], "Mira ran home.");
    assert_eq!(json["criteria"]["predictions"][0]["absent"], "the story has no prompt");
    assert_eq!((&json["text"], &json["criteria"]["text"]), (&"Mira ran home.".into(), &().into()));
}
