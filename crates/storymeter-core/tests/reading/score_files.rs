//! Score tables are read back as they were written, and errors name what is wrong.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use storymeter_core::read::{scores, scores_from};
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::{ScoreFormat, ScoreLine, ScoreLines, ScoreWriter};
use storymeter_core::{
    Absence, Catalogue, Column, Direction, Header, Range, Ratings, Row, ScoreTable, Signature,
    Value,
};

struct Sandbox(tempfile::TempDir);

impl Sandbox {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }
}

fn read(path: &Path) -> storymeter_core::Result<ScoreTable> {
    scores(path, &Catalogue::default())
}

/// The message without the folder of the test.
fn message(path: &Path) -> String {
    let folder = format!("{}/", path.parent().unwrap().display());
    read(path).unwrap_err().to_string().replace(&folder, "")
}

#[test]
fn scores_keep_their_order_and_null_is_absent_with_its_reason() {
    let sandbox = Sandbox::new();
    let path = sandbox.file(
        "scores.jsonl",
        r#"{"id": 7, "system": "GPT", "scores": {"ter": 0.5, "bleu": null, "x": null},
            "absent": {"bleu": "no reference"}, "human": {"fun": [1, null, 3]}}
{"scores": {"ter": 2}}
"#
        .replace("\n            ", "")
        .as_str(),
    );
    let table = read(&path).unwrap();
    let ids: Vec<&str> = table.rows().iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["7", "1"]);
    assert_eq!(table.values(table.find("ter").unwrap()), [Ok(0.5), Ok(2.0)]);
    let bleu = table.values(table.find("bleu").unwrap());
    assert_eq!(bleu, [Err(Absence::because("no reference")), Err(Absence::NotGiven)]);
    assert_eq!(table.values(table.find("x").unwrap())[0], Err(Absence::NotGiven));
    assert_eq!(table.values(table.find("fun").unwrap()), [Ok(2.0), Err(Absence::NotRated)]);
    assert_eq!(table.rows()[0].ratings.get("fun").unwrap(), [Some(1.0), None, Some(3.0)]);
}

#[test]
fn a_file_without_header_is_read_and_says_so() {
    let sandbox = Sandbox::new();
    let table = read(&sandbox.file("s.jsonl", "{\"id\": \"a\", \"scores\": {\"mine\": 1}}\n"));
    let notes = table.unwrap().notes().join("\n");
    assert!(notes.contains("has no header") && notes.contains("none for mine"), "{notes}");
}

#[test]
fn a_value_that_is_no_finite_number_is_named_with_its_field() {
    let sandbox = Sandbox::new();
    let text = sandbox.file("a.jsonl", "{\"id\": \"a\", \"scores\": {\"bleu\": \"high\"}}\n");
    assert_eq!(message(&text), "a.jsonl:1: field \"scores.bleu\": \"high\" is not a finite number");
    let csv = sandbox.file("a.csv", "id,system,item,bleu\na,,a,1\nb,,b,inf\n");
    assert_eq!(message(&csv), "a.csv:3: field \"bleu\": \"inf\" is not a finite number");
    let empty = sandbox.file("b.jsonl", "\n");
    assert_eq!(message(&empty), "b.jsonl: the file has no line of scores");
}

