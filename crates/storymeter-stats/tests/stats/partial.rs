//! Partial correlations.

use storymeter_stats::{Coefficient, mid_ranks};

/// What a straight line through `z` leaves of `x`.
fn residuals(x: &[f64], z: &[f64]) -> Vec<f64> {
    let centred = |values: &[f64]| -> Vec<f64> {
        let centre = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| value - centre).collect()
    };
    let (x, z) = (centred(x), centred(z));
    let products: f64 = x.iter().zip(&z).map(|(a, b)| a * b).sum();
    let slope = products / z.iter().map(|b| b * b).sum::<f64>();
    x.iter().zip(&z).map(|(a, b)| a - slope * b).collect()
}

#[test]
fn it_is_the_correlation_of_residuals() {
    let x = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
    let y = [2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0];
    let z = [1.0, 4.0, 1.0, 4.0, 2.0, 1.0, 3.0, 5.0];
    let of_residuals = |x: &[f64], y: &[f64], z: &[f64]| {
        Coefficient::Pearson.value(&residuals(x, z), &residuals(y, z)).unwrap()
    };
    let pearson = Coefficient::Pearson.partial(&x, &y, &z).unwrap();
    assert!((pearson - of_residuals(&x, &y, &z)).abs() < 1e-12);
    let [x_ranks, y_ranks, z_ranks] = [x, y, z].map(|values| mid_ranks(&values).unwrap());
    let spearman = Coefficient::Spearman.partial(&x, &y, &z).unwrap();
    assert!((spearman - of_residuals(&x_ranks, &y_ranks, &z_ranks)).abs() < 1e-12);
    assert!((spearman - pearson).abs() > 1e-3, "the ranks are other numbers");
}

#[test]
fn nothing_is_left_of_a_variable_that_the_third_one_determines() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]);
    for coefficient in Coefficient::ALL {
        assert!(coefficient.partial(&x, &y, &x).unwrap().is_nan(), "{coefficient}");
        assert!(coefficient.partial(&x, &y, &[1.0; 4]).unwrap().is_nan(), "{coefficient}");
    }
    assert!(Coefficient::Kendall.partial(&x, &y, &x[1..]).is_err());
}
