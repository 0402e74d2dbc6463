//! Tables of scores from other programs, and several score files that are joined.

use std::fs;
use std::path::PathBuf;

use storymeter_core::read::{joined_scores, scores_from};
use storymeter_core::{Absence, Catalogue, Role, ScoreTable};

fn read(name: &str, content: &str) -> ScoreTable {
    let content = std::io::Cursor::new(content.to_owned());
    scores_from(name, content, &Catalogue::default()).unwrap()
}

fn refused(name: &str, content: &str) -> String {
    let content = std::io::Cursor::new(content.to_owned());
    scores_from(name, content, &Catalogue::default()).unwrap_err().to_string()
}

/// Keys and values of all columns.
fn columns(table: &ScoreTable) -> Vec<(&str, Vec<Option<f64>>)> {
    let values = |at: usize| table.values(at).iter().map(|value| value.clone().ok()).collect();
    table.columns().iter().enumerate().map(|(at, one)| (one.key.as_str(), values(at))).collect()
}

/// System, id and item of all rows.
fn rows(table: &ScoreTable) -> Vec<(Option<&str>, &str, &str)> {
    table
        .rows()
        .iter()
        .map(|row| (row.system.as_deref(), row.id.as_str(), row.item.as_str()))
        .collect()
}

#[test]
fn commas_semicolons_and_tabs_are_found_by_content() {
    let expected = read("a.csv", "id,system,union\n1,rain,0.5\n2,tale,1.25\n");
    for (name, content) in [
        ("a.csv", "id;system;union\n1;rain;0.5\n2;tale;1.25\n"),
        ("a.csv", "id|system|union\n1|rain|0.5\n2|tale|1.25\n"),
        ("a.csv", "id;system;union\n1;rain;0,5\n2;tale;1,25\n"),
        ("a.tsv", "id\tsystem\tunion\n1\train\t0.5\n2\ttale\t1.25\n"),
        ("a.csv", "\u{feff}id\tsystem\tunion\r\n1\train\t0.5\r\n2\ttale\t1.25\r\n"),
        ("-", "union;id;system\n0.5;1;rain\n1.25;2;tale\n"),
        ("scores.txt", "Story_ID,MODEL,union\n1,rain,0.5\n2,tale,1.25\n"),
        ("a.csv", ",id,generator,union\n0,1,rain,0.5\n1,2,tale,1.25\n"),
        ("a.csv", "Model,id,union\nrain,1,0.5\ntale,2,1.25\n"),
    ] {
        let table = read(name, content);
        assert_eq!(rows(&table), rows(&expected), "{content}");
        assert_eq!(columns(&table), columns(&expected), "{content}");
    }
}

#[test]
fn texts_are_left_out_with_a_note_and_empty_cells_are_absent() {
    let table = read(
        "a.csv",
        "id,story,union,length\n1,\"Rain fell, and fell.\",,7\n2,A door opened.,NaN,8\n3,x,0.5,9\n",
    );
    assert_eq!(
        columns(&table),
        [("union", vec![None, None, Some(0.5)]), ("length", vec![Some(7.0), Some(8.0), Some(9.0)])]
    );
    assert_eq!(table.values(0)[0], Err(Absence::NotGiven));
    assert!(table.notes()[0].contains("columns without numbers are left out: story"));
    assert_eq!(
        refused("a.csv", "id,union\n1,0.5\n2,high\n"),
        "a.csv:3: field \"union\": \"high\" is not a finite number"
    );
    assert_eq!(
        refused("a.csv", "id,union\n1,low\n2,high\n"),
        "a.csv:2: field \"union\": \"low\" is not a finite number"
    );
    assert_eq!(
        refused("a.csv", "id,system\n1,rain\n"),
        "a.csv:1: there is no column of scores; the columns are: id, system"
    );
}

