//! The files of `storymeter score --out-dir`: which are ours, which are whole, and which are true.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::sandbox::Sandbox;

const SCORE: &str = "score a.jsonl b.jsonl -m text-length --out-dir out";

/// Two files of stories.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let story = |id: &str, text: &str| format!("{{\"id\": \"{id}\", \"story\": \"{text}\"}}\n");
    sandbox.write("a.jsonl", story("a", "Rain fell all night."));
    sandbox.write("b.jsonl", story("b", "The lamp went out."));
    sandbox
}

#[test]
fn a_file_of_the_user_is_not_replaced() {
    for name in ["a.jsonl", "a.jsonl.stats"] {
        let sandbox = sandbox();
        fs::create_dir(sandbox.path("out")).unwrap();
        sandbox.write(&format!("out/{name}"), "precious");
        for options in ["--resume", "--shard 0/2 --resume"] {
            let message = format!("out/{name}: nothing says that storymeter wrote this file");
            sandbox.run(&format!("{SCORE} {options}")).fails_with(&message);
        }
        let message = format!("the folder is not empty: it has {name}");
        sandbox.run(&format!("{SCORE} --shard 0/1")).fails_with(&message);
        assert_eq!(sandbox.read(&format!("out/{name}")), "precious");
        assert_eq!(fs::read_dir(sandbox.path("out")).unwrap().count(), 1);
    }
}

#[test]
fn what_a_killed_run_left_is_known_to_be_ours() {
    let sandbox = sandbox();
    sandbox.run(SCORE).succeeds();
    let whole =
        |sandbox: &Sandbox| ["out/a.jsonl", "out/a.jsonl.meta.json"].map(|name| sandbox.read(name));
    let before = whole(&sandbox);
    let at = |name: &str| sandbox.path(&format!("out/a.jsonl{name}"));
    // Killed before the scores had their name.
    fs::rename(at(".meta.json"), at(".meta.new")).unwrap();
    fs::remove_file(at("")).unwrap();
    let run = sandbox.run(&format!("{SCORE} --resume")).succeeds();
    assert!(run.stderr().contains("scored 1 story from 1 file"), "{}", run.stderr());
    assert_eq!(whole(&sandbox), before);
    assert!(!at(".meta.new").exists());
    // Killed after that: only the name of the header is missing.
    fs::rename(at(".meta.json"), at(".meta.new")).unwrap();
    let run = sandbox.run(&format!("{SCORE} --resume")).succeeds();
    assert!(run.stderr().contains("2 files were complete already"), "{}", run.stderr());
    assert_eq!(whole(&sandbox), before);
    assert!(!at(".meta.new").exists());
}

#[test]
fn damaged_scores_of_the_same_size_are_found() {
    for format in ["jsonl", "csv", "parquet"] {
        let sandbox = sandbox();
        let score = format!("{SCORE} --format {format}");
        sandbox.run(&score).succeeds();
        let name = format!("out/a.{format}");
        let mut bytes = fs::read(sandbox.path(&name)).unwrap();
        let whole = bytes.clone();
        let text = b"5".as_slice();
        let at = bytes.windows(1).rposition(|window| window == text).unwrap_or(bytes.len() / 2);
        bytes[at] = b'9';
        sandbox.write(&name, &bytes);
        let message = format!("{name}: the file does not have the checksum in its header");
        sandbox.run("merge out").fails_with(&message);
        let merge = format!("merge out -o all.{format}");
        sandbox.run(&merge).fails_with(&message);
        assert!(!sandbox.path(&format!("all.{format}")).exists());
        // What is damaged is not complete.
        let run = sandbox.run(&format!("{score} --resume")).succeeds();
        assert!(run.stderr().contains("1 file was complete already"), "{}", run.stderr());
        assert_eq!(fs::read(sandbox.path(&name)).unwrap(), whole);
        sandbox.run(&merge).succeeds();
    }
}

#[test]
fn a_score_file_with_another_checksum_than_its_header_is_refused() {
    let sandbox = sandbox();
    sandbox.run("score a.jsonl b.jsonl -m text-length -o scores.jsonl").succeeds();
    let scores = sandbox.read("scores.jsonl");
    sandbox.write("scores.jsonl", scores.replace("5.0", "9.0"));
    assert_ne!(sandbox.read("scores.jsonl"), scores);
    let message = "scores.jsonl: the file does not have the checksum in its header \
                   scores.jsonl.meta.json: one of them was changed or replaced";
    sandbox.run("compare scores.jsonl").fails_with(message);
    // A header of an older version has no checksum.
    let header = sandbox.read("scores.jsonl.meta.json");
    let lines = header.lines().filter(|line| !line.contains("\"sha256\""));
    sandbox.write("scores.jsonl.meta.json", lines.collect::<Vec<_>>().join("\n"));
    let run = sandbox.run("compare scores.jsonl");
    assert!(!run.stderr().contains("checksum"), "{}", run.stderr());
}

#[test]
fn an_input_that_was_replaced_by_an_older_file_is_scored_again() {
    let sandbox = sandbox();
    sandbox.run(SCORE).succeeds();
    let old = sandbox.read("a.jsonl");
    let new = old.replace("all night", "all month");
    sandbox.write("a.jsonl", &new);
    assert_eq!(new.len(), old.len());
    let year = Duration::from_secs(365 * 24 * 3600);
    let file = fs::File::options().write(true).open(sandbox.path("a.jsonl")).unwrap();
    file.set_modified(SystemTime::now() - year).unwrap();
    drop(file);
    let run = sandbox.run(&format!("{SCORE} --resume")).succeeds();
    let said = run.stderr();
    assert!(said.contains("a.jsonl: the file had changed, so it was scored again"), "{said}");
    // A new date alone is no change.
    let file = fs::File::options().write(true).open(sandbox.path("a.jsonl")).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    drop(file);
    let run = sandbox.run(&format!("{SCORE} --resume")).succeeds();
    assert!(run.stderr().contains("2 files were complete already"), "{}", run.stderr());
}

