//! Tests of reading and writing, with files like those of a user, and of what is read.

mod aspects;
mod atomic_files;
mod bad_input;
mod csv_peer;
mod documents;
mod file_names;
mod folder;
mod foreign_scores;
mod formats;
mod hanna_scores;
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
mod progress;
mod round_trip;
mod same_file;
mod score_files;
mod several_files;
mod split;
mod stories;
mod streams;
mod table;
mod temporary_files;
mod text_fields;
mod texts;
mod views;
#[cfg(feature = "zstd")]
mod zstandard;
