//! A study as a folder of files.
//!
//! `study.json` holds the typed [`Study`] and is all that a program needs. Beside it, for readers
//! and spreadsheets, stand one CSV file per sheet, `index.csv` (file, title and signature of each
//! sheet) and `result.json` (all sheets with the warnings).

use std::fs;
use std::path::{Path, PathBuf};

use storymeter_core::spreadsheet::{TextCells, unmarked};
use storymeter_core::{Error as CoreError, Place};

use crate::Study;
use crate::error::Result;
use crate::view::{self, Form, Sheet, Subject, text};

/// The typed study.
const STUDY: &str = "study.json";
/// All sheets, as they are shown.
const SHEETS: &str = "result.json";
/// The list of sheets. The stems of sheets are never `index`.
const INDEX: &str = "index.csv";
/// The columns of the list, by which a list of ours is told from other files of the same name.
const INDEX_COLUMNS: [&str; 3] = ["file", "title", "signature"];

/// Reads the study of a folder.
///
/// # Errors
/// Where the folder has no `study.json`, or it cannot be read or is not a study.
pub fn read(folder: &Path) -> Result<Study> {
    let path = folder.join(STUDY);
    let text = fs::read(&path).map_err(|e| CoreError::io(Place::file(&path), e))?;
    let study = serde_json::from_slice(&text).map_err(|e| {
        let place = Place::file(&path).at_line(e.line() as u64);
        CoreError::invalid(place, format!("not the study of a meta-evaluation: {e}"))
    })?;
    Ok(study)
}

/// Whether a folder holds a study.
pub fn holds_study(folder: &Path) -> bool {
    folder.join(STUDY).is_file()
}

/// Writes a study into a folder, and returns the paths of the files.
///
/// All files are first written to a temporary folder beside it. A new folder then gets its name in
/// one step. Into a folder that exists, each file is moved in one step; sheets that an older study
/// left there are removed, and all other files stay as they are.
///
/// # Errors
/// Where the file system refuses.
pub fn write(study: &Study, folder: &Path) -> Result<Vec<PathBuf>> {
    write_as(study, folder, TextCells::Marked)
}

/// As [`write`], and says whether names in CSV files that a spreadsheet would run as formulas are
/// marked.
///
/// # Errors
/// Where the file system refuses.
pub fn write_as(study: &Study, folder: &Path, cells: TextCells) -> Result<Vec<PathBuf>> {
    let io = |path: &Path| {
        let place = Place::file(path);
        move |source| CoreError::io(place.clone(), source)
    };
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(io(parent))?;
    let draft =
        tempfile::Builder::new().prefix(".storymeter-").tempdir_in(parent).map_err(io(parent))?;
    let mut names = Vec::new();
    for (name, content) in files(study, cells)? {
        fs::write(draft.path().join(&name), content).map_err(io(&folder.join(&name)))?;
        names.push(name);
    }
    if folder.exists() {
        let older = listed(folder);
        for name in &names {
            fs::rename(draft.path().join(name), folder.join(name))
                .map_err(io(&folder.join(name)))?;
        }
        for name in older.into_iter().filter(|name| !names.contains(name)) {
            let path = folder.join(name);
            fs::remove_file(&path).map_err(io(&path))?;
        }
    } else {
        let draft = draft.keep();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // A temporary folder is private; a result is as readable as any folder of the user.
            fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).map_err(io(folder))?;
        }
        fs::rename(&draft, folder).map_err(io(folder))?;
    }
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// The files of an older study that its own list names. A list that is not ours names nothing.
fn listed(folder: &Path) -> Vec<String> {
    let ours = |name: &str| folder.join(name).is_file();
    if !ours(STUDY) && !ours(SHEETS) {
        return Vec::new();
    }
    let Ok(mut list) = csv::Reader::from_path(folder.join(INDEX)) else { return Vec::new() };
    if !list.headers().is_ok_and(|heads| heads.iter().eq(INDEX_COLUMNS)) {
        return Vec::new();
    }
    // A list could name any path. Only plain names of CSV files in this folder are taken.
    let is_sheet = |name: &str| {
        let plain = Path::new(name).file_name().is_some_and(|own| own == name);
        plain && name.ends_with(".csv") && ours(name)
    };
    let names = list.records().filter_map(|record| Some(unmarked(record.ok()?.get(0)?).to_owned()));
    names.filter(|name| is_sheet(name)).collect()
}

fn files(study: &Study, cells: TextCells) -> Result<Vec<(String, String)>> {
    let sheets = view::sheets(study);
    let json = |name: &str, written: serde_json::Result<String>| {
        let text = written.map_err(|e| CoreError::invalid(Place::file(name), e.to_string()))?;
        Ok::<_, CoreError>((name.to_owned(), text + "\n"))
    };
    let shown = serde_json::json!({
        "kind": study.kind,
        "signature": study.signature,
        "warnings": study.warnings,
        "sheets": sheets,
    });
    let mut files = vec![
        json(STUDY, serde_json::to_string(study))?,
        json(SHEETS, serde_json::to_string(&shown))?,
    ];
    let mut index = Sheet::new("index", Subject::Other, "", Form::Table).columns(INDEX_COLUMNS, 0);
    for sheet in &sheets {
        let name = format!("{}.csv", sheet.id);
        let line = [&name, &sheet.title, &sheet.signature];
        index.push(line.into_iter().map(Into::into).collect());
        files.push((name, text::csv(sheet, cells)));
    }
    files.push((INDEX.to_owned(), text::csv(&index, cells)));
    Ok(files)
}
