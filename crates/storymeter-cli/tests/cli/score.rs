//! `storymeter score` with metrics that need no model.

use crate::sandbox::Sandbox;

const STORIES: &str = concat!(
    r#"{"id":"a1","system":"rain","item":"one","prompt":"A storm is coming.","#,
    r#""story":"The storm came at night. Nobody slept.","#,
    r#""reference":"The storm came in the night, and nobody slept at all.","#,
    r#""human":{"coherence":[4,5]}}"#,
    "\n",
    r#"{"id":"a2","system":"rain","item":"two","prompt":"A letter arrives.","#,
    r#""story":"A letter came. She read it twice, and wept.","#,
    r#""reference":["The letter came on Monday. She read it twice.","A letter! She wept."]}"#,
    "\n",
    r#"{"id":"b1","system":"sun","item":"one","prompt":"A storm is coming.","#,
    r#""story":"Sun. Sun. Sun.","#,
    r#""reference":"The storm came in the night, and nobody slept at all."}"#,
    "\n",
    r#"{"id":"b2","system":"sun","item":"two","prompt":"A letter arrives.","story":"","#,
    r#""reference":"The letter came on Monday. She read it twice."}"#,
    "\n",
);

/// Every metric that needs no files of its own.
const ALL: &str = "bleu,bleu:hanna,bleu:union,chrf,chrf:plus-plus,ter,cider-d,coverage,density,\
                   compression,text-length:hanna,novelty-1,novelty-2,novelty-3,repetition-1,\
                   repetition-2,repetition-3,distinct-1,distinct-4,rouge:google,rouge:hanna,\
                   self-bleu";

fn with_stories() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", STORIES);
    sandbox
}

/// The run failed, wrote no result, and left nothing behind.
#[track_caller]
fn nothing_half_written(sandbox: &Sandbox, line: &str, message: &str) {
    let before = sandbox.names();
    let run = sandbox.run(line).fails_with(message);
    assert_eq!(run.stdout(), "");
    assert_eq!(sandbox.names(), before);
}

#[test]
fn a_table_shows_all_stories_and_each_system() {
    let run = with_stories()
        .run("score stories.jsonl --metric bleu,ter,text-length --against sun --keep-refusals")
        .succeeds();
    insta::assert_snapshot!(run.stdout());
    assert_eq!(
        run.stderr(),
        "storymeter: read 4 stories of 2 systems from 1 file (jsonl)\n\
         storymeter: 1 of 4 stories have no text; they are scored too\n"
    );
}

#[test]
fn every_story_gets_a_line_in_input_order() {
    let sandbox = with_stories();
    sandbox
        .run("score stories.jsonl --metric bleu,chrf:hanna,novelty-2 -o scores.jsonl")
        .succeeds();
    insta::assert_snapshot!(sandbox.read("scores.jsonl"));
    assert_eq!(sandbox.names(), ["scores.jsonl", "scores.jsonl.meta.json", "stories.jsonl"]);
}

#[test]
fn scores_go_to_standard_output_when_asked_for() {
    let sandbox = with_stories();
    let jsonl = sandbox.run("score stories.jsonl --metric bleu --format jsonl").succeeds();
    assert_eq!(jsonl.stdout().lines().count(), 4);
    let csv = sandbox.run("score stories.jsonl --metric bleu,text-length --format csv").succeeds();
    insta::assert_snapshot!(csv.stdout());
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let sandbox = with_stories();
    let run = |threads: usize| {
        let metrics = format!("--metric {ALL} --against rain");
        let line = format!("score stories.jsonl {metrics} --threads {threads} -o {threads}.jsonl");
        sandbox.run(&line).succeeds().stdout().to_owned()
    };
    assert_eq!(run(1), run(3));
    assert_eq!(sandbox.read("1.jsonl"), sandbox.read("3.jsonl"));
    assert_eq!(sandbox.read("1.jsonl.meta.json"), sandbox.read("3.jsonl.meta.json"));
}

/// Stories and references with one per line, more than are read at once. Two systems take turns.
fn many(count: usize) -> (String, String) {
    let story = |n: usize| {
        let system = if n.is_multiple_of(2) { "even" } else { "odd" };
        let text = format!("Keeper {} lit the {} lamp, and lamp {n} went out.", n % 7, n % 13);
        format!(
            "{{\"id\":\"{n}\",\"system\":\"{system}\",\"item\":\"{}\",\"story\":\"{text}\"}}\n",
            n / 2
        )
    };
    let reference =
        |n: usize| format!("The keeper lit lamp {} at {} and it went out.\n", n % 13, n % 24);
    ((0..count).map(story).collect(), (0..count).map(reference).collect())
}

