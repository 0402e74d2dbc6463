//! The parts of a corpus.

use storymeter_core::split::{Split, assign};

fn counts(seed: u64, records: u64) -> [u64; 3] {
    let mut counts = [0; 3];
    for record in 0..records {
        counts[assign(seed, record) as usize] += 1;
    }
    counts
}

#[test]
fn the_shares_are_90_5_and_5_percent() {
    for seed in [0, 1, 42] {
        let [train, dev, test] = counts(seed, 100_000);
        // Four standard deviations of a binomial count.
        assert!(train.abs_diff(90_000) < 380, "{train}");
        assert!(dev.abs_diff(5_000) < 276 && test.abs_diff(5_000) < 276, "{dev} {test}");
    }
}

#[test]
fn another_seed_is_another_split_and_the_same_seed_the_same() {
    let parts = |seed| (0..2_000).map(|record| assign(seed, record)).collect::<Vec<_>>();
    assert_eq!(parts(3), parts(3));
    assert_ne!(parts(3), parts(4));
    // The parts of a corpus must not change from one release to the next.
    let held_out: Vec<u64> = (0..60).filter(|&record| assign(1, record) != Split::Train).collect();
    assert_eq!(held_out, [4, 19, 33, 38, 47, 53, 59]);
}

#[test]
fn names_go_both_ways() {
    for split in [Split::Train, Split::Dev, Split::Test] {
        assert_eq!(split.to_string().parse(), Ok(split));
    }
    assert!("valid".parse::<Split>().is_err());
}
