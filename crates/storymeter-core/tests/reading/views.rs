//! Views of a text, which are made once.

use std::sync::Arc;

use storymeter_core::{TextCache, View};

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
fn the_first_value_that_is_kept_under_a_name_stays() {
    let cache = TextCache::new("the lamp went out");
    let first = cache.keep("layer 6", Arc::new(vec![1.0f32]));
    let again = cache.keep("layer 6", Arc::new(vec![2.0f32]));
    assert!(Arc::ptr_eq(&first, &again));
    assert!(cache.recall::<Vec<f32>>("layer 7").is_none());
}

#[test]
fn a_view_may_be_made_from_another_view() {
    let cache = TextCache::new("the lamp went out");
    assert_eq!(cache.view::<WordCount>().0, 4);
    assert_eq!(cache.view::<Words>().0[1], "lamp");
    assert_eq!(cache.built().len(), 2);
}
