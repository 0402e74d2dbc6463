//! Columns, rows and ids of a table of scores.

use std::path::Path;

use storymeter_core::{Absence, Column, Direction, Ratings, Row, ScoreTable};

fn table(keys: &[&str]) -> ScoreTable {
    let mut table = ScoreTable::new(vec![Row { id: "a".into(), ..Row::default() }]);
    for key in keys {
        table.push(Column::metric(*key, Direction::Higher), vec![Ok(1.0)]);
    }
    table
}

#[test]
fn an_old_key_finds_its_column_unless_two_presets_have_it() {
    assert_eq!(table(&["bleu", "rouge:hanna/rouge-1-r"]).find("rouge-1-r").unwrap(), 1);
    let two = table(&["rouge:hanna/rouge-1-r", "rouge:google/rouge-1-r"]);
    assert_eq!(
        two.find("rouge-1-r").unwrap_err().to_string(),
        "\"rouge-1-r\" fits several columns: rouge:hanna/rouge-1-r, rouge:google/rouge-1-r"
    );
    assert_eq!(two.find("rouge:google/rouge-1-r").unwrap(), 1);
}

#[test]
fn an_unknown_column_gets_the_nearest_known_one() {
    let message = table(&["bleu", "chrf"]).find("blue").unwrap_err().to_string();
    assert_eq!(
        message,
        "there is no column \"blue\"; did you mean \"bleu\"? There are: bleu, chrf"
    );
}

#[test]
fn human_columns_are_means_and_an_unrated_story_is_absent() {
    let mut ratings = Ratings::new();
    ratings.push("plot/pace", Some(2.0));
    ratings.push("plot/pace", None);
    ratings.push("plot/pace", Some(5.0));
    let rated = Row { id: "a".into(), ratings, ..Row::default() };
    let table = ScoreTable::new(vec![rated, Row { id: "b".into(), ..Row::default() }]);
    assert_eq!(table.values(0), [Ok(3.5), Err(Absence::NotRated)]);
    assert_eq!((table.columns()[0].counts.present, table.columns()[0].counts.absent), (1, 1));
}

#[test]
fn an_id_may_be_there_once_per_system() {
    let row = |system: &str, line| Row {
        id: "7".into(),
        system: Some(system.into()),
        line: Some(line),
        ..Row::default()
    };
    let table = |rows| ScoreTable::new(rows).read_from(Path::new("scores.csv"));
    let two = table(vec![row("rain", 2), row("tale", 3)]);
    assert_eq!(two.index().unwrap().find(Some("rain"), "7"), Some(0));
    assert_eq!(two.index().unwrap().find(Some("snow"), "7"), None);
    let twice = table(vec![row("rain", 2), row("tale", 3), row("rain", 4)]);
    assert_eq!(
        twice.index().unwrap_err().to_string(),
        "scores.csv:4: field \"id\": duplicate id \"7\" of system \"rain\": it was first used \
         on line 2"
    );
}

#[test]
fn stories_of_two_systems_never_match_one_story() {
    let row = |system: Option<&str>, line| Row {
        id: "7".into(),
        system: system.map(str::to_owned),
        line: Some(line),
        ..Row::default()
    };
    let nameless = ScoreTable::new(vec![row(None, 1)]).read_from(Path::new("human.jsonl"));
    let one = ScoreTable::new(vec![row(Some("rain"), 2)]).read_from(Path::new("a.csv"));
    assert_eq!(nameless.matches(&one).unwrap(), [Some(0)]);
    let rows = vec![row(Some("rain"), 2), row(Some("tale"), 3)];
    let two = ScoreTable::new(rows).read_from(Path::new("a.csv"));
    assert_eq!(two.matches(&one).unwrap(), [Some(0)]);
    let message = nameless.matches(&two).unwrap_err().to_string();
    assert!(message.starts_with("a.csv:3: field \"id\": the stories \"7\" of"), "{message}");
}

#[test]
fn a_duplicate_id_is_named_with_both_lines() {
    let row = |line| Row { id: "7".into(), line: Some(line), ..Row::default() };
    let table = ScoreTable::new(vec![row(3), row(9)]).read_from(Path::new("scores.jsonl"));
    assert_eq!(
        table.index().unwrap_err().to_string(),
        "scores.jsonl:9: field \"id\": duplicate id \"7\": it was first used on line 3"
    );
}
