//! The test suite for metrics: numbers against scipy and scikit-learn, edges, views, files.

mod edges;
mod files;
mod scipy;
mod support;
mod views;
