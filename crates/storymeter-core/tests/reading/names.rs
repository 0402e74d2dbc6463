//! Columns and fields under any name, delimiters, and tables with one column per system.

use storymeter_core::Story;
use storymeter_core::read::{FieldNames, Format, ReadOptions, Summary, open};

use crate::folder::{Folder, error, error_with, stories};

fn summary(name: &str, content: &str, options: &ReadOptions) -> Summary {
    let folder = Folder::with(name, content);
    let mut reader = open(&[folder.path(name)], options).unwrap();
    reader.by_ref().for_each(|record| drop(record.unwrap()));
    reader.summary()
}

fn read(name: &str, content: &str, options: &ReadOptions) -> Vec<Story> {
    Folder::with(name, content).read(&[name], options).unwrap().0
}

fn named(story: &str, system: &str) -> ReadOptions {
    let fields = FieldNames {
        story: Some(story.into()),
        system: Some(system.into()),
        ..FieldNames::default()
    };
    ReadOptions { fields, ..ReadOptions::default() }
}

#[test]
fn usual_names_are_found_and_named() {
    for (name, content, line) in [
        (
            "a.csv",
            "prompt_id,generator,completion\n1,M,A door.\n",
            "read 1 story of 1 system from 1 file (csv); story from \"completion\", system from \
             \"generator\", item from \"prompt_id\"",
        ),
        (
            "a.jsonl",
            "{\"text\": \"A door.\"}\n{\"output\": \"A cat.\"}\n",
            "read 2 stories from 1 file (jsonl); story from \"text\" and \"output\"",
        ),
        (
            "a.jsonl",
            "{\"text\": \"no\", \"system\": \"M\", \"story\": \"A door.\", \"model\": {\"a\": 1}}\n",
            "read 1 story of 1 system from 1 file (jsonl); story from \"story\" and not \"text\", \
             system from \"system\" and not \"model\"",
        ),
        (
            "a.tsv",
            "Story\ttext\tID\nA door.\tno\t1\n",
            "read 1 story from 1 file (tsv); story from \"story\" and not \"text\"",
        ),
        ("a.jsonl", "{\"Story\": \"A door.\"}\n", "read 1 story from 1 file (jsonl)"),
        ("a.csv", "id;story\n1;A door, open.\n", "read 1 story from 1 file (csv, separated by ;)"),
        ("a.csv", "id\tstory\n1\tA.\n", "read 1 story from 1 file (csv, separated by tabs)"),
        ("a.csv", "story\nA door; open.\n", "read 1 story from 1 file (csv)"),
        ("a.tsv", "id|story\n1|A door.\n", "read 1 story from 1 file (tsv, separated by |)"),
    ] {
        assert_eq!(summary(name, content, &ReadOptions::default()).to_string(), line);
    }
}

#[test]
fn the_more_usual_name_wins_in_any_order() {
    for line in [
        r#"{"response": "no", "text": "yes", "output": 7}"#,
        r#"{"text": "yes", "output": [], "response": "no"}"#,
        r#"{"story": null, "output": "no", "text": "yes"}"#,
        r#"{"TEXT": "no", "text": "yes"}"#,
    ] {
        assert_eq!(stories("a.jsonl", line)[0].text, "yes", "{line}");
    }
    assert_eq!(stories("a.csv", "response,text\nno,yes\n")[0].text, "yes");
    // Five sentences are ROCStories, whatever else there is.
    let header = "text,sentence1,sentence2,sentence3,sentence4,sentence5";
    assert_eq!(stories("a.csv", format!("{header}\nno,A,B,C,D,E\n"))[0].text, "A B C D E");
}

#[test]
fn any_name_can_be_given() {
    let options = named("The Tale", "Writer");
    let content = "No;The Tale;Writer;story\n1;\"A; \"\"door\"\"\n.\";M;no\n";
    let story = &read("a.csv", content, &options)[0];
    assert_eq!((story.text.as_str(), story.system.as_deref()), ("A; \"door\"\n.", Some("M")));
    assert_eq!(
        summary("a.csv", content, &options).to_string(),
        "read 1 story of 1 system from 1 file (csv, separated by ;); story from \"The Tale\", \
         system from \"Writer\""
    );
    let lines = "{\"The Tale\": \"A door.\", \"Writer\": 7, \"story\": 3}\n";
    assert_eq!(read("a.jsonl", lines, &options)[0].system.as_deref(), Some("7"));
    // The names also help to recognise a table whose name says nothing.
    assert_eq!(read("tales", content, &options).len(), 1);
}

#[test]
fn a_name_that_is_not_there_is_an_error_that_lists_what_is() {
    let options = named("Tale", "Writer");
    assert_eq!(
        error_with("a.csv", "No,Tales,Writer\n1,x,M\n", &options),
        "a.csv:1: there is no column \"Tale\"; did you mean \"Tales\"? The columns are: No, Tales, \
         Writer"
    );
    assert_eq!(
        error_with("a.jsonl", "{\"Tale\": \"x\"}\n", &options),
        "a.jsonl:1: there is no field \"Writer\"; the fields are: Tale"
    );
    assert_eq!(
        error_with("a.csv", "Tale\nx\n", &named("Tale", "Tale")),
        "a.csv:1: field \"Tale\": the column is asked for twice"
    );
}

