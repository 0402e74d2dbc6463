//! Laws that hold for any input.

use proptest::prelude::*;
use storymeter_stats::agreement::{Scale, fleiss_kappa, icc, kendall_w, krippendorff_alpha};
use storymeter_stats::ranking::{BordaTies, argsort_numpy_1_23, borda, kemeny};
use storymeter_stats::{
    Coefficient, Matrix, Prepared, auc, benjamini_hochberg, benjamini_yekutieli, holm, mid_ranks,
    pairwise_accuracy, weighted_f1,
};

/// Pairs of small whole numbers (many ties) or of any numbers of moderate size.
fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let whole = || (-4i8..5).prop_map(f64::from);
    let real = || -1e3..1e3;
    prop_oneof![
        prop::collection::vec((whole(), whole()), 2..60),
        prop::collection::vec((real(), real()), 2..60),
        prop::collection::vec((real(), whole()), 2..60),
    ]
}

fn coefficient() -> impl Strategy<Value = Coefficient> {
    prop::sample::select(Coefficient::ALL.to_vec())
}

fn table() -> impl Strategy<Value = (Vec<f64>, usize, usize)> {
    (2usize..12, 2usize..6).prop_flat_map(|(rows, columns)| {
        let cells = prop::collection::vec((0u8..5).prop_map(f64::from), rows * columns);
        (cells, Just(rows), Just(columns))
    })
}

/// Whole numbers below `top`, so that many are tied.
fn whole_numbers(top: u8, length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0..top).prop_map(f64::from), length)
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() < 1e-9
}

