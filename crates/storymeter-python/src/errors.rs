//! Turns errors of the library into Python's exceptions, which `storymeter._errors` defines: one
//! class per variant, with the facts as attributes.

use std::path::Path;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use storymeter::Error;
use storymeter::shards::ShardError;
use storymeter_core::{DeviceProblem, Error as InputError, MetricError, Place};

/// Why some work failed.
#[derive(Debug)]
pub enum Failure {
    /// An error of the library.
    Library(Box<Error>),
    /// Something that should not happen.
    Internal(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(Box::new(error))
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Error::from(error).into()
    }
}

impl From<storymeter_report::Error> for Failure {
    fn from(error: storymeter_report::Error) -> Self {
        match error {
            storymeter_report::Error::Core(error) => error.into(),
            storymeter_report::Error::Meta(error) => Error::from(*error).into(),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(format!("a result cannot be written as JSON: {error}"))
    }
}

impl From<MetricError> for Failure {
    fn from(error: MetricError) -> Self {
        Error::from(error).into()
    }
}

/// The exception for a failure.
pub fn raise(py: Python<'_>, failure: Failure) -> PyErr {
    let made = match failure {
        Failure::Library(error) if is_interruption(&error) => {
            return PyKeyboardInterrupt::new_err("");
        }
        Failure::Library(error) => facade(py, &error).and_then(|exception| exception.make()),
        Failure::Internal(message) => {
            Exception::new(py, "InternalError", message).and_then(|exception| exception.make())
        }
    };
    // If the class cannot be found, that error is shown instead.
    made.unwrap_or_else(|error| error)
}

/// The exception for an error of the library.
pub fn error(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    raise(py, Failure::from(error.into()))
}

fn is_interruption(error: &Error) -> bool {
    matches!(error, Error::Metric(MetricError::Interrupted))
}

/// An exception that is not made yet: its class, its message and its facts.
struct Exception<'py> {
    py: Python<'py>,
    class: &'static str,
    message: String,
    facts: Bound<'py, PyDict>,
}

impl<'py> Exception<'py> {
    fn new(py: Python<'py>, class: &'static str, message: String) -> PyResult<Self> {
        Ok(Self { py, class, message, facts: PyDict::new(py) })
    }

    fn with(self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<Self> {
        self.facts.set_item(name, value)?;
        Ok(self)
    }

    /// The file, the line and the field.
    fn at(self, place: &Place) -> PyResult<Self> {
        self.with("file", place.file.display().to_string())?
            .with("line", place.line)?
            .with("field", place.field.clone())
    }

    fn make(self) -> PyResult<PyErr> {
        let class = self.py.import("storymeter._errors")?.getattr(self.class)?;
        let made = class.call((self.message,), Some(&self.facts))?;
        if !made.is_instance_of::<pyo3::exceptions::PyBaseException>() {
            return Err(PyRuntimeError::new_err(format!("{} is no exception", self.class)));
        }
        Ok(PyErr::from_value(made))
    }
}

fn facade<'py>(py: Python<'py>, error: &Error) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class, error.to_string());
    match error {
        Error::Input(error) => input(py, error),
        Error::Metric(error) => metric(py, error),
        Error::Statistics(_) => new("StatisticsError"),
        Error::Evaluation(error) => evaluation(py, error),
        Error::Undefined { coefficient, reason } => new("UndefinedError")?
            .with("coefficient", coefficient.to_string())?
            .with("reason", reason.to_string()),
        Error::Lengths { first, second, .. } => {
            new("LengthError")?.with("first", first)?.with("second", second)
        }
        Error::NoReference { place, references, .. } => {
            new("NoReferenceError")?.at(place)?.with("references", references)
        }
        Error::TooManyReferences { file, references, stories } => new("TooManyReferencesError")?
            .with("file", file)?
            .with("references", references)?
            .with("stories", stories),
        Error::NoSystems => new("NoSystemsError"),
        Error::Damage(_) => new("DamageError"),
        Error::Lexicon(_) => new("LexiconError"),
        Error::OnlyContext { place } => new("OnlyContextError")?.at(place),
        Error::NoDonor { file } | Error::DonorFile { file, .. } => {
            new("DonorError")?.with("file", file.display().to_string())
        }
        Error::CorpusStatsLack { file, metric, known } => new("CorpusStatsLackError")?
            .with("file", file)?
            .with("metric", metric)?
            .with("known", known.clone()),
        Error::CorpusStatsMismatch { file, made_for, asked } => new("CorpusStatsMismatchError")?
            .with("file", file)?
            .with("made_for", made_for)?
            .with("asked", asked),
        Error::CorpusStatsUnused { file } => new("CorpusStatsUnusedError")?.with("file", file),
        Error::Shards(error) => shards(py, error),
        _ => new("StorymeterError"),
    }
}