#[test]
fn a_wide_table_has_one_story_per_system_and_row() {
    let options = options_of_wide();
    let content = "prompt,gpt2,llama,reference\nA door.,\"It, opened.\",It fell.,It shut.\n\
                   A cat.,It came.,It left.,It sat.\n";
    let stories = read("a.csv", content, &options);
    let seen: Vec<_> = stories
        .iter()
        .map(|story| (story.id.as_str(), story.system.as_deref().unwrap(), story.text.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("0", "gpt2", "It, opened."),
            ("0", "llama", "It fell."),
            ("1", "gpt2", "It came."),
            ("1", "llama", "It left."),
        ]
    );
    assert_eq!((stories[3].item(), stories[3].prompt.as_deref()), ("1", Some("A cat.")));
    assert_eq!(stories[3].references, ["It sat."]);
    let line = summary("a.csv", content, &options).to_string();
    assert_eq!(line, "read 4 stories of 2 systems from 1 file (csv)");
    // The column of ids may have any name, and pandas adds one without a name.
    let fields = FieldNames { id: Some("key".into()), ..FieldNames::default() };
    let options = ReadOptions { fields, wide: true, ..ReadOptions::default() };
    let stories = read("a.tsv", "\tkey\tgpt2\tstory\n0\tk7\tA door.\tA cat.\n", &options);
    assert_eq!((stories[1].id.as_str(), stories[1].system.as_deref()), ("k7", Some("story")));
    assert_eq!(stories.len(), 2);
    // Ratings are no stories.
    let content = "id,gpt2,human.plot,human/fun\n7,A door.,4,5\n";
    let stories = read("a.csv", content, &options_of_wide());
    assert_eq!((stories.len(), stories[0].system.as_deref()), (1, Some("gpt2")));
}

fn options_of_wide() -> ReadOptions {
    ReadOptions { wide: true, ..ReadOptions::default() }
}

#[test]
fn a_wide_table_must_be_a_table_with_systems() {
    let options = ReadOptions { wide: true, ..ReadOptions::default() };
    assert_eq!(
        error_with("a.csv", "id,prompt\n1,A door.\n", &options),
        "a.csv:1: no column has the name of a system; the columns are: id, prompt"
    );
    assert_eq!(
        error_with("a.csv", "id,gpt2,gpt2\n1,x,y\n", &options),
        "a.csv:1: field \"gpt2\": columns 2 and 3 have the same name"
    );
    assert_eq!(
        error_with("a.jsonl", "{\"gpt2\": \"x\"}\n", &options),
        "a.jsonl: one column per system is read from CSV and TSV, but the format of this is jsonl"
    );
    let many: Vec<String> = (0..1001).map(|n| format!("s{n}")).collect();
    let message = error_with("a.csv", many.join(",") + "\n", &options);
    assert_eq!(message, "a.csv:1: the table has 1001 systems, but at most 1000 are read");
}

#[test]
fn prose_is_not_taken_for_a_table() {
    for text in [
        "He gave her no answer, text, call or letter.\n",
        "Text, she thought; a text.\nNo.\n",
        "\"Story, please,\" said Mo.\n",
    ] {
        assert_eq!(Format::detect(std::path::Path::new("-"), text.as_bytes()), Some(Format::Text));
    }
}

#[test]
fn columns_of_ratings_stand_beside_the_story_in_every_format() {
    let options = ReadOptions::default();
    for (name, content) in [
        ("a.csv", "story,human.plot,human/fun,mood\nRain fell.,3,,sad\nSnow fell.,4.5,2,NA\n"),
        ("a.csv", "story;Human.plot;human/fun\nRain fell.;3;NA\nSnow fell.;4,5;2\n"),
        ("a.tsv", "story\thuman.plot\thuman:fun\nRain fell.\t3\t\nSnow fell.\t4.5\t2\n"),
        (
            "a.jsonl",
            "{\"story\": \"Rain fell.\", \"human.plot\": 3, \"human/fun\": null}\n\
             {\"human/fun\": [2], \"story\": \"Snow fell.\", \"human.plot\": 4.5}\n",
        ),
        (
            "a.json",
            "{\"story\": [\"Rain fell.\", \"Snow fell.\"], \"human.plot\": [3, 4.5],\n \
             \"human/fun\": [null, 2]}",
        ),
    ] {
        let stories = read(name, content, &options);
        let rating = |story: usize, criterion: &str| stories[story].ratings.get(criterion);
        assert_eq!(rating(0, "plot"), Some(&[Some(3.0)][..]), "{content}");
        assert_eq!(rating(0, "fun"), Some(&[None][..]), "{content}");
        assert_eq!(rating(1, "plot"), Some(&[Some(4.5)][..]), "{content}");
        assert_eq!(rating(1, "fun"), Some(&[Some(2.0)][..]), "{content}");
    }
    assert_eq!(
        error("a.csv", "story,human.plot\nRain fell.,3\nSnow fell.,good\n"),
        "a.csv:3: field \"human.plot\": \"good\" is not a finite number"
    );
    assert_eq!(
        error("a.csv", "story,human.plot,human/plot\nRain fell.,3,4\n"),
        "a.csv:1: field \"human/plot\": the column \"human.plot\" has ratings on the same criterion"
    );
}
