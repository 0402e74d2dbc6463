//! `score --against`, `compare`, `meta table` and `report` say the same about the same two systems.

use std::fmt::Write as _;

use crate::sandbox::Sandbox;

/// Two systems with a story for each of 60 prompts, and ratings. With `several`, every third prompt
/// has two more stories of one system.
fn with_stories(several: bool) -> Sandbox {
    let mut text = String::new();
    let mut number = 0;
    for item in 0..60 {
        for (at, system) in ["tale", "rain"].into_iter().enumerate() {
            let stories = if several && at == 0 && item % 3 == 0 { 3 } else { 1 };
            for story in 0..stories {
                let words = 3 + (item * 7 + at * 5 + story * 11) % 13 + 2 * (1 - at);
                let human = 1 + (item + at * 2 + story) % 5;
                number += 1;
                let _ = writeln!(
                    text,
                    "{{\"id\": \"s{number}\", \"system\": \"{system}\", \"item\": \"p{item}\", \
                     \"story\": \"{}\", \"reference\": \"It rained all night and day.\", \
                     \"human\": {{\"fun\": {human}}}}}",
                    "It rained all day. ".repeat(words).trim()
                );
            }
        }
    }
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", text);
    sandbox.run("score stories.jsonl --metric text-length -o scores.jsonl --quiet").succeeds();
    sandbox
}

/// What is said about `tale` and `rain`: the interval of the mean of `tale`, the difference of
/// `tale` from `rain`, the ends of its interval, and the p-value, raw and corrected.
type Said = [f64; 7];

fn numbers(cells: &[&str]) -> Vec<f64> {
    let bare = |cell: &&str| cell.trim_matches(['[', ']', ',', '+']).parse::<f64>().ok();
    cells.iter().filter_map(bare).collect()
}

/// From the line of `tale` in the table of `score --against rain`.
fn said_by_score(sandbox: &Sandbox, metric: &str) -> Said {
    let line = format!("score stories.jsonl --metric {metric} --against rain");
    let run = sandbox.run(&line).succeeds();
    let own = run.stdout().lines().find(|line| line.trim_start().starts_with("tale")).unwrap();
    let found = numbers(&own.split_whitespace().skip(3).collect::<Vec<_>>());
    found.try_into().unwrap_or_else(|_| panic!("{}", run.stdout()))
}

fn said_by_compare(sandbox: &Sandbox) -> Said {
    let run = sandbox.run("compare scores.jsonl --metric text-length --format json --quiet");
    let json: serde_json::Value = serde_json::from_str(run.succeeds().stdout()).unwrap();
    said_by(&json["comparisons"][0])
}

/// From the study, which `report` shows.
fn said_by_meta(sandbox: &Sandbox) -> Said {
    sandbox.run("meta table scores.jsonl -o study --quiet").succeeds();
    let study: serde_json::Value = serde_json::from_str(&sandbox.read("study/study.json")).unwrap();
    let findings = study["findings"].as_array().unwrap();
    let pairs = findings.iter().find_map(|one| one.get("system-pairs")).unwrap();
    let own = |one: &&serde_json::Value| one["column"]["key"] == "text-length";
    said_by(pairs.as_array().unwrap().iter().find(own).unwrap())
}

fn said_by(found: &serde_json::Value) -> Said {
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let tale = found["systems"].as_array().unwrap().iter().find(|one| one["name"] == "tale");
    let own = &tale.unwrap()["interval"];
    assert_eq!(found["pairs"][0]["first"], "tale", "the longer stories");
    let pair = &found["pairs"][0]["found"];
    [
        &own["low"],
        &own["high"],
        &pair["difference"],
        &pair["interval"]["low"],
        &pair["interval"]["high"],
        &pair["p_value"]["raw"],
        &pair["p_value"]["corrected"],
    ]
    .map(number)
}

fn assert_same(told: Said, wanted: Said, who: &str) {
    for (told, wanted) in told.into_iter().zip(wanted) {
        assert!((told - wanted).abs() <= 0.5001e-4, "{who}: {told} and {wanted}");
    }
}

/// A page has the numbers that the sheets have, with six digits each.
fn assert_page_has(sandbox: &Sandbox, page: &str, said: Said) {
    let html = sandbox.read(page);
    let six = |number: f64| {
        let decimals = (5.0 - number.abs().log10().floor()) as usize;
        format!("{number:.decimals$}").parse::<f64>().unwrap().to_string()
    };
    let [.., difference, low, high, p, corrected] = said.map(six);
    for numbers in [format!(",{difference},{low},{high},"), format!(",{p},{corrected}")] {
        assert!(html.contains(&numbers), "{page} has no {numbers}");
    }
}

#[test]
fn one_interval_and_one_p_value() {
    let sandbox = with_stories(false);
    let wanted = said_by_compare(&sandbox);
    assert!(wanted[5] > 0.0 && wanted[5] < 0.05 && wanted[5] == wanted[6], "{wanted:?}");
    assert_same(said_by_score(&sandbox, "text-length"), wanted, "score --against");
    assert_eq!(said_by_meta(&sandbox), wanted, "meta table");
    sandbox.run("report study -o study.html --quiet").succeeds();
    assert_page_has(&sandbox, "study.html", wanted);
    sandbox.run("report scores.jsonl -o scores.html --quiet").succeeds();
    assert_page_has(&sandbox, "scores.html", wanted);
    // The order of the stories is not part of the question.
    let backwards: Vec<String> =
        sandbox.read("stories.jsonl").lines().rev().map(str::to_owned).collect();
    sandbox.write("stories.jsonl", backwards.join("\n") + "\n");
    assert_same(said_by_score(&sandbox, "text-length"), wanted, "in another order");
}

#[test]
fn several_stories_of_one_item_are_one_observation_everywhere() {
    let sandbox = with_stories(true);
    let wanted = said_by_compare(&sandbox);
    assert_same(said_by_score(&sandbox, "text-length"), wanted, "score --against");
    assert_eq!(said_by_meta(&sandbox), wanted, "meta table");
    let run = sandbox.run("meta table scores.jsonl -o again").succeeds();
    assert!(
        run.stdout().contains("the mean of each system and item is analysed"),
        "{}",
        run.stdout()
    );
    sandbox.run("report scores.jsonl -o scores.html --quiet").succeeds();
    assert_page_has(&sandbox, "scores.html", wanted);
    // A corpus metric, whose rows are added up, has no score per story to compare.
    let [low, high, difference, from, to, p, corrected] = said_by_score(&sandbox, "bleu");
    assert!(low < high && from <= difference && difference <= to && p == corrected);
}

#[test]
fn tests_are_one_sided_on_request() {
    let sandbox = with_stories(false);
    let p = |options: &str| {
        let line = format!("score stories.jsonl --metric text-length --against rain {options}");
        let run = sandbox.run(&line).succeeds();
        let own = run.stdout().lines().find(|line| line.trim_start().starts_with("tale")).unwrap();
        own.split_whitespace().last().unwrap().parse::<f64>().unwrap()
    };
    let (two, one) = (p(""), p("--one-sided"));
    assert!(one < two, "{one} and {two}");
    let options = "--metric text-length --one-sided --format json --quiet";
    let run = sandbox.run(&format!("compare scores.jsonl {options}")).succeeds();
    let json: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    let compared =
        json["comparisons"][0]["pairs"][0]["found"]["p_value"]["corrected"].as_f64().unwrap();
    assert!((compared - one).abs() <= 0.5001e-4, "{compared} and {one}");
}
