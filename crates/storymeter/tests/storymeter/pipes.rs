//! How inputs are read: those that can be read only once are put aside where they are read twice,
//! files must stay as they are, and nothing is lost.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use storymeter::input::{Inputs, ReferenceFiles};
use storymeter::{ScoreSink, Scored, Scorer};
use storymeter_core::read::{ReadOptions, RowValue, Rows};
use storymeter_core::{Progress, Value};

const STORIES: &str = "{\"id\": \"a\", \"story\": \"The rain fell on the roof.\"}\n\
                       {\"id\": \"b\", \"story\": \"The lamp went out at night.\"}\n";
const REFERENCES: &str = "The rain fell on the house.\n\
                          The lamp went out.\n";

/// A named pipe that gives the content once, slowly.
fn pipe(folder: &Path, name: &str, content: &'static str) -> PathBuf {
    let path = folder.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let end = path.clone();
    thread::spawn(move || {
        let mut pipe = File::options().write(true).open(end).unwrap();
        for part in content.as_bytes().chunks(10) {
            pipe.write_all(part).unwrap();
            thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    path
}

fn scores(stories: PathBuf, references: PathBuf) -> Vec<Vec<Value>> {
    let scorer = Scorer::new().metrics(["cider-d", "self-bleu"]).build().unwrap();
    assert!(scorer.reads_twice());
    let references = ReferenceFiles::default().with(|it| {
        it.files = vec![references];
        it.format = None;
    });
    let inputs = Inputs::new(vec![stories], ReadOptions::default()).references(references);
    let inputs = inputs.repeatable().unwrap();
    let scored = scorer.table(&inputs, &Progress::unwatched()).unwrap();
    scored.table.views().map(|column| column.values().to_vec()).collect()
}

#[test]
fn metrics_of_a_corpus_read_pipes_as_they_read_files() {
    let folder = tempfile::tempdir().unwrap();
    let stories = folder.path().join("stories.jsonl");
    let references = folder.path().join("references.txt");
    fs::write(&stories, STORIES).unwrap();
    fs::write(&references, REFERENCES).unwrap();
    let expected = scores(stories, references);
    assert_eq!(expected.len(), 2);
    // The format comes from the name of the pipe, not from that of its copy.
    let stories = pipe(folder.path(), "pipe.jsonl", STORIES);
    let references = pipe(folder.path(), "pipe.txt", REFERENCES);
    assert_eq!(scores(stories, references), expected);
}

#[test]
fn a_copy_can_be_read_again_and_goes_away_and_errors_name_the_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let path = pipe(folder.path(), "pipe.jsonl", "{\"story\": \"One.\"}\n{\"story\": 2}\n");
    let inputs = Inputs::new(vec![path.clone()], ReadOptions::default()).repeatable().unwrap();
    let copy = inputs.file_of(&path).to_owned();
    assert_ne!(copy, path);
    for _ in 0..2 {
        assert_eq!(
            inputs.batches(&Progress::unwatched()).unwrap().next().unwrap().unwrap().len(),
            2
        );
    }
    let mut checker = inputs.checker();
    let error = inputs.stories(&mut checker, &Progress::unwatched()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}:2: field \"story\"", path.display())), "{error}");
    assert!(!copy.exists());
    let file = folder.path().join("file.jsonl");
    fs::write(&file, STORIES).unwrap();
    let inputs = Inputs::new(vec![file.clone()], ReadOptions::default()).repeatable().unwrap();
    assert_eq!(inputs.file_of(&file), file, "a file needs no copy");
}

#[test]
fn a_file_that_changes_between_two_passes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (stories, other) = (folder.path().join("stories.jsonl"), folder.path().join("other"));
    let replaced = || {
        // Of the same length, and as old as the first one.
        fs::write(&other, STORIES.replace("lamp", "fire")).unwrap();
        let there = fs::metadata(&stories).unwrap();
        File::open(&other).unwrap().set_modified(there.modified().unwrap()).unwrap();
        fs::rename(&other, &stories).unwrap();
    };
    let changes: [&dyn Fn(); 3] = [
        &replaced,
        &|| File::options().append(true).open(&stories).unwrap().write_all(b"\n").unwrap(),
        &|| fs::write(&stories, STORIES.replace("lamp", "fire")).unwrap(),
    ];
    for change in changes {
        fs::write(&stories, STORIES).unwrap();
        let inputs = Inputs::new(vec![stories.clone()], ReadOptions::default());
        let inputs = inputs.repeatable().unwrap();
        let unseen = Progress::unwatched();
        assert!(inputs.batches(&unseen).unwrap().all(|batch| batch.is_ok()));
        thread::sleep(std::time::Duration::from_millis(20));
        change();
        let last = inputs.batches(&unseen).unwrap().last().unwrap();
        let error = last.unwrap_err().to_string();
        let expected = format!("{}: the file has changed while it was read", stories.display());
        assert_eq!(error, expected);
        // Whoever scores in two passes sees the same error.
        let scorer = Scorer::new().metrics(["self-bleu"]).build().unwrap();
        let run = scorer.write_scores(&inputs, ScoreSink::nowhere(), &unseen);
        assert_eq!(run.err().unwrap().to_string(), expected);
    }
}

