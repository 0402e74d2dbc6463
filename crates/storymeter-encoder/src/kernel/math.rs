//! The functions of one number that the network needs, written so that the compiler turns loops
//! over them into vector code. They use only `+ - * /`, comparisons and moves of bits, and so give
//! the same bytes on every instruction level.

/// The activation function of the feed-forward part, or of a head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    /// GELU by the error function, the default of BERT in Hugging Face's configuration (`gelu`).
    GeluErf,
    /// GELU by the hyperbolic tangent, as in Google's BERT code (`gelu_new`, `gelu_pytorch_tanh`).
    GeluTanh,
    /// Rectified linear (`relu`).
    Relu,
    /// `x` times the logistic function (`silu`), as in Llama.
    Silu,
    /// The hyperbolic tangent, as in BERT's pooler. No feed-forward part has it.
    Tanh,
}

/// Adding 1.5 * 2^23 to a small number leaves the nearest integer in its low bits, which avoids a
/// slow conversion.
const MAGIC: f32 = 12_582_912.0;

/// `e^x` with a relative error of about 1e-7. The result is clamped to the range of `f32`.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Like `clamp`, and like it these let NaN through, but they are one instruction each.
    exp_down(if x > 88.0 { 88.0 } else { x })
}

/// The same for `x` of at most 88, which is all that softmax needs.
#[inline(always)]
pub(crate) fn exp_down(x: f32) -> f32 {
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

/// 65,280 times `2^t` for `t` of at most 0, which is what probabilities in two bytes need. The
/// relative error is 7.5e-5. Below -18, where less than half of one is left, the result is that of
/// -18.
#[inline(always)]
pub(crate) fn power_of_two_65280(t: f32) -> f32 {
    let t = if t < -18.0 { -18.0 } else { t };
    let shifted = t + MAGIC;
    let r = t - (shifted - MAGIC);
    // The polynomial has the smallest largest relative error over -0.5..0.5. The whole part of t
    // goes to the exponent.
    let p = 65_275.305 + r * (45_256.08 + r * (15_837.655 + r * 3_601.606_7));
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// One number for each lane.
///
/// The functions below take several numbers at once and go through them step by step. Each step
/// then has several results that do not wait for each other, which hides the time that one takes.
#[inline(always)]
fn lanes<const N: usize>(number: impl Fn(usize) -> f32) -> [f32; N] {
    let mut lanes = [0.0; N];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = number(i);
    }
    lanes
}

/// A step of a polynomial: `c + x * p`.
#[inline(always)]
fn step<const N: usize>(c: f32, x: &[f32; N], p: &[f32; N]) -> [f32; N] {
    lanes(|i| c + x[i] * p[i])
}

/// The probability that a normal number is further from zero than `z`, which is from 0 to 6:
/// `erfc(z / sqrt(2))`.
///
/// Its logarithm is nearly a parabola, so that a polynomial fits it, while `erf` itself would need
/// a division.
#[inline(always)]
fn normal_tails<const N: usize>(z: &[f32; N]) -> [f32; N] {
    // A polynomial of degree seven without a constant, with the smallest largest error of `z *
    // tails` over 0..6 (4e-8).
    let p: [f32; N] = lanes(|i| -1.279_821_2e-5 + z[i] * 4.278_743_3e-6);
    let p = step(-5.757_861_6e-4, z, &p);
    let p = step(0.007_670_783_4, z, &p);
    let p = step(-0.052_948_564, z, &p);
    let p = step(-0.459_043_92, z, &p);
    let p = step(-1.151_127, z, &p);
    let t: [f32; N] = lanes(|i| z[i] * p[i]);
    // 2^t: the whole part goes to the exponent; the polynomial for the fraction has a relative
    // error of 7.5e-8.
    let shifted: [f32; N] = lanes(|i| t[i] + MAGIC);
    let r: [f32; N] = lanes(|i| t[i] - (shifted[i] - MAGIC));
    let p = lanes(|i| 0.009_675_542 + r[i] * 0.001_327_647_2);
    let p = step(0.055_507_13, &r, &p);
    let p = step(0.240_221_2, &r, &p);
    let p = step(0.693_146_94, &r, &p);
    let p = step(1.000_000_1, &r, &p);
    lanes(|i| f32::from_bits(p[i].to_bits().wrapping_add(shifted[i].to_bits() << 23)))
}

/// The absolute value of `x`, at most 6: beyond that the tails are below 2e-9. Lets NaN through.
#[inline(always)]
fn size_to_six(x: f32) -> f32 {
    if x.abs() > 6.0 { 6.0 } else { x.abs() }
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    // Near zero, 1 - 2/(e^2x + 1) would lose its digits to cancellation. The series is exact enough
    // there.
    let series = x * (1.0 - x * x * (1.0 / 3.0 - x * x * (2.0 / 15.0 - x * x * (17.0 / 315.0))));
    let exponential = 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
    if x.abs() < 0.2 { series } else { exponential }
}

/// `sqrt(2 / pi)` and the factor of the cubic term of GELU (Hendrycks and Gimpel 2016, equation 2).
const TANH_SCALE: f32 = 0.797_884_6;
const TANH_CUBE: f32 = 0.044_715;

/// `x` times the normal distribution function.
#[inline(always)]
pub(crate) fn gelu_erf<const N: usize>(x: &[f32; N]) -> [f32; N] {
    let z: [f32; N] = lanes(|i| size_to_six(x[i]));
    let tails = normal_tails(&z);
    lanes(|i| (if x[i] > 0.0 { x[i] } else { 0.0 }) - 0.5 * z[i] * tails[i])
}

#[inline(always)]
pub(crate) fn gelu_tanh(x: f32) -> f32 {
    0.5 * x * (1.0 + tanh(TANH_SCALE * (x + TANH_CUBE * x * x * x)))
}

#[inline(always)]
pub(crate) fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// The derivative of [`tanh`].
#[cfg(feature = "train")]
#[inline(always)]
pub(crate) fn tanh_slope(x: f32) -> f32 {
    let t = tanh(x);
    1.0 - t * t
}

/// The derivative of [`silu`].
#[cfg(feature = "train")]
#[inline(always)]
pub(crate) fn silu_slope(x: f32) -> f32 {
    let logistic = 1.0 / (1.0 + exp(-x));
    logistic * (1.0 + x * (1.0 - logistic))
}

/// The derivative of [`gelu_erf`]: the normal distribution function plus `x` times the normal
/// density.
#[cfg(feature = "train")]
#[inline(always)]
pub(crate) fn gelu_erf_slope(x: f32) -> f32 {
    const DENSITY: f32 = 0.398_942_3;
    let half = 0.5 * normal_tails(&[size_to_six(x)])[0];
    (if x > 0.0 { 1.0 - half } else { half }) + x * DENSITY * exp(-0.5 * x * x)
}

/// The derivative of [`gelu_tanh`].
#[cfg(feature = "train")]
#[inline(always)]
pub(crate) fn gelu_tanh_slope(x: f32) -> f32 {
    let t = tanh(TANH_SCALE * (x + TANH_CUBE * x * x * x));
    0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * TANH_SCALE * (1.0 + 3.0 * TANH_CUBE * x * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest difference from `truth` over -12..12.
    fn worst(f: impl Fn(f32) -> f32, truth: impl Fn(f64) -> f64) -> f64 {
        (-12_000..=12_000)
            .map(|i| i as f32 / 1000.0)
            .map(|x| {
                (f64::from(f(x)) - truth(f64::from(x))).abs() / truth(f64::from(x)).abs().max(1.0)
            })
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
        assert!(
            worst(|x| gelu_erf(&[x])[0], |x| 0.5 * x * (1.0 + erf_series(x / 2f64.sqrt()))) < 2e-7
        );
        assert!(worst(silu, |x| x / (1.0 + (-x).exp())) < 3e-7);
        let inner = |x: f64| (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        assert!(worst(gelu_tanh, |x| 0.5 * x * (1.0 + inner(x).tanh())) < 1e-6);
    }

    #[test]
    fn powers_of_two_are_right_to_four_digits() {
        for t in (0..=16_000).map(|i| i as f32 / -1000.0) {
            let exact = 65_280.0 * f64::from(t).exp2();
            assert!((f64::from(power_of_two_65280(t)) / exact - 1.0).abs() < 8e-5, "at {t}");
        }
        for t in [-18.5, -1e30, f32::NEG_INFINITY] {
            assert!(power_of_two_65280(t) < 0.5);
        }
    }
}
