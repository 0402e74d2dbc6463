//! The stories of a score table by system, as the comparison needs them.

use std::collections::HashMap;

use storymeter_core::{Error as CoreError, ScoreTable, item_key};
use storymeter_stats::Sample;

use crate::error::{Error, Result};
use crate::grid::{NO_SYSTEM, Names};

/// One system by several columns, which all have values for the same stories.
pub(super) struct SystemValues {
    pub name: String,
    /// The stories with values, one term per column.
    pub sample: Sample,
    /// The number of stories without values.
    pub absent: usize,
}

impl SystemValues {
    /// The values of one column, story by story.
    pub fn values(&self, column: usize) -> Vec<f64> {
        (0..self.sample.stories()).map(|story| self.sample.story(story)[column]).collect()
    }
}

/// The systems and items of a table.
pub(super) struct Stories {
    pub systems: Vec<String>,
    /// By story: the number of its system, and the key of its item.
    cells: Vec<(usize, u64)>,
}

impl Stories {
    /// Finds the system and the item of each story. Without any system, all stories are one.
    pub fn of_table(table: &ScoreTable) -> Result<Self> {
        let mut systems = Names::default();
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
            cells.push((systems.position(system), item_key(&row.item)));
        }
        Ok(Self { systems: systems.names, cells })
    }

    /// The number of the system of a row.
    pub fn system_of(&self, row: usize) -> usize {
        self.cells[row].0
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

    /// The systems by some columns, all of which have values for the same stories.
    pub fn by_system(
        &self,
        table: &ScoreTable,
        columns: &[usize],
        without: &[String],
    ) -> Vec<SystemValues> {
        let empty = |name: &String| SystemValues {
            name: name.clone(),
            sample: Sample::new(columns.len()),
            absent: 0,
        };
        let mut systems: Vec<SystemValues> = self.systems.iter().map(empty).collect();
        let mut terms = vec![0.0; columns.len()];
        for (story, &(system, item)) in self.cells.iter().enumerate() {
            let mut present = true;
            for (term, &column) in terms.iter_mut().zip(columns) {
                match table.values(column)[story] {
                    Ok(value) => *term = value,
                    Err(_) => present = false,
                }
            }
            match present {
                true => systems[system].sample.push(item, &terms),
                false => systems[system].absent += 1,
            }
        }
        systems.retain(|system| !without.contains(&system.name));
        systems
    }
}

/// Groups columns that have values for the same stories, so that they can share their draws. What
/// is drawn does not depend on the group.
pub(super) fn alike(table: &ScoreTable, columns: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<Vec<bool>, usize> = HashMap::new();
    for &column in columns {
        let present = table.values(column).iter().map(|value| value.is_ok()).collect();
        let group = *known.entry(present).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(column);
    }
    groups
}
