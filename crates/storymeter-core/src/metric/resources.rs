//! What metrics share: where weights are, which device computes, and what was opened already.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::MetricError;

/// Where networks compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Device {
    /// This machine's processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU, by its number.
    Cuda(usize),
}

/// How networks multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Eight-bit integers.
    Int8,
    /// Sixteen bits, on a GPU.
    F16,
    /// Sixteen bits with a larger range and fewer digits, on a GPU.
    Bf16,
    /// Single precision.
    F32,
}

/// What a user may set for all metrics together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// The seed of metrics that draw a sample.
    pub seed: u64,
    /// Where networks compute.
    pub device: Device,
    /// How networks multiply; each metric has its own default.
    pub precision: Option<Precision>,
    /// Folders or files of weights and tables that the user named, by metric id or by the usual
    /// name of a model.
    pub weights: BTreeMap<String, PathBuf>,
    /// Folders in which models are looked for by their usual names.
    pub folders: Vec<PathBuf>,
}

/// What metrics are lent while they are made and while they work.
///
/// Models and tables are opened once and shared by all metrics that name the same one
/// ([`Resources::shared`]). Work on all threads goes through rayon's current thread pool. What is
/// known about a single text, such as its tokens or its embedding, is kept with the text
/// ([`TextCache`](crate::TextCache)) for as long as the batch lives.
///
/// ```
/// use storymeter_core::{MetricError, Resources};
/// let resources = Resources::default();
/// let open = || Ok::<_, MetricError>(vec!["the", "a"]);
/// let words = resources.shared("stop words", open)?;
/// // The second metric that asks gets the same one.
/// let again = resources.shared("stop words", open)?;
/// assert!(std::sync::Arc::ptr_eq(&words, &again));
/// # Ok::<(), MetricError>(())
/// ```
#[derive(Default)]
pub struct Resources {
    settings: Settings,
    opened: Mutex<Vec<Opened>>,
}

struct Opened {
    kind: TypeId,
    name: String,
    slot: Arc<OnceLock<Arc<dyn Any + Send + Sync>>>,
    /// Held while the thing is being opened, so that it is opened once.
    opening: Arc<Mutex<()>>,
}

impl Resources {
    /// Resources with these settings, nothing opened yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings, opened: Mutex::default() }
    }

    /// What the user set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The thing of this type and name, opened by the first who asks.
    ///
    /// # Errors
    /// Where opening it fails. The next who asks tries again.
    pub fn shared<T: Send + Sync + 'static>(
        &self,
        name: &str,
        open: impl FnOnce() -> Result<T, MetricError>,
    ) -> Result<Arc<T>, MetricError> {
        let (slot, opening) = self.slot(TypeId::of::<T>(), name);
        let _one_at_a_time = opening.lock().unwrap_or_else(PoisonError::into_inner);
        let thing = match slot.get() {
            Some(thing) => Arc::clone(thing),
            None => {
                let thing: Arc<dyn Any + Send + Sync> = Arc::new(open()?);
                Arc::clone(slot.get_or_init(|| thing))
            }
        };
        match thing.downcast() {
            Ok(thing) => Ok(thing),
            Err(_) => unreachable!("a thing is filed under its own type"),
        }
    }

    fn slot(
        &self,
        kind: TypeId,
        name: &str,
    ) -> (Arc<OnceLock<Arc<dyn Any + Send + Sync>>>, Arc<Mutex<()>>) {
        // A panic elsewhere leaves the list whole: entries are only ever pushed.
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let known = opened.iter().position(|one| one.kind == kind && one.name == name);
        let at = known.unwrap_or_else(|| {
            let (slot, opening) = (Arc::default(), Arc::default());
            opened.push(Opened { kind, name: name.to_owned(), slot, opening });
            opened.len() - 1
        });
        (Arc::clone(&opened[at].slot), Arc::clone(&opened[at].opening))
    }
}
