//! Tables for the tests.

use serde::Deserialize;
use storymeter_core::{Catalogue, Column, Direction, Ratings, Row, ScoreTable, read};
use storymeter_meta::{Study, table};

/// Tables with what scipy says about them, made by `tools/meta_fixtures.py`.
#[derive(Deserialize)]
pub struct Fixture {
    pub tables: std::collections::BTreeMap<String, Expected>,
}

#[derive(Deserialize)]
pub struct Expected {
    rows: Vec<serde_json::Value>,
    pub agreements: Vec<Agreement>,
    pub williams: Vec<Williams>,
}

/// Metric, criterion, level, coefficient, value, p-value, n.
type Agreement = (String, String, String, String, Option<f64>, Option<f64>, usize);

/// First metric, second metric, criterion, level, p-value, n.
type Williams = (String, String, String, String, Option<f64>, usize);

impl Expected {
    /// The rows as a score file would hold them.
    pub fn jsonl(&self) -> String {
        self.rows.iter().map(|row| format!("{row}\n")).collect()
    }

    pub fn table(&self) -> ScoreTable {
        let lines = std::io::Cursor::new(self.jsonl());
        read::scores_from("scores.jsonl", lines, &Catalogue::default()).unwrap()
    }
}

pub fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../../fixtures/absent_cells.json")).unwrap()
}

/// The fixture's table of four systems that wrote for different items.
pub fn apart() -> Expected {
    fixture().tables.remove("four systems without a shared item").unwrap()
}

/// The fixture's table with absent scores and ratings.
pub fn holes() -> Expected {
    fixture().tables.remove("six systems with absent cells").unwrap()
}

pub fn analyse(table: &ScoreTable) -> Study {
    table::analyse(table, &table::Options::default()).unwrap()
}

/// Numbers without any pattern, from 0 to 1.
pub fn noise(number: usize) -> f64 {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// A table of unrelated random numbers: systems by items, two raters per criterion.
pub fn random(systems: usize, items: usize, criteria: &[&str], metrics: &[&str]) -> ScoreTable {
    let mut number = 0;
    let mut next = || {
        number += 1;
        noise(number)
    };
    let mut rows = Vec::new();
    for system in 0..systems {
        for item in 0..items {
            let mut ratings = Ratings::new();
            for criterion in criteria {
                ratings.push(criterion, Some((1.0 + 5.0 * next()).floor()));
                ratings.push(criterion, Some((1.0 + 5.0 * next()).floor()));
            }
            rows.push(Row {
                id: format!("{system}/{item}"),
                system: Some(format!("system {system}")),
                item: item.to_string(),
                ratings,
                ..Row::default()
            });
        }
    }
    let mut table = ScoreTable::new(rows);
    for metric in metrics {
        let values = (0..systems * items).map(|_| Ok(next())).collect();
        table.push(Column::metric(*metric, Direction::Higher), values);
    }
    table
}
