//! A temporary folder for one test, and functions that read its files.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use storymeter_core::read::{Format, ReadOptions, Skipped, open};
use storymeter_core::{Result, Story};

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with one file.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.add(name, content);
        folder
    }

    pub fn add(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Reads files of the folder, in this order.
    pub fn read(&self, names: &[&str], options: &ReadOptions) -> Result<(Vec<Story>, Skipped)> {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        let mut reader = open(&paths, options)?;
        let stories = reader.by_ref().map(|record| Ok(record?.story)).collect::<Result<_>>()?;
        Ok((stories, reader.skipped().clone()))
    }

    /// An error message without the path of the folder.
    pub fn shown(&self, message: &str) -> String {
        message
            .replace(&format!("{}/", self.0.path().display()), "")
            .replace(&self.root(), "FOLDER")
    }

    fn root(&self) -> String {
        Path::display(self.0.path()).to_string()
    }
}

/// The stories of one file.
pub fn stories(name: &str, content: impl AsRef<[u8]>) -> Vec<Story> {
    let folder = Folder::with(name, content);
    match folder.read(&[name], &ReadOptions::default()) {
        Ok((stories, _)) => stories,
        Err(e) => panic!("{}", folder.shown(&e.to_string())),
    }
}

/// The stories of one file whose format must be given.
pub fn stories_as(format: Format, name: &str, content: impl AsRef<[u8]>) -> Vec<Story> {
    let options = ReadOptions::default().with(|it| it.format = Some(format));
    Folder::with(name, content).read(&[name], &options).expect("stories").0
}

/// The error of reading one file.
pub fn error(name: &str, content: impl AsRef<[u8]>) -> String {
    error_with(name, content, &ReadOptions::default())
}

pub fn error_with(name: &str, content: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let folder = Folder::with(name, content);
    match folder.read(&[name], options) {
        Ok((stories, _)) => panic!("{} stories and no error", stories.len()),
        Err(e) => folder.shown(&e.to_string()),
    }
}

/// Gzipped bytes.
pub fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_ref()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}
