//! The arithmetic: matrix products and the vector steps between them, for each instruction level.
//!
//! There are two kinds of `unsafe` code here: the inner loops in `x86` and `neon`, which read
//! through pointers, and the calls of functions that were compiled for more instructions than every
//! processor has, which an [`Isa`] allows.

pub(crate) mod aligned;
pub(crate) mod gemm;
pub(crate) mod heads;
mod isa;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
pub(crate) mod quantised;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) mod likelihood;
pub(crate) mod math;
pub(crate) mod norm;
pub(crate) mod rotary;
pub(crate) mod softmax;
pub(crate) mod steps;

pub use isa::Isa;
pub(crate) use isa::{Level, vectorised};
pub use math::Activation;
