//! `storymeter compare`.

use std::fmt::Write as _;

use crate::sandbox::{Sandbox, repository};

/// Scores that look random and are the same for ever, from 0 to 1.
fn noise(number: usize) -> f64 {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 11) as f64 / (1u64 << 53) as f64 * 1000.0).round() / 1000.0
}

const SYSTEMS: [(&str, f64); 3] = [("gpt", 0.35), ("llama", 0.10), ("bart", 0.08)];

/// The union score and the text length of a story.
fn story(system: usize, item: usize) -> (f64, usize) {
    let score = SYSTEMS[system].1 + 0.3 * noise(item) + 0.3 * noise(1000 * (system + 1) + item);
    ((score * 1e4).round() / 1e4, 40 + (100.0 * noise(5000 + item * 7 + system)) as usize)
}

/// One line of scores per story; without a system where one file is one system.
fn jsonl(system: usize, items: usize, named: bool) -> String {
    let mut text = String::new();
    for item in 0..items {
        let (union, length) = story(system, item);
        let name =
            if named { format!("\"system\": \"{}\", ", SYSTEMS[system].0) } else { "".into() };
        let scores = format!("{{\"union\": {union}, \"text-length\": {length}}}");
        let _ = writeln!(text, "{{\"id\": \"p{item}\", {name}\"scores\": {scores}}}");
    }
    text
}

fn with_scores(items: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let all: String = (0..3).map(|system| jsonl(system, items, true)).collect();
    sandbox.write("scores.jsonl", all);
    sandbox
}

#[test]
fn the_conclusion_comes_first_then_the_ranking_and_the_pairs() {
    let run = with_scores(48).run("compare scores.jsonl --metric union").succeeds();
    insta::assert_snapshot!(run.stdout());
    assert!(run.stderr().contains("scores.jsonl has no header"), "{}", run.stderr());
    let page = std::fs::read_to_string(repository("docs/compare.md")).unwrap();
    assert!(page.contains(run.stdout()), "docs/compare.md shows this: {}", run.stdout());
}

#[test]
fn several_metrics_have_a_conclusion_each_and_a_table_of_means() {
    let run = with_scores(48).run("compare scores.jsonl --show means --quiet").succeeds();
    insta::assert_snapshot!(run.stdout());
    assert_eq!(run.stderr(), "");
}

#[test]
fn markdown_and_latex_are_ready_to_paste() {
    let sandbox = with_scores(48);
    let run = sandbox.run("compare scores.jsonl --metric union --format markdown").succeeds();
    insta::assert_snapshot!("markdown", run.stdout());
    sandbox
        .run("compare scores.jsonl --metric union --format latex --show systems -o table.tex")
        .succeeds();
    insta::assert_snapshot!("latex", sandbox.read("table.tex"));
}

#[test]
fn json_and_csv_have_full_precision() {
    let sandbox = with_scores(48);
    let run = sandbox.run("compare scores.jsonl --metric union --format json").succeeds();
    let json: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    let found = &json["comparisons"][0];
    assert_eq!(found["systems"][0]["name"], "gpt");
    assert_eq!(found["systems"][0]["stories"], 48);
    assert_eq!(found["pairs"][0]["design"]["paired"]["items"], 48);
    assert_eq!(found["method"]["resamples"], 9999);
    assert!(found["conclusion"].as_str().unwrap().starts_with("gpt is better than both others"));
    let mean: f64 = (0..48).map(|item| story(0, item).0).sum::<f64>() / 48.0;
    assert!((found["systems"][0]["mean"].as_f64().unwrap() - mean).abs() < 1e-12);

    let csv = sandbox.run("compare scores.jsonl --format csv").succeeds();
    let lines: Vec<&str> = csv.stdout().lines().collect();
    assert_eq!(
        lines[0],
        "metric,rank,system,stories,absent,mean,low,high,sd,better_than,worse_than,group"
    );
    assert_eq!(lines.len(), 7, "two metrics and three systems");
    let pairs = sandbox.run("compare scores.jsonl --format csv --show pairs").succeeds();
    assert!(pairs.stdout().starts_with("metric,first,second,test,n_first,n_second,difference,"));
    let jsonl = sandbox.run("compare scores.jsonl --format jsonl").succeeds();
    assert_eq!(jsonl.stdout().lines().count(), 2, "one line per metric");
}

