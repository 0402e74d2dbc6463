//! What can go wrong.

/// Errors of this crate.
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
    /// The distribution of the number of techniques makes no sense.
    #[error("\"{0}\": give one to four weights of at least 0, for 1, 2, 3 and 4 techniques")]
    BadCounts(String),
    /// The share of keywords makes no sense.
    #[error("a keyword share of {0} makes no sense: it must be above 0 and at most 1")]
    BadKeywordShare(f64),
    /// A share of a technique's samples makes no sense.
    #[error("{name} is {share}, and must be from 0 to 1")]
    BadShare {
        /// Which share.
        name: &'static str,
        /// What it is.
        share: f64,
    },
    /// Every technique has weight 0.
    #[error("no technique is left to draw from")]
    NoTechnique,
    /// An edit does not fit the text it is applied to.
    #[error("edit {number} does not fit: the text does not read \"{expected}\" at byte {start}")]
    EditMismatch {
        /// Which edit, from 0.
        number: usize,
        /// What the text should read.
        expected: String,
        /// Where.
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
    /// A prepared donor file is not one, or is damaged.
    #[error("not a prepared donor file of this version: {0}")]
    BadDonorFile(String),
    /// The operating system refused while a prepared donor file was read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
