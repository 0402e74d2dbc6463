//! Studies in folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use storymeter_core::{Catalogue, Column, Direction, Row, ScoreTable, read};
use storymeter_meta::folder::{self, SheetSet};
use storymeter_meta::{Finding, Result, Study, WarningKind, table};

use crate::studies::support::{analyse, holes, random};

/// Writes a study with all its sheets.
fn write_all(study: &Study, folder: &Path, inputs: &[&Path]) -> Result<Vec<PathBuf>> {
    folder::write(study, folder, SheetSet::All, inputs)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_study_is_read_back_as_it_was() {
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path().join("deep/out");
    let study = analyse(&holes().table());
    let written = write_all(&study, &out, &[]).unwrap();
    assert!(folder::holds_study(&out));
    assert_eq!(folder::read(&out).unwrap(), study);
    assert_eq!(names(&out).len(), written.len());
    assert_eq!(names(&temporary.path().join("deep")).len(), 1, "no temporary folder stays behind");
}

#[test]
fn a_folder_has_the_few_sheets_that_people_open_unless_all_are_wanted() {
    let temporary = tempfile::tempdir().unwrap();
    let study = analyse(&random(4, 6, &["fun", "plot"], &["a", "b"]));
    let all = write_all(&study, temporary.path(), &[]).unwrap().len();
    folder::write(&study, temporary.path(), SheetSet::Main, &[]).unwrap();
    let expected = [
        "agreement.csv",
        "best-metrics.csv",
        "correlations.csv",
        "index.csv",
        "pairwise.csv",
        "ranking.csv",
        "study.json",
        "system-pairs.csv",
        "systems.csv",
    ];
    assert_eq!(names(temporary.path()), expected.map(String::from).into(), "of {all} files");
    assert_eq!(folder::read(temporary.path()).unwrap(), study);
}

#[test]
fn a_study_of_an_earlier_version_is_ranked_when_it_is_read_and_its_sheets_as_json_go() {
    let temporary = tempfile::tempdir().unwrap();
    let study = analyse(&random(4, 6, &["fun", "plot"], &["a", "b"]));
    let mut older = study.clone();
    older.findings.retain(|finding| !matches!(finding, Finding::MetricRanking(_)));
    folder::write(&older, temporary.path(), SheetSet::Main, &[]).unwrap();
    fs::write(temporary.path().join("result.json"), "{}").unwrap();
    assert_eq!(folder::read(temporary.path()).unwrap(), study);
    folder::write(&study, temporary.path(), SheetSet::Main, &[]).unwrap();
    assert!(!temporary.path().join("result.json").exists());
}

#[test]
fn a_later_study_leaves_no_sheet_of_an_older_one_and_touches_nothing_else() {
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path().join("out");
    write_all(&analyse(&random(4, 6, &["fun", "plot"], &["a", "b"])), &out, &[]).unwrap();
    assert!(names(&out).contains("williams-system-plot.csv"));
    fs::write(out.join("notes.txt"), "mine").unwrap();
    fs::write(out.join("mine.csv"), "a,b\n").unwrap();
    // A list that was tampered with must not lead out of the folder.
    fs::write(temporary.path().join("precious.csv"), "x").unwrap();
    let index = fs::read_to_string(out.join("index.csv")).unwrap();
    fs::write(out.join("index.csv"), index + "../precious.csv,t,s\nnotes.txt,t,s\n").unwrap();

    let study = analyse(&random(4, 6, &["fun"], &["a", "b"]));
    let written = write_all(&study, &out, &[]).unwrap();
    let mut expected: BTreeSet<String> = written
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    expected.extend(["notes.txt".to_owned(), "mine.csv".to_owned()]);
    assert_eq!(names(&out), expected);
    assert!(temporary.path().join("precious.csv").exists());
    assert_eq!(folder::read(&out).unwrap(), study);
}

#[test]
fn a_folder_that_is_not_ours_keeps_all_its_files() {
    let temporary = tempfile::tempdir().unwrap();
    fs::write(temporary.path().join("index.csv"), "file,title,signature\nold.csv,t,s\n").unwrap();
    fs::write(temporary.path().join("old.csv"), "x").unwrap();
    write_all(&analyse(&random(4, 6, &["fun"], &["a", "b"])), temporary.path(), &[]).unwrap();
    assert!(temporary.path().join("old.csv").exists());
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let taken = temporary.path().join("taken");
    fs::write(&taken, "a file").unwrap();
    assert!(write_all(&analyse(&random(3, 6, &["fun"], &["a"])), &taken, &[]).is_err());
    assert_eq!(names(temporary.path()).len(), 1);
}

/// The content of every file in a folder, by name.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    names(folder)
        .into_iter()
        .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
        .collect()
}

