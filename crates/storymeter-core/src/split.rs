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
