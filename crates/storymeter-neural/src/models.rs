//! Finds the models that metrics use by their usual names, and opens each once.
//!
//! A model is looked for in this order:
//!
//! 1. where the user said: [`Settings::weights`](storymeter_core::Settings::weights) under the id
//!    of the metric, and then under the usual name of the model;
//! 2. in the folders of the environment variable `STORYMETER_MODELS` (several are separated as in
//!    `PATH`), under its usual name with and without the organisation: `facebook/bart-large-cnn`
//!    and `bart-large-cnn`;
//! 3. in the local cache of Hugging Face (`HF_HUB_CACHE`, else `hub` in `HF_HOME`, else
//!    `~/.cache/huggingface/hub`).
//!
//! Nothing is downloaded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use storymeter_core::{
    Device, DeviceProblem, MetricError, Precision, Request, Resources, Signature, file,
};
use storymeter_encoder::{DeviceError, Error, Isa, Model, Tokenizer};

use crate::own_files;

/// What a folder of a model has.
const FILES: &str = "config.json, model.safetensors or pytorch_model.bin, and tokenizer.json or \
                     vocab.txt";

/// The most bytes of a file that names a snapshot or the settings of a tokeniser.
const LARGEST_SMALL_FILE: u64 = 1 << 20;

/// About how many tokens go through a model at once.
const TOKENS_ON_CPU: usize = 8 << 10;
const TOKENS_ON_GPU: usize = 32 << 10;

/// A model that metrics share.
pub(crate) struct OpenModel {
    model: Model,
    name: String,
    path: PathBuf,
    precision: Precision,
    device: Device,
    /// The limit that the tokeniser's own settings name.
    tokenizer_limit: Option<usize>,
}

impl OpenModel {
    /// Opens the model that a metric uses, unless another metric has opened it already.
    ///
    /// # Errors
    /// Returns [`MetricError::NoWeights`] if it is in none of the places, and what the engine says
    /// if it cannot be opened.
    pub(crate) fn for_metric(
        request: &Request<'_>,
        usual_name: &str,
        default_precision: Precision,
    ) -> Result<Arc<Self>, MetricError> {
        let found = find(request, usual_name)?;
        let precision = request.resources.settings().precision.unwrap_or(default_precision);
        Self::open(request.key, found, precision, request.resources)
    }

    fn open(
        metric: &str,
        found: Found,
        precision: Precision,
        resources: &Resources,
    ) -> Result<Arc<Self>, MetricError> {
        let device = resources.settings().device;
        let shared = format!("{} {precision:?}", found.path.display());
        resources.shared(&shared, || {
            let Found { name, path } = found;
            let model = Model::open(&path, on_engine(device), in_engine(precision))
                .map_err(|error| failed(metric, error))?;
            let tokenizer_limit = tokenizer_limit(&path);
            Ok(Self { model, name, path, precision, device, tokenizer_limit })
        })
    }

    /// The model of a test, in f32.
    #[cfg(test)]
    pub(crate) fn of_test(folder: &Path) -> Arc<Self> {
        let found = Found { name: "test".to_owned(), path: folder.to_owned() };
        Self::open("test", found, Precision::F32, &Resources::default()).unwrap()
    }

    /// The model itself.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Its usual name, or the name of its folder if the user named a folder.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its folder or file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where it computes.
    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// About how many tokens go through it at once.
    pub(crate) fn tokens_at_once(&self) -> usize {
        if self.device.gpu().is_some() { TOKENS_ON_GPU } else { TOKENS_ON_CPU }
    }

    /// Its tokeniser.
    ///
    /// # Errors
    /// Returns an error if its folder has none that can be used.
    pub(crate) fn tokenizer(&self, metric: &str) -> Result<&Tokenizer, MetricError> {
        match self.model.tokenizer() {
            Ok(tokenizer) => Ok(tokenizer),
            Err(error) => Err(MetricError::Failed {
                metric: metric.to_owned(),
                source: error.to_string().into(),
            }),
        }
    }

