//! Edits are applied, undone, shown and read.

use proptest::prelude::*;
use serde_json::json;
use storymeter_perturb::{Edit, Error, Technique, apply, stretches, undo};

fn edit(technique: Technique, start: usize, before: &str, after: &str) -> Edit {
    let end = start + before.len();
    serde_json::from_value(json!({
        "technique": technique, "sentence": 1, "start": start, "end": end,
        "before": before, "after": after,
    }))
    .unwrap()
}

#[test]
fn applying_and_undoing_are_inverse() {
    let original = "Ken woke. He went out.";
    let edits = [
        edit(Technique::Negation, 13, "went", "did not go"),
        edit(Technique::Repetition, 24, "out", "out out"),
    ];
    let damaged = apply(original, &edits).unwrap();
    assert_eq!(damaged, "Ken woke. He did not go out out.");
    assert_eq!(undo(&damaged, &edits).unwrap(), original);
}

#[test]
fn an_edit_that_does_not_fit_is_an_error_not_a_panic() {
    let edits = [edit(Technique::Negation, 1, "went", "did not go")];
    assert!(matches!(apply("He went.", &edits), Err(Error::EditMismatch { number: 0, .. })));
    assert!(matches!(apply("é", &edits), Err(Error::EditMismatch { .. })));
}

#[test]
fn stretches_tell_new_text_from_old() {
    let edits = [edit(Technique::Repetition, 13, "cool", "cool and cool")];
    let shown: Vec<_> = stretches("It was crisp cool.", &edits)
        .unwrap()
        .into_iter()
        .map(|s| (s.text.into_owned(), s.technique))
        .collect();
    assert_eq!(
        shown,
        [
            ("It was crisp cool".to_owned(), None),
            (" and cool".to_owned(), Some(Technique::Repetition)),
            (".".to_owned(), None)
        ]
    );
}

#[test]
fn an_edit_reads_and_writes_the_same_json() {
    let json = concat!(
        r#"{"technique":"negation","sentence":1,"start":13,"end":17,"#,
        r#""before":"went","after":"did not go"}"#
    );
    let edit = edit(Technique::Negation, 13, "went", "did not go");
    assert_eq!(serde_json::to_string(&edit).unwrap(), json);
    assert_eq!(serde_json::from_str::<Edit>(json).unwrap(), edit);
}

#[test]
fn an_end_that_contradicts_the_text_is_refused() {
    let read = |start: usize, end: usize| {
        let json = format!(
            r#"{{"technique":"negation","sentence":1,"start":{start},"end":{end},
                "before":"went","after":""}}"#
        );
        serde_json::from_str::<Edit>(&json)
    };
    assert!(read(13, 17).is_ok());
    for (start, end) in [(13, 16), (13, 18), (17, 13), (usize::MAX, 3)] {
        let error = read(start, end).unwrap_err().to_string();
        assert!(error.starts_with("an edit of the bytes "), "{error}");
    }
}

/// Copies the whole text once per edit.
fn apply_by_copying(original: &str, edits: &[Edit]) -> Option<String> {
    let mut text = original.to_owned();
    for edit in edits {
        text.get(edit.start()..)?.strip_prefix(edit.before())?;
        text.replace_range(edit.start()..edit.end(), edit.after());
    }
    Some(text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn edits_in_any_order_are_applied_as_by_copying_the_text(
        text in "[ab漢]{0,12}",
        changes in prop::collection::vec((0usize..20, "[ab漢]{0,2}", "[ab漢]{0,3}"), 0..5),
    ) {
        let edits: Vec<Edit> = changes
            .iter()
            .map(|(start, before, after)| edit(Technique::Negation, *start, before, after))
            .collect();
        let applied = apply(&text, &edits).ok();
        prop_assert_eq!(&applied, &apply_by_copying(&text, &edits));
        if let Some(damaged) = applied {
            prop_assert_eq!(undo(&damaged, &edits).unwrap(), text.clone());
            let shown = stretches(&text, &edits).unwrap();
            prop_assert_eq!(shown.iter().map(|s| &*s.text).collect::<String>(), damaged);
        }
    }
}

#[test]
fn a_hundred_thousand_edits_take_one_pass() {
    let count = 100_000;
    let original = "It rained all day. ".repeat(count);
    let edits: Vec<Edit> = (0..count)
        .map(|i| edit(Technique::Negation, i * 25 + 3, "rained", "did not rain"))
        .collect();
    // Copying the text once per edit would take minutes.
    let start = std::time::Instant::now();
    let damaged = apply(&original, &edits).unwrap();
    assert_eq!(damaged, "It did not rain all day. ".repeat(count));
    assert_eq!(undo(&damaged, &edits).unwrap(), original);
    assert_eq!(stretches(&original, &edits).unwrap().len(), 2 * count + 1);
    assert!(start.elapsed().as_secs() < 30);
}
