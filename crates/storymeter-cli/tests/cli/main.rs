//! The binary as its users meet it, one file a verb.

mod correlate;
mod meta;
mod perturb;
mod sandbox;
mod union;