#[test]
fn an_input_is_never_replaced_or_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path().join("out");
    let first = analyse(&random(4, 6, &["fun", "plot"], &["a", "b"]));
    write_all(&first, &out, &[]).unwrap();
    let (hard, other) = (temporary.path().join("hard"), temporary.path().join("other"));
    // One input is replaced, under a name of its own, and one belongs to a sheet that would go.
    fs::hard_link(out.join("systems.csv"), &hard).unwrap();
    fs::hard_link(out.join("williams-system-plot.csv"), &other).unwrap();
    let mut inputs = vec![out.join("study.json"), out.join("index.csv"), hard, other];
    #[cfg(unix)]
    {
        let soft = temporary.path().join("soft");
        std::os::unix::fs::symlink(out.join("correlations.csv"), &soft).unwrap();
        inputs.push(soft);
    }
    let before = contents(&out);
    let second = analyse(&random(4, 6, &["fun"], &["a", "b"]));
    for input in &inputs {
        let message = write_all(&second, &out, &[input]).unwrap_err().to_string();
        assert!(message.contains("writing it would destroy the input"), "{message}");
        assert!(contents(&out) == before, "{}", input.display());
    }
}

#[cfg(unix)]
#[test]
fn what_is_in_the_way_is_named_before_anything_changes() {
    use std::os::unix::fs::PermissionsExt as _;
    let study = analyse(&random(4, 6, &["fun"], &["a", "b"]));
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    for name in ["study.json", "systems.csv", "williams-system-plot.csv"] {
        let temporary = tempfile::tempdir().unwrap();
        let first = analyse(&random(4, 6, &["fun", "plot"], &["a", "b"]));
        write_all(&first, temporary.path(), &[]).unwrap();
        mode(&temporary.path().join(name), 0o444).unwrap();
        let before = contents(temporary.path());
        let message = write_all(&study, temporary.path(), &[]).unwrap_err().to_string();
        assert!(message.ends_with(&format!("{name}: the file is read-only")), "{message}");
        assert!(contents(temporary.path()) == before, "{name}");
    }
    let temporary = tempfile::tempdir().unwrap();
    fs::create_dir(temporary.path().join("systems.csv")).unwrap();
    let message = write_all(&study, temporary.path(), &[]).unwrap_err().to_string();
    assert!(
        message.ends_with("systems.csv: this is not a file, so it cannot be replaced"),
        "{message}"
    );
    assert_eq!(names(temporary.path()).len(), 1, "no other file is there");
}

