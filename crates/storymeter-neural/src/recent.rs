//! What was computed for references, kept across batches: all systems of an item have the same one.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Things that are kept up to a limit of memory, by the name of what was computed and by the text.
pub(crate) struct Recent<T> {
    /// Each thing with its size.
    kept: FxHashMap<(String, String), (Arc<T>, usize)>,
    keys: Vec<(String, String)>,
    bytes: usize,
    most: usize,
    drawn: u64,
}

impl<T> Recent<T> {
    /// Nothing yet, and at most so many bytes later.
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: FxHashMap::default(), keys: Vec::new(), bytes: 0, most, drawn: 0 }
    }

    /// What was kept for a text.
    pub(crate) fn get(&self, name: &str, text: &str) -> Option<Arc<T>> {
        self.kept.get(&(name.to_owned(), text.to_owned())).map(|(thing, _)| Arc::clone(thing))
    }

    /// Keeps a thing of so many bytes. While all things, and `others` beside them, need too much
    /// memory, it drops some by chance. If the references of all items come round once per system
    /// and do not all fit, the oldest would be the wrong one to drop: every reference would be gone
    /// before it is needed again.
    pub(crate) fn keep(
        &mut self,
        (name, text): (&str, &str),
        thing: &Arc<T>,
        bytes: usize,
        others: impl Fn() -> usize,
    ) {
        let size = bytes + text.len();
        while self.bytes + size + others() > self.most {
            if self.keys.is_empty() {
                return;
            }
            self.drawn = self.drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let place = (self.drawn >> 33) as usize % self.keys.len();
            let key = self.keys.swap_remove(place);
            if let Some((_, size)) = self.kept.remove(&key) {
                self.bytes -= size;
            }
        }
        let key = (name.to_owned(), text.to_owned());
        if self.kept.insert(key.clone(), (Arc::clone(thing), size)).is_none() {
            self.keys.push(key);
            self.bytes += size;
        }
    }
}
