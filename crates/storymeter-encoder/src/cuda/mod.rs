//! Training and inference on an NVIDIA GPU. Nothing of CUDA is needed to build: the driver, NVRTC
//! and cuBLASLt are loaded when they are first used, and so is NCCL for several GPUs.
//!
//! Matrix products are done by cuBLASLt, and everything else by kernels of this crate (`kernels/`).
//! The host waits for the GPU only to bring numbers back. No kernel adds floats in an order that
//! could change, and the algorithm of every product follows from its shape, so that one kind of GPU
//! gives the same bytes from run to run.
//!
//! There are three networks: the one of training, which [`CudaEncoder`] also runs forward; `int8`,
//! which gives the CPU's bytes; and `forward`, which runs models of all families for
//! [`Model`](crate::Model). In the last two the numbers of a sequence do not depend on the rest of
//! its batch. `forward` multiplies floats on tensor cores, in two parts of eleven bits each, so
//! that f32 is exact to about one part in a million.
//!
//! There are two kinds of `unsafe` code here: calls of the driver and its libraries, most of them
//! in the handles of `driver`, and the launches of kernels. Addresses come from views of buffers
//! that check their bounds (`memory`), and what a kernel needs beyond that stands at its launch.

mod attention;
mod backend;
mod compile;
mod device;
mod driver;
mod encoder;
mod forward;
mod gemm;
mod inputs;
mod int8;
mod landing;
mod losses;
mod memory;
mod model;
mod nccl;
mod open;
mod pieces;
mod pre_norm;
mod store;

use crate::Result;
use compile::Program;
use device::Device;
use std::marker::PhantomData;
use std::rc::Rc;

pub(crate) use model::CudaModel;

pub use encoder::{CudaEncoder, Pending, Vectors};
pub use inputs::{Indices, Lookups, Projected, Stories};
pub use nccl::{Nccl, NcclId};
pub use store::CudaStore;

/// The precision of activations in training on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activations {
    /// bf16, which is several times as fast.
    #[default]
    Bf16,
    /// Single precision.
    F32,
}

/// The format of activations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Single precision.
    F32,
    /// Sixteen bits with the range of f32, for training.
    Bf16,
    /// Sixteen bits with three more bits of precision and a range up to 65,504, for scoring.
    F16,
}

/// A precision of activations: `f32`, [`half::bf16`] or [`half::f16`]. Weights, gradients and sums
/// are always `f32`.
pub trait Number: sealed::Sealed {
    /// The format of the numbers.
    const FORMAT: Format;
    /// Whether the numbers have sixteen bits.
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

/// Numbers in the memory of a GPU.
pub struct Numbers<N>(memory::Buffer<N>);

/// A GPU as a device for training, with activations of type `N`.
pub struct Cuda<N: Number> {
    device: Rc<Device>,
    precision: PhantomData<N>,
}

// A derive would ask for `N: Clone`.
impl<N: Number> Clone for Cuda<N> {
    /// The same GPU, with the same queue and pool of memory.
    fn clone(&self) -> Cuda<N> {
        Cuda { device: Rc::clone(&self.device), precision: PhantomData }
    }
}

impl<N: Number> Cuda<N> {
    /// Opens GPU number `ordinal`. When a kind of GPU is used for the first time its kernels are
    /// compiled, which takes some seconds.
    ///
    /// A thread works with one GPU: the one that it opened last.
    ///
    /// # Errors
    /// Returns an error if there is no driver or no such GPU, if the GPU or its driver is too old,
    /// or if NVRTC or cuBLASLt is not found.
    pub fn open(ordinal: usize) -> Result<Cuda<N>> {
        Ok(Cuda {
            device: Device::open(ordinal, Program::Floats(N::FORMAT))?,
            precision: PhantomData,
        })
    }

    /// The name of the GPU.
    pub fn name(&self) -> &str {
        self.device.name()
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// Returns what has gone wrong since the device was opened.
    pub fn wait(&self) -> Result<()> {
        self.device.wait()
    }

    /// Times every operation from now on, which slows the work down a little.
    pub fn start_profile(&self) {
        self.device.start_profile();
    }

    /// Ends the profile: the milliseconds and the number of calls of each operation since
    /// [`Cuda::start_profile`], the longest first.
    pub fn end_profile(&self) -> Vec<(&'static str, f64, usize)> {
        self.device.end_profile()
    }

    fn device(&self) -> &Rc<Device> {
        &self.device
    }
}