#[test]
fn files_without_systems_are_systems_named_after_the_files() {
    let sandbox = Sandbox::new();
    for (system, (name, _)) in SYSTEMS.iter().enumerate() {
        sandbox.write(&format!("{name}.jsonl"), jsonl(system, 48, false));
    }
    let apart = sandbox.run("compare gpt.jsonl llama.jsonl bart.jsonl --metric union").succeeds();
    let together = with_scores(48).run("compare scores.jsonl --metric union").succeeds();
    assert_eq!(apart.stdout(), together.stdout());
    let told = apart.stderr();
    assert!(
        told.contains("gpt.jsonl names no system: its 48 stories are taken as the system \"gpt\""),
        "{told}"
    );
}

#[test]
fn the_same_scores_give_the_same_bytes_on_any_number_of_threads() {
    let sandbox = with_scores(30);
    let run = |threads: usize| {
        sandbox.run(&format!("compare scores.jsonl --format json --threads {threads}")).succeeds()
    };
    assert_eq!(run(1).stdout(), run(4).stdout());
}

#[test]
fn unknown_names_fail_with_the_nearest_known_one() {
    let sandbox = with_scores(6);
    let fails = |extra: &str, message: &str| {
        sandbox.run(&format!("compare scores.jsonl {extra}")).fails_with(message);
    };
    fails("--metric unoin", "there is no column \"unoin\"; did you mean \"union\"?");
    fails("--against gtp", "there is no system \"gtp\"; did you mean \"gpt\"?");
    fails("--without lama", "there is no system \"lama\"; did you mean \"llama\"?");
    fails("--lower text-lenght", "did you mean \"text-length\"?");
    fails("--higher unio", "did you mean \"union\"?");
    fails("--show pair", "'pairs'");
    fails("--format latx", "'latex'");
    fails("--correction hol", "'holm'");
    fails("--confidence 2", "strictly between 0 and 1");
    sandbox.run("compare nothing.jsonl").fails_with("nothing.jsonl");
}

#[test]
fn the_scores_are_never_overwritten() {
    let sandbox = with_scores(6);
    let before = sandbox.read("scores.jsonl");
    sandbox.run("compare scores.jsonl -o scores.jsonl").fails_with("this is also the input");
    assert_eq!(sandbox.read("scores.jsonl"), before);
}

#[test]
fn too_few_stories_and_no_difference_are_said() {
    let sandbox = with_scores(4);
    sandbox.run("compare scores.jsonl --metric union --without bart").succeeds().prints(
        "Warning: gpt and llama have 4 stories to compare: with fewer than 6, no difference",
    );
    let flat = sandbox.read("scores.jsonl");
    let flat = flat.lines().map(|line| {
        let (start, _) = line.split_once("\"scores\"").unwrap();
        format!("{start}\"scores\": {{\"union\": 0.5}}}}\n")
    });
    sandbox.write("flat.jsonl", flat.collect::<String>());
    sandbox
        .run("compare flat.jsonl")
        .succeeds()
        .prints("No difference was found between the 3 systems by union: all values are equal.");
}

