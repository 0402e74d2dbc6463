//! How many techniques a sample gets, and which.

use storymeter_perturb::{CheckedConfig, Config, Error};

fn close(a: [f64; 4], b: [f64; 4]) -> bool {
    a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-12)
}

#[test]
fn the_paper_s_shares_are_the_default() {
    let config = CheckedConfig::default();
    assert_eq!(Config::default().checked().unwrap(), config);
    assert!(close(config.expected_counts(), [0.5, 0.2, 0.2, 0.1]));
    let shares = config.expected_techniques();
    // 0.5*1 + 0.2*2 + 0.2*3 + 0.1*4
    assert!((shares.iter().sum::<f64>() - 1.9).abs() < 1e-12);
    assert!(shares[2] > shares[1] && shares[1] > shares[3] && shares[3] > shares[0]);
}

#[test]
fn one_technique_alone_is_always_used_once() {
    let config = Config::default().only("reordering").and_then(Config::checked).unwrap();
    assert!(close(config.expected_counts(), [1.0, 0.0, 0.0, 0.0]));
    assert!(close(config.expected_techniques(), [0.0, 0.0, 1.0, 0.0]));
}

#[test]
fn leaving_one_out_keeps_the_other_weights() {
    let config = Config::default().only("no-substitution").and_then(Config::checked).unwrap();
    assert_eq!(config.config().weights, [0.1, 0.0, 0.4, 0.2]);
    let counts = config.expected_counts();
    assert!((counts[2] - 0.3).abs() < 1e-12 && counts[3] == 0.0);
}

#[test]
fn wrong_lists_are_refused() {
    for list in ["sorting", "repetition=0", "repetition=x", "no-sorting"] {
        assert!(Config::default().only(list).is_err(), "{list}");
    }
    let none = "no-repetition,no-substitution,no-reordering,no-negation";
    assert!(matches!(Config::default().only(none), Err(Error::NoTechnique)));
    for list in ["", "1,2,3,4,5", "-1,2", "0,0", "a"] {
        assert!(Config::default().with_counts(list).is_err(), "{list}");
    }
}
