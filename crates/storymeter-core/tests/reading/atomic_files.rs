//! Files that are written whole or not at all.

use std::io::Write;
use std::path::Path;

use storymeter_core::AtomicFile;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_not_committed_leaves_nothing_and_the_old_file_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    std::fs::write(&path, "old").unwrap();
    let mut out = AtomicFile::create(&path).unwrap();
    out.write_all(b"new").unwrap();
    drop(out);
    assert_eq!(names(dir.path()), ["out"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_folder_or_a_missing_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(AtomicFile::create(dir.path()).is_err());
    assert!(AtomicFile::create(dir.path().join("none/out")).is_err());
    for name in ["", "..", "none/", &"x".repeat(300)] {
        assert!(AtomicFile::create(dir.path().join(name)).is_err(), "{name}");
    }
    assert!(AtomicFile::create("").is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_in_memory_is_a_file_like_any_other() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else { return };
    let path = dir.path().join("out");
    std::fs::write(&path, "old").unwrap();
    let mut out = AtomicFile::create(&path).unwrap();
    out.write_all(b"new").unwrap();
    drop(out);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_stays_a_device() {
    let mut out = AtomicFile::create("/dev/null").unwrap();
    out.write_all(b"new").unwrap();
    out.commit().unwrap();
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    let mut full = AtomicFile::create("/dev/full").unwrap();
    full.write_all(b"new").unwrap();
    let error = full.commit().unwrap_err().to_string();
    assert!(error.starts_with("/dev/full: No space left on device"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_its_target_is_replaced_or_created() {
    let dir = tempfile::tempdir().unwrap();
    for old in ["old", ""] {
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        let _ = (std::fs::remove_file(&real), std::fs::remove_file(&link));
        if !old.is_empty() {
            std::fs::write(&real, old).unwrap();
        }
        std::os::unix::fs::symlink("real", &link).unwrap();
        let mut out = AtomicFile::create(&link).unwrap();
        out.write_all(b"new").unwrap();
        out.commit().unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
    }
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    std::os::unix::fs::symlink(&a, &b).unwrap();
    std::os::unix::fs::symlink(&b, &a).unwrap();
    assert!(AtomicFile::create(&a).is_err());
    assert!(a.is_symlink());
}

#[cfg(unix)]
#[test]
fn permissions_are_passed_on_and_a_read_only_file_stays() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut out = AtomicFile::create(&path).unwrap();
    out.write_all(b"new").unwrap();
    out.commit().unwrap();
    assert_eq!((std::fs::read(&path).unwrap(), mode()), (b"new".to_vec(), 0o600));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = AtomicFile::create(&path).err().unwrap().to_string();
    assert!(error.ends_with("out: the file is read-only"), "{error}");
    assert_eq!(names(dir.path()), ["out"]);
}
