//! A story whose texts are tokenised at most once, however many metrics look at them.

use std::any::{Any, TypeId, type_name};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::Story;

/// One way to look at a text: its 13a tokens, its characters without blanks, its stems.
///
/// A view is a type, so a metric's file can bring its own without any list of views to extend, and two metrics
/// that ask for the same type share the work.
pub trait View: Send + Sync + 'static {
    /// Builds the view of a text. Metrics do not call this: they ask [`TextCache::view`].
    fn build(text: &TextCache<'_>) -> Self;
}

/// A text and the views of it that were asked for so far.
pub struct TextCache<'a> {
    text: &'a str,
    views: Mutex<Vec<Cached>>,
    kept: Mutex<Vec<Kept>>,
}

/// A name and what is kept under it.
type Kept = (String, Arc<dyn Any + Send + Sync>);

struct Cached {
    key: TypeId,
    name: &'static str,
    slot: Arc<Slot>,
}

/// Filled by the first thread that comes; others wait for it.
type Slot = OnceLock<Arc<dyn Any + Send + Sync>>;

impl<'a> TextCache<'a> {
    /// A text nobody has looked at yet.
    pub fn new(text: &'a str) -> Self {
        Self { text, views: Mutex::default(), kept: Mutex::default() }
    }

    /// The text itself.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The view of type `V`, built by the first who asks.
    ///
    /// A view may ask for other views while it is built, as stems are made from tokens.
    pub fn view<V: View>(&self) -> Arc<V> {
        let slot = self.slot(TypeId::of::<V>(), type_name::<V>());
        let view = slot.get_or_init(|| Arc::new(V::build(self)));
        match Arc::clone(view).downcast() {
            Ok(view) => view,
            Err(_) => unreachable!("a view is filed under its own type"),
        }
    }

    /// What a metric found out about the text and kept under a name, such as its embedding by a
    /// certain model; made by the first who asks for it.
    ///
    /// A view is for what depends on the text alone. This is for what also depends on a resource,
    /// which the name must identify.
    ///
    /// # Errors
    /// Where making it fails. The next who asks tries again.
    pub fn kept<T: Send + Sync + 'static, E>(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(known) = self.recall::<T>(name) {
            return Ok(known);
        }
        Ok(self.keep(name, Arc::new(make()?)))
    }

    /// What was kept under a name before, if anything of that type was.
    pub fn recall<T: Send + Sync + 'static>(&self, name: &str) -> Option<Arc<T>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, thing)| known == name && thing.is::<T>())?;
        Arc::clone(&found.1).downcast().ok()
    }

    /// Keeps a thing under a name, and returns what is kept there: the first one that came.
    pub fn keep<T: Send + Sync + 'static>(&self, name: &str, thing: Arc<T>) -> Arc<T> {
        if let Some(known) = self.recall::<T>(name) {
            return known;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((name.to_owned(), Arc::clone(&thing) as Arc<dyn Any + Send + Sync>));
        thing
    }

    /// The names of the views built so far, in the order they were asked for. Each was built once.
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
        // A panic elsewhere leaves the list whole: entries are only ever pushed.
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A story with its texts ready to be looked at.
pub struct Prepared<'a> {
    /// The 0-based number of the record in the whole input.
    pub record: u64,
    /// The record itself.
    pub story: &'a Story,
    /// The story's text.
    pub text: Arc<TextCache<'a>>,
    /// The prompt, where there is one.
    pub prompt: Option<Arc<TextCache<'a>>>,
    /// The references, possibly none.
    pub references: Vec<Arc<TextCache<'a>>>,
}

impl<'a> Prepared<'a> {
    /// A story on its own, sharing its texts with no other.
    pub fn new(record: u64, story: &'a Story) -> Self {
        Self::with_texts(record, story, |text| Arc::new(TextCache::new(text)))
    }

    /// A story whose texts come from `share`, which may hand out one cache for equal texts.
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Words(Vec<String>);

    impl View for Words {
        fn build(text: &TextCache<'_>) -> Self {
            Self(text.text().split(' ').map(str::to_owned).collect())
        }
    }

    struct WordCount(usize);

    impl View for WordCount {
        fn build(text: &TextCache<'_>) -> Self {
            Self(text.view::<Words>().0.len())
        }
    }

    #[test]
    fn a_view_is_built_once_and_shared() {
        let cache = TextCache::new("the lamp went out");
        let first = cache.view::<Words>();
        assert!(Arc::ptr_eq(&first, &cache.view::<Words>()));
        assert_eq!(cache.built().len(), 1);
    }

    #[test]
    fn what_is_kept_is_made_once_per_name() {
        let cache = TextCache::new("the lamp went out");
        let first = cache.kept::<_, ()>("layer 6", || Ok(vec![1.0f32])).unwrap();
        let again = cache.kept::<Vec<f32>, _>("layer 6", || Err("made twice")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(cache.kept::<Vec<f32>, _>("layer 7", || Err("not known")), Err("not known"));
    }

    #[test]
    fn a_view_may_be_made_from_another_view() {
        let cache = TextCache::new("the lamp went out");
        assert_eq!(cache.view::<WordCount>().0, 4);
        assert_eq!(cache.view::<Words>().0[1], "lamp");
        assert_eq!(cache.built().len(), 2);
    }
}
