//! The scores of a batch of stories, story by story.

use std::collections::BTreeMap;

use storymeter_core::{Absence, Rationale, Value};

/// The smallest and the largest count, or `None` if there is none.
pub(crate) fn spread(counts: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    counts.fold(None, |spread, count| {
        let (least, most) = spread.unwrap_or((count, count));
        Some((least.min(count), most.max(count)))
    })
}

/// The scores of a batch of stories.
pub struct Batch {
    pub(crate) stats: Vec<f64>,
    pub(crate) values: Vec<Value>,
    pub(crate) width: usize,
    pub(crate) columns: usize,
    pub(crate) empty: usize,
    pub(crate) truncated: Vec<u64>,
    pub(crate) references: Option<(usize, usize)>,
    pub(crate) explanations: Option<Vec<Box<dyn Rationale>>>,
    pub(crate) built: Vec<(&'static str, u64)>,
}

impl Batch {
    /// The sufficient statistics of the n-th story.
    pub fn stats(&self, story: usize) -> &[f64] {
        &self.stats[story * self.width..(story + 1) * self.width]
    }

    /// The values of the n-th story, in the order of
    /// [`MetricSet::columns`](crate::MetricSet::columns).
    pub fn values(&self, story: usize) -> &[Value] {
        &self.values[story * self.columns..(story + 1) * self.columns]
    }

    /// The number of stories in the batch.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Whether the batch has no story.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of scored stories without text.
    pub fn empty_stories(&self) -> usize {
        self.empty
    }

    /// The number of stories that each metric read only in part, in the order of
    /// [`MetricSet::parts`](crate::MetricSet::parts).
    pub fn truncated(&self) -> &[u64] {
        &self.truncated
    }

    /// The smallest and the largest number of references of a story.
    pub fn references(&self) -> Option<(usize, usize)> {
        self.references
    }

    /// The same batch among stories that were not scored. By story of the whole: nothing if it is
    /// the next story of this batch, or else why it has no value. Then its statistics are 0.
    ///
    /// # Panics
    /// If there is not one entry without a reason per story of this batch.
    #[must_use]
    pub fn among(mut self, reasons: &[Option<Absence>]) -> Self {
        let scored = reasons.iter().filter(|reason| reason.is_none()).count();
        assert_eq!(scored * self.columns, self.values.len(), "one place per scored story");
        if scored == reasons.len() {
            return self;
        }
        let mut stats = Vec::with_capacity(reasons.len() * self.width);
        let mut values = Vec::with_capacity(reasons.len() * self.columns);
        let mut next = 0;
        for reason in reasons {
            match reason {
                None => {
                    stats.extend_from_slice(self.stats(next));
                    values.extend_from_slice(self.values(next));
                    next += 1;
                }
                Some(reason) => {
                    stats.extend(std::iter::repeat_n(0.0, self.width));
                    values.extend(std::iter::repeat_n(Err(reason.clone()), self.columns));
                }
            }
        }
        (self.stats, self.values) = (stats, values);
        self
    }

    /// Adds the stories that follow those of this batch.
    pub(crate) fn append(&mut self, later: Self) {
        self.stats.extend(later.stats);
        self.values.extend(later.values);
        self.empty += later.empty;
        self.truncated.iter_mut().zip(later.truncated).for_each(|(sum, more)| *sum += more);
        let counts = self.references.into_iter().chain(later.references);
        self.references = spread(counts.flat_map(|(least, most)| [least, most]));
        if let (Some(known), Some(more)) = (&mut self.explanations, later.explanations) {
            known.extend(more);
        }
        let mut built: BTreeMap<&'static str, u64> = self.built.drain(..).collect();
        for (name, count) in later.built {
            *built.entry(name).or_default() += count;
        }
        self.built = built.into_iter().collect();
    }

    /// One explanation per story, if they were asked for and a metric gives them.
    pub fn explanations(&self) -> Option<&[Box<dyn Rationale>]> {
        self.explanations.as_deref()
    }

    /// The same explanations, taken out of the batch; empty if there are none.
    pub fn take_explanations(&mut self) -> Vec<Box<dyn Rationale>> {
        self.explanations.take().unwrap_or_default()
    }

    /// The number of times that each view was built, by name. No view is built twice for a text of
    /// the batch.
    pub fn views_built(&self) -> &[(&'static str, u64)] {
        &self.built
    }
}
