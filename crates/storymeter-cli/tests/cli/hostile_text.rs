//! Texts and names of users reach a terminal as nothing but text.

use crate::sandbox::{Run, Sandbox};

/// Clears the screen, renames the window, turns the direction of writing, and rings.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;gone\u{7}\u{9b}31m\u{202e}\r";

fn json(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_control() { format!("\\u{:04x}", c as u32) } else { c.into() })
        .collect()
}

#[track_caller]
fn is_plain(run: &Run) {
    for shown in [run.stdout(), run.stderr()] {
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(obeyed), "{shown:?}");
    }
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let hostile = json(HOSTILE);
    let line = |n: u32| {
        format!(
            "{{\"id\": \"{n}{hostile}\", \"system\": \"s{hostile}\", \"story\": \"Rain fell on \
             {n}. The {hostile} lamp went out. He ran home and slept.\"}}\n"
        )
    };
    sandbox.write("stories.jsonl", (0..4).map(line).collect::<String>());
    sandbox
}

#[test]
fn tables_explanations_and_samples_are_plain() {
    let sandbox = sandbox();
    let table = sandbox.run("score stories.jsonl -m distinct-2").succeeds();
    is_plain(&table);
    assert!(table.stdout().contains(r"s\u{1b}[2J\u{1b}]0;gone\u{7}\u{9b}31m\u{202e}\r"));
    let explained = sandbox.run("score stories.jsonl --explain").succeeds();
    is_plain(&explained);
    assert!(explained.stdout().contains(r"0\u{1b}[2J"), "{}", explained.stdout());
    let shown = sandbox.run("perturb stories.jsonl --show 4").succeeds();
    is_plain(&shown);
    assert!(shown.stdout().contains(r"\u{1b}[2J"), "{}", shown.stdout());
}

#[test]
fn data_keep_the_text_as_it_is() {
    let sandbox = sandbox();
    sandbox.run("score stories.jsonl -m distinct-2 --format jsonl -o scores.jsonl").succeeds();
    let first = sandbox.read("scores.jsonl").lines().next().unwrap().to_owned();
    assert!(first.contains("\\u001b[2J") && first.contains('\u{9b}'), "{first}");
}

#[test]
fn messages_are_plain_and_short() {
    let sandbox = sandbox();
    sandbox.write(
        "bad.jsonl",
        format!("{{\"story\": \"x\", \"human\": {{\"a\": \"b{}\"}}}}\n", json(HOSTILE)),
    );
    let run = |arguments: &[&str]| {
        let run = sandbox.run_arguments(arguments);
        assert_eq!(run.code(), 2, "{arguments:?}");
        is_plain(&run);
        assert!(run.stderr().len() < 5000, "{arguments:?}: {}", run.stderr().len());
        run.stderr().to_owned()
    };
    assert!(run(&["score", "bad.jsonl"]).contains(r"b\u{1b}[2J"));
    assert!(run(&["score", "no\u{1b}[2Jfile.jsonl"]).contains(r"no\u{1b}[2Jfile.jsonl"));
    assert!(run(&["score", "stories.jsonl", "-m", HOSTILE]).contains(r"\u{1b}[2J"));
    assert!(
        run(&["score", "stories.jsonl", "-m", "distinct-2", "--against", HOSTILE])
            .contains(r"\u{1b}")
    );
    run(&["score", "stories.jsonl", "--device", HOSTILE]);
    run(&["score", "stories.jsonl", &format!("--{HOSTILE}")]);
    let long = "x".repeat(100_000);
    run(&["score", "stories.jsonl", "-m", &long]);
    run(&["score", "stories.jsonl", "--device", &long]);
    run(&["score", "stories.jsonl", "--fail-under", &long]);
}
