//! JSON that is not one object per line.

use storymeter_core::Story;
use storymeter_core::read::{FieldNames, Format, ReadOptions};

use crate::folder::{Folder, error, error_with, stories, stories_as};

fn texts(stories: &[Story]) -> Vec<&str> {
    stories.iter().map(|story| story.text.as_str()).collect()
}

const TWO: &str = r#"{"id": "a", "model": "M", "text": "A door \"opened\"."},
                     {"id": "b", "model": "N", "text": "A {cat] came in.\\"}"#;

#[test]
fn the_same_stories_come_from_every_shape() {
    let lines = TWO.replace("},\n", "}\n");
    let expected = stories("a.jsonl", &lines);
    assert_eq!(texts(&expected), ["A door \"opened\".", "A {cat] came in.\\"]);
    let pretty = TWO.replace(", ", ",\n  ").replace("{\"id\"", "{\n\"id\"");
    for document in [
        format!("[{TWO}]"),
        format!("\u{feff}\n [ {pretty} ]\n"),
        format!("{{\"version\": 1, \"data\": [{TWO}], \"more\": {{\"data\": [1]}}}}"),
        format!("{{\n\"stories\": [\n{TWO}\n]\n}}\n"),
        format!("{{\"rows\": [{TWO}]}}"),
        format!("{{\"examples\": [{TWO}]}}"),
        r#"{"id": ["a", "b"], "model": ["M", "N"], "note": [1],
            "text": ["A door \"opened\".", "A {cat] came in.\\"]}"#
            .to_owned(),
        r#"{"id":{"0":"a","1":"b"},"model":{"0":"M","1":"N"},
            "text":{"0":"A door \"opened\".","1":"A {cat] came in.\\"}}"#
            .to_owned(),
    ] {
        assert_eq!(stories("a.json", &document), expected, "{document}");
        assert_eq!(stories("-stories", &document), expected, "{document}");
        assert_eq!(stories_as(Format::Json, "a.dat", &document), expected, "{document}");
    }
    // Objects that span lines, one after the other, as jq prints them.
    let printed = lines.replace("{\"id\"", "{\n \"id\"");
    assert_eq!(stories("a.json", &printed), expected);
    assert_eq!(stories("a.jsonl", &printed), expected);
}

#[test]
fn an_array_of_texts_is_an_array_of_stories() {
    let read = stories("a.json", r#"["A door opened.", "A cat\ncame in."]"#);
    assert_eq!(texts(&read), ["A door opened.", "A cat\ncame in."]);
    assert_eq!(read[1].id, "1");
    assert_eq!(texts(&stories("a.json", r#"{"data": ["A door opened."]}"#)), ["A door opened."]);
}

#[test]
fn a_value_beside_lists_is_for_all_stories() {
    let read = stories("a.json", r#"{"system": "M", "story": ["A door.", "A cat."]}"#);
    let systems: Vec<_> = read.iter().map(|story| story.system.as_deref()).collect();
    assert_eq!(systems, [Some("M"), Some("M")]);
}

#[test]
fn lists_of_other_names_are_found_if_they_are_given() {
    let fields = FieldNames { story: Some("tale".into()), ..FieldNames::default() };
    let options = ReadOptions { fields, ..ReadOptions::default() };
    let folder = Folder::with("a.json", r#"{"tale": ["A door.", "A cat."]}"#);
    assert_eq!(texts(&folder.read(&["a.json"], &options).unwrap().0), ["A door.", "A cat."]);
}

#[test]
fn one_object_is_one_story() {
    let read = stories("a.json", "{\n  \"story\": \"A door.\",\n  \"data\": [1, 2]\n}\n");
    assert_eq!(texts(&read), ["A door."]);
    assert_eq!(texts(&stories("a.json", r#"{"story": "A door.", "data": [1]}"#)), ["A door."]);
}

#[test]
fn errors_have_the_line_and_the_number_of_the_record() {
    assert_eq!(
        error("a.json", "[\n{\"story\": \"x\"},\n{\n\"story\": 3}\n]"),
        "a.json:4: field \"story\": record 2: wrong JSON: invalid type: integer `3`, expected a \
         string"
    );
    assert_eq!(
        error("a.json", "[{\"story\": \"x\"},\n7]"),
        "a.json:2: record 2: the record is neither an object nor a text in quotes"
    );
    assert_eq!(
        error("a.json", "[{\"story\": \"x\"}\n{\"story\": \"y\"}]"),
        "a.json:2: record 2: wrong JSON: a comma or ] is expected here, not \"{\"; nothing after it \
         can be read"
    );
    assert_eq!(
        error("a.json", "[{\"story\": \"x\"},\n{\"story\": \"y\""),
        "a.json:2: record 2: the JSON ends here too early: the file is incomplete"
    );
    assert_eq!(
        error("a.json", "{\"story\": [\"x\", \"y\"], \"system\": [\"M\"]}"),
        "a.json:1: record 2: the lists have different lengths: \"system\" ends after 1 values, and \
         others go on"
    );
    let message = error("a.json", "[{\"tale\": \"x\"}]");
    assert!(message.starts_with("a.json:1: there is no field \"story\" (or"), "{message}");
    assert!(message.ends_with("the fields are: tale"), "{message}");
    assert_eq!(
        error("a.json", "[{\"id\": 1, \"story\": \"x\"}, {\"id\": 1, \"story\": \"y\"}]"),
        "a.json:1: duplicate id \"1\": an earlier record on the same line has it"
    );
}

#[test]
fn a_bad_record_can_be_skipped_and_a_large_one_is_not_held() {
    let options = ReadOptions { skip_bad: true, max_line: 100, ..ReadOptions::default() };
    let long = "y".repeat(5000);
    let content =
        format!("[{{\"story\": \"x\"}}, {{\"story\": \"{long}\"}}, 3, {{\"text\": \"z\"}}]");
    let folder = Folder::with("a.json", content);
    let (read, skipped) = folder.read(&["a.json"], &options).unwrap();
    assert_eq!((texts(&read), skipped.count), (vec!["x", "z"], 2));
    assert_eq!(
        folder.shown(&skipped.messages[0]),
        "a.json:1: record 2: the record has 5013 bytes, but at most 100 are read"
    );
    let lists = format!("{{\"story\": [\"{long}\"]}}");
    let options = ReadOptions { skip_bad: false, ..options };
    assert_eq!(
        error_with("a.json", lists, &options),
        "a.json:1: record 1: the object has more than 800 bytes, and a story has at most 100; write \
         one object per story"
    );
    let endless = format!("[\"{}", "y".repeat(10_000));
    let message = error_with("a.json", endless, &options);
    assert!(message.contains("bytes and does not end"), "{message}");
}
