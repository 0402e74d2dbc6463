//! `storymeter perturb`.

use std::io::Write;

use crate::sandbox::{Sandbox, example_of, repository};

/// A sandbox with the example stories in `stories.jsonl`.
fn with_examples() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::copy(repository("examples/stories.jsonl"), sandbox.path("stories.jsonl")).unwrap();
    sandbox
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_sample_records_what_was_done_to_which_story() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "in.jsonl",
        "{\"id\": 7, \"story\": \"Mia slept. Rain fell. She woke up. She ran.\"}\n",
    );
    let run = sandbox.run("perturb in.jsonl --techniques reordering --seed 1").succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn samples_are_shown_side_by_side() {
    let run = with_examples().run("perturb stories.jsonl --show 2 --seed 4").succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn the_page_shows_what_perturb_prints() {
    let run = with_examples().run("perturb --show 2 stories.jsonl").succeeds();
    assert_eq!(example_of("docs/perturb.md", "lighthouse-sound (draw 0)"), run.stdout().trim_end());
}

#[test]
fn the_distributions_are_printed() {
    let run = with_examples().run("perturb stories.jsonl --per-story 200 --stats").succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let sandbox = with_examples();
    for threads in [1, 2, 7] {
        sandbox
            .run(&format!(
                "perturb stories.jsonl --per-story 20 --threads {threads} -o {threads}.jsonl"
            ))
            .succeeds();
    }
    assert_eq!(sandbox.read("1.jsonl").lines().count(), 36 * 20);
    assert!(sandbox.read("1.jsonl") == sandbox.read("2.jsonl"));
    assert!(sandbox.read("1.jsonl") == sandbox.read("7.jsonl"));
}

#[test]
fn a_file_in_two_parts_gives_the_samples_of_the_whole() {
    let sandbox = with_examples();
    let whole = sandbox.read("stories.jsonl");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    sandbox.write("a.jsonl", lines[..20].concat());
    sandbox.write("b.jsonl", lines[20..].concat());
    sandbox.run("perturb stories.jsonl --save-donors donors.bin -o whole.out").succeeds();
    sandbox.run("perturb a.jsonl --donors stories.jsonl -o a.out").succeeds();
    sandbox.run("perturb b.jsonl --donors donors.bin --record-offset 20 -o b.out").succeeds();
    assert!(sandbox.read("a.out") + &sandbox.read("b.out") == sandbox.read("whole.out"));
}

#[test]
fn standard_input_is_read_like_a_file() {
    let sandbox = with_examples();
    let stories = sandbox.read("stories.jsonl");
    let file = sandbox.run("perturb stories.jsonl").succeeds();
    let piped = sandbox.run_with_input("perturb -", stories.as_bytes()).succeeds();
    assert!(file.stdout() == piped.stdout());
    let zipped = sandbox.run_with_input("perturb -", &gzip(stories.as_bytes())).succeeds();
    assert!(file.stdout() == zipped.stdout());
}

#[test]
fn another_seed_gives_other_samples() {
    let sandbox = with_examples();
    let one = sandbox.run("perturb stories.jsonl --seed 1").succeeds();
    let two = sandbox.run("perturb stories.jsonl --seed 2").succeeds();
    assert!(one.stdout() != two.stdout());
}

#[test]
fn one_technique_or_all_but_one_can_be_asked_for() {
    let sandbox = with_examples();
    let only = sandbox.run("perturb stories.jsonl --techniques negation").succeeds();
    let is_negation = |line: &&str| line.contains("\"techniques\":[\"negation\"]");
    assert_eq!(only.stdout().lines().filter(is_negation).count(), 36);
    let without =
        sandbox.run("perturb stories.jsonl --techniques no-negation --per-story 5").succeeds();
    assert!(!without.stdout().contains("\"negation\""));
}

#[test]
fn names_are_masked_where_that_is_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", "{\"story\": \"Susan woke. Robert slept. Susan left.\"}\n");
    let plain = sandbox.run("perturb in.jsonl").succeeds();
    assert!(plain.stdout().contains("\"original\":\"Susan woke. Robert slept. Susan left.\""));
    let masked = sandbox.run("perturb in.jsonl --delexicalise").succeeds();
    assert!(
        masked.stdout().contains("\"original\":\"[FEMALE] woke. [MALE] slept. [FEMALE] left.\"")
    );
}

