//! AdamW with decay groups, clipping by the global norm, and the learning rate's way up and down.

use super::backend::{AdamStep, Backend};

/// The settings of AdamW.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdamW {
    /// Decay of the mean of gradients.
    pub beta1: f32,
    /// Decay of the mean of squared gradients.
    pub beta2: f32,
    /// Added to the root of the mean of squares.
    pub eps: f32,
    /// Weight decay of the tensors it applies to.
    pub decay: f32,
    /// Whether the means are corrected for their start at zero. Google's BERT code does not.
    pub bias_correction: bool,
    /// Gradients with a larger global norm are scaled down to it; infinity turns clipping off.
    pub clip: f32,
}

impl Default for AdamW {
    fn default() -> AdamW {
        AdamW { beta1: 0.9, beta2: 0.999, eps: 1e-8, decay: 0.01, bias_correction: true, clip: 1.0 }
    }
}

impl AdamW {
    /// The optimiser of Google's BERT code, which the released UNION code uses: eps 1e-6, no bias correction.
    pub fn bert() -> AdamW {
        AdamW { eps: 1e-6, bias_correction: false, ..AdamW::default() }
    }
}

/// The state of AdamW: two means for every tensor, in the order the tensors are given.
pub struct Optimiser<B: Backend> {
    settings: AdamW,
    steps: u64,
    means: Vec<(B::Buffer, B::Buffer)>,
}

/// Where an optimiser is, on the host.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OptimiserState {
    /// Steps taken.
    pub steps: u64,
    /// Mean of the gradient and mean of its square, tensor by tensor.
    pub means: Vec<(Vec<f32>, Vec<f32>)>,
}

impl<B: Backend> Optimiser<B> {
    /// Before the first step.
    pub fn new(settings: AdamW) -> Optimiser<B> {
        Optimiser { settings, steps: 0, means: Vec::new() }
    }

    /// Back where a run stopped.
    pub fn resume(backend: &B, settings: AdamW, state: &OptimiserState) -> Optimiser<B> {
        let upload = |(mean, square): &(Vec<f32>, Vec<f32>)| (backend.upload(mean), backend.upload(square));
        Optimiser { settings, steps: state.steps, means: state.means.iter().map(upload).collect() }
    }

    /// What a checkpoint must keep.
    pub fn state(&self, backend: &B) -> OptimiserState {
        let download =
            |(mean, square): &(B::Buffer, B::Buffer)| (backend.download(mean), backend.download(square));
        OptimiserState { steps: self.steps, means: self.means.iter().map(download).collect() }
    }

    /// One step at learning rate `rate` over all tensors (weights, gradient, whether weight decay applies), which must
    /// come in the same order every time. Returns the gradients' global norm before clipping.
    pub fn step<'a>(
        &mut self,
        backend: &B,
        rate: f32,
        tensors: impl Iterator<Item = (&'a mut B::Buffer, &'a B::Buffer, bool)>,
    ) -> f64
    where
        B: 'a,
    {
        let tensors: Vec<_> = tensors.collect();
        let norm = tensors.iter().map(|(_, gradient, _)| backend.square_sum(gradient)).sum::<f64>().sqrt();
        let settings = self.settings;
        self.steps += 1;
        let corrected = |beta: f32| match settings.bias_correction {
            true => (1.0 - f64::from(beta).powf(self.steps as f64)) as f32,
            false => 1.0,
        };
        for (place, (weights, gradient, decays)) in tensors.into_iter().enumerate() {
            if place == self.means.len() {
                let zeros = || {
                    let mut zeros = backend.copy(gradient);
                    backend.clear(&mut zeros);
                    zeros
                };
                self.means.push((zeros(), zeros()));
            }
            let step = AdamStep {
                rate,
                beta1: settings.beta1,
                beta2: settings.beta2,
                eps: settings.eps,
                decay: if decays { settings.decay } else { 0.0 },
                correction1: corrected(settings.beta1),
                correction2: corrected(settings.beta2),
                clip: (f64::from(settings.clip) / norm.max(f64::MIN_POSITIVE)).min(1.0) as f32,
            };
            let (mean, square) = &mut self.means[place];
            backend.adam(weights, gradient, mean, square, step);
        }
        norm
    }
}

/// The learning rate of step `step` (from 0) of `steps`: up from 0 over the first `warm_up` steps, then straight
/// down to 0 at the end.
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
