//! The errors of this crate.

/// Why settings, edits or donors cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A technique's name was not recognised.
    #[error("unknown technique \"{0}\": use repetition, substitution, reordering or negation")]
    UnknownTechnique(String),
    /// A preset's name was not recognised.
    #[error("unknown preset \"{0}\": use paper or released-code")]
    UnknownPreset(String),
    /// A weight is not a positive number.
    #[error("\"{0}\": a weight must be a positive number")]
    BadWeight(String),
    /// The weights of the number of techniques are not a distribution.
    #[error("\"{0}\": give one to four weights of at least 0, for 1, 2, 3 and 4 techniques")]
    BadCounts(String),
    /// The share of keywords is out of range.
    #[error("the keyword share is {0}, but it must be above 0 and at most 1")]
    BadKeywordShare(f64),
    /// The share of a technique's samples is out of range.
    #[error("the share {name} is {share}, but it must be from 0 to 1")]
    BadShare {
        /// The name of the share.
        name: &'static str,
        /// Its value.
        share: f64,
    },
    /// Every technique has weight 0.
    #[error("no technique is left to draw from: at least one needs a positive weight")]
    NoTechnique,
    /// An edit does not fit the text it is applied to.
    #[error("edit {number} does not fit: the text does not read \"{expected}\" at byte {start}")]
    EditMismatch {
        /// The number of the edit, from 0.
        number: usize,
        /// The text that should be there.
        expected: String,
        /// The byte at which it should be.
        start: usize,
    },
    /// An edit's end does not follow from its start and the text it replaces.
    #[error(
        "an edit of the bytes {start} to {end} cannot replace a text of {length} bytes: \
         the end must be the start plus the length of \"before\""
    )]
    ContradictoryEdit {
        /// The first byte the edit claims to replace.
        start: usize,
        /// One past the last byte the edit claims to replace.
        end: usize,
        /// The length in bytes of the text it replaces.
        length: usize,
    },
    /// The file is not a prepared donor file, or is damaged.
    #[error("not a prepared donor file of this version: {0}")]
    BadDonorFile(String),
    /// A prepared donor file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
