//! What `storymeter train` never destroys, and how it ends where others would hang.

use std::collections::BTreeMap;
use std::io::Read;

use storymeter_core::file::FolderLock;

use super::*;
use crate::tiny_model::write_model;

/// All files of a folder and their content.
fn content(folder: PathBuf) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| (name.clone(), std::fs::read(folder.join(name)).unwrap());
    names(folder.clone()).into_iter().map(read).collect()
}

/// Runs the program with these arguments, which may be empty.
fn run_args(sandbox: &Sandbox, args: &[&str]) -> (Option<i32>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_storymeter"))
        .args(args)
        .current_dir(sandbox.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (run.status.code(), String::from_utf8(run.stderr).unwrap())
}

#[test]
fn nothing_that_a_run_reads_is_what_it_writes() {
    let sandbox = with_stories(40);
    std::fs::create_dir(sandbox.path("teacher")).unwrap();
    write_model(&sandbox.path("teacher"));
    std::fs::create_dir(sandbox.path("out")).unwrap();
    std::fs::hard_link(sandbox.path("stories.tsv"), sandbox.path("hard.tsv")).unwrap();
    let mut cases = vec![
        ("-o encoder", "encoder: this is also the input encoder"),
        ("-o out --log stories.tsv", "stories.tsv: this is also the input stories.tsv"),
        ("-o out --log hard.tsv", "hard.tsv: this is also the input stories.tsv"),
        ("-o out --log run.toml", "run.toml: this is also the input run.toml"),
        ("-o out --log encoder/vocab.txt", "this is also the input encoder/vocab.txt"),
        ("-o out --log out/storymeter.json", "the model has a file of this name"),
        ("-o new --log new/../new/model.safetensors", "the model has a file of this name"),
        ("-o out --log out/training.safetensors", "the model has a file of this name"),
        (
            "-o teacher --teacher teacher --overwrite",
            "teacher: this is also the input teacher, and writing it would destroy the input",
        ),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(sandbox.path("encoder"), sandbox.path("link")).unwrap();
        symlink(sandbox.path("stories.tsv"), sandbox.path("soft.tsv")).unwrap();
        std::fs::create_dir(sandbox.path("linked")).unwrap();
        symlink("../encoder/vocab.txt", sandbox.path("linked/vocab.txt")).unwrap();
        cases.push(("-o link", "link: this is also the input encoder"));
        cases.push(("-o out --log soft.tsv", "soft.tsv: this is also the input stories.tsv"));
        cases.push(("-o linked", "linked/vocab.txt: this is also the input encoder/vocab.txt"));
    }
    let before = ["encoder", "teacher", "out"].map(|folder| content(sandbox.path(folder)));
    let files = ["stories.tsv", "run.toml"].map(|file| sandbox.read(file));
    for (options, message) in cases {
        sandbox.run(&format!("{TRAIN} {options}")).fails_with(message);
        let after = ["encoder", "teacher", "out"].map(|folder| content(sandbox.path(folder)));
        assert!(after == before, "{options}");
        assert_eq!(["stories.tsv", "run.toml"].map(|file| sandbox.read(file)), files);
        assert!(!sandbox.path("new").exists(), "no empty folder stays");
    }
}

#[test]
fn a_run_that_cannot_start_leaves_the_earlier_one_as_it_was() {
    let sandbox = with_stories(60);
    sandbox.run(&format!("{TRAIN} -o model --epochs 1")).succeeds();
    let before = content(sandbox.path("model"));
    sandbox.write("short.jsonl", "{\"story\": \"Rain fell.\"}\n");
    for (options, message) in [
        ("--stories typo.tsv --init encoder", "typo.tsv"),
        ("--stories short.jsonl --init encoder", "stories give"),
        ("--stories stories.tsv --init nowhere", "nowhere/config.json"),
        ("--stories stories.tsv --init encoder --teacher nowhere", "nowhere/storymeter.json"),
        ("--stories stories.tsv --init encoder --log nowhere/log", "nowhere/log"),
    ] {
        let line = format!("train {options} --config run.toml -o model --overwrite");
        sandbox.run(&line).fails_with(message);
        assert!(content(sandbox.path("model")) == before, "{options}");
    }
}

#[test]
fn a_second_run_in_a_folder_is_refused_while_the_first_one_works() {
    let sandbox = with_stories(60);
    std::fs::create_dir(sandbox.path("model")).unwrap();
    let first = FolderLock::take(&sandbox.path("model")).unwrap();
    for options in ["", "--resume", "--overwrite"] {
        // The stories do not exist: the folder comes first.
        let line = "train --stories none.tsv --init encoder --config run.toml -o model";
        sandbox
            .run(&format!("{line} {options}"))
            .fails_with("model: another run is writing into this folder");
    }
    drop(first);
    let mut first = start(&sandbox, &format!("{TRAIN} -o model --epochs 1000"));
    let started = Instant::now();
    while log(&sandbox, "model/train.jsonl").is_empty() {
        assert!(started.elapsed() < Duration::from_secs(120), "the run does not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    sandbox
        .run(&format!("{TRAIN} -o model --overwrite"))
        .fails_with("model: another run is writing into this folder");
    assert!(first.try_wait().unwrap().is_none(), "the first run goes on");
    first.kill().unwrap();
    first.wait().unwrap();
    sandbox.run(&format!("{TRAIN} -o model --epochs 1 --overwrite")).succeeds();
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_that_is_a_device_or_a_pipe_is_written_and_never_read() {
    let sandbox = with_stories(40);
    let train = format!("{TRAIN} --epochs 1");
    sandbox
        .run(&format!("{train} -o model --log /dev/full"))
        .fails_with("/dev/full: No space left on device");
    assert!(!sandbox.path("model").exists());
    // Standard output is a pipe here.
    let run = sandbox.run(&format!("{train} -o model --log /proc/self/fd/1")).succeeds();
    assert!(run.stdout().starts_with("{\"event\":\"start\""), "{}", run.stdout());
    assert!(run.stdout().contains("model has the model of epoch 1"), "{}", run.stdout());
    sandbox.run(&format!("{train} -o model --log /dev/null --resume")).succeeds();
    // The reader of the log goes away, which ends the run with an error.
    let mut child = Command::new(env!("CARGO_BIN_EXE_storymeter"))
        .args(format!("{TRAIN} -o other --epochs 40 --log /proc/self/fd/1").split_whitespace())
        .current_dir(sandbox.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    let run = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(message.contains("/proc/self/fd/1: the reader of this pipe went away"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn endless_files_are_refused() {
    let sandbox = with_stories(40);
    let train = "train --stories stories.tsv --init encoder -o model";
    sandbox.run(&format!("{train} --config /dev/zero")).fails_with("/dev/zero: the file has more");
    std::fs::remove_file(sandbox.path("encoder/config.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", sandbox.path("encoder/config.json")).unwrap();
    sandbox.run(train).fails_with("encoder/config.json: this is a device or a pipe");
}

/// Kills a run (SIGKILL) as soon as the condition on its output folder holds.
fn kill_when(sandbox: &Sandbox, out: &str, condition: impl Fn() -> bool) {
    let mut child = start(sandbox, &format!("{TRAIN} -o {out}"));
    let started = Instant::now();
    while !condition() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be killed");
        assert!(started.elapsed() < Duration::from_secs(120), "the condition never holds");
        std::thread::sleep(Duration::from_micros(200));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_run_killed_in_its_first_epoch_is_resumed_from_the_beginning() {
    let sandbox = with_stories(400);
    sandbox.run(&format!("{TRAIN} -o whole")).succeeds();
    kill_when(&sandbox, "cut", || !of_kind(&log(&sandbox, "cut/train.jsonl"), "step").is_empty());
    assert_eq!(names(sandbox.path("cut")), ["train.jsonl"]);
    let run = sandbox.run(&format!("{TRAIN} -o cut --resume")).succeeds();
    let note = "cut: there is no training.safetensors to resume from, so training starts from the \
                beginning";
    assert!(run.stderr().contains(note), "{}", run.stderr());
    assert_same_model(&sandbox.path("whole"), &sandbox.path("cut"));
}

#[test]
fn a_run_killed_while_it_saves_is_resumed_and_leaves_no_temporary_files() {
    let sandbox = with_stories(200);
    sandbox.run(&format!("{TRAIN} -o whole")).succeeds();
    let expected = names(sandbox.path("whole"));
    for (number, file) in
        ["training.safetensors", "config.json", "model.safetensors", "heads.safetensors"]
            .into_iter()
            .enumerate()
    {
        let out = format!("cut{number}");
        kill_when(&sandbox, &out, || sandbox.path(&out).join(file).exists());
        // The kill may come at any moment: during the first save or after it. A model is whole, or
        // it is no model.
        let model = sandbox.path(&out).join("storymeter.json").exists();
        let scored = sandbox.run(&format!("score stories.tsv --model {out} -o scores.jsonl"));
        if model && scored.code() != 0 {
            assert!(
                scored.stderr().contains("does not belong to the model"),
                "{}",
                scored.stderr()
            );
        } else {
            assert_eq!(scored.code() == 0, model, "{}", scored.stderr());
        }
        sandbox.run(&format!("{TRAIN} -o {out} --resume")).succeeds();
        assert_same_model(&sandbox.path("whole"), &sandbox.path(&out));
        assert_eq!(names(sandbox.path(&out)), expected);
    }
}

#[test]
fn a_mixture_of_two_models_does_not_score_and_resuming_heals_it() {
    let sandbox = with_stories(60);
    sandbox.run(&format!("{TRAIN} -o model --epochs 1")).succeeds();
    let whole = content(sandbox.path("model"));
    sandbox.run(&format!("{TRAIN} -o other --epochs 1 --seed 9")).succeeds();
    std::fs::copy(sandbox.path("other/heads.safetensors"), sandbox.path("model/heads.safetensors"))
        .unwrap();
    sandbox.run("score stories.tsv --model model").fails_with(
        "model/heads.safetensors: the file does not belong to the model of this folder",
    );
    sandbox.run(&format!("{TRAIN} -o model --epochs 1 --resume")).succeeds();
    sandbox.run("score stories.tsv --model model -o scores.jsonl").succeeds();
    for (name, bytes) in whole.iter().filter(|(name, _)| *name != "train.jsonl") {
        assert!(std::fs::read(sandbox.path("model").join(name)).unwrap() == *bytes, "{name}");
    }
}

#[test]
fn empty_values_are_errors() {
    let sandbox = with_stories(40);
    for option in [
        ["--without-technique", ""],
        ["--devices", ""],
        ["--devices", "0,"],
        ["--log", ""],
        ["--teacher", ""],
        ["--config", ""],
        ["--seed", ""],
        ["-o", ""],
    ] {
        let train = ["train", "--stories", "stories.tsv", "--init", "encoder"];
        let out: &[&str] = if option[0] == "-o" { &[] } else { &["-o", "model"] };
        let (code, message) = run_args(&sandbox, &[&train, out, &option].concat());
        assert_eq!(code, Some(2), "{option:?}: {message}");
        assert!(message.contains(option[0].trim_start_matches('-')), "{option:?}: {message}");
    }
    for args in [
        &["model", "show", ""][..],
        &["model", "pull", "", "--from", "shop"],
        &["model", "pull", "tiny", "--from", ""],
        &["model", "pack", "", "-o", "x.smq"],
        &["model", "pack", "encoder", "-o", ""],
        &["model", "manifest", ""],
    ] {
        let (code, message) = run_args(&sandbox, args);
        assert_eq!(code, Some(2), "{args:?}: {message}");
        assert!(message.contains("value is required"), "{args:?}: {message}");
    }
    assert!(!sandbox.path("model").exists());
}
