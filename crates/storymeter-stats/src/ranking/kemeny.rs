//! Kemeny consensus: the ranking with the fewest contradictions to the voters.

use crate::error::{Result, StatsError};
use crate::matrix::Matrix;

/// A consensus ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kemeny {
    /// The candidates, best first.
    pub order: Vec<usize>,
    /// Number of contradictions: Kendall's distance summed over the voters. A voter who ties two
    /// candidates does not contradict any order of the two.
    pub distance: u64,
    /// Whether it is certain that no ranking has a smaller distance. Otherwise no single move of a
    /// candidate makes it smaller.
    pub exact: bool,
    /// Number of voters.
    pub voters: usize,
}

/// Blocks of up to this many candidates are ordered exactly. 2^18 subsets take well under a second.
const MOST_EXACT: usize = 18;

/// Computes the Kemeny consensus, with one row per candidate and one column per voter.
///
/// The candidates are first split into blocks that majorities put in order; only cycles of
/// majorities stay together (compare the extended Condorcet criterion of Truchon 1998). Blocks of
/// up to 18 candidates are solved exactly, by dynamic programming over subsets. Larger blocks start
/// in Borda order, and single candidates are moved until no move helps. Among equally good rankings
/// the choice is arbitrary, but always the same.
///
/// ```
/// use storymeter_stats::{Matrix, ranking::kemeny};
/// let scores = [0.9, 0.8, 0.1, 0.5, 0.9, 0.5, 0.1, 0.2, 0.9]; // three candidates, three voters
/// let found = kemeny(Matrix::new(&scores, 3, 3)?)?;
/// assert_eq!((found.order, found.distance), (vec![1, 0, 2], 3));
/// assert!(found.exact && found.voters == 3);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a score is NaN or infinite.
pub fn kemeny(scores: Matrix<'_>) -> Result<Kemeny> {
    StatsError::check_finite("scores", scores.values())?;
    let votes = Votes::count(scores);
    let mut order = Vec::with_capacity(scores.rows());
    let mut exact = true;
    for block in votes.blocks() {
        if block.len() <= MOST_EXACT {
            order.extend(votes.best_order(&block));
        } else {
            exact = false;
            order.extend(votes.local_search(block));
        }
    }
    let distance = votes.distance(&order);
    Ok(Kemeny { order, distance, exact, voters: scores.columns() })
}

/// For each pair of candidates, the number of voters who prefer the one to the other.
struct Votes {
    candidates: usize,
    prefer: Vec<u64>,
}

impl Votes {
    fn count(scores: Matrix<'_>) -> Self {
        let candidates = scores.rows();
        let mut prefer = vec![0; candidates * candidates];
        for a in 0..candidates {
            for b in 0..candidates {
                let wins = scores.row(a).iter().zip(scores.row(b)).filter(|(x, y)| x > y).count();
                prefer[a * candidates + b] = wins as u64;
            }
        }
        Self { candidates, prefer }
    }

    fn prefer(&self, a: usize, b: usize) -> u64 {
        self.prefer[a * self.candidates + b]
    }

    fn distance(&self, order: &[usize]) -> u64 {
        let mut distance = 0;
        for (i, &above) in order.iter().enumerate() {
            distance += order[i + 1..].iter().map(|&below| self.prefer(below, above)).sum::<u64>();
        }
        distance
    }

    /// Strongly connected components of "a majority prefers", in an order that no majority
    /// contradicts.
    ///
    /// A candidate that beats another also reaches everything that the other reaches. Sorting by
    /// the size of the reach therefore puts winners first, and candidates that reach each other
    /// have the same reach. Pairs in different blocks are thus ordered as their majority wants (or
    /// they are tied, which costs the same either way), and only the order within the blocks is
    /// left to find.
    fn blocks(&self) -> Vec<Vec<usize>> {
        let reach: Vec<Vec<bool>> = (0..self.candidates).map(|from| self.reach(from)).collect();
        let size = |c: usize| reach[c].iter().filter(|&&r| r).count();
        let mut order: Vec<usize> = (0..self.candidates).collect();
        order.sort_by_cached_key(|&c| (std::cmp::Reverse(size(c)), &reach[c]));
        order.chunk_by(|&a, &b| reach[a] == reach[b]).map(<[usize]>::to_vec).collect()
    }

    /// The candidates that a candidate beats, directly or through others, and the candidate itself.
    fn reach(&self, from: usize) -> Vec<bool> {
        let mut seen = vec![false; self.candidates];
        seen[from] = true;
        let mut waiting = vec![from];
        while let Some(a) = waiting.pop() {
            for (b, seen) in seen.iter_mut().enumerate() {
                if !*seen && self.prefer(a, b) > self.prefer(b, a) {
                    *seen = true;
                    waiting.push(b);
                }
            }
        }
        seen
    }

    /// The order of a block with the fewest contradictions. The best order of a set is found by
    /// trying each member as its last, below the best order of the others.
    fn best_order(&self, block: &[usize]) -> Vec<usize> {
        let n = block.len();
        let mut cost = vec![0u64; 1 << n];
        let mut last = vec![0u8; 1 << n];
        for set in 1usize..1 << n {
            let mut best = u64::MAX;
            for member in (0..n).filter(|m| set >> m & 1 == 1) {
                let above = set & !(1 << member);
                // Everyone who prefers the last member to one above it contradicts this order.
                let below = (0..n)
                    .filter(|other| above >> other & 1 == 1)
                    .map(|other| self.prefer(block[member], block[other]))
                    .sum::<u64>();
                if cost[above] + below < best {
                    best = cost[above] + below;
                    last[set] = member as u8;
                }
            }
            cost[set] = best;
        }
        let mut set = (1 << n) - 1;
        let mut order = Vec::with_capacity(n);
        while set > 0 {
            let member = usize::from(last[set]);
            order.push(block[member]);
            set &= !(1 << member);
        }
        order.reverse();
        order
    }

    /// Makes the best move of a single candidate until no move helps.
    fn local_search(&self, mut order: Vec<usize>) -> Vec<usize> {
        let points = |a: usize, all: &[usize]| all.iter().map(|&b| self.prefer(a, b)).sum::<u64>();
        let block = order.clone();
        order.sort_by_key(|&a| std::cmp::Reverse(points(a, &block)));
        while let Some((from, to)) = self.best_move(&order) {
            let candidate = order.remove(from);
            order.insert(to, candidate);
        }
        order
    }

    fn best_move(&self, order: &[usize]) -> Option<(usize, usize)> {
        let mut best = (0i64, None);
        // What moving a candidate below another gains: those who prefer the other, less those who
        // prefer the mover.
        let gain = |mover: usize, other: usize| {
            self.prefer(other, mover) as i64 - self.prefer(mover, other) as i64
        };
        for (from, &mover) in order.iter().enumerate() {
            let mut total = 0;
            for (to, &other) in order.iter().enumerate().skip(from + 1) {
                total += gain(mover, other);
                if total > best.0 {
                    best = (total, Some((from, to)));
                }
            }
            total = 0;
            for to in (0..from).rev() {
                total -= gain(mover, order[to]);
                if total > best.0 {
                    best = (total, Some((from, to)));
                }
            }
        }
        best.1
    }
}
