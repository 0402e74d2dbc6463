//! Counts the texts that do not look like English stories, for which the learned metrics were not
//! made.

use std::collections::BTreeMap;

use storymeter_core::UnlikeTotals;
use storymeter_core::read::Record;
use storymeter_text::kind::{TextKind, unlike_a_story};

/// How many texts look like something else than an English story.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unlike {
    /// The number of such texts.
    pub texts: u64,
    /// How many of them look like what. A text may look like several things.
    pub kinds: BTreeMap<TextKind, u64>,
}

impl Unlike {
    /// Looks at stories.
    pub fn of(records: &[Record]) -> Self {
        let mut counts = Self::default();
        for record in records {
            let kinds = unlike_a_story(&record.story.text);
            counts.texts += u64::from(!kinds.is_empty());
            for kind in kinds {
                *counts.kinds.entry(kind).or_default() += 1;
            }
        }
        counts
    }

    /// Adds the counts of other stories.
    pub fn add(&mut self, other: &Self) {
        self.texts += other.texts;
        for (kind, count) in &other.kinds {
            *self.kinds.entry(*kind).or_default() += count;
        }
    }

    /// The counts for a header.
    pub(crate) fn totals(&self) -> UnlikeTotals {
        let named = |(kind, count): (&TextKind, &u64)| (kind.name().to_owned(), *count);
        UnlikeTotals { texts: self.texts, kinds: self.kinds.iter().map(named).collect() }
    }

    /// The counts of a header. Kinds of another version are left out.
    pub(crate) fn from_totals(totals: &UnlikeTotals) -> Self {
        let known = |(name, count): (&String, &u64)| Some((TextKind::from_name(name)?, *count));
        Self { texts: totals.texts, kinds: totals.kinds.iter().filter_map(known).collect() }
    }
}
