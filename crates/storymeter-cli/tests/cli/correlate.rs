//! `storymeter correlate`.

use crate::sandbox::Sandbox;

/// Six rated stories in both layouts, and scores for them.
fn with_stories() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "rated.txt",
        "11 ||| mia slept . rain fell . ||| 1 1 1 1 1 1 1\n\
         12 ||| the door opened . ||| 0 0 0 0 0 0 1\n\
         13 ||| he ran and he ran . ||| 0 1 0 1 0 0 0\n\
         14///9 ||| a boat left the bay . ||| 1 1 1 1 0 1 1\n\
         15 ||| the soup was cold . ||| 0 0 0 0 0 0 0\n\
         16 ||| they sang all night . ||| 1 0 1 1 0 1 0\n",
    );
    sandbox.write("numbers.txt", "0.9\n0.2\n0.3\n0.7\n0.4\n0.5\n");
    sandbox.write("flat.txt", "1\n1\n1\n1\n1\n1\n");
    sandbox.write(
        "scores.jsonl",
        "{\"id\": \"16\", \"scores\": {\"bleu\": 0.5, \"ter\": 3}}\n\
         {\"id\": \"11\", \"scores\": {\"bleu\": 0.9, \"ter\": 1}}\n\
         {\"id\": \"12\", \"scores\": {\"bleu\": 0.2, \"ter\": 6}}\n\
         {\"id\": \"14\", \"scores\": {\"bleu\": 0.7, \"ter\": 2}}\n\
         {\"id\": \"13\", \"scores\": {\"bleu\": 0.3, \"ter\": null}}\n\
         {\"id\": \"99\", \"scores\": {\"bleu\": 0.1, \"ter\": 4}}\n",
    );
    sandbox
}

#[test]
fn numbers_are_joined_by_order_and_scores_by_id() {
    let sandbox = with_stories();
    let run = sandbox
        .run("correlate --human rated.txt --scores mine=numbers.txt bleu=scores.jsonl ter=scores.jsonl#ter")
        .succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn json_has_the_documented_keys_and_a_reason_for_every_null() {
    let sandbox = with_stories();
    let run = sandbox
        .run("correlate --human rated.txt --scores mine=numbers.txt --scores flat=flat.txt --json")
        .succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn one_criterion_is_taken_and_several_must_be_named() {
    let sandbox = with_stories();
    let line = |id: u32, fun: u32, plot: u32| {
        format!(
            "{{\"id\": {id}, \"story\": \"Rain fell.\", \"human\": {{\"fun\": {fun}, \"plot\": [{plot}, 2]}}}}\n"
        )
    };
    sandbox.write(
        "human.jsonl",
        [line(11, 5, 1), line(12, 1, 4), line(14, 4, 2), line(16, 2, 3)].concat(),
    );
    let command = "correlate --human human.jsonl --scores bleu=scores.jsonl#bleu";
    sandbox.run(command).fails_with("one must be named: fun, plot (name one with --criterion)");
    sandbox
        .run(&format!("{command} --criterion wit"))
        .fails_with("there is no criterion \"wit\"; there are: fun, plot");
    let run = sandbox.run(&format!("{command} --criterion plot --json")).succeeds();
    assert!(run.stdout().contains("\"kendall\": -1.0"), "{}", run.stdout());
}

#[test]
fn bad_input_is_an_error_that_says_what_and_where() {
    let sandbox = with_stories();
    sandbox.write("short.txt", "0.9\n0.2\n");
    sandbox.write("word.txt", "0.9\nhigh\n0.3\n0.7\n0.4\n0.5\n");
    sandbox.write(
        "twice.jsonl",
        "{\"id\": 11, \"scores\": {\"a\": 1}}\n{\"id\": 11, \"scores\": {\"a\": 2}}\n",
    );
    sandbox.write("strange.jsonl", "{\"id\": 77, \"scores\": {\"a\": 1}}\n");
    let scores =
        |source: &str| sandbox.run(&format!("correlate --human rated.txt --scores {source}"));
    scores("a=short.txt").fails_with("short.txt: 2 numbers, but rated.txt has 6 stories");
    scores("a=word.txt").fails_with("word.txt:2: \"high\" is not a number");
    scores("a=twice.jsonl").fails_with(
        "twice.jsonl:2: field \"id\": duplicate id \"11\": it was first used on line 1",
    );
    scores("a=strange.jsonl").fails_with("strange.jsonl: none of its ids is in rated.txt");
    scores("a=scores.jsonl").fails_with("one must be named: bleu, ter (name one as FILE#METRIC)");
    scores("a=scores.jsonl#rouge").fails_with("there is no metric \"rouge\"; there are: bleu, ter");
    scores("a=none.txt").fails_with("none.txt");
    scores("none.txt").fails_with("not of the form NAME=FILE");
    scores("a=numbers.txt a=flat.txt").fails_with("the name \"a\" is given twice");
}

#[test]
fn the_test_and_the_interval_can_be_chosen() {
    let sandbox = with_stories();
    let command = "correlate --human rated.txt --scores mine=numbers.txt bleu=scores.jsonl --json";
    let json = |extra: &str| -> serde_json::Value {
        serde_json::from_str(sandbox.run(&format!("{command} {extra}")).succeeds().stdout())
            .unwrap()
    };
    let (usual, other) = (json(""), json("--test meng --interval percentile --resamples 200"));
    assert_eq!(usual["mine"]["pearson"], other["mine"]["pearson"]);
    assert_ne!(usual["mine"]["interval_pearson"], other["mine"]["interval_pearson"]);
    assert_eq!(
        (&usual["=tests"][0]["test"], &other["=tests"][0]["test"]),
        (&"williams".into(), &"meng".into())
    );
}