#[test]
fn the_released_code_s_choices_are_a_preset() {
    let sandbox = with_examples();
    let paper = sandbox.run("perturb stories.jsonl --preset paper").succeeds();
    let default = sandbox.run("perturb stories.jsonl").succeeds();
    let released = sandbox.run("perturb stories.jsonl --preset released-code").succeeds();
    assert!(paper.stdout() == default.stdout());
    assert!(paper.stdout() != released.stdout());
}

#[test]
fn antonyms_can_come_from_the_user() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", "{\"story\": \"Mia slept. Her cat purred.\"}\n");
    sandbox.write("table.txt", "cat|||/r/Antonym|||dog\n");
    let run = sandbox
        .run("perturb in.jsonl --antonyms table.txt --techniques substitution --per-story 9");
    assert!(run.succeeds().stdout().contains("Her dog purred."));
    sandbox.write("bad.txt", "cat|||dog\n");
    sandbox.run("perturb in.jsonl --antonyms bad.txt").fails_with("bad.txt");
}

#[test]
fn bad_input_is_named_by_file_line_and_field_and_leaves_nothing_behind() {
    let good = "{\"story\": \"A came. B left. C stayed.\"}\n";
    let cases: [(&str, Vec<u8>, &str); 9] = [
        (
            "utf8.jsonl",
            [good.as_bytes(), b"{\"story\": \"\xff\"}\n"].concat(),
            "utf8.jsonl:2: byte 12 of the line is not UTF-8",
        ),
        (
            "empty.jsonl",
            format!("{good}{{\"story\": \" \"}}\n").into(),
            "empty.jsonl:2: field \"story\"",
        ),
        (
            "one.jsonl",
            format!("{good}{{\"story\": \"A came.\"}}\n").into(),
            "one.jsonl:2: field \"story\"",
        ),
        ("json.jsonl", format!("{good}{{\"story\": \n").into(), "json.jsonl:2"),
        (
            "number.jsonl",
            format!("{good}{{\"story\": 3}}\n").into(),
            "number.jsonl:2: field \"story\"",
        ),
        ("columns.csv", "title,tale\na,b\n".into(), "columns.csv:1"),
        ("cut.jsonl.gz", gzip(good.repeat(500).as_bytes())[..60].to_vec(), "cut.jsonl.gz"),
        ("nothing.jsonl", Vec::new(), "nothing.jsonl"),
        ("missing.jsonl", Vec::new(), "missing.jsonl"),
    ];
    for (name, content, message) in cases {
        let sandbox = Sandbox::new();
        if name != "missing.jsonl" {
            sandbox.write(name, content);
        }
        let before = sandbox.names();
        sandbox.run(&format!("perturb {name} -o out.jsonl")).fails_with(message);
        assert_eq!(sandbox.names(), before, "{name}");
    }
}

#[test]
fn a_folder_without_stories_is_an_error() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.run("perturb empty").fails_with("empty: the folder has no file of stories");
}

#[test]
fn bad_records_can_be_skipped_and_are_counted() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "in.jsonl",
        "{\"story\": \"A came. B left. C ran.\"}\n{\"story\": \"One.\"}\n{\"story\": 1}\n",
    );
    let run = sandbox.run("perturb in.jsonl --skip-bad").succeeds();
    assert_eq!(run.stdout().lines().count(), 1);
    assert!(run.stderr().contains("2 bad records were skipped"), "{}", run.stderr());
    assert!(run.stderr().contains("in.jsonl:3: field \"story\""), "{}", run.stderr());
    assert_eq!(sandbox.run("perturb in.jsonl --skip-bad --quiet").succeeds().stderr(), "");
}

#[test]
fn a_line_of_ten_megabytes_is_a_story_like_any_other() {
    let sandbox = Sandbox::new();
    let long: String =
        (0..230_000).map(|i| format!("The old man walked to river {i} and sat down. ")).collect();
    assert!(long.len() > 10_000_000);
    sandbox.write("in.jsonl", format!("{{\"story\": \"{long}\"}}\n"));
    sandbox.run("perturb in.jsonl -o out.jsonl").succeeds();
    assert_eq!(sandbox.read("out.jsonl").lines().count(), 1);
}

