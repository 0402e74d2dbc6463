//! `storymeter score --out-dir` and `storymeter merge`: many files one by one, and one table.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, repository};

const METRICS: &str = "--metric text-length,bleu,rouge:google,distinct-2";

/// Stories of three systems and of none, with one or two references.
fn stories(count: usize) -> Vec<String> {
    let words = ["rain", "fell", "all", "night", "and", "the", "old", "lamp", "went", "out"];
    let text = |seed: usize, length: usize| {
        let word = |at: usize| words[(seed * 31 + at * at * 7 + seed / 3) % words.len()];
        (0..length).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..count)
        .map(|number| {
            let mut story = serde_json::json!({
                "id": format!("s{number}"),
                "item": format!("{}", number / 4),
                "story": if number == 7 { String::new() } else { text(number, 2 + number % 13) },
                "references": [text(number + 1, 3 + number % 9)],
            });
            if number % 4 > 0 {
                story["system"] = ["sun", "fog", "rain"][number % 3].into();
            }
            if number % 5 == 0 {
                story["references"].as_array_mut().unwrap().push(text(number + 2, 5).into());
            }
            format!("{story}\n")
        })
        .collect()
}

/// Cuts stories into files `part-00.jsonl`, `part-01.jsonl` and so on.
fn cut(sandbox: &Sandbox, stories: &[String], parts: usize) -> Vec<String> {
    let size = stories.len().div_ceil(parts);
    let names: Vec<String> = (0..parts).map(|part| format!("part-{part:02}.jsonl")).collect();
    for (name, part) in names.iter().zip(stories.chunks(size)) {
        sandbox.write(name, part.concat());
    }
    names
}

/// The headers of some outputs.
fn headers(folder: &str, names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("{folder}/{name}.meta.json")).collect()
}

/// The names in a folder of the sandbox.
fn names(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn shards_merged_in_any_order_equal_one_run() {
    let stories = stories(170);
    for parts in [1, 3, 17] {
        let sandbox = Sandbox::new();
        let files = cut(&sandbox, &stories, parts);
        let inputs = files.join(" ");
        let one = sandbox.run(&format!("score {inputs} {METRICS} -o one.jsonl")).succeeds();
        sandbox.run(&format!("score {inputs} {METRICS} --out-dir out")).succeeds();
        let mut orders = vec![headers("out", &files)];
        orders.push(orders[0].iter().rev().cloned().collect());
        orders.push(orders[0].iter().skip(1).chain(orders[0].first()).cloned().collect());
        orders.push(vec!["out".to_owned()]);
        for order in orders {
            let merged = sandbox.run(&format!("merge {} -o all.jsonl", order.join(" "))).succeeds();
            assert_eq!(merged.stdout(), one.stdout(), "{order:?}");
            assert_eq!(merged.stderr(), one.stderr(), "{order:?}");
            assert_eq!(sandbox.read("all.jsonl"), sandbox.read("one.jsonl"));
            assert_eq!(sandbox.read("all.jsonl.meta.json"), sandbox.read("one.jsonl.meta.json"));
        }
        // The draws are those of the one run, with another seed too.
        let options = "--seed 7 --resamples 50";
        let one = sandbox.run(&format!("score {inputs} {METRICS} {options}")).succeeds();
        let merged = sandbox.run(&format!("merge out {options} -o table.txt")).succeeds();
        assert_eq!((merged.stdout(), sandbox.read("table.txt")), ("", one.stdout().to_owned()));
    }
}

#[test]
fn the_learned_metric_and_its_notes_are_merged_too() {
    let sandbox = Sandbox::new();
    let examples = std::fs::read_to_string(repository("examples/stories.jsonl")).unwrap();
    let mut lines: Vec<String> = examples.lines().take(8).map(|line| format!("{line}\n")).collect();
    lines.push("{\"id\": \"poem\", \"story\": \"- milk\\n- eggs\\n- two loaves\"}\n".to_owned());
    let refusal = "I'm sorry, but I can't help with writing this story.";
    lines.push(format!("{{\"id\": \"no\", \"story\": \"{refusal}\"}}\n"));
    lines.push("{\"id\": \"bad\"}\n".to_owned());
    let files = cut(&sandbox, &lines, 3).join(" ");
    let one = sandbox.run(&format!("score {files} --skip-bad")).succeeds();
    assert!(one.stdout().contains("list"), "{}", one.stdout());
    assert!(
        one.stderr().contains("1 of 10 texts has no score: 1 is a refusal"),
        "{}",
        one.stderr()
    );
    assert!(one.stderr().contains("1 bad record was skipped"), "{}", one.stderr());
    sandbox.run(&format!("score {files} --skip-bad --out-dir out")).succeeds();
    let merged = sandbox.run("merge out").succeeds();
    assert_eq!((merged.stdout(), merged.stderr()), (one.stdout(), one.stderr()));
}

#[test]
fn csv_is_joined_under_one_line_of_names() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(20), 3).join(" ");
    sandbox.run(&format!("score {files} {METRICS} -o one.csv")).succeeds();
    sandbox.run(&format!("score {files} {METRICS} --out-dir out --format csv")).succeeds();
    sandbox.run("merge out -o all.csv").succeeds();
    assert_eq!(sandbox.read("all.csv"), sandbox.read("one.csv"));
    let before = sandbox.names();
    let run = sandbox.run("merge out -o all.jsonl").fails_with("the scores are not jsonl");
    assert_eq!((run.stdout(), sandbox.names()), ("", before));
    sandbox.run("merge out -o all.xlsx").fails_with("must end in .txt, .jsonl, .csv or .parquet");
}

