//! The functions of one number that the network needs, written so that the compiler turns loops over them into
//! vector code. Only `+ - * /`, comparisons and bit moves: the same bytes on every instruction level.

/// The non-linear step of the feed-forward part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    /// GELU by the error function, the default of BERT in Hugging Face's configuration (`gelu`).
    GeluErf,
    /// GELU by the hyperbolic tangent, as in Google's BERT code (`gelu_new`, `gelu_pytorch_tanh`).
    GeluTanh,
    /// Rectified linear (`relu`).
    Relu,
}

/// `e^x`, relative error about 1e-7 within the range of `f32`; clamped to it.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // As `clamp`, and like it lets NaN through, but one instruction each.
    exp_down(if x > 88.0 { 88.0 } else { x })
}

/// The same for `x` of at most 88: softmax and the error function need no more.
#[inline(always)]
pub(crate) fn exp_down(x: f32) -> f32 {
    // Adding 1.5 * 2^23 leaves the nearest integer in the low bits: no slow conversion.
    const MAGIC: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let n = shifted - MAGIC;
    // x = n ln 2 + r, with ln 2 in two parts so that r keeps its digits.
    let r = (x - n * 0.693_359_4) + n * 2.121_944_4e-4;
    let p = r * (0.041_666_64 + r * (0.008_333_222 + r * 0.001_393_043_6));
    let p = 1.0 + r * (1.0 + r * (0.5 + r * (0.166_666_67 + p)));
    let power = (shifted.to_bits() as i32).wrapping_sub(MAGIC.to_bits() as i32).wrapping_add(127);
    p * f32::from_bits((power as u32) << 23)
}

/// The error function (Abramowitz and Stegun 7.1.26, absolute error 1.5e-7).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let z = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let p = t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4)));
    let p = t * (0.254_829_6 + p);
    (1.0 - p * exp_down(-z * z)).copysign(x)
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    // Near zero 1 - 2/(e^2x + 1) would lose its digits to cancellation: the series is exact enough there.
    let series = x * (1.0 - x * x * (1.0 / 3.0 - x * x * (2.0 / 15.0 - x * x * (17.0 / 315.0))));
    let exponential = 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
    if x.abs() < 0.2 { series } else { exponential }
}

/// `sqrt(2 / pi)` and the cubic term of the GELU of equation 2 of Hendrycks and Gimpel (2016).
const TANH_SCALE: f32 = 0.797_884_6;
const TANH_CUBE: f32 = 0.044_715;

#[inline(always)]
pub(crate) fn gelu_erf(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

#[inline(always)]
pub(crate) fn gelu_tanh(x: f32) -> f32 {
    0.5 * x * (1.0 + tanh(TANH_SCALE * (x + TANH_CUBE * x * x * x)))
}

/// The derivative of [`gelu_erf`]: the normal distribution function plus `x` times the normal density.
#[inline(always)]
pub(crate) fn gelu_erf_slope(x: f32) -> f32 {
    const DENSITY: f32 = 0.398_942_3;
    0.5 * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2)) + x * DENSITY * exp(-0.5 * x * x)
}

/// The derivative of [`gelu_tanh`].
#[inline(always)]
pub(crate) fn gelu_tanh_slope(x: f32) -> f32 {
    let t = tanh(TANH_SCALE * (x + TANH_CUBE * x * x * x));
    0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * TANH_SCALE * (1.0 + 3.0 * TANH_CUBE * x * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worst difference from `truth` over -12..12.
    fn worst(f: impl Fn(f32) -> f32, truth: impl Fn(f64) -> f64) -> f64 {
        (-12_000..=12_000)
            .map(|i| i as f32 / 1000.0)
            .map(|x| (f64::from(f(x)) - truth(f64::from(x))).abs() / truth(f64::from(x)).abs().max(1.0))
            .fold(0.0, f64::max)
    }

    /// The error function by a series of positive terms, which loses no digits.
    fn erf_series(x: f64) -> f64 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-17 * sum.abs() {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        sum * (-x * x).exp() * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn the_functions_are_right_to_single_precision() {
        assert!(worst(exp, f64::exp) < 3e-7);
        assert!(worst(tanh, f64::tanh) < 3e-7);
        assert!(worst(gelu_erf, |x| 0.5 * x * (1.0 + erf_series(x / 2f64.sqrt()))) < 1e-6);
        let inner = |x: f64| (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        assert!(worst(gelu_tanh, |x| 0.5 * x * (1.0 + inner(x).tanh())) < 1e-6);
    }
}
