//! Inputs that can be read only once are put aside where they are read twice.
#![cfg(unix)]
#![allow(missing_docs)]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use storymeter::core::Progress;
use storymeter::core::Value;
use storymeter::core::read::ReadOptions;
use storymeter::input::{Inputs, ReferenceFiles};
use storymeter::{Error, Scorer};

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
    let inputs = Inputs::new(vec![stories], ReadOptions::default()).repeatable().unwrap();
    let references = ReferenceFiles { files: vec![references], format: None };
    let mut scores = Vec::new();
    scorer
        .over::<_, Error>(
            &inputs,
            &references,
            &Progress::unwatched(),
            |scored| {
                let values = |at: usize| scored.batch.values(at).to_vec();
                Ok((0..scored.records.len()).map(values).collect::<Vec<_>>())
            },
            |values| {
                scores.extend(values);
                Ok(())
            },
        )
        .unwrap();
    scores
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
    let mut intake = inputs.intake();
    let error = inputs.stories(&mut intake, &Progress::unwatched()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}:2: field \"story\"", path.display())), "{error}");
    assert!(!copy.exists());
    let file = folder.path().join("file.jsonl");
    fs::write(&file, STORIES).unwrap();
    let inputs = Inputs::new(vec![file.clone()], ReadOptions::default()).repeatable().unwrap();
    assert_eq!(inputs.file_of(&file), file, "a file needs no copy");
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
