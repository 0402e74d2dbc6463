//! Inputs that try to take all memory or all time are refused quickly, and messages stay short.

use std::io::{Read, repeat};
use std::time::{Duration, Instant};

use storymeter_core::Catalogue;
use storymeter_core::read::{Format, ReadOptions, from_reader, scores_from};

use crate::folder::{error, error_with, stories};

/// The message of a score file, which must come soon and be short.
fn score_error(name: &str, content: impl Into<Vec<u8>>) -> String {
    let begin = Instant::now();
    let content = std::io::Cursor::new(content.into());
    let message = scores_from(name, content, &Catalogue::default()).unwrap_err().to_string();
    assert!(message.len() < 500, "{} characters", message.len());
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    message
}

/// The message of a file of stories, which must come soon and be short.
fn story_error(name: &str, content: impl AsRef<[u8]>) -> String {
    let begin = Instant::now();
    let message = error(name, content);
    assert!(message.len() < 500, "{} characters", message.len());
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    message
}

#[test]
fn a_line_of_a_gigabyte_is_not_held_nor_shown() {
    for (name, begin) in
        [("a.jsonl", "{\"story\": \""), ("a.csv", "id,story\n1,"), ("a.txt", "x"), ("a", "x")]
    {
        let input = std::io::Cursor::new(begin).chain(repeat(b'a').take(1 << 30));
        let mut records = from_reader(name, input, &ReadOptions::default());
        let message = records.next().unwrap().unwrap_err().to_string();
        assert!(message.contains("bytes, but at most 67108864 are read"), "{message}");
        assert!(message.len() < 100, "{message}");
    }
    for (name, begin) in
        [("a.jsonl", "{\"id\": \""), ("a.csv", "id,b\n"), ("a.csv", "Model,b\nA,\"")]
    {
        let input = std::io::Cursor::new(begin).chain(repeat(b'a').take(1 << 30));
        let message = scores_from(name, input, &Catalogue::default()).unwrap_err().to_string();
        assert!(message.contains("bytes, but at most 67108864 are read"), "{message}");
        assert!(message.len() < 150, "{message}");
    }
}

#[test]
fn an_endless_stream_ends() {
    let options = ReadOptions::default().with(|it| it.max_line = 1 << 16);
    for format in [Format::Jsonl, Format::Csv, Format::Tsv, Format::Lines, Format::Blocks] {
        let options = options.clone().with(|it| {
            it.format = Some(format);
            it.skip_bad = true;
        });
        let message = from_reader("a", repeat(b'a'), &options).next().unwrap().unwrap_err();
        let message = message.to_string();
        assert!(message.ends_with("bytes and does not end"), "{format}: {message}");
        let message = from_reader("a", repeat(0), &options).next().unwrap().unwrap_err();
        assert_eq!(message.to_string(), "a: this is not text: many of its first bytes are NUL");
    }
}

#[test]
fn a_quote_that_never_closes_is_named_by_the_line_where_its_record_begins() {
    let options = ReadOptions::default().with(|it| it.max_line = 1000);
    let endless = format!("id,story\n1,x\n2,\"open\n{}", "more text\n".repeat(1000));
    assert_eq!(
        error_with("a.csv", endless, &options),
        "a.csv:3: the record has more than 1000 bytes; is a quote left open?"
    );
    let long = format!("id,story\n1,x\n2,\"open\n{}\n", "more ".repeat(1000));
    assert_eq!(
        error_with("a.csv", long, &options),
        "a.csv:3: the record goes on to line 4: the line has 5000 bytes, but at most 1000 are read"
    );
}

#[test]
fn long_values_are_not_shown_whole() {
    let long = "x".repeat(1 << 20);
    for content in [
        format!("{{\"story\": {{\"{long}\": 1}}}}"),
        format!("{{\"story\": \"x\", \"human\": \"{long}\"}}"),
        format!("{{\"story\": \"x\", \"human\": {{\"{long}\": 1, \"{long}\": 1}}}}"),
        format!("{{\"story\": \"x\", \"id\": [\"{long}\"]}}"),
        format!("{{\"story\": \"x\", \"id\": {long}}}"),
    ] {
        story_error("a.jsonl", content);
    }
    story_error("a.csv", format!("id,{long}\n"));
    story_error("a.txt", format!("1 ||| x ||| {long}\n"));
    for content in [
        format!("{{\"scores\": {{\"{long}\": \"{long}\"}}}}"),
        format!("{{\"scores\": {{\"{long}\": 1, \"{long}\": 2}}}}"),
        format!("{{\"absent\": {{\"{long}\": 1, \"{long}\": 2}}}}"),
        format!("{{\"scores\": \"{long}\"}}"),
        format!("\"{long}\""),
    ] {
        score_error("a.jsonl", content);
    }
    score_error("a.csv", format!("id,{long}\n1,{long}\n"));
    score_error("a.csv", format!("id,{long},{long}\n"));
    score_error("a.csv", format!("Model,{long}\nA,{long}\n"));
    score_error("a.csv", format!("Model,a\nA,\"[\"\"{long}\"\"]\"\n"));
    score_error("a.csv", format!("Model,a\n{long},[1]\n{long},[1]\n"));
}

