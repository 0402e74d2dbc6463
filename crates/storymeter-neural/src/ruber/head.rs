//! The head of the unreferenced score: how probable it is that a continuation belongs to a context
//! (Ghazarian et al. 2019, section 3.2; Tao et al. 2018, section "Unreferenced Metric").
//!
//! ```text
//! s = q^T M r    h = tanh(W [q; s; r] + b)    (l0, l1) = V h + c    u = e^l1 / (e^l0 + e^l1)
//! ```
//!
//! Here q is the vector of the context and r that of the continuation.

use std::borrow::Borrow;
use std::path::Path;

use rayon::prelude::*;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use storymeter_encoder::{PackedRows, Stream};

/// How many examples one task takes through the matrices.
const ROWS_TOGETHER: usize = 16;

/// The deviation of the first weights of M: a normal distribution, cut off after two deviations.
const BILINEAR_DEVIATION: f32 = 0.02;

/// The weights. Matrices are stored row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The number of columns of the vectors, n.
    pub width: usize,
    /// M: n rows of n numbers.
    pub bilinear: Vec<f32>,
    /// W: n rows of 2n + 1 numbers, for the context, the product and the continuation.
    pub dense: Vec<f32>,
    /// b: n numbers.
    pub dense_bias: Vec<f32>,
    /// V: two rows of n numbers.
    pub output: Vec<f32>,
    /// c: two numbers.
    pub output_bias: Vec<f32>,
}

impl Head {
    /// The names of the tensors in files.
    pub const NAMES: [&'static str; 5] =
        ["bilinear.weight", "dense.weight", "dense.bias", "output.weight", "output.bias"];

    /// A head with all weights 0.
    pub fn zeros(width: usize) -> Self {
        let zeros = |shape: Vec<usize>| vec![0.0; shape.iter().product()];
        let [bilinear, dense, dense_bias, output, output_bias] = shapes(width).map(zeros);
        Self { width, bilinear, dense, dense_bias, output, output_bias }
    }

    /// A head before training. M is drawn as in the reference; of W and V the sources say nothing,
    /// and they are drawn uniformly with the variance of Glorot and Bengio (2010). Biases are 0.
    pub fn random(width: usize, stream: Stream) -> Self {
        let mut head = Self::zeros(width);
        let (normal, dense, output) = (stream.child(0), stream.child(1), stream.child(2));
        for (at, weight) in head.bilinear.iter_mut().enumerate() {
            let draws = (0u64..).map(|again| normal.child(again).normal(at as u64));
            *weight = BILINEAR_DEVIATION * draws.take(64).find(|x| x.abs() <= 2.0).unwrap_or(0.0);
        }
        let glorot = |weights: &mut [f32], stream: Stream, inputs: usize, outputs: usize| {
            let limit = (6.0 / (inputs + outputs) as f32).sqrt();
            for (at, weight) in weights.iter_mut().enumerate() {
                *weight = limit * (2.0 * stream.uniform(at as u64) - 1.0);
            }
        };
        glorot(&mut head.dense, dense, 2 * width + 1, width);
        glorot(&mut head.output, output, width, 2);
        head
    }

    /// The tensors in the order of [`Head::NAMES`].
    pub fn tensors(&self) -> [&[f32]; 5] {
        [&self.bilinear, &self.dense, &self.dense_bias, &self.output, &self.output_bias]
    }

    /// The tensors in the order of [`Head::NAMES`].
    pub fn tensors_mut(&mut self) -> [&mut [f32]; 5] {
        [
            &mut self.bilinear,
            &mut self.dense,
            &mut self.dense_bias,
            &mut self.output,
            &mut self.output_bias,
        ]
    }

    /// The head as the bytes of a file (safetensors).
    ///
    /// # Errors
    /// Returns an error if the file cannot be made, with what its writer says.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let bytes = self.tensors().map(|tensor| {
            tensor.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>()
        });
        let mut views = Vec::new();
        for ((name, shape), bytes) in Self::NAMES.iter().zip(shapes(self.width)).zip(&bytes) {
            let view = TensorView::new(Dtype::F32, shape, bytes);
            views.push((*name, view.map_err(|error| error.to_string())?));
        }
        safetensors::serialize(views, None).map_err(|error| error.to_string())
    }

    /// Reads a head for vectors of this width. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a file, or a tensor is missing, has another shape
    /// or holds a number that is not finite.
    pub fn from_bytes(path: &Path, bytes: &[u8], width: usize) -> Result<Self, String> {
        let wrong = |problem: String| format!("{}: {problem}", path.display());
        let file = SafeTensors::deserialize(bytes).map_err(|error| wrong(error.to_string()))?;
        let mut head = Self::zeros(width);
        for ((name, shape), to) in Self::NAMES.iter().zip(shapes(width)).zip(head.tensors_mut()) {
            let tensor = file.tensor(name).map_err(|error| wrong(error.to_string()))?;
            if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
                return Err(wrong(format!(
                    "{name} has the shape {:?}, but the encoder needs {shape:?}",
                    tensor.shape()
                )));
            }
            for (to, bytes) in to.iter_mut().zip(tensor.data().as_chunks::<4>().0) {
                *to = f32::from_le_bytes(*bytes);
            }
            if !to.iter().all(|number| number.is_finite()) {
                return Err(wrong(format!("{name} has a number that is not finite")));
            }
        }
        Ok(head)
    }
}

