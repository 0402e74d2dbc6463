//! Few observations and clustered ones: p-values and intervals must not look more certain than they
//! are. The simulations use fixed seeds, so that they give the same numbers on every run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;
use storymeter_stats::distribution::normal_quantile;
use storymeter_stats::resample::stream;
use storymeter_stats::{
    BootstrapMethod, BootstrapOptions, Coefficient, Resampling, Sample, Score,
    clustered_correlation, clustered_correlation_bootstrap, compare_samples, mean_interval,
    score_intervals,
};

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    normal_quantile((rng.next_u64() >> 11) as f64 * f64::EPSILON / 2.0 + f64::EPSILON / 4.0)
}

/// Two columns that have nothing to do with each other, of stories whose item decides this share of
/// their variance, and the item of each story.
fn null_data(rng: &mut ChaCha8Rng, items: usize, systems: usize, share: f64) -> [Vec<f64>; 2] {
    [(); 2].map(|()| {
        let effects: Vec<f64> = (0..items).map(|_| share.sqrt() * normal(rng)).collect();
        let own = (1.0 - share).sqrt();
        let story = |at: usize| effects[at / systems] + own * normal(rng);
        (0..items * systems).map(story).collect()
    })
}

/// The p-values and how often the interval covers 0, over simulated data without correlation.
fn simulate(
    coefficient: Coefficient,
    (items, systems, share): (usize, usize, f64),
    rounds: u64,
) -> (Vec<f64>, f64) {
    let item_of: Vec<usize> = (0..items * systems).map(|at| at / systems).collect();
    let mut covered = 0;
    let mut p_values = Vec::new();
    for round in 0..rounds {
        let [x, y] = null_data(&mut stream(32, round), items, systems, share);
        let found = clustered_correlation(coefficient, &x, &y, &item_of, 0.95).unwrap();
        p_values.push(found.correlation.p_value);
        covered += usize::from(found.interval.contains(0.0));
    }
    (p_values, covered as f64 / rounds as f64)
}

fn share_below(p_values: &[f64], level: f64) -> f64 {
    p_values.iter().filter(|&&p| p < level).count() as f64 / p_values.len() as f64
}

/// Three standard errors of a share among so many.
fn monte_carlo_error(share: f64, rounds: usize) -> f64 {
    3.0 * (share * (1.0 - share) / rounds as f64).sqrt()
}

#[test]
fn pooled_p_values_of_null_data_with_item_effects_are_uniform() {
    for coefficient in Coefficient::ALL {
        let rounds = if coefficient == Coefficient::Pearson { 4000 } else { 1000 };
        let (p_values, covered) = simulate(coefficient, (8, 30, 0.5), rounds);
        for level in [0.05, 0.1, 0.25, 0.5, 0.75, 0.9] {
            let found = share_below(&p_values, level);
            let allowed = monte_carlo_error(level, p_values.len());
            assert!((found - level).abs() < allowed, "{coefficient}: {found} below {level}");
        }
        assert!((covered - 0.95).abs() < monte_carlo_error(0.05, p_values.len()), "{covered}");
        // What the issue found: every story counted as an observation of its own.
        let [x, y] = null_data(&mut stream(32, 0), 8, 30, 0.5);
        assert_eq!(coefficient.compute(&x, &y).unwrap().n, 240);
    }
    let naive: Vec<f64> = (0..1000)
        .map(|round| {
            let [x, y] = null_data(&mut stream(32, round), 8, 30, 0.5);
            Coefficient::Pearson.compute(&x, &y).unwrap().p_value
        })
        .collect();
    assert!(share_below(&naive, 0.05) > 0.4, "stories of one item are not independent");
}

#[test]
fn the_level_of_the_test_holds_for_other_shapes_and_without_item_effects() {
    for shape in [(8, 30, 0.0), (20, 5, 0.5), (5, 10, 0.5), (60, 3, 0.5), (10, 2, 0.8)] {
        let (p_values, covered) = simulate(Coefficient::Pearson, shape, 2000);
        let found = share_below(&p_values, 0.05);
        assert!((0.03..0.07).contains(&found), "{shape:?}: {found}");
        assert!((0.93..0.97).contains(&covered), "{shape:?}: {covered}");
    }
}

#[test]
fn whole_items_are_drawn_for_bootstrap_intervals() {
    let item_of: Vec<usize> = (0..8 * 30).map(|at| at / 30).collect();
    let options = BootstrapOptions {
        resamples: 200,
        method: BootstrapMethod::Percentile,
        ..BootstrapOptions::default()
    };
    let covered = (0..200).filter(|&round| {
        let [x, y] = null_data(&mut stream(32, round), 8, 30, 0.5);
        let pearson = Coefficient::Pearson;
        let interval = clustered_correlation_bootstrap(pearson, &x, &y, &item_of, &options);
        interval.unwrap().contains(0.0)
    });
    let covered = covered.count();
    assert!(covered > 160, "{covered} of 200; intervals over stories cover 0 in half of them");
}

#[test]
fn a_perfect_correlation_of_few_items_is_not_certain() {
    let x = [1.0, 1.0, 2.0, 2.0, 5.0, 5.0];
    let found =
        clustered_correlation(Coefficient::Pearson, &x, &x, &[0, 0, 1, 1, 2, 2], 0.95).unwrap();
    assert_eq!((found.correlation.p_value, found.interval.is_defined()), (1.0 / 3.0, false));
}

/// A system with one story per item.
fn sample(values: &[f64], first_item: u64) -> Sample {
    let mut sample = Sample::new(1);
    (first_item..).zip(values).for_each(|(item, value)| sample.push(item, &[*value]));
    sample
}

