//! OpenMEVA's rated stories, in its layout and with our own texts.

use std::time::{Duration, Instant};

use storymeter_core::read::{Format, ReadOptions, from_reader, open};
use storymeter_core::{Ratings, Story};

use crate::folder::{Folder, error, error_with, gzip, stories, stories_as};

/// Two items of two models.
const TWO: &str = r#"{
  "12": {
    "prompt": "Mara found a key.",
    "gold_response": "It opened the old clock.",
    "gen": {
      "s2s": {"text": "She ate the key.", "score": [1, 2, 1, null, 2]},
      "gpt": {"text": "The key was cold.", "score": [4, 5, 4, 4, 3.5]}
    }
  },
  "40": {
    "prompt": "Theo built a kite.",
    "gold_response": "The wind took it.",
    "gen": {
      "s2s": {"text": "Theo built a kite.", "score": [2]},
      "gpt": {"text": "It flew over the roof.", "score": 5}
    }
  }
}
"#;

fn criteria(ratings: &Ratings) -> Vec<(&str, Vec<Option<f64>>)> {
    ratings.iter().map(|(name, values)| (name, values.to_vec())).collect()
}

#[test]
fn every_generated_text_is_a_story_of_its_model() {
    let read = stories("mags_roc.json", TWO);
    let mut ratings = Ratings::new();
    for score in [Some(1.0), Some(2.0), Some(1.0), None, Some(2.0)] {
        ratings.push("human", score);
    }
    let first = Story {
        id: "12".into(),
        system: Some("s2s".into()),
        item: Some("12".into()),
        prompt: Some("Mara found a key.".into()),
        text: "She ate the key.".into(),
        references: vec!["It opened the old clock.".into()],
        ratings,
        ..Story::default()
    };
    assert_eq!(read[0], first);
    let shown = |story: &Story| {
        let mean = story.ratings.mean("human").unwrap();
        format!("{} {} {mean}", story.id, story.system.as_deref().unwrap())
    };
    let shown: Vec<String> = read.iter().map(shown).collect();
    assert_eq!(shown, ["12 s2s 1.5", "12 gpt 4.1", "40 s2s 2", "40 gpt 5"]);
}

#[test]
fn the_layout_is_found_from_the_content() {
    let one_line = TWO.replace('\n', " ");
    let long = format!("{{\"7\": {{\"prompt\": \"{}\", \"gen\": {{}}}}}}", "x".repeat(1 << 17));
    for (name, content) in
        [("a.json", TWO), ("a.txt", TWO), ("a", &one_line), ("a.json", &long), ("a.jsonl", TWO)]
    {
        let found =
            Format::detect(name.as_ref(), &content.as_bytes()[..content.len().min(1 << 16)]);
        assert_eq!(found, Some(Format::Mags), "{name}");
    }
    for other in [
        r#"{"story": "A door.", "more": {"gen": {"a": 1}}}"#,
        r#"{"more": {"gen": {"a": 1}}, "story": "A door."}"#,
        r#"{"text": {"0": "A door.", "1": "A cat."}, "prompt": {"0": "x", "1": "y"}}"#,
        r#"{"data": [{"gen": {"a": 1}}]}"#,
        r#"{"7": {"gen": "A door."}}"#,
        r#"{"7": {"prompt": "x"}}"#,
        "{}",
    ] {
        assert_ne!(
            Format::detect("a.json".as_ref(), other.as_bytes()),
            Some(Format::Mags),
            "{other}"
        );
    }
    assert_eq!(stories_as(Format::Mags, "a.dat", TWO).len(), 4);
    assert_eq!(stories("a.json.gz", gzip(TWO.as_bytes())).len(), 4);
}

#[test]
fn what_may_be_missing_may_be_missing() {
    let read = stories(
        "a.json",
        r#"{"a": {"gen": [{"model": "m", "text": "A door.", "score": null, "length": 2},
                          {"system": 7, "text": "A cat.", "scores": []}], "topic": {"gen": 1}},
            "b": {"prompt": null, "gold_response": ["One.", "Two."], "gen": {"m": "It rained."}}}"#,
    );
    let systems: Vec<_> = read.iter().map(|story| story.system.as_deref().unwrap()).collect();
    assert_eq!(systems, ["m", "7", "m"]);
    assert!(read.iter().all(|story| story.prompt.is_none() && story.ratings.is_empty()));
    assert_eq!((read[0].references.len(), read[2].references.len()), (0, 2));
    assert_eq!(read[2].text, "It rained.");
}

