//! The 90/5/5 split into training, validation and test stories (UNION, section 4.2).
//!
//! The part of a record follows from the seed and the number of the record alone. The split can
//! therefore be made while the input is read, it does not depend on the number of threads or on how
//! the file is cut up, and a story that is appended does not change the part of any other story.
//! The shares are expected values: 60,000 stories miss them by a few dozen.

use std::fmt;
use std::str::FromStr;

use rand_chacha::rand_core::Rng;

use crate::rng::StreamId;

/// What a story is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Split {
    /// The model learns from it: 90% of the stories.
    Train,
    /// The best model is chosen with it: 5%.
    Dev,
    /// Results are reported on it: 5%.
    Test,
}

/// The part of a record, given the seed and its 0-based number in the whole input.
///
/// ```
/// use storymeter_core::split::{Split, assign};
/// let training = (0..1000).filter(|&record| assign(7, record) == Split::Train).count();
/// assert!((870..930).contains(&training));
/// assert_eq!(assign(7, 41), assign(7, 41));
/// ```
pub fn assign(seed: u64, record: u64) -> Split {
    let draw = StreamId::Split { record }.rng(seed).next_u32();
    // The divisor is 2^32 / 20, correct to one part in 10^9.
    let part = draw / (u32::MAX / 20 + 1);
    match part {
        18 => Split::Dev,
        19 => Split::Test,
        _ => Split::Train,
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        })
    }
}

/// A name that is not the name of a part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no part \"{0}\"; there are: train, dev, test")]
pub struct UnknownSplit(String);

impl FromStr for Split {
    type Err = UnknownSplit;

    fn from_str(name: &str) -> Result<Self, UnknownSplit> {
        match name {
            "train" => Ok(Self::Train),
            "dev" => Ok(Self::Dev),
            "test" => Ok(Self::Test),
            _ => Err(UnknownSplit(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let held_out: Vec<u64> =
            (0..60).filter(|&record| assign(1, record) != Split::Train).collect();
        assert_eq!(held_out, [4, 19, 33, 38, 47, 53, 59]);
    }

    #[test]
    fn names_go_both_ways() {
        for split in [Split::Train, Split::Dev, Split::Test] {
            assert_eq!(split.to_string().parse(), Ok(split));
        }
        assert!("valid".parse::<Split>().is_err());
    }
}
