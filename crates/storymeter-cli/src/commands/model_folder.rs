//! A folder that a verb writes a model into: no other run writes there, and no input is in it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use storymeter_baselines::folder::RECORD;
use storymeter_baselines::ruber;
use storymeter_core::Error;
use storymeter_core::file::{FolderLock, distinct};
use storymeter_union::MODEL_FILES;
use storymeter_union::train::CHECKPOINT;

/// A locked folder. If it was made for the run and stays empty, because the run fails before it
/// saves anything, it goes away with the value.
pub struct ModelFolder {
    path: PathBuf,
    /// The folders that were made, the innermost one first.
    made: Vec<PathBuf>,
    _lock: FolderLock,
}

impl ModelFolder {
    /// Makes the folder if it does not exist, and locks it.
    pub fn take(path: &Path) -> anyhow::Result<Self> {
        let missing = path
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let made = missing.map(Path::to_owned).collect();
        std::fs::create_dir_all(path)
            .with_context(|| format!("{}: cannot make the folder", path.display()))?;
        Ok(Self { path: path.to_owned(), made, _lock: FolderLock::take(path)? })
    }

    /// Whether a file would be one of those that the model has.
    pub fn has_name_of(&self, file: &Path) -> bool {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        is_same(folder, &self.path) && self.files().any(|own| own.file_name() == file.file_name())
    }

    /// Checks that neither the model nor one of the other outputs is also an input: one of the
    /// `files`, which may be folders of files, or a file of one of the `models`, which are folders.
    pub fn check_distinct(
        &self,
        others: &[&Path],
        files: &[&Path],
        models: &[&Path],
    ) -> Result<(), Error> {
        // An input may be the folder in which the output folder is, but not the output folder.
        if let Some(input) = files.iter().chain(models).find(|input| is_same(input, &self.path)) {
            return Err(Error::OverInput { output: self.path.clone(), input: input.into() });
        }
        let own: Vec<PathBuf> = self.files().collect();
        let outputs = others.iter().copied().chain(own.iter().map(PathBuf::as_path));
        let read: Vec<PathBuf> = models.iter().flat_map(|model| files_of(model)).collect();
        let inputs = files.iter().copied().chain(read.iter().map(PathBuf::as_path));
        distinct(&outputs.collect::<Vec<_>>(), &inputs.collect::<Vec<_>>())
    }

    /// The files that any kind of model has in this folder, and the checkpoint of its training.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        files_of(&self.path).into_iter().chain([self.path.join(CHECKPOINT)])
    }
}

/// The files that only the baselines have: the record of their training, and those of byte-level
/// tokenisers.
const MORE_FILES: [&str; 4] = [RECORD, "vocab.json", "merges.txt", "added_tokens.json"];

/// The files that a model in this folder can have. Other files beside them are not read with it.
pub fn files_of(folder: &Path) -> Vec<PathBuf> {
    let more = ruber::FILES.iter().filter(|name| !MODEL_FILES.contains(name));
    let more = more.chain(MORE_FILES.iter().filter(|name| !ruber::FILES.contains(name)));
    MODEL_FILES.iter().chain(more).map(|name| folder.join(name)).collect()
}

/// Whether two paths lead to the same file or folder, which exists.
fn is_same(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

impl Drop for ModelFolder {
    fn drop(&mut self) {
        // Only an empty folder can be removed like this. All others stay.
        for folder in &self.made {
            let _ = std::fs::remove_dir(folder);
        }
    }
}