#[test]
fn error_types_are_ratings_of_their_own() {
    let read = stories(
        "a.json",
        r#"{"1": {"gen": {
            "a": {"text": "A.", "score": [1, 2, 3], "error": ["Rept", null, ["Rept", "Conf"]]},
            "b": {"text": "B.", "score": [5, 5, 5], "errors": []},
            "c": {"text": "C.", "score": [3, 3, 3], "error_type": {"Chao": 2}},
            "d": {"text": "D.", "score": [3, 3, 3]}}}}"#,
    );
    assert_eq!(
        criteria(&read[0].ratings)[1..],
        [
            ("error:Rept", vec![Some(1.0), Some(0.0), Some(1.0)]),
            ("error:Conf", vec![Some(0.0), Some(0.0), Some(1.0)])
        ]
    );
    assert_eq!(criteria(&read[1].ratings)[1], ("error:none", vec![Some(1.0); 3]));
    assert_eq!(read[2].ratings.mean("error:Chao"), Some(2.0 / 3.0));
    assert_eq!(criteria(&read[3].ratings).len(), 1, "nobody looked for errors");
}

#[test]
fn errors_name_the_line_the_field_and_the_item() {
    let with = |from: &str, to: &str| error("mags.json", TWO.replace(from, to));
    assert_eq!(
        with("\"text\": \"The key was cold.\"", "\"text\": 7"),
        "mags.json:7: field \"gen/gpt/text\": item \"12\": invalid type: integer `7`, expected a \
         string"
    );
    assert_eq!(
        with("[2]", "\"good\""),
        "mags.json:14: field \"gen/s2s/score\": item \"40\": invalid type: string \"good\", \
         expected a number or a list of numbers"
    );
    assert_eq!(
        with("[2]", "[2, \"4\"]"),
        "mags.json:14: field \"gen/s2s/score\": item \"40\": invalid type: string \"4\", expected \
         f64"
    );
    assert_eq!(
        with("\"text\": \"She ate", "\"story\": \"She ate"),
        "mags.json:6: field \"gen/s2s\": item \"12\": it has no field \"text\""
    );
    assert_eq!(
        with("\"Theo built a kite.\",\n", "[3],\n"),
        "mags.json:11: field \"prompt\": item \"40\": invalid type: sequence, expected a string"
    );
    assert_eq!(
        with("\"The wind took it.\"", "5"),
        "mags.json:12: field \"gold_response\": item \"40\": invalid type: integer `5`, expected \
         a string or a list of strings"
    );
    assert_eq!(
        with("\"gpt\": {\"text\": \"It", "\"s2s\": {\"text\": \"It"),
        "mags.json:15: duplicate id \"40\" of system \"s2s\": it was first used on line 14"
    );
    assert_eq!(
        with("\"40\"", "\"12\""),
        "mags.json:14: duplicate id \"12\" of system \"s2s\": it was first used on line 6"
    );
    assert_eq!(
        with("\"She ate the key.\"", "\"  \""),
        "mags.json:6: field \"story\": the story is empty"
    );
    let typed = TWO.replace("\"score\": [2]", "\"score\": [2], \"error\": {\"a\": -1}");
    assert_eq!(
        error("mags.json", typed),
        "mags.json:14: field \"gen/s2s/error\": item \"40\": the number of raters who named \"a\" \
         must be a whole number from 0 to 10000"
    );
}

#[test]
fn what_is_not_the_layout_is_refused() {
    let forced = ReadOptions::default().with(|it| it.format = Some(Format::Mags));
    let with = |content: &str| error_with("m.json", content, &forced);
    assert_eq!(with("{}"), "m.json: the input has no story");
    assert_eq!(with(""), "m.json: the input has no story");
    assert_eq!(
        with("[1]"),
        "m.json:1: wrong JSON: an object of items is expected here, not \"[\"; nothing after it \
         can be read"
    );
    assert_eq!(
        with("{\"7\": [1]}"),
        "m.json:1: item \"7\": it is not an object with the field \"gen\""
    );
    assert_eq!(
        with("{\"7\":\n{\"prompt\": \"x\"}}"),
        "m.json:2: item \"7\": it has no field \"gen\" with the generated texts"
    );
    assert_eq!(
        with("{\"7\": {\"gen\":\n {}}}"),
        "m.json:2: field \"gen\": item \"7\": there is no generated text"
    );
    assert_eq!(
        with("{\"7\": {\"gen\": 3}}"),
        "m.json:1: field \"gen\": item \"7\": invalid type: integer `3`, expected an object of \
         generated texts by model, or a list of them"
    );
    assert_eq!(
        with("{\"7\": {\"gen\": {\"a\": 3}}}"),
        "m.json:1: field \"gen/a\": item \"7\": it is not an object with the field \"text\""
    );
    assert_eq!(
        with("{\"7\": {\"gen\": [{\"text\": \"x\"}]}}"),
        "m.json:1: field \"gen\": item \"7\": it has no field \"model\", which says who wrote the \
         text"
    );
    assert_eq!(
        with("{\"7\": {\"gen\": {}, \"gen\": {}}}"),
        "m.json:1: item \"7\": wrong JSON: duplicate field `gen`"
    );
    assert_eq!(
        with("{\"7\": {\"gen\": {\"a\": {\"text\": \"x\", \"errors\": [], \"error\": []}}}}"),
        "m.json:1: field \"gen/a\": item \"7\": duplicate field `error`"
    );
    assert_eq!(
        with(&TWO[..TWO.len() - 4]),
        "m.json:17: the JSON ends here too early: the file is incomplete"
    );
}