#[test]
fn parquet_is_joined_to_the_file_of_one_run() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(40), 3).join(" ");
    let one = sandbox.run(&format!("score {files} {METRICS} -o one.parquet")).succeeds();
    sandbox.run(&format!("score {files} {METRICS} --out-dir out --format parquet")).succeeds();
    assert!(names(&sandbox, "out").contains(&"part-00.parquet".to_owned()));
    let merged = sandbox.run("merge out -o all.parquet").succeeds();
    assert_eq!((merged.stdout(), merged.stderr()), (one.stdout(), one.stderr()));
    let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    assert_eq!(bytes("all.parquet"), bytes("one.parquet"));
    assert_eq!(bytes("all.parquet.meta.json"), bytes("one.parquet.meta.json"));
}

#[test]
fn merging_replaces_neither_stories_nor_shards() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(12), 2);
    sandbox.run(&format!("score {} -m text-length --out-dir out", files.join(" "))).succeeds();
    let before = (sandbox.read(&files[0]), names(&sandbox, "out"));
    sandbox.run(&format!("merge out -o {}", files[0])).fails_with("would destroy the input");
    sandbox.run("merge out -o out/part-00.jsonl").fails_with("would destroy the input");
    sandbox.run("merge out -o out/all.jsonl").fails_with("would be taken for one of them");
    assert_eq!((sandbox.read(&files[0]), names(&sandbox, "out")), before);
    sandbox.run("merge out -o all.jsonl").succeeds();
}

#[test]
fn a_run_that_met_a_bad_file_is_finished_by_skipping_its_bad_records() {
    let sandbox = Sandbox::new();
    sandbox.write("good.jsonl", stories(6).concat());
    sandbox.write("bad.jsonl", "{\"id\": \"b\", \"story\": \"Rain.\"}\n{\"id\": \"c\"}\n");
    let score = "score good.jsonl bad.jsonl -m text-length --out-dir out";
    sandbox.run(score).fails_with("1 of 2 files could not be scored");
    sandbox.run(&format!("{score} --resume --skip-bad")).succeeds();
    let one = sandbox.run("score good.jsonl bad.jsonl -m text-length --skip-bad").succeeds();
    assert_eq!(sandbox.run("merge out").succeeds().stdout(), one.stdout());
    // Without --skip-bad, the second file would be an error.
    sandbox
        .run(&format!("{score} --resume"))
        .fails_with("then bad records skipped, and now bad records refused");
}

