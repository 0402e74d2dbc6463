//! What the manual pages of all metrics promise.

use std::collections::BTreeMap;
use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{PRESET, Place, Story};

use storymeter_executor::MetricSet;
use storymeter_metrics::catalogue;

#[test]
fn every_metric_has_a_page_and_a_short_summary() {
    assert_eq!(catalogue().entries().count(), 15);
    for entry in catalogue().entries() {
        for section in ["Definition", "Many stories", "Empty story", "Source", "Checked against"] {
            let found = entry.page().lines().any(|line| line.starts_with(section));
            assert!(found, "the page of {:?} has no paragraph \"{section}\"", entry.ids);
        }
        let summary = entry.summary();
        assert!((20..80).contains(&summary.len()), "{:?}: {summary}", entry.ids);
        if entry.needs.reference {
            assert!(entry.page().contains("\nSeveral references: "), "{:?}", entry.ids);
        }
    }
}

/// Where options of a kind can be chosen, one of them says that it is the default.
#[test]
fn every_kind_of_option_has_one_default() {
    let mut seen = 0;
    for entry in catalogue().entries() {
        let mut defaults: BTreeMap<&str, usize> = BTreeMap::new();
        for choice in entry.choices {
            let is_default = choice.about.ends_with("(the default)");
            *defaults.entry(choice.kind).or_default() += usize::from(is_default);
        }
        // Presets beside other options, as BLEU has them, are never the default.
        if defaults.len() > 1 {
            assert_eq!(defaults.remove(PRESET).unwrap_or(0), 0, "{:?}", entry.ids);
        }
        assert!(defaults.values().all(|&count| count == 1), "{:?}: {defaults:?}", entry.ids);
        seen += defaults.len();
    }
    assert_eq!(seen, 16);
}

/// Every option that is called the default gives the same score and signature as no option.
#[test]
fn defaults_are_what_the_metric_does_without_options() {
    let mut seen = 0;
    for entry in catalogue().entries() {
        for choice in entry.choices.iter().filter(|c| c.about.ends_with("(the default)")) {
            for id in entry.ids {
                let typed = format!("{id}:{}", choice.name);
                assert_eq!(scores(&typed, "A lamp. A Lamp"), scores(id, "A lamp. A Lamp"));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 24);
}

/// The manual pages promise these scores.
#[test]
fn empty_stories_score_what_the_pages_say() {
    let mut seen = 0;
    for entry in catalogue().entries() {
        let has_no_value = entry.page().contains("\nEmpty story: no value");
        for id in entry.ids.iter().filter(|_| !has_no_value) {
            let close = |found: &[f64], expected: f64| {
                found.iter().all(|score| (score - expected).abs() < 1e-9)
            };
            let hanna = entry.choices.iter().any(|choice| choice.name == "hanna");
            let expected = match *id {
                "ter" => [100.0, f64::NAN],
                // The newline, which is one of seventeen characters: P = 1, R = 1/17, beta = 3.
                "chrf" => [0.0, 1000.0 / 154.0],
                "coverage" | "density" | "text-length" => [0.0, 1.0],
                // Six tokens of the prompt over one newline.
                "compression" => [0.0, 6.0],
                _ => [0.0, 0.0],
            };
            assert!(close(&scores(id, "").1, expected[0]), "{id}");
            // METEOR's preset needs tables.
            if hanna && *id != "meteor" {
                let (_, found) = scores(&format!("{id}:hanna"), "");
                assert!(close(&found, expected[1]), "{id}: {found:?}");
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 21);
}

/// The signature and the scores of a story.
fn scores(typed: &str, text: &str) -> (String, Vec<f64>) {
    let set = MetricSet::new(&[typed], &catalogue(), Arc::default()).expect("a known metric");
    let story = Story {
        text: text.into(),
        prompt: Some("The lamp was lit.".into()),
        references: vec!["A lamp went out.".into()],
        ..Story::default()
    };
    let records = [
        Record { story: story.clone(), number: 0, place: Place::default() },
        Record {
            story: Story { text: "The storm came.".into(), ..story },
            number: 1,
            place: Place::default(),
        },
    ];
    let survey = set.survey();
    survey.batch(&records).expect("fits in memory");
    let set = set.surveyed(survey).expect("fits in memory");
    let batch = set.batch(&records).expect("every story has what is needed");
    let values = batch.values(0).iter().map(|value| value.clone().expect("present")).collect();
    let signature = set.parts().next().expect("one metric").metric.description();
    (signature.signature.to_string(), values)
}
