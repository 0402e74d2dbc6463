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
fn tests_are_two_sided_unless_one_side_is_asked_for() {
    let sandbox = with_stories();
    let scores =
        "correlate --human rated.txt --scores bleu=scores.jsonl ter=scores.jsonl#ter --json";
    let test = |options: &str| {
        let run = sandbox.run(&format!("{scores} {options}")).succeeds();
        let found: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
        let test = &found["=tests"][0];
        (test["sides"].as_str().unwrap().to_owned(), test["p"].as_f64().unwrap())
    };
    let (two, one) = (test(""), test("--one-sided"));
    assert_eq!((two.0.as_str(), one.0.as_str()), ("two", "one"));
    assert!((two.1 - 2.0 * one.1).abs() < 1e-12, "{two:?} {one:?}");
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
    scores("a=scores.jsonl#rouge").fails_with("scores.jsonl: there is no metric");
    for empty in ["=numbers.txt", "a=", "a=#bleu", "a=scores.jsonl#"] {
        scores(empty).fails_with(&format!("\"{empty}\""));
    }
    for number in ["inf", "1e400"] {
        sandbox.write("inf.txt", format!("0.9\n{number}\n0.3\n0.7\n0.4\n0.5\n"));
        let message = format!("inf.txt:2: \"{number}\" is not a finite number");
        scores("a=inf.txt").fails_with(&message);
        sandbox.write("inf.jsonl", format!("{{\"id\": 11, \"scores\": {{\"a\": {number}}}}}\n"));
        scores("a=inf.jsonl").fails_with("inf.jsonl:1: ");
        sandbox.write("human.jsonl", format!("{{\"id\": 11, \"human\": {{\"fun\": {number}}}}}\n"));
        sandbox
            .run("correlate --human human.jsonl --scores a=numbers.txt")
            .fails_with("human.jsonl:1: ");
    }
    sandbox
        .run("correlate --human rated.txt --criterion= --scores a=numbers.txt")
        .fails_with("rated.txt: there is no criterion \"\"");
    let draws = "correlate --human rated.txt --scores a=numbers.txt --interval bca --resamples";
    sandbox.run(&format!("{draws} 0")).fails_with("--resamples");
    sandbox.run(&format!("{draws} 18446744073709551615")).fails_with("--resamples");
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

#[test]
fn the_advice_names_no_option_that_the_verb_lacks() {
    let sandbox = with_stories();
    sandbox.write("human.jsonl", "{\"id\": 11, \"scores\": {\"a\": 1}}\n");
    let run = sandbox
        .run("correlate --human human.jsonl --scores a=numbers.txt")
        .fails_with("human.jsonl: there is no human criterion");
    let told = run.stderr().replace("`meta table --stories FILE`", "");
    assert!(!told.contains("--stories"), "{told}");
}

#[test]
fn names_and_paths_do_nothing_to_a_terminal() {
    let sandbox = with_stories();
    let line = |id: u32, fun: u32| {
        format!("{{\"id\": {id}, \"human\": {{\"fun\\u001b[2J\\u202e\": {fun}}}}}\n")
    };
    sandbox.write("human.jsonl", [line(11, 5), line(12, 1), line(14, 4), line(16, 2)].concat());
    let scores = sandbox.read("scores.jsonl").replace("\"bleu\"", "\"bleu\\u0007\\u001b]0;x\"");
    sandbox.write("scores\u{1b}[31m.jsonl", scores);
    let run = sandbox
        .run("correlate --human human.jsonl --scores a\u{1b}[1m=scores\u{1b}[31m.jsonl#ter")
        .succeeds();
    let obeyed = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!run.stdout().contains(obeyed), "{:?}", run.stdout());
    assert!(run.stdout().contains(r"fun\u{1b}[2J\u{202e}"), "{}", run.stdout());
}

#[test]
fn tables_can_be_markdown_latex_or_csv() {
    let sandbox = with_stories();
    let run = |format: &str| {
        let command = "correlate --human rated.txt --scores mine=numbers.txt bleu=scores.jsonl";
        sandbox.run(&format!("{command} --format {format}")).succeeds()
    };
    insta::assert_snapshot!("markdown", run("markdown").stdout());
    let latex = run("latex");
    assert!(latex.stdout().contains("\\toprule\nscores & n & without score"), "{}", latex.stdout());
    assert_eq!(latex.stdout().matches("\\begin{table}").count(), 3);
    assert!(latex.stdout().contains("\\textbf{"), "the strongest correlations are bold");
    let csv = run("csv");
    let lines: Vec<&str> = csv.stdout().lines().collect();
    assert_eq!(
        lines[0],
        "scores,criterion,coefficient,n,value,low,high,p,without_score,without_human"
    );
    assert_eq!(lines.len(), 7, "two sources and three coefficients");
    let json = sandbox
        .run("correlate --human rated.txt --scores mine=numbers.txt bleu=scores.jsonl --json")
        .succeeds();
    assert_eq!(run("json").stdout(), json.stdout());
}

#[test]
fn judgments_and_scores_may_be_tables_of_other_programs() {
    let sandbox = with_stories();
    let lines = ["11;1,0", "12;0,25", "13;0,5", "14;0,75", "15;0", "16;0,5"];
    sandbox.write("human.csv", format!("id;human/sense\n{}\n", lines.join("\n")));
    let scores = ["11\t0.9", "12\t0.2", "13\t0.3", "14\t0.7", "16\t0.5"];
    sandbox.write("mine.tsv", format!("story_id\tmine\n{}\n", scores.join("\n")));
    let run = sandbox.run("correlate --human human.csv --scores mine=mine.tsv --json").succeeds();
    let json: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!((&json["mine"]["n"], &json["mine"]["without_score"]), (&5.into(), &1.into()));
}

#[cfg(unix)]
mod pipes {
    use std::io::Write as _;
    use std::process::Command;
    use std::time::Duration;

    use super::with_stories;
    use crate::sandbox::Sandbox;

    /// Named pipes, each of which is given a file slowly and once.
    fn feed(sandbox: &Sandbox, pairs: &[(&str, &str)]) {
        for (pipe, source) in pairs {
            let made = Command::new("mkfifo").arg(sandbox.path(pipe)).status().unwrap();
            assert!(made.success());
            let (pipe, content) = (sandbox.path(pipe), sandbox.read(source));
            std::thread::spawn(move || {
                let mut writer = std::fs::OpenOptions::new().write(true).open(pipe).unwrap();
                for line in content.lines() {
                    let _ = writeln!(writer, "{line}");
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
    }

    #[test]
    fn what_comes_slowly_through_pipes_is_read_to_its_end() {
        let sandbox = with_stories();
        let files = sandbox.run("correlate --human rated.txt --scores a=scores.jsonl#bleu --json");
        feed(&sandbox, &[("human", "rated.txt"), ("scores", "scores.jsonl")]);
        let pipes = sandbox.run("correlate --human human --scores a=scores#bleu --json").succeeds();
        assert_eq!(pipes.stdout(), files.succeeds().stdout());
    }

    #[test]
    fn one_pipe_for_two_files_is_an_error() {
        let sandbox = with_stories();
        feed(&sandbox, &[("pipe", "rated.txt")]);
        sandbox
            .run("correlate --human pipe --scores a=pipe")
            .fails_with("pipe: it is named twice, but it can be read only once");
        sandbox
            .run_with_input("correlate --human - --scores a=/dev/stdin", b"1 ||| a ||| 1\n")
            .fails_with("can be read only once");
    }
}
