//! Tests of reading and writing, with files like those of a user.

mod bad_input;
mod csv_peer;
mod documents;
mod folder;
mod foreign_scores;
mod hostile;
mod ids;
mod layouts;
mod mags;
mod names;
#[cfg(feature = "parquet")]
mod parquet_limits;
#[cfg(feature = "parquet")]
mod parquet_rows;
#[cfg(feature = "parquet")]
mod parquet_scores;
mod round_trip;
mod score_files;
mod several_files;
mod texts;
#[cfg(feature = "zstd")]
mod zstandard;
