//! Forward and backward passes of the head, and Adam.
//!
//! All sums have a fixed order, so that a run gives the same bytes for any number of threads.

use rayon::prelude::*;
use storymeter_encoder::PackedRows;
use storymeter_neural::ruber::{Head, ReadyHead};

/// The rows of a gradient that one task computes, and the numbers that one task of Adam updates.
const TASK_ROWS: usize = 48;
const TASK_NUMBERS: usize = 1 << 14;

/// The settings of Adam (Kingma and Ba 2015).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamSettings {
    /// The learning rate.
    pub rate: f32,
    /// The decay of the mean of gradients.
    pub beta1: f32,
    /// The decay of the mean of squared gradients.
    pub beta2: f32,
    /// What is added to the root of the mean of squares.
    pub eps: f32,
    /// Gradients with a larger global norm are scaled down to this one.
    pub clip: f64,
}

impl Default for AdamSettings {
    fn default() -> Self {
        Self { rate: 1e-4, beta1: 0.9, beta2: 0.999, eps: 1e-8, clip: 5.0 }
    }
}

/// A head that learns.
#[derive(Debug, Clone)]
pub struct Learner {
    head: Head,
    means: Head,
    squares: Head,
    adam: AdamSettings,
    steps: i32,
}

impl Learner {
    /// A learner before its first step.
    pub fn new(head: Head, adam: AdamSettings) -> Self {
        let zeros = Head::zeros(head.width);
        Self { head, means: zeros.clone(), squares: zeros, adam, steps: 0 }
    }

    /// The head as it is now.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Takes one step on a batch, and returns its mean loss before the step.
    pub fn learn(&mut self, contexts: &[f32], continuations: &[f32], labels: &[bool]) -> f64 {
        let (loss, gradients) = gradients(&self.head, contexts, continuations, labels);
        self.step(&gradients);
        loss
    }

    fn step(&mut self, gradients: &Head) {
        self.steps = self.steps.saturating_add(1);
        let AdamSettings { rate, beta1, beta2, eps, clip } = self.adam;
        let norm = gradients.tensors().iter().map(|tensor| square_sum(tensor)).sum::<f64>().sqrt();
        let scale = (clip / norm.max(f64::MIN_POSITIVE)).min(1.0) as f32;
        let correction = |beta: f32| (1.0 - f64::from(beta).powi(self.steps)) as f32;
        let (correction1, correction2) = (correction(beta1), correction(beta2));
        let state = self.means.tensors_mut().into_iter().zip(self.squares.tensors_mut());
        let weights = self.head.tensors_mut().into_iter().zip(gradients.tensors());
        for ((weights, gradient), (means, squares)) in weights.zip(state) {
            weights
                .par_chunks_mut(TASK_NUMBERS)
                .zip(gradient.par_chunks(TASK_NUMBERS))
                .zip(means.par_chunks_mut(TASK_NUMBERS))
                .zip(squares.par_chunks_mut(TASK_NUMBERS))
                .for_each(|(((weights, gradient), means), squares)| {
                    let numbers = weights.iter_mut().zip(gradient).zip(means).zip(squares);
                    for (((weight, gradient), mean), square) in numbers {
                        let gradient = scale * gradient;
                        *mean = beta1 * *mean + (1.0 - beta1) * gradient;
                        *square = beta2 * *square + (1.0 - beta2) * gradient * gradient;
                        let size = (*square / correction2).sqrt() + eps;
                        *weight -= rate * (*mean / correction1) / size;
                    }
                });
        }
    }
}

/// The cross-entropy of one example.
pub(super) fn loss(logits: [f32; 2], label: bool) -> f64 {
    let [wrong, right] = logits.map(f64::from);
    let margin = if label { right - wrong } else { wrong - right };
    // ln(1 + e^-m) without overflow.
    if margin > 0.0 { (-margin).exp().ln_1p() } else { margin.exp().ln_1p() - margin }
}

/// The mean loss of a batch, and its gradients in the shape of the head.
fn gradients(head: &Head, contexts: &[f32], continuations: &[f32], labels: &[bool]) -> (f64, Head) {
    let (width, wide, batch) = (head.width, 2 * head.width + 1, labels.len());
    let forward = ReadyHead::new(head).forward(contexts, continuations);
    let mut found = Head::zeros(width);
    let mut total = 0.0;
    // The gradient of the sum W [q; s; r] + b of each example, and that of s.
    let mut d_sum = vec![0.0f32; batch * width];
    let mut d_product = vec![0.0f32; batch];
    for (example, (&logits, &label)) in forward.logits.iter().zip(labels).enumerate() {
        total += loss(logits, label);
        let probability = forward.probability(example);
        let d_right = ((probability - f64::from(u8::from(label))) / batch as f64) as f32;
        let d_logits = [-d_right, d_right];
        let hidden = &forward.hidden[example * width..][..width];
        let d_sum = &mut d_sum[example * width..][..width];
        for (class, d_logit) in d_logits.into_iter().enumerate() {
            found.output_bias[class] += d_logit;
            let weights = &head.output[class * width..][..width];
            let d_weights = &mut found.output[class * width..][..width];
            for ((d_weight, d_hidden), (weight, h)) in
                d_weights.iter_mut().zip(d_sum.iter_mut()).zip(weights.iter().zip(hidden))
            {
                *d_weight += d_logit * h;
                *d_hidden += d_logit * weight;
            }
        }
        let mut sum = 0.0;
        for (unit, (d, h)) in d_sum.iter_mut().zip(hidden).enumerate() {
            *d *= 1.0 - h * h;
            found.dense_bias[unit] += *d;
            sum += f64::from(*d) * f64::from(head.dense[unit * wide + width]);
        }
        d_product[example] = sum as f32;
    }
    let scaled: Vec<f32> = contexts
        .chunks_exact(width)
        .zip(&d_product)
        .flat_map(|(row, d)| row.iter().map(move |x| d * x))
        .collect();
    outer(&d_sum, width, &forward.features, wide, batch, &mut found.dense);
    outer(&scaled, width, continuations, width, batch, &mut found.bilinear);
    (total / batch as f64, found)
}

