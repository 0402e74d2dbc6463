//! System x item x column: what meta-evaluation reads.

use crate::Signature;

/// Which way a metric points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// More is better: a similarity, a probability.
    Higher,
    /// Less is better: a distance, a repetition rate.
    Lower,
    /// Neither is better by construction: a length, a coverage.
    #[default]
    None,
}

/// Whether a column holds human judgments or a metric's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Human judgments on one criterion.
    Human,
    /// An automatic metric.
    Metric,
}

/// What a column of a [`ScoreTable`] is.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name: a criterion, or a metric's id as the user typed it.
    pub name: String,
    /// Human or metric.
    pub role: Role,
    /// Which way it points.
    pub direction: Direction,
    /// How its numbers came about, where known.
    pub signature: Option<Signature>,
}

/// Scores of every system on every item, by column. A missing cell is NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTable {
    systems: Vec<String>,
    items: Vec<String>,
    columns: Vec<Column>,
    /// `[column][system][item]`.
    values: Vec<f64>,
}

impl ScoreTable {
    /// A table with these systems and items and no columns.
    pub fn new(systems: Vec<String>, items: Vec<String>) -> Self {
        Self { systems, items, columns: Vec::new(), values: Vec::new() }
    }

    /// Adds a column given as `[system][item]`, flattened.
    ///
    /// # Panics
    /// If `values` does not hold one number for each system and item: a programming error, not bad input.
    pub fn push_column(&mut self, column: Column, values: &[f64]) {
        assert_eq!(
            values.len(),
            self.systems.len() * self.items.len(),
            "one value a system and item"
        );
        self.columns.push(column);
        self.values.extend_from_slice(values);
    }

    /// The same table without the systems of these names, such as the human writers.
    #[must_use]
    pub fn without_systems(&self, names: &[&str]) -> Self {
        let kept: Vec<usize> = (0..self.systems.len())
            .filter(|&s| !names.contains(&self.systems[s].as_str()))
            .collect();
        let systems = kept.iter().map(|&s| self.systems[s].clone()).collect();
        let mut table = Self::new(systems, self.items.clone());
        for (at, column) in self.columns.iter().enumerate() {
            let values: Vec<f64> = kept.iter().flat_map(|&s| self.row(at, s)).copied().collect();
            table.push_column(column.clone(), &values);
        }
        table
    }

    /// Names of the systems.
    pub fn systems(&self) -> &[String] {
        &self.systems
    }

    /// Names of the items.
    pub fn items(&self) -> &[String] {
        &self.items
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// A column's values as `[system][item]`, flattened.
    pub fn values(&self, column: usize) -> &[f64] {
        let size = self.systems.len() * self.items.len();
        &self.values[column * size..(column + 1) * size]
    }

    /// A column's values of one system, by item.
    pub fn row(&self, column: usize, system: usize) -> &[f64] {
        let items = self.items.len();
        &self.values(column)[system * items..(system + 1) * items]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_can_be_left_out() {
        let mut table =
            ScoreTable::new(vec!["Human".into(), "Tale".into()], vec!["0".into(), "1".into()]);
        let column = Column {
            name: "BLEU".into(),
            role: Role::Metric,
            direction: Direction::Higher,
            signature: None,
        };
        table.push_column(column, &[1.0, 2.0, 3.0, 4.0]);
        let without = table.without_systems(&["Human"]);
        assert_eq!(without.systems(), ["Tale"]);
        assert_eq!(without.values(0), [3.0, 4.0]);
    }
}
