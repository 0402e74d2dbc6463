#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! - [`Problem`] is what is solved: the masses on both sides, and the cost of moving one unit of
//!   mass from each point to each other point.
//! - [`exact()`] finds a plan of the least cost, by the network simplex method.
//! - [`sinkhorn`] finds the plan of the least cost plus entropy. [`sinkhorn::in_logarithms`] never
//!   under- or overflows; [`sinkhorn::as_published`] repeats the loop that most papers ran,
//!   including where it stops early.
//! - [`barycentre`] finds points that are close to several clouds of points at once.
//!
//! All results depend on the input alone.
#![forbid(unsafe_code)]

pub mod barycentre;
mod error;
pub mod exact;
mod problem;
pub mod sinkhorn;
mod tree;

pub use error::{Error, Result};
pub use exact::exact;
pub use problem::{Problem, squared_distances};
