//! Results can be written as JSON and read back, NaN and infinities included.

use serde::Serialize;
use serde::de::DeserializeOwned;
use storymeter_stats::agreement::{Scale, fleiss_kappa, icc, kendall_w, krippendorff_alpha};
use storymeter_stats::ranking::{BordaTies, borda, kemeny};
use storymeter_stats::*;

/// Writes a value, reads it back, and compares the two as text, because NaN differs from itself.
fn there_and_back<T: Serialize + DeserializeOwned + std::fmt::Debug>(value: T) -> String {
    let json = serde_json::to_string(&value).unwrap();
    let back: T = serde_json::from_str(&json).unwrap();
    assert_eq!(format!("{back:?}"), format!("{value:?}"), "{json}");
    json
}

const RATINGS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
const SCORES: [f64; 8] = [2.0, 1.0, 4.0, 3.0, 5.0, 8.0, 6.0, 7.0];

#[test]
fn undefined_results_keep_their_reason() {
    let json = there_and_back(pearson(&[1.0; 8], &SCORES).unwrap());
    assert_eq!(json, r#"{"coefficient":null,"p_value":null,"n":8,"undefined":"ConstantFirst"}"#);
    let json = there_and_back(williams(0.9, 0.9, -0.9, 10).unwrap());
    assert!(json.contains(r#""p_value":null"#) && json.contains("Contradiction"), "{json}");
    there_and_back(weighted_f1::<u8>(&[], &[]).unwrap());
    let json = there_and_back(Undefined::TooFew { needed: 4, got: 2 });
    assert_eq!(json, r#"{"TooFew":{"needed":4,"got":2}}"#);
    there_and_back(auc(&[1.0, 2.0], &[true, true]).unwrap());
}

#[test]
fn infinite_statistics_survive() {
    let json = there_and_back(steiger(1.0, 0.5, 0.5, 20).unwrap());
    assert!(json.contains(r#""statistic":"inf""#), "{json}");
    let json = there_and_back(steiger(-1.0, 0.5, -0.5, 20).unwrap());
    assert!(json.contains(r#""statistic":"-inf""#), "{json}");
    assert!(serde_json::from_str::<Interval>(r#"{"low":"?","high":1}"#).is_err());
}

#[test]
fn every_result_can_be_written_and_read() {
    let options = BootstrapOptions { resamples: 99, ..BootstrapOptions::default() };
    there_and_back(options);
    let tau = Coefficient::Kendall;
    assert_eq!(there_and_back(tau), r#""kendall""#);
    there_and_back(correlation_interval(tau, &RATINGS, &SCORES, &options).unwrap());
    there_and_back(mean_interval(&SCORES, &options).unwrap());
    there_and_back(fisher_difference(tau, (0.5, 30), (0.2, 4)).unwrap());
    let reversed: Vec<f64> = SCORES.iter().rev().copied().collect();
    there_and_back((Resampling::default(), Pairing::Paired { items: 3 }));
    let columns: [&[f64]; 3] = [&SCORES, &reversed, &[f64::NAN; 8]];
    let rules = WilliamsRules::Published;
    let matrix =
        there_and_back(williams_matrix_of_columns(tau, &RATINGS, &columns, rules).unwrap());
    assert!(matrix.contains("null") && matrix.contains("TooFew"), "{matrix}");
    there_and_back((rules, Correction::Holm, Stronger::First));
    there_and_back(pairwise_accuracy(&RATINGS, &SCORES, 0.0).unwrap());
    there_and_back(calibrate_ties(&[(&RATINGS, &SCORES)]).unwrap());
    let table = Matrix::new(&SCORES, 4, 2).unwrap();
    there_and_back(icc(table).unwrap());
    there_and_back(fleiss_kappa(table).unwrap());
    there_and_back(kendall_w(table).unwrap());
    there_and_back((krippendorff_alpha(table, Scale::Ratio).unwrap(), Scale::Ratio));
    there_and_back(borda(table, BordaTies::MidRank).unwrap());
    there_and_back(kemeny(table).unwrap());
    let design =
        Design { coefficient: tau, level: CorrelationLevel::Item, exchange: Exchange::Both };
    there_and_back(design);
}
