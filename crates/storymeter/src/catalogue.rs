//! Every metric there is: the learned one and those without weights.

use std::iter;

use storymeter_core::{Direction, Needs};
use storymeter_metrics::{Entry, Error, registry};
use storymeter_union::{Scorer, UnionMetric};

/// The learned metric. An id alone gives the one of the embedded model; another model needs [`UnionMetric::new`].
static UNION: Entry = Entry {
    ids: &["union"],
    presets: &[],
    direction: Direction::Higher,
    range: "0 to 1",
    needs: Needs::STORY,
    source: UnionMetric::PAGE,
    build: |request| match Scorer::embedded() {
        Ok(scorer) => Ok(Box::new(UnionMetric::new(request.id, scorer))),
        Err(_) => Err(Error::NeedsModel { metric: request.id.to_owned() }),
    },
};

/// All metrics, the learned one first.
///
/// ```
/// assert!(storymeter::catalogue::entries().any(|entry| entry.ids.contains(&"bleu")));
/// ```
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    iter::once(&UNION).chain(registry::entries())
}

/// The entry of an id, with or without a preset.
///
/// # Errors
/// Where there is no such metric; the error suggests one that is near.
pub fn find(id: &str) -> Result<&'static Entry, Error> {
    if UNION.ids.contains(&id) { Ok(&UNION) } else { registry::find(id) }
}
