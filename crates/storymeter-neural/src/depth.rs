//! How deep points lie in their cloud, and how far its inner parts reach in many directions.
//!
//! The depth is the integrated rank-weighted depth (Ramsay, Durocher and Leblanc, 2019): in a
//! random direction, a point is as deep as its rank is far from both ends, and depths of many
//! directions are averaged.

use rayon::prelude::*;
use storymeter_encoder::PackedRows;

use crate::legacy_random::LegacyRandom;

/// The number of random directions.
const DIRECTIONS: usize = 10_000;

/// The parts of a cloud: those points that are at least as deep as this percentage of all points.
pub(crate) const LEVELS: [f64; 5] = [30.0, 47.5, 65.0, 82.5, 100.0];

/// How many directions are worked on at a time. They stay in the processor's cache.
const BLOCK: usize = 48;

/// Products in f32 that differ by less than this are computed again in f64, so that ranks are those
/// of exact products. The error of a product is below a tenth of it.
const NEAR: f32 = 1e-6;

/// In clouds with more points than this, many products are near each other, and near ones keep the
/// order of their f32 values. No model reads so many tokens at once.
const MOST_EXACT: usize = 2048;

/// Random directions, which are the same for all clouds.
pub(crate) struct Directions {
    width: usize,
    /// For the depths, in both precisions.
    ranking: Vec<f32>,
    exact_ranking: Vec<f64>,
    /// For the reach of the parts.
    reaching: Vec<f32>,
}

impl Directions {
    /// The directions of the released DepthScore: normalised normal numbers of numpy's stream for
    /// the seed 0, first those of the depths and then those of the reach.
    pub(crate) fn new(width: usize) -> Self {
        let mut random = LegacyRandom::new(0);
        let mut draw = || {
            let mut numbers: Vec<f64> = (0..DIRECTIONS * width).map(|_| random.normal()).collect();
            for row in numbers.chunks_exact_mut(width) {
                let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                row.iter_mut().for_each(|x| *x /= norm);
            }
            numbers
        };
        let single = |numbers: &[f64]| numbers.iter().map(|&x| x as f32).collect();
        let exact_ranking = draw();
        let reaching = draw();
        let (ranking, reaching) = (single(&exact_ranking), single(&reaching));
        Self { width, ranking, exact_ranking, reaching }
    }

    /// The depth of each point.
    fn depths(&self, points: &[f32]) -> Vec<f64> {
        let (width, count) = (self.width, points.len() / self.width);
        let packed = PackedRows::new(points, width);
        let sums = self
            .ranking
            .par_chunks(BLOCK * width)
            .zip(self.exact_ranking.par_chunks(BLOCK * width))
            .fold(
                || (Vec::new(), Vec::new(), vec![0u64; count]),
                |(mut products, mut ranks, mut sums), (directions, exact)| {
                    products.resize(directions.len() / width * count, 0.0);
                    packed.products(directions, &mut products);
                    let rows = products.chunks_exact(count).zip(exact.chunks_exact(width));
                    for (products, direction) in rows {
                        rank(products, &mut ranks);
                        if count <= MOST_EXACT {
                            order_near_ties(&mut ranks, products, |point| {
                                let point = &points[point * width..][..width];
                                point.iter().zip(direction).map(|(&x, u)| f64::from(x) * u).sum()
                            });
                        }
                        for (place, &point) in ranks.iter().enumerate() {
                            let place = place as u64 + 1;
                            sums[point as u32 as usize] += place.min(count as u64 - place);
                        }
                    }
                    (products, ranks, sums)
                },
            )
            .map(|(_, _, sums)| sums)
            .reduce(
                || vec![0; count],
                |mut a, b| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                    a
                },
            );
        let all = (count * DIRECTIONS) as f64;
        sums.into_iter().map(|sum| sum as f64 / all).collect()
    }

    /// How far each of the [`LEVELS`] of a cloud reaches in each direction.
    pub(crate) fn reach(&self, points: &[f32]) -> Reach {
        let width = self.width;
        let depths = self.depths(points);
        let mut sorted = depths.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let bounds = LEVELS.map(|level| percentile(&sorted, level));
        let level = |depth: f64| bounds.iter().take_while(|bound| depth >= **bound).count();
        // Points of no level are left out. The others are in the order of their levels.
        let mut kept: Vec<(usize, usize)> =
            depths.iter().map(|&depth| level(depth)).enumerate().filter(|(_, l)| *l > 0).collect();
        kept.sort_by_key(|&(_, level)| level);
        let rows: Vec<&[f32]> =
            kept.iter().map(|&(point, _)| &points[point * width..][..width]).collect();
        let packed = PackedRows::new(&rows.concat(), width);
        let mut reach = vec![[f32::NEG_INFINITY; LEVELS.len()]; DIRECTIONS];
        reach.par_chunks_mut(BLOCK).zip(self.reaching.par_chunks(BLOCK * width)).for_each(
            |(reach, directions)| {
                let mut products = vec![0.0; reach.len() * kept.len()];
                packed.products(directions, &mut products);
                for (reach, products) in reach.iter_mut().zip(products.chunks_exact(kept.len())) {
                    for (&(_, level), &product) in kept.iter().zip(products) {
                        let most = &mut reach[level - 1];
                        *most = most.max(product);
                    }
                    // A point of a level is in all levels below it.
                    for level in (1..LEVELS.len()).rev() {
                        reach[level - 1] = reach[level - 1].max(reach[level]);
                    }
                }
            },
        );
        Reach(reach)
    }
}