#[test]
fn bad_items_can_be_skipped() {
    let bad = TWO.replace("\"It opened the old clock.\"", "{}").replace("[2]", "[2, \"3\"]");
    let folder = Folder::with("a.json", bad);
    let options = ReadOptions::default().with(|it| it.skip_bad = true);
    let (read, skipped) = folder.read(&["a.json"], &options).unwrap();
    assert_eq!((read.len(), skipped.count), (1, 2), "an item, and one text of the other");
}

#[test]
fn hostile_items_are_refused_soon() {
    let soon = |content: String| {
        let begin = Instant::now();
        let message = error("a.json", content);
        assert!(message.len() < 500 && begin.elapsed() < Duration::from_secs(20), "{message}");
        message
    };
    let item =
        |fields: &str| format!("{{\"7\": {{\"gen\": {{\"a\": {{\"text\": \"x\", {fields}}}}}}}}}");
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let message = soon(item(&format!("\"score\": {deep}")));
    assert!(message.contains("field \"gen/a/score\""), "{message}");
    let message = soon(item(&format!("\"error\": {deep}")));
    assert!(message.contains("recursion limit"), "{message}");
    // What is not looked at may be as deep as it likes.
    assert_eq!(stories("a.json", item(&format!("\"more\": {deep}"))).len(), 1);
    let message = soon(item("\"score\": [1e999]"));
    assert!(message.ends_with("number out of range"), "{message}");
    let message = soon(item(&format!("\"score\": [{}1]", "1,".repeat(20_000))));
    assert!(message.ends_with("more than 10000 raters"), "{message}");
    let message = soon(item("\"note\": \"a\0b\""));
    assert!(message.contains("is a NUL"), "{message}");
    let models: String = (0..2000).map(|i| format!("\"m{i}\": \"x\",")).collect();
    let message = soon(format!("{{\"7\": {{\"gen\": {{{models} \"m\": \"x\"}}}}}}"));
    assert!(message.ends_with("there are more than 1000 generated texts"), "{message}");
    let name = "n".repeat(9000);
    let message = soon(format!("{{\"{name}\": {{\"gen\": {{\"{name}\": {{\"text\": 1}}}}}}}}"));
    assert!(message.contains("nnn..."), "{message}");
}

#[test]
fn memory_is_bounded_by_an_item() {
    let options = ReadOptions::default().with(|it| {
        it.max_line = 400;
        it.skip_bad = true;
    });
    let long = TWO.replace("Mara found", &"Mara found ".repeat(100));
    let mut reader = from_reader("a.json", std::io::Cursor::new(long), &options);
    assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 2);
    let messages = &reader.skipped().messages;
    assert_eq!(messages.len(), 1);
    assert!(messages[0].starts_with("a.json:2: item \"12\": it has 1"), "{}", messages[0]);
    assert!(messages[0].ends_with("bytes, but at most 400 are read"), "{}", messages[0]);
}

#[test]
fn several_files_are_one_input_and_the_line_says_what_was_read() {
    let folder = Folder::with("mags_roc.json", TWO);
    folder.add("mags_wp.json", TWO.replace("\"12\"", "\"13\"").replace("\"40\"", "\"41\""));
    let paths = ["mags_roc.json", "mags_wp.json"].map(|name| folder.path(name));
    let mut reader = open(&paths, &ReadOptions::default()).unwrap();
    assert_eq!(reader.by_ref().count(), 8);
    assert_eq!(reader.summary().to_string(), "read 8 stories of 2 systems from 2 files (mags)");
}
