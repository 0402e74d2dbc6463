//! Training of baselines with tiny models.

mod bleurt;
mod criteria;
mod language_model;
mod ruber;
mod skipped;
