//! Files with one rating per row.

use storymeter_meta::ratings::{Raters, RatingTable};
use storymeter_meta::{Result, Scale};

fn read(content: &str) -> Result<RatingTable> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ratings.csv");
    std::fs::write(&path, content).unwrap();
    RatingTable::read(&path, &["Fun".into()], Scale::LIKERT_5)
}

#[test]
fn anonymous_ratings_stand_in_file_order() {
    let table = read("story_id,system,fun\n7,A,1\n8,B,5\n7,A,2\n8,B,\n").unwrap();
    assert_eq!(table.raters, Raters::Anonymous);
    assert_eq!(table.stories[0].ratings, [[Some(1.0), Some(2.0)]]);
    assert_eq!(table.of_system("B", 0), [5.0]);
    assert_eq!(table.systems(), ["A", "B"]);
}

#[test]
fn the_busiest_workers_have_columns_of_their_own_and_others_fill_the_gaps() {
    let table = read(
        "Story ID,Model,Fun,Worker ID\n\
         1,A,1,zoe\n1,A,2,ann\n2,A,3,zoe\n2,A,4,max\n3,A,5,ann\n3,A,1,zoe\n",
    )
    .unwrap();
    assert_eq!(table.raters, Raters::Assigned);
    let rows: Vec<&[Option<f64>]> = table.stories.iter().map(|s| &s.ratings[0][..]).collect();
    assert_eq!(rows, [[2.0, 1.0], [4.0, 3.0], [5.0, 1.0]].map(|row| row.map(Some)));
}

/// The names are those of stories and scores, with the same preference.
#[test]
fn ids_and_systems_have_the_usual_names() {
    let wanted = read("id,system,Fun\n1,A,2\n2,B,3\n").unwrap();
    for header in ["StoryID,generator,fun", "STORY_ID,Model,FUN", "story id,MODEL,Fun"] {
        let table = read(&format!("{header}\n1,A,2\n2,B,3\n")).unwrap();
        assert_eq!(table.stories, wanted.stories, "{header}");
    }
    let both = read("Model,Story ID,id,system,fun\nX,x,1,A,2\nX,x,2,B,3\n").unwrap();
    assert_eq!(both.stories, wanted.stories);
}

#[test]
fn bad_ratings_are_named_with_line_and_field() {
    let message = |content: &str| {
        let text = read(content).unwrap_err().to_string();
        text.split_once("ratings.csv").unwrap().1.to_owned()
    };
    let head = "story_id,system,fun\n";
    assert_eq!(
        message(&format!("{head}1,A,6\n")),
        ":2: field \"Fun\": rating 6 is outside the scale 1..5"
    );
    assert_eq!(
        message(&format!("{head}1,A,high\n")),
        ":2: field \"Fun\": \"high\" is not a number"
    );
    assert_eq!(
        message(&format!("{head}1,A,2\n1,B,2\n")),
        ":3: story \"1\" is by \"A\" in an earlier row"
    );
    assert_eq!(
        message("story_id,system\n1,A\n"),
        ": no column \"Fun\"; the columns are: \"story_id\", \"system\""
    );
    assert_eq!(
        message("id,system,fun,worker\n1,A,2,ann\n1,A,3,ann\n"),
        ":3: worker \"ann\" rates story \"1\" twice"
    );
    assert_eq!(
        message(&format!("{head}1,A,2\n,A,2\n")),
        ":3: field \"story_id\": the story has no id"
    );
    assert_eq!(
        message("id,system,fun,Fun\n1,A,2,5\n"),
        ": columns 3 and 4 are both called \"Fun\" or the like, and only one can be meant"
    );
    assert_eq!(message(""), ": no column \"id\"; the columns are: ");
    assert_eq!(message(head), ": no row of ratings is in the file");
}

#[test]
fn infinite_ratings_are_not_numbers_and_long_cells_are_not_repeated() {
    for number in ["inf", "-inf", "nan", "1e400", "infinity", "0x1", "1\0", "\u{661}"] {
        let error = read(&format!("story_id,system,fun\n1,A,{number}\n")).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("ratings.csv:2: field \"Fun\": "), "{message}");
        assert!(message.ends_with("is not a number"), "{message}");
    }
    let long = "7".repeat(100_000) + "x";
    let error = read(&format!("story_id,system,fun\n1,A,{long}\n")).unwrap_err().to_string();
    assert!(error.len() < 400, "{}", error.len());
    for columns in ["x,".repeat(100_000), "x".repeat(100_000)] {
        let error = read(&format!("{columns}\n1\n")).unwrap_err().to_string();
        assert!(error.len() < 400, "{}", error.len());
    }
}