/// The shapes of the tensors.
fn shapes(width: usize) -> [Vec<usize>; 5] {
    [vec![width, width], vec![width, 2 * width + 1], vec![width], vec![2, width], vec![2]]
}

/// A head that is ready to compute: its matrices are laid out for many examples. A metric keeps
/// one of these; training lays out the weights of every step anew.
pub struct ReadyHead<H> {
    head: H,
    bilinear: PackedRows,
    dense: PackedRows,
}

/// What the head computes of some examples, one row per example.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forward {
    /// `[q; s; r]`.
    pub features: Vec<f32>,
    /// h.
    pub hidden: Vec<f32>,
    /// l0 and l1.
    pub logits: Vec<[f32; 2]>,
}

impl Forward {
    /// The score u of an example: the probability that its continuation is the true one.
    pub fn probability(&self, example: usize) -> f64 {
        let [wrong, right] = self.logits[example].map(f64::from);
        1.0 / (1.0 + (wrong - right).exp())
    }
}

impl<H: Borrow<Head> + Sync> ReadyHead<H> {
    /// Lays out the matrices of a head.
    pub fn new(head: H) -> Self {
        let Head { width, bilinear, dense, .. } = head.borrow();
        let (bilinear, dense) = rayon::join(
            || PackedRows::new(bilinear, *width),
            || PackedRows::new(dense, 2 * width + 1),
        );
        Self { head, bilinear, dense }
    }

    /// Computes examples, given as rows of contexts and of continuations. A row does not depend on
    /// the others.
    ///
    /// # Panics
    /// If the rows are not whole, or there is not one continuation per context.
    pub fn forward(&self, contexts: &[f32], continuations: &[f32]) -> Forward {
        let Head { width, dense_bias, output, output_bias, .. } = self.head.borrow();
        let (width, wide) = (*width, 2 * width + 1);
        assert!(contexts.len() == continuations.len() && contexts.len().is_multiple_of(width));
        let examples = contexts.len() / width;
        let mut forward = Forward {
            features: vec![0.0; examples * wide],
            hidden: vec![0.0; examples * width],
            logits: vec![[0.0; 2]; examples],
        };
        let some = ROWS_TOGETHER * width;
        let parts = forward
            .features
            .par_chunks_mut(ROWS_TOGETHER * wide)
            .zip(forward.hidden.par_chunks_mut(some))
            .zip(forward.logits.par_chunks_mut(ROWS_TOGETHER))
            .zip(contexts.par_chunks(some).zip(continuations.par_chunks(some)));
        parts.for_each(|(((features, hidden), logits), (contexts, continuations))| {
            // M r goes where h will be.
            self.bilinear.products(continuations, hidden);
            let rows = contexts.chunks_exact(width).zip(continuations.chunks_exact(width));
            for ((row, (q, r)), product) in
                features.chunks_exact_mut(wide).zip(rows).zip(hidden.chunks_exact(width))
            {
                row[..width].copy_from_slice(q);
                row[width] = dot(q, product) as f32;
                row[width + 1..].copy_from_slice(r);
            }
            self.dense.products(features, hidden);
            for (hidden, logits) in hidden.chunks_exact_mut(width).zip(logits) {
                hidden.iter_mut().zip(dense_bias).for_each(|(h, b)| *h = (*h + b).tanh());
                for (class, logit) in logits.iter_mut().enumerate() {
                    let sum = dot(hidden, &output[class * width..][..width]);
                    *logit = (sum + f64::from(output_bias[class])) as f32;
                }
            }
        });
        forward
    }
}

