//! The binary as its users meet it, one file a verb.

mod perturb;
mod sandbox;
