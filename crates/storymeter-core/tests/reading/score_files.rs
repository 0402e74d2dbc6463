//! Score tables are read back as they were written, and errors name what is wrong.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use storymeter_core::read::scores;
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
    let column = Column { range: Range::UNIT, signature: Some(signature), ..column };
    table.push(column, values);
    table
}

proptest! {
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
            }
        });
        let mut table = ScoreTable::new(rows.collect());
        let values = cells.iter().map(|(_, value, _, reason)| {
            value.map(number).ok_or_else(|| Absence::because(reason.as_str()))
        });
        table.push(Column::metric("m:a+b/c", Direction::Lower), values.collect());
        let sandbox = Sandbox::new();
        let path = sandbox.path("s.jsonl");
        table.write(&path).unwrap();
        let read = read(&path).unwrap();
        prop_assert_eq!(read.rows(), table.rows());
        prop_assert_eq!(read.columns(), table.columns());
        for column in 0..table.columns().len() {
            prop_assert_eq!(read.values(column), table.values(column));
        }
    }
}