proptest! {
    #[test]
    fn correlation_is_symmetric_and_bounded(data in pairs(), c in coefficient()) {
        let (x, y): (Vec<f64>, Vec<f64>) = data.into_iter().unzip();
        let (there, back) = (c.compute(&x, &y).unwrap(), c.compute(&y, &x).unwrap());
        prop_assert!(same(there.coefficient, back.coefficient));
        prop_assert!(there.coefficient.is_nan() || there.coefficient.abs() <= 1.0);
        prop_assert!(there.p_value.is_nan() || (0.0..=1.0).contains(&there.p_value));
    }

    #[test]
    fn a_sign_flip_flips_the_coefficient_and_leaves_p(data in pairs(), c in coefficient()) {
        let (x, y): (Vec<f64>, Vec<f64>) = data.into_iter().unzip();
        let flipped: Vec<f64> = y.iter().map(|v| -v).collect();
        let (one, other) = (c.compute(&x, &y).unwrap(), c.compute(&x, &flipped).unwrap());
        prop_assert!(same(one.coefficient, -other.coefficient));
        prop_assert!(same(one.p_value, other.p_value));
    }

    #[test]
    fn the_order_of_the_pairs_does_not_matter(
        data in pairs(), c in coefficient(), turn in 0usize..60
    ) {
        let mut turned = data.clone();
        let by = turn % data.len();
        turned.rotate_left(by);
        turned.swap(0, by);
        let (x, y): (Vec<f64>, Vec<f64>) = data.into_iter().unzip();
        let (x2, y2): (Vec<f64>, Vec<f64>) = turned.into_iter().unzip();
        prop_assert!(same(c.value(&x, &y).unwrap(), c.value(&x2, &y2).unwrap()));
    }

    #[test]
    fn rank_correlations_see_only_the_order(data in pairs()) {
        let (x, y): (Vec<f64>, Vec<f64>) = data.into_iter().unzip();
        // The map is strictly increasing, and exact for ranks.
        let mapped: Vec<f64> = mid_ranks(&y).unwrap().iter().map(|r| r.powi(3) - 7.0).collect();
        for c in [Coefficient::Spearman, Coefficient::Kendall] {
            prop_assert_eq!(c.compute(&x, &y).unwrap().p_value.to_bits(),
                            c.compute(&x, &mapped).unwrap().p_value.to_bits());
        }
    }

    #[test]
    fn pearson_ignores_scale_and_origin(
        data in pairs(), scale in 0.01f64..100.0, shift in -100.0f64..100.0
    ) {
        let (x, y): (Vec<f64>, Vec<f64>) = data.into_iter().unzip();
        let moved: Vec<f64> = y.iter().map(|v| scale * v + shift).collect();
        let pearson = |y: &[f64]| Coefficient::Pearson.value(&x, y).unwrap();
        let (one, other) = (pearson(&y), pearson(&moved));
        prop_assert!(same(one, other), "{one} {other}");
    }

    #[test]
    fn kendall_counts_what_comparing_all_pairs_counts(data in pairs()) {
        let (x, y): (Vec<f64>, Vec<f64>) = data.into_iter().unzip();
        let (mut surplus, mut untied_x, mut untied_y) = (0i64, 0u64, 0u64);
        for i in 0..x.len() {
            for j in i + 1..x.len() {
                let order = |v: &[f64]| v[i].partial_cmp(&v[j]).unwrap() as i64;
                surplus += order(&x) * order(&y);
                untied_x += order(&x).unsigned_abs();
                untied_y += order(&y).unsigned_abs();
            }
        }
        let expected = surplus as f64 / ((untied_x as f64) * (untied_y as f64)).sqrt();
        prop_assert!(same(Coefficient::Kendall.value(&x, &y).unwrap(), expected));
    }

    #[test]
    fn prepared_vectors_give_the_same_coefficient(data in pairs(), c in coefficient()) {
        let (x, y): (Vec<f64>, Vec<f64>) = data.into_iter().unzip();
        let fast = Prepared::new(c, &x).unwrap().correlate(&Prepared::new(c, &y).unwrap()).unwrap();
        prop_assert_eq!(fast.to_bits(), c.value(&x, &y).unwrap().to_bits());
    }

    #[test]
    fn mid_ranks_add_up_and_turn_around(values in whole_numbers(9, 1..50)) {
        let n = values.len() as f64;
        let up = mid_ranks(&values).unwrap();
        prop_assert_eq!(up.iter().sum::<f64>(), n * (n + 1.0) / 2.0);
        let down = mid_ranks(&values.iter().map(|v| -v).collect::<Vec<_>>()).unwrap();
        prop_assert!(up.iter().zip(&down).all(|(a, b)| a + b == n + 1.0));
    }

    #[test]
    fn the_numpy_order_is_sorted_and_complete(values in whole_numbers(9, 0..300)) {
        let mut order = argsort_numpy_1_23(&values);
        prop_assert!(order.is_sorted_by(|&a, &b| values[a] <= values[b]));
        order.sort_unstable();
        prop_assert!(order.into_iter().eq(0..values.len()));
    }

    #[test]
    fn agreement_does_not_depend_on_the_order_of_units((cells, rows, columns) in table()) {
        let turned: Vec<f64> = cells.chunks(columns).rev().flatten().copied().collect();
        let table = |cells| Matrix::new(cells, rows, columns).unwrap();
        let (one, other) = (table(&cells), table(&turned));
        for (a, b) in icc(one).unwrap().iter().zip(icc(other).unwrap()) {
            // If the denominator is 0 up to rounding, there are no digits to compare.
            prop_assert!(same(a.value, b.value) || a.value.abs().min(b.value.abs()) > 1e6);
        }
        for scale in [Scale::Nominal, Scale::Ordinal, Scale::Interval, Scale::Ratio] {
            let alpha = |table| krippendorff_alpha(table, scale).unwrap().alpha;
            let (a, b) = (alpha(one), alpha(other));
            prop_assert!(same(a, b) && (a.is_nan() || a <= 1.0));
        }
        prop_assert!(same(fleiss_kappa(one).unwrap().kappa, fleiss_kappa(other).unwrap().kappa));
        let w = kendall_w(one).unwrap().w;
        prop_assert!(same(w, kendall_w(other).unwrap().w));
        prop_assert!(w.is_nan() || (-1e-12..=1.0 + 1e-12).contains(&w));
    }

    #[test]
    fn ordinal_alpha_sees_only_the_order((cells, rows, columns) in table()) {
        let mapped: Vec<f64> = cells.iter().map(|v| v.exp()).collect();
        let alpha = |cells: &[f64]| {
            let table = Matrix::new(cells, rows, columns).unwrap();
            krippendorff_alpha(table, Scale::Ordinal).unwrap().alpha
        };
        prop_assert!(same(alpha(&cells), alpha(&mapped)));
    }

    #[test]
    fn one_way_icc_does_not_depend_on_who_is_in_which_column((cells, rows, columns) in table()) {
        let shuffled: Vec<f64> = cells
            .chunks(columns)
            .enumerate()
            .flat_map(|(i, row)| (0..columns).map(move |j| row[(i + j) % columns]))
            .collect();
        let one = icc(Matrix::new(&cells, rows, columns).unwrap()).unwrap();
        let other = icc(Matrix::new(&shuffled, rows, columns).unwrap()).unwrap();
        for form in [0, 3] {
            let (a, b) = (one[form].value, other[form].value);
            prop_assert!(same(a, b) || a.abs().min(b.abs()) > 1e6);
        }
    }

    #[test]
    fn borda_points_add_up_and_no_order_beats_kemeny((cells, rows, columns) in table()) {
        let scores = Matrix::new(&cells, rows, columns).unwrap();
        let count = borda(scores, BordaTies::MidRank).unwrap();
        prop_assert!(same(count.scores.iter().sum(), (columns * rows * (rows - 1) / 2) as f64));
        let compat = borda(scores, BordaTies::Numpy123).unwrap();
        prop_assert!(same(compat.scores.iter().sum(), (columns * rows * (rows - 1) / 2) as f64));
        let distance = |order: &[usize]| -> u64 {
            let mut sum = 0;
            for (i, &above) in order.iter().enumerate() {
                for &below in &order[i + 1..] {
                    let votes = scores.row(below).iter().zip(scores.row(above));
                    sum += votes.filter(|(b, a)| b > a).count() as u64;
                }
            }
            sum
        };
        let consensus = kemeny(scores).unwrap();
        prop_assert_eq!(consensus.distance, distance(&consensus.order));
        prop_assert!(consensus.distance <= distance(&count.order));
        prop_assert!(consensus.distance <= distance(&compat.order));
    }

    #[test]
    fn adjusted_p_values_are_larger_ordered_alike_and_stricter_under_dependence(
        p in prop::collection::vec(0.0f64..=1.0, 1..40)
    ) {
        let (bh, by) = (benjamini_hochberg(&p).unwrap(), benjamini_yekutieli(&p).unwrap());
        let holm = holm(&p).unwrap();
        for i in 0..p.len() {
            prop_assert!(p[i] <= bh[i] && bh[i] <= by[i] && by[i] <= 1.0);
            prop_assert!(bh[i] <= holm[i] && holm[i] <= 1.0);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || bh[i] <= bh[j] && holm[i] <= holm[j]);
            }
        }
    }

    #[test]
    fn auc_of_the_opposite_scores_is_the_complement(
        data in prop::collection::vec(((0u8..6).prop_map(f64::from), any::<bool>()), 1..50)
    ) {
        let (scores, labels): (Vec<f64>, Vec<bool>) = data.into_iter().unzip();
        let opposite: Vec<f64> = scores.iter().map(|s| -s).collect();
        let area = |scores: &[f64]| auc(scores, &labels).unwrap().value;
        let (one, other) = (area(&scores), area(&opposite));
        prop_assert!(same(one, 1.0 - other));
    }

    #[test]
    fn f1_is_one_for_the_truth_itself_and_at_most_one(
        data in prop::collection::vec((0u8..4, 0u8..4), 1..50)
    ) {
        let (truth, predicted): (Vec<u8>, Vec<u8>) = data.into_iter().unzip();
        prop_assert!(same(weighted_f1(&truth, &truth).unwrap().value, 1.0));
        prop_assert!((0.0..=1.0).contains(&weighted_f1(&truth, &predicted).unwrap().value));
    }

    #[test]
    fn a_metric_that_is_the_rating_is_always_right(values in whole_numbers(5, 2..30)) {
        let counts = pairwise_accuracy(&values, &values, 0.0).unwrap();
        prop_assert_eq!(counts.accuracy(), Ok(1.0));
        prop_assert_eq!(counts.total() as usize, values.len() * (values.len() - 1) / 2);
    }
}
