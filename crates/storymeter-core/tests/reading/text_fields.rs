//! How many words a text has and what in it is not story: in score files of ours, and not in those
//! of others.

use std::fs;
use std::path::{Path, PathBuf};

use storymeter_core::read::{Field, ScoreField, joined_scores, score_fields, scores};
use storymeter_core::{
    Catalogue, Column, Direction, Header, Place, Row, ScoreTable, TextTotals, Totals,
};

fn read(path: &Path) -> storymeter_core::Result<ScoreTable> {
    scores(path, &Catalogue::default())
}

fn file(folder: &tempfile::TempDir, name: &str, content: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

/// What is said about the texts, by row.
fn texts(table: &ScoreTable) -> Vec<(Option<u64>, Vec<&str>)> {
    let rows = table.rows().iter();
    rows.map(|row| (row.words, row.flags.iter().map(String::as_str).collect())).collect()
}

fn table() -> ScoreTable {
    let row = |id: &str, words: Option<u64>, flags: &[&str]| Row {
        id: id.into(),
        item: id.into(),
        words,
        flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        ..Row::default()
    };
    let rows = vec![
        row("a", Some(120), &["preamble", "cut"]),
        row("b", Some(0), &[]),
        row("c", None, &["very short"]),
    ];
    let mut table = ScoreTable::new(rows);
    table.push(Column::metric("mine", Direction::Higher), vec![Ok(1.0), Ok(2.0), Ok(3.0)]);
    table
}

#[test]
fn words_and_flags_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let names: &[&str] =
        if cfg!(feature = "parquet") { &["s.jsonl", "s.parquet"] } else { &["s.jsonl"] };
    for name in names {
        let path = folder.path().join(name);
        table().write(&path).unwrap();
        assert_eq!(texts(&read(&path).unwrap()), texts(&table()), "{name}");
        // The header inside a Parquet file is enough.
        fs::remove_file(Header::path_of(&path)).unwrap();
        assert_eq!(texts(&read(&path).unwrap()), texts(&table()), "{name}");
    }
    let path = folder.path().join("s.csv");
    table().write(&path).unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("id,system,item,mine\n"));
    let lines = fs::read_to_string(folder.path().join("s.jsonl")).unwrap();
    let (first, second) = lines.split_once('\n').unwrap();
    let begin = r#"{"id":"a","system":null,"item":"a","words":120,"flags":["preamble","cut"],"#;
    assert!(first.starts_with(begin), "{first}");
    assert!(second.starts_with(r#"{"id":"b","system":null,"item":"b","words":0,"scores""#));
}

#[test]
fn in_files_of_others_they_are_scores_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let flat = "{\"id\": \"a\", \"words\": 12, \"flags\": \"red\", \"mine\": 0.5}\n";
    let path = file(&folder, "flat.jsonl", flat);
    let found = read(&path).unwrap();
    assert_eq!(found.values(found.find("words").unwrap()), [Ok(12.0)]);
    assert_eq!((found.columns().len(), texts(&found)), (2, vec![(None, vec![])]));
    for header in ["id,words,flags", "id,system,item,words,flags"] {
        let cells = if header.contains("item") { "a,s,i,12,3" } else { "a,12,3" };
        let path = file(&folder, "s.csv", &format!("{header}\n{cells}\n"));
        let found = read(&path).unwrap();
        assert_eq!(found.values(found.find("words").unwrap()), [Ok(12.0)], "{header}");
        assert_eq!(found.values(found.find("flags").unwrap()), [Ok(3.0)], "{header}");
        assert_eq!(texts(&found), [(None, vec![])]);
    }
    // A frame of ours has both, and they are what is said about the texts.
    let fields = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        score_fields(&names, &Place::default()).unwrap()
    };
    let id = ScoreField::Story(Field::Id);
    assert_eq!(fields(&["id", "words"]), [id.clone(), ScoreField::Score]);
    let ours = [id, ScoreField::Words, ScoreField::Flags, ScoreField::Score];
    assert_eq!(fields(&["id", "words", "flags", "x"]), ours);
}