#[test]
fn an_id_that_is_also_the_number_of_its_record_is_compared() {
    let sandbox = Sandbox::new();
    let stories = "{\"id\": \"0\", \"story\": \"Rain fell.\"}\n{\"story\": \"He ran.\"}\n";
    sandbox.write("a.jsonl", stories);
    sandbox.write("b.jsonl", stories);
    sandbox.run("score a.jsonl b.jsonl -m text-length").fails_with("duplicate id \"0\"");
    sandbox.run(SCORE).succeeds();
    sandbox.run("merge out").fails_with("have a story of the same system with the same id");
}

#[test]
fn the_header_of_many_systems_is_read_back() {
    let sandbox = Sandbox::new();
    let story = |number: usize| {
        format!("{{\"id\":\"{number}\",\"system\":\"system {number}\",\"story\":\"Rain fell.\"}}\n")
    };
    sandbox.write("many.jsonl", (0..100_000).map(story).collect::<String>());
    for name in ["scores.jsonl", "scores.parquet"] {
        sandbox.run(&format!("score many.jsonl -m text-length -o {name} --resamples 1")).succeeds();
        let header = fs::metadata(sandbox.path(&format!("{name}.meta.json"))).unwrap().len();
        assert!(header > 16 << 20, "{header}");
        sandbox.run(&format!("merge {name}.meta.json --resamples 1 -o table.txt")).succeeds();
        let run = sandbox.run(&format!("compare {name} --resamples 1"));
        assert!(!run.stderr().contains("too many"), "{}", run.stderr());
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_files_is_not_waited_for() {
    let sandbox = sandbox();
    sandbox.run(SCORE).succeeds();
    let rows = sandbox.path("out/a.jsonl.stats");
    fs::remove_file(&rows).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&rows).status().unwrap().success());
    sandbox.run("merge out").fails_with("out/a.jsonl.stats: this is not an ordinary file");
    // A header can say anything about it.
    let header = sandbox.read("out/a.jsonl.meta.json");
    let (before, rows) = header.split_once("\"rows\": {").unwrap();
    let (mark, after) = rows.split_once('}').unwrap();
    let line = mark.lines().find(|line| line.contains("\"bytes\"")).unwrap();
    let mark = mark.replace(line, "\"bytes\": 0,");
    sandbox.write("out/a.jsonl.meta.json", format!("{before}\"rows\": {{{mark}}}{after}"));
    sandbox.run("merge out").fails_with("out/a.jsonl.stats: this is not an ordinary file");
    let message = "out/a.jsonl.stats: nothing says that storymeter wrote this file";
    sandbox.run(&format!("{SCORE} --resume")).fails_with(message);
}

/// The bytes of row statistics follow from their definition alone, whatever compiled the program.
#[test]
fn row_statistics_have_the_hashes_that_the_document_defines() {
    use sha2::{Digest as _, Sha256};
    let sandbox = Sandbox::new();
    let story =
        "{\"id\": \"7\", \"system\": \"sun\", \"item\": \"door\", \"story\": \"Rain fell.\"}\n";
    // A text that is no story has no row.
    let none = "{\"id\": \"8\", \"system\": \"fog\", \"story\": \"...\"}\n";
    sandbox.write("a.jsonl", none.to_owned() + story);
    sandbox.run("score a.jsonl -m text-length --out-dir out").succeeds();
    let mut expected: Vec<u8> = b"SMROWS\0\x03".to_vec();
    expected.extend(1u32.to_le_bytes());
    expected.extend(2u32.to_le_bytes());
    expected.extend(1u64.to_le_bytes());
    for system in ["fog", "sun"] {
        expected.extend(3u32.to_le_bytes());
        expected.extend(system.as_bytes());
    }
    expected.extend(1u32.to_le_bytes());
    expected.extend(&Sha256::digest("door")[..8]);
    let id = [&4u64.to_le_bytes()[..], b"sun", b"7"].concat();
    expected.extend(&Sha256::digest(id)[..16]);
    expected.extend(3f64.to_le_bytes());
    // Of no system, of "fog" and of "sun".
    for no_stories in [0u64, 1, 0] {
        expected.extend(no_stories.to_le_bytes());
    }
    let id = [&4u64.to_le_bytes()[..], b"fog", b"8"].concat();
    expected.extend(&Sha256::digest(id)[..16]);
    assert_eq!(fs::read(sandbox.path("out/a.jsonl.stats")).unwrap(), expected);
}

/// Every option that decides what the stories are belongs to the shard. The columns of systems were
/// once forgotten, and the old scores passed for new ones.
#[test]
fn a_shard_of_other_columns_is_not_complete() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", "A,B,C,D\nRain fell.,The lamp went out.,He ran home.,Snow fell.\n");
    let score = "score t.csv -m text-length --out-dir out --resume";
    let run = sandbox.run(&format!("{score} --system-cols A,B")).succeeds();
    assert!(run.stderr().contains("scored 2 stories from 1 file"), "{}", run.stderr());
    let run = sandbox.run(&format!("{score} --system-cols A,B")).succeeds();
    assert!(run.stderr().contains("1 file was complete already"), "{}", run.stderr());
    let message = "then score|system-column:A|system-column:B, and now score|system-column:C";
    sandbox.run(&format!("{score} --system-cols C,D")).fails_with(message);
    sandbox.run(&format!("{score} --wide")).fails_with("score|wide:yes");
    sandbox.run(&format!("{score} --story-col A")).fails_with("score|story:A");
}
