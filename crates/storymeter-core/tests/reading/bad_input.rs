//! Errors about bad input name the file, the line and the field.

use storymeter_core::read::{Format, ReadOptions};

use crate::folder::{Folder, error, error_with, gzip};

const HANNA_HEADER: &str = "Story ID,Prompt,Human,Story,Model,Relevance,Coherence,Empathy,\
                            Surprise,Engagement,Complexity";

fn skipping() -> ReadOptions {
    ReadOptions::default().with(|it| it.skip_bad = true)
}

#[test]
fn broken_utf8_names_line_and_byte() {
    assert_eq!(
        error("a.jsonl", b"{\"story\": \"x\"}\n{\"story\": \"a\xffb\"}\n"),
        "a.jsonl:2: byte 13 of the line is not UTF-8"
    );
    assert_eq!(error("a.txt", b"one\n\ntwo\nt\xe9\n"), "a.txt:4: byte 2 of the line is not UTF-8");
    assert_eq!(error("a.tsv", b"story\tid\nx\t\xff\n"), "a.tsv:2: byte 3 of the line is not UTF-8");
    assert_eq!(error("a.csv", b"st\xffory\nx\n"), "a.csv:1: byte 3 of the line is not UTF-8");
    assert_eq!(
        error("a.csv", b"story\n\"a\nb\xff\"\n"),
        "a.csv:3: byte 2 of the line is not UTF-8"
    );
}

#[test]
fn a_nul_is_an_error_with_line_and_byte() {
    let nul = "is a NUL, which no text has; if the file is UTF-16, save it as UTF-8";
    for (name, content, place) in [
        ("a.jsonl", "{\"story\": \"x\"}\n{\"story\": \"a\0b\"}\n", "a.jsonl:2: byte 13"),
        ("a.txt", "one and more\n\ntwo\nand\0\n", "a.txt:4: byte 4"),
        ("a.txt", "one line\nand\0\n", "a.txt:2: byte 4"),
        ("a.tsv", "story\tid\nx\t\0\n", "a.tsv:2: byte 3"),
        ("a.csv", "id,st\0ory,story\n", "a.csv:1: byte 6"),
        ("a.csv", "id,story\n1,\"a\nb\0\"\n", "a.csv:3: byte 2"),
        ("a.txt", "1 ||| a story\0. ||| 1 1 1\n", "a.txt:1: byte 14"),
        ("a.txt", "A .\nB .\nC .\nD .\nE \0.\n---\n", "a.txt:5: byte 3"),
    ] {
        assert_eq!(error(name, content), format!("{place} of the line {nul}"));
    }
    let hanna = format!("{HANNA_HEADER}\n0,P,H,S,M,1,1,1,1,1,1\n0,P\0,H,S,M,1,1,1,1,1,1\n");
    assert_eq!(error("a.csv", hanna), format!("a.csv:3: byte 4 of the line {nul}"));
    // A line of NULs is not the separator of a block.
    let blocks = "A .\nB .\nC .\nD .\nE .\n---\nA .\nB .\nC .\nD .\n\0\0\n---\n";
    assert_eq!(error("a.txt", blocks), format!("a.txt:11: byte 1 of the line {nul}"));
}

#[test]
fn the_two_files_of_a_pair_are_told_apart() {
    let folder = Folder::with("v.wp_source", b"p\nq\xff\n");
    folder.add("v.wp_target", "s .\nt .\n");
    let options = ReadOptions::default();
    let wrong = folder.read(&["v.wp_source"], &options).unwrap_err().to_string();
    assert_eq!(
        folder.shown(&wrong),
        "v.wp_target:2: the prompt is bad: byte 2 of the line is not UTF-8"
    );
    folder.add("v.wp_source", "p\nq\n");
    folder.add("v.wp_target", b"s .\nt\xff\n");
    let wrong = folder.read(&["v.wp_source"], &options).unwrap_err().to_string();
    assert_eq!(folder.shown(&wrong), "v.wp_target:2: byte 2 of the line is not UTF-8");
}

