//! The names of the learned metrics, which are made for English stories.

/// The id of the learned metric, which scores where no other is named.
pub const LEARNED: &str = "union";

/// The id of the learned metric that predicts the ratings of readers.
pub const CRITERIA: &str = "criteria";
