//! Files that are one story each, and folders of them.

use storymeter_core::read::{OneText, ReadOptions, from_reader, open};

use crate::folder::Folder;

/// A folder per system, each with the same two items.
fn systems() -> Folder {
    let folder = Folder::new();
    for system in ["gpt2", "llama"] {
        std::fs::create_dir(folder.path(system)).unwrap();
        for item in ["cat", "door"] {
            folder
                .add(&format!("{system}/{item}.txt"), format!("The {item} of {system}.\n\nEnd.\n"));
        }
    }
    folder
}

#[test]
fn a_folder_of_folders_names_the_systems() {
    let folder = systems();
    folder.add("README.md", "About these stories.\n");
    folder.add("gpt2/readme.txt", "About gpt2.\n");
    let mut reader = open(&[folder.path("")], &ReadOptions::default()).unwrap();
    let stories: Vec<_> = reader.by_ref().map(|record| record.unwrap().story).collect();
    let seen: Vec<_> = stories
        .iter()
        .map(|story| (story.system.as_deref().unwrap(), story.id.as_str(), story.item()))
        .collect();
    assert_eq!(
        seen,
        [
            ("gpt2", "cat", "cat"),
            ("gpt2", "door", "door"),
            ("llama", "cat", "cat"),
            ("llama", "door", "door"),
        ]
    );
    assert_eq!(stories[3].text, "The door of llama.\n\nEnd.");
    let line = reader.summary().to_string();
    assert_eq!(line, "read 4 stories of 2 systems from 4 files (text)");
}

#[test]
fn several_folders_of_texts_are_systems_too_and_one_is_not() {
    let folder = systems();
    let options = ReadOptions::default();
    let (stories, _) = folder.read(&["llama", "gpt2"], &options).unwrap();
    let systems: Vec<_> = stories.iter().map(|story| story.system.as_deref().unwrap()).collect();
    assert_eq!(systems, ["llama", "llama", "gpt2", "gpt2"]);
    let (stories, _) = folder.read(&["llama"], &options).unwrap();
    assert!(stories.iter().all(|story| story.system.is_none()));
    // Two files of one name and no system cannot be told apart.
    let files = ["gpt2/cat.txt", "llama/cat.txt"];
    let message = folder.read(&files, &options).unwrap_err().to_string();
    assert_eq!(
        folder.shown(&message),
        "llama/cat.txt:1: duplicate id \"cat\": it was first used in gpt2/cat.txt:1"
    );
}

#[test]
fn a_system_of_a_record_is_kept_in_a_folder_of_folders() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("m")).unwrap();
    folder.add("m/a.jsonl", "{\"story\": \"x\"}\n{\"system\": \"n\", \"story\": \"y\"}\n");
    let (stories, _) = folder.read(&[""], &ReadOptions::default()).unwrap();
    let systems: Vec<_> = stories.iter().map(|story| story.system.as_deref().unwrap()).collect();
    assert_eq!(systems, ["m", "n"]);
}

#[test]
fn texts_beside_folders_of_texts_are_not_guessed_at() {
    let folder = systems();
    folder.add("prompts.txt", "A cat.\nA door.\n");
    let message = folder.read(&[""], &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.ends_with("name the files or folders to read"), "{message}");
    // That holds for every format.
    std::fs::remove_file(folder.path("prompts.txt")).unwrap();
    folder.add("all.jsonl", "{\"story\": \"x\"}\n");
    folder.add("notes.md", "Nothing.\n");
    let message = folder.read(&[""], &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.ends_with("name the files or folders to read"), "{message}");
    assert_eq!(folder.read(&["all.jsonl"], &ReadOptions::default()).unwrap().0.len(), 1);
}

#[test]
fn standard_input_is_one_story_unless_it_is_a_table_or_json() {
    let read = |input: &'static str| {
        let mut reader = from_reader("-", input.as_bytes(), &ReadOptions::default());
        let stories: Vec<_> = reader.by_ref().map(|record| record.unwrap().story).collect();
        (stories, reader.summary())
    };
    let (stories, summary) = read("A door.\n\nIt opened.\nEnd.\n");
    assert_eq!((stories[0].id.as_str(), stories[0].item()), ("0", "0"));
    assert_eq!(stories[0].text, "A door.\n\nIt opened.\nEnd.");
    assert_eq!(summary.to_string(), "read 1 story from standard input (text)");
    assert_eq!(summary.one_text, Some(OneText::Story));
    assert_eq!(read("[\"A door.\", \"A cat.\"]").0.len(), 2);
    assert_eq!(read("model;text\nM;A door.\nN;A cat.\n").0.len(), 2);
    let nothing = from_reader("-", " \n".as_bytes(), &ReadOptions::default()).next();
    let message = nothing.unwrap().unwrap_err().to_string();
    assert_eq!(message, "standard input: the input has no story");
}

#[test]
fn a_text_that_may_be_a_list_of_stories_is_remarked_on() {
    let looks_like = |content: String| {
        let folder = Folder::with("a.txt", content);
        let mut reader = open(&[folder.path("a.txt")], &ReadOptions::default()).unwrap();
        reader.by_ref().for_each(|record| drop(record.unwrap()));
        reader.summary().one_text
    };
    assert_eq!(looks_like("A door opened.\n".repeat(25)), Some(OneText::Lines(25)));
    assert_eq!(looks_like("A door\nopened.\n\n".repeat(25)), Some(OneText::Blocks(25)));
    assert_eq!(looks_like("A door opened.\n\n".repeat(5)), Some(OneText::Story));
}

#[test]
fn documents_of_office_programs_are_refused_with_the_way_out() {
    let message = crate::folder::error("a.docx", b"PK\x03\x04\x14\x00\x06\x00");
    assert!(message.ends_with("save it as plain text (.txt) or CSV"), "{message}");
    let message = crate::folder::error("a.pdf", b"%PDF-1.7\n");
    assert!(message.ends_with("save its text as plain text (.txt)"), "{message}");
}
