//! Optimal transport against POT, and the laws that it obeys.

mod pot;
mod properties;
