//! Nothing that the user has is destroyed, and nothing that is written vanishes.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;

const STORIES: &str = "{\"id\": \"a\", \"story\": \"Rain fell. The lamp went out. He ran home.\"}\n\
                       {\"id\": \"b\", \"story\": \"A door opened. She sang. The dog slept.\"}\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", STORIES);
    sandbox
}

#[test]
fn an_output_is_never_an_input() {
    let sandbox = sandbox();
    symlink("stories.jsonl", sandbox.path("soft.jsonl")).unwrap();
    fs::hard_link(sandbox.path("stories.jsonl"), sandbox.path("hard.jsonl")).unwrap();
    sandbox.write("antonyms", "hot|||/r/Antonym|||cold\n");
    for line in [
        "score stories.jsonl -m distinct-2 -o stories.jsonl",
        "score stories.jsonl -m distinct-2 -o soft.jsonl",
        "score stories.jsonl -m distinct-2 -o hard.jsonl",
        "score soft.jsonl -m distinct-2 -o ./stories.jsonl",
        "score . -m distinct-2 -o hard.jsonl",
        "score stories.jsonl -m bleu --references hard.jsonl -o soft.jsonl",
        "perturb stories.jsonl -o hard.jsonl",
        "perturb stories.jsonl -o out.jsonl --save-donors soft.jsonl",
        "perturb stories.jsonl --donors hard.jsonl -o soft.jsonl",
        "perturb stories.jsonl --antonyms antonyms -o antonyms",
    ] {
        sandbox.run(line).fails_with("and writing it would destroy the input");
        assert_eq!(sandbox.read("stories.jsonl"), STORIES, "{line}");
    }
    assert_eq!(sandbox.names(), ["antonyms", "hard.jsonl", "soft.jsonl", "stories.jsonl"]);
}

#[test]
fn standard_input_is_an_input_too_and_standard_output_is_written_through() {
    let sandbox = sandbox();
    let shell = |line: &str| {
        let line = line.replace("storymeter", env!("CARGO_BIN_EXE_storymeter"));
        let run = Command::new("bash").args(["-c", &line]).current_dir(sandbox.path("")).output();
        run.unwrap().status.code()
    };
    assert_eq!(shell("storymeter perturb - -o stories.jsonl < stories.jsonl"), Some(2));
    assert_eq!(sandbox.read("stories.jsonl"), STORIES);
    for line in [
        "storymeter perturb stories.jsonl >> stories.jsonl",
        "storymeter perturb stories.jsonl -o /dev/stdout >> stories.jsonl",
        "storymeter score stories.jsonl -m distinct-2 >> stories.jsonl",
        "storymeter perturb - < stories.jsonl 1<> stories.jsonl",
    ] {
        assert_eq!(shell(line), Some(2), "{line}");
        assert_eq!(sandbox.read("stories.jsonl"), STORIES, "{line}");
    }
    let both = "{ echo first; storymeter perturb stories.jsonl -o /dev/stdout; echo last; } > both";
    assert_eq!(shell(both), Some(0));
    let both = sandbox.read("both");
    assert!(both.starts_with("first\n{") && both.ends_with("}\nlast\n"), "{both}");
}

#[test]
fn the_header_of_the_scores_is_not_written_over_an_input() {
    let sandbox = Sandbox::new();
    sandbox.write("s.jsonl.meta.json", STORIES);
    sandbox
        .run("score s.jsonl.meta.json --input-format jsonl -m distinct-2 -o s.jsonl")
        .fails_with("s.jsonl.meta.json: this is also the input s.jsonl.meta.json");
    assert_eq!(sandbox.read("s.jsonl.meta.json"), STORIES);
    assert_eq!(sandbox.names(), ["s.jsonl.meta.json"]);
}

#[test]
fn two_outputs_are_two_files() {
    let sandbox = sandbox();
    sandbox
        .run("perturb stories.jsonl -o out --save-donors out")
        .fails_with("out: this is also the output out; name two files");
    assert_eq!(sandbox.names(), ["stories.jsonl"]);
}

