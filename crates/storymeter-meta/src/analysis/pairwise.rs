//! Which of two systems is better, according to people and according to each metric.
//!
//! HANNA section 5.3, after Koehn (2004) and Bhandari et al. (2020): for each pair of systems,
//! items are drawn again with replacement, and a system that has the higher mean in at least 97.5%
//! of the draws is called significantly better. Nobody says beforehand which of the two that is, so
//! that 5% of the errors are shared by both sides. The papers give them to one side, and ask for
//! 95% of the draws. One draw serves all columns, so that columns are compared on the same
//! evidence.

use rand::RngExt;
use rayon::prelude::*;
use storymeter_core::Direction;
use storymeter_core::rng::StreamId;

use crate::grid::Grid;
use crate::study::Sides;

/// Which system of a pair a column calls significantly better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Neither.
    Undecided,
    /// The one that is later in the table.
    Later,
    /// The one that is earlier in the table.
    Earlier,
}

/// How items are drawn for the comparison of two systems.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DuelOptions {
    /// Draws per pair of systems.
    pub draws: usize,
    /// The confidence of a verdict; [`DuelOptions::winning_share`] says how many draws a system
    /// must win.
    pub confidence: f64,
    /// The seed. Each pair of systems has a random stream of its own.
    pub seed: u64,
}

impl Default for DuelOptions {
    fn default() -> Self {
        Self { draws: 1000, confidence: 0.95, seed: 1 }
    }
}

impl DuelOptions {
    /// The share of the draws that a system must win to be called better than another.
    ///
    /// ```
    /// use storymeter_meta::{DuelOptions, study::Sides};
    /// assert_eq!(DuelOptions::default().winning_share(Sides::Two), 0.975);
    /// assert_eq!(DuelOptions::default().winning_share(Sides::One), 0.95);
    /// ```
    pub fn winning_share(&self, sides: Sides) -> f64 {
        match sides {
            Sides::Two => (1.0 + self.confidence) / 2.0,
            Sides::One => self.confidence,
        }
    }

    /// The fewest shared items on which one system can be called better than another.
    ///
    /// With fewer, a system that is better on every single item would still be so by chance more
    /// often than the confidence allows: with five items one of the two is, in one of 16 cases.
    ///
    /// ```
    /// use storymeter_meta::{DuelOptions, study::Sides};
    /// assert_eq!(DuelOptions::default().fewest_items(Sides::Two), 6);
    /// assert_eq!(DuelOptions::default().fewest_items(Sides::One), 5);
    /// ```
    pub fn fewest_items(&self, sides: Sides) -> usize {
        let chance = (1.0 - self.winning_share(sides)).max(f64::MIN_POSITIVE);
        (-chance.log2()).ceil().max(1.0) as usize
    }
}

/// How often each system of a pair won, for every column.
#[derive(Debug, Clone, PartialEq)]
pub struct Duel {
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

impl Duel {
    /// What a column says, if the better system must win this share of the draws. `reversed` means
    /// that lower values are better.
    pub fn verdict(&self, column: usize, reversed: bool, share: f64) -> Verdict {
        let (earlier, later) = self.wins[column];
        let needed = share * self.draws as f64;
        match (later as f64 >= needed, earlier as f64 >= needed, reversed) {
            (true, _, false) | (_, true, true) => Verdict::Later,
            (_, true, false) | (true, _, true) => Verdict::Earlier,
            _ => Verdict::Undecided,
        }
    }
}

/// Draws for every pair of systems: `(0, 1), (0, 2), (1, 2), (0, 3), ...`.
pub fn duels(grid: &Grid, options: DuelOptions) -> Vec<Duel> {
    let systems = grid.systems().len();
    let pairs: Vec<(usize, usize)> =
        (1..systems).flat_map(|later| (0..later).map(move |earlier| (earlier, later))).collect();
    pairs
        .par_iter()
        .enumerate()
        .map(|(number, &pair)| duel(grid, pair, number as u64, options))
        .collect()
}

fn duel(grid: &Grid, systems: (usize, usize), number: u64, options: DuelOptions) -> Duel {
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
        return Duel { systems, wins, shared, draws: options.draws };
    }
    let mut rng = StreamId::SystemPair { pair: number }.rng(options.seed);
    let (mut weights, mut sums) = (vec![0u32; items.len()], vec![0.0; columns]);
    for _ in 0..options.draws {
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
    Duel { systems, wins, shared, draws: options.draws }
}

/// The verdicts of one column over all pairs of systems; `None` where the two systems share fewer
/// than `fewest` items.
///
/// With `directed`, a column where less is better is turned round first. HANNA's published numbers
/// were not.
pub fn verdicts(
    grid: &Grid,
    duels: &[Duel],
    column: usize,
    directed: bool,
    share: f64,
    fewest: usize,
) -> Vec<Option<Verdict>> {
    let reversed = directed && grid.columns()[column].direction == Direction::Lower;
    let verdict = |duel: &Duel| {
        let enough = duel.shared[column] >= fewest;
        enough.then(|| duel.verdict(column, reversed, share))
    };
    duels.iter().map(verdict).collect()
}

#[cfg(test)]
mod tests {
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
        let (grid, options) = (example(), DuelOptions::default());
        let duels = duels(&grid, options);
        assert_eq!(duels.iter().map(|d| d.systems).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
        let say = |column, directed| {
            verdicts(&grid, &duels, column, directed, 0.975, options.fewest_items(Sides::Two))
        };
        let (later, earlier, undecided) =
            (Some(Verdict::Later), Some(Verdict::Earlier), Some(Verdict::Undecided));
        assert_eq!(say(0, true), [later, later, undecided]);
        assert_eq!(say(1, false), [earlier, earlier, undecided]);
        assert_eq!(say(1, true), say(0, true));
        assert_eq!(duels[2].wins[0], (0, 0), "thirds that tie exactly must tie here");
    }

    #[test]
    fn without_a_shared_item_there_is_no_verdict() {
        let (grid, options) = (example(), DuelOptions::default());
        let duels = duels(&grid, options);
        for column in [2, 3] {
            assert_eq!(duels[0].shared[column], 0);
            let say =
                verdicts(&grid, &duels, column, true, 0.975, options.fewest_items(Sides::Two));
            assert_eq!(say, [None; 3]);
        }
    }

    #[test]
    fn wins_do_not_depend_on_the_number_of_threads() {
        let grid = example();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let four = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let run = || duels(&grid, DuelOptions::default());
        assert_eq!(one.install(run), four.install(run));
    }
}
