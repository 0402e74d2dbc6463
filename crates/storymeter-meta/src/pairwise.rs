//! Which of two systems is better: what people say, what each metric says, and how well they agree.
//!
//! HANNA section 5.3, after Koehn (2004) and Bhandari et al. (2020): for each pair of systems the items are drawn
//! again with replacement, and a system that has the higher mean in at least 95% of the draws is called
//! significantly better. One draw serves all columns, so that columns are compared on the same evidence.

use rand::RngExt;
use rayon::prelude::*;
use storymeter_core::rng::StreamId;
use storymeter_core::{Direction, ScoreTable};

/// Which system of a pair a column calls significantly better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Neither.
    Undecided,
    /// The later one in the table.
    Later,
    /// The earlier one in the table.
    Earlier,
}

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapOptions {
    /// Draws a pair of systems.
    pub draws: usize,
    /// The share of draws a system must win.
    pub confidence: f64,
    /// The seed; each pair of systems has its own stream.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { draws: 1000, confidence: 0.95, seed: 1 }
    }
}

/// How often each system of a pair won, for every column.
#[derive(Debug, Clone, PartialEq)]
pub struct Duel {
    /// The two systems, the earlier first.
    pub systems: (usize, usize),
    /// Wins of the earlier and of the later system, by column; draws without a winner count for neither.
    pub wins: Vec<(usize, usize)>,
    /// Draws made.
    pub draws: usize,
}

impl Duel {
    /// What a column says, higher values being better or, where `reversed`, worse.
    pub fn verdict(&self, column: usize, reversed: bool, confidence: f64) -> Verdict {
        let (earlier, later) = self.wins[column];
        let needed = confidence * self.draws as f64;
        match (later as f64 >= needed, earlier as f64 >= needed, reversed) {
            (true, _, false) | (_, true, true) => Verdict::Later,
            (_, true, false) | (true, _, true) => Verdict::Earlier,
            _ => Verdict::Undecided,
        }
    }
}

/// Draws for every pair of systems: pairs in row order, `(0, 1), (0, 2), (1, 2), (0, 3), ...`.
pub fn duels(table: &ScoreTable, options: BootstrapOptions) -> Vec<Duel> {
    let systems = table.systems().len();
    let pairs: Vec<(usize, usize)> =
        (1..systems).flat_map(|later| (0..later).map(move |earlier| (earlier, later))).collect();
    pairs
        .par_iter()
        .enumerate()
        .map(|(number, &pair)| duel(table, pair, number as u64, options))
        .collect()
}

fn duel(
    table: &ScoreTable,
    systems: (usize, usize),
    number: u64,
    options: BootstrapOptions,
) -> Duel {
    let (items, columns) = (table.items().len(), table.columns().len());
    // `[item][column]`, so that one item's weight meets all columns in one pass. An item that lacks a score of
    // either system says nothing about the pair: its difference counts as 0.
    let mut differences = vec![0.0; items * columns];
    let mut tolerance = vec![0.0f64; columns];
    for column in 0..columns {
        let (earlier, later) = (table.row(column, systems.0), table.row(column, systems.1));
        for item in 0..items {
            let difference = later[item] - earlier[item];
            if !difference.is_nan() {
                differences[item * columns + column] = difference;
                tolerance[column] =
                    tolerance[column].max(later[item].abs()).max(earlier[item].abs());
            }
        }
    }
    // Means of thirds and sevenths tie in exact arithmetic and differ in the last bits in floating point.
    tolerance.iter_mut().for_each(|t| *t *= items as f64 * 1e-14);
    let mut rng = StreamId::SystemPair { pair: number }.rng(options.seed);
    let mut wins = vec![(0, 0); columns];
    let (mut weights, mut sums) = (vec![0u32; items], vec![0.0; columns]);
    for _ in 0..options.draws {
        weights.fill(0);
        sums.fill(0.0);
        for _ in 0..items {
            weights[rng.random_range(0..items)] += 1;
        }
        for (weight, row) in weights.iter().zip(differences.chunks_exact(columns)) {
            if *weight > 0 {
                let weight = f64::from(*weight);
                sums.iter_mut().zip(row).for_each(|(sum, difference)| *sum += weight * difference);
            }
        }
        for ((sum, tolerance), (earlier, later)) in sums.iter().zip(&tolerance).zip(&mut wins) {
            *later += usize::from(*sum > *tolerance);
            *earlier += usize::from(*sum < -*tolerance);
        }
    }
    Duel { systems, wins, draws: options.draws }
}

/// The verdicts of one column over all pairs of systems.
///
/// With `directed`, a column where less is better is turned round first; HANNA's published numbers were not.
pub fn verdicts(
    table: &ScoreTable,
    duels: &[Duel],
    column: usize,
    directed: bool,
    confidence: f64,
) -> Vec<Verdict> {
    let reversed = directed && table.columns()[column].direction == Direction::Lower;
    duels.iter().map(|duel| duel.verdict(column, reversed, confidence)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_core::{Column, Role};

    fn table() -> ScoreTable {
        let items: Vec<String> = (0..20).map(|i| i.to_string()).collect();
        let mut table = ScoreTable::new(vec!["weak".into(), "strong".into(), "same".into()], items);
        let mut push = |name: &str, direction, value: &dyn Fn(usize, usize) -> f64| {
            let values: Vec<f64> = (0..3)
                .flat_map(|s| (0..20).map(move |i| (s, i)))
                .map(|(s, i)| value(s, i))
                .collect();
            let column =
                Column { name: name.into(), role: Role::Metric, direction, signature: None };
            table.push_column(column, &values);
        };
        let level = |s: usize| if s == 0 { 0.0 } else { 1.0 };
        push("score", Direction::Higher, &|s, i| level(s) + (i % 3) as f64 / 3.0);
        push("distance", Direction::Lower, &|s, i| -level(s) + (i % 3) as f64 / 3.0);
        push("empty", Direction::Higher, &|_, _| f64::NAN);
        table
    }

    #[test]
    fn the_better_system_wins_and_equal_systems_tie() {
        let (table, options) = (table(), BootstrapOptions::default());
        let duels = duels(&table, options);
        assert_eq!(duels.iter().map(|d| d.systems).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
        let say = |column, directed| verdicts(&table, &duels, column, directed, options.confidence);
        assert_eq!(say(0, true), [Verdict::Later, Verdict::Later, Verdict::Undecided]);
        assert_eq!(say(1, false), [Verdict::Earlier, Verdict::Earlier, Verdict::Undecided]);
        assert_eq!(say(1, true), say(0, true));
        assert_eq!(duels[2].wins[0], (0, 0), "thirds that tie exactly must tie here");
        assert_eq!(say(2, true), [Verdict::Undecided; 3]);
    }

    #[test]
    fn wins_do_not_depend_on_the_number_of_threads() {
        let table = table();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let four = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let run = || duels(&table, BootstrapOptions::default());
        assert_eq!(one.install(run), four.install(run));
    }
}
