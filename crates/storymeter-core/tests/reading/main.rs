//! Tests of reading and writing, with files like those of a user.

mod bad_input;
mod csv_peer;
mod folder;
mod hostile;
mod layouts;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod round_trip;
mod score_files;
mod several_files;
