//! Results in folders.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use storymeter_core::{Aspect, Column, Direction, Key, Ratings, Row, ScoreTable};
use storymeter_meta::folder::{self, SheetSet};
use storymeter_meta::suite::{
    self, Example, ExampleScore, LeftOut, MissingAspect, Piece, RuleCount, SuiteResult,
};
use storymeter_meta::table;

use crate::suite::support::{absent, example, run};

fn full() -> SuiteResult {
    let mut scores = example();
    let reason = "needs a file of triples".to_owned();
    scores.missing.push(MissingAspect { aspect: Aspect::CommonSense, reason });
    let own = &mut scores.aspects[0];
    own.left_out.push(LeftOut { reason: "one sentence".to_owned(), stories: 3 });
    own.rules.push(RuleCount { rule: "4-gram".to_owned(), pairs: 400 });
    own.scores[0].twins[0] = absent();
    let mut result = run(&scores);
    let piece = |text: &str, changed| Piece { text: text.to_owned(), changed };
    result.examples.push(Example {
        aspect: Aspect::LexicalRepetition,
        rule: "4-gram".to_owned(),
        id: "7".to_owned(),
        original: vec![piece("The rain fell.", false)],
        twin: vec![piece("The rain ", false), piece("and the rain ", true), piece("fell.", false)],
        scores: vec![ExampleScore { metric: Key::new("union"), original: Some(0.5), twin: None }],
    });
    result
}

