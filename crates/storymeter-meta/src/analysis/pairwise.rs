//! Which of two systems is better, according to people and according to each metric.
//!
//! The engine of [`systems`](crate::systems) says so. The published analysis (HANNA section 5.3,
//! after Koehn (2004) and Bhandari et al. (2020)) draws the items of each pair of systems again
//! with replacement, and calls a system better that has the higher mean in at least 95% of the
//! draws. Nobody says beforehand which of the two that is, so that it errs twice as often as it
//! should.

use rand::RngExt;
use rayon::prelude::*;
use storymeter_core::rng::StreamId;
use storymeter_stats::Resampling;

use crate::grid::Grid;
use crate::study::{Edition, Side};
use crate::systems::SystemComparison;

/// The draws per pair of systems in the published analysis.
const PUBLISHED_DRAWS: usize = 1000;

/// The share of the draws that a system must win in the published analysis.
pub(super) const PUBLISHED_SHARE: f64 = 0.95;

/// Which system of a pair a column calls significantly better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Preferred {
    /// Neither.
    Undecided,
    /// The one that is later in the table.
    Later,
    /// The one that is earlier in the table.
    Earlier,
}

/// How every two systems are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairOptions {
    /// Draws per pair of systems; `None` for as many as every comparison of systems takes, and for
    /// 1,000 in the published analysis.
    pub draws: Option<usize>,
    /// The seed.
    pub seed: u64,
}

impl Default for PairOptions {
    fn default() -> Self {
        Self { draws: None, seed: Resampling::default().seed }
    }
}

impl PairOptions {
    /// The draws per pair of systems.
    pub(crate) fn draws(&self, edition: Edition) -> usize {
        self.draws.unwrap_or(match edition {
            Edition::Corrected => Resampling::default().resamples,
            Edition::Published => PUBLISHED_DRAWS,
        })
    }
}

/// What the comparison by one column says about these systems, the earlier and the later; `None` if
/// they have fewer than `fewest` items to compare.
pub(super) fn preferred(
    found: &SystemComparison,
    earlier: &str,
    later: &str,
    fewest: usize,
) -> Option<Preferred> {
    let pair = found.pair(earlier, later)?;
    let is_tested = pair.found.is_ok() && pair.design.observations() >= fewest;
    let better = pair.better().map(|side| match side {
        Side::First => pair.first.as_str(),
        Side::Second => pair.second.as_str(),
    });
    is_tested.then_some(match better {
        None => Preferred::Undecided,
        Some(name) if name == later => Preferred::Later,
        Some(_) => Preferred::Earlier,
    })
}

/// The pairs of systems: `(0, 1), (0, 2), (1, 2), (0, 3), ...`.
pub(super) fn pairs(systems: usize) -> Vec<(usize, usize)> {
    (1..systems).flat_map(|later| (0..later).map(move |earlier| (earlier, later))).collect()
}

/// How often each system of a pair won in the published analysis, for every column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairWins {
    /// The two systems, the earlier first.
    pub systems: (usize, usize),
    /// Wins of the earlier and of the later system, by column. Draws without a winner count for
    /// neither.
    pub wins: Vec<(usize, usize)>,
    /// The number of items on which both systems have a value, by column.
    pub shared: Vec<usize>,
    /// The number of draws.
    pub draws: usize,
}

impl PairWins {
    /// What a column says. The direction of a metric is ignored, as published.
    pub fn preferred(&self, column: usize) -> Option<Preferred> {
        let (earlier, later) = self.wins[column];
        let needed = PUBLISHED_SHARE * self.draws as f64;
        (self.shared[column] > 0).then_some(match () {
            () if later as f64 >= needed => Preferred::Later,
            () if earlier as f64 >= needed => Preferred::Earlier,
            () => Preferred::Undecided,
        })
    }
}

/// Draws for every pair of systems, as published.
pub(super) fn published_wins(grid: &Grid, options: PairOptions) -> Vec<PairWins> {
    pairs(grid.systems().len())
        .par_iter()
        .enumerate()
        .map(|(number, &pair)| wins_of_pair(grid, pair, number as u64, options))
        .collect()
}

