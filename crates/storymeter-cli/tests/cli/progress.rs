//! Long work shows a bar that moves, on a terminal and nowhere else.
#![cfg(target_os = "linux")]

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::sandbox::Sandbox;

/// A terminal of 100 columns: the side that a person looks at, and the side for the program.
fn terminal() -> (OwnedFd, File) {
    let seen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&seen).unwrap();
    unlockpt(&seen).unwrap();
    let size = Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&seen, size).unwrap();
    let name = ptsname(&seen, Vec::new()).unwrap();
    let side = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (seen, side)
}

/// Everything that a run writes to a terminal on standard error.
fn on_terminal(sandbox: &Sandbox, line: &str) -> String {
    let (seen, side) = terminal();
    let mut child = Command::new(env!("CARGO_BIN_EXE_storymeter"))
        .args(line.split_whitespace())
        .current_dir(sandbox.path(""))
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(side))
        .spawn()
        .unwrap();
    let reader = std::thread::spawn(move || {
        let (mut seen, mut text, mut part) = (File::from(seen), Vec::new(), [0; 4096]);
        // Linux reports the end of the other side as an error.
        while let Ok(size @ 1..) = seen.read(&mut part) {
            text.extend_from_slice(&part[..size]);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    assert!(child.wait().unwrap().success());
    reader.join().unwrap()
}

/// The positions that a bar for `total` units of work showed, in order and each once.
fn positions(screen: &str, total: &str) -> Vec<u64> {
    let mut positions: Vec<u64> = screen
        .split(&format!("/{total} "))
        .filter_map(|before| before.rsplit(' ').next()?.replace(',', "").parse().ok())
        .collect();
    positions.dedup();
    positions
}

fn stories(count: usize) -> String {
    let story = "Ines kept the lighthouse. One night the lamp would not light. She climbed up. ";
    (0..count).map(|n| format!("{{\"story\": \"{}\"}}\n", story.repeat(3 + n % 5))).collect()
}

#[test]
fn a_bar_moves_while_a_model_reads_a_single_batch() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", stories(120));
    let screen = on_terminal(&sandbox, "score stories.jsonl --threads 1 -o out.jsonl");
    let seen = positions(&screen, "120");
    assert!(seen.len() >= 4 && seen.is_sorted(), "positions {seen:?} of {screen:?}");
    let last = screen.rfind(" left").expect("the remaining time is shown");
    assert!(screen[..last].contains("scoring") && screen.contains("/s"), "{screen:?}");
}

#[test]
fn scores_do_not_depend_on_whether_somebody_watches() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", stories(40));
    on_terminal(&sandbox, "score stories.jsonl -m union,distinct-2 -o watched.jsonl");
    sandbox.run("score stories.jsonl -m union,distinct-2 -o alone.jsonl").succeeds();
    assert_eq!(sandbox.read("watched.jsonl"), sandbox.read("alone.jsonl"));
}

#[test]
fn there_is_no_bar_in_a_pipe_or_when_it_is_forbidden() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", stories(50));
    let screen = on_terminal(&sandbox, "score stories.jsonl --no-progress -o a.jsonl");
    assert!(!screen.contains("scoring"), "{screen:?}");
    let run = sandbox.run("score stories.jsonl -o b.jsonl").succeeds();
    assert!(!run.stderr().contains("scoring"), "{}", run.stderr());
}

/// What stands on a terminal of 100 columns after all this was written to it, line by line.
fn left_on_screen(written: &str) -> Vec<String> {
    let mut lines = vec![Vec::new()];
    let (mut row, mut column) = (0, 0);
    let mut rest = written.chars();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                assert_eq!(rest.next(), Some('['), "{written:?}");
                let command: String = rest.by_ref().take_while(|c| !c.is_alphabetic()).collect();
                // The letter was taken too; only its kind of command can follow the digits.
                match command.as_str() {
                    "2" => lines[row].clear(),
                    "1" | "" => row = row.saturating_sub(1),
                    other => panic!("an unknown command {other:?} in {written:?}"),
                }
            }
            c => {
                if column == 100 {
                    (row, column) = (row + 1, 0);
                }
                lines.resize(lines.len().max(row + 1), Vec::new());
                let own: &mut Vec<char> = &mut lines[row];
                own.resize(own.len().max(column + 1), ' ');
                own[column] = c;
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), Vec::new());
    }
    lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect()
}

#[test]
fn nothing_is_left_of_a_bar_and_no_line_continues_one() {
    let sandbox = Sandbox::new();
    let bad = "{\"stori\": 1}\n".repeat(7);
    sandbox.write("stories.jsonl", stories(120) + &bad);
    // Notes come while the bar of the last stage is still drawn.
    let written = on_terminal(
        &sandbox,
        "score stories.jsonl --threads 1 --skip-bad --fail-under 0.0001 -o out.jsonl",
    );
    assert!(!positions(&written, "127").is_empty(), "there was a bar: {written:?}");
    let lines = left_on_screen(&written);
    let notes: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
    assert!(notes.len() >= 3, "{notes:?}");
    for line in &lines {
        assert!(!line.contains(['█', '░']) && !line.contains(" left"), "{lines:?}");
    }
    assert!(notes[0].starts_with("storymeter: "), "{notes:?}");
    // What is wrong with seven records is said once.
    let wrong = written.matches("there is no field \"story\"").count();
    assert_eq!(wrong, 1, "{written:?}");
    assert!(written.contains("7 bad records were skipped"), "{written:?}");
}