#[test]
fn intervals_of_a_mean_cover_it_with_few_values() {
    let resampling = Resampling::default();
    for n in [5, 10, 30] {
        let rounds = 4000;
        let covered = (0..rounds).filter(|&round| {
            let mut rng = stream(7, round);
            let values: Vec<f64> = (0..n).map(|_| 3.0 + normal(&mut rng)).collect();
            score_intervals(&sample(&values, 0), Score::Mean, &resampling).unwrap()[0].contains(3.0)
        });
        let covered = covered.count() as f64 / rounds as f64;
        assert!((0.93..0.97).contains(&covered), "n = {n}: {covered}");
    }
}

#[test]
fn the_interval_of_few_values_is_students() {
    let resampling = Resampling::default();
    let interval =
        |values: &[f64]| score_intervals(&sample(values, 0), Score::Mean, &resampling).unwrap()[0];
    // scipy 1.17.1: t.interval(0.95, 2, mean([1, 2, 6]), sem([1, 2, 6]))
    let found = interval(&[1.0, 2.0, 6.0]);
    let [low, high] = [-3.572410607728428, 9.572410607728429];
    assert!((found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12, "{found:?}");
    // Two values are not a point, and values that do not vary have no interval.
    let two = interval(&[1.0, 2.0]);
    assert!(two.high - two.low > 12.0, "{two:?}");
    assert!(!interval(&[0.1; 7]).is_defined());
    // The same for a mean of a column of a study.
    let options = BootstrapOptions { method: BootstrapMethod::Auto, ..Default::default() };
    let mean = mean_interval(&[1.0, f64::NAN, 2.0, 6.0], &options).unwrap().interval;
    assert!((mean.low - low).abs() < 1e-12, "{mean:?}");
    // scipy 1.17.1: ttest_ind([5, 6, 7], [1, 2.5], equal_var=False).confidence_interval()
    let (first, second) = (sample(&[5.0, 6.0, 7.0], 0), sample(&[1.0, 2.5], 10));
    let apart = compare_samples(&first, &second, Score::Mean, &resampling).unwrap();
    let [low, high] = [0.4496791932518156, 8.050320806748184];
    let found = apart.columns[0].interval;
    assert!((found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9, "{found:?}");
}

#[test]
fn p_values_of_up_to_nine_pairs_are_exact() {
    let three = [1.0, 2.0, 3.0];
    for coefficient in Coefficient::ALL {
        let found = coefficient.associate(&three, &[10.0, 20.0, 30.0]).unwrap();
        assert_eq!((found.coefficient.round(), found.p_value), (1.0, 1.0 / 3.0), "{coefficient}");
        let two = coefficient.associate(&three[..2], &three[..2]).unwrap_err().to_string();
        assert_eq!(two, "a correlation needs at least 3 pairs, got 2");
    }
    // All 5040 orders of y, with the coefficients of scipy 1.17.1 and itertools.permutations.
    let x = [1.0, 2.0, 2.0, 4.0, 5.0, 7.0, 6.5];
    let y = [2.0, 1.0, 3.0, 3.0, 8.0, 5.0, 6.0];
    for (coefficient, extreme) in Coefficient::ALL.into_iter().zip([318.0, 250.0, 628.0]) {
        let found = coefficient.associate(&x, &y).unwrap();
        assert_eq!(found.p_value, extreme / 5040.0, "{coefficient}");
    }
    // Without ties, Kendall's recursion says the same. Ten pairs have the p-value of scipy.
    let y = [3.0, 1.0, 2.0, 5.0, 4.0, 9.0, 7.0, 6.0, 8.0, 10.0];
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    let kendall = Coefficient::Kendall;
    let (exact, recursion) =
        (kendall.associate(&x[..9], &y[..9]).unwrap(), kendall.compute(&x[..9], &y[..9]).unwrap());
    assert!((exact.p_value - recursion.p_value).abs() < 1e-12);
    let spearman = Coefficient::Spearman;
    assert_eq!(spearman.associate(&x, &y).unwrap(), spearman.compute(&x, &y).unwrap());
}

#[test]
fn a_constant_difference_of_the_smallest_numbers_is_seen() {
    let smallest = f64::from_bits(1);
    for n in [10, 12] {
        let resampling = Resampling::default().with(|it| it.resamples = 5000);
        let (a, b) = (sample(&vec![smallest; n], 0), sample(&vec![0.0; n], 0));
        let paired = compare_samples(&a, &b, Score::Mean, &resampling).unwrap();
        assert_eq!(paired.columns[0].p_two_sided, 2.0 / f64::from(1 << n), "p was 0.75");
    }
    let (a, b) = (sample(&[smallest; 4], 0), sample(&[0.0; 4], 10));
    let apart = compare_samples(&a, &b, Score::Mean, &Resampling::default()).unwrap();
    assert_eq!(apart.columns[0].p_two_sided, 2.0 / 70.0);
}

#[test]
fn two_items_have_neither_a_p_value_nor_an_interval() {
    let (x, y) = ([1.0, 2.0, 5.0, 6.0], [2.0, 1.0, 4.0, 6.0]);
    let clusters = [0, 0, 1, 1];
    let found = clustered_correlation(Coefficient::Pearson, &x, &y, &clusters, 0.95).unwrap();
    assert!(found.correlation.coefficient > 0.9);
    assert!(found.correlation.p_value.is_nan() && found.interval.low.is_nan());
    let options = BootstrapOptions::default();
    let drawn =
        clustered_correlation_bootstrap(Coefficient::Pearson, &x, &y, &clusters, &options).unwrap();
    assert!(drawn.low.is_nan() && drawn.high.is_nan());
}
