//! Gradients compared with finite differences.

use storymeter_encoder::Stream;
use storymeter_encoder::train::{Backend, Cpu, CpuStore, Given, Part};

/// Compares the derivative along random directions with the difference of two values close by.
///
/// `f` is a function of several inputs, and `gradients` are those of `sum(cotangent * f)`.
pub fn check(
    name: &str,
    inputs: &[Vec<f32>],
    f: impl Fn(&[Vec<f32>]) -> Vec<f32>,
    gradients: impl Fn(&[Vec<f32>], &[f32]) -> Vec<Vec<f32>>,
) {
    let cotangent = numbers(f(inputs).len(), 99);
    let value = |inputs: &[Vec<f32>]| -> f64 {
        f(inputs).iter().zip(&cotangent).map(|(v, c)| f64::from(*v) * f64::from(*c)).sum()
    };
    let found = gradients(inputs, &cotangent);
    assert_eq!(found.len(), inputs.len(), "{name}: a gradient an input");
    for (place, gradient) in found.iter().enumerate() {
        for seed in 0..3 {
            let direction = numbers(inputs[place].len(), 1000 + seed);
            let moved = |size: f32| {
                let mut inputs = inputs.to_vec();
                inputs[place].iter_mut().zip(&direction).for_each(|(x, d)| *x += size * d);
                value(&inputs)
            };
            // Two step sizes cancel the third-order term of the differences (Richardson).
            let difference = |size: f32| (moved(size) - moved(-size)) / (2.0 * f64::from(size));
            let expected = (4.0 * difference(0.005) - difference(0.01)) / 3.0;
            let got: f64 =
                gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
            let scale: f64 = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            assert!(
                (got - expected).abs() < 2e-3 * scale.max(0.1),
                "{name}, input {place}: {got} but the difference is {expected} (norm {scale})"
            );
        }
    }
}

pub fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let stream = Stream::new(seed);
    (0..count as u64).map(|i| 0.7 * stream.normal(i)).collect()
}

/// Puts tensors into the store of a network.
pub fn store(cpu: &Cpu, tensors: &[Vec<f32>]) -> CpuStore {
    let given: Vec<Given<'_>> = tensors.iter().map(|data| Given { data, decays: true }).collect();
    cpu.store(&given, &(0..tensors.len()).collect::<Vec<_>>()).unwrap()
}

/// All gradients of a store of `count` tensors.
pub fn gradients(cpu: &Cpu, store: &CpuStore, count: usize) -> Vec<Vec<f32>> {
    (0..count).map(|tensor| cpu.read(store, Part::Gradients, tensor).unwrap()).collect()
}

/// `first`, then the gradients of the store's tensors.
pub fn with_gradients(cpu: &Cpu, store: &CpuStore, count: usize, first: Vec<f32>) -> Vec<Vec<f32>> {
    std::iter::once(first).chain(gradients(cpu, store, count)).collect()
}
