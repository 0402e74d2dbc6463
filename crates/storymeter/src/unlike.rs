//! Counts the texts that do not look like English stories, for which the learned metrics were not
//! made.

use std::collections::BTreeMap;

use storymeter_core::UnlikeTotals;
use storymeter_core::read::Record;
use storymeter_text::kind::{TextKind, unlike_a_story};

/// How many texts look like something else than an English story.
///
/// ```
/// use storymeter::core::{Place, Story, read::Record};
/// use storymeter::Unlike;
/// let record = Record { story: Story::from("Hello."), number: 0, place: Place::default() };
/// let counts = Unlike::of(&[record]);
/// assert!(counts.note(&["union"], 1).unwrap().starts_with("the text is very short"));
/// ```
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

    /// A note for the user, if there are such texts. `metrics` are the learned ones.
    pub fn note(&self, metrics: &[&str], stories: usize) -> Option<String> {
        if self.texts == 0 {
            return None;
        }
        let made = if let [one] = metrics {
            format!("{one} was")
        } else {
            format!("{} were", metrics.join(" and "))
        };
        if stories == 1 {
            let looks: Vec<&str> = self.kinds.keys().map(|kind| kind.looks()).collect();
            let looks = looks.join(" and ");
            return Some(format!("the text {looks}; {made} made for English stories"));
        }
        // The most frequent first; of equally frequent ones, in the order of the kinds.
        let mut kinds: Vec<(&TextKind, &u64)> = self.kinds.iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let kinds: Vec<String> =
            kinds.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
        Some(format!(
            "{} of {stories} stories do not look like English stories: {}; {made} not made for \
             them",
            self.texts,
            kinds.join(", ")
        ))
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

#[cfg(test)]
mod tests {
    use storymeter_core::{Place, Story};

    use super::*;

    fn record(text: &str) -> Record {
        let story = Story { text: text.to_owned(), ..Story::default() };
        Record { story, number: 0, place: Place::default() }
    }

    #[test]
    fn a_note_counts_each_kind_and_each_text_once() {
        let german_list = "Wir kaufen heute noch:\n- das Brot und die Milch\n- den Käse\n- ein Ei";
        let story = "Mira lost her kite in the storm. She looked in the barn and on the roof. Her \
                     brother found it in the end.";
        let mut counts = Unlike::of(&[record(german_list), record(story)]);
        assert_eq!(Unlike::default().note(&["union"], 2), None);
        counts.add(&Unlike::of(&[record("- milk\n- eggs\n- two loaves"), record("Hello.")]));
        assert_eq!(
            counts.note(&["union"], 4).unwrap(),
            "3 of 4 stories do not look like English stories: 2 list, 1 German, 1 very short; \
             union was not made for them"
        );
        let short = Unlike::of(&[record("Hello.")]);
        assert_eq!(
            short.note(&["union"], 1).unwrap(),
            "the text is very short: it has fewer than 20 words; union was made for English stories"
        );
        assert_eq!(
            short.note(&["union", "criteria"], 1).unwrap(),
            "the text is very short: it has fewer than 20 words; union and criteria were made for \
             English stories"
        );
    }
}
