//! Names that are paths into nested objects, and fields that are lists of texts.

use storymeter_core::Story;
use storymeter_core::read::{FieldNames, ReadOptions};

use crate::folder::{Folder, error, error_with, stories};

fn options(fields: FieldNames) -> ReadOptions {
    ReadOptions::default().with(|it| it.fields = fields)
}

fn named(story: &str) -> FieldNames {
    FieldNames::default().with(|it| it.story = Some(story.into()))
}

fn read(name: &str, content: &str, fields: FieldNames) -> Vec<Story> {
    Folder::with(name, content).read(&[name], &options(fields)).unwrap().0
}

const LINE: &str =
    r#"{"id": 1, "a": {"b": [{"c": "It opened."}, {"c": "It shut."}], "who": "atlas"}}"#;

#[test]
fn a_name_with_dots_is_a_path() {
    let fields = named("a.b.1.c").with(|it| it.system = Some("a.who".into()));
    for (name, content) in [("a.jsonl", format!("{LINE}\n")), ("a.json", format!("[{LINE}]"))] {
        let stories = read(name, &content, fields.clone());
        let found =
            (stories[0].id.as_str(), stories[0].system.as_deref(), stories[0].text.as_str());
        assert_eq!(found, ("1", Some("atlas"), "It shut."), "{name}");
    }
    // A field whose own name has dots comes first.
    let line = r#"{"a": {"b": "no"}, "a.b": "It opened."}"#;
    assert_eq!(read("a.jsonl", line, named("a.b"))[0].text, "It opened.");
    assert_eq!(read("a.jsonl", r#"{"a": {"b": "It"}}"#, named("a.b"))[0].text, "It");
    assert_eq!(read("a.csv", "a.b,c\nIt opened.,x\n", named("a.b"))[0].text, "It opened.");
    let fields = FieldNames::default().with(|it| it.prompt = Some("x.y".into()));
    assert_eq!(read("a.jsonl", r#"{"x": null, "story": "It"}"#, fields)[0].prompt, None);
}

#[test]
fn a_path_that_leads_nowhere_names_what_is_there() {
    let wrong = |path: &str| error_with("a.jsonl", LINE, &options(named(path)));
    assert_eq!(wrong("a.x.c"), "a.jsonl:1: a has no field \"x\"; its fields are: b, who");
    assert_eq!(wrong("a.b.5.c"), "a.jsonl:1: a.b has 2 values, so there is none at position 5");
    assert_eq!(
        wrong("a.who.c"),
        "a.jsonl:1: a.who is a text; an object with the field \"c\" is needed"
    );
    let message = wrong("a.b.0");
    assert!(message.starts_with("a.jsonl:1: field \"a.b.0\": "), "{message}");
}

#[test]
fn a_list_of_texts_is_several_stories_of_one_item() {
    let shown = |stories: &[Story]| -> Vec<String> {
        let shown = |story: &Story| format!("{} {} {}", story.id, story.item(), story.text);
        stories.iter().map(shown).collect()
    };
    let lines = "{\"id\": \"k\", \"story\": [\"A.\", \"B.\"], \"note\": [1]}\n{\"id\": \"m\", \"story\": \"C.\"}\n";
    let expected = ["k k A.", "k#2 k B.", "m m C."];
    assert_eq!(shown(&stories("a.jsonl", lines)), expected);
    let array = format!("[{}]", lines.trim_end().replace('\n', ","));
    assert_eq!(shown(&stories("a.json", &array)), expected);
    let nested = "{\"id\": \"k\", \"x\": {\"y\": [\"A.\", \"B.\"]}}\n{\"id\": \"m\", \"x\": {\"y\": \"C.\"}}\n";
    assert_eq!(shown(&read("a.jsonl", nested, named("x.y"))), expected);
    let tuples = "{\"id\": \"k\", \"x\": [[\"A.\", \"B.\"]]}\n";
    assert_eq!(shown(&read("a.jsonl", tuples, named("x.0"))), expected[..2]);
    // Without an id, the number of the first story stands for all of them.
    let lines = "{\"text\": \"Z.\"}\n{\"text\": [\"A.\", \"B.\"]}\n{\"text\": \"C.\"}\n";
    assert_eq!(shown(&stories("a.jsonl", lines)), ["0 0 Z.", "1 1 A.", "1#2 1 B.", "3 3 C."]);
    // A bracket in a text is no list.
    assert_eq!(stories("a.jsonl", "{\"story\": \"\\\"story\\\": [x]\"}\n").len(), 1);
}

#[test]
fn what_is_no_list_of_texts_is_an_error() {
    assert_eq!(
        error("a.jsonl", "{\"story\": [\"A.\", 7]}\n"),
        "a.jsonl:1: story[1] is a number; a text is needed"
    );
    assert_eq!(
        error("a.jsonl", "{\"story\": []}\n"),
        "a.jsonl:1: story is an empty list; a text, or a list of texts, is needed"
    );
    let many = format!("{{\"story\": [{}\"x\"]}}\n", "\"x\",".repeat(1000));
    assert_eq!(
        error("a.jsonl", many),
        "a.jsonl:1: story has 1001 values, but at most 1000 are read"
    );
}