#[test]
fn several_batches_under_way_come_out_in_order_on_any_number_of_threads() {
    let sandbox = Sandbox::new();
    let (stories, references) = many(6000);
    sandbox.write("stories.jsonl", stories);
    sandbox.write("references.txt", references);
    let run = |threads: usize| {
        let line = format!(
            "score stories.jsonl --references references.txt --references-format lines \
             --metric bleu,cider-d,rouge:hanna,self-bleu --resamples 50 --threads {threads} \
             -o {threads}.jsonl"
        );
        sandbox.run(&line).succeeds().stdout().to_owned()
    };
    let table = run(1);
    let scores = sandbox.read("1.jsonl");
    for (n, line) in scores.lines().enumerate() {
        assert!(line.starts_with(&format!("{{\"id\":\"{n}\",")), "{line}");
    }
    assert_eq!(scores.lines().count(), 6000);
    for threads in [2, 5] {
        assert_eq!(run(threads), table);
        assert!(sandbox.read(&format!("{threads}.jsonl")) == scores, "{threads} threads");
    }
}

#[test]
fn the_first_bad_record_of_many_batches_is_named() {
    let sandbox = Sandbox::new();
    let (stories, references) = many(5000);
    let mut lines: Vec<&str> = stories.lines().collect();
    lines[2600] = "{\"story\":";
    lines[4000] = "{}";
    sandbox.write("stories.jsonl", lines.join("\n"));
    sandbox.write("references.txt", references);
    let formats = "--references references.txt --references-format lines --metric bleu";
    nothing_half_written(
        &sandbox,
        &format!("score stories.jsonl {formats} -o out.jsonl"),
        "stories.jsonl:2601: ",
    );
    let run =
        sandbox.run(&format!("score stories.jsonl {formats} --skip-bad -o out.jsonl")).succeeds();
    assert!(run.stderr().contains("2 bad records were skipped"), "{}", run.stderr());
    // The references of bad records are skipped with them.
    let scores = sandbox.read("out.jsonl");
    let after = scores.lines().nth(4500).expect("4,998 lines");
    sandbox.write("stories.jsonl", stories);
    sandbox.run(&format!("score stories.jsonl {formats} -o all.jsonl")).succeeds();
    assert_eq!(after, sandbox.read("all.jsonl").lines().nth(4502).expect("5,000 lines"));
}

#[test]
fn stories_and_references_are_counted_across_batches() {
    let sandbox = Sandbox::new();
    let take =
        |text: &str, count: usize| text.split_inclusive('\n').take(count).collect::<String>();
    let (stories, references) = many(3000);
    let line = "score stories.jsonl --references references.txt --references-format lines \
                --metric bleu -o out.jsonl";
    // Stories are read in batches of 1,024 or so. Some of these counts end a batch, and others do
    // not.
    for (count, given) in
        [(2048, 2047), (2500, 1024), (2049, 2048), (2048, 2049), (1024, 3000), (700, 701)]
    {
        sandbox.write("stories.jsonl", take(&stories, count));
        sandbox.write("references.txt", take(&references, given));
        let message = if given < count {
            format!(
                "stories.jsonl:{}: the story has no reference: references.txt has only {given}",
                given + 1
            )
        } else {
            format!("references.txt has {given} references, but there are {count} stories")
        };
        nothing_half_written(&sandbox, line, &message);
    }
    sandbox.write("stories.jsonl", take(&stories, 2048));
    sandbox.write("references.txt", take(&references, 2048));
    sandbox.run(line).succeeds();
}

#[test]
fn standard_input_is_read_twice_for_corpus_metrics() {
    let sandbox = with_stories();
    let from_file =
        sandbox.run("score stories.jsonl --metric cider-d,self-bleu --format jsonl").succeeds();
    let from_pipe = sandbox
        .run_with_input("score - --metric cider-d,self-bleu --format jsonl", STORIES.as_bytes())
        .succeeds();
    assert_eq!(from_file.stdout(), from_pipe.stdout());
}

