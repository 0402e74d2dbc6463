//! What scores of people and machines say about a score.

use storymeter_core::{LengthClass, Norms};
use storymeter_union::{About, DiagnosisArea, Estimate, ReferenceColumn, ReferenceScores};

fn norms(short: &[u64], long: &[u64]) -> Option<Norms> {
    let class = |longest, counts: &[u64]| LengthClass { longest, counts: counts.to_vec() };
    Some(Norms {
        source: "own stories".into(),
        low: 0.0,
        high: 1.0,
        classes: vec![class(Some(80), short), class(None, long)],
    })
}

#[test]
fn a_share_is_interpolated_inside_a_part() {
    let one = norms(&[1, 0, 2, 1], &[1]).unwrap();
    for (score, share) in [(-1.0, 0.0), (0.0, 0.0), (0.125, 0.125), (0.25, 0.25), (0.5, 0.25)] {
        assert_eq!(one.share_below(score, 10), Some(share), "{score}");
    }
    for (score, share) in [(0.625, 0.5), (0.75, 0.75), (1.0, 1.0), (7.0, 1.0)] {
        assert_eq!(one.share_below(score, 10), Some(share), "{score}");
    }
    assert_eq!(one.share_below(f64::NAN, 10), None);
}

#[test]
fn a_score_is_compared_with_stories_of_its_length() {
    let column = ReferenceColumn {
        name: "union".into(),
        validity: None,
        human: norms(&[0, 1], &[1, 0]),
        machine: norms(&[1, 1], &[1, 3]),
    };
    let reference = ReferenceScores { columns: vec![column], ..ReferenceScores::default() };
    let own = reference.column("union").unwrap();
    let short = own.standing(0.5, 80).unwrap();
    assert_eq!((short.above_human, short.above_machine), (0.0, 0.5));
    assert_eq!(short.lengths(), "up to 80 words");
    let long = own.standing(0.5, 81).unwrap();
    assert_eq!((long.above_human, long.above_machine), (1.0, 0.25));
    assert_eq!(long.lengths(), "81 words or more");
    assert_eq!(reference.column("disscore"), None);
}

#[test]
fn nothing_is_compared_with_machine_stories_if_there_are_none_of_that_length() {
    let column = ReferenceColumn {
        name: "union".into(),
        validity: None,
        human: norms(&[0, 1], &[1, 0]),
        machine: norms(&[1, 1], &[0, 0]),
    };
    assert_eq!(column.standing(0.5, 81), None);
    assert_eq!(ReferenceColumn { machine: None, ..column }.standing(0.5, 80), None);
}

#[test]
fn a_diagnosis_is_trusted_if_even_the_lower_end_is_well_above_chance() {
    let area = |low: f64| DiagnosisArea {
        output: "repetition".into(),
        error: "repeated plots".into(),
        stories: 400,
        positives: 24,
        area: Estimate { value: 0.8, low, high: 0.9 },
    };
    assert!(area(0.61).is_trusted());
    assert!(!area(0.6).is_trusted());
}

#[test]
fn a_card_of_an_earlier_version_has_them_under_their_old_name() {
    let read = |name: &str| -> About {
        serde_json::from_str(&format!(r#"{{"{name}": {{"weights": "w"}}}}"#)).unwrap()
    };
    let about = read("reference_scores");
    assert_eq!(about.reference_scores.as_ref().unwrap().weights, "w");
    assert_eq!(read("yardstick"), about);
    assert!(serde_json::to_string(&about).unwrap().contains(r#""reference_scores":"#));
}
