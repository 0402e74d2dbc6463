//! Labels and pairs against scikit-learn and brute force.

use crate::support::{assert_close, cases, values};
use storymeter_stats::{
    Undefined, auc, calibrate_ties, pairwise_accuracy, weighted_f1, weighted_f1_of_present,
};

#[test]
fn weighted_f1_and_auc_are_scikit_learns() {
    let cases = cases("labels");
    assert!(cases.len() >= 200);
    let (mut defined, mut one_class) = (0, 0);
    for row in cases {
        let (seed, n) = (row.int(0), row.size(1));
        let classes = format!("ties:{}", row.int(2));
        let label = |seed| -> Vec<i64> {
            values(&classes, seed, n, &[]).iter().map(|&v| v as i64).collect()
        };
        let truth = label(seed);
        let predicted =
            if row.0[3].as_bool().expect("flag") { truth.clone() } else { label(seed + 1) };
        let found = weighted_f1(&truth, &predicted).unwrap();
        assert_eq!(found.n, n);
        assert_close(found.value, row.float(5), "F1", &row);
        if truth.iter().all(|&label| label == truth[0]) {
            one_class += 1;
            assert_eq!(found.informative(), Err(Undefined::NoVariation));
        } else {
            defined += 1;
            assert_eq!(found.informative(), Ok(found.value));
        }
        let positive: Vec<bool> = truth.iter().map(|&t| t > 0).collect();
        let found = auc(&values(row.text(4), seed + 2, n, &[]), &positive).unwrap();
        assert_close(found.value, row.float(6), "AUC", &row);
        assert_eq!(found.positives + found.negatives, n);
        assert_eq!(found.value.is_nan(), found.undefined == Some(Undefined::NoVariation));
    }
    assert!(defined > 150 && one_class > 20, "{defined} {one_class}");
}

/// Regression test: systems without a shared item had no verdicts, and therefore an F1 of 100.
#[test]
fn without_evidence_there_is_no_f1_and_no_accuracy() {
    let missing: [Option<u8>; 3] = [None; 3];
    let nothing = weighted_f1_of_present(&missing, &[Some(0), Some(1), None]).unwrap();
    assert!(nothing.value.is_nan());
    assert_eq!((nothing.n, nothing.dropped), (0, 3));
    assert_eq!(nothing.undefined, Some(Undefined::TooFew { needed: 1, got: 0 }));
    let undecided = weighted_f1(&[0; 45], &[0; 45]).unwrap();
    assert_eq!((undecided.n, undecided.classes), (45, 1));
    assert_eq!(undecided.informative(), Err(Undefined::NoVariation));
    assert_eq!(nothing.informative(), Err(Undefined::TooFew { needed: 1, got: 0 }));

    let gap = f64::NAN;
    for (ratings, scores) in
        [(vec![], vec![]), (vec![1.0], vec![0.5]), (vec![1.0, gap, 3.0], vec![gap, 2.0, 1.0])]
    {
        let counts = pairwise_accuracy(&ratings, &scores, 0.0).unwrap();
        assert_eq!(counts.accuracy(), Err(Undefined::TooFew { needed: 2, got: counts.items }));
        assert_eq!(counts.items + counts.dropped, ratings.len());
    }
}

#[test]
fn missing_values_are_left_out_of_pairs_and_counted() {
    let gap = f64::NAN;
    let (ratings, scores) = ([1.0, 2.0, gap, 2.0, 3.0], [0.1, 0.2, 0.9, 0.25, gap]);
    let counts = pairwise_accuracy(&ratings, &scores, 0.06).unwrap();
    assert_eq!((counts.items, counts.dropped, counts.total()), (3, 2, 3));
    assert_eq!(counts.accuracy(), Ok(1.0));
    let found = calibrate_ties(&[(&ratings, &scores), (&[gap, 1.0], &[1.0, 2.0])]).unwrap();
    assert_eq!((found.groups, found.groups_skipped), (1, 1));
    assert_eq!((found.pairs, found.dropped), (3, 3));
    assert!((found.accuracy - 1.0).abs() < 1e-12);
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
            each.map(|accuracy| accuracy.unwrap()).sum::<f64>() / groups as f64
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
    assert!(pairwise_accuracy(&[1.0, f64::INFINITY], &[1.0, 2.0], 0.0).is_err());
    assert!(pairwise_accuracy(&[1.0], &[1.0, 2.0], 0.0).is_err());
    assert!(weighted_f1(&[1], &[1, 2]).is_err());
    assert!(auc(&[f64::NAN], &[true]).is_err());
}
