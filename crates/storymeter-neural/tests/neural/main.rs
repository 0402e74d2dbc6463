//! The neural metrics with tiny models.

mod blanc;
mod bleurt;
mod embedding;
mod infolm;
mod likelihoods;
mod likely;
mod ruber;
mod scoring;
mod summaqa;
mod support;
mod text_peers;
mod word_metrics;
