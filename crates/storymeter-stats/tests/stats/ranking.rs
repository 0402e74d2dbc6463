//! Rank aggregation against numpy, scipy and exhaustive search.

use crate::support::{assert_close, bits, cases, values};
use storymeter_stats::Matrix;
use storymeter_stats::ranking::{BordaTies, argsort_numpy_1_23, borda, kemeny, mean_ranks};

#[test]
fn borda_and_mean_rank_follow_scipys_ranks() {
    let cases = cases("ranks");
    assert!(cases.len() >= 200);
    for row in cases {
        let (candidates, columns) = (row.size(2), row.size(3));
        let cells = values(row.text(0), row.int(1), candidates * columns, &[]);
        let scores = Matrix::new(&cells, candidates, columns).unwrap();
        let count = borda(scores, BordaTies::MidRank).unwrap();
        for (got, want) in count.scores.iter().zip(row.floats(4)) {
            assert_close(*got, want, "Borda", &row);
        }
        assert_close(
            count.scores.iter().map(|s| s * s).sum(),
            row.float(5),
            "sum of squares",
            &row,
        );
        for (got, want) in mean_ranks(scores).unwrap().into_iter().zip(row.floats(6)) {
            assert_close(got, want, "mean rank", &row);
        }
        assert!(count.order.is_sorted_by(|&a, &b| count.scores[a] >= count.scores[b]));
    }
}

/// Musser's sequence against median of three, with ties, so that the depth limit is reached.
fn killer(n: usize, seed: u64) -> Vec<f64> {
    let k = n / 2;
    let mut v = vec![0.0; n];
    for i in 1..=k {
        v[i - 1] = if i % 2 == 1 { i } else { k + i - 1 } as f64;
        v[k + i - 1] = 2.0 * i as f64;
    }
    v.iter().map(|x| (x / (1 + seed % 2) as f64).floor()).collect()
}

#[test]
fn ties_fall_as_in_numpy_1_23() {
    let cases = cases("numpy_order");
    assert!(cases.len() >= 200);
    for row in cases {
        let (seed, n) = (row.int(1), row.size(2));
        let v = if row.text(0) == "killer" {
            killer(n, seed)
        } else {
            values(row.text(0), seed, n, &[])
        };
        let order = argsort_numpy_1_23(&v);
        let first: Vec<f64> = order.iter().take(8).map(|&i| i as f64).collect();
        assert_eq!(first, row.floats(3), "{row:?}");
        let digest = order.iter().fold(0, |digest, &i| (digest * 31 + i as u64) % (1 << 53));
        assert_eq!(digest, row.int(4), "{row:?}");
    }
}

/// The smallest number of contradictions of all orders of up to seven candidates.
fn exhaustive(scores: Matrix<'_>, placed: &mut Vec<usize>) -> u64 {
    let candidates = scores.rows();
    if placed.len() == candidates {
        return 0;
    }
    let mut best = u64::MAX;
    for next in 0..candidates {
        if placed.contains(&next) {
            continue;
        }
        // Everyone not yet placed comes below `next`.
        let against: u64 = (0..candidates)
            .filter(|&c| c != next && !placed.contains(&c))
            .map(|c| {
                scores.row(c).iter().zip(scores.row(next)).filter(|(x, y)| x > y).count() as u64
            })
            .sum();
        placed.push(next);
        best = best.min(against + exhaustive(scores, placed));
        placed.pop();
    }
    best
}

fn contradictions(scores: Matrix<'_>, order: &[usize]) -> u64 {
    let mut count = 0;
    for (i, &above) in order.iter().enumerate() {
        for &below in &order[i + 1..] {
            count += scores.row(below).iter().zip(scores.row(above)).filter(|(x, y)| x > y).count();
        }
    }
    count as u64
}

#[test]
fn kemeny_is_never_beaten_by_exhaustive_search() {
    for case in 0..200u64 {
        let (candidates, voters) = (2 + bits(case, 0) as usize % 6, 1 + bits(case, 1) as usize % 7);
        let shape = ["bell", "ties:3", "ties:2"][case as usize % 3];
        let cells = values(shape, 7000 + case, candidates * voters, &[]);
        let scores = Matrix::new(&cells, candidates, voters).unwrap();
        let found = kemeny(scores).unwrap();
        assert!(found.exact);
        assert_eq!(found.distance, contradictions(scores, &found.order));
        assert_eq!(found.distance, exhaustive(scores, &mut Vec::new()), "case {case}");
    }
}

#[test]
fn many_candidates_in_one_cycle_get_a_good_order_marked_inexact() {
    // Three voters with nothing in common put 40 candidates into one big block.
    let cells = values("uniform", 5, 40 * 3, &[]);
    let scores = Matrix::new(&cells, 40, 3).unwrap();
    let found = kemeny(scores).unwrap();
    assert!(!found.exact);
    let borda = borda(scores, BordaTies::MidRank).unwrap();
    assert!(found.distance < contradictions(scores, &borda.order));
    let mut sorted = found.order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..40).collect::<Vec<_>>());
}

#[test]
fn many_candidates_that_majorities_order_are_exact() {
    let cells: Vec<f64> =
        (0..72).flat_map(|c| [f64::from(c), f64::from(c) + 0.5, f64::from(-c)]).collect();
    let found = kemeny(Matrix::new(&cells, 72, 3).unwrap()).unwrap();
    assert!(found.exact);
    assert_eq!(found.order, (0..72).rev().collect::<Vec<_>>());
    assert_eq!(found.distance, 72 * 71 / 2);
    let tied = kemeny(Matrix::new(&[1.0; 50], 50, 1).unwrap()).unwrap();
    assert_eq!((tied.exact, tied.distance), (true, 0));
}