#[cfg(unix)]
#[test]
fn files_keep_their_permissions_and_links_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let temporary = tempfile::tempdir().unwrap();
    let (out, elsewhere) = (temporary.path().join("out"), temporary.path().join("elsewhere"));
    let study = analyse(&random(4, 6, &["fun"], &["a", "b"]));
    write_all(&study, &out, &[]).unwrap();
    for name in ["study.json", "systems.csv"] {
        fs::set_permissions(out.join(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::write(&elsewhere, "old").unwrap();
    fs::remove_file(out.join("borda.csv")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, out.join("borda.csv")).unwrap();
    write_all(&study, &out, &[]).unwrap();
    let mode = |name: &str| out.join(name).metadata().unwrap().permissions().mode() & 0o777;
    // The study is removed and written again, and is as private as it was.
    assert_eq!((mode("study.json"), mode("systems.csv")), (0o600, 0o600));
    assert!(out.join("borda.csv").is_symlink());
    assert!(fs::read_to_string(&elsewhere).unwrap().starts_with("ranking,place,metric"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_half_written_has_no_study() {
    let temporary = tempfile::tempdir().unwrap();
    let first = analyse(&random(4, 6, &["fun", "plot"], &["a", "b"]));
    write_all(&first, temporary.path(), &[]).unwrap();
    // This link can be looked at, but nothing can be written to where it points.
    fs::remove_file(temporary.path().join("systems.csv")).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", temporary.path().join("systems.csv")).unwrap();
    let second = analyse(&random(4, 6, &["fun"], &["a", "b"]));
    let message = write_all(&second, temporary.path(), &[]).unwrap_err().to_string();
    assert!(message.starts_with("/nowhere/at/all: "), "{message}");
    assert!(!folder::holds_study(temporary.path()), "the mark of a complete folder is gone");
    assert!(!names(temporary.path()).iter().any(|name| name.contains("partial")));
    // The next run repairs the folder, and removes the sheets of the first study too.
    fs::remove_file(temporary.path().join("systems.csv")).unwrap();
    let written = write_all(&second, temporary.path(), &[]).unwrap();
    assert_eq!(names(temporary.path()).len(), written.len());
    assert_eq!(folder::read(temporary.path()).unwrap(), second);
}

#[test]
fn a_draft_that_a_killed_program_left_is_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let left = temporary.path().join(".storymeter-abc.partial");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("study.json"), "{").unwrap();
    write_all(&analyse(&random(4, 6, &["fun"], &["a"])), temporary.path(), &[]).unwrap();
    assert!(!left.exists());
}

#[test]
fn a_broken_study_is_named_with_file_and_line() {
    let temporary = tempfile::tempdir().unwrap();
    fs::write(temporary.path().join("study.json"), "{\n\"kind\": 7}").unwrap();
    let message = folder::read(temporary.path()).unwrap_err().to_string();
    assert!(message.contains("study.json:2: not the study of a meta-evaluation"), "{message}");
}

#[test]
fn directions_come_from_the_header_and_a_file_without_one_is_warned_of() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("scores.jsonl");
    let source = random(10, 10, &["fun"], &[]);
    let mut scores = ScoreTable::new(source.rows().to_vec());
    let values = (0..100).map(|i| Ok(f64::from(i * 7 % 100))).collect();
    scores.push(Column::metric("my-distance", Direction::Lower), values);
    scores.write(&path).unwrap();
    let study = analyse(&read::scores(&path, &Catalogue::default()).unwrap());
    assert_eq!(study.columns[1].direction, Direction::Lower);
    assert_eq!(study.warnings, []);

    fs::remove_file(temporary.path().join("scores.jsonl.meta.json")).unwrap();
    let study = analyse(&read::scores(&path, &Catalogue::default()).unwrap());
    let kinds: Vec<_> = study.warnings.iter().map(|warning| warning.kind).collect();
    assert_eq!(kinds, [WarningKind::Header, WarningKind::Direction]);
    assert!(study.warnings[0].message.contains("has no header"), "{:?}", study.warnings);
}

#[test]
fn ratings_may_come_from_the_stories() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("stories.jsonl");
    let line = |i: u32| {
        let human = 1 + i * 5 % 8;
        format!(
            "{{\"id\": {i}, \"system\": \"s{}\", \"prompt\": \"p{}\", \"story\": \"Rain.\", \
             \"human\": {{\"fun\": {human}}}}}\n",
            i % 3,
            i / 3
        )
    };
    fs::write(&path, (0..9).map(line).collect::<String>()).unwrap();
    let rows =
        (0..10).map(|i: u32| Row { id: i.to_string(), item: i.to_string(), ..Row::default() });
    let mut scores = ScoreTable::new(rows.collect());
    let values = (0..10).map(|i| Ok(f64::from(i))).collect();
    scores.push(Column::metric("bleu", Direction::Higher), values);
    let (joined, warnings) = table::with_stories(&scores, &path).unwrap();
    let study = analyse(&joined);
    assert_eq!((study.systems.len(), study.items), (3, 3));
    let messages: Vec<_> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(messages, ["1 scored stories are not in the file of stories and are left out"]);
}