#[test]
fn utf_16_is_named_and_not_read_as_text() {
    let text = "{\"story\": \"A door opened, and naïve Zoë \u{17e}ila.\"}\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = [&[0xff, 0xfe][..], &little].concat();
    for content in [little, big, marked.clone(), gzip(&marked)] {
        for name in ["a.jsonl", "a.txt", "a.csv", "a.tsv", "a"] {
            let looks = "this looks like UTF-16 text; save it as UTF-8";
            assert_eq!(error(name, &content), format!("{name}: {looks}"));
        }
    }
    assert_eq!(
        error("a.txt", [0; 1000]),
        "a.txt: this is not text: many of its first bytes are NUL"
    );
}

#[test]
fn no_field_is_given_twice() {
    let twice = |line: &str| error("a.jsonl", line);
    assert_eq!(
        twice(r#"{"story": "x", "story": "y"}"#),
        "a.jsonl:1: field \"story\": wrong JSON at column 22: the field is given twice"
    );
    assert_eq!(
        twice(r#"{"id": null, "id": 1, "story": "y"}"#),
        "a.jsonl:1: field \"id\": wrong JSON at column 17: the field is given twice"
    );
    assert_eq!(
        twice(r#"{"text": "x", "text": "y"}"#),
        "a.jsonl:1: field \"text\": wrong JSON at column 26: the field is given twice"
    );
    assert_eq!(
        twice(r#"{"TEXT": "x", "text": "y"}"#),
        "a.jsonl:1: field \"text\": wrong JSON at column 26: the field is given twice"
    );
    assert_eq!(
        twice(r#"{"story": "x", "human": {"fun": 1, "fun": 5}}"#),
        "a.jsonl:1: field \"human\": wrong JSON at column 45: the criterion \"fun\" is given twice"
    );
    assert_eq!(
        twice(r#"{"story": "x", "ratings": [{"fun": 1}, {"fun": 1, "fun": 5}]}"#),
        "a.jsonl:1: field \"ratings\": wrong JSON at column 61: the criterion \"fun\" is given twice"
    );
    // What is not read may be given as often as anyone likes.
    assert_eq!(crate::folder::stories("a.jsonl", r#"{"story": "x", "a": 1, "a": 2}"#).len(), 1);
}

#[test]
fn no_column_is_given_twice() {
    assert_eq!(
        error("a.csv", "id,story,Story\n1,x,y\n"),
        "a.csv:1: field \"Story\": columns 2 and 3 have the same name; keep one of them"
    );
    assert_eq!(
        error("a.tsv", "text\tid\ttext\n1\t2\ty\n"),
        "a.tsv:1: field \"text\": columns 1 and 3 have the same name; keep one of them"
    );
    // The content of a file without an extension still gives its format away.
    assert!(error("a", "id,story,story\n1,x,y\n").starts_with("a:1: field \"story\": columns 2"));
    assert_eq!(
        error("a.csv", format!("{HANNA_HEADER},Story\n0,P,H,S,M,1,1,1,1,1,1,T\n")),
        "a.csv:1: there are two columns \"Story\""
    );
    // What is not read may be there twice.
    assert_eq!(crate::folder::stories("a.csv", "note,story,note\n1,x,2\n").len(), 1);
}

#[test]
fn record_numbers_do_not_overflow() {
    let options =
        |record_offset| ReadOptions::default().with(|it| it.record_offset = record_offset);
    let content = "{\"story\": \"x\"}\n{\"story\": \"y\"}\n";
    assert_eq!(
        error_with("a.jsonl", content, &options(u64::MAX - 1)),
        "a.jsonl:2: the number of this record would be 18446744073709551615, and the largest is \
         18446744073709551614; number the records from a smaller one"
    );
    assert!(
        error_with("a.jsonl", content, &options(u64::MAX)).starts_with("a.jsonl:1: the number")
    );
    let folder = Folder::with("a.jsonl", content);
    let (stories, _) = folder.read(&["a.jsonl"], &options(u64::MAX - 2)).unwrap();
    assert_eq!(stories[1].id, "18446744073709551614");
}

#[test]
fn an_empty_story_is_an_error() {
    assert_eq!(
        error("a.jsonl", r#"{"story": " \n"}"#),
        "a.jsonl:1: field \"story\": the story is empty"
    );
    assert_eq!(
        error("a.csv", "id,story\n1,x\n2,\n"),
        "a.csv:3: field \"story\": the story is empty"
    );
    let lines = ReadOptions::default().with(|it| it.format = Some(Format::Lines));
    assert_eq!(
        error_with("a.txt", "x\n\ny\n", &lines),
        "a.txt:2: field \"story\": the story is empty"
    );
    assert_eq!(
        error("a.txt", "1 |||  ||| 1 0\n2 ||| x ||| 1 0\n"),
        "a.txt:1: field \"story\": the story is empty"
    );
    assert_eq!(
        error("a.tsv", "sentence1\tsentence2\tsentence3\tsentence4\tsentence5\nA\tB\t\tD\tE\n"),
        "a.tsv:2: field \"sentence3\": the sentence is empty"
    );
}

#[test]
fn a_missing_column_names_what_is_there() {
    assert_eq!(
        error("a.csv", "id,tale\n1,x\n"),
        "a.csv:1: there is no column \"story\" (or \"text\", \"output\", \"completion\", \
         \"generation\", \"generated\", \"generated_text\", \"response\", \"prediction\"); the \
         columns are: id, tale"
    );
    let hanna = ReadOptions::default().with(|it| it.format = Some(Format::HannaAnnotations));
    assert_eq!(
        error_with("a.csv", "Story ID,Story\n1,x\n", &hanna),
        "a.csv:1: there is no column \"Relevance\"; the columns are: Story ID, Story"
    );
}

#[test]
fn a_row_must_have_as_many_fields_as_the_header() {
    assert_eq!(
        error("a.csv", "id,story\n1,x\n2,y,z\n"),
        "a.csv:3: the record has 3 fields, but the header has 2"
    );
    assert_eq!(
        error("a.tsv", "id\tstory\n1\n"),
        "a.tsv:2: the record has 1 fields, but the header has 2"
    );
}

#[test]
fn an_open_quote_is_found_where_it_opens() {
    assert_eq!(
        error("a.csv", "id,story\n1,x\n2,\"y\n3,z\n"),
        "a.csv:3: a quote that opens in this record is never closed"
    );
}

#[test]
fn wrong_json_names_the_field_it_stands_in() {
    let wrong = |line: &str| error("a.jsonl", line);
    assert_eq!(
        wrong("{\"story\": 3}"),
        "a.jsonl:1: field \"story\": wrong JSON at column 11: invalid type: integer `3`, \
         expected a string"
    );
    assert_eq!(
        wrong("{\"id\": 3, \"mood\\u001b\": 1}"),
        "a.jsonl:1: there is no field \"story\" (or \"text\", \"output\", \"completion\", \
         \"generation\", \"generated\", \"generated_text\", \"response\", \"prediction\"); the fields are: id, \
         mood\\u{1b}"
    );
    assert_eq!(wrong("{\"story\": null}"), "a.jsonl:1: field \"story\": the story is null");
    assert_eq!(
        wrong("{\"story\": \"x\"} {}"),
        "a.jsonl:1: wrong JSON at column 16: trailing characters"
    );
    assert_eq!(
        wrong("{\"story\": \"x"),
        "a.jsonl:1: field \"story\": wrong JSON at column 12: EOF while parsing a string"
    );
    assert_eq!(
        wrong("{\"story\": \"x\"}\n[{\"story\": \"x\"}]").replace(":2:", ":1:"),
        "a.jsonl:1: invalid type: sequence, expected an object with the field `story`"
    );
    assert_eq!(
        wrong("{\"story\": \"x\", \"reference\": [1]}"),
        "a.jsonl:1: field \"reference\": wrong JSON at column 30: invalid type: integer `1`, \
         expected a string"
    );
}

#[test]
fn ratings_that_are_not_numbers_are_an_error() {
    let wrong = |human: &str| error("a.jsonl", format!("{{\"story\": \"x\", \"human\": {human}}}"));
    assert_eq!(
        wrong("{\"fun\": \"high\"}"),
        "a.jsonl:1: field \"human\": wrong JSON at column 40: invalid type: string \"high\", \
         expected a number or a list of numbers"
    );
    assert_eq!(
        wrong("[{\"fun\": 1}, {\"fun\": [1]}]"),
        "a.jsonl:1: field \"human\": wrong JSON at column 51: invalid type: sequence, expected f64"
    );
    assert!(wrong("{\"fun\": 1e999}").starts_with("a.jsonl:1: field \"human\": wrong JSON"));
    assert!(wrong("\"high\"").ends_with(
        "expected an object of numbers by criterion, or a list of such objects, one per rater"
    ));
    assert_eq!(
        error("a.txt", "1 ||| x ||| 1 two\n"),
        "a.txt:1: field \"ratings\": \"two\" is not a number"
    );
    assert_eq!(
        error("a.txt", "1 ||| x ||| \n2 ||| y ||| nan\n"),
        "a.txt:1: field \"ratings\": there are no ratings"
    );
    let header = HANNA_HEADER;
    assert_eq!(
        error("a.csv", format!("{header}\n0,P,H,\"S\nS\",M,1,1,1,1,1,1\n0,P,H,S,M,1,1,1,x,1,1\n")),
        "a.csv:4: field \"Surprise\": \"x\" is not a number"
    );
    let bytes =
        [header.as_bytes(), b"\n0,P,H,\"S\nS\",M,1,1,1,1,1,1\n0,P,H,\xff,M,1,1,1,1,1,1\n"].concat();
    assert_eq!(error("a.csv", bytes), "a.csv:4: byte 7 of the line is not UTF-8");
}

#[test]
fn hostile_ratings_do_not_fill_the_memory() {
    let raters = "{},".repeat(20_000);
    let wrong = error("a.jsonl", format!("{{\"story\": \"x\", \"human\": [{raters}{{}}]}}"));
    assert!(wrong.contains("more than 10000 raters"), "{wrong}");
    let criteria: String = (0..2_000).map(|n| format!("\"c{n}\": 1,")).collect();
    let wrong =
        error("a.jsonl", format!("{{\"story\": \"x\", \"human\": {{{criteria}\"last\": 1}}}}"));
    assert!(wrong.contains("more than 1000 criteria"), "{wrong}");
}

#[test]
fn a_truncated_gzip_is_named_with_the_line_it_ends_on() {
    let whole = gzip("{\"story\": \"A door opened.\"}\n".repeat(10_000));
    let cut = error("a.jsonl.gz", &whole[..whole.len() / 2]);
    let (file, problem) = cut.rsplit_once(": ").unwrap();
    assert_eq!(problem, "the file is incomplete");
    let line: u64 = file.split(':').nth(1).unwrap().parse().unwrap();
    assert!((2..10_000).contains(&line), "{cut}");
    assert_eq!(
        error("a.jsonl.gz", &whole[..5]),
        "a.jsonl.gz:1: the gzip data end here too early: the file is incomplete"
    );
    assert_eq!(
        error("a.txt.gz", &gzip("x")[..20]),
        "a.txt.gz:1: the gzip data end here too early: the file is incomplete"
    );
    let mut damaged = whole.clone();
    damaged[whole.len() - 6] ^= 1;
    assert!(error("a.jsonl.gz", damaged).contains("the gzip data are damaged"));
}

#[test]
fn a_line_that_is_too_long_is_an_error_and_can_be_skipped() {
    let options = ReadOptions::default().with(|it| it.max_line = 20);
    let content = format!(
        "{{\"story\":\"x\"}}\n{{\"story\":\"{}\"}}\n{{\"story\":\"z\"}}\n",
        "y".repeat(100)
    );
    assert_eq!(
        error_with("a.jsonl", &content, &options),
        "a.jsonl:2: the line has 112 bytes, but at most 20 are read"
    );
    let folder = Folder::with("a.jsonl", &content);
    let (stories, skipped) =
        folder.read(&["a.jsonl"], &options.clone().with(|it| it.skip_bad = true)).unwrap();
    assert_eq!((stories.len(), skipped.count), (2, 1));
    // The remaining lines of a block that is too long are not a story of their own.
    let options = options.with(|it| it.format = Some(Format::Blocks));
    let folder = Folder::with("a.txt", "fine\n\nthis is too long\nto be one\nstory.\n\nfine too\n");
    let (stories, skipped) =
        folder.read(&["a.txt"], &options.with(|it| it.skip_bad = true)).unwrap();
    assert_eq!((stories.len(), skipped.count), (2, 1));
}

#[test]
fn a_folder_or_file_without_stories_is_an_error() {
    let folder = Folder::with("README.md", "# Nothing");
    let message = folder.read(&[""], &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("the folder has no file of stories"), "{message}");
    for (name, content) in [
        ("a.jsonl", ""),
        ("a.jsonl", "\n\n"),
        ("a.csv", "story\n"),
        ("a.csv", ""),
        ("a.json", "[]"),
    ] {
        assert_eq!(error(name, content), format!("{name}: the input has no story"));
    }
    // A file of text is a story, even if it is empty.
    assert_eq!(error("a.txt", " \n"), "a.txt:1: field \"story\": the story is empty");
    assert!(error("a.png", b"\x89PNG\r\n").contains("the format cannot be recognised"));
    let missing =
        Folder::new().read(&["no.jsonl"], &ReadOptions::default()).unwrap_err().to_string();
    assert!(missing.contains("no.jsonl: No such file"), "{missing}");
}

#[test]
fn a_roc_block_has_five_lines() {
    let content = "A .\nB .\nC .\nD .\nE .\n---\n\
                   A .\nB .\n---\n\
                   A .\nB .\nC .\nD .\nE .\nF .\n---\n\
                   A .\nB .\nC .\nD .\nE .\n";
    assert_eq!(
        error("a.txt", content),
        "a.txt:7: there are 2 lines before the separator, but a story has 5, one per sentence"
    );
    let (stories, skipped) = Folder::with("a.txt", content).read(&["a.txt"], &skipping()).unwrap();
    assert_eq!((stories.len(), skipped.count), (2, 2));
    // Ids are record numbers, and bad records count too.
    assert_eq!((stories[0].id.as_str(), stories[1].id.as_str()), ("0", "3"));
}

#[test]
fn writing_prompts_must_pair_up() {
    let folder = Folder::with("v.wp_source", "p\nq\n");
    let alone = folder.read(&["v.wp_source"], &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(
        folder.shown(&alone),
        "v.wp_source: the other file of the pair is missing: v.wp_target"
    );
    folder.add("v.wp_target", "s .\n");
    let short = folder.read(&["v.wp_source"], &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(
        folder.shown(&short),
        "v.wp_target:1: the prompt has no story: the file of prompts has more lines"
    );
}

#[test]
fn rows_of_a_hanna_story_must_stand_together() {
    let row = |id: u8| format!("{id},P,H,S,M,1,1,1,1,1,1\n");
    assert_eq!(
        error(
            "a.csv",
            [&format!("{HANNA_HEADER}\n"), &row(0), &row(1), &row(0)].map(String::as_str).concat()
        ),
        "a.csv:4: duplicate story id \"0\": it was used further up, and the rows of a story must \
         stand together"
    );
}

#[test]
fn skipped_records_are_counted_and_the_first_few_remembered() {
    let content = "{\"story\": \"x\"}\n".to_owned()
        + &"{\"story\": \"\"}\n".repeat(8)
        + "{\"story\": \"y\"}\n";
    let folder = Folder::with("a.jsonl", content);
    let (stories, skipped) = folder.read(&["a.jsonl"], &skipping()).unwrap();
    assert_eq!((stories.len(), skipped.count, skipped.messages.len()), (2, 8, 5));
    assert_eq!(
        folder.shown(&skipped.messages[0]),
        "a.jsonl:2: field \"story\": the story is empty"
    );
    assert_eq!(stories[1].id, "9");
}

#[test]
fn a_truncated_gzip_is_one_skipped_record_and_the_next_file_is_read() {
    let whole = gzip("{\"story\": \"A door opened.\"}\n".repeat(1_000));
    let folder = Folder::with("a.jsonl.gz", &whole[..whole.len() - 9]);
    folder.add("b.jsonl", "{\"story\": \"last\"}\n");
    let (stories, skipped) = folder.read(&["a.jsonl.gz", "b.jsonl"], &skipping()).unwrap();
    assert_eq!(skipped.count, 1);
    assert_eq!(stories.last().unwrap().text, "last");
}