#[test]
fn an_older_output_keeps_its_permissions() {
    let sandbox = sandbox();
    let scores = sandbox.path("scores.jsonl");
    for file in ["scores.jsonl", "scores.jsonl.meta.json"] {
        sandbox.write(file, "old");
        fs::set_permissions(sandbox.path(file), fs::Permissions::from_mode(0o600)).unwrap();
    }
    sandbox.run("score stories.jsonl -m distinct-2 -o scores.jsonl").succeeds();
    for file in ["scores.jsonl", "scores.jsonl.meta.json"] {
        let mode = fs::metadata(sandbox.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let header = sandbox.path("scores.jsonl.meta.json");
    let before = (sandbox.read("scores.jsonl"), sandbox.read("scores.jsonl.meta.json"));
    fs::set_permissions(&header, fs::Permissions::from_mode(0o400)).unwrap();
    sandbox
        .run("score stories.jsonl -m distinct-4 -o scores.jsonl")
        .fails_with("scores.jsonl.meta.json: the file is read-only");
    assert_eq!((sandbox.read("scores.jsonl"), sandbox.read("scores.jsonl.meta.json")), before);
    fs::set_permissions(&header, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(&scores, fs::Permissions::from_mode(0o400)).unwrap();
    let before = sandbox.read("scores.jsonl");
    sandbox
        .run("score stories.jsonl -m distinct-4 -o scores.jsonl")
        .fails_with("scores.jsonl: the file is read-only");
    assert_eq!(sandbox.read("scores.jsonl"), before);
}

#[test]
fn a_link_to_a_file_that_is_not_there_yet_stays_a_link() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.path("results")).unwrap();
    symlink("results/scores.jsonl", sandbox.path("latest.jsonl")).unwrap();
    sandbox.run("score stories.jsonl -m distinct-2 -o latest.jsonl").succeeds();
    assert!(sandbox.path("latest.jsonl").is_symlink());
    assert_eq!(sandbox.read("results/scores.jsonl").lines().count(), 2);
    symlink("results/header.json", sandbox.path("other.jsonl.meta.json")).unwrap();
    sandbox.run("score stories.jsonl -m distinct-2 -o other.jsonl").succeeds();
    assert!(sandbox.path("other.jsonl.meta.json").is_symlink());
    assert!(sandbox.read("results/header.json").contains("distinct-2"));
}

#[test]
fn a_closed_standard_output_is_an_error_and_a_reader_that_leaves_is_not() {
    let sandbox = sandbox();
    let shell = |line: &str| {
        let line = line.replace("storymeter", env!("CARGO_BIN_EXE_storymeter"));
        let out = Command::new("bash")
            .args(["-c", &line])
            .current_dir(sandbox.path(""))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
    };
    for verb in [
        "score stories.jsonl -m distinct-2",
        "score stories.jsonl -m distinct-2 --format jsonl",
        "perturb stories.jsonl",
        "metrics list",
        "model list",
        "completions bash",
        "--help",
    ] {
        let (code, message) = shell(&format!("storymeter {verb} >&-"));
        // A verb that reads stories first says what it read.
        let last = message.lines().last();
        assert_eq!((code, last), (2, Some("storymeter: standard output is closed")), "{verb}");
        assert_eq!(shell(&format!("storymeter {verb} > /dev/null")).0, 0, "{verb}");
        let full = shell(&format!("storymeter {verb} > /dev/full"));
        assert_eq!(full.0, 2, "{verb}");
        assert!(full.1.contains("No space left on device"), "{verb}: {}", full.1);
        // `true` reads nothing and leaves.
        let left = shell(&format!("set -o pipefail; (sleep 0.2; storymeter {verb}) | true"));
        let others = left.1.lines().find(|line| !line.starts_with("storymeter: read "));
        assert_eq!((left.0, others), (0, None), "{verb}");
    }
    // A run that fails leaves no file, and one whose reader has left keeps it.
    for (verb, out) in [
        ("score stories.jsonl -m distinct-2 -o out.jsonl", "out.jsonl"),
        ("perturb stories.jsonl --stats -o out.jsonl --save-donors donors", "out.jsonl"),
        ("score stories.jsonl -m distinct-2 -o out.csv", "out.csv"),
    ] {
        assert_eq!(shell(&format!("storymeter {verb} > /dev/full")).0, 2, "{verb}");
        assert_eq!(shell(&format!("storymeter {verb} >&-")).0, 2, "{verb}");
        assert_eq!(sandbox.names(), ["stories.jsonl"], "{verb}");
        let left = shell(&format!("set -o pipefail; (sleep 0.2; storymeter {verb}) | true"));
        assert_eq!(left.0, 0, "{verb}: {}", left.1);
        assert!(sandbox.path(out).exists(), "{verb}");
        for name in ["out.jsonl", "out.jsonl.meta.json", "out.csv", "out.csv.meta.json", "donors"] {
            let _ = fs::remove_file(sandbox.path(name));
        }
    }
    // A named output is a promise: a reader that leaves too early is an error.
    let pipe = "mkfifo pipe; (head -c 1 pipe > /dev/null) & for i in {1..3000}; do \
                cat stories.jsonl; done > many.jsonl; \
                storymeter perturb --renumber many.jsonl -o pipe";
    let (code, message) = shell(pipe);
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("the reader of this pipe went away"), "{message}");
}

