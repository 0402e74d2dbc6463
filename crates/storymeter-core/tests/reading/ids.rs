//! An id is unique within a system.

use storymeter_core::Error;
use storymeter_core::read::{DuplicateIds, ReadOptions, open};

use crate::folder::{Folder, error, error_with};

fn with(duplicates: DuplicateIds) -> ReadOptions {
    ReadOptions::default().with(|it| it.duplicates = duplicates)
}

const TWICE: &str =
    "id,system,story\n7,M,A door.\n7,N,A cat.\n8,M,A dog.\n7,M,A fox.\n7,M,A hen.\n";

#[test]
fn a_duplicate_is_an_error_with_both_lines() {
    assert_eq!(
        error("a.csv", TWICE),
        "a.csv:5: duplicate id \"7\" of system \"M\": it was first used on line 2"
    );
    assert_eq!(
        error("a.jsonl", "{\"id\": 1, \"story\": \"x\"}\n\n{\"id\": \"1\", \"story\": \"y\"}\n"),
        "a.jsonl:3: duplicate id \"1\": it was first used on line 1"
    );
    let folder = Folder::with("a.csv", "id,story\n1,x\n");
    folder.add("b.csv", "id,story\n2,x\n1,y\n");
    let found = folder.read(&["a.csv", "b.csv"], &ReadOptions::default()).unwrap_err();
    assert!(matches!(&found, Error::DuplicateId { id, system: None, .. } if id == "1"));
    assert_eq!(
        folder.shown(&found.to_string()),
        "b.csv:3: duplicate id \"1\": it was first used in a.csv:2"
    );
}

#[test]
fn the_number_of_a_record_is_an_id_too() {
    let content = "{\"story\": \"x\"}\n{\"id\": 0, \"story\": \"y\"}\n";
    assert_eq!(
        error("a.jsonl", content),
        "a.jsonl:2: duplicate id \"0\": it is also the number of an earlier record that has no id"
    );
    let content = "{\"id\": 1, \"story\": \"x\"}\n{\"story\": \"y\"}\n";
    assert_eq!(
        error("a.jsonl", content),
        "a.jsonl:2: duplicate id \"1\": it was first used on line 1"
    );
}

#[test]
fn duplicates_can_be_made_unique_and_still_share_their_item() {
    let folder = Folder::with("a.csv", TWICE);
    let mut reader = open(&[folder.path("a.csv")], &with(DuplicateIds::Renumber)).unwrap();
    let stories: Vec<_> = reader.by_ref().map(|record| record.unwrap().story).collect();
    let ids: Vec<&str> = stories.iter().map(|story| story.id.as_str()).collect();
    assert_eq!(ids, ["7", "7", "8", "7#2", "7#3"]);
    assert_eq!((stories[3].item(), stories[0].item()), ("7", "7"));
    let line = reader.summary().to_string();
    assert_eq!(line, "read 5 stories of 2 systems from 1 file (csv); 2 ids were made unique");
    // An id of that form may be there already.
    let folder = Folder::with("b.csv", "id,prompt,story\n7,p,x\n7#2,p,y\n7,p,z\n7#2,p,v\n");
    let (stories, _) = folder.read(&["b.csv"], &with(DuplicateIds::Renumber)).unwrap();
    let ids: Vec<&str> = stories.iter().map(|story| story.id.as_str()).collect();
    assert_eq!(ids, ["7", "7#2", "7#3", "7#2#2"]);
    assert_eq!(stories[2].item(), "p");
}

#[test]
fn duplicates_can_be_skipped_or_allowed() {
    let folder = Folder::with("a.csv", TWICE);
    let skipping = ReadOptions::default().with(|it| it.skip_bad = true);
    let (stories, skipped) = folder.read(&["a.csv"], &skipping).unwrap();
    assert_eq!((stories.len(), skipped.count), (3, 2));
    let (stories, _) = folder.read(&["a.csv"], &with(DuplicateIds::Allow)).unwrap();
    assert_eq!(stories.len(), 5);
}

#[test]
fn hostile_ids_are_shown_in_part() {
    let id = "\u{1b}[2J".repeat(10_000);
    let line = serde_json::json!({"id": id, "system": id, "story": "x"});
    let message = error_with("a.jsonl", format!("{line}\n{line}\n"), &ReadOptions::default());
    assert!(message.len() < 1500 && !message.contains('\u{1b}'), "{message}");
}
