//! Files and folders that go away by themselves.

use std::fs::{self, File};
use std::path::Path;

use storymeter_core::file::Temporary;

#[test]
fn what_a_killed_program_left_is_removed_and_what_a_living_one_has_stays() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at(".storymeter-dead.partial"), "half").unwrap();
    fs::create_dir(at(".storymeter-dir.partial")).unwrap();
    fs::write(at(".storymeter-dir.partial/sheet.csv"), "half").unwrap();
    fs::write(at(".storymeter-living.partial"), "half").unwrap();
    fs::write(at("storymeter.partial"), "the user's").unwrap();
    let living = File::open(at(".storymeter-living.partial")).unwrap();
    living.lock().unwrap();
    let made = Temporary::file_in(dir.path()).unwrap();
    assert!(!at(".storymeter-dead.partial").exists());
    assert!(!at(".storymeter-dir.partial").exists());
    assert!(at(".storymeter-living.partial").exists());
    assert!(at("storymeter.partial").exists());
    assert!(made.path().exists());
}

#[test]
fn an_error_does_not_name_the_temporary() {
    let error = Temporary::file_in(Path::new("no/such/folder")).err().unwrap().to_string();
    assert_eq!(error, "no/such/folder: No such file or directory (os error 2)");
}

#[test]
fn a_folder_gets_its_name_in_one_step() {
    let dir = tempfile::tempdir().unwrap();
    let draft = Temporary::folder_in(dir.path()).unwrap();
    fs::write(draft.path().join("a"), "a").unwrap();
    draft.persist(&dir.path().join("result")).unwrap();
    assert_eq!(fs::read(dir.path().join("result/a")).unwrap(), b"a");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