/// The sum over examples of the outer products of their rows: `out[i][j] = sum a[e][i] b[e][j]`.
fn outer(a: &[f32], rows: usize, b: &[f32], columns: usize, batch: usize, out: &mut [f32]) {
    let left = transposed(a, batch, rows);
    let right = PackedRows::new(&transposed(b, batch, columns), batch);
    left.par_chunks(TASK_ROWS * batch)
        .zip(out.par_chunks_mut(TASK_ROWS * columns))
        .for_each(|(left, out)| right.products(left, out));
}

fn transposed(x: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    for (i, row) in x.chunks_exact(columns).enumerate() {
        row.iter().enumerate().for_each(|(j, &v)| out[j * rows + i] = v);
    }
    out
}

/// The sum of squares, part by part.
fn square_sum(x: &[f32]) -> f64 {
    let parts: Vec<f64> = x
        .par_chunks(TASK_NUMBERS)
        .map(|part| part.iter().map(|v| f64::from(*v) * f64::from(*v)).sum())
        .collect();
    parts.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_encoder::Stream;

    const WIDTH: usize = 6;

    fn batch() -> (Vec<f32>, Vec<f32>, Vec<bool>) {
        let numbers = |seed| (0..5 * WIDTH as u64).map(|i| Stream::new(seed).normal(i)).collect();
        (numbers(1), numbers(2), vec![true, false, false, true, true])
    }

    /// A head with weights so large that all parts matter.
    fn head() -> Head {
        let mut head = Head::random(WIDTH, Stream::new(5));
        for (tensor, numbers) in head.tensors_mut().into_iter().enumerate() {
            let stream = Stream::new(9).child(tensor as u64);
            let draws = (0u64..).map(|i| 0.4 * stream.normal(i));
            numbers.iter_mut().zip(draws).for_each(|(number, draw)| *number = draw);
        }
        head
    }

    /// The mean loss in double precision, straight from the formulas.
    fn exact_loss(head: &Head, contexts: &[f32], continuations: &[f32], labels: &[bool]) -> f64 {
        let rows = contexts.chunks(WIDTH).zip(continuations.chunks(WIDTH)).zip(labels);
        let losses = rows.map(|((q, r), &label)| {
            let number = |x: &f32| f64::from(*x);
            let q: Vec<f64> = q.iter().map(number).collect();
            let r: Vec<f64> = r.iter().map(number).collect();
            let dot =
                |a: &[f64], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * number(b)).sum::<f64>();
            let s: f64 = (0..WIDTH).map(|i| q[i] * dot(&r, &head.bilinear[i * WIDTH..])).sum();
            let features = [&q[..], &[s], &r[..]].concat();
            let wide = features.len();
            let unit =
                |i: usize| dot(&features, &head.dense[i * wide..]) + number(&head.dense_bias[i]);
            let hidden: Vec<f64> = (0..WIDTH).map(|i| unit(i).tanh()).collect();
            let logit =
                |c: usize| dot(&hidden, &head.output[c * WIDTH..]) + number(&head.output_bias[c]);
            let margin = if label { logit(1) - logit(0) } else { logit(0) - logit(1) };
            (-margin).exp().ln_1p()
        });
        losses.sum::<f64>() / labels.len() as f64
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let (contexts, continuations, labels) = batch();
        let head = head();
        let (loss, found) = gradients(&head, &contexts, &continuations, &labels);
        assert!((loss - exact_loss(&head, &contexts, &continuations, &labels)).abs() < 1e-6);
        for (tensor, gradient) in found.tensors().into_iter().enumerate() {
            for (at, &gradient) in gradient.iter().enumerate() {
                let moved = |by: f32| {
                    let mut head = head.clone();
                    head.tensors_mut()[tensor][at] += by;
                    exact_loss(&head, &contexts, &continuations, &labels)
                };
                let slope = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                assert!(
                    (slope - f64::from(gradient)).abs() < 2e-5,
                    "{} {at}: {gradient} is not {slope}",
                    Head::NAMES[tensor]
                );
            }
        }
    }

    #[test]
    fn a_head_learns_a_batch_by_heart_with_any_number_of_threads() {
        let (contexts, continuations, labels) = batch();
        let learn = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let adam = AdamSettings { rate: 1e-2, ..AdamSettings::default() };
                let mut learner = Learner::new(Head::random(WIDTH, Stream::new(5)), adam);
                let losses: Vec<f64> =
                    (0..200).map(|_| learner.learn(&contexts, &continuations, &labels)).collect();
                (losses, learner.head)
            })
        };
        let (losses, head) = learn(1);
        assert!((losses[0] - 2f64.ln()).abs() < 0.5 && losses[199] < 0.02, "{losses:?}");
        assert_eq!(learn(3), (losses, head));
    }

    #[test]
    fn a_loss_never_overflows() {
        assert_eq!(loss([1000.0, -1000.0], true), 2000.0);
        assert_eq!(loss([1000.0, -1000.0], false), 0.0);
        assert_eq!(loss([0.0, 0.0], true), 2f64.ln());
    }
}