#[test]
fn hostile_names_are_only_text_in_every_format() {
    let sandbox = Sandbox::new();
    let line = |system: &str, id: usize, score: f64| {
        format!("{{\"id\": {id}, \"system\": {system}, \"scores\": {{\"union\": {score}}}}}\n")
    };
    let hostile = r#""\u001b[2J|a_b & 50% {c} #$~^\\ <i>*x*""#;
    let lines = (0..6).map(|i| line(hostile, i, 0.1 * i as f64) + &line("\"b\"", i, 0.2));
    sandbox.write("scores.jsonl", lines.collect::<String>());
    for format in ["table", "markdown", "latex"] {
        let run = sandbox.run(&format!("compare scores.jsonl --format {format}")).succeeds();
        assert!(!run.stdout().contains('\u{1b}'), "{format}: {:?}", run.stdout());
        if format == "markdown" {
            assert!(run.stdout().contains(r"\|a\_b & 50%"), "{}", run.stdout());
        }
        if format == "latex" {
            let body = run.stdout().lines().filter(|line| !line.starts_with('%'));
            let body = body.collect::<Vec<_>>().join("\n");
            assert!(body.contains(r"$|$a\_b \& 50\% \{c\} \#\$\textasciitilde{}"), "{body}");
        }
    }
}

#[test]
fn human_ratings_can_be_compared_like_a_metric() {
    let sandbox = Sandbox::new();
    let line = |system: &str, id: usize, fun: usize| {
        format!("{{\"id\": {id}, \"system\": \"{system}\", \"human\": {{\"fun\": [{fun}, 3]}}}}\n")
    };
    let lines = (0..12).map(|i| line("gpt", i, 4 + i % 2) + &line("bart", i, 1 + i % 3));
    sandbox.write("rated.jsonl", lines.collect::<String>());
    sandbox
        .run("compare rated.jsonl --metric fun")
        .succeeds()
        .prints("gpt is better than bart by fun (p < 0.001) with 12 stories each.");
}

#[test]
fn csv_has_the_tables_that_were_asked_for() {
    let sandbox = with_scores(12);
    let means = sandbox.run("compare scores.jsonl --format csv --show means").succeeds();
    let lines: Vec<&str> = means.stdout().lines().collect();
    assert_eq!(lines[0], "system,union,text-length");
    let mean: f64 = (0..12).map(|item| story(0, item).0).sum::<f64>() / 12.0;
    let found: f64 = lines[1].split(',').nth(1).unwrap().parse().unwrap();
    assert!(lines[1].starts_with("gpt,") && (found - mean).abs() < 1e-12, "{}", lines[1]);
    assert_eq!(lines.len(), 4);

    let both = sandbox.run("compare scores.jsonl --format csv --show systems,pairs").succeeds();
    assert!(both.stdout().starts_with("sheet,row,column,value\n"), "{}", both.stdout());
    assert!(both.stdout().contains("\nsystems,1,system,gpt\n"), "{}", both.stdout());
    assert!(both.stdout().contains("\npairs,1,first,gpt\n"), "{}", both.stdout());
    let one = sandbox.run("compare scores.jsonl --metric union --format csv --show means");
    assert!(one.succeeds().stdout().starts_with("system,union\ngpt,"));
}

#[test]
fn wide_characters_are_aligned() {
    use unicode_width::UnicodeWidthStr as _;
    let sandbox = Sandbox::new();
    let names = ["雨の物語", "snow", "이야기"];
    let all: String = (0..3)
        .map(|system| jsonl(system, 12, true).replace(SYSTEMS[system].0, names[system]))
        .collect();
    sandbox.write("scores.jsonl", all);
    let run = sandbox.run("compare scores.jsonl --metric union --show systems").succeeds();
    let rows = run.stdout().lines().skip_while(|line| !line.contains("rank"));
    // Up to the end of the column after the names.
    let end = |line: &str| match (line.split_once("stories"), line.split_once(" 12 ")) {
        (Some((before, _)), _) => before.width() + "stories".len(),
        (None, Some((before, _))) => before.width() + " 12".len(),
        _ => 0,
    };
    let widths: Vec<usize> = rows.take(4).map(end).collect();
    assert_eq!(widths, [widths[0]; 4], "{}", run.stdout());
}