fn evaluation<'py>(py: Python<'py>, error: &storymeter_meta::Error) -> PyResult<Exception<'py>> {
    match error {
        storymeter_meta::Error::Core(error) => input(py, error),
        storymeter_meta::Error::Stats(_) => {
            Exception::new(py, "StatisticsError", error.to_string())
        }
        // The same, and the message names the file.
        storymeter_meta::Error::InFile { source, .. } => {
            Ok(Exception { message: error.to_string(), ..evaluation(py, source)? })
        }
        _ => Exception::new(py, "EvaluationError", error.to_string()),
    }
}

fn input<'py>(py: Python<'py>, error: &InputError) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class, error.to_string());
    match error {
        InputError::Io { place, source } => {
            let class = match source.kind() {
                std::io::ErrorKind::StorageFull => "DiskFullError",
                std::io::ErrorKind::NotFound => "MissingFileError",
                std::io::ErrorKind::PermissionDenied => "FilePermissionError",
                _ => "FileError",
            };
            new(class)?.at(place)?.with("errno", source.raw_os_error())
        }
        InputError::Invalid { place, .. } => new("InputError")?.at(place),
        InputError::OtherValue { place, .. } => new("InputError")?.at(place),
        InputError::OverInput { output, input } => new("OverInputError")?
            .with("output", output.display().to_string())?
            .with("input", input.display().to_string()),
        InputError::NamedTwice { place } => new("NamedTwiceError")?.at(place),
        InputError::SameOutput { first, second } => new("SameOutputError")?
            .with("first", first.display().to_string())?
            .with("second", second.display().to_string()),
        InputError::FormatNotRecognised { place } => new("FormatError")?.at(place),
        InputError::MissingField { place, missing } => new("MissingFieldError")?
            .at(place)?
            .with("name", missing.name.clone())?
            .with("found", missing.found.clone()),
        InputError::DuplicateId { place, id, system, .. } => {
            new("DuplicateIdError")?.at(place)?.with("id", id)?.with("system", system.clone())
        }
        InputError::UnknownName { what, name, nearest, known } => new("UnknownNameError")?
            .with("what", *what)?
            .with("name", name)?
            .with("nearest", nearest.clone())?
            .with("known", known.clone()),
        InputError::AmbiguousName { what, name, candidates } => new("AmbiguousNameError")?
            .with("what", *what)?
            .with("name", name)?
            .with("candidates", candidates.clone()),
        _ => new("StorymeterError"),
    }
}

