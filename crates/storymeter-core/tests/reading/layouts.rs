//! Every layout is read correctly.

use storymeter_core::Story;
use storymeter_core::read::{Format, ReadOptions};

use crate::folder::{Folder, gzip, stories, stories_as};

fn texts(stories: &[Story]) -> Vec<&str> {
    stories.iter().map(|story| story.text.as_str()).collect()
}

#[test]
fn a_json_line_needs_only_the_story() {
    let read = stories(
        "a.jsonl",
        "{\"story\": \"A door opened.\"}\n\n{\"story\": \"A cat \\u00e9\\n came.\"}",
    );
    assert_eq!(texts(&read), ["A door opened.", "A cat é\n came."]);
    assert_eq!((read[0].id.as_str(), read[1].id.as_str()), ("0", "1"));
    assert_eq!(
        read[0],
        Story { id: "0".into(), text: "A door opened.".into(), ..Story::default() }
    );
}

#[test]
fn a_json_line_may_say_all_there_is() {
    let read = stories(
        "a.jsonl",
        r#"{"id": 3, "system": "Tale", "item": "door", "prompt": "Open it.", "story": "It opened.",
            "reference": ["It stayed shut.", "It fell."],
            "human": {"coherence": [1, 2.5, null], "surprise": 4},
            "metrics": {"deep": [[{}]]}}"#
            .replace('\n', " "),
    );
    let story = &read[0];
    assert_eq!(story.id, "3");
    assert_eq!(story.system.as_deref(), Some("Tale"));
    assert_eq!(story.item.as_deref(), Some("door"));
    assert_eq!(story.prompt.as_deref(), Some("Open it."));
    assert_eq!(story.references, ["It stayed shut.", "It fell."]);
    let coherence = story.ratings.get("coherence").unwrap();
    assert_eq!(coherence, [Some(1.0), Some(2.5), None]);
    assert_eq!(story.ratings.get("surprise"), Some(&[Some(4.0)][..]));
}

#[test]
fn other_names_are_understood_and_null_is_no_field() {
    let read = stories(
        "a.jsonl",
        concat!(
            r#"{"story_id": "s", "model": "M", "prompt_index": 7, "ratings": {"fun": 1}, "#,
            r#""story": "x", "reference": "y"}"#,
            "\n",
            r#"{"model": null, "system": "S", "id": null, "story_id": 5, "story": "x", "#,
            r#""reference": null}"#,
        ),
    );
    assert_eq!(read[0].id, "s");
    assert_eq!(read[0].system.as_deref(), Some("M"));
    assert_eq!(read[0].item.as_deref(), Some("7"));
    assert_eq!(read[0].ratings.mean("fun"), Some(1.0));
    assert_eq!(read[0].references, ["y"]);
    assert_eq!((read[1].id.as_str(), read[1].system.as_deref()), ("5", Some("S")));
}

#[test]
fn numbers_that_are_names_keep_their_digits() {
    let ids = ["1", "1.0", "1e0", "18446744073709551616", "18446744073709551617", "-0", "1e400"];
    let line = |id: &&str| format!("{{\"id\": {id}, \"model\": {id}, \"story\": \"x\"}}\n");
    let read = stories("a.jsonl", ids.iter().map(line).collect::<String>());
    let seen: Vec<&str> = read.iter().map(|story| story.id.as_str()).collect();
    assert_eq!(seen, ids);
    assert_eq!(read[4].system.as_deref(), Some(ids[4]));
    let rows: String = ids.iter().map(|id| format!("{id},x\n")).collect();
    let read = stories("a.csv", format!("id,story\n{rows}"));
    let seen: Vec<&str> = read.iter().map(|story| story.id.as_str()).collect();
    assert_eq!(seen, ids, "CSV and JSONL agree, so that files can be joined");
}