#[test]
fn a_parquet_file_is_named_like_any_other() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", "{\"story\": \"Rain fell.\"}\n{\"story\": \"Snow fell.\"}\n");
    for output in ["gpt.parquet", "llama.jsonl"] {
        sandbox.run(&format!("score stories.jsonl --metric text-length -o {output}")).succeeds();
    }
    let run = sandbox.run("compare gpt.parquet llama.jsonl --format csv").succeeds();
    assert!(run.stdout().contains(",gpt,2,"), "{}", run.stdout());
    assert!(!run.stdout().contains("parquet"), "{}", run.stdout());
}

#[test]
fn a_file_without_scores_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("ids.jsonl", "{\"id\": 1, \"system\": \"a\"}\n{\"id\": 2, \"system\": \"b\"}\n");
    sandbox.run("compare ids.jsonl").fails_with("ids.jsonl: there is no metric");
}

#[test]
fn an_error_about_a_value_names_the_file_that_has_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", "id,system,union\n1,rain,0.5\n1,tale,0.25\n");
    sandbox.write("b.csv", "id,system,bleu\n7,rain,1\n8,rain,2\n1,tale,1e80\n");
    sandbox.run("compare a.csv b.csv").fails_with("b.csv:4: field \"bleu\": 1e80 is too large");
}

/// Four systems with stories of 54 to 1,476 words and chat habits: union prefers the shortest
/// stories, and seven criteria the longest. The words stand in a column.
fn chat_habits() -> Sandbox {
    let systems = [
        ("gpt2-small", 54.0, 0.8),
        ("gpt2-large", 160.0, 0.5),
        ("llama", 610.0, 0.4),
        ("gpt-4", 1476.0, 0.3),
    ];
    let sandbox = Sandbox::new();
    let mut text = String::new();
    for (at, (system, words, union)) in systems.iter().enumerate() {
        for item in 0..30 {
            let seed = 1000 * at + item;
            let length = (words * (0.7 + 0.6 * noise(seed))).round();
            let flags = if at == 0 && item % 3 == 0 { "\"preamble\"" } else { "" };
            let criteria: String = (1..8)
                .map(|one| {
                    let score = 0.9 - union + 0.1 * noise(seed + 10_000 * one);
                    format!(", \"criteria/criterion-{one}\": {score:.4}")
                })
                .collect();
            let _ = writeln!(
                text,
                "{{\"id\": \"{item}\", \"system\": \"{system}\", \"words\": {length}, \
                 \"flags\": [{flags}], \"scores\": {{\"union\": {:.4}, \"text-length\": {length}{criteria}}}}}",
                union + 0.1 * noise(seed)
            );
        }
    }
    sandbox.write("scores.jsonl", text);
    sandbox
}

#[test]
fn four_systems_of_other_lengths_and_habits_have_no_winner() {
    let sandbox = chat_habits();
    let run = sandbox.run("compare scores.jsonl --show leaders --quiet").succeeds();
    let said = run.stdout();
    assert!(said.starts_with(
        "No clear winner: gpt2-small leads by union; gpt-4 leads by all 7 criteria.\n\
         The systems write stories of different lengths"
    ));
    assert!(!said.contains("better than all"), "{said}");
    insta::assert_snapshot!("chat_habits", said);
    // Even the one metric that prefers it makes no winner of the shortest stories.
    let run = sandbox.run("compare scores.jsonl --metric union --quiet").succeeds();
    assert!(run.stdout().starts_with("No clear winner by union: gpt2-small has the best mean"));
    assert!(!run.stdout().contains("better than all"), "{}", run.stdout());
    let run = sandbox.run("compare scores.jsonl --format json").succeeds();
    let json: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    let verdict = &json["verdict"];
    assert_eq!(verdict["outcome"], "no-clear-winner");
    assert!(verdict["sentences"]["headline"].as_str().unwrap().starts_with("No clear winner"));
    assert_eq!(verdict["systems"][3]["name"], "gpt-4");
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 9);
}

