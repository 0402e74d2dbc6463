//! The help texts of all verbs.

use crate::sandbox::Sandbox;

const VERBS: [&str; 22] = [
    "",
    "score",
    "merge",
    "metrics",
    "metrics list",
    "metrics show",
    "model",
    "model list",
    "model show",
    "model pull",
    "model average",
    "model pack",
    "model manifest",
    "perturb",
    "train",
    "compare",
    "correlate",
    "meta",
    "suite",
    "suite make",
    "suite run",
    "report",
];

#[test]
fn every_verb_has_help_of_at_most_100_columns() {
    let sandbox = Sandbox::new();
    for verb in VERBS {
        let run = sandbox.run(&format!("{verb} --help")).succeeds();
        let help = run.stdout();
        assert!(help.contains("Usage: storymeter"), "{verb}: {help}");
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 100, "{verb}: {widest} columns:\n{help}");
    }
}

#[test]
fn the_help_of_a_verb_ends_with_examples_that_name_it() {
    let sandbox = Sandbox::new();
    for verb in [
        "score",
        "merge",
        "metrics",
        "perturb",
        "train",
        "compare",
        "suite",
        "suite make",
        "suite run",
        "report",
        "completions",
        "model pack",
    ] {
        let run = sandbox.run(&format!("{verb} --help")).succeeds();
        let examples = run.stdout().split("\nExample").nth(1).unwrap_or_else(|| panic!("{verb}"));
        assert!(examples.contains(&format!("storymeter {verb}")), "{verb}: {examples}");
    }
}

#[test]
fn a_verb_that_is_mistyped_gets_a_suggestion() {
    Sandbox::new().run("scor stories.jsonl").fails_with("'score'");
}

#[test]
fn completions_know_the_verbs() {
    let run = Sandbox::new().run("completions bash").succeeds();
    assert!(run.stdout().contains("perturb"), "the script has the verbs");
}