#[test]
fn metrics_that_know_the_corpus_score_shards_as_one_run() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(40), 3);
    let inputs = files.join(" ");
    let metrics = "--metric cider-d,bleu,self-bleu";
    sandbox
        .run(&format!("score {inputs} {metrics} --out-dir out"))
        .fails_with("metric \"cider-d\" needs to know all stories");
    // The first job reads all files, and the others take what it found.
    let job = |number: usize| {
        format!("score {inputs} {metrics} --out-dir out --shard {number}/3 --corpus-stats corpus")
    };
    (0..3).for_each(|number| drop(sandbox.run(&job(number)).succeeds()));
    let one = sandbox
        .run(&format!("score {inputs} {metrics} --corpus-stats corpus -o one.jsonl"))
        .succeeds();
    assert!(one.stdout().contains("|corpus:"), "{}", one.stdout());
    let merged = sandbox.run("merge out -o all.jsonl").succeeds();
    assert_eq!((merged.stdout(), merged.stderr()), (one.stdout(), one.stderr()));
    assert_eq!(sandbox.read("all.jsonl"), sandbox.read("one.jsonl"));
}

#[test]
fn outputs_are_named_after_their_inputs() {
    let sandbox = Sandbox::new();
    let csv = "id,story\n1,Rain fell.\n";
    sandbox.write("a.csv", csv);
    sandbox.write("b.tsv", csv.replace(',', "\t"));
    sandbox.write("c.txt", "Rain fell.");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, b"{\"story\": \"Rain fell.\"}\n").unwrap();
    sandbox.write("d.jsonl.gz", gzip.finish().unwrap());
    sandbox.run("score a.csv b.tsv c.txt d.jsonl.gz -m text-length --out-dir out").succeeds();
    let scores = |names: Vec<String>| -> Vec<String> {
        let is_beside = |name: &String| name.ends_with(".meta.json") || name.ends_with(".stats");
        names.into_iter().filter(|name| !is_beside(name)).collect()
    };
    assert_eq!(scores(names(&sandbox, "out")), ["a.csv", "b.jsonl", "c.jsonl", "d.jsonl"]);
    assert_eq!(names(&sandbox, "out").len(), 12);
    sandbox.write("a.csv.zst", "");
    let clash = "a.csv and a.csv.zst would both be written to other/a.csv";
    sandbox.run("score a.csv a.csv.zst -m text-length --out-dir other").fails_with(clash);
    assert!(!sandbox.path("other").exists());
    sandbox
        .run_with_input("score - -m text-length --out-dir other", csv.as_bytes())
        .fails_with("standard input: only files can be scored one by one");
    sandbox.run("score a.csv -m text-length --out-dir .").fails_with("would destroy the input");
}

#[test]
fn a_folder_stands_for_its_files() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("in")).unwrap();
    let stories = stories(12);
    sandbox.write("in/a.jsonl", stories[..6].concat());
    sandbox.write("in/b.jsonl", stories[6..].concat());
    let one = sandbox.run(&format!("score in {METRICS}")).succeeds();
    sandbox.run(&format!("score in {METRICS} --out-dir out")).succeeds();
    assert_eq!(sandbox.run("merge out").succeeds().stdout(), one.stdout());
    // A file does not know the system that the name of its folder stands for.
    for system in ["in/sun", "in/fog"] {
        std::fs::create_dir(sandbox.path(system)).unwrap();
        sandbox.write(&format!("{system}/story-of-{}.txt", &system[3..]), "Rain fell.");
    }
    for name in ["in/a.jsonl", "in/b.jsonl"] {
        std::fs::remove_file(sandbox.path(name)).unwrap();
    }
    let run = sandbox.run("score in -m text-length --out-dir other");
    run.fails_with("is the name of the folder, \"fog\"");
}

#[test]
fn a_folder_with_files_needs_resume_and_the_same_settings() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(9), 3).join(" ");
    let score = format!("score {files} --out-dir out -m text-length");
    sandbox.run(&score).succeeds();
    let written = |name: &str| sandbox.path(name).metadata().unwrap().modified().unwrap();
    let before = written("out/part-01.jsonl");
    sandbox.run(&score).fails_with("out: the folder is not empty: it has part-00.jsonl");
    let run = sandbox.run(&format!("{score} --resume")).succeeds();
    assert!(run.stderr().contains("3 files were complete already"), "{}", run.stderr());
    let run = sandbox.run(&format!("score {files} --out-dir out -m bleu --resume"));
    let run = run.fails_with("out/part-00.jsonl.meta.json: this file was scored in another way");
    let message = run.stderr();
    assert!(message.contains("text-length|") && message.contains("bleu|"), "{message}");
    sandbox.run(&format!("{score} --resume --renumber")).fails_with("score|duplicates:renumbered");
    assert_eq!(written("out/part-01.jsonl"), before);
}