#[test]
fn an_escaped_nul_is_text_in_json() {
    assert_eq!(texts(&stories("a.jsonl", r#"{"story": "a\u0000b"}"#)), ["a\0b"]);
}

#[test]
fn ratings_may_come_rater_by_rater() {
    let read = stories(
        "a.jsonl",
        r#"{"story": "x", "human": [{"fun": 1}, {"fun": 2, "calm": 5}, {"calm": 4}]}"#,
    );
    let given = |name: &str| read[0].ratings.get(name).unwrap().to_vec();
    assert_eq!(given("fun"), [Some(1.0), Some(2.0), None]);
    assert_eq!(given("calm"), [None, Some(5.0), Some(4.0)]);
}

#[test]
fn csv_is_quoted_and_may_span_lines() {
    let read = stories(
        "a.csv",
        "\u{feff}Story_ID,model,story,mood\r\n\
         7,M,\"She said \"\"no\"\",\r\nand left.\",dark\r\n\
         \r\n\
         8,,5\" of snow,\r\n",
    );
    assert_eq!(texts(&read), ["She said \"no\",\nand left.", "5\" of snow"]);
    assert_eq!((read[0].id.as_str(), read[1].id.as_str()), ("7", "8"));
    assert_eq!((read[0].system.as_deref(), read[1].system.as_deref()), (Some("M"), None));
}

#[test]
fn tsv_has_no_quotes_and_five_sentences_are_one_story() {
    let read = stories(
        "a.tsv",
        "form\tsentence1\tsentence2\tsentence3\tsentence4\tsentence5\n\
         cased\tA b.\t\"C d.\tE.\t F. \tG.\n",
    );
    assert_eq!(texts(&read), ["A b. \"C d. E. F. G."]);
    let sentences: Vec<&str> =
        read[0].sentences.iter().map(|range| &read[0].text[range.clone()]).collect();
    assert_eq!(sentences, ["A b.", "\"C d.", "E.", "F.", "G."]);
}

#[test]
fn the_columns_may_stand_in_any_order() {
    let read = stories(
        "a.tsv",
        "sentence5\tsentence1\tid\tsentence2\tsentence4\tsentence3\nE\tA\t9\tB\tD\tC\n",
    );
    assert_eq!((read[0].id.as_str(), read[0].text.as_str()), ("9", "A B C D E"));
}

#[test]
fn plain_text_is_one_story_unless_blocks_or_lines_are_asked_for() {
    let content = "\r\nA door\r\nopened.\r\n\r\n \r\nA cat came.\r\n";
    for name in ["key.txt", "key.md", "key"] {
        let read = stories(name, content);
        assert_eq!(texts(&read), ["A door\nopened.\n\n \nA cat came."]);
        assert_eq!((read[0].id.as_str(), read[0].item.as_deref()), ("key", Some("key")));
    }
    let read = stories_as(Format::Blocks, "a.txt", content);
    assert_eq!(texts(&read), ["A door\nopened.", "A cat came."]);
    assert_eq!((read[1].id.as_str(), read[1].item.as_deref()), ("1", None));
    let read = stories_as(Format::Lines, "a.txt", "A door opened.\nA cat came.\n");
    assert_eq!(texts(&read), ["A door opened.", "A cat came."]);
}

#[test]
fn union_annotations_have_an_id_a_story_and_ratings() {
    let read = stories(
        "ant.txt",
        "151///9 ||| a door opened . ||| 0 1 1 0 1 1 1\n7 ||| it shut . ||| 1 1 1 1 1 1 1\n",
    );
    assert_eq!(texts(&read), ["a door opened .", "it shut ."]);
    assert_eq!((read[0].id.as_str(), read[1].id.as_str()), ("151", "7"));
    assert_eq!(
        read[0].ratings.get("human"),
        Some(&[0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0].map(Some)[..])
    );
}

#[test]
fn roc_blocks_are_five_lines_and_a_separator() {
    let content = "A .\nB .\nC .\nD .\nE .\n----------\nF .\nG .\nH .\nI .\nJ .\n----------\n";
    let read = stories("roc.txt", content);
    assert_eq!(texts(&read), ["A . B . C . D . E .", "F . G . H . I . J ."]);
    assert_eq!(read[1].sentences.len(), 5);
    let blank = content.replace("----------", "");
    assert_eq!(stories_as(Format::RocBlocks, "roc.txt", blank), read);
}

#[test]
fn writing_prompts_are_two_files_and_the_story_is_cut_at_a_sentence_end() {
    let folder = Folder::with("v.wp_source", "[ WP ] A door .\n[ WP ] A cat .\n");
    folder.add(
        "v.wp_target",
        "It opened . <newline> `` Who 's there ? '' nobody said a word\nIt came . It sat\n",
    );
    let options = ReadOptions::default().with(|it| it.max_words = 9);
    for inputs in [&["v.wp_source"][..], &["v.wp_target"], &["v.wp_source", "v.wp_target"], &["."]]
    {
        let (read, _) = folder.read(inputs, &options).unwrap();
        assert_eq!(texts(&read), ["It opened .\n`` Who 's there ? ''", "It came . It sat"]);
        assert_eq!(read[0].prompt.as_deref(), Some("[ WP ] A door ."));
    }
}

#[test]
fn hannas_three_rows_are_one_story() {
    let read = stories(
        "annotations.csv",
        "Story ID,Prompt,Human,Story,Model,Relevance,Coherence,Empathy,Surprise,Engagement,\
         Complexity,Worker ID\n\
         0,P,H,\"S,\n0\",M,1,2,3,4,5,1,w1\n\
         0,P,H,\"S,\n0\",M,2,3,4,5,1,,w2\n\
         0,P,H,\"S,\n0\",M,3,3,3,3,3,3,w3\n\
         1,P,H,S1,N,1,1,1,1,1,1,w1\n",
    );
    assert_eq!(texts(&read), ["S,\n0", "S1"]);
    let story = &read[0];
    assert_eq!((story.id.as_str(), story.system.as_deref(), story.item()), ("0", Some("M"), "P"));
    assert_eq!(story.references, ["H"]);
    assert_eq!(story.ratings.get("Relevance"), Some(&[1.0, 2.0, 3.0].map(Some)[..]));
    assert_eq!(story.ratings.mean("Complexity"), Some(2.0));
    assert_eq!(read[1].ratings.get("Surprise"), Some(&[Some(1.0)][..]));
}

#[test]
fn anything_may_be_gzipped_in_one_member_or_more() {
    let mut two = gzip("id,story\n1,A door opened.\n2,\"A c");
    two.extend(gzip("at\ncame.\"\n"));
    for name in ["a.csv.gz", "a.csv", "stories"] {
        assert_eq!(texts(&stories(name, &two)), ["A door opened.", "A cat\ncame."]);
    }
    let read = stories("key.txt.gz", gzip("One.\n\nTwo.\n"));
    assert_eq!((read[0].id.as_str(), read[0].text.as_str()), ("key", "One.\n\nTwo."));
}

#[test]
fn a_line_of_ten_megabytes_is_fine() {
    let text = "word ".repeat(2_000_000);
    let read = stories("a.jsonl", format!("{{\"story\": \"{text}\"}}\n{{\"story\": \"short\"}}\n"));
    assert_eq!(read[0].text.len(), 10_000_000);
    assert_eq!(read[1].text, "short");
}