#[test]
fn what_cannot_be_changed_is_counted() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", "{\"story\": \"Mia slept. A long day.\"}\n");
    let run = sandbox.run("perturb in.jsonl --techniques negation").succeeds();
    assert_eq!(run.stdout(), "");
    assert!(run.stderr().contains("1 samples could not be made"), "{}", run.stderr());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    with_examples()
        .run("perturb stories.jsonl -o /dev/full")
        .fails_with("/dev/full: No space left on device");
}

#[test]
fn an_older_output_stays_when_the_run_fails() {
    let sandbox = Sandbox::new();
    sandbox.write("out.jsonl", "old\n");
    sandbox.write("in.jsonl", "{\"story\": \"One.\"}\n");
    sandbox.run("perturb in.jsonl -o out.jsonl").fails_with("in.jsonl:1");
    assert_eq!(sandbox.read("out.jsonl"), "old\n");
}

#[test]
fn wrong_settings_are_explained() {
    let sandbox = with_examples();
    sandbox
        .run("perturb stories.jsonl --techniques sorting")
        .fails_with("unknown technique \"sorting\"");
    sandbox.run("perturb stories.jsonl --counts 0,0").fails_with("one to four weights");
    let near = sandbox.run("perturb stories.jsonl --preset papper").fails_with("'papper'");
    assert!(near.stderr().contains("a similar value exists: 'paper'"), "{}", near.stderr());
    sandbox.run("perturb stories.jsonl --keyword-share 2").fails_with("keyword share");
    sandbox
        .run("perturb stories.jsonl --garbled 1.5")
        .fails_with("the share garbled is 1.5, but it must be from 0 to 1");
    sandbox.run("perturb stories.jsonl --spliced NaN").fails_with("spliced is NaN");
    sandbox.run("perturb stories.jsonl --donors nowhere").fails_with("nowhere: No such file");
}

/// A named pipe that gives the content once.
#[cfg(unix)]
fn pipe(sandbox: &Sandbox, name: &str, content: Vec<u8>) {
    let path = sandbox.path(name);
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    std::thread::spawn(move || {
        let mut pipe = std::fs::File::options().write(true).open(path).unwrap();
        let _ = pipe.write_all(&content);
    });
}

#[cfg(unix)]
#[test]
fn pipes_are_read_like_files() {
    let sandbox = with_examples();
    let stories = sandbox.read("stories.jsonl");
    let first: String = stories.lines().take(5).map(|line| format!("{line}\n")).collect();
    sandbox.write("first.jsonl", &first);
    let expected = sandbox.run("perturb stories.jsonl").succeeds();
    pipe(&sandbox, "pipe.jsonl", stories.clone().into());
    let read = sandbox.run("perturb pipe.jsonl").succeeds();
    assert!(read.stdout() == expected.stdout());
    // The donors are looked at twice, once for a sample that was saved.
    let line = "perturb first.jsonl --donors stories.jsonl --save-donors saved";
    let expected = sandbox.run(line).succeeds();
    pipe(&sandbox, "donors.jsonl", stories.into());
    let read = sandbox.run("perturb first.jsonl --donors donors.jsonl").succeeds();
    assert!(read.stdout() == expected.stdout());
    pipe(&sandbox, "saved-pipe", std::fs::read(sandbox.path("saved")).unwrap());
    let read = sandbox.run("perturb first.jsonl --donors saved-pipe").succeeds();
    assert!(read.stdout() == expected.stdout());
}

#[cfg(target_os = "linux")]
#[test]
fn endless_devices_are_refused() {
    let sandbox = with_examples();
    for line in [
        "perturb /dev/zero",
        "perturb /dev/urandom",
        "perturb stories.jsonl --donors /dev/full",
        "perturb stories.jsonl --antonyms /dev/zero",
        "perturb stories.jsonl --more-antonyms /dev/urandom",
        "score /dev/zero --metric cider-d",
        "score /dev/zero --metric text-length",
        "score /dev/zero --metric text-length --input-format lines",
    ] {
        let run = sandbox.run(line);
        assert_eq!(run.code(), 2, "{line}: {}", run.stderr());
        assert!(run.stderr().len() < 500, "{line}: {} bytes", run.stderr().len());
    }
    assert_eq!(sandbox.names(), ["stories.jsonl"]);
}

#[test]
fn a_record_number_that_overflows_is_refused() {
    let run = with_examples().run("perturb stories.jsonl --record-offset 18446744073709551615");
    run.fails_with("the number of this record would be 18446744073709551615");
}
