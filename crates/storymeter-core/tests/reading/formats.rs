//! The format of a file, by its name and its content.

use std::path::Path;

use storymeter_core::read::Format;

fn detect(name: &str, content: &str) -> Option<&'static str> {
    Format::detect(Path::new(name), content.as_bytes()).map(Format::name)
}

#[test]
fn names_go_both_ways() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    let error = "xml".parse::<Format>().unwrap_err().to_string();
    assert!(Format::ALL.iter().all(|format| error.contains(format.name())), "{error}");
}

#[test]
fn the_name_decides_where_it_can() {
    assert_eq!(detect("a/b.jsonl", ""), Some("jsonl"));
    assert_eq!(detect("b.JSONL.gz", ""), Some("jsonl"));
    assert_eq!(detect("b.jsonl.zst", ""), Some("jsonl"));
    assert_eq!(detect("b.jsonl", "[{\"story\": \"x\"}]"), Some("json"));
    assert_eq!(detect("b.jsonl", "{\n\"story\": \"x\"}"), Some("json"));
    assert_eq!(detect("b.jsonl", "{\"story\": \"x\"\n"), Some("jsonl"));
    assert_eq!(detect("b.json", "{\"data\": [\"x\"]}"), Some("json"));
    assert_eq!(detect("b.json", "{\"story\": \"x\"}\n{\"story\": \"y\"}\n"), Some("jsonl"));
    assert_eq!(detect("b.md", "# A door\n\nIt opened.\n"), Some("text"));
    assert_eq!(detect("b.csv", "story\nx\n"), Some("csv"));
    assert_eq!(detect("b.tsv.gz", "story\nx\n"), Some("tsv"));
    assert_eq!(detect("valid.wp_source", "[ WP ] A door .\n"), Some("wp"));
    assert_eq!(detect("b.parquet", "PAR1"), Some("parquet"));
}

#[test]
fn the_content_decides_for_text_and_standard_input() {
    for name in ["-", "stories", "stories.txt", "stories.txt.gz"] {
        assert_eq!(detect(name, "{\"story\": \"A door.\"}\n"), Some("jsonl"));
        assert_eq!(detect(name, "7 ||| a door opened . ||| 1 0 1 1 1 0 1\n"), Some("union"));
        assert_eq!(
            detect(name, "form\tsentence1\tsentence2\tsentence3\tsentence4\tsentence5\n"),
            Some("tsv")
        );
        assert_eq!(detect(name, "id,story\n1,A door.\n"), Some("csv"));
        assert_eq!(detect(name, "A.\nB.\nC.\nD.\nE.\n------\nA.\n"), Some("roc"));
        assert_eq!(detect(name, "[{\"story\": \"A door.\"}]"), Some("json"));
        assert_eq!(detect(name, "{\"data\": [{\"story\": \"A door.\"}]}\n"), Some("json"));
        assert_eq!(detect(name, "{\"story\": [\"A door.\"]}\n"), Some("json"));
        assert_eq!(detect(name, "{\n  \"story\": \"A door.\"\n}\n"), Some("json"));
        assert_eq!(detect(name, "id;text\n1;A door.\n"), Some("csv"));
        assert_eq!(detect(name, "model|output\nM|A door.\n"), Some("csv"));
        assert_eq!(detect(name, "A.\nB.\nC.\nD.\nE.\n\nA.\n"), Some("text"));
        assert_eq!(detect(name, "A.\nB.\nC.\nD.\nE.\n* * *\nA.\n"), Some("text"));
        assert_eq!(detect(name, "A door opened.\r\n\r\nA cat came in.\r\n"), Some("text"));
        assert_eq!(detect(name, "A door opened.\nA cat came in.\n\n"), Some("text"));
        assert_eq!(detect(name, "[ WP ] A door .\n"), Some("text"));
        assert_eq!(detect(name, "\"Come in,\" she said.\n"), Some("text"));
        // Prose in which a word between commas is the name of a column.
        let prose = "He gave her no answer, text, call or letter.\n";
        assert_eq!(detect(name, prose), Some("text"));
    }
}

#[test]
fn a_strange_file_is_not_taken_for_text() {
    assert_eq!(detect("photo.png", "\u{89}PNG\r\n"), None);
    assert_eq!(detect("photo", "GIF\0\0"), None);
    assert_eq!(detect("stories.dump", "{\"story\": \"A door.\"}\n"), Some("jsonl"));
}
