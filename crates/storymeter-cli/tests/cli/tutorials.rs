//! The tutorials: every command in them is run, and prints what they show. The tutorial for Rust is
//! run by the documentation tests of the crate `storymeter`.
//!
//! `STORYMETER_UPDATE=1 cargo test --release -p storymeter-cli --test cli tutorials` writes what
//! the commands print into the documents. Read the difference before you commit it.

use std::path::Path;
use std::process::Command;

use crate::sandbox::{Sandbox, repository};

#[test]
fn a_student_compares_three_generators() {
    follow("docs/tutorials/compare-generators.md");
}

#[test]
fn a_metric_inventor_finds_out_how_good_a_metric_is() {
    follow("docs/tutorials/prove-a-metric.md");
}

#[test]
fn a_writer_pastes_a_story() {
    follow("docs/tutorials/one-story.md");
}

#[test]
fn five_kinds_of_story_are_shown_as_the_program_shows_them() {
    follow("docs/one-story.md");
}

/// Runs the commands of a document, one after the other, in a folder that has the examples.
fn follow(document: &str) {
    let path = repository(document);
    let text = std::fs::read_to_string(&path).unwrap();
    let sandbox = Sandbox::new();
    copy(&repository("examples"), &sandbox.path("examples"));
    let mut followed = String::new();
    let mut commands = 0;
    let mut blocks = text.split("```console\n");
    followed += blocks.next().unwrap();
    for block in blocks {
        let (transcript, rest) = block.split_once("```").expect("a block ends");
        followed += "```console\n";
        for step in format!("\n{transcript}").split("\n$ ").skip(1) {
            let command = command_of(step);
            followed += &format!("$ {command}\n{}", run(&sandbox, &command));
            commands += 1;
        }
        followed += "```";
        followed += rest;
    }
    assert!(commands > 0, "{document} has commands");
    if std::env::var_os("STORYMETER_UPDATE").is_some() {
        std::fs::write(&path, followed).unwrap();
        return;
    }
    let differs = text.lines().zip(followed.lines()).position(|(shown, printed)| shown != printed);
    let at = differs.unwrap_or(text.lines().count().min(followed.lines().count()));
    let line = |of: &str| of.lines().nth(at).unwrap_or("(nothing)").to_owned();
    let (shown, printed) = (line(&text), line(&followed));
    assert!(
        text == followed,
        "{document}:{}: it shows {shown:?}, and the program prints {printed:?}",
        at + 1
    );
}

/// The command at the beginning of a step. A backslash continues it on the next line.
fn command_of(step: &str) -> String {
    let mut command = Vec::new();
    for line in step.lines() {
        command.push(line);
        if !line.ends_with('\\') {
            break;
        }
    }
    command.join("\n")
}

/// What a command prints on standard output and standard error, in a shell that finds the program.
fn run(sandbox: &Sandbox, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_storymeter")).parent().unwrap();
    let found = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(sandbox.path(""))
        .env("PATH", found)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "$ {command}\n{printed}");
    // Documents have no blanks at the ends of lines.
    printed.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}
