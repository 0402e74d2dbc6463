//! HANNA's published score file.

use storymeter_core::read::{hanna_metric_name, hanna_scores};
use storymeter_core::{Absence, Direction, Result, Role, ScoreTable};

fn read(content: &str) -> Result<ScoreTable> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("scores.csv");
    std::fs::write(&path, content).unwrap();
    hanna_scores(&path)
}

fn message(content: &str) -> String {
    let message = read(content).unwrap_err().to_string();
    message.split_once("scores.csv").expect("the file is named").1.to_owned()
}

#[test]
fn every_cell_is_a_list_with_one_number_per_prompt() {
    let table = read(
        "Model,Relevance,BLEU Ξ§,DepthScore Ξε,Text length ¤§\n\
         Human,\"[1, 2.5]\",\"[100.0, 99]\",\"[0, 1e-9]\",\"[7, 8]\"\n\
         Tale,\"[3, 4]\",\"[5, 6]\",\"[7, null]\",\"[9, 10]\"\n",
    )
    .unwrap();
    assert_eq!(table.systems(), ["Human", "Tale"]);
    assert_eq!((table.rows()[1].id.as_str(), table.rows()[1].item.as_str()), ("Human/1", "1"));
    let seen: Vec<_> = table
        .columns()
        .iter()
        .map(|c| (hanna_metric_name(c.key.as_str()), c.role, c.direction))
        .collect();
    assert_eq!(
        seen,
        [
            ("Relevance", Role::Human, Direction::Higher),
            ("BLEU", Role::Metric, Direction::Higher),
            ("DepthScore", Role::Metric, Direction::Lower),
            ("Text length", Role::Metric, Direction::None),
        ]
    );
    assert_eq!(table.values(1), [Ok(100.0), Ok(99.0), Ok(5.0), Ok(6.0)]);
    assert_eq!(table.values(2), [Ok(0.0), Ok(1e-9), Ok(7.0), Err(Absence::NotGiven)]);
}

#[test]
fn what_is_wrong_is_named_with_line_and_field() {
    assert_eq!(
        message("Model,BLEU\nA,\"[1, 2]\"\nB,\"[1]\"\n"),
        ":3: field \"BLEU\": the list has 1 numbers, but those before it have 2"
    );
    assert_eq!(
        message("Model,BLEU\nA,\"[1, two]\"\n"),
        ":2: field \"BLEU\": not a JSON list of numbers: expected ident at character 6"
    );
    assert_eq!(message("Model,BLEU\nA\n"), ":2: the record has 1 fields, but the header has 2");
    assert_eq!(
        message("Model,BLEU\nA,[1]\nA,[1]\n"),
        ":3: field \"Model\": duplicate system \"A\": it was first used on line 2"
    );
    assert_eq!(message("Model,BLEU\n"), ": the file has no row of scores");
    assert_eq!(message(""), ": the file is empty");
    assert_eq!(
        message("story\nA\n"),
        ":1: the first column must be \"Model\", and the others one per score; it is \"story\""
    );
}