    /// The error of a metric that cannot work with this model.
    pub(crate) fn unfit(&self, metric: &str, why: &str) -> MetricError {
        let message = format!("the model {} does not fit: {why}", self.name);
        MetricError::Failed { metric: metric.to_owned(), source: message.into() }
    }

    /// The most tokens of a text, special tokens included: what the settings of the tokeniser say,
    /// as in `transformers`, and never more than the model has positions for.
    pub(crate) fn longest(&self) -> usize {
        let most = self.model.config().max_tokens();
        self.tokenizer_limit.map_or(most, |limit| limit.min(most))
    }

    /// Adds what scores depend on: the name of the model, the hash of its weights, the precision,
    /// and in f32 the instruction set, which decides the last digits.
    pub(crate) fn sign(&self, signature: Signature) -> Signature {
        let signature = signature
            .with("model", "m", &self.name)
            .with("weights", "w", self.model.fingerprint())
            .with("precision", "p", in_engine(self.precision).name());
        match (self.precision, self.device) {
            (Precision::F32, Device::Cpu) => signature.with("isa", "isa", Isa::detect().name()),
            _ => signature,
        }
    }
}

fn on_engine(device: Device) -> storymeter_encoder::Device {
    device.gpu().map_or(storymeter_encoder::Device::Cpu, storymeter_encoder::Device::Cuda)
}

fn in_engine(precision: Precision) -> storymeter_encoder::Precision {
    match precision {
        Precision::Int8 => storymeter_encoder::Precision::Int8,
        Precision::F16 => storymeter_encoder::Precision::F16,
        Precision::Bf16 => storymeter_encoder::Precision::Bf16,
        Precision::F32 => storymeter_encoder::Precision::F32,
    }
}

/// The error of a metric whose model failed.
pub(crate) fn failed(metric: &str, error: Error) -> MetricError {
    let metric = metric.to_owned();
    match error {
        Error::Overflow { .. } => MetricError::Overflow { metric, message: error.to_string() },
        Error::Device(device) => {
            let problem = match device {
                DeviceError::OutOfMemory { .. } => DeviceProblem::OutOfMemory,
                DeviceError::NotBuilt | DeviceError::NoDriver | DeviceError::NoGpu { .. } => {
                    DeviceProblem::Missing
                }
                _ => DeviceProblem::Driver,
            };
            MetricError::Device { metric, problem, message: device.to_string() }
        }
        Error::CpuPrecision { .. } => {
            let problem = DeviceProblem::Precision;
            MetricError::Device { metric, problem, message: error.to_string() }
        }
        error => MetricError::Failed { metric, source: Box::new(error) },
    }
}

/// The limit of tokens in `tokenizer_config.json`, if the folder has one. Files that say nothing
/// sensible are no error: the positions of the model limit texts anyway.
fn tokenizer_limit(folder: &Path) -> Option<usize> {
    let text = file::read(&folder.join("tokenizer_config.json"), LARGEST_SMALL_FILE).ok()?;
    let settings: serde_json::Value = serde_json::from_slice(&text).ok()?;
    // Tokenisers without a limit have 1e30 there, which is no whole number of 64 bits.
    let limit = settings.get("model_max_length")?.as_u64()?;
    usize::try_from(limit).ok().filter(|&limit| limit >= 2)
}

/// A model and its place.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    name: String,
    path: PathBuf,
}