#[test]
fn one_row_per_score_is_turned_into_one_row_per_story() {
    let table = read(
        "long.csv",
        "system,item,metric,score\nrain,1,union,0.5\nrain,1,bleu,20\ntale,1,union,0.25\n\
         tale,1,human/fun,4\n",
    );
    assert_eq!(rows(&table), [(Some("rain"), "1", "1"), (Some("tale"), "1", "1")]);
    assert_eq!(
        columns(&table),
        [
            ("fun", vec![None, Some(4.0)]),
            ("union", vec![Some(0.5), Some(0.25)]),
            ("bleu", vec![Some(20.0), None])
        ]
    );
    assert_eq!(
        refused("long.csv", "id,metric,value\n1,union,0.5\n1,union,0.5\n"),
        "long.csv:3: duplicate score \"union\" of story \"1\": the first one is on line 2"
    );
}

#[test]
fn columns_of_ratings_are_criteria() {
    let table = read("a.csv", "id,human/fun,Human.plot,union\n1,4,2,0.5\n2,,3,0.25\n");
    let roles: Vec<(&str, Role)> =
        table.columns().iter().map(|one| (one.key.as_str(), one.role)).collect();
    assert_eq!(roles, [("fun", Role::Human), ("plot", Role::Human), ("union", Role::Metric)]);
    assert_eq!(table.values(0), [Ok(4.0), Err(Absence::NotRated)]);
}

#[test]
fn without_ids_the_items_are_the_ids_where_they_can_be() {
    let table = read("a.csv", "model,prompt,union\nrain,A door.,0.5\ntale,A door.,0.25\n");
    assert_eq!(
        rows(&table),
        [(Some("rain"), "A door.", "A door."), (Some("tale"), "A door.", "A door.")]
    );
    let twice = read("a.csv", "model,prompt,union\nrain,A door.,0.5\nrain,A door.,0.25\n");
    assert_eq!(rows(&twice), [(Some("rain"), "0", "A door."), (Some("rain"), "1", "A door.")]);
}

struct Sandbox(tempfile::TempDir);

impl Sandbox {
    fn with(files: &[(&str, &str)]) -> (Self, Vec<PathBuf>) {
        let sandbox = Self(tempfile::tempdir().unwrap());
        let path = |(name, content): &(&str, &str)| {
            let path = sandbox.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            path
        };
        let paths = files.iter().map(path).collect();
        (sandbox, paths)
    }
}

fn join(files: &[(&str, &str)]) -> Result<ScoreTable, String> {
    let (sandbox, paths) = Sandbox::with(files);
    let folder = format!("{}/", sandbox.0.path().display());
    joined_scores(&paths, &Catalogue::default()).map_err(|e| e.to_string().replace(&folder, ""))
}

/// The notes about joining, without those about missing headers.
fn notes(table: &ScoreTable) -> Vec<String> {
    let about_joining = |note: &&String| !note.contains("header");
    let last = |note: &String| note.rsplit('/').next().unwrap_or_default().to_owned();
    table.notes().iter().filter(about_joining).map(last).collect()
}

#[test]
fn columns_of_the_same_stories_stand_side_by_side() {
    let table = join(&[
        ("a.csv", "id,system,union\n1,rain,0.5\n1,tale,0.25\n2,rain,0.75\n"),
        ("b.csv", "system,id,bleu\ntale,1,20\nrain,1,10\nsnow,9,30\n"),
        ("c.jsonl", "{\"id\": \"2\", \"human\": {\"fun\": 3}}\n"),
    ])
    .unwrap();
    assert_eq!(
        rows(&table),
        [
            (Some("rain"), "1", "1"),
            (Some("tale"), "1", "1"),
            (Some("rain"), "2", "2"),
            (Some("snow"), "9", "9")
        ]
    );
    assert_eq!(
        columns(&table),
        [
            ("fun", vec![None, None, Some(3.0), None]),
            ("union", vec![Some(0.5), Some(0.25), Some(0.75), None]),
            ("bleu", vec![Some(10.0), Some(20.0), None, Some(30.0)]),
        ]
    );
    assert_eq!(
        notes(&table),
        [
            "b.csv: 2 of 3 stories were joined by system and id to those of the files before it; 1 \
             is in this file alone",
            "c.jsonl: 1 of 1 stories were joined by system and id to those of the files before it",
        ]
    );
}

