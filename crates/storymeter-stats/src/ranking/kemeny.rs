//! Kemeny consensus: the ranking that contradicts the voters least.

use crate::error::{Result, StatsError};
use crate::matrix::Matrix;

/// A consensus ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Kemeny {
    /// Candidates, best first.
    pub order: Vec<usize>,
    /// Number of (pair, voter) contradictions: Kendall distance summed over the voters. Ties contradict nothing.
    pub distance: u64,
    /// Whether no ranking has a smaller distance; otherwise no single move of a candidate makes it smaller.
    pub exact: bool,
}

/// Up to this many candidates that no majority separates are ordered exactly; 2^18 subsets take well under a second.
const MOST_EXACT: usize = 18;

/// Kemeny consensus of scores with one row per candidate and one column per voter, higher is better.
///
/// Candidates are first split into the blocks that majorities order (only cycles of majorities stay together, compare
/// the extended Condorcet criterion of Truchon 1998). Blocks of up to 18 candidates are solved exactly by
/// dynamic programming over subsets, larger ones by moving single candidates, from the Borda order, until no move
/// helps. Among equally good rankings the result is fixed but arbitrary.
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
    Ok(Kemeny { order, distance, exact })
}

/// How many voters prefer one candidate to another.
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

    /// Strongly connected components of "a majority prefers", in an order that no majority contradicts.
    ///
    /// Whoever beats a candidate also reaches all that it reaches, so sorting by reach puts winners first; mutual
    /// reach means the same reach. Pairs in different blocks are thus ordered as their majority wants (or tied, which
    /// costs the same either way), and only the order within blocks is left to find.
    fn blocks(&self) -> Vec<Vec<usize>> {
        let reach: Vec<Vec<bool>> = (0..self.candidates).map(|from| self.reach(from)).collect();
        let size = |c: usize| reach[c].iter().filter(|&&r| r).count();
        let mut order: Vec<usize> = (0..self.candidates).collect();
        order.sort_by_cached_key(|&c| (std::cmp::Reverse(size(c)), &reach[c]));
        order.chunk_by(|&a, &b| reach[a] == reach[b]).map(<[usize]>::to_vec).collect()
    }

    /// Whom a candidate beats, directly or through others, and itself.
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

    /// Cheapest order of a block: the best way to put a set on top is to try each member as its last.
    fn best_order(&self, block: &[usize]) -> Vec<usize> {
        let n = block.len();
        let mut cost = vec![0u64; 1 << n];
        let mut last = vec![0u8; 1 << n];
        for set in 1usize..1 << n {
            let mut best = u64::MAX;
            for member in (0..n).filter(|m| set >> m & 1 == 1) {
                let rest = set & !(1 << member);
                // Below all the rest: contradicted by everyone who prefers it to one of them.
                let below = (0..n)
                    .filter(|other| rest >> other & 1 == 1)
                    .map(|other| self.prefer(block[member], block[other]))
                    .sum::<u64>();
                if cost[rest] + below < best {
                    best = cost[rest] + below;
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

    /// Moves the candidate that gains most to its best place until nothing gains.
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
        // Passing over `other` downwards costs those who prefer the mover and pleases those who prefer the other.
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
