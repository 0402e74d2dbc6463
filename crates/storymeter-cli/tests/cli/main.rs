//! Runs the program as its users do. The tests of each verb have a file of their own.

mod advice;
mod bleurt;
#[cfg(feature = "parquet")]
mod bombs;
mod compare;
mod correlate;
mod criteria;
mod harnesses;
mod help;
mod hostile_text;
mod input;
mod interruptions;
mod meta;
mod meta_files;
mod metrics;
mod model;
mod one_engine;
mod outputs;
mod perturb;
mod progress;
mod rated;
mod report;
mod sandbox;
mod score;
mod score_files;
mod shard_files;
mod shards;
mod slop;
mod streaming;
mod suite;
mod tiny_model;
mod train;
mod tutorials;
mod union;
mod unknown_names;