#[test]
fn a_changed_input_is_scored_again() {
    let sandbox = Sandbox::new();
    let stories = stories(9);
    let files = cut(&sandbox, &stories, 3).join(" ");
    let score = format!("score {files} --out-dir out {METRICS} --resume");
    sandbox.run(&score).succeeds();
    sandbox.write("part-01.jsonl", stories[3..5].concat());
    let run = sandbox.run(&score).succeeds();
    assert!(run.stderr().contains("part-01.jsonl: the file had changed"), "{}", run.stderr());
    assert!(run.stderr().contains("scored 2 stories from 1 file"), "{}", run.stderr());
    let one = sandbox.run(&format!("score {files} {METRICS}")).succeeds();
    assert_eq!(sandbox.run("merge out").succeeds().stdout(), one.stdout());
    // The same bytes again are no change, whatever the clock says.
    sandbox.write("part-01.jsonl", stories[3..5].concat());
    let run = sandbox.run(&score).succeeds();
    assert!(run.stderr().contains("3 files were complete already"), "{}", run.stderr());
    // A changed input that is bad leaves nothing that would be merged by mistake.
    sandbox.write("part-01.jsonl", "{}\n");
    sandbox.run(&score).fails_with("part-01.jsonl:1");
    assert_eq!(names(&sandbox, "out").len(), 6);
}

#[test]
fn a_list_that_grows_renews_the_headers() {
    let sandbox = Sandbox::new();
    let stories = stories(8);
    cut(&sandbox, &stories, 4);
    let score = |files: &str| {
        sandbox.run(&format!("score {files} --out-dir out -m text-length --resume")).succeeds()
    };
    score("part-02.jsonl part-03.jsonl");
    let scores = sandbox.read("out/part-03.jsonl");
    let run = score("part-00.jsonl part-01.jsonl part-02.jsonl part-03.jsonl");
    assert!(run.stderr().contains("2 files were complete already"), "{}", run.stderr());
    assert_eq!(sandbox.read("out/part-03.jsonl"), scores);
    let one =
        sandbox.run("score part-00.jsonl part-01.jsonl part-02.jsonl part-03.jsonl -m text-length");
    assert_eq!(sandbox.run("merge out").succeeds().stdout(), one.stdout());
}

#[test]
fn jobs_of_an_array_share_a_folder() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(35), 7).join(" ");
    let one = sandbox.run(&format!("score {files} {METRICS}")).succeeds();
    for job in [2, 0, 1] {
        let run = sandbox.run(&format!("score {files} {METRICS} --out-dir out --shard {job}/3"));
        let expected = if job == 0 { "from 3 files" } else { "from 2 files" };
        assert!(run.succeeds().stderr().contains(expected));
        if job == 2 {
            assert!(sandbox.path("out/part-05.jsonl.meta.json").exists());
            let run = sandbox.run("merge out");
            run.fails_with(
                "5 of 7 shards are missing: number 1, number 2, number 4 (after part-02.jsonl)",
            );
        }
    }
    assert_eq!(sandbox.run("merge out").succeeds().stdout(), one.stdout());
    let again = format!("score {files} {METRICS} --out-dir out --shard 1/3");
    sandbox.run(&again).fails_with("the folder is not empty: it has part-01.jsonl");
    sandbox.run(&format!("{again} --resume")).succeeds();
    sandbox.run(&format!("score {files} --out-dir out --shard 3/3")).fails_with("counted from 0");
    sandbox.run(&format!("score {files} --shard 0/3")).fails_with("--out-dir");
}

