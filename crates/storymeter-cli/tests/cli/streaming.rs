//! Scoring needs bounded memory: each story may add only the few bytes of its scores.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;
use crate::tiny_model::write_model;

/// The largest memory that a process has used so far, in KiB.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_is_bounded_however_many_stories_are_scored() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("model")).unwrap();
    write_model(&sandbox.path("model"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_storymeter"))
        .args(
            "score - --input-format jsonl --model model --resamples 1 --threads 2 -o out.jsonl"
                .split(' '),
        )
        .current_dir(sandbox.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut number = 0;
    // A pipe holds little, and the program reads at most a few thousand stories ahead.
    let mut send = |count: usize| {
        for _ in 0..count / 500 {
            let mut lines = String::new();
            for _ in 0..500 {
                let story = "Mira lost her red kite. She looked in the old barn.";
                writeln!(
                    lines,
                    "{{\"id\": \"{number}\", \"story\": \"{story} It hung there, {number}.\"}}"
                )
                .unwrap();
                number += 1;
            }
            input.write_all(lines.as_bytes()).unwrap();
        }
        peak(child.id())
    };
    let early = send(15_000);
    let late = send(35_000);
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(sandbox.read("out.jsonl").lines().count(), 50_000);
    // A metric may keep one kilobyte per story. The texts alone have more than 3 MiB.
    let grown = late.saturating_sub(early);
    assert!(grown < 35_000, "from {early} KiB to {late} KiB: {grown} KiB for 35,000 stories");
}