fn shards<'py>(py: Python<'py>, error: &ShardError) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class, error.to_string());
    let shown = |path: &Path| path.display().to_string();
    match error {
        ShardError::SameOutput { first, second, output } => new("ShardOutputError")?
            .with("first", shown(first))?
            .with("second", shown(second))?
            .with("output", shown(output)),
        ShardError::NotAFile { input } => new("NotAFileError")?.with("file", shown(input)),
        ShardError::NotEmpty { folder, there } => {
            new("NotEmptyError")?.with("folder", shown(folder))?.with("there", there)
        }
        ShardError::Foreign { file } => new("ForeignFileError")?.with("file", shown(file)),
        ShardError::NeedsCorpus { metric } => new("NeedsCorpusError")?.with("metric", metric),
        ShardError::OtherSettings { header, there, wanted } => new("OtherSettingsError")?
            .with("header", shown(header))?
            .with("there", there)?
            .with("wanted", wanted),
        ShardError::Changed { input } => new("ChangedInputError")?.with("file", shown(input)),
        ShardError::NotAHeader { path } => new("NotAHeaderError")?.with("file", shown(path)),
        ShardError::NoHeader { path } => new("NoHeaderError")?.with("file", shown(path)),
        ShardError::NoSums { header } => new("NoSumsError")?.with("header", shown(header)),
        ShardError::TooManySystems { header, .. } => {
            new("TooManySystemsError")?.with("header", shown(header))
        }
        ShardError::Mixed { first, second, there, other } => new("MixedShardsError")?
            .with("first", shown(first))?
            .with("second", shown(second))?
            .with("there", there)?
            .with("other", other),
        ShardError::Missing { of, places } => {
            let places: Vec<u64> = places.iter().map(|(place, _)| *place).collect();
            new("MissingShardsError")?.with("of", of)?.with("places", places)
        }
        ShardError::Count { there, expected } => {
            new("ShardCountError")?.with("there", there)?.with("expected", expected)
        }
        ShardError::Doubled { first, second, input } => new("DoubledShardError")?
            .with("first", shown(first))?
            .with("second", shown(second))?
            .with("input", input),
        ShardError::SameId { first, second } => {
            new("SameIdError")?.with("first", shown(first))?.with("second", shown(second))
        }
        ShardError::Damaged { file, problem } => {
            new("DamagedShardError")?.with("file", shown(file))?.with("problem", problem)
        }
        ShardError::NotJoined { file, problem } => {
            new("NotJoinedError")?.with("file", shown(file))?.with("problem", problem)
        }
        _ => new("ShardError"),
    }
}

fn metric<'py>(py: Python<'py>, error: &MetricError) -> PyResult<Exception<'py>> {
    let new = |class| Exception::new(py, class, error.to_string());
    match error {
        MetricError::UnknownMetric { id, nearest } => new("UnknownMetricError")?
            .with("what", "metric")?
            .with("name", id)?
            .with("nearest", nearest.clone()),
        MetricError::UnknownOption { metric, option, nearest, known } => new("UnknownOptionError")?
            .with("metric", metric)?
            .with("what", "option")?
            .with("name", option)?
            .with("nearest", nearest.clone())?
            .with("known", known.clone()),
        MetricError::OptionClash { metric, first, second, .. } => new("OptionClashError")?
            .with("metric", metric)?
            .with("first", first)?
            .with("second", second),
        MetricError::SameKey { first, second, key } => {
            new("SameKeyError")?.with("first", first)?.with("second", second)?.with("key", key)
        }
        MetricError::Lacks { place, story, metric, what } => new("LackingStoryError")?
            .at(place)?
            .with("story", story)?
            .with("metric", metric)?
            .with("what", *what),
        MetricError::NoCorpus { metric } => new("NoCorpusError")?.with("metric", metric),
        MetricError::NoWeights { metric, files, name, searched } => {
            let searched: Vec<String> =
                searched.iter().map(|folder| folder.display().to_string()).collect();
            new("MissingWeightsError")?
                .with("metric", metric)?
                .with("files", files)?
                .with("name", name)?
                .with("searched", searched)
        }
        MetricError::Device { metric, problem, .. } => {
            let problem = match problem {
                DeviceProblem::Missing => "missing",
                DeviceProblem::Precision => "precision",
                DeviceProblem::OutOfMemory => "out of memory",
                DeviceProblem::Driver => "driver",
                _ => "other",
            };
            new("DeviceError")?.with("metric", metric)?.with("problem", problem)
        }
        MetricError::Overflow { metric, .. } => new("NumericError")?.with("metric", metric),
        MetricError::Failed { metric, source } => {
            match source.downcast_ref::<storymeter_union::Error>() {
                Some(storymeter_union::Error::File(error)) => input(py, error),
                Some(_) => new("ModelError")?.with("metric", metric),
                None => new("MetricError")?.with("metric", metric),
            }
        }
        MetricError::File(error) => input(py, error),
        _ => new("MetricError"),
    }
}