/// Rows of which one makes the reader panic.
struct Panics;

impl Rows for Panics {
    fn count(&self) -> usize {
        3000
    }

    fn row(&self, at: usize) -> RowValue {
        assert!(at < 2500, "a bug of a reader");
        RowValue::from("Rain fell.")
    }
}

#[test]
fn a_reader_that_panics_is_an_error_and_not_the_end_of_the_input() {
    let inputs = || Inputs::rows(Arc::new(Panics), ReadOptions::default());
    let problem = "stories: the thread that reads has failed: a bug of a reader";
    let mut batches = inputs().batches(&Progress::unwatched()).unwrap();
    let error = batches.find_map(Result::err).unwrap().to_string();
    assert_eq!(error, problem);
    assert!(batches.next().is_none());
    let scorer = Scorer::new().metrics(["text-length"]).build().unwrap();
    let unseen = Progress::unwatched();
    let run = scorer.write_scores(&inputs(), ScoreSink::nowhere(), &unseen);
    assert_eq!(run.err().unwrap().to_string(), problem);
    let mut checker = inputs().checker();
    assert_eq!(inputs().stories(&mut checker, &unseen).unwrap_err().to_string(), problem);
}

/// Batches are cut by bytes as well, and stories keep their references.
#[test]
fn long_references_belong_to_the_right_stories() {
    let folder = tempfile::tempdir().unwrap();
    let (stories, long) = (folder.path().join("stories.jsonl"), folder.path().join("long.txt"));
    let lengths: Vec<usize> = (0..40).map(|n| 1 + n * n * 1000).collect();
    let story = |n: &usize| format!("{{\"story\": \"Rain fell {n} times.\"}}\n");
    fs::write(&stories, lengths.iter().map(story).collect::<String>()).unwrap();
    let reference = |n: &usize| "a".repeat(*n) + "\n";
    fs::write(&long, lengths.iter().map(reference).collect::<String>()).unwrap();
    let references = ReferenceFiles::default().with(|it| {
        it.files = vec![long.clone(), long.clone()];
        it.format = None;
    });
    let inputs = Inputs::new(vec![stories], ReadOptions::default()).references(references);
    let scorer = Scorer::new().metrics(["text-length"]).build().unwrap();
    let (mut found, unseen) = (Vec::new(), Progress::unwatched());
    let of = |record: &storymeter_core::read::Record| {
        let story = &record.story;
        (story.text.clone(), story.references.iter().map(String::len).collect::<Vec<_>>())
    };
    let mut keep = |scored: Scored| {
        found.push(scored.records.iter().map(of).collect::<Vec<_>>());
        Ok(())
    };
    scorer.write_scores(&inputs, ScoreSink::nowhere().each(&mut keep), &unseen).unwrap();
    assert!(found.len() > 3, "{} batches", found.len());
    let expected = lengths.iter().map(|n| (format!("Rain fell {n} times."), vec![*n, *n]));
    assert_eq!(found.concat(), expected.collect::<Vec<_>>());
    fs::write(&long, lengths[..39].iter().map(reference).collect::<String>()).unwrap();
    let run = scorer.write_scores(&inputs, ScoreSink::nowhere(), &unseen);
    let error = run.err().unwrap().to_string();
    assert!(error.contains("stories.jsonl:40: the story has no reference"), "{error}");
    assert!(error.ends_with("long.txt has only 39"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_device_is_refused() {
    for device in ["/dev/zero", "/dev/urandom", "/dev/full"] {
        let options = ReadOptions::default();
        let inputs = Inputs::new(vec![device.into()], options).repeatable();
        let error = inputs.err().unwrap().to_string();
        assert!(error.starts_with(device) && error.contains("more than 67108864 bytes"), "{error}");
    }
}