/// Finds the model of a metric.
fn find(request: &Request<'_>, usual_name: &str) -> Result<Found, MetricError> {
    let weights = &request.resources.settings().weights;
    let named = weights.get(request.id).map(|path| (path, None));
    let named = named.or_else(|| weights.get(usual_name).map(|path| (path, Some(usual_name))));
    let (wanted, mut searched) = match named {
        Some((path, name)) if path.exists() => {
            let name = name.map_or_else(|| folder_name(path), str::to_owned);
            return Ok(Found { name, path: path.clone() });
        }
        Some((path, _))
            if path.is_absolute() || path.starts_with(".") || path.starts_with("..") =>
        {
            return Err(MetricError::NoWeights {
                metric: request.key.to_owned(),
                files: format!("a folder with {FILES}"),
                name: request.id.to_owned(),
                searched: vec![path.clone()],
            });
        }
        // What is not a path may be the usual name of another model.
        Some((path, _)) => (path.to_string_lossy().into_owned(), vec![path.clone()]),
        None => (usual_name.to_owned(), Vec::new()),
    };
    let places = Places::of_this_system();
    if let Some(path) = places.find(&wanted) {
        return Ok(Found { name: wanted, path });
    }
    searched.extend(places.candidates(&wanted));
    Err(MetricError::NoWeights {
        metric: request.key.to_owned(),
        files: format!("a folder of the model {wanted} with {FILES}"),
        name: request.id.to_owned(),
        searched,
    })
}

/// The last part of a path, which is how models are called, or the model of a snapshot in the cache
/// of Hugging Face.
fn folder_name(path: &Path) -> String {
    let whole = path.canonicalize();
    let path = whole.as_deref().unwrap_or(path);
    let last = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let in_cache = path.parent().filter(|parent| parent.ends_with("snapshots"));
    let model = in_cache.and_then(Path::parent).and_then(Path::file_name);
    let model = model.and_then(|name| name.to_str()?.strip_prefix("models--"));
    match (model, last) {
        (Some(model), _) => model.replace("--", "/"),
        (None, Some(last)) => last.to_string_lossy().into_owned(),
        (None, None) => "unnamed".to_owned(),
    }
}

/// Where models are looked for by name.
struct Places {
    folders: Vec<PathBuf>,
    hub: Option<PathBuf>,
}

impl Places {
    fn of_this_system() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let folders = own_files::models_folders();
        let home = || variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
        let hub = variable("HF_HUB_CACHE")
            .map(PathBuf::from)
            .or_else(|| variable("HF_HOME").map(|home| PathBuf::from(home).join("hub")))
            .or_else(|| home().map(|home| home.join(".cache/huggingface/hub")));
        Self { folders, hub }
    }

    /// The places where a model may be, in order, whether there is something or not.
    fn candidates(&self, name: &str) -> Vec<PathBuf> {
        let short = name.rsplit('/').next().unwrap_or(name);
        let mut names = vec![name];
        if short != name {
            names.push(short);
        }
        let in_folders =
            self.folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        let in_hub =
            self.hub.iter().map(|hub| hub.join(format!("models--{}", name.replace('/', "--"))));
        in_folders.chain(in_hub).collect()
    }

    /// The folder or the GGUF file of a model.
    fn find(&self, name: &str) -> Option<PathBuf> {
        // A name never leads out of the folders.
        if name.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
            return None;
        }
        let short = name.rsplit('/').next().unwrap_or(name);
        let in_folders = self.folders.iter().find_map(|folder| {
            [name, short].into_iter().find_map(|name| {
                let file = folder.join(format!("{name}.gguf"));
                let place = folder.join(name);
                if place.is_dir() { Some(place) } else { Some(file).filter(|file| file.is_file()) }
            })
        });
        in_folders.or_else(|| snapshot_in(self.hub.as_deref()?, name))
    }
}

