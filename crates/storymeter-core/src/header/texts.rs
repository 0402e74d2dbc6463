//! What was found in the texts of a score file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The systems of a header may have so many bytes of names, with [`SYSTEM_BYTES`] more for each:
/// about 10,000 systems. With more, their flags are counted only together.
const MOST_BYTES: usize = 1 << 20;

/// What a system takes besides its name.
const SYSTEM_BYTES: usize = 64;

/// How many texts have which flag, by the names of the flags.
pub type FlagCounts = BTreeMap<String, u64>;

/// What was found in the texts of a score file before they were scored, and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextTotals {
    /// Whether what surrounds the stories was removed before they were scored.
    #[serde(skip_serializing_if = "is_false")]
    pub cleaned: bool,
    /// Whether texts that are no stories were scored nevertheless.
    #[serde(skip_serializing_if = "is_false")]
    pub keeps_refusals: bool,
    /// How many texts have no score because they are no stories, by the flag that says so.
    #[serde(skip_serializing_if = "FlagCounts::is_empty")]
    pub no_stories: FlagCounts,
    /// How many texts have each flag, after cleaning.
    #[serde(skip_serializing_if = "FlagCounts::is_empty")]
    pub flags: FlagCounts,
    /// From how many texts what was removed.
    #[serde(skip_serializing_if = "FlagCounts::is_empty")]
    pub removed: FlagCounts,
    /// The number of texts from which anything was removed.
    #[serde(skip_serializing_if = "is_zero")]
    pub changed: u64,
    /// The same counts for each system that has any, sorted by their names. `None`
    /// if there are so many systems that the header would be too large.
    #[serde(skip_serializing_if = "has_none")]
    pub systems: Option<Vec<SystemFlags>>,
}

/// The flags of the texts of one system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemFlags {
    /// The system; `None` for texts that name none.
    pub system: Option<String>,
    /// How many of its texts have each flag, after cleaning.
    #[serde(default, skip_serializing_if = "FlagCounts::is_empty")]
    pub flags: FlagCounts,
    /// From how many of its texts what was removed.
    #[serde(default, skip_serializing_if = "FlagCounts::is_empty")]
    pub removed: FlagCounts,
}

impl Default for TextTotals {
    fn default() -> Self {
        Self {
            cleaned: false,
            keeps_refusals: false,
            no_stories: FlagCounts::new(),
            flags: FlagCounts::new(),
            removed: FlagCounts::new(),
            changed: 0,
            systems: Some(Vec::new()),
        }
    }
}

impl TextTotals {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The number of texts that have no score because they are no stories.
    pub fn unscored(&self) -> u64 {
        self.no_stories.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Adds one text with flags, from which these were removed. Each name is there once.
    pub fn add(&mut self, system: Option<&str>, flags: &[&str], removed: &[&str]) {
        self.changed += u64::from(!removed.is_empty());
        if !flags.is_empty() || !removed.is_empty() {
            let one = |names: &[&str]| names.iter().map(|&name| (name.to_owned(), 1)).collect();
            let system = system.map(str::to_owned);
            let more = SystemFlags { system, flags: one(flags), removed: one(removed) };
            add(&mut self.flags, &more.flags);
            add(&mut self.removed, &more.removed);
            self.add_systems(Some(vec![more]));
        }
    }

    /// Adds one text that has no score, because it has this flag.
    pub fn add_no_story(&mut self, flag: &str) {
        *self.no_stories.entry(flag.to_owned()).or_default() += 1;
    }

    /// Adds what was found in later texts, with which the same was done.
    pub fn merge(&mut self, later: Self) {
        self.changed = self.changed.saturating_add(later.changed);
        add(&mut self.no_stories, &later.no_stories);
        add(&mut self.flags, &later.flags);
        add(&mut self.removed, &later.removed);
        self.add_systems(later.systems);
    }

    /// Whether there are too many systems follows from the systems alone, and not from the order in
    /// which they came.
    fn add_systems(&mut self, later: Option<Vec<SystemFlags>>) {
        let (Some(mut own), Some(later)) = (self.systems.take(), later) else { return };
        own.extend(later);
        own.sort_by(|one, two| one.system.cmp(&two.system));
        own.dedup_by(|more, known| {
            let is_same = known.system == more.system;
            if is_same {
                add(&mut known.flags, &more.flags);
                add(&mut known.removed, &more.removed);
            }
            is_same
        });
        let bytes = |one: &SystemFlags| SYSTEM_BYTES + one.system.as_ref().map_or(0, String::len);
        let few = own.iter().map(bytes).sum::<usize>() <= MOST_BYTES;
        self.systems = few.then_some(own);
    }
}

fn add(counts: &mut FlagCounts, more: &FlagCounts) {
    for (name, count) in more {
        let known = counts.entry(name.clone()).or_default();
        *known = known.saturating_add(*count);
    }
}

fn is_false(truth: &bool) -> bool {
    !truth
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn has_none(systems: &Option<Vec<SystemFlags>>) -> bool {
    systems.as_ref().is_some_and(Vec::is_empty)
}
