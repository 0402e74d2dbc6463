//! Weights, gradients and the optimiser's means on the CPU, tensor by tensor.

use super::rows::{self, TASK_NUMBERS};
use crate::grid::{self, Rounded};
use crate::kernel::Isa;
use crate::train::backend::{AdamStep, Given, LOSSES, Linear, Part, Skipped};
use crate::{Error, Result};
use rayon::prelude::*;

/// The tensors of a network on the CPU.
#[derive(Clone, Debug)]
pub struct CpuStore {
    pub(super) weights: Vec<Vec<f32>>,
    pub(super) gradients: Vec<Vec<f32>>,
    pub(super) losses: [f64; LOSSES],
    means: Vec<Vec<f32>>,
    squares: Vec<Vec<f32>>,
    decays: Vec<bool>,
    /// The norm of the gradients at the last step.
    pub(super) norm: f64,
    pub(super) skipped: Skipped,
    /// The exact weights of the tensors that are rounded now.
    exact: Vec<(usize, Vec<f32>)>,
}

impl CpuStore {
    pub(super) fn new(tensors: &[Given<'_>]) -> CpuStore {
        let zeros = || tensors.iter().map(|tensor| vec![0.0; tensor.data.len()]).collect();
        CpuStore {
            weights: tensors.iter().map(|tensor| tensor.data.to_vec()).collect(),
            gradients: zeros(),
            losses: [0.0; LOSSES],
            means: zeros(),
            squares: zeros(),
            decays: tensors.iter().map(|tensor| tensor.decays).collect(),
            norm: 0.0,
            skipped: Skipped::default(),
            exact: Vec::new(),
        }
    }

    /// The bias of a linear map, which is empty if it has none.
    pub(super) fn bias(&self, map: Linear) -> &[f32] {
        map.bias.map_or(&[], |bias| &self.weights[bias])
    }

    fn part(&mut self, part: Part) -> &mut [Vec<f32>] {
        match part {
            Part::Weights => &mut self.weights,
            Part::Gradients => &mut self.gradients,
            Part::Means => &mut self.means,
            Part::Squares => &mut self.squares,
        }
    }

    pub(super) fn read(&self, part: Part, tensor: usize) -> Vec<f32> {
        let list = match part {
            Part::Weights => &self.weights,
            Part::Gradients => &self.gradients,
            Part::Means => &self.means,
            Part::Squares => &self.squares,
        };
        list[tensor].clone()
    }

    pub(super) fn write(&mut self, part: Part, tensor: usize, numbers: &[f32]) -> Result<()> {
        let old = &mut self.part(part)[tensor];
        if old.len() != numbers.len() {
            let problem =
                format!("tensor {tensor} has {} numbers, not {}", old.len(), numbers.len());
            return Err(Error::Mismatch(problem));
        }
        old.copy_from_slice(numbers);
        Ok(())
    }

    pub(super) fn round(&mut self, rounded: &[Rounded]) {
        for &Rounded { tensor, width, step } in rounded {
            self.exact.push((tensor, self.weights[tensor].clone()));
            grid::round(&mut self.weights[tensor], width, step);
        }
    }

    pub(super) fn restore(&mut self) {
        for (tensor, weights) in self.exact.drain(..) {
            self.weights[tensor] = weights;
        }
    }

    pub(super) fn step(&mut self, isa: Isa, step: AdamStep) {
        self.norm = self.gradients.iter().map(|gradient| square_sum(gradient)).sum::<f64>().sqrt();
        if !self.skipped.count(self.norm) {
            return;
        }
        let clip = (f64::from(step.clip) / self.norm.max(f64::MIN_POSITIVE)).min(1.0) as f32;
        let state = self.means.iter_mut().zip(&mut self.squares).zip(&self.decays);
        for ((w, g), ((m, v), &decays)) in self.weights.iter_mut().zip(&self.gradients).zip(state) {
            let step = AdamStep { decay: if decays { step.decay } else { 0.0 }, clip, ..step };
            w.par_chunks_mut(TASK_NUMBERS)
                .zip(g.par_chunks(TASK_NUMBERS))
                .zip(m.par_chunks_mut(TASK_NUMBERS))
                .zip(v.par_chunks_mut(TASK_NUMBERS))
                .for_each(|(((w, g), m), v)| rows::adam(isa, w, g, m, v, step));
        }
    }
}

fn square_sum(x: &[f32]) -> f64 {
    let parts: Vec<f64> = x
        .par_chunks(TASK_NUMBERS)
        .map(|part| part.iter().map(|v| f64::from(*v) * f64::from(*v)).sum())
        .collect();
    parts.iter().sum()
}