#[test]
fn a_bad_file_is_named_and_an_empty_one_is_fine() {
    let sandbox = Sandbox::new();
    let stories = stories(4);
    sandbox.write("a.jsonl", stories[..2].concat());
    sandbox.write("b.jsonl", "{\"id\": \"x\"}\n");
    sandbox.write("c.jsonl", "");
    sandbox.write("d.jsonl", stories[2..].concat());
    let score = format!("score a.jsonl b.jsonl c.jsonl d.jsonl {METRICS} --out-dir out");
    let run = sandbox.run(&score).fails_with("b.jsonl:1: there is no field \"story\"");
    assert!(run.stderr().contains("1 of 4 files could not be scored"), "{}", run.stderr());
    assert!(run.stderr().contains("scored 4 stories from 3 files"), "{}", run.stderr());
    assert!(names(&sandbox, "out").iter().all(|name| !name.starts_with('b')));
    assert_eq!(sandbox.read("out/c.jsonl"), "");
    sandbox.run("merge out").fails_with("1 of 4 shards is missing: number 2 (after a.jsonl)");
    sandbox.write("b.jsonl", "");
    sandbox.run(&format!("{score} --resume")).succeeds();
    let one = sandbox.run(&format!("score a.jsonl b.jsonl c.jsonl d.jsonl {METRICS}")).succeeds();
    let merged = sandbox.run("merge out").succeeds();
    assert_eq!((merged.stdout(), merged.stderr()), (one.stdout(), one.stderr()));
    sandbox.run(&format!("score c.jsonl {METRICS} --out-dir none")).succeeds();
    sandbox.run("merge none").fails_with("c.jsonl: the input has no story");
}

#[cfg(unix)]
#[test]
fn a_killed_run_is_resumed() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(4000), 8);
    let inputs = files.join(" ");
    let score = format!("score {inputs} {METRICS} --out-dir out --resume");
    let mut killed = 0;
    let mut finished = 0;
    // Each run is killed a little later, until one of them ends.
    for wait in (10..).step_by(25) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_storymeter"))
            .args(score.split_whitespace())
            .current_dir(sandbox.path(""))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(wait) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        // SIGKILL, which nobody can handle.
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        if !sandbox.path("out").exists() {
            continue;
        }
        // A header is there only if the files beside it are, and what is complete stays.
        let there = names(&sandbox, "out");
        let complete: Vec<&String> =
            there.iter().filter(|name| name.ends_with(".meta.json")).collect();
        assert!(complete.len() >= finished);
        finished = complete.len();
        for name in complete {
            let output = name.strip_suffix(".meta.json").unwrap();
            assert!(
                there.contains(&output.to_owned()) && there.contains(&format!("{output}.stats"))
            );
        }
    }
    assert!(killed > 0);
    let one = sandbox.run(&format!("score {inputs} {METRICS}")).succeeds();
    let merged = sandbox.run("merge out").succeeds();
    assert_eq!((merged.stdout(), merged.stderr()), (one.stdout(), one.stderr()));
    // The next run removed what the killed ones left.
    assert_eq!(names(&sandbox, "out").len(), 3 * files.len());
}

#[test]
fn two_runs_at_once_write_the_same_bytes() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(900), 6);
    let score = format!("score {} {METRICS} --out-dir out --resume", files.join(" "));
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_storymeter"))
            .args(score.split_whitespace())
            .current_dir(sandbox.path(""))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let runs = [start(), start(), start()].map(|child| child.wait_with_output().unwrap());
    for run in runs {
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    assert_eq!(names(&sandbox, "out").len(), 3 * files.len());
    let one = sandbox.run(&format!("score {} {METRICS}", files.join(" "))).succeeds();
    assert_eq!(sandbox.run("merge out").succeeds().stdout(), one.stdout());
}

#[test]
fn shards_that_do_not_belong_together_are_refused() {
    let sandbox = Sandbox::new();
    let stories = stories(12);
    let files = cut(&sandbox, &stories, 3).join(" ");
    sandbox.run(&format!("score {files} -m text-length --out-dir a")).succeeds();
    sandbox.run(&format!("score {files} -m bleu --out-dir b")).succeeds();
    sandbox.run(&format!("score {files} -m bleu:intl --out-dir c")).succeeds();
    let merge = |arguments: &str| sandbox.run(&format!("merge {arguments}"));
    let (a, b) = ("a/part-00.jsonl.meta.json", "b/part-01.jsonl.meta.json");
    for order in [format!("{a} {b}"), format!("{b} {a}")] {
        let message =
            "a/part-00.jsonl.meta.json and b/part-01.jsonl.meta.json do not belong together";
        let run = merge(&order).fails_with(message);
        assert!(run.stderr().contains("text-length|") && run.stderr().contains("bleu|"));
    }
    let run = merge("b/part-00.jsonl.meta.json c/part-01.jsonl.meta.json");
    assert!(run.fails_with("tok:13a").stderr().contains("tok:intl"));
    merge(&format!("a {a}")).fails_with("are the same shard: part-00.jsonl");
    merge("a/part-00.jsonl.meta.json a/part-02.jsonl.meta.json")
        .fails_with("1 of 3 shards is missing: number 2 (after part-00.jsonl)");
    merge("a/part-00.jsonl").fails_with("its name does not end in .meta.json");
    merge("none.meta.json").fails_with("none.meta.json: there is no header");
    merge("a --expect 4").fails_with("there are 3 shards, and 4 are expected");
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    merge("empty").fails_with("empty: there is no header");
    let header = sandbox.read("a/part-00.jsonl.meta.json");
    sandbox.write("a/part-00.jsonl.meta.json", header.replace("\"of\": 3", "\"of\": 5"));
    merge("a").fails_with("a list of 5 inputs");
}