#[test]
fn every_error_names_the_field() {
    let sandbox = Sandbox::new();
    let twice = "is given twice";
    for (line, field, problem) in [
        (r#"{"id": true}"#, "id", "\"true\" is neither a string nor a number"),
        (r#"{"id": "a\ud800"}"#, "id", "unexpected end of hex escape"),
        (r#"{"system": []}"#, "system", "\"[]\" is neither a string nor a number"),
        (r#"{"scores": 3}"#, "scores", "invalid type: integer `3`, expected an object"),
        (r#"{"scores": {"bleu": 1e400}}"#, "scores", "number out of range"),
        (r#"{"scores": {"bleu": [1]}}"#, "scores.bleu", "a list is not a finite number"),
        (r#"{"scores": {"bleu": {}}}"#, "scores.bleu", "an object is not a finite number"),
        (r#"{"scores": {"bleu": true}}"#, "scores.bleu", "true is not a finite number"),
        (r#"{"absent": []}"#, "absent", "invalid type: sequence, expected an object"),
        (r#"{"human": {"fun": "x"}}"#, "human", "invalid type: string \"x\""),
        (r#"{"id": "a", "id": "b"}"#, "id", twice),
        (r#"{"story_id": "a", "story_id": "b"}"#, "story_id", twice),
        (r#"{"scores": {"b": 1}, "scores": {}}"#, "scores", twice),
        (r#"{"scores": {"b": 1, "b": 2}}"#, "scores.b", twice),
        (r#"{"absent": {"b": "", "b": ""}}"#, "absent", "the key \"b\" is given twice"),
        (r#"{"human": {"fun": 1, "fun": 2}}"#, "human", "the criterion \"fun\" is given twice"),
    ] {
        let path = sandbox.file("a.jsonl", &format!("{{\"id\": 1}}\n{line}\n"));
        let message = message(&path);
        let place = format!("a.jsonl:2: field \"{field}\": ");
        assert!(message.starts_with(&place) && message.contains(problem), "{message}");
    }
    let path = sandbox.file("a.csv", "id,bleu,system,bleu\na,1,S,2\n");
    assert_eq!(message(&path), "a.csv:1: field \"bleu\": columns 2 and 4 have the same name");
}

#[test]
fn raw_nuls_and_utf_16_are_refused() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("a.csv", "id,bleu\na\0b,1\n");
    assert!(message(&path).starts_with("a.csv:2: byte 2 of the line is a NUL"));
    let path = sandbox.file("a.jsonl", "{\"id\": \"a\0\"}\n");
    assert!(message(&path).starts_with("a.jsonl:1: byte 10 of the line is a NUL"));
    let path = sandbox.path("b.csv");
    let wide: Vec<u8> = "id,bleu\na,1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&path, wide).unwrap();
    assert_eq!(message(&path), "b.csv: this looks like UTF-16 text; save it as UTF-8");
}

#[test]
fn ids_keep_their_digits_in_both_layouts() {
    let sandbox = Sandbox::new();
    let ids = ["1", "1.0", "18446744073709551616", "18446744073709551617"];
    let lines: String = ids.iter().map(|id| format!("{{\"id\": {id}}}\n")).collect();
    let rows: String = ids.iter().map(|id| format!("{id},1\n")).collect();
    for path in [sandbox.file("a.jsonl", &lines), sandbox.file("a.csv", &format!("id,m\n{rows}"))] {
        let table = read(&path).unwrap();
        let seen: Vec<&str> = table.rows().iter().map(|row| row.id.as_str()).collect();
        assert_eq!(seen, ids);
    }
}

#[test]
fn names_that_are_formulas_are_marked_and_numbers_are_not() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("s.csv");
    let row = |id: &str| Row { id: id.into(), item: "@x".into(), ..Row::default() };
    let mut table = ScoreTable::new(vec![row("=1+1"), row("-5"), row("'-5"), row("'tis")]);
    let values = vec![Ok(-0.5), Ok(-1e-9), Ok(3.0), Err(Absence::NotGiven)];
    table.push(Column::metric("+m", Direction::Lower), values);
    table.write(&path).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "id,system,item,'+m\n'=1+1,,'@x,-0.5\n'-5,,'@x,-0.000000001\n''-5,,'@x,3\n'tis,,'@x,\n"
    );
    let again = read(&path).unwrap();
    assert_eq!((again.columns(), again.values(0)), (table.columns(), table.values(0)));
    for (read, written) in again.rows().iter().zip(table.rows()) {
        assert_eq!((&read.id, &read.item), (&written.id, &written.item));
    }
}

#[test]
fn a_nul_cannot_be_written_as_csv() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("s.csv");
    let written = table(&["a\0"], Direction::Lower, vec![Ok(1.0)]).write(&path);
    let message = written.unwrap_err().to_string();
    assert!(
        message
            .ends_with("a text with a NUL character cannot be written as CSV; JSONL can hold it")
    );
    assert!(!path.exists());
}

#[test]
fn a_header_of_other_rows_is_refused() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("s.jsonl");
    table(&["a", "b"], Direction::Higher, vec![Ok(1.0), Ok(2.0)]).write(&path).unwrap();
    let one_line = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    fs::write(&path, one_line).unwrap();
    let message = message(&path);
    assert!(
        message.starts_with("s.jsonl: the file has 1 rows, but its header s.jsonl.meta.json"),
        "{message}"
    );
}

#[test]
fn a_header_of_another_file_with_as_many_rows_is_refused() {
    let sandbox = Sandbox::new();
    let (path, other) = (sandbox.path("s.jsonl"), sandbox.path("other.jsonl"));
    table(&["a"], Direction::Higher, vec![Ok(1.0)]).write(&path).unwrap();
    table(&["a"], Direction::Lower, vec![Ok(0.25)]).write(&other).unwrap();
    fs::rename(&other, &path).unwrap();
    let message = message(&path);
    assert!(message.contains("bytes, but its header s.jsonl.meta.json says"), "{message}");
}

#[test]
fn a_header_that_is_none_is_refused_with_its_line() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("s.jsonl", "{\"id\": \"a\", \"scores\": {\"bleu\": 1}}\n");
    sandbox.file("s.jsonl.meta.json", "{\"storymeter\": \"0\",\n \"rows\": -1}");
    let message = message(&path);
    assert!(
        message.starts_with("s.jsonl.meta.json:2: not the header of a score file"),
        "{message}"
    );
}

#[test]
fn a_new_file_never_keeps_the_header_of_an_old_one() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("s.jsonl");
    table(&["a"], Direction::Lower, vec![Ok(1.0)]).write(&path).unwrap();
    table(&["a", "b"], Direction::Higher, vec![Ok(1.0), Ok(2.0)]).write(&path).unwrap();
    let read = read(&path).unwrap();
    assert_eq!((read.rows().len(), read.columns()[0].direction), (2, Direction::Higher));
}

/// A program that is killed while it replaces a file and its header leaves one of these states.
#[test]
fn a_file_and_a_header_that_belong_together_are_found_at_any_time() {
    let sandbox = Sandbox::new();
    let (path, other) = (sandbox.path("s.jsonl"), sandbox.path("other.jsonl"));
    table(&["a"], Direction::Lower, vec![Ok(1.0)]).write(&path).unwrap();
    table(&["a"], Direction::Higher, vec![Ok(2.0)]).write(&other).unwrap();
    let direction = || read(&path).map(|table| table.columns()[0].direction);
    let next = sandbox.path("s.jsonl.meta.new");
    fs::hard_link(Header::path_of(&other), &next).unwrap();
    assert_eq!(direction().unwrap(), Direction::Lower);
    fs::rename(&other, &path).unwrap();
    assert_eq!(direction().unwrap(), Direction::Higher);
    assert_eq!(Header::read(&path).unwrap().unwrap().columns[0].direction, Direction::Higher);
    // Without the second name, readers see that the header is that of the older file.
    fs::remove_file(&next).unwrap();
    let message = message(&path);
    assert!(message.contains("the file does not have the checksum in its header"), "{message}");
    fs::rename(Header::path_of(&other), Header::path_of(&path)).unwrap();
    fs::hard_link(Header::path_of(&path), &next).unwrap();
    assert_eq!(direction().unwrap(), Direction::Higher);
    // The next one that writes the file removes what was left.
    table(&["a"], Direction::Lower, vec![Ok(3.0)]).write(&path).unwrap();
    assert_eq!(direction().unwrap(), Direction::Lower);
    assert!(!next.exists());
    // A file of the user that has this name is left alone.
    fs::write(&next, "mine").unwrap();
    table(&["a"], Direction::Higher, vec![Ok(4.0)]).write(&path).unwrap();
    assert_eq!(
        (direction().unwrap(), fs::read(&next).unwrap()),
        (Direction::Higher, b"mine".into())
    );
}

#[test]
fn csv_is_read_like_jsonl() {
    let sandbox = Sandbox::new();
    for name in ["s.jsonl", "s.csv"] {
        let path = sandbox.path(name);
        let values = vec![Ok(1.0 / 3.0), Err(Absence::NotGiven)];
        let written = table(&["a,\"b\"", "c\nd"], Direction::Lower, values);
        written.write(&path).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read.columns(), written.columns(), "{name}");
        let without_reasons = |value: &Value| value.clone().ok();
        let numbers: Vec<_> = read.values(0).iter().map(without_reasons).collect();
        assert_eq!(numbers, [Some(1.0 / 3.0), None], "{name}");
        assert_eq!(read.rows()[0].id, "a,\"b\"", "{name}");
        assert!(Header::path_of(&path).exists(), "{name}");
        assert!(read.notes().is_empty(), "{name}: {:?}", read.notes());
    }
}

#[test]
fn a_value_that_was_not_given_gets_no_reason_by_being_written() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("s.jsonl");
    let values = vec![Err(Absence::NotGiven), Err(Absence::because("no words"))];
    table(&["a", "b"], Direction::Lower, values.clone()).write(&path).unwrap();
    assert_eq!(read(&path).unwrap().values(0), values);
}

#[test]
fn a_header_that_calls_a_score_a_human_rating_is_an_error() {
    let sandbox = Sandbox::new();
    let line = r#"{"id": "a", "scores": {"fun": 1}, "human": {"fun": [2]}}"#;
    let path = sandbox.file("s.jsonl", line);
    let column = r#"{"key": "fun", "role": "human", "direction": "higher"}"#;
    let header = format!(r#"{{"storymeter": "0.1.0", "rows": 1, "columns": [{column}]}}"#);
    sandbox.file("s.jsonl.meta.json", &header);
    assert_eq!(
        message(&path),
        "s.jsonl.meta.json: field \"columns\": the column \"fun\" is not a metric"
    );
}

fn table(ids: &[&str], direction: Direction, values: Vec<Value>) -> ScoreTable {
    let row = |id: &&str| Row { id: (*id).into(), item: (*id).into(), ..Row::default() };
    let mut table = ScoreTable::new(ids.iter().map(row).collect());
    let signature = Signature::new("rouge").with("like", "l", "a:b").with_version();
    let column = Column::metric("rouge:hanna/rouge-1-r", direction);
    let column = column.with(|it| (it.range, it.signature) = (Range::UNIT, Some(signature)));
    table.push(column, values);
    table
}

proptest! {
    #[test]
    fn csv_names_are_read_back_as_they_were(
        names in prop::collection::vec("['=+@\t-]{0,3}[a'=, \n]{0,3}x", 1..6),
        key in "['=+@-]{0,3}[a'=,]{0,3}x",
        raw in any::<bool>(),
    ) {
        let text = if raw { TextCells::Raw } else { TextCells::Marked };
        let lines = ScoreLines::new(ScoreFormat::Csv, vec![key.as_str().into()]).text_cells(text);
        let mut part = lines.part();
        for name in &names {
            let ratings = Ratings::new();
            let line = ScoreLine {
                id: name,
                system: Some(name),
                item: name,
                words: Some(3),
                flags: &[],
                values: &[Ok(-1.5)],
                ratings: &ratings,
                explanation: None,
            };
            lines.add(&mut part, &line).unwrap();
        }
        let mut writer = ScoreWriter::new(Vec::new(), &lines).unwrap();
        writer.write(part).unwrap();
        let out = writer.finish(&Header::new(names.len() as u64, 0, Vec::new())).unwrap();
        let read = scores_from("s.csv", std::io::Cursor::new(out), &Catalogue::default()).unwrap();
        prop_assert_eq!(read.columns()[0].key.as_str(), &key);
        prop_assert_eq!(read.values(0), &vec![Ok(-1.5); names.len()][..]);
        for (row, name) in read.rows().iter().zip(&names) {
            prop_assert_eq!((&row.id, row.system.as_ref(), &row.item), (name, Some(name), name));
        }
    }

    #[test]
    fn any_table_is_read_back_bit_for_bit(
        cells in prop::collection::vec(
            (any::<String>(), prop::option::of(any::<f64>()), any::<f64>(), "\\PC{1,20}"),
            1..8,
        )
    ) {
        let number = |x: f64| if x.is_finite() { x } else { 0.5 };
        let rows = cells.iter().enumerate().map(|(at, (id, _, rating, _))| {
            let mut ratings = Ratings::new();
            ratings.push("plot/pace", Some(number(*rating)));
            ratings.push("plot/pace", None);
            Row {
                id: format!("{at}{id}"),
                item: id.clone(),
                system: (at % 2 == 0).then(|| id.clone()),
                ratings,
                line: Some(at as u64 + 1),
                ..Row::default()
            }
        });
        let mut table = ScoreTable::new(rows.collect());
        let values = cells.iter().map(|(_, value, _, reason)| {
            value.map(number).ok_or_else(|| Absence::because(reason.as_str()))
        });
        table.push(Column::metric("m:a+b/c", Direction::Lower), values.collect());
        let sandbox = Sandbox::new();
        let names: &[&str] =
            if cfg!(feature = "parquet") { &["s.jsonl", "s.parquet"] } else { &["s.jsonl"] };
        for name in names {
            let path = sandbox.path(name);
            table.write(&path).unwrap();
            let read = read(&path).unwrap();
            let expected = table.clone().read_from(&path);
            prop_assert_eq!(read.rows(), expected.rows());
            prop_assert_eq!(read.columns(), table.columns());
            for column in 0..table.columns().len() {
                let bits = |table: &ScoreTable| -> Vec<Result<u64, Absence>> {
                    let values = table.values(column).iter().cloned();
                    values.map(|value| value.map(f64::to_bits)).collect()
                };
                prop_assert_eq!(bits(&read), bits(&table));
            }
        }
    }
}
