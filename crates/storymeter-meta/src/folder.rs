//! A study as a folder of files.
//!
//! `study.json` holds the typed [`Study`] and is all that a program needs. Beside it, for readers
//! and spreadsheets, stand the sheets that people open first, or all of them ([`SheetSet`]), as CSV
//! files, and `index.csv` with the file, the title and the signature of each.

use std::path::{Path, PathBuf};

use storymeter_core::file::StagedFolder;
use storymeter_core::spreadsheet::{TextCells, unmarked};
use storymeter_core::{Error as CoreError, Place, file};

use crate::Study;
use crate::error::Result;
use crate::suite;
use crate::view::{self, Form, Sheet, Subject, text};

/// The typed study.
pub(crate) const STUDY: &str = "study.json";
/// All sheets as JSON, which earlier versions wrote beside the study.
const OLD_SHEETS: &str = "result.json";
/// The list of sheets. The stems of sheets are never `index`.
const INDEX: &str = "index.csv";
/// The columns of the list, by which a list of ours is told from other files of the same name.
const INDEX_COLUMNS: [&str; 3] = ["file", "title", "signature"];

/// The largest `study.json` that is read.
const MOST_BYTES: u64 = 1 << 30;
/// The largest list of sheets that is read.
const MOST_LIST_BYTES: u64 = 64 << 20;

/// Which sheets of a study are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SheetSet {
    /// The few that people open first: the ranking of metrics, their correlations, and the like.
    #[default]
    Main,
    /// All tables, and the numbers behind all figures.
    All,
}

/// Reads the study of a folder.
///
/// # Errors
/// Returns an error if the folder has no `study.json`, or it cannot be read, is not a study, or has
/// parts that do not fit together.
pub fn read(folder: &Path) -> Result<Study> {
    let path = folder.join(STUDY);
    let text = file::read(&path, MOST_BYTES)?;
    let study: Study = serde_json::from_slice(&text).map_err(|e| {
        let place = Place::file(&path).at_line(e.line() as u64);
        CoreError::invalid(place, format!("not the study of a meta-evaluation: {e}"))
    })?;
    study.check().map_err(|problem| {
        let problem = format!("not the study of a meta-evaluation: in {problem}");
        CoreError::invalid(Place::file(&path), problem)
    })?;
    // Earlier versions did not rank metrics.
    Ok(match study.metric_rankings().is_empty() {
        true => study.with_metric_rankings(),
        false => study,
    })
}

/// Whether a folder holds a study.
pub fn holds_study(folder: &Path) -> bool {
    folder.join(STUDY).is_file()
}

/// The files of the study that a folder holds: those that a later study would replace or remove.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let own = [STUDY, INDEX].map(String::from).into_iter().chain(older(folder));
    own.map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// Writes a study into a folder, and returns the paths of the files.
///
/// All files are first written to a temporary folder. A new folder then gets its name in one step.
/// In a folder that exists, `study.json` is removed first and written last, so that it is the mark
/// that the folder is complete: a program that is killed in between leaves a folder without a study
/// and never one whose study and sheets disagree. Sheets that an older study left there are
/// removed, and all other files stay as they are.
///
/// `inputs` are files that the study was made from. None of them is replaced or removed.
///
/// # Errors
/// Returns an error if a file to be written or removed is an input or read-only, or the folder
/// holds the result of a [`suite`], in which cases nothing changes; or if the file system
/// refuses a step.
pub fn write(
    study: &Study,
    folder: &Path,
    sheets: SheetSet,
    inputs: &[&Path],
) -> Result<Vec<PathBuf>> {
    prepare(study, folder, sheets, inputs, TextCells::Marked)?.commit()
}

/// A study, or the result of a suite, that is written and has not got its name yet.
pub struct Pending {
    draft: StagedFolder,
    older: Vec<String>,
}

impl Pending {
    /// Files that are written, and the names of the files that they replace.
    pub(crate) fn new(draft: StagedFolder, older: Vec<String>) -> Self {
        Self { draft, older }
    }

    /// Gives the files their names, and returns their paths, as [`write()`] does.
    ///
    /// # Errors
    /// Fails as [`write()`] does.
    pub fn commit(self) -> Result<Vec<PathBuf>> {
        Ok(self.draft.commit(&self.older)?)
    }
}

/// As [`write()`], but the files get their names later, when [`Pending::commit`] is called. `names`
/// says what happens to names in CSV files that a spreadsheet would run as formulas.
///
/// # Errors
/// Fails as [`write()`] does.
pub fn prepare(
    study: &Study,
    folder: &Path,
    sheets: SheetSet,
    inputs: &[&Path],
    names: TextCells,
) -> Result<Pending> {
    if suite::holds_result(folder) {
        let problem = "this is the result of a test suite, which a study would replace; write to \
                       another folder";
        return Err(CoreError::invalid(Place::file(folder.join(OLD_SHEETS)), problem).into());
    }
    let mut older = vec![STUDY.to_owned()];
    older.extend(self::older(folder));
    let mut draft = StagedFolder::new(folder)?;
    for (name, content) in contents(study, sheets, names)? {
        draft.write(&name, content.as_bytes())?;
    }
    draft.check_inputs(inputs, &older)?;
    draft.check_targets(&older)?;
    Ok(Pending::new(draft, older))
}

/// The files of an older study beside the study itself: those that its own list names, and the
/// sheets as JSON. A list that is not ours names nothing.
fn older(folder: &Path) -> Vec<String> {
    let ours = |name: &str| folder.join(name).is_file();
    if !ours(STUDY) && !ours(OLD_SHEETS) {
        return Vec::new();
    }
    let Ok(list) = file::read(&folder.join(INDEX), MOST_LIST_BYTES) else { return Vec::new() };
    let mut list = csv::Reader::from_reader(list.as_slice());
    if !list.headers().is_ok_and(|heads| heads.iter().eq(INDEX_COLUMNS)) {
        return Vec::new();
    }
    // A list could name any path. Only plain names of CSV files in this folder are taken.
    let is_sheet = |name: &str| {
        let plain = Path::new(name).file_name().is_some_and(|own| own == name);
        plain && name.ends_with(".csv") && ours(name)
    };
    let names = list.records().filter_map(|record| Some(unmarked(record.ok()?.get(0)?).to_owned()));
    let old = [OLD_SHEETS.to_owned()].into_iter().filter(|name| ours(name));
    old.chain(names.filter(|name| is_sheet(name))).collect()
}

/// The names and contents of all files. The study comes last.
fn contents(study: &Study, set: SheetSet, names: TextCells) -> Result<Vec<(String, String)>> {
    let main = view::main_sheets(study.kind);
    let is_wanted = |sheet: &Sheet| set == SheetSet::All || main.contains(&sheet.id.as_str());
    let mut files = Vec::new();
    let mut index = Sheet::new("index", Subject::Other, "", Form::Table).columns(INDEX_COLUMNS, 0);
    for sheet in view::sheets(study).iter().filter(|sheet| is_wanted(sheet)) {
        let name = format!("{}.csv", sheet.id);
        let line = [&name, &sheet.title, &sheet.signature];
        index.push(line.into_iter().map(Into::into).collect());
        files.push((name, text::csv(sheet, names)));
    }
    files.push((INDEX.to_owned(), text::csv(&index, names)));
    let json = serde_json::to_string(study)
        .map_err(|e| CoreError::invalid(Place::file(STUDY), e.to_string()))?;
    files.push((STUDY.to_owned(), json + "\n"));
    Ok(files)
}
