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
    let fields = FieldNames::default().with(|it| it.story = Some("tale".into()));
    let options = ReadOptions::default().with(|it| it.fields = fields);
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
        "a.json:1: record 1: the lists have different lengths: \"story\" has 2 values, and \
         \"system\" has 1"
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
    let options = ReadOptions::default().with(|it| {
        it.skip_bad = true;
        it.max_line = 100;
    });
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
    let options = options.with(|it| it.skip_bad = false);
    assert_eq!(
        error_with("a.json", lists, &options),
        "a.json:1: record 1: the object has more than 800 bytes, and a story has at most 100; write \
         one object per story"
    );
    let endless = format!("[\"{}", "y".repeat(10_000));
    let message = error_with("a.json", endless, &options);
    assert!(message.contains("bytes and does not end"), "{message}");
}

#[test]
fn two_lists_of_stories_are_an_error_that_names_both() {
    for (document, lists) in [
        (r#"{"data": [{"story": "x"}], "stories": [{"story": "y"}]}"#, ["data", "stories"]),
        (r#"{"rows": [], "n": 1, "examples": [{"story": "y"}]}"#, ["rows", "examples"]),
        (r#"{"story": ["x"], "data": [{"story": "y"}]}"#, ["story", "data"]),
        (r#"{"data": [{"story": "y"}], "text": ["x"]}"#, ["data", "text"]),
    ] {
        let message = error("a.json", document);
        let [first, second] = lists;
        let said = format!("two lists of stories, \"{first}\" and \"{second}\"; keep one of them");
        assert!(message.starts_with("a.json:1: record "), "{message}");
        assert!(message.ends_with(&said), "{message}");
    }
    let about = r#"{"output": {"dir": "x"}, "data": [{"story": "y"}]}"#;
    assert_eq!(texts(&stories("a.json", about)), ["y"]);
}

#[test]
fn a_key_that_is_given_twice_is_an_error() {
    for (document, said) in [
        (
            "{\"data\": [\"x\"],\n\"data\": [\"y\"]}",
            ":2: record 2: the key \"data\" is given twice",
        ),
        (
            "{\"story\": [\"x\"],\n\"story\": [\"y\"]}",
            ":2: record 1: the key \"story\" is given twice",
        ),
        (
            r#"{"story": {"0": "x", "0": "y"}}"#,
            ":1: record 1: the key \"0\" of \"story\" is given twice",
        ),
        (
            r#"[{"text": "x", "text": "y"}]"#,
            ":1: field \"text\": record 1: wrong JSON: the field is given twice",
        ),
    ] {
        assert_eq!(error("a.json", document), format!("a.json{said}"));
    }
}

#[test]
fn objects_per_field_are_joined_by_key() {
    let read = stories(
        "a.json",
        r#"{"story": {"0": "A door.", "1": "A cat."}, "system": {"1": "N", "0": "M"},
            "human.fun": {"1": 5, "0": 4}}"#,
    );
    let systems: Vec<_> = read.iter().map(|story| story.system.as_deref()).collect();
    assert_eq!((texts(&read), systems), (vec!["A door.", "A cat."], vec![Some("M"), Some("N")]));
    assert_eq!(read[1].ratings.get("fun"), Some(&[Some(5.0)][..]));
    for (document, said) in [
        (
            r#"{"story": {"0": "x", "1": "y"}, "system": {"1": "N"}}"#,
            "\"system\" has no value of the key \"0\", which \"story\" has",
        ),
        (
            r#"{"system": {"1": "N"}, "story": {"1": "y", "2": "x"}}"#,
            "\"system\" has no value of the key \"2\", which \"story\" has",
        ),
        (
            r#"{"story": {"0": "x"}, "system": ["N"]}"#,
            "\"system\" is a list and \"story\" an object, so it is not clear which of their values \
             belong together",
        ),
    ] {
        assert_eq!(error("a.json", document), format!("a.json:1: record 1: {said}"));
    }
}