/// Sorts points by their products: each has its product, made comparable as an integer, in the
/// upper half and its own number in the lower half.
fn rank(products: &[f32], ranks: &mut Vec<u64>) {
    let ordered = |product: f32| {
        let bits = product.to_bits();
        if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
    };
    ranks.clear();
    let keys = (0u64..).zip(products);
    ranks.extend(keys.map(|(point, &product)| u64::from(ordered(product)) << 32 | point));
    ranks.sort_unstable();
}

/// Sorts runs of points whose products are near each other by their exact products.
fn order_near_ties(ranks: &mut [u64], products: &[f32], exact: impl Fn(usize) -> f64) {
    let point = |rank: u64| rank as u32 as usize;
    let near = |a: &u64, b: &u64| products[point(*b)] - products[point(*a)] < NEAR;
    for run in ranks.chunk_by_mut(near).filter(|run| run.len() > 1) {
        run.sort_by_cached_key(|&rank| ExactOrder(exact(point(rank))));
    }
}

/// A number that can be sorted by.
struct ExactOrder(f64);

impl PartialEq for ExactOrder {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ExactOrder {}

impl PartialOrd for ExactOrder {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ExactOrder {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A percentile of sorted numbers, interpolated as numpy does by default.
fn percentile(sorted: &[f64], percentage: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * (percentage / 100.0);
    let (low, share) = (place.floor(), place - place.floor());
    let (a, b) = (sorted[low as usize], sorted[place.ceil() as usize]);
    if share < 0.5 { a + (b - a) * share } else { b - (b - a) * (1.0 - share) }
}

/// How far the inner parts of a cloud reach in many directions.
pub(crate) struct Reach(Vec<[f32; LEVELS.len()]>);

impl Reach {
    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    /// For each level the largest difference to the reach of another cloud over all directions.
    /// If `symmetric`, differences count by their absolute values.
    pub(crate) fn excess(&self, other: &Self, symmetric: bool) -> [f64; LEVELS.len()] {
        let mut most = [f64::NEG_INFINITY; LEVELS.len()];
        for (own, other) in self.0.iter().zip(&other.0) {
            for ((most, own), other) in most.iter_mut().zip(own).zip(other) {
                let difference = f64::from(*own) - f64::from(*other);
                *most = most.max(if symmetric { difference.abs() } else { difference });
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_numpy() {
        // numpy.percentile([1, 2, 4, 8, 16], [30, 47.5, 65, 82.5, 100])
        let found = LEVELS.map(|level| percentile(&[1.0, 2.0, 4.0, 8.0, 16.0], level));
        for (found, expected) in found.iter().zip([2.4, 3.8, 6.4, 10.4, 16.0]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
    }

    /// Points on a line: the depth is the distance of the rank from both ends, in one direction
    /// and, because ranks begin with 1, one more step in the other.
    #[test]
    fn the_middle_of_a_line_is_deepest() {
        let directions = Directions::new(2);
        let points: Vec<f32> = (0..5).flat_map(|at| [at as f32, 2.0 * at as f32]).collect();
        let depths = directions.depths(&points);
        let upward = [1.0, 2.0, 2.0, 1.0, 0.0].map(|rank: f64| rank / 5.0);
        for (at, depth) in depths.iter().enumerate() {
            let (a, b) = (upward[at], upward[4 - at]);
            assert!((a.min(b)..=a.max(b)).contains(depth), "{at}: {depth}");
        }
        assert!(depths[2] > depths[1] && depths[1] > depths[0]);
    }

    #[test]
    fn near_products_are_ordered_by_exact_ones() {
        let products = [0.5, 0.500_000_06, 0.25];
        let mut ranks = Vec::new();
        rank(&products, &mut ranks);
        assert_eq!(ranks.iter().map(|rank| *rank as u32).collect::<Vec<_>>(), [2, 0, 1]);
        order_near_ties(&mut ranks, &products, |point| [0.500_000_031, 0.500_000_03, 0.25][point]);
        assert_eq!(ranks.iter().map(|rank| *rank as u32).collect::<Vec<_>>(), [2, 1, 0]);
    }

    #[test]
    fn negative_products_come_first() {
        let mut ranks = Vec::new();
        rank(&[0.5, -0.5, -0.25, 0.0], &mut ranks);
        assert_eq!(ranks.iter().map(|rank| *rank as u32).collect::<Vec<_>>(), [1, 2, 3, 0]);
    }

    #[test]
    fn one_point_is_a_cloud() {
        let directions = Directions::new(3);
        let reach = directions.reach(&[1.0, 0.0, 0.0]);
        assert_eq!(reach.excess(&reach, false), [0.0; 5]);
    }
}
