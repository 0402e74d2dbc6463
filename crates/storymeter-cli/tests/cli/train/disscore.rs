//! `train --kind disscore`, the metric `disscore`, and antonyms and keywords of the user's own.

use super::{TRAIN, with_stories};
use crate::sandbox::Sandbox;

const DISSCORE: &str =
    "train --kind disscore --stories stories.tsv --init encoder --config run.toml";

/// A sandbox with human stories, and stories of a machine that says everything twice.
fn with_machine_stories() -> Sandbox {
    let sandbox = with_stories(120);
    let machine: String = (0..60)
        .map(|i| format!("{{\"id\": \"m{i}\", \"story\": \"It rained. It rained. It rained.\"}}\n"))
        .collect();
    sandbox.write("machine.jsonl", &machine);
    sandbox
}

#[test]
fn a_discriminator_is_trained_and_scores_stories() {
    let sandbox = with_machine_stories();
    sandbox.write("run.toml", "epochs = 1\nmax_tokens = 60\ntokens_a_batch = 400\n");
    sandbox
        .run(&format!("{DISSCORE} --machine machine.jsonl -o dis"))
        .succeeds()
        .prints("human  machine")
        .prints("score FILE --metric disscore --weights disscore=dis");
    sandbox
        .run("score machine.jsonl --metric disscore --weights disscore=dis")
        .succeeds()
        .prints("disscore|model:unnamed")
        .prints("names:masked");
    // A discriminator is not UNION, and cannot be calibrated or teach as one.
    sandbox.run("score machine.jsonl --model dis").fails_with("for the metric \"disscore\"");
    sandbox
        .run("model pack dis --calibrate stories.tsv -o d.smq")
        .fails_with("was trained on stories of machines");
    sandbox
        .run(&format!("{TRAIN} -o model --teacher dis"))
        .fails_with("the teacher was trained on stories of machines");
    sandbox
        .run("score machine.jsonl --metric disscore")
        .fails_with("needs the folder of a discriminator");
}

#[test]
fn what_a_discriminator_cannot_use_is_refused() {
    let sandbox = with_machine_stories();
    sandbox.write("run.toml", "max_tokens = 60\nreconstruction = \"own\"\n");
    sandbox
        .run(&format!("{DISSCORE} --machine machine.jsonl -o dis"))
        .fails_with("run.toml:2: field \"reconstruction\": must be \"none\"");
    sandbox.write("run.toml", "max_tokens = 60\n");
    sandbox.run(&format!("{DISSCORE} -o dis")).fails_with("needs stories that machines wrote");
    sandbox
        .run(&format!("{DISSCORE} --machine stories.tsv -o dis"))
        .fails_with("these are the human stories of --stories");
    sandbox
        .run(&format!("{TRAIN} --machine machine.jsonl -o model"))
        .fails_with("--kind union has no option --machine");
    sandbox.run("train --init encoder -o model").fails_with("training needs human stories");
}

#[test]
fn another_kind_of_model_in_the_folder_is_replaced_wholly() {
    let sandbox = with_machine_stories();
    sandbox.write("run.toml", "epochs = 1\nmax_tokens = 60\ntokens_a_batch = 400\n");
    sandbox.run(&format!("{DISSCORE} --machine machine.jsonl -o model")).succeeds();
    sandbox.write("ruber.toml", "epochs = 1\n");
    let ruber = "train --kind ruber --stories stories.tsv --init encoder --config ruber.toml";
    sandbox.run(&format!("{ruber} -o model")).fails_with("--overwrite starts anew");
    sandbox.run(&format!("{ruber} -o model --overwrite")).succeeds();
    for left in ["storymeter.json", "heads.safetensors", "training.safetensors"] {
        assert!(!sandbox.path("model").join(left).exists(), "{left} is left");
    }
    sandbox.run(&format!("{DISSCORE} --machine machine.jsonl -o model --overwrite")).succeeds();
    for left in ["ruber.json", "ruber.safetensors"] {
        assert!(!sandbox.path("model").join(left).exists(), "{left} is left");
    }
    sandbox.run("score machine.jsonl --metric disscore --weights disscore=model").succeeds();
}

#[test]
fn antonyms_and_keywords_are_part_of_the_record_and_wrong_tables_are_named() {
    let sandbox = with_stories(80);
    sandbox.write("run.toml", "epochs = 1\nmax_tokens = 60\ntokens_a_batch = 400\n");
    sandbox.write("antonyms.txt", "old|||/r/Antonym|||new\n");
    sandbox.write("keywords.txt", "old 3|||JJ 3\nkite\n");
    sandbox
        .run(&format!("{TRAIN} -o model --antonyms antonyms.txt --keywords keywords.txt"))
        .succeeds();
    let card = std::fs::read_to_string(sandbox.path("model").join("storymeter.json")).unwrap();
    assert!(card.contains("\"antonyms:1:") && card.contains("+keywords:2:"), "{card}");
    sandbox
        .run(&format!("{TRAIN} -o model --resume --antonyms antonyms.txt"))
        .fails_with("another lexicon");

    sandbox.write("wrong.txt", "old|||/r/Antonym|||new\nold new\n");
    for line in [
        format!("{TRAIN} -o other --antonyms wrong.txt"),
        "perturb stories.tsv --antonyms wrong.txt".to_owned(),
        "model pack model --calibrate stories.tsv --antonyms wrong.txt -o m.smq".to_owned(),
    ] {
        sandbox.run(&line).fails_with("wrong.txt:2: 1 field");
    }
    sandbox.write("none.txt", "old|||/r/Antonym|||\n");
    sandbox
        .run("perturb stories.tsv --antonyms none.txt")
        .fails_with("none.txt: the table is empty");
    sandbox
        .run("model pack model --keywords keywords.txt -o m.smq")
        .fails_with("--keywords: the table is for the damaged stories of --calibrate");
}