fn wins_of_pair(
    grid: &Grid,
    systems: (usize, usize),
    number: u64,
    options: PairOptions,
) -> PairWins {
    let draws = options.draws(Edition::Published);
    let columns = grid.columns().len();
    let difference = |column: usize, item: usize| {
        grid.row(column, systems.1)[item] - grid.row(column, systems.0)[item]
    };
    // Only items that at least one column can compare are drawn from.
    let items: Vec<usize> = (0..grid.items().len())
        .filter(|&item| (0..columns).any(|column| !difference(column, item).is_nan()))
        .collect();
    // `[item][column]`, so that the weight of an item meets all columns in one pass. An item
    // without a value of either system adds nothing to the sum of its column.
    let mut differences = vec![0.0; items.len() * columns];
    let mut tolerance = vec![0.0f64; columns];
    let mut shared = vec![0; columns];
    for column in 0..columns {
        let (earlier, later) = (grid.row(column, systems.0), grid.row(column, systems.1));
        for (at, &item) in items.iter().enumerate() {
            let difference = difference(column, item);
            if !difference.is_nan() {
                differences[at * columns + column] = difference;
                tolerance[column] =
                    tolerance[column].max(later[item].abs()).max(earlier[item].abs());
                shared[column] += 1;
            }
        }
    }
    // Means of thirds and sevenths tie in exact arithmetic and differ in their last bits in
    // floating point.
    tolerance.iter_mut().for_each(|t| *t *= items.len() as f64 * 1e-14);
    let mut wins = vec![(0, 0); columns];
    if items.is_empty() {
        return PairWins { systems, wins, shared, draws };
    }
    let mut rng = StreamId::SystemPair { pair: number }.rng(options.seed);
    let (mut weights, mut sums) = (vec![0u32; items.len()], vec![0.0; columns]);
    for _ in 0..draws {
        weights.fill(0);
        sums.fill(0.0);
        for _ in 0..items.len() {
            weights[rng.random_range(0..items.len())] += 1;
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
    PairWins { systems, wins, shared, draws }
}

#[cfg(test)]
mod tests {
    use storymeter_core::Direction;

    use super::*;
    use crate::grid::tests::grid;

    fn example() -> Grid {
        let column = |value: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            let cells = (0..3).flat_map(|s| (0..20).map(move |i| (s, i)));
            cells.map(|(s, i)| value(s, i)).collect()
        };
        let level = |s: usize| if s == 0 { 0.0 } else { 1.0 };
        let score = column(&|s, i| level(s) + (i % 3) as f64 / 3.0);
        let distance = column(&|s, i| -level(s) + (i % 3) as f64 / 3.0);
        let absent = column(&|_, _| f64::NAN);
        let apart = column(&|s, i| if i % 3 == s { level(s) } else { f64::NAN });
        let mut grid = grid(3, 20, &[&score, &distance, &absent, &apart]);
        grid.set_direction(1, Direction::Lower);
        grid
    }

    #[test]
    fn the_better_system_wins_and_equal_systems_tie() {
        let wins = published_wins(&example(), PairOptions::default());
        assert_eq!(wins.iter().map(|d| d.systems).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
        let say = |column| wins.iter().map(|pair| pair.preferred(column)).collect::<Vec<_>>();
        let (later, earlier, undecided) =
            (Some(Preferred::Later), Some(Preferred::Earlier), Some(Preferred::Undecided));
        assert_eq!(say(0), [later, later, undecided]);
        assert_eq!(say(1), [earlier, earlier, undecided]);
        assert_eq!(wins[2].wins[0], (0, 0), "thirds that tie exactly must tie here");
        for column in [2, 3] {
            assert_eq!((wins[0].shared[column], say(column)), (0, vec![None; 3]));
        }
    }

    #[test]
    fn wins_do_not_depend_on_the_number_of_threads() {
        let grid = example();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let four = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let run = || published_wins(&grid, PairOptions::default());
        assert_eq!(one.install(run), four.install(run));
    }
}
