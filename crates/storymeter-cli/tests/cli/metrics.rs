//! `storymeter metrics`.

use crate::sandbox::Sandbox;

#[test]
fn the_list_is_the_default() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("metrics").succeeds();
    assert_eq!(run.stdout(), sandbox.run("metrics list").succeeds().stdout());
    for id in [
        "union ",
        "bleu ",
        "chrf ",
        "ter ",
        "cider-d ",
        "coverage, density ",
        "novelty-{1,2,3} ",
        "self-bleu ",
        "homogeneity ",
        "slop ",
        "bertscore ",
        "moverscore ",
        "baryscore ",
        "depthscore ",
    ] {
        assert!(
            run.stdout().lines().any(|line| line.starts_with(id)),
            "{id} is missing:\n{}",
            run.stdout()
        );
    }
}

#[test]
fn a_page_says_what_a_metric_is() {
    let run = Sandbox::new().run("metrics show bleu").succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn the_learned_metric_has_a_page_too() {
    let run = Sandbox::new().run("metrics show union").succeeds();
    assert!(
        run.stdout().starts_with("`union`: how likely the story is a whole one"),
        "{}",
        run.stdout()
    );
}

#[test]
fn an_id_with_a_number_or_a_preset_finds_its_page() {
    let sandbox = Sandbox::new();
    let page = sandbox.run("metrics show novelty-1").succeeds();
    assert_eq!(page.stdout(), sandbox.run("metrics show novelty-3:hanna").succeeds().stdout());
}

#[test]
fn an_unknown_id_gets_a_suggestion() {
    Sandbox::new()
        .run("metrics show blue")
        .fails_with("there is no metric \"blue\"; did you mean \"bleu\"?");
}

#[test]
fn the_page_of_a_neural_metric_says_which_model_it_needs() {
    let run = Sandbox::new().run("metrics show bertscore").succeeds();
    let page = run.stdout();
    assert!(page.contains("Model: `roberta-large`, layer 17"), "{page}");
    assert!(page.contains("- `layer-N` (layer): vectors of layer N"), "{page}");
}
