//! What can go wrong between a user's data and a result.

/// What a function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in a meta-evaluation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read, or holds what its format or type does not allow.
    #[error(transparent)]
    Core(#[from] storymeter_core::Error),
    /// Numbers on which a statistic has no meaning.
    #[error(transparent)]
    Stats(#[from] storymeter_stats::StatsError),
    /// The data does not allow the analysis asked for.
    #[error("{0}")]
    Unfit(String),
}

impl Error {
    /// Data that does not allow the analysis, in words.
    pub fn unfit(problem: impl Into<String>) -> Self {
        Self::Unfit(problem.into())
    }
}
