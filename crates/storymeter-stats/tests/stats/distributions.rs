//! Tails and quantiles against scipy, with a relative error of at most 1e-10.

use crate::support::{cases, close};
use storymeter_stats::distribution::*;

#[test]
fn tails_and_quantiles_agree_with_scipy_to_ten_digits() {
    let cases = cases("distributions");
    assert!(cases.len() > 1000);
    for row in cases {
        let a = |i: usize| row.float(i);
        let (got, want) = match row.text(0) {
            "norm_sf" => (normal_sf(a(1)), a(2)),
            "norm_ppf" => (normal_quantile(a(1)), a(2)),
            "t_sf" => (student_t_sf(a(1), a(2)), a(3)),
            "t_ppf" => (student_t_quantile(a(1), a(2)), a(3)),
            "f_sf" => (f_sf(a(1), a(2), a(3)), a(4)),
            "f_ppf" => (f_quantile(a(1), a(2), a(3)), a(4)),
            "chi2_sf" => (chi_squared_sf(a(1), a(2)), a(3)),
            other => panic!("unknown function {other}"),
        };
        assert!(close(got, want, 1e-10), "got {got:e}, want {want:e}: {row:?}");
    }
}

#[test]
fn outside_the_domain_is_nan() {
    assert!(student_t_sf(1.0, 0.0).is_nan());
    assert!(f_sf(1.0, -1.0, 2.0).is_nan());
    assert!(normal_quantile(1.5).is_nan());
    assert!(chi_squared_sf(f64::NAN, 3.0).is_nan());
}
