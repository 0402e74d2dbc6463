//! The scorer: models and tables that stay open.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use storymeter::input::{Inputs, ReferenceFiles};
use storymeter::summary::{Against, Resampling};
use storymeter::{Device, Precision, ReadyScorer};
use storymeter_core::read::{DuplicateIds, FieldNames, Format, ReadOptions, Rows};
use storymeter_meta::study::Sides;

use crate::frame::Frame;
use crate::rows::{self, Columns, Texts, WithReferences};
use crate::scored::Scored;
use crate::work;

/// Scores stories with open models. `storymeter.Scorer` is the public class.
#[pyclass(frozen, name = "Scorer", module = "storymeter._native")]
pub struct PyScorer {
    pub(crate) ready: Arc<ReadyScorer>,
    pub(crate) threads: usize,
}

/// What stories are, and how they are read.
#[derive(FromPyObject)]
pub struct Reading<'py> {
    /// "texts", "records", "columns", "frame" or "files".
    kind: String,
    stories: Bound<'py, PyAny>,
    references: Option<Vec<Vec<String>>>,
    reference_files: Vec<PathBuf>,
    columns: Vec<(String, String)>,
    format: Option<String>,
    skip_bad: bool,
    renumber: bool,
}

#[pymethods]
impl PyScorer {
    #[new]
    #[pyo3(signature = (
        metrics, model, weights, device, precision, seed, threads, corpus_stats, clean,
        keep_refusals, corpus, show,
    ))]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        py: Python<'_>,
        metrics: Option<Vec<String>>,
        model: Option<PathBuf>,
        weights: Vec<(String, PathBuf)>,
        device: &str,
        precision: Option<&str>,
        seed: u64,
        threads: usize,
        corpus_stats: Option<PathBuf>,
        clean: bool,
        keep_refusals: bool,
        corpus: Option<Reading<'_>>,
        show: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut scorer = storymeter::Scorer::new().seed(seed).device(device_of(device)?);
        scorer = scorer.clean(clean).keep_refusals(keep_refusals);
        if let Some(metrics) = metrics {
            scorer = scorer.metrics(metrics);
        }
        for (name, folder) in weights {
            scorer = scorer.weights(name, folder);
        }
        if let Some(model) = model {
            scorer = scorer.model(model);
        }
        if let Some(precision) = precision {
            scorer = scorer.precision(precision_of(precision)?);
        }
        if let Some(file) = corpus_stats {
            scorer = scorer.corpus_stats(file);
        }
        let corpus = corpus.map(|corpus| corpus.inputs(py)).transpose()?;
        let ready = work::run(py, threads, show, move |progress| {
            let mut ready = scorer.build()?;
            if let Some(inputs) = &corpus {
                ready.gather_corpus_stats(inputs, progress)?;
            }
            Ok(ready)
        })?;
        Ok(Self { ready: Arc::new(ready), threads })
    }

    /// The keys of the scores, in order.
    fn keys(&self) -> Vec<String> {
        self.ready.metrics().columns().iter().map(|column| column.key.to_string()).collect()
    }

    #[pyo3(signature = (reading, resamples, seed, against, one_sided, threads, show))]
    #[allow(clippy::too_many_arguments, reason = "Python names them")]
    fn score(
        &self,
        py: Python<'_>,
        reading: Reading<'_>,
        resamples: usize,
        seed: u64,
        against: Option<String>,
        one_sided: bool,
        threads: Option<usize>,
        show: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Scored> {
        let inputs = reading.inputs(py)?;
        let resampling = Resampling::default().with(|it| {
            it.resamples = resamples;
            it.seed = seed;
        });
        let sides = if one_sided { Sides::One } else { Sides::Two };
        let against = against.map(|system| Against::new(system).sides(sides));
        let ready = Arc::clone(&self.ready);
        work::run(py, threads.unwrap_or(self.threads), show, move |progress| {
            let inputs = if ready.reads_twice() { inputs.repeatable()? } else { inputs };
            Ok(Scored::new(&ready, &inputs, &resampling, against.as_ref(), progress)?)
        })
    }
}

impl PyScorer {
    /// The models and tables.
    pub fn ready(&self) -> &Arc<ReadyScorer> {
        &self.ready
    }

    /// The number of threads; 0 is one per core.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

impl Reading<'_> {
    /// How records become stories.
    pub fn options(&self) -> PyResult<ReadOptions> {
        read_options(&self.columns, self.format.as_deref(), self.skip_bad, self.renumber)
    }

    /// The path, if the stories are one file.
    pub fn only_file(&self) -> Option<PathBuf> {
        let files: Vec<PathBuf> = match self.kind.as_str() {
            "files" => self.stories.extract().ok()?,
            _ => return None,
        };
        <[PathBuf; 1]>::try_from(files).ok().map(|[file]| file)
    }

    /// The inputs, which are read as [`Reading::options`] says.
    pub fn inputs(self, py: Python<'_>) -> PyResult<Inputs> {
        let options = self.options()?;
        let references = ReferenceFiles::default().with(|it| it.files = self.reference_files);
        let rows: Arc<dyn Rows> = match self.kind.as_str() {
            "files" => {
                let inputs = Inputs::new(self.stories.extract()?, options);
                return Ok(inputs.references(references));
            }
            "texts" => Arc::new(Texts::new(self.stories.cast::<PyList>()?, rows::STORIES)?),
            "frame" => Arc::new(Frame::new(&self.stories, &options.fields)?),
            "columns" => Arc::new(Columns::new(self.stories.cast::<PyList>()?, &options.fields)?),
            _ => Arc::new(rows::records(self.stories.cast::<PyList>()?, &options.fields)?),
        };
        let rows = match self.references {
            Some(references) => Arc::new(WithReferences::new(py, rows, references)?),
            None => rows,
        };
        // The rows have the standard names.
        let options = options.with(|it| it.fields = FieldNames::default());
        Ok(Inputs::rows(rows, options).references(references))
    }
}

/// How records become stories: the names of their fields, their format, and what is done with bad
/// records and with ids that are there twice.
pub fn read_options(
    columns: &[(String, String)],
    format: Option<&str>,
    skip_bad: bool,
    renumber: bool,
) -> PyResult<ReadOptions> {
    let fields = rows::field_names(columns)?;
    let format = format.map(str::parse::<Format>).transpose();
    let format = format.map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(ReadOptions::default().with(|it| {
        it.format = format;
        it.fields = fields;
        it.duplicates = if renumber { DuplicateIds::Renumber } else { DuplicateIds::Refuse };
        it.skip_bad = skip_bad;
    }))
}

pub fn device_of(name: &str) -> PyResult<Device> {
    let number = match name.split_once(':') {
        None if name == "cpu" => return Ok(Device::Cpu),
        None if name == "cuda" => Some(0),
        Some(("cuda", number)) => number.parse().ok(),
        _ => None,
    };
    number.map(Device::Cuda).ok_or_else(|| {
        PyValueError::new_err(format!(
            "device: \"{name}\" is neither \"cpu\" nor \"cuda\" nor \"cuda:N\""
        ))
    })
}

pub fn precision_of(name: &str) -> PyResult<Precision> {
    Ok(match name {
        "int8" => Precision::Int8,
        "f16" => Precision::F16,
        "bf16" => Precision::Bf16,
        "f32" => Precision::F32,
        _ => {
            return Err(PyValueError::new_err(format!(
                "precision: \"{name}\" is none of \"int8\", \"f16\", \"bf16\" and \"f32\""
            )));
        }
    })
}