#[test]
fn references_may_come_from_files_of_their_own() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.txt", "The storm came.\nShe read it.\n");
    sandbox.write("first.txt", "The storm came at night.\nShe read it twice.\n");
    sandbox.write("second.txt", "A storm came.\nShe read.\n");
    let formats =
        "--input-format lines --references-format lines --metric bleu:none --format jsonl";
    let one =
        sandbox.run(&format!("score stories.txt --references first.txt {formats}")).succeeds();
    let two = sandbox
        .run(&format!("score stories.txt --references first.txt --references second.txt {formats}"))
        .succeeds();
    assert_ne!(one.stdout(), two.stdout());
    sandbox.write("first.txt", "The storm came at night.\n");
    nothing_half_written(
        &sandbox,
        &format!("score stories.txt --references first.txt {formats}"),
        "stories.txt:2: the story has no reference: first.txt has only 1",
    );
    sandbox.write("first.txt", "One.\nTwo.\nThree.\n");
    nothing_half_written(
        &sandbox,
        &format!("score stories.txt --references first.txt {formats}"),
        "first.txt has 3 references, but there are 2 stories",
    );
}

#[test]
fn a_limit_that_is_not_reached_is_exit_code_1() {
    let sandbox = with_stories();
    let code = |more: &str| sandbox.run(&format!("score stories.jsonl --metric {more}")).code();
    assert_eq!(code("bleu --fail-under 10"), 0);
    assert_eq!(code("bleu --fail-under 20"), 1);
    // For a metric where lower is better, the limit is an upper one.
    assert_eq!(code("ter,bleu --fail-under ter=90"), 0);
    assert_eq!(code("ter,bleu --fail-under ter=50"), 1);
    assert_eq!(code("ter,bleu --fail-under 50"), 2);
}

#[test]
fn what_a_metric_needs_and_a_story_lacks_is_named() {
    let sandbox = with_stories();
    sandbox.write(
        "bare.jsonl",
        "{\"story\":\"One.\",\"reference\":\"Two.\"}\n{\"id\":\"x\",\"story\":\"One.\"}\n",
    );
    nothing_half_written(
        &sandbox,
        "score bare.jsonl --metric bleu -o out.jsonl",
        "bare.jsonl:2: story \"x\": metric \"bleu\" needs a reference, and there is none (add it \
         to the stories as the field \"reference\", or name a file with --references)",
    );
    nothing_half_written(
        &sandbox,
        "score bare.jsonl --metric novelty-1 --format csv",
        "bare.jsonl:1: story \"0\": metric \"novelty-1\" needs a prompt, and there is none",
    );
    sandbox.write("blank.jsonl", "{\"story\":\"One.\",\"reference\":\" \"}\n");
    nothing_half_written(&sandbox, "score blank.jsonl --metric cider-d", "needs a reference");
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let sandbox = with_stories();
    let refused = |more: &str, message: &str| {
        nothing_half_written(&sandbox, &format!("score stories.jsonl {more}"), message)
    };
    refused(
        "--metric blue",
        "there is no metric \"blue\"; did you mean \"bleu\"? (`storymeter metrics list` names all \
         metrics)",
    );
    refused("--metric bleu:paper", "metric \"bleu\" has no option \"paper\"; it has 13a, intl,");
    refused("--metric bleu:intl+floop", "did you mean \"floor\"?");
    refused("--metric bleu,bleu", "both write the key \"bleu\"");
    refused(
        "--metric bleu --against moon -o x.jsonl",
        "there is no system \"moon\"; there are: rain, sun",
    );
    refused("--metric bleu --against ran -o x.jsonl", "did you mean \"rain\"?");
    refused("--metric bleu -o scores.dat", "name it with --format jsonl, csv, parquet or table");
}

