//! The stories of one system, as the tests need them.

use std::collections::BTreeMap;

use storymeter_core::{Error as CoreError, ScoreTable};

use crate::error::{Error, Result};
use crate::grid::{NO_SYSTEM, Names};

/// The values of one system.
pub(super) struct Sample {
    pub name: String,
    /// The values that are present, story by story.
    pub values: Vec<f64>,
    /// The mean of each item, in the order of the numbers of the items.
    pub items: Vec<(usize, f64)>,
    pub absent: usize,
    /// The number of items with several stories.
    pub repeated: usize,
}

/// The systems and items of a table, each story with their numbers.
pub(super) struct Stories {
    pub systems: Vec<String>,
    cells: Vec<(usize, usize)>,
}

impl Stories {
    /// Finds the system and the item of each story. Without any system, all stories are one.
    pub fn of_table(table: &ScoreTable) -> Result<Self> {
        let (mut systems, mut items) = (Names::default(), Names::default());
        let nameless = table.rows().iter().all(|row| row.system.is_none());
        let mut cells = Vec::with_capacity(table.rows().len());
        for (at, row) in table.rows().iter().enumerate() {
            let system = match &row.system {
                Some(system) => system.as_str(),
                None if nameless => NO_SYSTEM,
                None => {
                    return Err(Error::NoSystem { place: table.place(at), id: row.id.clone() });
                }
            };
            cells.push((systems.position(system), items.position(&row.item)));
        }
        Ok(Self { systems: systems.names, cells })
    }

    /// Refuses a name that is not that of a system.
    pub fn check(&self, name: &str) -> Result<()> {
        match self.systems.iter().any(|system| system == name) {
            true => Ok(()),
            false => {
                let known = self.systems.iter().map(String::as_str);
                Err(CoreError::unknown("system", name, known).into())
            }
        }
    }

    /// The samples of one column, by system.
    pub fn samples(&self, table: &ScoreTable, column: usize, without: &[String]) -> Vec<Sample> {
        let sample = |name: &String| Sample {
            name: name.clone(),
            values: Vec::new(),
            items: Vec::new(),
            absent: 0,
            repeated: 0,
        };
        let mut samples: Vec<Sample> = self.systems.iter().map(sample).collect();
        for (&(system, item), value) in self.cells.iter().zip(table.values(column)) {
            match value {
                Ok(value) => {
                    samples[system].values.push(*value);
                    samples[system].items.push((item, *value));
                }
                Err(_) => samples[system].absent += 1,
            }
        }
        samples.retain(|sample| !without.contains(&sample.name));
        samples.iter_mut().for_each(Sample::average_items);
        samples
    }
}

impl Sample {
    /// Replaces several stories of one item by their mean.
    fn average_items(&mut self) {
        let mut sums: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for &(item, value) in &self.items {
            let sum = sums.entry(item).or_default();
            *sum = (sum.0 + value, sum.1 + 1);
        }
        self.repeated = sums.values().filter(|(_, count)| *count > 1).count();
        self.items = sums.into_iter().map(|(item, (sum, n))| (item, sum / n as f64)).collect();
    }

    /// The values of both systems on the items that both have.
    pub fn shared(&self, other: &Self) -> (Vec<f64>, Vec<f64>) {
        let mut theirs = other.items.iter().peekable();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for &(item, value) in &self.items {
            while theirs.next_if(|(their, _)| *their < item).is_some() {}
            if let Some(&(_, their_value)) = theirs.next_if(|(their, _)| *their == item) {
                first.push(value);
                second.push(their_value);
            }
        }
        (first, second)
    }
}
