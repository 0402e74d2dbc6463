//! The statistics against other programs, and the laws that they obey.

mod agreement;
mod correlation;
mod distributions;
mod exact_sum;
mod labels;
mod partial;
mod properties;
mod ranking;
mod resampling;
#[cfg(feature = "serde")]
mod serde;
mod shift;
mod significance;
mod small_samples;
mod support;
