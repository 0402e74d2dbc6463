//! The examples in `docs/explain.md` are made from `docs/explain-texts.jsonl` with the embedded
//! model, and this test keeps them up to date.
//!
//! `STORYMETER_UPDATE=1 cargo test --release -p storymeter explain_page` writes them anew.
//! The comments on the examples are written by hand, in the field "comment" of the texts: read the
//! new explanations before you change them.

use std::fs;
use std::path::{Path, PathBuf};

use storymeter::Story;
use storymeter_core::Rationale;
use storymeter_text::kind::unlike_a_story;
use storymeter_union::UnionScorer;

const COMMAND: &str = "STORYMETER_UPDATE=1 cargo test --release -p storymeter explain_page";
const BEGIN: &str = "<!-- The examples begin here. To refresh them, run\n";
const END: &str = "<!-- The examples end here. -->\n";

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// A text of our own, and what we think of its explanation.
struct Example {
    title: String,
    text: String,
    comment: String,
}

fn examples() -> Vec<Example> {
    let content = fs::read_to_string(docs("explain-texts.jsonl")).expect("the texts are there");
    let example = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let field = |name: &str| value[name].as_str().expect("a field with text").to_owned();
        Example { title: field("id"), text: field("story"), comment: field("comment") }
    };
    content.lines().map(example).collect()
}

/// Breaks text at spaces into lines of at most 100 characters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > 100 {
            lines.push(word.to_owned());
        } else {
            let space = if last.is_empty() { "" } else { " " };
            last.push_str(&format!("{space}{word}"));
        }
    }
    lines.join("\n")
}

fn section() -> String {
    let scorer = UnionScorer::embedded().expect("the embedded model");
    let mut section = format!("{BEGIN}     {COMMAND} -->\n");
    for (number, example) in (1..).zip(examples()) {
        let story = Story { text: example.text, ..Story::default() };
        let explanation = scorer.explain(&story).expect("an explanation");
        if number == 1 {
            let legend: String = explanation.legend().into_iter().map(|span| span.text).collect();
            section.push_str(&format!("\n```text\n{}\n```\n", legend.trim_end()));
        }
        let shown: String = explanation.spans().into_iter().map(|span| span.text).collect();
        section.push_str(&format!(
            "\n### {number}. {}\n\n```text\n{}\n```\n\n{}\n",
            example.title,
            shown.trim_end(),
            wrapped(&example.comment)
        ));
    }
    section.push_str(&format!("\n{END}"));
    section
}

#[test]
fn the_examples_of_explanations_are_up_to_date() {
    let page = fs::read_to_string(docs("explain.md")).expect("the page is there");
    let start = page.find(BEGIN).expect("the page has a place for the examples");
    let end = page.find(END).expect("the examples have an end") + END.len();
    let expected = format!("{}{}{}", &page[..start], section(), &page[end..]);
    if std::env::var_os("STORYMETER_UPDATE").is_some_and(|value| value == "1") {
        fs::write(docs("explain.md"), &expected).expect("the page can be written");
    } else {
        assert!(page == expected, "docs/explain.md is out of date; refresh it with: {COMMAND}");
    }
}

/// Twenty texts of many kinds, each with a comment, and with a warning where the rules know one.
#[test]
fn there_are_twenty_examples_and_the_odd_ones_get_their_warning() {
    let examples = examples();
    assert_eq!(examples.len(), 20);
    assert!(examples.iter().all(|example| example.comment.len() > 20));
    for (title, kind) in
        [("A poem", "poem"), ("German", "German"), ("A shopping list", "list"), ("News", "news")]
    {
        let example = examples.iter().find(|example| example.title == title).expect("the example");
        let kinds: Vec<&str> =
            unlike_a_story(&example.text).iter().map(|kind| kind.name()).collect();
        assert_eq!(kinds, [kind], "{title}");
    }
}