#[test]
fn two_options_of_one_kind_are_refused_with_the_reason() {
    let sandbox = with_stories();
    for (metric, reason) in [
        ("bleu:intl+char", "\"intl\" and \"char\" exclude each other: both choose the tokeniser"),
        ("ter:tercom+cased", "\"tercom\" and \"cased\" exclude each other: "),
        ("cider-d:words+split", "\"words\" and \"split\" exclude each other: "),
        ("rouge:hanna+google", "\"hanna\" and \"google\" exclude each other: "),
        ("text-length:spacy+hanna", "\"spacy\" and \"hanna\" exclude each other: "),
    ] {
        let line = format!("score stories.jsonl --metric {metric}");
        nothing_half_written(&sandbox, &line, reason);
    }
    // Options of different kinds may stand in any order.
    let scores = |metric: &str| {
        let line = format!("score stories.jsonl --metric {metric} --format csv");
        let csv = sandbox.run(&line).succeeds().stdout().to_owned();
        csv.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(scores("bleu:intl+floor").len(), 4);
    assert_eq!(scores("bleu:intl+floor"), scores("bleu:floor+intl"));
}

#[test]
fn a_limit_must_be_a_number_for_a_score_that_is_there() {
    let sandbox = with_stories();
    let refused = |limit: &str, message: &str| {
        let line = format!("score stories.jsonl --metric bleu,ter --fail-under {limit}");
        nothing_half_written(&sandbox, &line, message);
    };
    refused("bleu=NaN", "--fail-under bleu=NaN: NaN is not a number");
    refused("bleu=high", "--fail-under bleu=high: high is not a number");
    refused("blue=20", "--fail-under blue=20: there is no score \"blue\"; did you mean \"bleu\"?");
    refused("20", "--fail-under 20: there are several scores, so name one: bleu=20");
}

#[test]
fn a_missed_limit_is_named_and_the_scores_are_still_written() {
    let sandbox = with_stories();
    let line = "score stories.jsonl --metric bleu,ter -o out.csv --fail-under bleu=20 \
                --fail-under ter=50";
    let run = sandbox.run(line);
    assert_eq!(run.code(), 1);
    assert!(run.stderr().contains("bleu is 18.6224, below the limit of 20\n"), "{}", run.stderr());
    assert!(run.stderr().contains("ter is 84.2105, above the limit of 50\n"), "{}", run.stderr());
    assert_eq!(sandbox.read("out.csv").lines().count(), 5);
}

#[test]
fn weights_that_are_missing_are_named_with_the_option_that_finds_them() {
    let sandbox = with_stories();
    nothing_half_written(
        &sandbox,
        "score stories.jsonl --metric meteor:hanna -o out.jsonl",
        "but no folder with them was named (name the folder or file with --weights meteor=PATH)",
    );
    nothing_half_written(
        &sandbox,
        "score stories.jsonl --metric meteor --weights meteor=nowhere -o out.jsonl",
        "nowhere: neither meteor-1.5.jar nor",
    );
    nothing_half_written(
        &sandbox,
        "score stories.jsonl --metric meteor --weights meteor",
        "\"meteor\" does not have the form NAME=DIR",
    );
}

#[test]
fn a_format_that_is_not_recognised_can_be_named() {
    let sandbox = with_stories();
    sandbox.write("stories.dat", "The storm came.\n");
    nothing_half_written(
        &sandbox,
        "score stories.dat --metric text-length",
        "stories.dat: the format cannot be recognised from the name or the content (name it with \
         --input-format, such as --input-format jsonl)",
    );
    sandbox.run("score stories.dat --input-format lines --metric text-length").succeeds();
}

#[test]
fn a_refusal_has_no_score_and_the_program_says_why() {
    let sandbox = Sandbox::new();
    let text = "I'm sorry, but I can't write this story.";
    let score = |options: &str| {
        let mut words = vec!["score", "--metric", "text-length", "--text", text];
        words.extend(options.split_whitespace());
        sandbox.run_arguments(&words).succeeds()
    };
    let run = score("");
    assert!(run.stdout().contains("absent"), "{}", run.stdout());
    assert!(run.stdout().contains("1 (100%)"), "{}", run.stdout());
    let note = "storymeter: the text has no score: it is a refusal (--keep-refusals scores such \
                texts)\n";
    assert!(run.stderr().contains(note), "{}", run.stderr());
    assert!(!score("--quiet").stderr().contains("refusal"));
    let kept = score("--keep-refusals");
    assert!(kept.stdout().contains("refusals:kept") && !kept.stdout().contains("absent"));
}

#[test]
fn what_surrounds_a_story_is_removed_and_counted() {
    let sandbox = Sandbox::new();
    let story = "Mira lost her red kite in the storm of that night. She looked for it in the barn \
                 and behind the house. Her brother found it on the roof, and they carried it home.";
    let line = |id: &str, text: &str| {
        format!("{}\n", serde_json::json!({"id": id, "system": id, "story": text}))
    };
    let chat = format!("Sure, here is your story:\n\n{story}");
    sandbox.write("in.jsonl", line("plain", story) + &line("chat", &chat));
    let score = "score in.jsonl --metric text-length";
    let run = sandbox.run(score).succeeds();
    let note = "storymeter: 1 of 2 texts begins with words to the user (--clean removes them)\n";
    assert!(run.stderr().contains(note), "{}", run.stderr());
    let run = sandbox.run(&format!("{score} --clean -o out.jsonl")).succeeds();
    let note = "storymeter: 1 of 2 texts was cleaned: removed were words to the user before the \
                story (1)\n";
    assert!(run.stderr().contains(note), "{}", run.stderr());
    let lines: Vec<serde_json::Value> =
        sandbox.read("out.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["scores"], lines[1]["scores"]);
    assert_eq!(lines[0]["words"], lines[1]["words"]);
    assert!(sandbox.read("out.jsonl.meta.json").contains("|clean:yes|"));
}
