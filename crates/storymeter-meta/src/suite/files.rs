//! The result of a suite as files of a folder.
//!
//! `result.json` holds the typed [`SuiteResult`] and is all that a program needs. `result.csv` has
//! the same numbers for spreadsheets, one row per metric and aspect. A folder holds either a result
//! or the study of a meta-evaluation ([`folder`](crate::folder)): neither is written over the
//! other.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use storymeter_core::file::StagedFolder;
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::{Error as CoreError, Place, file};

use super::SuiteResult;
use crate::error::Result;
use crate::folder::{Pending, STUDY};
use crate::view::{self, text};

/// The typed result, which is written last and says that the folder is complete.
pub(crate) const RESULT: &str = "result.json";
/// The same numbers as a table.
const TABLE: &str = "result.csv";

/// The largest `result.json` that is read.
const MOST_BYTES: u64 = 1 << 30;

/// Reads the result of a suite from a folder.
///
/// # Errors
/// Returns an error if the folder has no `result.json`, or it cannot be read, is not the result of
/// a suite, or has parts that do not fit together.
pub fn read(folder: &Path) -> Result<SuiteResult> {
    let path = folder.join(RESULT);
    let text = file::read(&path, MOST_BYTES)?;
    let result: SuiteResult = serde_json::from_slice(&text).map_err(|e| {
        let place = Place::file(&path).at_line(e.line() as u64);
        CoreError::invalid(place, format!("not the result of a test suite: {e}"))
    })?;
    result.check().map_err(|problem| {
        let problem = format!("not the result of a test suite: {problem}");
        CoreError::invalid(Place::file(&path), problem)
    })?;
    Ok(result)
}

/// Whether a folder holds the result of a suite: a `result.json` of that kind.
pub fn holds_result(folder: &Path) -> bool {
    #[derive(Deserialize)]
    struct Mark {
        #[serde(rename = "kind")]
        _kind: super::SuiteKind,
    }
    let path = folder.join(RESULT);
    path.is_file()
        && file::read(&path, MOST_BYTES)
            .is_ok_and(|text| serde_json::from_slice::<Mark>(&text).is_ok())
}

/// The files of the result that a folder holds: those that a later result would replace.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    match holds_result(folder) {
        true => {
            let own = [RESULT, TABLE].map(|name| folder.join(name));
            own.into_iter().filter(|path| path.is_file()).collect()
        }
        false => Vec::new(),
    }
}

/// Writes a result into a folder, and returns the paths of the files.
///
/// All files are first written to a temporary folder. An older `result.json` is then removed before
/// anything else and written last, so that it is the mark that the folder is complete. All other
/// files of the folder stay as they are.
///
/// `inputs` are files that the result was made from. None of them is replaced.
///
/// # Errors
/// Returns an error if the folder has a `result.json` or `result.csv` that does not belong to a
/// suite, or a file to be written is an input or read-only, in which cases nothing changes; or
/// if the file system refuses a step.
pub fn write(result: &SuiteResult, folder: &Path, inputs: &[&Path]) -> Result<Vec<PathBuf>> {
    prepare(result, folder, inputs, TextCells::Marked)?.commit()
}

/// As [`write()`], but the files get their names later, when [`Pending::commit`] is called. `names`
/// says what happens to names in the CSV file that a spreadsheet would run as formulas.
///
/// # Errors
/// Fails as [`write()`] does.
pub fn prepare(
    result: &SuiteResult,
    folder: &Path,
    inputs: &[&Path],
    names: TextCells,
) -> Result<Pending> {
    let table = text::csv(&view::suite_cells(result), names);
    let heads = table.lines().next().unwrap_or_default();
    let foreign =
        [(STUDY, true), (RESULT, !holds_result(folder)), (TABLE, !begins_with(folder, heads)?)];
    for (name, foreign) in foreign {
        let path = folder.join(name);
        if foreign && path.is_file() {
            let problem = "this file is there already and does not belong to a test suite; write \
                           to another folder";
            return Err(CoreError::invalid(Place::file(path), problem).into());
        }
    }
    let older = vec![RESULT.to_owned()];
    let mut draft = StagedFolder::new(folder)?;
    draft.write(TABLE, table.as_bytes())?;
    let json = serde_json::to_string(result)
        .map_err(|e| CoreError::invalid(Place::file(RESULT), e.to_string()))?;
    draft.write(RESULT, (json + "\n").as_bytes())?;
    draft.check_inputs(inputs, &older)?;
    draft.check_targets(&older)?;
    Ok(Pending::new(draft, older))
}

/// Whether the table of a folder is there and has these heads.
fn begins_with(folder: &Path, heads: &str) -> Result<bool> {
    let path = folder.join(TABLE);
    if !path.is_file() {
        return Ok(false);
    }
    let text = file::read(&path, MOST_BYTES)?;
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(line.trim_ascii_end() == heads.as_bytes())
}