#[test]
fn files_of_one_system_each_are_named_after_the_files() {
    let table = join(&[
        (
            "one/rain.jsonl",
            "{\"id\": \"1\", \"scores\": {\"union\": 0.5}, \"human\": {\"fun\": 3}}\n",
        ),
        ("two/tale.csv", "id,union\n1,0.25\n"),
    ])
    .unwrap();
    assert_eq!(rows(&table), [(Some("rain"), "1", "1"), (Some("tale"), "1", "1")]);
    assert_eq!(columns(&table)[1], ("union", vec![Some(0.5), Some(0.25)]));
    let twins = join(&[("one/s.csv", "id,union\n1,0.5\n"), ("two/s.csv", "id,union\n1,0.25\n")]);
    let twins = twins.unwrap();
    let systems = twins.systems();
    assert!(systems[0].ends_with("one/s.csv") && systems[1].ends_with("two/s.csv"), "{systems:?}");
}

#[test]
fn scores_of_the_same_rated_stories_are_not_two_systems() {
    let line = |key: &str| {
        format!("{{\"id\": \"1\", \"scores\": {{\"{key}\": 1}}, \"human\": {{\"fun\": [3, 4]}}}}\n")
    };
    let table = join(&[("a.jsonl", &line("union")), ("b.jsonl", &line("bleu"))]).unwrap();
    assert_eq!(rows(&table), [(None, "1", "1")]);
    assert_eq!(
        columns(&table),
        [("fun", vec![Some(3.5)]), ("union", vec![Some(1.0)]), ("bleu", vec![Some(1.0)])]
    );
}

#[test]
fn what_contradicts_itself_is_an_error_with_both_places() {
    let own = "id,system,union\n1,rain,0.5\n";
    assert_eq!(
        join(&[("a.csv", own), ("b.csv", "id,system,union\n2,rain,1\n1,rain,0.75\n")]).unwrap_err(),
        "b.csv:3: field \"union\": story \"1\" of system \"rain\" has another value in a.csv:2; \
         leave one of the files out, or rename a column"
    );
    assert_eq!(
        join(&[("a.csv", own), ("b.csv", "id,system,bleu\n2,rain,1\n2,rain,2\n")]).unwrap_err(),
        "b.csv:3: field \"id\": duplicate id \"2\" of system \"rain\": it was first used on line 2"
    );
    assert_eq!(
        join(&[("a.csv", own), ("b.csv", "id,system,bleu\n2,tale,1\n")]).unwrap_err(),
        "b.csv: it has neither a story (by system and id) nor a column in common with a.csv"
    );
    let two = "id,system,bleu\n1,rain,1\n1,tale,2\n";
    let message = join(&[("a.csv", "id,union\n1,0.5\n"), ("b.csv", two)]).unwrap_err();
    assert!(message.contains("it is not clear whose story it means"), "{message}");
    assert_eq!(join(&[("a.csv", own), ("b.csv", own)]).unwrap().rows().len(), 1, "the same twice");
}

#[test]
fn lines_of_json_know_the_same_names_as_tables() {
    let expected = read("a.csv", "StoryID,generator,prompt_id,union\n1,rain,p,0.5\n2,tale,p,1\n");
    assert_eq!(expected.systems(), ["rain", "tale"]);
    let line = |id: u8, system: &str, union: f64| {
        format!(
            "{{\"storyid\": {id}, \"generator\": \"{system}\", \"prompt_id\": \"p\", \
             \"scores\": {{\"union\": {union}}}}}\n"
        )
    };
    let table = read("a.jsonl", &(line(1, "rain", 0.5) + &line(2, "tale", 1.0)));
    assert_eq!(rows(&table), rows(&expected));
    assert_eq!(columns(&table), columns(&expected));
    let flat = "{\"Model\": \"rain\", \"human.fun\": [3, 4], \"scores\": {\"union\": 1}}\n";
    let table = read("a.jsonl", flat);
    assert_eq!(table.systems(), ["rain"]);
    assert_eq!(columns(&table), [("fun", vec![Some(3.5)]), ("union", vec![Some(1.0)])]);
}

