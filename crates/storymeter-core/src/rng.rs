//! Random streams that belong to an item and never to a thread.
//!
//! A stream follows from the user's seed and a [`StreamId`], which says what the random numbers are
//! for: "draw 2 of record 41", "the split of record 41". Every worker that asks for the same stream
//! sees the same numbers, so results do not depend on the number of threads, on the size of batches
//! or on how a file was cut up.
//!
//! All ids of the workspace are listed in this module, so that two uses cannot meet in one stream
//! without anyone noticing. Their numbers are part of the file formats: changing one changes the
//! published samples of every seed.

pub use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What a stream of random numbers is for.
///
/// ```
/// use rand_chacha::rand_core::Rng;
/// use storymeter_core::rng::StreamId;
///
/// let first_number = |draw| StreamId::Draw { record: 41, draw }.rng(7).next_u64();
/// assert_eq!(first_number(0), first_number(0));
/// assert_ne!(first_number(0), first_number(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamId {
    /// Draw number `draw` of the record with the 0-based number `record`: one negative sample.
    /// Training uses the number of the epoch as `draw`.
    Draw {
        /// Number of the record in the whole input.
        record: u64,
        /// Which of the record's draws this is.
        draw: u64,
    },
    /// Which part of the 90/5/5 split a record belongs to.
    Split {
        /// Number of the record in the whole input.
        record: u64,
    },
    /// The negative sample of a record of the dev part, the same in every epoch of training.
    DevNegative {
        /// Number of the record in the whole input.
        record: u64,
    },
    /// The negative sample of a record that calibration is fitted on. Training never sees it.
    CalibrationNegative {
        /// Number of the record in the whole input.
        record: u64,
    },
    /// The twin of a record in one aspect of the test suite for metrics.
    Twin {
        /// Number of the record in the whole input.
        record: u64,
        /// The place of the aspect in [`Aspect::ALL`](crate::Aspect::ALL).
        aspect: u64,
    },
    /// Which other story is the reference of a record that has none of its own.
    BorrowedReference {
        /// Number of the record in the whole input.
        record: u64,
    },
    /// Which human stories are compared with machine stories when a discriminator is trained
    /// (DisScore).
    Partner {
        /// Number of the record in the whole input.
        record: u64,
    },
    /// Whether self-BLEU compares with this record. These are the numbers of the record's draw 0;
    /// the two never work on the same task.
    SelfBleuSample {
        /// Number of the record in the whole input.
        record: u64,
    },
    /// The order of the records in an epoch of training.
    EpochOrder {
        /// The epoch, from 0.
        epoch: u64,
    },
    /// The order of the batches that one chunk of an epoch's records gives.
    BatchOrder {
        /// The epoch, from 0.
        epoch: u64,
        /// The chunk of the epoch, from 0.
        chunk: u64,
    },
    /// The wrong continuations that RUBER learns to refuse. These are the numbers of the first
    /// batch order; the two never work on the same task.
    WrongContinuations {
        /// 0 for the dev stories; one more than the number of the epoch, from 0, for the training
        /// stories.
        draw: u64,
    },
    /// The resamples in which a pair of systems is compared.
    SystemPair {
        /// Number of the pair, from 0.
        pair: u64,
    },
    /// One draw of a set of stories that is biased towards one level of quality.
    BiasedSet {
        /// Number of the set.
        set: u64,
        /// Which of the set's draws this is.
        draw: u64,
    },
}

/// Where the reserved draws of a record begin. No story is drawn from nearly as often.
const FIRST_RESERVED_DRAW: u64 = FIRST_TWIN - 63;

/// Where the draws of twins begin. They count downwards, one per aspect.
const FIRST_TWIN: u64 = u64::MAX - 4;

impl StreamId {
    /// The generator of this stream under `seed`.
    pub fn rng(self, seed: u64) -> ChaCha8Rng {
        let [first, second] = self.numbers();
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&first.to_le_bytes());
        key[16..24].copy_from_slice(&second.to_le_bytes());
        ChaCha8Rng::from_seed(key)
    }

    /// The two numbers that name the stream within its seed: in most streams a record and a draw.
    ///
    /// Numbers at the upper end of the range are reserved, because neither records nor draws ever
    /// count up to them.
    pub fn numbers(self) -> [u64; 2] {
        match self {
            Self::Draw { record, draw } => {
                debug_assert!(draw < FIRST_RESERVED_DRAW, "draw {draw} is reserved");
                [record, draw]
            }
            Self::Split { record } => [record, u64::MAX],
            Self::DevNegative { record } => [record, u64::MAX - 1],
            Self::Partner { record } => [record, u64::MAX - 2],
            Self::CalibrationNegative { record } => [record, u64::MAX - 3],
            Self::Twin { record, aspect } => [record, FIRST_TWIN - aspect],
            Self::BorrowedReference { record } => [record, FIRST_RESERVED_DRAW],
            Self::SelfBleuSample { record } => [record, 0],
            Self::EpochOrder { epoch } => [u64::MAX, epoch],
            Self::BatchOrder { epoch, chunk } => [u64::MAX - 1 - chunk, epoch],
            Self::WrongContinuations { draw } => [u64::MAX - 1, draw],
            Self::SystemPair { pair } => [pair, 0],
            Self::BiasedSet { set, draw } => [set, draw],
        }
    }
}

/// What a counter-based stream of training is for.
///
/// Training draws dropout masks, weights and views from generators that compute number `i` directly
/// (`storymeter_encoder::Stream`). They form a tree: every stream has numbered children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CounterId {
    /// Dropout in one step of an epoch.
    Dropout {
        /// The epoch, from 0.
        epoch: u64,
        /// The step within the epoch, from 0.
        step: u64,
    },
    /// How a record is shown to the model: with or without its names, and which window of it.
    View(StreamId),
    /// Whether a record is shown to the model with typos, and which ones. Child 0 is for the typos
    /// of the human story, and child 1 for those of the negative sample.
    Typos(StreamId),
    /// The first weights of the heads.
    NewHeads,
    /// Fine-tuning of a network on a single text. The ids of the tokens of the text follow as
    /// numbers, so that a text is learnt alike wherever it stands in the input.
    Tuning,
}

impl CounterId {
    /// Walks from the stream `root` of a seed down to this one; `child` gives the numbered child of
    /// a stream.
    ///
    /// ```
    /// use storymeter_core::rng::CounterId;
    ///
    /// let child = |path: String, number: u64| format!("{path}/{number}");
    /// let dropout = CounterId::Dropout { epoch: 1, step: 30 };
    /// assert_eq!(dropout.descend("seed".to_owned(), child), "seed/1/30");
    /// ```
    pub fn descend<S>(self, root: S, child: impl Fn(S, u64) -> S) -> S {
        let below = |numbers: &[u64]| numbers.iter().copied().fold(root, child);
        match self {
            Self::Dropout { epoch, step } => below(&[epoch, step]),
            Self::View(stream) => {
                let [record, draw] = stream.numbers();
                below(&[u64::MAX - 2, record, draw])
            }
            Self::Typos(stream) => {
                let [record, draw] = stream.numbers();
                below(&[u64::MAX - 4, record, draw])
            }
            Self::NewHeads => below(&[u64::MAX]),
            Self::Tuning => below(&[u64::MAX - 3]),
        }
    }
}

/// The numbers from 0 to `len - 1` in an order that follows from the generator.
pub fn shuffled(len: usize, mut random: impl Rng) -> Vec<usize> {
    let mut keys: Vec<(u64, usize)> = (0..len).map(|i| (random.next_u64(), i)).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, i)| i).collect()
}
