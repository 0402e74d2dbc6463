//! Whole analyses and the test suite for metrics, against other programs and at their edges.

mod rating_files;
mod studies;
mod suite;
