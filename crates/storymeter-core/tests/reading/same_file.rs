//! One file under several names.

use std::path::Path;

use storymeter_core::Error;
use storymeter_core::file::{distinct, named_once};

#[test]
fn an_input_is_recognised_under_all_its_names() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("folder")).unwrap();
    let (file, other) = (at("folder/a"), at("b"));
    std::fs::write(&file, "a").unwrap();
    std::fs::write(&other, "b").unwrap();
    std::fs::hard_link(&file, at("hard")).unwrap();
    let mut names = vec![file.clone(), at("folder/../folder/a"), at("hard")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&file, at("soft")).unwrap();
        names.push(at("soft"));
    }
    for name in &names {
        for input in [file.as_path(), &at("folder")] {
            let error = distinct(&[&at("new"), name], &[&other, input]).unwrap_err();
            assert!(matches!(error, Error::OverInput { .. }), "{error}");
        }
        assert!(distinct(&[name], &[&other]).is_ok());
    }
    assert!(distinct(&[&at("folder/new")], &[&at("folder")]).is_ok());
    assert!(distinct(&[&at("folder")], &[&at("folder")]).is_err());
}

#[test]
fn two_outputs_are_not_one_file() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    assert!(distinct(&[&a, &b], &[]).is_ok());
    assert!(matches!(distinct(&[&a, &a], &[]), Err(Error::SameOutput { .. })));
    let long = dir.path().join(".").join("a");
    assert!(matches!(distinct(&[&a, &long], &[]), Err(Error::SameOutput { .. })));
    std::fs::write(&a, "").unwrap();
    std::fs::hard_link(&a, &b).unwrap();
    assert!(matches!(distinct(&[&a, &b], &[]), Err(Error::SameOutput { .. })));
}

#[test]
fn standard_input_is_named_once_and_a_file_as_often_as_one_likes() {
    let (dash, file) = (Path::new("-"), Path::new(file!()));
    assert!(named_once(&[dash, file, file]).is_ok());
    let error = named_once(&[dash, file, dash]).unwrap_err().to_string();
    assert_eq!(error, "standard input: it is named twice, but it can be read only once");
}
