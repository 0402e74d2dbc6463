//! Other tests, intervals and corrections than the usual ones.

use storymeter_core::{Direction, ScoreTable};
use storymeter_meta::study::{Finding, IntervalMethod, RankMethod, Test};
use storymeter_meta::table::{Options, analyse};
use storymeter_meta::{Absence, Error, Level, Settings, view};
use storymeter_stats::{Coefficient, Correction};

use crate::studies::support::{holes, random};

fn with(settings: Settings) -> Options {
    Options::default().with(|it| it.settings = settings)
}

#[test]
fn every_test_between_metrics_can_be_asked_for() {
    let table = holes().table();
    let mut p_values = Vec::new();
    for test in [Test::Williams, Test::Steiger, Test::Meng, Test::Permutation] {
        let settings = Settings::default().with(|it| {
            it.test = test;
            it.resamples = 200;
        });
        let study = analyse(&table, &with(settings)).unwrap();
        assert_eq!(study.tests().count(), 9, "three levels and three criteria");
        let matrix = study.tests().find(|m| m.level == Level::Pooled).unwrap();
        assert_eq!(matrix.test, test);
        let p = matrix.pairs[0].p_value.clone().unwrap();
        assert!((0.0..=1.0).contains(&p.raw), "{test:?}");
        p_values.push(p.raw);
    }
    // Four tests of one question give similar answers, and not the same one.
    for (at, p) in p_values.iter().enumerate() {
        assert!((p - p_values[0]).abs() < 0.2, "{p_values:?}");
        assert!(!p_values[..at].contains(p), "{p_values:?}");
    }
}

#[test]
fn corrected_p_values_depend_on_the_correction() {
    let table = holes().table();
    let largest = |correction| {
        let settings = Settings::default().with(|it| it.correction = correction);
        let study = analyse(&table, &with(settings)).unwrap();
        let matrix = study.tests().next().unwrap();
        assert_eq!(matrix.correction, correction);
        let tested = matrix.pairs.iter().filter_map(|pair| pair.p_value.clone().ok());
        tested.map(|p| p.corrected).sum::<f64>()
    };
    let [holm, hochberg] = [Correction::Holm, Correction::BenjaminiHochberg].map(largest);
    assert!(hochberg < holm, "{hochberg} {holm}");
}

#[test]
fn intervals_are_fishers_or_bootstrapped_and_story_level_has_bootstrapped_ones_only() {
    let table = holes().table();
    let interval = |method, level| {
        let settings = Settings::default().with(|it| {
            it.interval = method;
            it.resamples = 300;
        });
        let study = analyse(&table, &with(settings)).unwrap();
        let found = study.agreement("bleu", "plot/pace", level, Coefficient::Pearson).unwrap();
        let estimate = found.value.clone().unwrap();
        if let Some(interval) = estimate.interval {
            assert!(interval.low <= estimate.value && estimate.value <= interval.high);
        }
        estimate.interval
    };
    let methods = [IntervalMethod::Fisher, IntervalMethod::Percentile, IntervalMethod::Bca];
    let story = methods.map(|method| interval(method, Level::Story));
    assert!(story[0].is_none() && story[1].is_some() && story[2].is_some());
    let pooled = methods.map(|method| interval(method, Level::Pooled).unwrap());
    assert_ne!(pooled[0], pooled[1]);
    assert_ne!(pooled[1], pooled[2]);
}

#[test]
fn rankings_kappa_concordance_and_pair_accuracy_are_part_of_a_study() {
    let study = analyse(&random(5, 8, &["fun"], &["a", "b", "c"]), &Options::default()).unwrap();
    let (mut methods, mut accuracies, mut agreements) = (Vec::new(), 0, 0);
    for finding in &study.findings {
        match finding {
            Finding::Ranking(ranking) => {
                assert_eq!((ranking.places.len(), ranking.unranked), (3, 0));
                methods.push(ranking.method);
            }
            Finding::PairAccuracy(found) => {
                for one in found {
                    assert_eq!((one.level, one.n), (Level::Story, 8 * 10));
                    assert!(one.accuracy.clone().unwrap() >= one.uncalibrated.clone().unwrap());
                    accuracies += 1;
                }
            }
            Finding::RaterAgreement(found) => {
                assert!(found[0].fleiss_kappa.is_ok() && found[0].kendall_w.is_ok());
                assert_eq!((found[0].n, found[0].raters), (40, 2));
                agreements += found.len();
            }
            _ => {}
        }
    }
    assert_eq!(methods, [RankMethod::Borda, RankMethod::MeanRank, RankMethod::Kemeny]);
    assert_eq!((accuracies, agreements), (3, 1));
}