#[test]
fn damaged_files_are_refused() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(12), 3).join(" ");
    sandbox.run(&format!("score {files} -m text-length,bleu --out-dir out")).succeeds();
    let merge = || sandbox.run("merge out");
    for name in ["out/part-01.jsonl", "out/part-01.jsonl.stats"] {
        let bytes = std::fs::read(sandbox.path(name)).unwrap();
        sandbox.write(name, &bytes[1..]);
        merge().fails_with(&format!("{name}: the file has {} bytes", bytes.len() - 1));
        std::fs::remove_file(sandbox.path(name)).unwrap();
        merge().fails_with(&format!("{name}: there is no such file"));
        sandbox.write(name, &bytes);
    }
    let rows = std::fs::read(sandbox.path("out/part-01.jsonl.stats")).unwrap();
    let mut damaged = rows.clone();
    *damaged.last_mut().unwrap() ^= 1;
    sandbox.write("out/part-01.jsonl.stats", &damaged);
    merge()
        .fails_with("out/part-01.jsonl.stats: the file does not have the checksum in its header");
    damaged[7] = 9;
    sandbox.write("out/part-01.jsonl.stats", &damaged);
    merge().fails_with("these are not row statistics of this version");
    // What is damaged is not complete, so it is scored again if its size says so.
    sandbox.write("out/part-01.jsonl.stats", &rows[1..]);
    let score = format!("score {files} -m text-length,bleu --out-dir out --resume");
    let run = sandbox.run(&score).succeeds();
    assert!(run.stderr().contains("2 files were complete already"), "{}", run.stderr());
    merge().succeeds();
    let header = sandbox.read("out/part-02.jsonl.meta.json");
    sandbox.write("out/part-02.jsonl.meta.json", &header[..header.len() / 2]);
    merge().fails_with("out/part-02.jsonl.meta.json");
}

#[test]
fn files_that_were_scored_by_runs_of_their_own_are_merged_by_name() {
    let sandbox = Sandbox::new();
    let files = cut(&sandbox, &stories(30), 3);
    for file in files.iter().rev() {
        sandbox.run(&format!("score {file} {METRICS} --out-dir out --resume -q")).succeeds();
    }
    let one = sandbox.run(&format!("score {} {METRICS}", files.join(" "))).succeeds();
    let merged = sandbox.run("merge out").succeeds();
    assert_eq!(merged.stdout(), one.stdout());
    let notes = merged.stderr().strip_prefix(one.stderr()).unwrap();
    assert!(notes.contains("not known whether all are there"), "{notes}");
    let merged = sandbox.run("merge out --expect 3").succeeds();
    assert_eq!(merged.stderr(), one.stderr());
    sandbox.run("merge out --expect 2").fails_with("there are 3 shards, and 2 are expected");
}

