//! A document as a folder of files that is complete or not there.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use storymeter_core::{Error, Place, Result};

use crate::render;
use crate::sheet::Document;

/// Writes `result.json` (everything), one CSV a sheet and `index.csv` (file, title, signature) into a folder.
///
/// All files are written to a temporary folder beside it first. A new folder then gets its name in one step;
/// into one that exists each file is moved in one step, and files of other names in it stay as they are.
pub fn write(document: &Document, folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |path: &Path| {
        let place = Place::file(path);
        move |source| Error::io(place.clone(), source)
    };
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(io(parent))?;
    let draft =
        tempfile::Builder::new().prefix(".storymeter-").tempdir_in(parent).map_err(io(parent))?;
    let mut names = Vec::new();
    for (name, text) in files(document)? {
        let path = draft.path().join(&name);
        let mut file = fs::File::create(&path).map_err(io(&folder.join(&name)))?;
        file.write_all(text.as_bytes()).map_err(io(&folder.join(&name)))?;
        names.push(name);
    }
    if folder.exists() {
        for name in &names {
            fs::rename(draft.path().join(name), folder.join(name))
                .map_err(io(&folder.join(name)))?;
        }
    } else {
        let draft = draft.keep();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // A temporary folder is private; a result is as readable as any folder the user makes.
            fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).map_err(io(folder))?;
        }
        fs::rename(&draft, folder).map_err(io(folder))?;
    }
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

fn files(document: &Document) -> Result<Vec<(String, String)>> {
    let json = serde_json::to_string(document)
        .map_err(|e| Error::invalid(Place::file("result.json"), e.to_string()))?;
    let mut index = crate::sheet::Sheet::new("index", "", crate::sheet::Form::Table)
        .columns(["file", "title", "signature"], 0);
    let mut files = vec![("result.json".to_owned(), json + "\n")];
    for sheet in &document.sheets {
        let name = format!("{}.csv", sheet.id);
        index.push(vec![
            name.as_str().into(),
            sheet.title.as_str().into(),
            sheet.signature.as_str().into(),
        ]);
        files.push((name, render::csv(sheet)));
    }
    files.push(("index.csv".into(), render::csv(&index)));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Form, Sheet};

    fn document() -> Document {
        let mut sheet = Sheet::new("table-1", "One", Form::Table).column("x", 2);
        sheet.push(vec![0.1.into()]);
        Document {
            kind: "table".into(),
            signature: "meta".into(),
            warnings: vec![],
            sheets: vec![sheet],
        }
    }

    #[test]
    fn a_folder_is_written_whole_and_can_be_written_again() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("deep/out");
        for _ in 0..2 {
            write(&document(), &folder).unwrap();
            assert_eq!(fs::read_to_string(folder.join("table-1.csv")).unwrap(), "x\n0.1\n");
            let json = fs::read_to_string(folder.join("result.json")).unwrap();
            assert_eq!(serde_json::from_str::<Document>(&json).unwrap(), document());
        }
        assert_eq!(fs::read_dir(temporary.path().join("deep")).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("taken");
        fs::write(&folder, "a file").unwrap();
        assert!(write(&document(), &folder).is_err());
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1);
    }
}
