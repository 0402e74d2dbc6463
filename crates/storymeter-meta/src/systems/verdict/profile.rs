//! The systems that a verdict is about: their stories, lengths and flags.

use std::collections::BTreeMap;

use storymeter_core::{Role, ScoreTable};

use super::{FlagShare, LengthSource, SystemProfile, WordCounts};
use crate::error::Result;
use crate::ratings::quantile;
use crate::systems::stories::Stories as Cells;
use crate::systems::{Options, SystemComparison};

/// Names that data sets give to stories that people wrote.
const PEOPLE: [&str; 5] = ["human", "humans", "gold", "reference", "writer"];

/// The metric whose column has the lengths if the stories have none.
const LENGTH: &str = "text-length";

/// Whether a name is that of human writers.
pub(crate) fn is_people(name: &str) -> bool {
    PEOPLE.contains(&name.to_lowercase().as_str())
}

/// The stories that a verdict is about.
pub(super) struct Stories<'a> {
    pub table: &'a ScoreTable,
    /// The systems in the order of the table, without those that the user leaves out.
    pub systems: Vec<String>,
    /// The systems that compete: all, or the machines if there are several and one system of
    /// people.
    pub competing: Vec<String>,
    /// The rows of these systems: the row of the table, and the position of its system.
    pub rows: Vec<(usize, usize)>,
    /// By row of the table: how many words the story has.
    pub words: Vec<Option<f64>>,
    /// Where the words are from.
    pub source: LengthSource,
}

impl<'a> Stories<'a> {
    pub fn of_table(
        table: &'a ScoreTable,
        found: &[SystemComparison],
        options: &Options,
    ) -> Result<Self> {
        let cells = Cells::of_table(table)?;
        let kept = |name: &&String| !options.without.contains(name);
        let systems: Vec<String> = cells.systems.iter().filter(kept).cloned().collect();
        let position = |name: &str| systems.iter().position(|system| system == name);
        let places: Vec<Option<usize>> = cells.systems.iter().map(|name| position(name)).collect();
        let rows: Vec<(usize, usize)> = (0..table.rows().len())
            .filter_map(|row| Some((row, places[cells.system_of(row)]?)))
            .collect();
        let has_value = |name: &String| {
            found
                .iter()
                .flat_map(|one| &one.systems)
                .any(|one| one.name == *name && one.mean.is_ok())
        };
        let (people, machines): (Vec<String>, Vec<String>) =
            systems.iter().filter(|name| has_value(name)).cloned().partition(|one| is_people(one));
        let competing = match people.len() {
            1 if machines.len() > 1 => machines,
            _ => systems.iter().filter(|name| has_value(name)).cloned().collect(),
        };
        let mut stories = Self {
            table,
            systems,
            competing,
            rows,
            words: Vec::new(),
            source: LengthSource::Unknown,
        };
        stories.measure();
        Ok(stories)
    }

    /// Finds the lengths: those of the rows, or those of a column, whichever are there for at
    /// least half of the stories of every system.
    fn measure(&mut self) {
        let rows = self.table.rows().iter();
        let own: Vec<_> = rows.map(|row| row.words.map(|words| words as f64)).collect();
        if self.is_enough(&own) {
            (self.words, self.source) = (own, LengthSource::Words);
            return;
        }
        let columns = self.table.columns();
        let column = (0..columns.len())
            .find(|&at| columns[at].role == Role::Metric && columns[at].key.id() == LENGTH);
        if let Some(at) = column {
            let values = self.table.values(at).iter();
            let values: Vec<_> = values.map(|value| value.clone().ok()).collect();
            if self.is_enough(&values) {
                self.words = values;
                self.source = LengthSource::Column(columns[at].key.clone());
                return;
            }
        }
        self.words = vec![None; self.table.rows().len()];
    }

    fn is_enough(&self, words: &[Option<f64>]) -> bool {
        let mut counts = vec![(0, 0); self.systems.len()];
        for &(row, system) in &self.rows {
            counts[system].0 += 1;
            counts[system].1 += usize::from(words[row].is_some());
        }
        counts.iter().all(|(all, known)| 2 * known >= *all) && !self.rows.is_empty()
    }

    /// Whether a system competes.
    pub fn competes(&self, system: usize) -> bool {
        self.competing.contains(&self.systems[system])
    }

    /// The flags of a row, each once.
    pub fn flags(&self, row: usize) -> impl Iterator<Item = &'a str> {
        let flags = &self.table.rows()[row].flags;
        let is_first = |at: usize| flags[..at].iter().all(|other| *other != flags[at]);
        (0..flags.len()).filter(move |&at| is_first(at)).map(|at| flags[at].as_str())
    }
}

/// The lengths and flags of each system.
pub(super) fn profiles(stories: &Stories<'_>) -> Vec<SystemProfile> {
    let mut found = Vec::with_capacity(stories.systems.len());
    for (at, name) in stories.systems.iter().enumerate() {
        let own: Vec<usize> =
            stories.rows.iter().filter(|(_, system)| *system == at).map(|(row, _)| *row).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for flag in own.iter().flat_map(|&row| stories.flags(row)) {
            *counts.entry(flag).or_default() += 1;
        }
        let share = |(flag, count): (&str, usize)| FlagShare {
            flag: flag.to_owned(),
            stories: count,
            share: count as f64 / own.len() as f64,
        };
        found.push(SystemProfile {
            name: name.clone(),
            is_people: is_people(name),
            stories: own.len(),
            words: word_counts(own.iter().filter_map(|&row| stories.words[row]).collect()),
            flags: counts.into_iter().map(share).collect(),
        });
    }
    found
}

fn word_counts(mut words: Vec<f64>) -> Option<WordCounts> {
    words.sort_by(f64::total_cmp);
    (!words.is_empty()).then(|| WordCounts {
        stories: words.len(),
        low: quantile(&words, 0.1),
        lower_quartile: quantile(&words, 0.25),
        median: quantile(&words, 0.5),
        upper_quartile: quantile(&words, 0.75),
        high: quantile(&words, 0.9),
    })
}
