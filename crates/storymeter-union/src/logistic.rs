//! Logistic regression with a few coefficients, which fits calibrations.

/// The weight of the squared coefficients in the loss. It is so small that it matters only if the
/// loss has no minimum without it: if the labels can be separated without errors, or if an input is
/// constant.
const RIDGE: f64 = 1e-6;

/// The largest number of steps. A step is at most 1 long, and the mean of several heads may have to
/// be scaled by 30 or more.
const STEPS: usize = 1000;

/// Finds the coefficients c for which sigmoid(c . input) fits the labels best, by Newton's method.
///
/// A constant input of 1 gives an intercept. The result is `None` if an input is not a finite
/// number.
pub fn fit<const K: usize>(examples: &[([f64; K], bool)]) -> Option<[f64; K]> {
    let mut coefficients = [0.0; K];
    for _ in 0..STEPS {
        let mut gradient = coefficients.map(|c| RIDGE * c);
        let mut hessian = [[0.0; K]; K];
        (0..K).for_each(|i| hessian[i][i] = RIDGE);
        for (input, label) in examples {
            let p = sigmoid(dot(&coefficients, input));
            let (error, weight) = (p - f64::from(u8::from(*label)), p * (1.0 - p));
            for i in 0..K {
                gradient[i] += error * input[i];
                (0..K).for_each(|j| hessian[i][j] += weight * input[i] * input[j]);
            }
        }
        let step = solve(hessian, gradient)?;
        let longest = step.iter().fold(0f64, |longest, s| longest.max(s.abs()));
        // A long step may overshoot if the two kinds are far apart.
        let shorter = (1.0 / longest.max(1e-300)).min(1.0);
        coefficients.iter_mut().zip(step).for_each(|(c, s)| *c -= shorter * s);
        if longest < 1e-12 {
            break;
        }
    }
    coefficients.iter().all(|c| c.is_finite()).then_some(coefficients)
}

/// 1 / (1 + exp(-z)).
pub fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn dot<const K: usize>(a: &[f64; K], b: &[f64; K]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Solves a x = b for a symmetric positive definite matrix, which needs no pivoting.
fn solve<const K: usize>(mut a: [[f64; K]; K], mut b: [f64; K]) -> Option<[f64; K]> {
    for i in 0..K {
        let row = a[i];
        if row[i].is_nan() || row[i] <= 0.0 {
            return None;
        }
        for below in i + 1..K {
            let factor = a[below][i] / row[i];
            (i..K).for_each(|j| a[below][j] -= factor * row[j]);
            b[below] -= factor * b[i];
        }
    }
    for i in (0..K).rev() {
        let known: f64 = (i + 1..K).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::{fit, sigmoid};

    #[test]
    fn the_coefficients_that_the_labels_were_drawn_with_are_found() {
        let wanted = [3.0, -1.5, -2.0];
        let mut examples = Vec::new();
        for i in -10..=10 {
            for j in 0..=10 {
                let input = [f64::from(i) / 5.0, f64::from(j) / 10.0, 1.0];
                // The shares of the labels are exactly p and 1 - p.
                let p = sigmoid(input.iter().zip(wanted).map(|(x, c)| x * c).sum());
                let ones = (1000.0 * p).round() as usize;
                examples.extend((0..1000).map(|n| (input, n < ones)));
            }
        }
        let found = fit(&examples).unwrap();
        assert!(
            found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-2),
            "{found:?}"
        );
    }

    #[test]
    fn labels_without_an_overlap_and_inputs_that_never_change_still_have_an_answer() {
        let apart: Vec<([f64; 2], bool)> =
            (0..20).map(|i| ([f64::from(i), 1.0], i >= 10)).collect();
        let [slope, offset] = fit(&apart).unwrap();
        assert!(slope > 1.0 && (-offset / slope - 9.5).abs() < 0.1, "{slope} {offset}");
        // Three of four labels are true, and the first input is constant.
        let same: Vec<([f64; 2], bool)> = (0..4).map(|i| ([0.0, 1.0], i > 0)).collect();
        let found = fit(&same).unwrap();
        assert!(found[0] == 0.0 && (sigmoid(found[1]) - 0.75).abs() < 1e-5, "{found:?}");
        assert_eq!(fit::<2>(&[]), Some([0.0, 0.0]));
        assert_eq!(fit(&[([f64::NAN, 1.0], true)]), None);
    }
}
