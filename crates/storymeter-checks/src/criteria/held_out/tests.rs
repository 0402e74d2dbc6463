use std::io::Write;

use storymeter::core::Story;
use tempfile::NamedTempFile;

use super::*;
use crate::evaluate::Rated;

/// A set with two items of two stories, `set-0` to `set-3`, and one story aside.
fn judged(name: &str) -> Judged {
    let story = |at: usize| Story {
        id: format!("{name}-{at}"),
        item: Some(format!("item {}", at / 2)),
        ..Story::default()
    };
    let stories = (0..4).map(story).collect();
    let criteria = vec![("coherence".to_owned(), vec![3.0; 4])];
    let set = Rated { name: name.to_owned(), stories, criteria };
    Judged { set, aside: vec![Story { id: format!("{name}-human"), ..Story::default() }] }
}

/// A line about a story of the set `hanna` that predicts `coherence`.
fn line(id: &str, item: &str, coherence: f64) -> String {
    let prediction = format!(r#""raw":{{"coherence":{coherence}}},"cosine":{coherence}"#);
    let rating = r#""rating":{"coherence":3}"#;
    format!(r#"{{"set":"hanna","id":"{id}","item":"{item}",{prediction},{rating}}}"#)
}

fn file(lines: &[String]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    file
}

fn paths(files: &[&NamedTempFile]) -> Vec<PathBuf> {
    files.iter().map(|file| file.path().to_owned()).collect()
}

fn first_fold(shift: f64) -> NamedTempFile {
    let other_set =
        r#"{"set":"scratchplot","id":"x","item":"","raw":{},"cosine":null,"rating":{}}"#;
    file(&[
        line("hanna-0", "item 0", 0.0 + shift),
        line("hanna-1", "item 0", 1.0 + shift),
        line("hanna-human", "item 0", 9.0),
        other_set.to_owned(),
    ])
}

fn second_fold() -> NamedTempFile {
    file(&[line("hanna-3", "item 1", 3.0), line("hanna-2", "item 1", 2.0)])
}

fn problem(files: &[&NamedTempFile]) -> String {
    folds(&paths(files), &judged("hanna")).unwrap_err().to_string()
}

#[test]
fn every_story_gets_the_prediction_of_its_fold() {
    let (first, second) = (first_fold(0.0), second_fold());
    let found = folds(&paths(&[&first, &second]), &judged("hanna")).unwrap();
    assert_eq!(found.head("coherence").unwrap(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(found.cosines().unwrap(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!((found.fold.as_slice(), found.folds, found.runs), ([0, 0, 1, 1].as_slice(), 2, 1));
    let missing = found.head("empathy").unwrap_err().to_string();
    assert_eq!(missing, "the predictions have no head \"empathy\"");
}

#[test]
fn cosines_can_come_from_elsewhere() {
    let judged = judged("hanna");
    let mut found = folds(&paths(&[&first_fold(0.0), &second_fold()]), &judged).unwrap();
    let ids = judged.set.stories.iter().map(|story| story.id.clone());
    let mut by_id: HashMap<String, f64> = ids.zip([0.4, 0.3, 0.2, 0.1]).collect();
    found.set_cosines(&judged, &by_id);
    assert_eq!(found.cosines().unwrap(), [0.4, 0.3, 0.2, 0.1]);
    let of_lines: Vec<Option<f64>> = found.lines[1].iter().map(|line| line.cosine).collect();
    assert_eq!(of_lines, [Some(0.2), Some(0.1)]);
    by_id.remove("hanna-3");
    found.set_cosines(&judged, &by_id);
    assert_eq!(found.cosines(), None, "one story has none");
}

#[test]
fn runs_of_one_fold_are_averaged() {
    let files = [first_fold(0.0), second_fold(), second_fold(), first_fold(1.0)];
    let found = folds(&paths(&files.each_ref()), &judged("hanna")).unwrap();
    assert_eq!(found.head("coherence").unwrap(), [0.5, 1.5, 2.0, 3.0]);
    assert_eq!((found.folds, found.runs), (2, 2));
    let problem = problem(&[&files[0], &files[1], &files[3]]);
    assert!(
        problem.ends_with("its fold has 1 runs, and the fold of the first file 2"),
        "{problem}"
    );
}

#[test]
fn a_story_that_is_held_out_in_two_folds_is_an_error() {
    let (first, second) = (first_fold(0.0), second_fold());
    let leaking = file(&[
        line("hanna-1", "item 0", 1.0),
        line("hanna-2", "item 1", 2.0),
        line("hanna-3", "item 1", 3.0),
    ]);
    let problem = problem(&[&first, &leaking]);
    assert!(problem.contains("the story hanna-1 is also held out in another fold"), "{problem}");
    assert!(folds(&paths(&[&first, &second]), &judged("hanna")).is_ok());
}

#[test]
fn stories_of_one_prompt_in_two_folds_are_an_error() {
    let first = file(&[line("hanna-0", "item 0", 0.0), line("hanna-2", "item 1", 0.0)]);
    let second = file(&[line("hanna-1", "item 0", 0.0), line("hanna-3", "item 1", 0.0)]);
    let problem = problem(&[&first, &second]);
    let expected = "stories of the item \"item 0\" are held out in another fold too";
    assert!(problem.ends_with(expected), "{problem}");
}

#[test]
fn a_story_that_is_held_out_nowhere_is_an_error() {
    let second = file(&[line("hanna-3", "item 1", 3.0)]);
    let problem = problem(&[&first_fold(0.0), &second]);
    assert_eq!(problem, "the story hanna-2 is held out in no fold");
}

#[test]
fn files_that_cannot_be_folds_are_errors() {
    let first = first_fold(0.0);
    assert!(problem(&[&first]).starts_with("there is only one fold"));
    let cases = [
        (
            vec!["{\"set\": 1}".to_owned()],
            ":1: this is not a held-out story as training writes it: ",
        ),
        (vec![line("hanna-9", "item 0", 0.0)], ": the set hanna has no story \"hanna-9\""),
        (
            vec![line("hanna-0", "item 1", 0.0)],
            ": the item of the story \"hanna-0\" is \"item 0\" and not \"item 1\"",
        ),
        (
            vec![line("hanna-0", "item 0", 0.0), line("hanna-0", "item 0", 0.5)],
            ": there are two predictions for the story \"hanna-0\"",
        ),
        (
            [line("hanna-2", "item 1", 0.0), line("hanna-3", "item 1", 0.0)]
                .map(|line| line.replace(":3}", ":2.5}"))
                .to_vec(),
            "the rating of coherence of the story hanna-2 is 3 and not 2.5",
        ),
        (Vec::new(), "no story of the set hanna is held out"),
    ];
    for (lines, expected) in cases {
        let problem = problem(&[&first, &file(&lines)]);
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn a_left_out_set_must_be_whole_and_alone() {
    let sets = [judged("scratchplot"), judged("hanna")];
    let lines: Vec<String> = (0..4)
        .map(|at| line(&format!("hanna-{at}"), &format!("item {}", at / 2), f64::from(at)))
        .collect();
    let (whole, part) = (file(&lines), file(&lines[1..]));
    let found = unseen_sets(&paths(&[&whole, &whole]), &sets).unwrap();
    let [(1, predictions)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(predictions.head("coherence").unwrap(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(predictions.runs, 2);
    let problem =
        |file: &NamedTempFile| unseen_sets(&paths(&[file]), &sets).unwrap_err().to_string();
    let missing = problem(&part);
    assert!(missing.ends_with("the story hanna-0 of the set hanna is missing"), "{missing}");
    let other =
        r#"{"set":"scratchplot","id":"scratchplot-0","item":"item 0","raw":{},"rating":{}}"#;
    let two_sets = problem(&file(&[lines[0].clone(), other.to_owned()]));
    assert!(two_sets.ends_with("the file must have the stories of exactly one set"), "{two_sets}");
    let unknown = problem(&file(&[lines[0].replace("hanna", "hanoi")]));
    assert!(unknown.ends_with("there is no rated set \"hanoi\""), "{unknown}");
}
