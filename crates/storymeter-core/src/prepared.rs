//! A story whose texts are tokenised at most once, no matter how many metrics read them.

use std::any::{Any, TypeId, type_name};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::Story;

/// Something that is computed from a text alone: its tokens, its characters without spaces, its
/// stems.
///
/// A view is a type. A metric can therefore bring its own view without changing any list, and two
/// metrics that ask for the same view share the work.
///
/// ```
/// use storymeter_core::{TextCache, View};
///
/// struct Words(Vec<String>);
///
/// impl View for Words {
///     fn build(text: &TextCache<'_>) -> Self {
///         Self(text.text().split_whitespace().map(str::to_owned).collect())
///     }
/// }
///
/// let text = TextCache::new("the lamp went out");
/// assert_eq!(text.view::<Words>().0.len(), 4);
/// ```
pub trait View: Send + Sync + 'static {
    /// Builds the view of a text. Metrics do not call this; they call [`TextCache::view`].
    fn build(text: &TextCache<'_>) -> Self;
}

/// A text and the views that were built of it so far.
pub struct TextCache<'a> {
    text: &'a str,
    views: Mutex<Vec<Cached>>,
    kept: Mutex<Vec<NamedValue>>,
}

/// A name and what is kept under it.
type NamedValue = (String, Arc<dyn Any + Send + Sync>);

struct Cached {
    key: TypeId,
    name: &'static str,
    slot: Arc<Slot>,
}

/// The first thread fills it, and the others wait.
type Slot = OnceLock<Arc<dyn Any + Send + Sync>>;

impl<'a> TextCache<'a> {
    /// A text without any views yet.
    pub fn new(text: &'a str) -> Self {
        Self { text, views: Mutex::default(), kept: Mutex::default() }
    }

    /// The text itself.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The view of type `V`. The first call builds it.
    ///
    /// A view may ask for other views while it is built. Stems, for example, are made from tokens.
    pub fn view<V: View>(&self) -> Arc<V> {
        let slot = self.slot(TypeId::of::<V>(), type_name::<V>());
        let view = slot.get_or_init(|| Arc::new(V::build(self)));
        match Arc::clone(view).downcast() {
            Ok(view) => view,
            Err(_) => unreachable!("a view is filed under its own type"),
        }
    }

    /// The value of this type that is kept under a name, if there is one.
    pub fn recall<T: Send + Sync + 'static>(&self, name: &str) -> Option<Arc<T>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, thing)| known == name && thing.is::<T>())?;
        Arc::clone(&found.1).downcast().ok()
    }

    /// Keeps a value under a name. If one of this type is kept there already, that one stays, and
    /// it is returned.
    pub fn keep<T: Send + Sync + 'static>(&self, name: &str, thing: Arc<T>) -> Arc<T> {
        if let Some(known) = self.recall::<T>(name) {
            return known;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((name.to_owned(), Arc::clone(&thing) as Arc<dyn Any + Send + Sync>));
        thing
    }

    /// The names of the views that were built so far, in order. Each was built once.
    pub fn built(&self) -> Vec<&'static str> {
        self.lock().iter().map(|cached| cached.name).collect()
    }

    fn slot(&self, key: TypeId, name: &'static str) -> Arc<Slot> {
        let mut views = self.lock();
        if let Some(cached) = views.iter().find(|cached| cached.key == key) {
            return Arc::clone(&cached.slot);
        }
        let slot = Arc::<Slot>::default();
        views.push(Cached { key, name, slot: Arc::clone(&slot) });
        slot
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Cached>> {
        // A panic in another thread cannot leave the list half changed, because entries are only
        // ever pushed.
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A story with its texts, ready for the metrics.
pub struct Prepared<'a> {
    /// The 0-based number of the record in the whole input.
    pub record: u64,
    /// The record itself.
    pub story: &'a Story,
    /// The text of the story.
    pub text: Arc<TextCache<'a>>,
    /// The prompt, if there is one.
    pub prompt: Option<Arc<TextCache<'a>>>,
    /// The references. There may be none.
    pub references: Vec<Arc<TextCache<'a>>>,
}

impl<'a> Prepared<'a> {
    /// A story that shares its texts with no other.
    pub fn new(record: u64, story: &'a Story) -> Self {
        Self::with_texts(record, story, |text| Arc::new(TextCache::new(text)))
    }

    /// A story whose texts come from `share`, which may return the same cache for equal texts.
    pub fn with_texts(
        record: u64,
        story: &'a Story,
        mut share: impl FnMut(&'a str) -> Arc<TextCache<'a>>,
    ) -> Self {
        Self {
            record,
            story,
            text: share(&story.text),
            prompt: story.prompt.as_deref().map(&mut share),
            references: story.references.iter().map(|reference| share(reference)).collect(),
        }
    }
}