#[test]
fn of_two_names_the_more_usual_one_is_taken_and_a_note_says_so() {
    let line = "{\"generator\": \"x\", \"system\": \"rain\", \"id\": 1, \"scores\": {\"m\": 1}}\n";
    for (name, content) in [("a.jsonl", line), ("a.csv", "generator,system,id,m\nx,rain,1,1\n")] {
        let table = read(name, content);
        assert_eq!(rows(&table), [(Some("rain"), "1", "1")], "{content}");
        assert_eq!(columns(&table), [("m", vec![Some(1.0)])], "{content}");
        let note = format!("{name}: system from \"system\" and not \"generator\"");
        assert!(table.notes().contains(&note), "{:?}", table.notes());
    }
    assert_eq!(
        refused("a.jsonl", "{\"model\": \"x\", \"model\": \"y\", \"scores\": {\"m\": 1}}\n"),
        "a.jsonl:1: field \"model\": wrong JSON at column 48: the field is given twice"
    );
    let both = "{\"human\": {\"fun\": 1}, \"human.fun\": 2, \"scores\": {\"m\": 1}}\n";
    let message = refused("a.jsonl", both);
    assert!(message.contains("field \"human.fun\""), "{message}");
    assert!(message.contains("there is also a field with all ratings"), "{message}");
}

#[test]
fn after_joining_every_value_has_the_place_in_its_own_file() {
    let (sandbox, paths) = Sandbox::with(&[
        ("a.csv", "id,system,union\n1,rain,0.5\n2,rain,0.25\n"),
        ("b.csv", "id,system,bleu,human/fun\n9,rain,1,4\n2,rain,2,5\n"),
    ]);
    let table = joined_scores(&paths, &Catalogue::default()).unwrap();
    let shown = |place: storymeter_core::Place| {
        place.to_string().replace(&format!("{}/", sandbox.0.path().display()), "")
    };
    assert_eq!(rows(&table)[1..], [(Some("rain"), "2", "2"), (Some("rain"), "9", "9")]);
    let column = |key: &str| table.find(key).unwrap();
    assert_eq!(shown(table.place(1)), "a.csv:3");
    assert_eq!(shown(table.place(2)), "b.csv:2");
    assert_eq!(shown(table.place_of_value(column("union"), 1)), "a.csv:3");
    assert_eq!(shown(table.place_of_value(column("bleu"), 1)), "b.csv:3");
    assert_eq!(shown(table.place_of_value(column("bleu"), 2)), "b.csv:2");
    assert_eq!(shown(table.place_of_rating("fun", 1)), "b.csv:3");
    let mut part = ScoreTable::new(vec![table.rows()[1].clone()]);
    part.push_from(&table, column("bleu"), &[1]);
    assert_eq!(part.values(part.find("bleu").unwrap()), [Ok(2.0)]);
    assert_eq!(shown(part.place_of_value(part.find("bleu").unwrap(), 0)), "b.csv:3");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_of_one_system_is_named_after_it() {
    let (sandbox, mut paths) = Sandbox::with(&[("tale.csv", "id,union\n1,0.25\n")]);
    paths.push(sandbox.0.path().join("gpt.parquet"));
    read("gpt.csv", "id,union\n1,0.5\n").write(&paths[1]).unwrap();
    let table = joined_scores(&paths, &Catalogue::default()).unwrap();
    assert_eq!(table.systems(), ["tale", "gpt"]);
}
