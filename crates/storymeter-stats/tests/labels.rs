//! Labels and pairs against scikit-learn and brute force.

mod support;

use storymeter_stats::{Undefined, auc, calibrate_ties, pairwise_accuracy, weighted_f1};
use support::{assert_close, cases, values};

#[test]
fn weighted_f1_and_auc_are_scikit_learns() {
    let cases = cases("labels");
    assert!(cases.len() >= 200);
    for row in cases {
        let (seed, n) = (row.int(0), row.size(1));
        let classes = format!("ties:{}", row.int(2));
        let label = |seed| -> Vec<i64> {
            values(&classes, seed, n, &[]).iter().map(|&v| v as i64).collect()
        };
        let truth = label(seed);
        let predicted =
            if row.0[3].as_bool().expect("flag") { truth.clone() } else { label(seed + 1) };
        assert_close(weighted_f1(&truth, &predicted).unwrap(), row.float(5), "F1", &row);
        let positive: Vec<bool> = truth.iter().map(|&t| t > 0).collect();
        let found = auc(&values(row.text(4), seed + 2, n, &[]), &positive).unwrap();
        assert_close(found.value, row.float(6), "AUC", &row);
        assert_eq!(found.positives + found.negatives, n);
        assert_eq!(found.value.is_nan(), found.undefined == Some(Undefined::NoVariation));
    }
}

#[test]
fn accuracy_and_calibrated_threshold_are_the_best_of_all_thresholds() {
    let cases = cases("ties_matter");
    assert!(cases.len() >= 200);
    for row in cases {
        let (seed, n, groups) = (row.int(1), row.size(2), row.int(3));
        let data: Vec<(Vec<f64>, Vec<f64>)> = (0..groups)
            .map(|g| {
                (
                    values("ties:3", seed + 2 * g, n, &[]),
                    values(row.text(0), seed + 2 * g + 1, n, &[]),
                )
            })
            .collect();
        let mean = |threshold| {
            let each =
                data.iter().map(|(r, m)| pairwise_accuracy(r, m, threshold).unwrap().accuracy());
            each.sum::<f64>() / groups as f64
        };
        assert_close(mean(0.0), row.float(4), "at 0", &row);
        assert_close(mean(0.3), row.float(5), "at 0.3", &row);
        let slices: Vec<(&[f64], &[f64])> =
            data.iter().map(|(r, m)| (r.as_slice(), m.as_slice())).collect();
        let found = calibrate_ties(&slices).unwrap();
        assert_close(found.threshold, row.float(6), "threshold", &row);
        assert_close(found.accuracy, row.float(7), "accuracy", &row);
        assert_close(found.uncalibrated, row.float(4), "uncalibrated", &row);
    }
}

#[test]
fn groups_without_pairs_are_counted_not_used() {
    let found = calibrate_ties(&[(&[1.0, 2.0], &[0.1, 0.2]), (&[1.0], &[0.5])]).unwrap();
    assert_eq!((found.groups, found.groups_skipped, found.accuracy), (1, 1, 1.0));
    assert!(calibrate_ties(&[(&[1.0], &[0.5])]).is_err());
    let many = vec![1.0; 15_000];
    let error = calibrate_ties(&[(&many, &many)]).unwrap_err().to_string();
    assert_eq!(error, "tie calibration takes at most 100000000 pairs, got 112492500");
    assert!(pairwise_accuracy(&[1.0, f64::NAN], &[1.0, 2.0], 0.0).is_err());
    assert!(weighted_f1(&[1], &[1, 2]).is_err());
    assert!(auc(&[f64::NAN], &[true]).is_err());
}