/// 20 stories of 66 words by each of two systems, of which the first 6 are changed.
fn stories(change: impl Fn(String) -> String) -> String {
    let mut lines = String::new();
    for at in 0..40 {
        let day = format!("On day {at} the old boat came home at dusk with empty nets.");
        let story = [day.as_str(); 5].join(" ");
        let story = if at < 6 { change(story) } else { story };
        let system = if at % 2 == 0 { "rain" } else { "tale" };
        let line = serde_json::json!({"id": at / 2, "system": system, "story": story});
        let _ = writeln!(lines, "{line}");
    }
    lines
}

#[test]
fn score_compare_and_the_page_say_the_same_of_trust() {
    let sandbox = Sandbox::new();
    sandbox.write("cut.jsonl", stories(|story| story[..story.len() - 12].to_owned()));
    sandbox
        .write("preamble.jsonl", stories(|story| format!("Sure, here is your story:\n\n{story}")));
    // Lines of `score` are wrapped.
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let card = "columns of slop: how often words, phrases or contrasts come that language models";
    let warning = "Here, 15% of the texts begin with words to the user.";
    for (name, is_warned) in [("cut", false), ("preamble", true)] {
        let score = format!("score {name}.jsonl --metric slop -o {name}-scores.jsonl");
        sandbox.run(&score).succeeds();
        let printed = sandbox.run(&format!("score {name}.jsonl --metric slop")).succeeds();
        let compared = sandbox.run(&format!("compare {name}-scores.jsonl")).succeeds();
        sandbox.run(&format!("report {name}-scores.jsonl -o {name}.html")).succeeds();
        let (printed, compared) = (flat(printed.stdout()), flat(compared.stdout()));
        let page = sandbox.read(&format!("{name}.html"));
        for text in [&printed, &compared, &page] {
            let at = text.find(card).unwrap_or_else(|| panic!("{name}: {text}"));
            let is_warning = text[..at].ends_with("Warning: all 4 ");
            assert_eq!(is_warning, is_warned, "{name}: {text}");
            assert_eq!(text.contains(warning), is_warned, "{name}: {text}");
        }
    }
    // With --quiet, one line remains of it.
    let quiet = sandbox.run("compare preamble-scores.jsonl --quiet").succeeds();
    let last = quiet.stdout().lines().last().unwrap_or_default();
    assert_eq!(
        last,
        "Warning: many of these stories are unlike those on which all 4 columns of slop were tested."
    );
    let plain = sandbox.run("compare cut-scores.jsonl --quiet").succeeds();
    let last = plain.stdout().lines().last().unwrap_or_default();
    assert!(last.ends_with("only tested on some kinds of story, and may be wrong on others."));
}

#[test]
fn tables_of_studies_say_how_far_to_trust_trained_columns() {
    let sandbox = Sandbox::new();
    let rated: String = stories(|story| story)
        .lines()
        .enumerate()
        .map(|(at, line)| {
            let rating = at * 7 % 5;
            format!("{}, \"human\": {{\"plot\": {rating}}}}}\n", line.trim_end_matches('}'))
        })
        .collect();
    sandbox.write("rated.jsonl", rated);
    sandbox.run("score rated.jsonl --metric slop,text-length -o scores.jsonl").succeeds();
    let card = "tested on English stories by models of 2023 to 2026 and by people, 50 to 1,500";
    for command in [
        "meta table scores.jsonl --stories rated.jsonl --draws 50 --resamples 50",
        "correlate --human rated.jsonl --scores slop=scores.jsonl#slop/score",
    ] {
        let full = sandbox.run(command).succeeds();
        assert!(full.stdout().contains(card), "{}", full.stdout());
        let quiet = sandbox.run(&format!("{command} --quiet")).succeeds();
        assert!(!quiet.stdout().contains(card), "{}", quiet.stdout());
        let last = quiet.stdout().lines().last().unwrap_or_default();
        assert!(last.ends_with("only tested on some kinds of story, and may be wrong on others."));
        let json = sandbox.run(&format!("{command} --format json")).succeeds();
        assert!(!json.stdout().contains(card));
    }
}
