//! Several inputs are read as one stream.

use storymeter_core::read::{RawRecords, ReadOptions, open};

use crate::folder::{Folder, gzip};

fn three_files() -> Folder {
    let folder = Folder::with("b.jsonl", "{\"story\": \"2\"}\n{\"story\": \"3\"}\n");
    folder.add("a.tsv", "story\n0\n1\n");
    folder.add("c.csv.gz", gzip("story\n4\n5\n"));
    folder.add(".hidden.txt", "never\n");
    folder.add("notes.md", "never\n");
    folder
}

#[test]
fn a_folder_is_its_files_by_name_and_records_are_numbered_through() {
    let (stories, _) = three_files().read(&[""], &ReadOptions::default()).unwrap();
    assert_eq!(stories.len(), 6);
    for (number, story) in stories.iter().enumerate() {
        assert_eq!(story.id, number.to_string());
        assert_eq!(story.text, number.to_string());
    }
}

#[test]
fn an_offset_moves_the_numbers() {
    let options = ReadOptions::default().with(|it| it.record_offset = 100);
    let (stories, _) = three_files().read(&["b.jsonl"], &options).unwrap();
    assert_eq!((stories[0].id.as_str(), stories[1].id.as_str()), ("100", "101"));
}

#[test]
fn a_record_knows_where_it_stands() {
    let folder = three_files();
    let records: Vec<_> =
        open(&[folder.path("c.csv.gz")], &ReadOptions::default()).unwrap().collect();
    let record = records[1].as_ref().unwrap();
    assert_eq!((record.number, record.place.line), (1, Some(3)));
    assert_eq!(record.place.file, folder.path("c.csv.gz"));
}

#[test]
fn records_may_be_parsed_in_any_order_on_any_thread() {
    let folder = three_files();
    let options = ReadOptions::default();
    let simple: Vec<_> = open(&[folder.path("")], &options).unwrap().map(Result::unwrap).collect();
    let mut raw: Vec<_> =
        RawRecords::open(&[folder.path("")], &options).unwrap().map(Result::unwrap).collect();
    raw.reverse();
    let mut parsed: Vec<_> = std::thread::scope(|scope| {
        let parsers: Vec<_> =
            raw.into_iter().map(|raw| scope.spawn(|| raw.parse().unwrap())).collect();
        parsers.into_iter().map(|parser| parser.join().unwrap()).collect()
    });
    parsed.sort_by_key(|record| record.number);
    assert_eq!(parsed, simple);
}

#[test]
fn a_reader_can_be_sent_to_a_thread() {
    fn is_send<T: Send>() {}
    is_send::<RawRecords>();
}

#[test]
fn folders_beside_files_are_not_passed_over() {
    let folder = three_files();
    std::fs::create_dir(folder.path("more")).unwrap();
    folder.add("more/notes.pdf", "no stories");
    assert_eq!(folder.read(&[""], &ReadOptions::default()).unwrap().0.len(), 6);
    folder.add("more/d.jsonl", "{\"story\": \"6\"}\n");
    let message = |folder: &Folder| {
        let error = folder.read(&[""], &ReadOptions::default()).unwrap_err();
        folder.shown(&error.to_string())
    };
    let said = "the folder has files of stories of its own and folders with such files";
    assert!(message(&folder).contains(said), "{}", message(&folder));
    let deep = Folder::new();
    std::fs::create_dir_all(deep.path("rain/old")).unwrap();
    deep.add("rain/a.txt", "Rain fell.");
    deep.add("rain/old/b.txt", "Snow fell.");
    assert!(message(&deep).starts_with("rain: the folder has files"), "{}", message(&deep));
}
