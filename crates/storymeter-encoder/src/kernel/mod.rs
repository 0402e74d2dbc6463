//! The arithmetic: matrix products and the vector steps between them, for each instruction level.
//!
//! `unsafe` lives here alone: in `x86` and `neon` (the inner loops) and where an [`Isa`] proves that a function
//! compiled for more instructions may be called.

pub(crate) mod gemm;
pub(crate) mod heads;
mod isa;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
pub(crate) mod quantised;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) mod math;
pub(crate) mod softmax;
pub(crate) mod steps;

pub use isa::Isa;
pub(crate) use isa::{Level, vectorised};
pub use math::Activation;
