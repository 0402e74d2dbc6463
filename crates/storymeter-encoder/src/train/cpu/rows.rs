//! The operations that are not matrix products, forward and backward: row by row, or number by
//! number.

use crate::kernel::math::{self, Activation};
use crate::kernel::steps::{self, fold, moments, sum};
use crate::kernel::{Isa, vectorised};
use crate::train::backend::{AdamStep, Dropout};
use rayon::prelude::*;

/// The number of rows of one task. Column sums are added up task by task in order, so that this
/// number changes the last bits of the result and must not depend on the number of threads.
pub(super) const TASK_ROWS: usize = 64;

/// The number of numbers of one task where rows do not matter.
pub(super) const TASK_NUMBERS: usize = 16 * 1024;

/// Adds the sum of each column of `x` to `sums`.
pub(super) fn add_column_sums(isa: Isa, x: &[f32], sums: &mut [f32]) {
    let width = sums.len();
    let parts: Vec<Vec<f32>> = x
        .par_chunks(TASK_ROWS * width)
        .map(|rows| {
            let mut part = vec![0.0; width];
            for row in rows.chunks_exact(width) {
                add_to(isa, &mut part, row);
            }
            part
        })
        .collect();
    for part in &parts {
        add_to(isa, sums, part);
    }
}

vectorised! {
    /// `to += what`.
    pub(super) fn add_to(to: &mut [f32], what: &[f32]) {
        for (to, &w) in to.iter_mut().zip(what) {
            *to += w;
        }
    }
}

vectorised! {
    /// Layer norm backward over rows. `d_gain` and `d_shift` get the sums of this task.
    pub(super) fn norm_rows_backward(
        x: &[f32],
        gain: &[f32],
        eps: f32,
        d_out: &[f32],
        d_x: &mut [f32],
        d_gain: &mut [f32],
        d_shift: &mut [f32],
    ) {
        let width = gain.len();
        let given = x.chunks_exact(width).zip(d_out.chunks_exact(width));
        let rows = given.zip(d_x.chunks_exact_mut(width));
        for ((x, d_out), d_x) in rows {
            let (mean, scale) = moments(x, eps);
            for i in 0..width {
                d_gain[i] += d_out[i] * ((x[i] - mean) * scale);
                d_shift[i] += d_out[i];
                d_x[i] = d_out[i] * gain[i];
            }
            // With g = d_out * gain and n the normalised row: d_x = scale * (g - mean(g) - n *
            // mean(g * n)).
            let g_mean = sum(d_x) / width as f32;
            let mut lanes = [0f32; 16];
            for (i, (&g, &x)) in d_x.iter().zip(x).enumerate() {
                lanes[i % 16] += g * ((x - mean) * scale);
            }
            let n_mean = sum(&lanes) / width as f32;
            for (d, &x) in d_x.iter_mut().zip(x) {
                *d = scale * (*d - g_mean - (x - mean) * scale * n_mean);
            }
        }
    }
}

vectorised! {
    /// RMS norm backward over rows. `d_gain` gets the sums of this task.
    pub(super) fn rms_rows_backward(
        x: &[f32],
        gain: &[f32],
        eps: f32,
        d_out: &[f32],
        d_x: &mut [f32],
        d_gain: &mut [f32],
    ) {
        let width = gain.len();
        let given = x.chunks_exact(width).zip(d_out.chunks_exact(width));
        for ((x, d_out), d_x) in given.zip(d_x.chunks_exact_mut(width)) {
            let squares = fold(x, 0.0, |s, v| s + v * v, |a, b| a + b);
            let scale = 1.0 / (squares / width as f32 + eps).sqrt();
            for i in 0..width {
                d_gain[i] += d_out[i] * x[i] * scale;
                d_x[i] = d_out[i] * gain[i];
            }
            // With g = d_out * gain and n = x * scale: d_x = scale * (g - n * mean(g * n)).
            let mut lanes = [0f32; 16];
            for (i, (&g, &x)) in d_x.iter().zip(x).enumerate() {
                lanes[i % 16] += g * x * scale;
            }
            let n_mean = sum(&lanes) / width as f32;
            for (d, &x) in d_x.iter_mut().zip(x) {
                *d = scale * (*d - x * scale * n_mean);
            }
        }
    }
}

vectorised! {
    /// Multiplies number by number.
    pub(super) fn multiply(to: &mut [f32], factors: &[f32]) {
        to.iter_mut().zip(factors).for_each(|(to, factor)| *to *= factor);
    }
}

vectorised! {
    /// Applies the activation to every number.
    pub(super) fn activate(x: &mut [f32], activation: Activation) {
        steps::activate(x, activation);
    }
}

vectorised! {
    /// Multiplies `d` with the derivative of the activation at `x`.
    pub(super) fn activate_backward(x: &[f32], activation: Activation, d: &mut [f32]) {
        let pairs = d.iter_mut().zip(x);
        match activation {
            Activation::GeluErf => pairs.for_each(|(d, &x)| *d *= math::gelu_erf_slope(x)),
            Activation::GeluTanh => pairs.for_each(|(d, &x)| *d *= math::gelu_tanh_slope(x)),
            Activation::Relu => pairs.for_each(|(d, &x)| *d *= if x > 0.0 { 1.0 } else { 0.0 }),
            Activation::Silu => pairs.for_each(|(d, &x)| *d *= math::silu_slope(x)),
            Activation::Tanh => pairs.for_each(|(d, &x)| *d *= math::tanh_slope(x)),
        }
    }
}

vectorised! {
    /// Applies dropout. The first number has place `first` in the whole buffer.
    pub(super) fn drop_out(x: &mut [f32], first: u64, dropout: Dropout) {
        for (i, x) in x.iter_mut().enumerate() {
            *x *= dropout.factor(first + i as u64);
        }
    }
}

vectorised! {
    /// The softmax cross-entropy of rows of logits, which become their gradient. `losses` gets one
    /// number per row.
    pub(super) fn cross_entropy_rows(
        logits: &mut [f32],
        width: usize,
        targets: &[u32],
        weights: &[f32],
        losses: &mut [f32],
    ) {
        for (r, row) in logits.chunks_exact_mut(width).enumerate() {
            let top = row.iter().fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
            let wanted = row[targets[r] as usize] - top;
            row.iter_mut().for_each(|v| *v = math::exp(*v - top));
            let total = sum(row);
            losses[r] = weights[r] * (total.ln() - wanted);
            let factor = weights[r] / total;
            row.iter_mut().for_each(|v| *v *= factor);
            row[targets[r] as usize] -= weights[r];
        }
    }
}

vectorised! {
    /// Takes one step of AdamW.
    pub(super) fn adam(
        weights: &mut [f32],
        gradient: &[f32],
        mean: &mut [f32],
        square: &mut [f32],
        step: AdamStep,
    ) {
        let AdamStep { rate, beta1, beta2, eps, decay, correction1, correction2, clip } = step;
        let state = mean.iter_mut().zip(square);
        for ((w, &g), (m, v)) in weights.iter_mut().zip(gradient).zip(state) {
            let g = g * clip;
            *m = beta1 * *m + (1.0 - beta1) * g;
            *v = beta2 * *v + (1.0 - beta2) * g * g;
            *w -= rate * decay * *w;
            *w -= rate * (*m / correction1) / ((*v / correction2).sqrt() + eps);
        }
    }
}
