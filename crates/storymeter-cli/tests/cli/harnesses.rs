//! Files that tools for evaluating models wrote become a table of systems in one command.

use crate::sandbox::{Sandbox, repository};

fn fixture(name: &str) -> String {
    let folder = repository("crates/storymeter-core/tests/fixtures/harnesses");
    folder.join(name).display().to_string()
}

#[test]
fn every_tool_gives_a_table_in_one_command() {
    let sandbox = Sandbox::new();
    for (name, format, systems) in [
        ("lm-eval", "lm-eval", &["house__atlas", "house__birch"][..]),
        ("promptfoo.json", "promptfoo", &["atlas", "birch"]),
        ("promptfoo.jsonl", "promptfoo", &["atlas", "birch"]),
        ("inspect.json", "inspect", &["mockllm/model"]),
        ("inspect.eval", "inspect", &["mockllm/model"]),
    ] {
        let path = fixture(name);
        let run = sandbox.run_arguments(&["score", &path, "--metric", "text-length"]).succeeds();
        for system in systems {
            assert!(run.stdout().contains(system), "{name}: {}", run.stdout());
        }
        assert!(run.stderr().contains(&format!("({format})")), "{name}: {}", run.stderr());
    }
}

#[test]
fn a_file_without_any_answer_says_why() {
    let sandbox = Sandbox::new();
    let line =
        "{\"custom_id\": \"s-1\", \"response\": null, \"error\": {\"message\": \"expired\"}}\n";
    sandbox.write("batch.jsonl", line);
    let run = sandbox.run("score batch.jsonl --metric text-length");
    assert!(run.stderr().contains("expired"), "{}", run.stderr());
    // Donors and samples are taken from the answers that are there.
    let answers: String =
        (0..12)
            .map(|n| {
                let text = format!(
                    "Mara found key {n}. She tried the old lock. It opened at once. \
                                The clock began to tick. Nobody heard it."
                );
                line.replace("null, \"error\": {\"message\": \"expired\"}", &format!(
                "{{\"body\": {{\"choices\": [{{\"message\": {{\"content\": \"{text}\"}}}}]}}}}"
            )).replace("s-1", &format!("t-{n}"))
            })
            .collect();
    sandbox.write("batch.jsonl", format!("{line}{answers}"));
    let run = sandbox.run("perturb batch.jsonl -o out.jsonl").succeeds();
    assert!(run.stderr().contains("1 sample without a text was left out: \"expired\""));
    assert_eq!(sandbox.read("out.jsonl").lines().count(), 12);
}
