//! A program that is interrupted removes what is not complete, says so, and ends by the signal.
//! What a killed one left is removed by the next.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::Sandbox;

/// Starts `storymeter`, whose input does not end, and waits until it writes its output.
fn started(sandbox: &Sandbox, line: &str, before: &str) -> Child {
    let mut child = Command::new("bash")
        .args(["-c", &format!("{before} exec {} {line}", env!("CARGO_BIN_EXE_storymeter"))])
        .current_dir(sandbox.path(""))
        .env("TMPDIR", sandbox.path("tmp"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let story = "{\"story\": \"Rain fell. The lamp went out. He ran home and slept.\"}\n";
    let _ = child.stdin.as_mut().unwrap().write_all(story.repeat(3000).as_bytes());
    let start = Instant::now();
    while partials(sandbox) == 0 {
        assert!(start.elapsed() < Duration::from_secs(30), "no output was begun");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn partials(sandbox: &Sandbox) -> usize {
    let count = |folder: &str| {
        let entries = std::fs::read_dir(sandbox.path(folder)).unwrap().flatten();
        entries.filter(|e| e.file_name().to_string_lossy().ends_with(".partial")).count()
    };
    count("") + count("tmp")
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("tmp")).unwrap();
    sandbox.write("out.jsonl", "old");
    sandbox
}

const SCORE: &str = "score - --input-format jsonl -m distinct-2 -o out.jsonl";

#[test]
fn an_interrupted_program_leaves_nothing_and_says_so() {
    for (line, temporary) in [
        (SCORE, "an output"),
        ("perturb - --input-format jsonl -o out.jsonl", "a copy of standard input"),
    ] {
        for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            let sandbox = sandbox();
            let mut child = started(&sandbox, line, "");
            signal(&child, name);
            let status = child.wait().unwrap();
            assert_eq!(status.signal(), Some(number), "{line}");
            assert_eq!(partials(&sandbox), 0, "{line}: {temporary} is left after {name}");
            assert_eq!(sandbox.read("out.jsonl"), "old");
            let mut message = String::new();
            child.stderr.unwrap().read_to_string(&mut message).unwrap();
            assert!(message.contains(&format!("interrupted by SIG{name}")), "{message}");
        }
    }
}

#[test]
fn a_signal_that_the_caller_ignores_stays_ignored() {
    let sandbox = sandbox();
    let mut child = started(&sandbox, SCORE, "trap '' HUP;");
    signal(&child, "HUP");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(sandbox.read("out.jsonl").lines().count(), 3000);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_ordinary_error() {
    let sandbox = sandbox();
    let story = "{\"story\": \"Rain fell. The lamp went out. He ran home and slept.\"}\n";
    sandbox.write("many.jsonl", story.repeat(5000));
    let run = Command::new("bash")
        .args(["-c", "ulimit -f 100; exec \"$0\" perturb many.jsonl -o out.jsonl"])
        .arg(env!("CARGO_BIN_EXE_storymeter"))
        .current_dir(sandbox.path(""))
        .output()
        .unwrap();
    let message = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(message.contains("out.jsonl: File too large"), "{message}");
    assert_eq!((partials(&sandbox), sandbox.read("out.jsonl").as_str()), (0, "old"));
}

#[test]
fn what_a_killed_program_left_is_removed_by_the_next() {
    let sandbox = sandbox();
    let mut child = started(&sandbox, SCORE, "");
    let other = started(&sandbox, "score - --input-format jsonl -m bleu:exp -o other.jsonl", "");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(partials(&sandbox), 2);
    sandbox.write("one.jsonl", "{\"story\": \"Rain fell. He ran.\"}\n");
    sandbox.run("score one.jsonl -m distinct-2 -o new.jsonl").succeeds();
    // The other program still writes its file.
    assert_eq!(partials(&sandbox), 1);
    signal(&other, "TERM");
    let mut other = other;
    other.wait().unwrap();
    assert_eq!(partials(&sandbox), 0);
}

/// Makes a disk slow, so that a signal comes while files are written to it.
const SLOW_DISK: &str = "#include <time.h>\n\
    int fsync(int f) { struct timespec t = {0, 99999999}; while (nanosleep(&t, &t)); return 0; }\n";

/// Killed at any moment, a run leaves scores and a header that belong together: the older ones or
/// its own.
#[test]
fn a_killed_program_leaves_a_pair_that_belongs_together() {
    let sandbox = Sandbox::new();
    let story = "{\"story\": \"Rain fell. The lamp went out. He ran home and slept.\"}\n";
    sandbox.write("many.jsonl", story.repeat(2000));
    let slow = sandbox.fault(SLOW_DISK);
    let score = "score many.jsonl -m distinct-2,text-length --resamples 1 -o out.jsonl";
    sandbox.run("score many.jsonl -m distinct-2 --resamples 1 -o out.jsonl").succeeds();
    let old = ["out.jsonl", "out.jsonl.meta.json"].map(|name| (name, sandbox.read(name)));
    let before = sandbox.names();
    let mut killed = 0;
    let quick = (0..40).map(|round| ("", round * 50));
    let slowly = (0..15).map(|round| (slow.to_str().unwrap(), round * 20_000));
    for (library, wait) in quick.chain(slowly) {
        old.iter().for_each(|(name, text)| sandbox.write(name, text));
        let mut child = Command::new(env!("CARGO_BIN_EXE_storymeter"))
            .args(score.split_whitespace())
            .current_dir(sandbox.path(""))
            .env("LD_PRELOAD", library)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The header is written when the scores are complete.
        let header_is_begun = || {
            let names = sandbox.names();
            names.iter().filter(|name| name.ends_with(".partial")).count() > 1
        };
        while !header_is_begun() && child.try_wait().unwrap().is_none() {}
        std::thread::sleep(Duration::from_micros(wait));
        let _ = child.kill();
        killed += usize::from(!child.wait().unwrap().success());
        let merged = sandbox.run("merge out.jsonl.meta.json --expect 1 --resamples 1 -q");
        assert_eq!(merged.code(), 0, "after {wait} µs: {}", merged.stderr());
    }
    assert!(killed > 0);
    sandbox.run(score).succeeds();
    assert_eq!(sandbox.names(), before);
}

/// Interrupted at any moment, a run leaves both of its outputs or none.
#[test]
fn an_interruption_does_not_come_between_two_outputs() {
    let sandbox = Sandbox::new();
    let story = |number: usize| {
        let system = ["sun", "fog"][number % 2];
        format!("{{\"system\": \"{system}\", \"story\": \"Rain fell. He ran home. The end.\"}}\n")
    };
    sandbox.write("many.jsonl", (0..500).map(story).collect::<String>());
    sandbox.run("score many.jsonl -m distinct-2 -o scores.jsonl --resamples 10").succeeds();
    let slow = sandbox.fault(SLOW_DISK);
    for (line, [a, b]) in [
        ("perturb many.jsonl -o out --save-donors donors -q", ["donors", "out"]),
        ("report scores.jsonl --figures figures -o page.html -q", ["figures/*.svg", "page.html"]),
    ] {
        let there = |joined: &str| format!("compgen -G '{a}' > list {joined} [ -e {b} ]");
        let line = format!(
            "LD_PRELOAD={} \"$0\" {line} & until {}; do :; done; kill $!; wait $!; {}",
            slow.display(),
            there("||"),
            there("&&")
        );
        let run = Command::new("bash")
            .args(["-c", &line, env!("CARGO_BIN_EXE_storymeter")])
            .current_dir(sandbox.path(""))
            .output()
            .unwrap();
        assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    }
}
