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
}

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
        Self { text, views: Mutex::new(Vec::new()) }
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
    fn a_view_may_be_made_from_another_view() {
        let cache = TextCache::new("the lamp went out");
        assert_eq!(cache.view::<WordCount>().0, 4);
        assert_eq!(cache.view::<Words>().0[1], "lamp");
        assert_eq!(cache.built().len(), 2);
    }
}
