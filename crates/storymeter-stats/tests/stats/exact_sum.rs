//! Exact sums against a slow reference: partial sums that do not overlap (Shewchuk 1997), as
//! Python's `math.fsum` adds.

use proptest::prelude::*;
use storymeter_stats::ExactSum;

/// The exact sum, rounded once. It is slow, and fails where a partial sum overflows.
fn reference(numbers: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for &number in numbers {
        let mut x = number;
        let mut kept = Vec::new();
        for &partial in &partials {
            let (large, small) = if x.abs() < partial.abs() { (partial, x) } else { (x, partial) };
            let high = large + small;
            let low = small - (high - large);
            if low != 0.0 {
                kept.push(low);
            }
            x = high;
        }
        kept.push(x);
        partials = kept;
    }
    let Some(mut high) = partials.pop() else { return 0.0 };
    let mut low = 0.0;
    while let Some(partial) = partials.pop() {
        let before = high;
        high = before + partial;
        low = partial - (high - before);
        if low != 0.0 {
            break;
        }
    }
    // Halfway cases are decided by the partial sums below.
    if let Some(&next) = partials.last()
        && ((low < 0.0 && next < 0.0) || (low > 0.0 && next > 0.0))
    {
        let twice = low * 2.0;
        let there = high + twice;
        if twice == there - high {
            high = there;
        }
    }
    high
}

fn sum(numbers: &[f64]) -> ExactSum {
    let mut sum = ExactSum::default();
    numbers.iter().for_each(|&number| sum.add(number));
    sum
}

/// Numbers of all sizes that do not overflow when a few hundred of them are added.
fn number() -> impl Strategy<Value = f64> {
    let any = (any::<bool>(), 0u64..2030, 0u64..1 << 52).prop_map(|(negative, exponent, bits)| {
        f64::from_bits(u64::from(negative) << 63 | exponent << 52 | bits)
    });
    let near = (-1000i32..1000).prop_map(|n| f64::from(n) / 8.0);
    let score = (0u32..1 << 30).prop_map(|n| f64::from(n) / f64::from(1 << 30));
    prop_oneof![any, near, score]
}

proptest! {
    #[test]
    fn a_sum_is_rounded_once(numbers in prop::collection::vec(number(), 0..200)) {
        prop_assert_eq!(sum(&numbers).value(), reference(&numbers));
    }

    #[test]
    fn any_parts_in_any_order_give_the_same_sum(
        numbers in prop::collection::vec(number(), 1..100),
        places in prop::collection::vec(any::<prop::sample::Index>(), 100),
        parts in 1usize..9,
    ) {
        let mut shuffled = numbers.clone();
        for (at, place) in places.iter().enumerate().take(numbers.len()) {
            shuffled.swap(at, place.index(numbers.len()));
        }
        let mut merged = ExactSum::default();
        for part in shuffled.chunks(shuffled.len().div_ceil(parts)).rev() {
            merged.merge(&sum(part));
        }
        let whole = sum(&numbers);
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(merged.to_string(), whole.to_string());
    }

    #[test]
    fn a_sum_is_read_back_unchanged(numbers in prop::collection::vec(number(), 0..50)) {
        let whole = sum(&numbers);
        let again: ExactSum = whole.to_string().parse().unwrap();
        prop_assert_eq!(&again, &whole);
        prop_assert_eq!(again.value().to_bits(), whole.value().to_bits());
    }

    #[test]
    fn products_of_whole_numbers_are_exact(
        pairs in prop::collection::vec((-1i64 << 50..1 << 50, -1i64 << 50..1 << 50), 0..100),
    ) {
        let mut products = ExactSum::default();
        let mut expected: i128 = 0;
        for &(a, b) in &pairs {
            products.add_product(a as f64, b as f64);
            expected += i128::from(a) * i128::from(b);
        }
        prop_assert_eq!(products.value(), expected as f64);
        // Taking the same products away leaves nothing.
        for &(a, b) in &pairs {
            products.add_product(-(a as f64), b as f64);
        }
        prop_assert_eq!(products.to_string(), "0");
    }

    #[test]
    fn whole_numbers_add_up(numbers in prop::collection::vec(any::<i64>(), 0..100)) {
        let mut sum = ExactSum::default();
        numbers.iter().for_each(|&number| sum.add_integer(number));
        let expected: i128 = numbers.iter().map(|&number| i128::from(number)).sum();
        prop_assert_eq!(sum.value(), expected as f64);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[-0-9a-fpNinf]{0,40}") {
        if let Ok(sum) = text.parse::<ExactSum>() {
            let again: ExactSum = sum.to_string().parse().unwrap();
            prop_assert_eq!(again, sum);
        }
    }
}

#[test]
fn the_ends_of_the_range_are_exact() {
    let tiny = f64::from_bits(1);
    assert_eq!(sum(&[tiny, tiny]).value(), f64::from_bits(2));
    assert_eq!(sum(&[f64::MAX, f64::MAX]).value(), f64::INFINITY);
    assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]).value(), f64::MAX);
    assert_eq!(sum(&[f64::MIN_POSITIVE, -tiny]).value(), f64::MIN_POSITIVE - tiny);
    let mut product = ExactSum::default();
    product.add_product(tiny, tiny);
    product.add_product(f64::MAX, -f64::MAX);
    assert_eq!(product.value(), f64::NEG_INFINITY);
    product.add_product(f64::MAX, f64::MAX);
    assert_eq!(product.to_string(), "1p-2148");
    assert_eq!(product.value(), 0.0);
}

#[test]
fn what_is_not_finite_is_remembered() {
    assert!(sum(&[1.0, f64::NAN]).value().is_nan());
    assert_eq!(sum(&[f64::INFINITY, 1.0]).value(), f64::INFINITY);
    assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).value().is_nan());
    for text in ["NaN", "inf", "-inf"] {
        assert_eq!(text.parse::<ExactSum>().unwrap().to_string(), text);
    }
    for text in ["", "p", "1", "1p", "xp1", "--1p1", "1p9999", "1p-9999"] {
        assert!(text.parse::<ExactSum>().is_err(), "{text}");
    }
}

#[test]
fn a_million_numbers_need_few_digits() {
    let mut total = ExactSum::default();
    for number in 0..1_000_000u32 {
        total.add(f64::from(number) / 1000.0);
    }
    assert!(total.to_string().len() < 30, "{total}");
}
