//! What scores of people and machines say about a score.

use storymeter_union::{DiagnosisArea, Estimate, Histogram, ReferenceScores, Writer};

fn histogram(writer: Writer, longest: Option<usize>, counts: &[u64]) -> Histogram {
    Histogram { writer, longest, source: "own stories".into(), counts: counts.to_vec() }
}

#[test]
fn a_share_is_interpolated_inside_a_part() {
    let one = histogram(Writer::Human, None, &[1, 0, 2, 1]);
    assert_eq!(one.stories(), 4);
    for (score, share) in [(-1.0, 0.0), (0.0, 0.0), (0.125, 0.125), (0.25, 0.25), (0.5, 0.25)] {
        assert_eq!(one.share_below(score), share, "{score}");
    }
    for (score, share) in [(0.625, 0.5), (0.75, 0.75), (1.0, 1.0), (7.0, 1.0)] {
        assert_eq!(one.share_below(score), share, "{score}");
    }
}

#[test]
fn a_score_is_compared_with_stories_of_its_length() {
    let reference = ReferenceScores {
        scores: vec![
            histogram(Writer::Human, Some(80), &[0, 1]),
            histogram(Writer::Human, None, &[1, 0]),
            histogram(Writer::Machine, Some(80), &[1, 1]),
            histogram(Writer::Machine, None, &[1, 3]),
        ],
        ..ReferenceScores::default()
    };
    let short = reference.standing(0.5, 80).unwrap();
    assert_eq!((short.above_human, short.above_machine), (0.0, 0.5));
    assert_eq!(short.lengths(), "up to 80 words");
    let long = reference.standing(0.5, 81).unwrap();
    assert_eq!((long.above_human, long.above_machine), (1.0, 0.25));
    assert_eq!(long.lengths(), "81 words or more");
    assert_eq!(ReferenceScores::default().standing(0.5, 10), None);
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