#[test]
fn score_files_without_rows_are_merged_by_their_sums() {
    let sandbox = Sandbox::new();
    let stories = stories(30);
    cut(&sandbox, &stories, 2);
    for part in ["part-00.jsonl", "part-01.jsonl"] {
        sandbox.run(&format!("score {part} {METRICS} -o scores-{part}")).succeeds();
    }
    let merged = sandbox
        .run("merge scores-part-00.jsonl.meta.json scores-part-01.jsonl.meta.json --expect 2")
        .succeeds();
    assert!(merged.stderr().contains("there are no row statistics"), "{}", merged.stderr());
    // One of the thirty texts is empty.
    assert!(merged.stdout().contains("|stories:29|interval:normal|version:"));
    let one = sandbox.run(&format!("score part-00.jsonl part-01.jsonl {METRICS}")).succeeds();
    let scores = |table: &str| -> Vec<String> {
        let rows = table.lines().take_while(|line| !line.is_empty()).skip(1);
        rows.map(|row| row.split('[').next().unwrap().trim().to_owned()).collect()
    };
    assert_eq!(scores(merged.stdout()), scores(one.stdout()));
}

#[test]
fn ids_are_unique_across_shards() {
    let sandbox = Sandbox::new();
    let story = |id: &str| format!("{{\"id\": \"{id}\", \"story\": \"Rain fell.\"}}\n");
    sandbox.write("a.jsonl", story("0"));
    sandbox.write("b.jsonl", story("0"));
    sandbox.run("score a.jsonl b.jsonl -m text-length").fails_with("duplicate id \"0\"");
    sandbox.run("score a.jsonl b.jsonl -m text-length --out-dir out").succeeds();
    sandbox.run("merge out").fails_with("have a story of the same system with the same id");
    // Stories without ids are numbered within their file, and in one run across all files.
    let unnamed = "{\"story\": \"Rain fell.\"}\n".repeat(3);
    sandbox.write("a.jsonl", &unnamed);
    sandbox.write("b.jsonl", &unnamed);
    let one = sandbox.run("score a.jsonl b.jsonl -m text-length").succeeds();
    sandbox.run("score a.jsonl b.jsonl -m text-length --out-dir out --resume").succeeds();
    assert_eq!(sandbox.run("merge out").succeeds().stdout(), one.stdout());
    let run = sandbox.run("merge out -o all.jsonl").fails_with("numbered within their file");
    assert_eq!(run.stdout(), "");
}

#[test]
fn what_cannot_be_done_file_by_file_is_refused() {
    let sandbox = Sandbox::new();
    let stories = stories(2);
    sandbox.write("a.jsonl", stories.concat());
    let refused = [
        ("-m cider-d", "metric \"cider-d\" needs to know all stories"),
        ("-m bleu --against sun", "--against"),
        ("-m bleu --fail-under 3", "--fail-under"),
        ("-m bleu --references a.jsonl", "--references"),
        ("-m bleu -o b.jsonl", "--output"),
        ("-m bleu --format table", "`storymeter merge` makes the table"),
        ("--explain --format csv", "CSV has no explanations"),
    ];
    for (options, message) in refused {
        sandbox.run(&format!("score a.jsonl --out-dir out {options}")).fails_with(message);
    }
    sandbox.write("file", "");
    sandbox.run("score a.jsonl -m bleu --out-dir file").fails_with("file: File exists");
    sandbox.run("score a.jsonl --resume").fails_with("--out-dir");
    sandbox.run("score a.jsonl --resume -o x.jsonl").fails_with("--out-dir");
    assert!(!sandbox.path("x.jsonl").exists());
}

/// Beyond a million stories, one run and merged shards add exact sums.
#[test]
fn beyond_a_million_stories_shards_still_equal_one_run() {
    let sandbox = Sandbox::new();
    let mut text = String::new();
    let mut files = Vec::new();
    for part in 0..3 {
        text.clear();
        for number in 0..333_400 {
            let system = if number % 3 == 0 { "rain" } else { "sun" };
            let words = "a b c d e f g h ".get(..2 + 2 * ((number * 7 + part) % 8)).unwrap();
            text.push_str(&format!("{{\"system\":\"{system}\",\"story\":\"{words}\"}}\n"));
        }
        let name = format!("part-{part}.jsonl");
        sandbox.write(&name, &text);
        files.push(name);
    }
    let files = files.join(" ");
    let one = sandbox.run(&format!("score {files} -m text-length")).succeeds();
    sandbox.run(&format!("score {files} -m text-length --out-dir out")).succeeds();
    let merged = sandbox.run("merge out").succeeds();
    assert_eq!((merged.stdout(), merged.stderr()), (one.stdout(), one.stderr()));
    assert!(one.stdout().contains("|stories:1000200|interval:normal|version:"), "{}", one.stdout());
}