#[test]
fn millions_of_columns_are_refused() {
    let commas = ",".repeat(10_000_000);
    let tabs = commas.replace(',', "\t");
    let names: String = (0..200_000).map(|n| format!(",c{n}")).collect();
    assert!(story_error("a.csv", format!("story{commas}\nx\n")).contains("more than 100000"));
    assert!(story_error("a.tsv", format!("story{tabs}\n")).contains("more than 100000"));
    assert!(story_error("a.csv", format!("story\nx{commas}\n")).contains("10000001 fields"));
    assert!(score_error("a.csv", format!("id{commas}\n")).contains("more than 10000 columns"));
    assert!(score_error("a.csv", format!("id{names}\n")).contains("more than 10000 columns"));
    assert!(score_error("a.csv", format!("id,a\nx{commas}\n")).contains("10000001 fields"));
    assert!(score_error("a.csv", format!("Model{commas}\n")).contains("more than 10000 columns"));
    let keys: String = (0..1_000_000).map(|n| format!("\"c{n}\":1,")).collect();
    let line = format!("{{\"scores\": {{{keys}\"last\": 1}}}}");
    assert!(score_error("a.jsonl", line).contains("more than 10000 keys"));
}

#[test]
fn rows_with_keys_of_their_own_do_not_fill_the_memory() {
    let lines: String = (0..9_000).map(|n| format!("{{\"scores\": {{\"c{n}\": 1}}}}\n")).collect();
    let message = score_error("a.jsonl", lines);
    assert!(message.ends_with("almost every row has keys of its own"), "{message}");
    let lines: String = (0..30_000).map(|n| format!("{{\"human\": {{\"c{n}\": 1}}}}\n")).collect();
    let message = score_error("a.jsonl", lines);
    assert!(message.ends_with("almost every row has keys of its own"), "{message}");
}

#[test]
fn lists_without_end_are_refused() {
    let ones = "1,".repeat(5_000_000);
    let texts = "\"\",".repeat(5_000_000);
    let criteria: String = (0..1_000_000).map(|n| format!("\"c{n}\":1,")).collect();
    for (value, problem) in [
        (format!("\"human\": {{\"fun\": [{ones}1]}}"), "more than 10000 raters"),
        (format!("\"human\": [{{{criteria}\"last\": 1}}]"), "more than 1000 criteria"),
        (format!("\"human\": {{{criteria}\"last\": 1}}"), "more than 1000 criteria"),
        (format!("\"reference\": [{texts}\"\"]"), "more than 10000 references"),
    ] {
        let message = story_error("a.jsonl", format!("{{\"story\": \"x\", {value}}}"));
        assert!(message.contains(problem), "{message}");
    }
    let message = story_error("a.txt", format!("1 ||| x ||| {}", ones.replace(',', " ")));
    assert!(message.contains("more than 10000 ratings"), "{message}");
}

#[test]
fn odd_json_is_an_error_or_text_and_never_a_panic() {
    let deep = "[".repeat(1_000_000);
    for field in ["id", "story", "human", "reference", "other"] {
        story_error("a.jsonl", format!("{{\"story\": \"x\", \"{field}\": {deep}"));
        score_error("a.jsonl", format!("{{\"scores\": {{\"x\": 1}}, \"{field}\": {deep}"));
    }
    score_error("a.jsonl", format!("{{\"scores\": {{\"x\": {deep}"));
    story_error("a.jsonl", "{\"story\": \"\\ud800\"}");
    story_error("a.jsonl", "{\"story\": \"x\", \"id\": \"\\udc00\"}");
    story_error("a.jsonl", "{\"story\": \"x\", \"human\": {\"fun\": 1e400}}");
    story_error("a.jsonl", "{\"story\": \"x\", \"id\": 01}");
    score_error("a.csv", "id,a\nx,1e400\n");
    score_error("a.csv", "Model,a\nA,[1e400]\n");
    // A byte order mark in the middle is a character like any other.
    assert_eq!(stories("a.txt", "one\n\u{feff}two\n")[0].text, "one\n\u{feff}two");
    assert_eq!(stories("a.txt", "one\rtwo\r").len(), 1);
}
