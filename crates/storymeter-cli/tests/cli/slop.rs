//! `score --metric slop`: scores, located hits in the text, in JSONL and on the page of `report`,
//! and lists of the user.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Seven words with one phrase and one word of the list, behind letters of several bytes.
const STORY: &str = "Élodie’s dress was a tapestry of grief.";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let raw = format!("Sure, here is your story:\n\n{STORY}");
    let lines = [
        json!({"id": "plain", "system": "a", "story": STORY}),
        json!({"id": "chat", "system": "b", "story": raw}),
        json!({"id": "none", "system": "b", "story": "The dog ate the bread."}),
    ];
    sandbox.write("in.jsonl", lines.map(|line| format!("{line}\n")).concat());
    sandbox
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What stands at the places of the hits, in the text that comes with them.
fn located(explanation: &Value) -> Vec<&str> {
    let text = explanation["text"].as_str().expect("places come with their text");
    let hits = explanation["hits"].as_array().expect("hits").iter().map(|hit| {
        let place = |end: &str| hit[end].as_u64().unwrap() as usize;
        let part = text.get(place("start")..place("end")).expect("a place of the text");
        assert_eq!(hit["text"], part);
        part
    });
    hits.collect()
}

#[test]
fn stories_have_scores_by_kind_and_the_signature_names_the_list() {
    let sandbox = sandbox();
    let run = sandbox.run("score in.jsonl --metric slop -o out.jsonl").succeeds();
    for column in ["slop/score ↓", "slop/words ↓", "slop/phrases ↓", "slop/contrast ↓"] {
        assert!(run.stdout().contains(column), "{column}: {}", run.stdout());
    }
    assert!(run.stdout().contains("slop|list:1|hash:"), "{}", run.stdout());
    let scores = &lines(&sandbox.read("out.jsonl"))[0]["scores"];
    // Of seven words, one is on the list, and three others are one phrase.
    let close = |key: &str, expected: f64| {
        let score = scores[key].as_f64().unwrap();
        assert!((score - expected).abs() < 1e-9, "{key}: {score}");
    };
    close("slop/words", 1000.0 / 7.0);
    close("slop/phrases", 1000.0 / 7.0);
    close("slop/contrast", 0.0);
    close("slop/score", 900.0 / 7.0);
}

#[test]
fn every_hit_is_shown_in_the_text_and_located_in_json() {
    let sandbox = sandbox();
    let shown = sandbox.run("score in.jsonl --metric slop --explain").succeeds();
    assert!(shown.stdout().starts_with("How to read this: what stands in [brackets]"));
    let text = "  Élodie’s dress was [a tapestry of] [grief].\n";
    assert_eq!(shown.stdout().matches(text).count(), 2, "{}", shown.stdout());
    assert!(shown.stdout().contains("none: slop 0.0"), "{}", shown.stdout());
    sandbox.run("score in.jsonl --metric slop --explain -o out.jsonl").succeeds();
    let explained = lines(&sandbox.read("out.jsonl"));
    let hits = |at: usize| located(&explained[at]["explanation"]);
    assert_eq!(hits(0), ["a tapestry of", "grief"]);
    assert_eq!(hits(1), ["a tapestry of", "grief"]);
    assert_eq!(hits(2), [""; 0]);
    let first = &explained[0]["explanation"];
    assert_eq!(first["hits"][0]["kind"], "phrase");
    assert_eq!(first["hits"][1]["entry"], "grief");
    assert_eq!(first["slop"]["score"], explained[0]["scores"]["slop/score"]);
}

/// The places are those of the cleaned text, so that text is what the page shows, beside other
/// metrics and without them.
#[test]
fn hits_of_cleaned_stories_stay_with_their_text_up_to_the_page() {
    let sandbox = sandbox();
    for metrics in ["slop", "slop,criteria", "union,slop"] {
        let score = format!("score in.jsonl -m {metrics} --clean --explain -o out.jsonl --quiet");
        sandbox.run(&score).succeeds();
        let page = "report out.jsonl --stories in.jsonl -o page.html";
        sandbox.run(page).succeeds();
        let data = data_of(&sandbox.read("page.html"));
        let row = data["stories"]["ids"].as_array().unwrap().iter().position(|id| id == "chat");
        let entry = &data["stories"]["texts"][row.expect("the story").to_string()];
        assert!(entry["text"].as_str().unwrap().starts_with("Sure"), "{metrics}: {entry}");
        assert_eq!(entry["explanation"]["text"], STORY, "{metrics}");
        assert_eq!(located(&entry["explanation"]), ["a tapestry of", "grief"], "{metrics}");
        std::fs::remove_file(sandbox.path("out.jsonl")).unwrap();
        std::fs::remove_file(sandbox.path("page.html")).unwrap();
    }
}

/// The data that a page carries.
fn data_of(page: &str) -> Value {
    let start = page.find("<script type=\"application/json\"").expect("the page has data");
    let start = start + page[start..].find('>').unwrap() + 1;
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

#[test]
fn a_list_of_ones_own_counts_alone_and_its_hash_is_in_the_signature() {
    let sandbox = sandbox();
    sandbox.write("mine.txt", "# mine\ndog\n, and\n");
    let own = "score in.jsonl --metric slop:own --weights slop=mine.txt --explain";
    let first = sandbox.run(&format!("{own} -o first.jsonl")).succeeds();
    let explained = lines(&sandbox.read("first.jsonl"));
    assert_eq!(located(&explained[0]["explanation"]), [""; 0]);
    assert_eq!(located(&explained[2]["explanation"]), ["dog"]);
    assert_eq!(explained[2]["scores"]["slop:own/words"], 200.0);
    let hash = |text: &str| {
        let at = text.find("slop|list:own|hash:").expect("a signature") + 19;
        text[at..at + 8].to_owned()
    };
    sandbox.write("mine.txt", "# mine\ndog\nbread\n");
    let second = sandbox.run(&format!("{own} -o second.jsonl")).succeeds();
    assert_ne!(hash(first.stdout()), hash(second.stdout()));
    sandbox.run("score in.jsonl --metric slop:own").fails_with("--weights slop=");
    sandbox.run("score in.jsonl --metric slop:mine.txt").fails_with("own");
}

#[test]
fn standard_output_has_csv_or_explanations_and_not_both() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", "{\"id\": \"a\", \"story\": \"Rain fell all night.\"}\n");
    let line = "score in.jsonl --metric slop --explain --format csv";
    let run = sandbox.run(line).fails_with("CSV has no explanations");
    assert_eq!(run.stdout(), "");
    let run = sandbox.run(&format!("{line} -o out.csv")).succeeds();
    assert!(run.stdout().contains("How to read this"), "{}", run.stdout());
    assert!(sandbox.read("out.csv").starts_with("id,system,item,"));
}