#[test]
fn a_bad_record_in_the_middle_leaves_nothing_on_standard_output() {
    let sandbox = sandbox();
    sandbox.write("bad.jsonl", format!("{STORIES}{{\"story\": 7}}\n"));
    for line in [
        "perturb bad.jsonl",
        "perturb bad.jsonl --show",
        "score bad.jsonl -m distinct-2 --format jsonl",
        "score bad.jsonl --explain",
    ] {
        let run = sandbox.run(line).fails_with("bad.jsonl:3: field \"story\"");
        assert_eq!(run.stdout(), "", "{line}");
    }
    sandbox.run("perturb bad.jsonl -o out.jsonl --save-donors donors").fails_with("bad.jsonl:3");
    sandbox
        .run("perturb stories.jsonl -o out.jsonl --save-donors /dev/full")
        .fails_with("/dev/full: No space left on device");
    assert_eq!(sandbox.names(), ["bad.jsonl", "stories.jsonl"]);
}

#[test]
fn empty_names_and_a_model_that_nobody_reads_are_refused() {
    let sandbox = sandbox();
    let run = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_storymeter"))
            .args(arguments)
            .current_dir(sandbox.path(""))
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(2), "{arguments:?}");
        assert!(out.stdout.is_empty());
        String::from_utf8(out.stderr).unwrap()
    };
    for metrics in ["", " ", "bleu,,rouge", "bleu,"] {
        let message = run(&["score", "stories.jsonl", "-m", metrics]);
        assert!(message.contains("a metric has no name"), "{message}");
    }
    assert!(run(&["perturb", "stories.jsonl", "--techniques", ""]).contains("technique"));
    assert!(run(&["perturb", "stories.jsonl", "--techniques", ","]).contains("technique"));
    assert!(run(&["perturb", "stories.jsonl", "--counts", ""]).contains("one to four weights"));
    let message = run(&["score", "stories.jsonl", "-m", "distinct-2", "--model", "nope"]);
    assert!(message.contains("--model nope: none of the metrics reads this model"), "{message}");
}

/// Network file systems can fail when a folder is closed.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_closed_is_listed_all_the_same() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.path("in")).unwrap();
    sandbox.write("in/a.jsonl", STORIES);
    let fault = "#include <errno.h>\nint closedir(void *d) { errno = EIO; return -1; }\n";
    let library = sandbox.fault(fault);
    for line in [
        "score in -m distinct-2 -o scores.jsonl",
        "score in -m distinct-2 --out-dir out",
        "merge out",
        "suite make in -o suite",
        "suite make in -o suite",
        "report scores.jsonl -o page.html",
    ] {
        let faults = [("LD_PRELOAD", library.to_str().unwrap())];
        let run = sandbox.run_with(line, &faults);
        assert!(!run.stderr().contains("panicked"), "{line}: {}", run.stderr());
        assert_ne!(run.code(), 101, "{line}: {}", run.stderr());
    }
    assert!(sandbox.read("scores.jsonl").lines().count() == 2);
}
