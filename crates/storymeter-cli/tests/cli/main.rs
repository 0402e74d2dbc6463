//! The binary as its users meet it, one file a verb.

mod correlate;
mod meta;
mod metrics;
mod model;
mod perturb;
mod report;
mod sandbox;
mod score;
mod streaming;
mod tiny_model;
mod train;
mod union;
