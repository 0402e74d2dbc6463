//! Options of the command line are named by the program and never by the errors of the libraries.

use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, repository};

/// All Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Whether a line of code, without comments and attributes, has an option such as ` --model`.
fn names_an_option(line: &str) -> bool {
    let code = line.trim_start();
    if code.starts_with("//") || code.starts_with("#[") {
        return false;
    }
    [" --", "(--", "`--"].iter().any(|start| {
        code.split(start).skip(1).any(|after| after.starts_with(|c: char| c.is_ascii_lowercase()))
    })
}

#[test]
fn no_library_names_an_option() {
    let mut searched = 0;
    for entry in std::fs::read_dir(repository("crates")).unwrap() {
        let crate_folder = entry.unwrap().path();
        let name = crate_folder.file_name().unwrap().to_str().unwrap();
        // These two are programs.
        if name == "storymeter-cli" || name == "storymeter-checks" {
            continue;
        }
        for file in rust_files(&crate_folder.join("src")) {
            searched += 1;
            let source = std::fs::read_to_string(&file).unwrap();
            let found = source.lines().find(|line| names_an_option(line));
            assert_eq!(found, None, "{}", file.display());
        }
    }
    assert!(searched > 100, "{searched} files");
}

#[test]
fn an_option_is_recognised() {
    assert!(names_an_option("    \"say which it is (--input-format)\";"));
    assert!(names_an_option("    \"use --model\""));
    assert!(!names_an_option("    /// The value of --model."));
    assert!(!names_an_option("    let gap = \" -- \";"));
}

#[test]
fn the_program_says_what_to_do_about_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", "{\"story\": \"A door opened.\"}\n");
    let advised = |line: &str, advice: &str| {
        let run = sandbox.run(line).fails_with(advice);
        assert!(run.stderr().trim_end().ends_with(')'), "{}", run.stderr());
    };
    advised("score in.jsonl --metric bleux:lc", "(`storymeter metrics list` names all metrics)");
    advised("score in.jsonl --metric bleu:x", "(`storymeter metrics show bleu` explains");
    advised("score in.jsonl --metric novelty-1", "(add it to the stories as the field \"prompt\")");
    advised("score in.jsonl --metric union,union", "(ask for one of them only)");
    advised("score in.jsonl --model nowhere", "(`storymeter model list` names the models");
    advised("score in.jsonl --precision f32", "(leave --precision out)");
    advised("score in.jsonl --precision bf16", "(--device cuda computes on a GPU");
    advised(
        "score in.jsonl --metric text-length --against me",
        "(name them in the field \"system\" of the stories)",
    );
}

#[test]
fn missing_weights_are_named_with_all_places_and_the_option() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", r#"{"id": "a", "story": "Rain.", "reference": "Rain fell."}"#);
    let mut run = sandbox.run_with(
        "score stories.jsonl --metric depthscore",
        &[("STORYMETER_MODELS", "models"), ("HF_HUB_CACHE", "hub")],
    );
    for part in [
        "metric \"depthscore\" needs a folder of the model bert-base-uncased with config.json",
        "models/bert-base-uncased or hub/models--bert-base-uncased",
        "--weights depthscore=PATH",
    ] {
        run = run.fails_with(part);
    }
    // Tables have names of their own.
    let run =
        sandbox.run_with("score stories.jsonl --metric s3", &[("STORYMETER_MODELS", "models")]);
    run.fails_with("--weights s3-tables=PATH");
}