#[test]
fn directions_can_be_overridden_and_unknown_names_are_refused_with_the_nearest() {
    let table = random(3, 8, &["fun"], &["bleu", "ter"]);
    let turned =
        Options::default().with(|it| it.directions = vec![("ter".into(), Direction::Lower)]);
    let study = analyse(&table, &turned).unwrap();
    assert_eq!(study.columns.last().unwrap().direction, Direction::Lower);
    let unknown = turned.with(|it| it.directions = vec![("blue".into(), Direction::Lower)]);
    let message = analyse(&table, &unknown).unwrap_err().to_string();
    assert!(message.contains("did you mean \"bleu\""), "{message}");
    let criterion =
        Options::default().with(|it| it.directions = vec![("fun".into(), Direction::Lower)]);
    let message = analyse(&table, &criterion).unwrap_err().to_string();
    assert!(message.starts_with("there is no metric \"fun\""), "{message}");
    let without = vec!["system 9".to_owned()];
    let message = analyse(&table, &Options::default().with(|it| it.without = without)).unwrap_err();
    assert!(message.to_string().contains("there is no system \"system 9\""), "{message}");
}

#[test]
fn errors_are_variants_and_name_no_flag() {
    let table = random(3, 8, &[], &["bleu"]);
    assert!(matches!(analyse(&table, &Options::default()), Err(Error::NoCriterion { .. })));
    let nothing = ScoreTable::default();
    assert!(matches!(analyse(&nothing, &Options::default()), Err(Error::NoCriterion { .. })));
    let table = random(3, 8, &["fun"], &[]);
    assert!(matches!(analyse(&table, &Options::default()), Err(Error::NoMetric { .. })));
    let table = random(3, 8, &["fun"], &["bleu"]);
    let scale = Some("2..4".parse().unwrap());
    let error = analyse(&table, &Options::default().with(|it| it.scale = scale)).unwrap_err();
    assert!(matches!(error, Error::OffScale { .. }));
    assert!(!error.to_string().contains("--"), "{error}");
    let none = Settings::default().with(|it| it.resamples = 0);
    assert!(matches!(analyse(&table, &with(none)), Err(Error::NoDraws)));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let table = holes().table();
    let settings = Settings::default().with(|it| {
        it.test = Test::Permutation;
        it.interval = IntervalMethod::Bca;
        it.resamples = 50;
    });
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| analyse(&table, &with(settings)).unwrap())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_test_without_enough_systems_says_how_many_it_needs() {
    let study = analyse(&random(3, 8, &["fun"], &["a", "b"]), &Options::default()).unwrap();
    let system = study.tests().find(|matrix| matrix.level == Level::System).unwrap();
    assert_eq!((system.pairs[0].p_value.clone(), system.pairs[0].n), (Err(Absence::Fewer(4)), 3));
}

#[test]
fn a_table_whose_systems_are_all_left_out_has_gaps_and_no_panic() {
    let without = (0..3).map(|system| format!("system {system}")).collect();
    let options = Options::default().with(|it| it.without = without);
    let study = analyse(&random(3, 8, &["fun"], &["a", "b"]), &options).unwrap();
    assert_eq!((study.systems.len(), study.levels().len()), (0, 0));
    assert_eq!(study.agreements().filter(|one| one.value == Err(Absence::Empty)).count(), 12);
    assert!(!view::sheets(&study).is_empty());
}

#[test]
fn a_metric_may_have_the_name_of_a_criterion() {
    let table = random(3, 8, &["union"], &["union", "bleu"]);
    let options =
        Options::default().with(|it| it.directions = vec![("union".into(), Direction::Lower)]);
    let study = analyse(&table, &options).unwrap();
    let directions: Vec<_> = study.columns.iter().map(|column| column.direction).collect();
    assert_eq!(directions, [Direction::Higher, Direction::Lower, Direction::Higher]);
    let found = study.agreement("union", "union", Level::Pooled, Coefficient::Pearson).unwrap();
    assert!(found.value.clone().unwrap().value.abs() < 1.0);
}
