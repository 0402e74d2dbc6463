//! Relevance, predicted from the model's head and from the cosine of prompt and story.
//!
//! The two coefficients of the mix are fitted for each fold on the stories of all other folds, so
//! that no figure rests on ratings of the stories that it is about.

use super::Folds;
use crate::{Error, Result};

/// Predicts a criterion from a head and the cosines, fold by fold. Without cosines it is the head
/// alone.
///
/// # Errors
/// If there is no such head.
pub fn with_cosine(folds: &Folds, head: &str, ratings: &[f64]) -> Result<Vec<f64>> {
    let head = folds.head(head)?;
    let Some(cosines) = folds.cosines() else { return Ok(head) };
    let mut mixed = vec![f64::NAN; head.len()];
    for fold in 0..folds.folds {
        let others: Vec<usize> = (0..head.len()).filter(|&at| folds.fold[at] != fold).collect();
        let take = |values: &[f64]| -> Vec<f64> { others.iter().map(|&at| values[at]).collect() };
        let mix = Mix::fit(&take(&head), &take(&cosines), &take(ratings)).ok_or_else(|| {
            Error::failed("head and cosine of a fold's other stories are constant")
        })?;
        for at in (0..head.len()).filter(|&at| folds.fold[at] == fold) {
            mixed[at] = mix.predict(head[at], cosines[at]);
        }
    }
    Ok(mixed)
}

/// A linear function of a head and a cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mix {
    intercept: f64,
    head: f64,
    cosine: f64,
}

impl Mix {
    /// The least squares fit. A slight penalty on the slopes decides between a head and a cosine
    /// that are the same. There is no fit if both are constant.
    fn fit(head: &[f64], cosine: &[f64], ratings: &[f64]) -> Option<Self> {
        const PENALTY: f64 = 1e-9;
        let count = ratings.len() as f64;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
        let centres = [head, cosine, ratings].map(mean);
        let product = |a: usize, b: usize| {
            let columns = [head, cosine, ratings];
            let pairs = columns[a].iter().zip(columns[b]);
            pairs.map(|(x, y)| (x - centres[a]) * (y - centres[b])).sum::<f64>() / count
        };
        let (hh, cc, hc) = (product(0, 0), product(1, 1), product(0, 1));
        let (hr, cr) = (product(0, 2), product(1, 2));
        let (hh, cc) = (hh + PENALTY * (hh + cc), cc + PENALTY * (hh + cc));
        let determinant = hh * cc - hc * hc;
        (determinant > 0.0).then(|| {
            let head = (hr * cc - cr * hc) / determinant;
            let cosine = (cr * hh - hr * hc) / determinant;
            let intercept = centres[2] - head * centres[0] - cosine * centres[1];
            Self { intercept, head, cosine }
        })
    }

    fn predict(self, head: f64, cosine: f64) -> f64 {
        self.intercept + self.head * head + self.cosine * cosine
    }
}

#[cfg(test)]
mod tests {
    use super::super::Prediction;
    use super::*;

    fn folds(head: &[f64], cosines: &[f64], fold: &[usize]) -> Folds {
        let prediction = |(&head, &cosine): (&f64, &f64)| Prediction {
            raw: [("relevance".to_owned(), head)].into(),
            cosine: Some(cosine),
        };
        Folds {
            predictions: head.iter().zip(cosines).map(prediction).collect(),
            fold: fold.to_vec(),
            folds: 2,
            runs: 1,
        }
    }

    const HEAD: [f64; 8] = [1.0, 2.0, 0.5, -1.0, 0.0, 3.0, -2.0, 1.5];
    const COSINE: [f64; 8] = [0.1, 0.5, 0.3, 0.2, 0.6, 0.0, 0.4, 0.9];

    #[test]
    fn a_linear_function_is_found_again() {
        let ratings: Vec<f64> =
            HEAD.iter().zip(COSINE).map(|(head, cosine)| 3.0 + 0.5 * head + 2.0 * cosine).collect();
        let given = folds(&HEAD, &COSINE, &[0, 1, 0, 1, 0, 1, 0, 1]);
        let mixed = with_cosine(&given, "relevance", &ratings).unwrap();
        assert!(mixed.iter().zip(&ratings).all(|(a, b)| (a - b).abs() < 1e-6), "{mixed:?}");
        assert!(with_cosine(&given, "empathy", &ratings).is_err());
    }

    #[test]
    fn the_ratings_of_a_fold_do_not_change_its_own_predictions() {
        let given = folds(&HEAD, &COSINE, &[0, 0, 0, 0, 1, 1, 1, 1]);
        let ratings = [1.0, 4.0, 2.0, 5.0, 3.0, 2.0, 1.0, 4.0];
        let mut others = ratings;
        others[..4].copy_from_slice(&[5.0, 5.0, 1.0, 3.0]);
        let [first, second] =
            [ratings, others].map(|ratings| with_cosine(&given, "relevance", &ratings).unwrap());
        assert_eq!(first[..4], second[..4]);
        assert_ne!(first[4..], second[4..]);
    }

    #[test]
    fn a_head_that_is_the_cosine_can_be_mixed_with_it() {
        let mix = Mix::fit(&COSINE, &COSINE, &COSINE).unwrap();
        assert!((mix.predict(0.7, 0.7) - 0.7).abs() < 1e-6, "{mix:?}");
        assert_eq!(Mix::fit(&[1.0; 8], &[2.0; 8], &HEAD), None);
    }
}