/// The product of two vectors, summed in double precision.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_the_one_of_the_paper() {
        let head = Head {
            width: 2,
            bilinear: vec![1.0, 2.0, 0.0, -1.0],
            dense: vec![0.1, 0.2, 0.3, 0.4, 0.5, -0.1, 0.0, 0.2, 0.1, -0.3],
            dense_bias: vec![0.05, -0.05],
            output: vec![1.0, -1.0, 0.5, 2.0],
            output_bias: vec![0.0, 0.25],
        };
        let (q, r) = ([1.0, -0.5], [0.5, 1.5]);
        let s = (0.5 + 2.0 * 1.5) - 0.5 * -1.5;
        let h0 = f64::tanh(0.1 - 0.1 + 0.3 * s + 0.4 * 0.5 + 0.5 * 1.5 + 0.05);
        let h1 = f64::tanh(-0.1 + 0.2 * s + 0.1 * 0.5 - 0.3 * 1.5 - 0.05);
        let (l0, l1) = (h0 - h1, 0.5 * h0 + 2.0 * h1 + 0.25);
        let forward = ReadyHead::new(&head).forward(&q, &r);
        let expected = l1.exp() / (l0.exp() + l1.exp());
        assert!((forward.probability(0) - expected).abs() < 1e-6);
    }

    #[test]
    fn a_row_does_not_depend_on_the_others_and_files_keep_every_bit() {
        let head = Head::random(24, Stream::new(3));
        let numbers = |seed| (0..40 * 24).map(|i| Stream::new(seed).normal(i)).collect::<Vec<_>>();
        let (q, r) = (numbers(1), numbers(2));
        let ready = ReadyHead::new(&head);
        let all = ready.forward(&q, &r);
        for example in [0, 15, 16, 39] {
            let (q, r) = (&q[example * 24..][..24], &r[example * 24..][..24]);
            assert_eq!(ready.forward(q, r).logits[0], all.logits[example]);
        }
        let path = Path::new("ruber.safetensors");
        let bytes = head.to_bytes().unwrap();
        assert_eq!(Head::from_bytes(path, &bytes, 24), Ok(head));
        let other = Head::from_bytes(path, &bytes, 25).expect_err("another width");
        assert!(other.contains("bilinear.weight has the shape [24, 24]"), "{other}");
    }

    #[test]
    fn the_first_weights_have_the_spread_they_should() {
        let head = Head::random(64, Stream::new(7));
        let most = |weights: &[f32]| weights.iter().fold(0f32, |most, w| most.max(w.abs()));
        assert!((0.035..=0.04).contains(&most(&head.bilinear)), "{}", most(&head.bilinear));
        let limit = (6.0f32 / (129.0 + 64.0)).sqrt();
        assert!(most(&head.dense) <= limit && most(&head.dense) > 0.95 * limit);
        assert_eq!(most(&head.dense_bias), 0.0);
    }
}
