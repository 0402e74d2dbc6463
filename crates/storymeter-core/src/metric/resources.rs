//! What metrics share: the settings, and the models and tables that are open.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::MetricError;

/// Where neural networks compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Device {
    /// This machine's processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU, by its number.
    Cuda(usize),
}

impl Device {
    /// The number of the GPU; `None` on the processor.
    pub fn gpu(self) -> Option<usize> {
        match self {
            Self::Cpu => None,
            Self::Cuda(number) => Some(number),
        }
    }
}

/// The number format in which neural networks multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Integers of 8 bits.
    Int8,
    /// Floating point of 16 bits, on a GPU.
    F16,
    /// Floating point of 16 bits with a larger range and fewer digits, on a GPU.
    Bf16,
    /// Floating point of 32 bits.
    F32,
}

/// The settings of all metrics together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// The seed of metrics that draw a sample.
    pub seed: u64,
    /// Where neural networks compute.
    pub device: Device,
    /// The number format in which neural networks multiply. Each metric has its own default.
    pub precision: Option<Precision>,
    /// Folders or files of weights and tables that the user named, by metric id or by the usual
    /// name of a model.
    pub weights: BTreeMap<String, PathBuf>,
}

/// The resources that metrics share.
///
/// Models and tables are opened once and shared by all metrics that ask for the same one
/// ([`Resources::shared`]). Metrics that use several threads use rayon's current thread pool. What
/// is computed from a single text, such as its tokens or its embedding, is kept with the text
/// ([`TextCache`](crate::TextCache)) while its batch is scored.
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

/// Filled once, by the first who asks.
type Slot = OnceLock<Arc<dyn Any + Send + Sync>>;

struct Opened {
    kind: TypeId,
    name: String,
    slot: Arc<Slot>,
    /// Held while the thing is being opened, so that it is opened once.
    opening: Arc<Mutex<()>>,
}

impl Resources {
    /// Resources with these settings, nothing opened yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings, opened: Mutex::default() }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The model or table of this type and name. The first call opens it.
    ///
    /// # Errors
    /// Returns an error if `open` fails. The next call tries again.
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

    fn slot(&self, kind: TypeId, name: &str) -> (Arc<Slot>, Arc<Mutex<()>>) {
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
