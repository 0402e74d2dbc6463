//! How good the metrics are: the study of a score table.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use storymeter::ScoreTable;
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::{AtomicFile, Header, Place, file};
use storymeter_meta::folder::{self, SheetSet};
use storymeter_meta::table::{Options, analyse, with_stories};
use storymeter_meta::view::{self, Sheet, text};
use storymeter_meta::{Scale, Study as MetaStudy};
use storymeter_report::{Inputs, Report};

use crate::errors::Failure;
use crate::tables::{StudySettings, Table, directions, shown};
use crate::work;

/// A meta-evaluation. `storymeter.MetaStudy` is the public class.
#[pyclass(frozen, module = "storymeter._native")]
pub struct Study {
    study: Arc<MetaStudy>,
    sheets: Arc<Vec<Sheet>>,
    table: Arc<ScoreTable>,
    texts: Option<Vec<Option<String>>>,
    /// The files that the study was made from, none of which is overwritten.
    inputs: Vec<PathBuf>,
}

/// What to analyse, and how; Python fills it in.
#[derive(FromPyObject)]
pub struct MetaSettings {
    without: Vec<String>,
    lower: Vec<String>,
    higher: Vec<String>,
    scale: Option<String>,
    stories: Option<PathBuf>,
    errors: Option<PathBuf>,
    drift: Option<PathBuf>,
    study: StudySettings,
}

/// Analyses a score table.
#[pyfunction]
pub fn meta(
    py: Python<'_>,
    table: &Table,
    settings: MetaSettings,
    threads: usize,
) -> PyResult<Study> {
    let scale = settings.scale.as_deref().map(str::parse::<Scale>).transpose();
    let scale = scale.map_err(|problem| PyValueError::new_err(format!("scale: {problem}")))?;
    let comparing = settings.study.settings()?;
    let scored = table.files.iter().chain(&settings.drift);
    let mut inputs: Vec<PathBuf> = scored.clone().map(|scores| Header::path_of(scores)).collect();
    inputs.extend(scored.chain(&settings.stories).chain(&settings.errors).cloned());
    let (given, texts) = (Arc::clone(&table.table), table.texts.clone());
    work::run(py, threads, None, move |progress| {
        let broken = storymeter::Error::from;
        let (table, texts, warnings) = match &settings.stories {
            Some(stories) => {
                let (table, warnings) = with_stories(&given, stories).map_err(broken)?;
                (Arc::new(table), None, warnings)
            }
            None => (given, texts, Vec::new()),
        };
        let drift = settings.drift.map(storymeter::read).transpose()?;
        let options = Options::default().with(|it| {
            it.without = settings.without;
            it.directions = directions(settings.lower, settings.higher);
            it.scale = scale;
            it.errors = settings.errors;
            it.drift = drift;
            it.warnings = warnings;
            it.settings = comparing;
            it.progress = progress.clone();
        });
        let study = analyse(&table, &options).map_err(broken)?;
        let sheets = Arc::new(view::sheets(&study));
        Ok(Study { study: Arc::new(study), sheets, table, texts, inputs })
    })
}

#[pymethods]
impl Study {
    /// The sheets as JSON, and each of them as the text of a terminal.
    fn sheets(&self, py: Python<'_>) -> PyResult<(String, Vec<String>)> {
        let sheets = Arc::clone(&self.sheets);
        work::run(py, 0, None, move |_| shown(&sheets))
    }

    /// What `meta table --format json` prints, without the line break at the end.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let sheets = Arc::clone(&self.sheets);
        work::run(py, 0, None, move |_| Ok(serde_json::to_string_pretty(&*sheets)?))
    }

    /// What `meta table` prints.
    fn text(&self) -> String {
        text::study(&self.study, &self.sheets, &[])
    }

    #[getter]
    fn signature(&self) -> String {
        self.study.signature.to_string()
    }

    /// What a reader of the numbers should know.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.study.warnings.iter().map(|warning| warning.message.clone()).collect()
    }

    /// Writes the folder that `meta table -o` writes, and returns the paths of its files.
    fn write(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        all: bool,
        raw_csv: bool,
    ) -> PyResult<Vec<PathBuf>> {
        let (study, inputs) = (Arc::clone(&self.study), self.inputs.clone());
        let set = if all { SheetSet::All } else { SheetSet::Main };
        let names = if raw_csv { TextCells::Raw } else { TextCells::Marked };
        work::run(py, 0, None, move |_| {
            let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
            let pending = folder::prepare(&study, &folder, set, &inputs, names);
            let written = pending.and_then(folder::Pending::commit);
            Ok(written.map_err(storymeter::Error::from)?)
        })
    }

    /// Writes the page that `storymeter report` makes of the study and its scores.
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        name: String,
        highlight: Option<String>,
    ) -> PyResult<()> {
        let (study, table) = (Arc::clone(&self.study), Arc::clone(&self.table));
        let (texts, inputs) = (self.texts.clone(), self.inputs.clone());
        work::run(py, 0, None, move |_| {
            let sources: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
            file::distinct(&[&path], &sources)?;
            let (study, table) = ((*study).clone(), (*table).clone());
            let mut inputs = Inputs::of_study(&name, study, table, texts);
            if let Some(metric) = &highlight {
                inputs.highlight(metric).map_err(Failure::from)?;
            }
            let html = Report::new(&inputs).html();
            let mut page = AtomicFile::create(&path)?;
            page.write_all(html.as_bytes())
                .map_err(|e| storymeter_core::Error::io(Place::file(&path), e))?;
            Ok(page.commit()?)
        })
    }
}
