//! Tokenisers, weights, networks and training, against PyTorch and other programs.

mod architectures;
mod bpe;
mod broken;
#[cfg(feature = "train")]
mod causal;
#[cfg(feature = "train")]
#[path = "../support/differences.rs"]
mod differences;
mod golden;
#[cfg(feature = "train")]
mod gradients;
mod linear_time;
#[cfg(feature = "train")]
#[path = "../support/loss.rs"]
mod loss;
#[cfg(feature = "train")]
#[path = "../support/next_token.rs"]
mod next_token;
#[cfg(feature = "train")]
mod pooled;
#[cfg(feature = "train")]
mod skipped;
mod source;
#[path = "../support/tiny.rs"]
mod tiny;
