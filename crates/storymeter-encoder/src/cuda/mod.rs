//! Training and scoring on an NVIDIA GPU, without CUDA at build time: driver, NVRTC and cuBLASLt, and NCCL for
//! several GPUs, are loaded at run time.
//!
//! Matrix products are cuBLASLt's, everything else is a kernel of our own (`kernels/`). Nothing waits for the GPU but what
//! brings numbers back. No kernel adds floats in an order that could change, and the algorithm of every product follows
//! from its shape: the same bytes from run to run on one kind of GPU.

mod attention;
mod backend;
mod compile;
mod device;
mod driver;
mod encoder;
mod gemm;
mod inputs;
mod int8;
mod landing;
mod memory;
mod nccl;
mod pieces;
mod store;

use crate::Result;
use compile::Program;
use device::Device;
use std::marker::PhantomData;
use std::rc::Rc;

pub use encoder::{CudaEncoder, Pending, Vectors};
pub use inputs::{Indices, Lookups, Projected, Stories};
pub use nccl::{Nccl, NcclId};
pub use store::CudaStore;

/// What activations are kept as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Single precision.
    F32,
    /// Sixteen bits with f32's range: for training.
    Bf16,
    /// Sixteen bits with three more for precision and a range up to 65,504: for scoring.
    F16,
}

/// A precision of activations: `f32`, or [`half::bf16`] or [`half::f16`] with weights, gradients and sums in `f32`.
pub trait Number: sealed::Sealed {
    /// Which it is.
    const FORMAT: Format;
    /// Whether it has sixteen bits.
    const HALF: bool = !matches!(Self::FORMAT, Format::F32);
}

mod sealed {
    use super::memory::Plain;

    #[expect(private_bounds, reason = "the trait is sealed")]
    pub trait Sealed: Plain {}
    impl Sealed for f32 {}
    impl Sealed for half::bf16 {}
    impl Sealed for half::f16 {}
}

impl Number for f32 {
    const FORMAT: Format = Format::F32;
}

impl Number for half::bf16 {
    const FORMAT: Format = Format::Bf16;
}

impl Number for half::f16 {
    const FORMAT: Format = Format::F16;
}

/// Numbers in a GPU's memory.
pub struct Numbers<N>(memory::Buffer<N>);

/// A GPU as a device for training, with activations of `N`.
pub struct Cuda<N: Number> {
    device: Rc<Device>,
    precision: PhantomData<N>,
}

// Derived, it would ask `N` for a clone.
impl<N: Number> Clone for Cuda<N> {
    /// The same GPU, queue and pool of memory.
    fn clone(&self) -> Cuda<N> {
        Cuda { device: Rc::clone(&self.device), precision: PhantomData }
    }
}

/// A GPU with activations in bf16.
pub type CudaBf16 = Cuda<half::bf16>;
/// A GPU with everything in f32 (not TF32).
pub type CudaF32 = Cuda<f32>;

impl<N: Number> Cuda<N> {
    /// GPU number `ordinal`. The first time on a kind of GPU the kernels are compiled, which takes some seconds.
    ///
    /// # Errors
    /// If there is no driver or no such GPU, if it or the driver is too old, and if NVRTC or cuBLASLt is not found.
    pub fn open(ordinal: usize) -> Result<Cuda<N>> {
        Ok(Cuda {
            device: Device::open(ordinal, Program::Floats(N::FORMAT))?,
            precision: PhantomData,
        })
    }

    /// What the GPU is called.
    pub fn name(&self) -> &str {
        self.device.name()
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// Whatever went wrong since the device was opened.
    pub fn wait(&self) -> Result<()> {
        self.device.wait()
    }

    /// From now on every operation is timed by events, which slows the whole down a little.
    pub fn start_profile(&self) {
        self.device.start_profile();
    }

    /// Milliseconds and calls of every operation since [`Cuda::start_profile`], the longest first; the profile ends here.
    pub fn end_profile(&self) -> Vec<(&'static str, f64, usize)> {
        self.device.end_profile()
    }

    fn device(&self) -> &Rc<Device> {
        &self.device
    }
}