#[test]
fn hostile_values_are_named_with_file_line_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let message = |field: &str| {
        let good = "{\"id\": \"a\", \"words\": 3, \"flags\": null, \"scores\": {\"x\": 1}}\n";
        let line = format!("{{\"id\": \"b\", {field}, \"scores\": {{\"x\": 1}}}}\n");
        let path = file(&folder, "s.jsonl", &(good.to_owned() + &line));
        let prefix = format!("{}/", folder.path().display());
        read(&path).unwrap_err().to_string().replace(&prefix, "")
    };
    for (field, problem) in [
        ("\"words\": -1", "field \"words\": -1 is not a number of words"),
        ("\"words\": \"12\"", "field \"words\": \"12\" is not a number of words"),
        ("\"words\": 1.5", "field \"words\": 1.5 is not a number of words"),
        ("\"words\": 1, \"words\": 2", "field \"words\": the field is given twice"),
        ("\"flags\": \"cut\"", "field \"flags\": \"cut\" is not a list of flags"),
        ("\"flags\": [1]", "field \"flags\": 1 is not the name of a flag"),
    ] {
        let found = message(field);
        assert!(found.starts_with(&format!("s.jsonl:2: {problem}")), "{found}");
    }
    let found = message("\"flags\": [\"a\\u001b[2J\"]");
    assert!(found.contains("field \"flags\"") && !found.contains('\u{1b}'), "{found:?}");
    let many = vec!["\"cut\""; 10_000].join(",");
    let found = message(&format!("\"flags\": [{many}]"));
    assert!(found.contains("10000 flags are more than 100"), "{found}");
}

#[test]
fn files_of_the_same_stories_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let line = |id: &str, about: &str, key: &str| {
        format!("{{\"id\": \"{id}\", {about}\"scores\": {{\"{key}\": 1}}}}\n")
    };
    let first = file(
        &folder,
        "first.jsonl",
        &(line("a", "\"words\": 12, \"flags\": [\"cut\"], ", "x")
            + &line("b", "", "x")
            + &line("c", "\"words\": 7, ", "x")),
    );
    let second = file(
        &folder,
        "second.jsonl",
        &(line("a", "\"words\": 12, \"flags\": [\"list\", \"cut\"], ", "y")
            + &line("b", "\"words\": 3, ", "y")
            + &line("c", "\"words\": 8, ", "y")),
    );
    let joined = joined_scores(&[&first, &second], &Catalogue::default()).unwrap();
    assert_eq!(
        texts(&joined),
        [(Some(12), vec!["cut", "list"]), (Some(3), vec![]), (Some(7), vec![])]
    );
    let notes = joined.notes().join("\n");
    assert!(notes.contains("second.jsonl: 1 story has another number of words"), "{notes}");
}

#[test]
fn totals_of_older_headers_are_read() {
    let old = r#"{"read": {"stories": 1, "files": []}, "numbered": 0, "empty": 0,
        "references": null, "unlike": {"texts": 3, "kinds": {"list": 3}}, "metrics": [],
        "systems": [{"system": "a", "stories": 1, "metrics": []}]}"#;
    let mut value: serde_json::Value = serde_json::from_str(old).unwrap();
    value["read"] = serde_json::to_value(storymeter_core::read::Summary::default()).unwrap();
    let totals: Totals = serde_json::from_value(value).unwrap();
    assert!(totals.texts.is_empty());
    assert_eq!(totals.systems.unwrap()[0].no_stories, 0);
}

#[test]
fn counts_by_system_are_dropped_beyond_a_limit_in_any_order() {
    let of = |systems: std::ops::Range<usize>| {
        let mut totals = TextTotals::default();
        for system in systems {
            totals.add(Some(&format!("{system:0200}")), &["cut"], &[]);
        }
        totals
    };
    let merged = |parts: [TextTotals; 3]| {
        let mut all = TextTotals::default();
        parts.into_iter().for_each(|part| all.merge(part));
        all
    };
    let (a, b, c) = (of(0..1500), of(1500..3000), of(3000..4500));
    assert!(a.systems.is_some());
    let one = merged([a.clone(), b.clone(), c.clone()]);
    assert_eq!((one.systems.as_ref(), one.flags["cut"]), (None, 4500));
    assert_eq!(one, merged([c, a, b]));
    let again: TextTotals = serde_json::from_value(serde_json::to_value(&one).unwrap()).unwrap();
    assert_eq!(again, one);
}
