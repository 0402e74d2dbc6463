//! Where a baseline is trained.

#[cfg(feature = "cuda")]
pub use storymeter_encoder::cuda::Activations;

/// The device on which a run computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The CPU, in single precision.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda {
        /// The number of the GPU, from 0.
        gpu: usize,
        /// The precision of activations. Weights, gradients and sums are in single precision.
        activations: Activations,
    },
}