#[test]
fn a_result_is_read_back_as_it_was() {
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path().join("deep/out");
    let result = full();
    let paths = suite::write(&result, &out, &[]).unwrap();
    assert_eq!(paths, [out.join("result.csv"), out.join("result.json")]);
    assert!(suite::holds_result(&out));
    assert_eq!(suite::read(&out).unwrap(), result);
    let mut files = suite::files(&out);
    files.sort();
    assert_eq!(files, paths);
    let text = fs::read_to_string(out.join("result.json")).unwrap();
    assert!(text.starts_with("{\"kind\":\"suite\",\"version\":"), "{}", &text[..60]);
    let csv = fs::read_to_string(out.join("result.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + result.cells.len());
}

#[test]
fn a_later_result_replaces_an_older_one_and_nothing_else() {
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path();
    fs::write(out.join("time.jsonl"), "pairs").unwrap();
    suite::write(&run(&example()), out, &[]).unwrap();
    let result = full();
    suite::write(&result, out, &[&out.join("time.jsonl")]).unwrap();
    assert_eq!(suite::read(out).unwrap(), result);
    assert_eq!(fs::read_to_string(out.join("time.jsonl")).unwrap(), "pairs");
    assert_eq!(fs::read_dir(out).unwrap().count(), 3);
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_half_written_has_no_result() {
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path();
    suite::write(&full(), out, &[]).unwrap();
    fs::remove_file(out.join("result.csv")).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", out.join("result.csv")).unwrap();
    assert!(suite::write(&full(), out, &[]).is_err());
    assert!(!suite::holds_result(out), "the mark of a complete folder is gone");
    fs::remove_file(out.join("result.csv")).unwrap();
    suite::write(&full(), out, &[]).unwrap();
    assert_eq!(suite::read(out).unwrap(), full());
}

#[test]
fn files_of_others_are_not_replaced() {
    for (name, content) in [("result.json", "{\"kind\": \"mine\"}"), ("result.csv", "a,b\n")] {
        let temporary = tempfile::tempdir().unwrap();
        fs::write(temporary.path().join(name), content).unwrap();
        let message = suite::write(&full(), temporary.path(), &[]).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains("another folder"), "{message}");
        assert_eq!(fs::read_to_string(temporary.path().join(name)).unwrap(), content);
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1);
        assert!(suite::files(temporary.path()).is_empty());
    }
    let temporary = tempfile::tempdir().unwrap();
    suite::write(&full(), temporary.path(), &[]).unwrap();
    let input = temporary.path().join("result.csv");
    let message = suite::write(&full(), temporary.path(), &[&input]).unwrap_err().to_string();
    assert!(message.contains("writing it would destroy the input"), "{message}");
}

fn study() -> storymeter_meta::Study {
    let rows = (0..12).map(|i| {
        let mut ratings = Ratings::new();
        ratings.push("fun", Some(f64::from(i * 5 % 12)));
        Row { id: i.to_string(), item: i.to_string(), ratings, ..Row::default() }
    });
    let mut scores = ScoreTable::new(rows.collect());
    let values = (0..12).map(|i| Ok(f64::from(i))).collect();
    scores.push(Column::metric("m", Direction::Higher), values);
    table::analyse(&scores, &table::Options::default()).unwrap()
}

#[test]
fn a_suite_and_a_study_are_told_apart_and_do_not_replace_each_other() {
    let temporary = tempfile::tempdir().unwrap();
    let (ours, theirs) = (temporary.path().join("ours"), temporary.path().join("theirs"));
    suite::write(&full(), &ours, &[]).unwrap();
    folder::write(&study(), &theirs, SheetSet::Main, &[]).unwrap();
    assert!(suite::holds_result(&ours) && !folder::holds_study(&ours));
    assert!(folder::holds_study(&theirs) && !suite::holds_result(&theirs));
    let message = suite::write(&full(), &theirs, &[]).unwrap_err().to_string();
    assert!(message.contains("study.json: this file is there already"), "{message}");
    assert_eq!(folder::read(&theirs).unwrap(), study());
    let message = folder::write(&study(), &ours, SheetSet::Main, &[]).unwrap_err().to_string();
    assert!(message.contains("this is the result of a test suite"), "{message}");
    assert_eq!(suite::read(&ours).unwrap(), full());
}

fn read_text(text: &str) -> Result<SuiteResult, String> {
    let temporary = tempfile::tempdir().unwrap();
    fs::write(temporary.path().join("result.json"), text).unwrap();
    suite::read(temporary.path()).map_err(|error| error.to_string())
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let message = read_text("{\"kind\": \"suite\",\n\"version\": NaN}").unwrap_err();
    assert!(message.contains("result.json:2: not the result of a test suite"), "{message}");
    for text in ["", "[]", "null", "{}", "{\"kind\": \"hanna\"}", "\u{0}", "{\"kind\": 1e999}"] {
        assert!(read_text(text).is_err(), "{text}");
        let temporary = tempfile::tempdir().unwrap();
        fs::write(temporary.path().join("result.json"), text).unwrap();
        assert!(!suite::holds_result(temporary.path()), "{text}");
    }
    assert!(suite::read(Path::new("/nowhere/at/all")).is_err());
    assert!(!suite::holds_result(Path::new("/nowhere/at/all")));
}

/// Changes one place of a good file.
fn edited(path: &str, value: Value) -> Result<SuiteResult, String> {
    let mut json = serde_json::to_value(full()).unwrap();
    *json.pointer_mut(path).unwrap() = value;
    read_text(&json.to_string())
}

#[test]
fn what_does_not_fit_together_is_refused() {
    assert!(edited("/version", json!("9.9.9")).is_ok());
    let wrong = [
        ("/aspects", json!([])),
        ("/cells", json!([])),
        ("/constant", json!([])),
        ("/metrics", json!([])),
        ("/missing/0/aspect", json!("time")),
        ("/missing/0/aspect", json!("weather")),
        ("/aspects/0/aspect", json!("typo")),
        ("/aspects/0/pairs", json!(3)),
        ("/aspects/0/pairs", json!(-1)),
        ("/aspects/0/twins", json!(1e300)),
        ("/aspects/0/test", json!("invariance")),
        ("/cells/0/test", json!("invariance")),
        ("/cells/0/metric", json!("other")),
        ("/cells/0/pairs", json!(7)),
        ("/cells/0/auc", json!(1.5)),
        ("/cells/0/auc", json!("NaN")),
        ("/cells/0/auc", json!(null)),
        ("/cells/0/auc", json!({"absent": "because"})),
        ("/cells/0/r", json!(-1.01)),
        ("/cells/0/sd", json!(-0.1)),
        ("/cells/0/ties", json!([0.5])),
        ("/constant/0/p_r", json!(2)),
        ("/method/confidence", json!(0)),
        ("/examples/0/aspect", json!("weather")),
        ("/examples/0/scores/0/metric", json!("other")),
        ("/kind", json!("study")),
    ];
    for (path, value) in wrong {
        let shown = format!("{path} = {value}");
        let message = edited(path, value).map(|_| ()).expect_err(&shown);
        assert!(message.contains("not the result of a test suite"), "{shown}: {message}");
    }
}

#[test]
fn a_file_that_is_cut_or_damaged_anywhere_never_panics() {
    let text = serde_json::to_string(&full()).unwrap();
    for at in (0..text.len()).step_by(37) {
        assert!(read_text(&text[..at]).is_err());
        let mut bytes = text.clone().into_bytes();
        bytes[at] = b"0}]\",:nx\xff"[at % 9];
        let temporary = tempfile::tempdir().unwrap();
        fs::write(temporary.path().join("result.json"), bytes).unwrap();
        if let Ok(result) = suite::read(temporary.path()) {
            storymeter_meta::view::suite_sheets(&result);
            storymeter_meta::view::suite_sentence(&result, "union");
        }
    }
}
