//! What scores of people and machines say about a score.

use storymeter_core::{LengthClass, Norms};
use storymeter_union::{DiagnosisArea, Estimate, ReferenceColumn, ReferenceScores};

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