/// The newest snapshot of a model in the cache of Hugging Face.
///
/// Models whose names have no organisation, such as `bert-base-uncased`, are also kept under the
/// organisation that they were moved to.
fn snapshot_in(hub: &Path, name: &str) -> Option<PathBuf> {
    let exact = hub.join(format!("models--{}", name.replace('/', "--")));
    let mut folders = vec![exact];
    if !name.contains('/') {
        let end = format!("--{name}");
        let mut moved = file::list(hub).unwrap_or_default();
        moved.retain(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let organisation = name.strip_prefix("models--").and_then(|n| n.strip_suffix(&end));
            organisation.is_some_and(|organisation| !organisation.contains("--"))
        });
        folders.extend(moved);
    }
    folders.iter().find_map(|folder| {
        let revision = file::read(&folder.join("refs/main"), LARGEST_SMALL_FILE).ok()?;
        let revision = std::str::from_utf8(&revision).ok()?.trim();
        let plain = !revision.is_empty() && revision.bytes().all(|b| b.is_ascii_alphanumeric());
        let snapshot = folder.join("snapshots").join(revision);
        (plain && snapshot.is_dir()).then_some(snapshot)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_model_is_found_under_its_full_and_its_short_name() {
        let root = tempfile::tempdir().unwrap();
        let places = Places { folders: vec![root.path().to_owned()], hub: None };
        let name = "facebook/bart-large-cnn";
        assert_eq!(places.find(name), None);
        fs::create_dir(root.path().join("bart-large-cnn")).unwrap();
        assert_eq!(places.find(name), Some(root.path().join("bart-large-cnn")));
        fs::create_dir_all(root.path().join(name)).unwrap();
        assert_eq!(places.find(name), Some(root.path().join(name)));
        assert_eq!(places.find("../secret"), None);
    }

    #[test]
    fn a_language_model_may_be_one_file() {
        let root = tempfile::tempdir().unwrap();
        let places = Places { folders: vec![root.path().to_owned()], hub: None };
        fs::write(root.path().join("smollm2.gguf"), "").unwrap();
        assert_eq!(places.find("smollm2"), Some(root.path().join("smollm2.gguf")));
    }

    #[test]
    fn the_cache_of_hugging_face_names_the_snapshot() {
        let hub = tempfile::tempdir().unwrap();
        let folder = hub.path().join("models--google-bert--bert-base-uncased");
        fs::create_dir_all(folder.join("refs")).unwrap();
        fs::create_dir_all(folder.join("snapshots/86b5e093")).unwrap();
        assert_eq!(snapshot_in(hub.path(), "bert-base-uncased"), None, "no revision is named");
        fs::write(folder.join("refs/main"), "86b5e093\n").unwrap();
        let found = Some(folder.join("snapshots/86b5e093"));
        assert_eq!(snapshot_in(hub.path(), "bert-base-uncased"), found);
        assert_eq!(snapshot_in(hub.path(), "google-bert/bert-base-uncased"), found);
        assert_eq!(snapshot_in(hub.path(), "base-uncased"), None);
        fs::write(folder.join("refs/main"), "../../etc").unwrap();
        assert_eq!(snapshot_in(hub.path(), "bert-base-uncased"), None, "not a revision");
    }

    #[test]
    fn the_settings_of_a_tokeniser_may_limit_texts() {
        let folder = tempfile::tempdir().unwrap();
        let limit = |settings: &str| {
            fs::write(folder.path().join("tokenizer_config.json"), settings).unwrap();
            tokenizer_limit(folder.path())
        };
        assert_eq!(limit(r#"{"model_max_length": 512}"#), Some(512));
        assert_eq!(limit(r#"{"model_max_length": 1000000000000000019884624838656}"#), None);
        assert_eq!(limit("{}"), None);
        assert_eq!(limit("not JSON"), None);
    }

    #[test]
    fn a_folder_is_called_by_its_last_part() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("minilm")).unwrap();
        assert_eq!(folder_name(&root.path().join("minilm/.")), "minilm");
        let snapshot = root.path().join("models--org--name/snapshots/86b5e093");
        fs::create_dir_all(&snapshot).unwrap();
        assert_eq!(folder_name(&snapshot), "org/name");
        fs::write(root.path().join("small.Q4_1.gguf"), "").unwrap();
        assert_eq!(folder_name(&root.path().join("small.Q4_1.gguf")), "small.Q4_1");
    }
}
