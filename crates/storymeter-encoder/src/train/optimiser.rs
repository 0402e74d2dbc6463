//! AdamW with weight decay for some tensors, clipping by the global norm, and a schedule of the
//! learning rate.

use super::backend::{AdamStep, Backend, Part, Skipped};
use super::network::Network;
use crate::{Error, Result};

/// The settings of AdamW.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdamW {
    /// The decay of the mean of gradients.
    pub beta1: f32,
    /// The decay of the mean of squared gradients.
    pub beta2: f32,
    /// What is added to the root of the mean of squares.
    pub eps: f32,
    /// The weight decay of the tensors that decay.
    pub decay: f32,
    /// Whether the means are corrected for their start at zero. Google's BERT code does not do so.
    pub bias_correction: bool,
    /// Gradients with a larger global norm are scaled down to this one; infinity turns clipping
    /// off.
    pub clip: f32,
}

impl Default for AdamW {
    fn default() -> AdamW {
        AdamW { beta1: 0.9, beta2: 0.999, eps: 1e-8, decay: 0.01, bias_correction: true, clip: 1.0 }
    }
}

impl AdamW {
    /// The optimiser of Google's BERT code, which the released UNION code uses: eps is 1e-6, and
    /// there is no bias correction.
    pub fn bert() -> AdamW {
        AdamW { eps: 1e-6, bias_correction: false, ..AdamW::default() }
    }
}

/// Training ends with an error when so many steps in a row were skipped because their gradients
/// were not finite. A single such step may be an odd batch; so many are a network that has left the
/// range of its numbers.
pub const MOST_SKIPPED: u64 = 20;

/// AdamW: its settings, and how many steps it has taken. The means of the gradients are kept with
/// the weights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Optimiser {
    settings: AdamW,
    steps: u64,
}

/// The state of an optimiser, on the host.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OptimiserState {
    /// The number of steps taken.
    pub steps: u64,
    /// Those among them that were skipped.
    pub skipped: Skipped,
    /// The mean of the gradient and the mean of its square for each tensor: first those of the
    /// encoder, then those of the heads.
    pub means: Vec<(Vec<f32>, Vec<f32>)>,
}

impl Optimiser {
    /// Makes an optimiser before its first step.
    pub fn new(settings: AdamW) -> Optimiser {
        Optimiser { settings, steps: 0 }
    }

    /// Makes an optimiser that goes on where a run stopped.
    ///
    /// # Errors
    /// Returns an error if the state belongs to other tensors, or if the device fails.
    pub fn resume<B: Backend>(
        network: &mut Network<B>,
        settings: AdamW,
        state: &OptimiserState,
    ) -> Result<Optimiser> {
        if state.means.len() != network.tensor_count() {
            return Err(Error::Mismatch(
                "the optimiser's state has another number of tensors".into(),
            ));
        }
        for (tensor, (mean, square)) in state.means.iter().enumerate() {
            network.backend.write(&mut network.store, Part::Means, tensor, mean)?;
            network.backend.write(&mut network.store, Part::Squares, tensor, square)?;
        }
        network.backend.set_skipped(&mut network.store, state.skipped);
        Ok(Optimiser { settings, steps: state.steps })
    }

    /// Copies the state that a checkpoint must keep from the device.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn state<B: Backend>(&self, network: &Network<B>) -> Result<OptimiserState> {
        let read = |part, tensor| network.backend.read(&network.store, part, tensor);
        let means = (0..network.tensor_count())
            .map(|tensor| Ok((read(Part::Means, tensor)?, read(Part::Squares, tensor)?)))
            .collect::<Result<_>>()?;
        let (_, skipped) = network.backend.steps(&network.store)?;
        Ok(OptimiserState { steps: self.steps, skipped, means })
    }

    /// Takes one step with learning rate `rate` on all tensors of encoder and heads. If a gradient
    /// is not finite, nothing moves, and the step is counted as skipped ([`Network::steps`]).
    pub fn step<B: Backend>(&mut self, network: &mut Network<B>, rate: f32) {
        let AdamW { beta1, beta2, eps, decay, bias_correction, clip } = self.settings;
        self.steps += 1;
        let corrected = |beta: f32| match bias_correction {
            true => (1.0 - f64::from(beta).powf(self.steps as f64)) as f32,
            false => 1.0,
        };
        let (correction1, correction2) = (corrected(beta1), corrected(beta2));
        let step = AdamStep { rate, beta1, beta2, eps, decay, correction1, correction2, clip };
        network.backend.step(&mut network.store, step);
    }
}

/// The learning rate of step `step` (counted from 0) of `steps`. It rises from 0 over the first
/// `warm_up` steps, then falls in a straight line to 0 at the end.
pub fn warm_up_then_linear(peak: f32, step: u64, warm_up: u64, steps: u64) -> f32 {
    let part = if step < warm_up {
        step as f64 / warm_up as f64
    } else {
        steps.saturating_sub(step) as f64 / steps.saturating_sub(warm_up).max(1) as f64
    };
    (f64::from(peak) * part) as f32
}

#[cfg(test)]
mod tests {
    use super::warm_up_then_linear;

    #[test]
    fn the_rate_rises_to_its_peak_and_falls_to_zero() {
        let rates: Vec<f32> = (0..=10).map(|step| warm_up_then_linear(8.0, step, 2, 10)).collect();
        assert_eq!(rates, [0.0, 4.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]);
        assert_eq!(warm_up_then_linear(8.0, 0, 0, 4), 8.0);
        assert_eq!(warm_up_then_linear(8.0, 9, 0, 4), 0.0);
    }
}
