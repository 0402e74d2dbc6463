//! Metrics and suites at the edge of what can be computed.

use storymeter_core::{Aspect, Column, Direction};
use storymeter_meta::suite::{MissingAspect, Pairing, SuiteOptions, SuiteScores, analyse};
use storymeter_meta::{Absence, WarningKind};

use crate::suite::support::{absent, aspect, example, metrics, present, run, shifted, suite_of};

#[test]
fn the_result_does_not_depend_on_threads_or_on_other_metrics_and_aspects() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let scores = example();
    let one = pool(1).install(|| run(&scores));
    assert_eq!(pool(7).install(|| run(&scores)), one);

    let mut fewer = suite_of(&[]);
    fewer.aspects = vec![scores.aspects[2].clone()];
    assert_eq!(run(&fewer).cells[0].shift_low, one.cell("union", Aspect::Time).unwrap().shift_low);
    let other = SuiteOptions::default().with(|it| it.seed = 2);
    assert_ne!(analyse(&scores, &other).unwrap().cells[0].shift_low, one.cells[0].shift_low);
}

#[test]
fn shift_and_r_say_the_same() {
    for cell in &run(&example()).cells {
        let shift = cell.shift.clone().unwrap();
        assert!(
            (cell.r.clone().unwrap() - shift / shift.hypot(2.0)).abs() < 1e-12,
            "{}",
            cell.aspect
        );
    }
}

#[test]
fn a_constant_metric_is_computed_like_any_other_and_sees_nothing() {
    let (originals, _) = shifted(50, 0.0, 1);
    let scores = SuiteScores {
        columns: metrics(&["flat", "bleu"]),
        aspects: vec![
            aspect(Aspect::Time, &[(vec![0.3; 50], vec![0.3; 50]), shifted(50, 0.5, 2)]),
            aspect(Aspect::Typo, &[(vec![0.3; 50], vec![0.3; 50]), (originals.clone(), originals)]),
        ],
        ..SuiteScores::default()
    };
    let result = run(&scores);
    for (flat, baseline) in result.of_metric("flat").zip(&result.constant) {
        for cell in [flat, baseline] {
            // Without any spread there is no unit to measure a shift in; 0 was printed here.
            assert_eq!((cell.auc.clone(), cell.shift.clone()), (Ok(0.5), Err(Absence::Constant)));
            assert_eq!(
                (cell.shift_low.clone(), cell.shift_high.clone()),
                (cell.shift.clone(), cell.shift.clone())
            );
            assert_eq!((cell.right_order.clone(), cell.ties.clone()), (Ok(0.0), Ok(1.0)));
            assert_eq!(
                (cell.r.clone(), cell.p_r.clone()),
                (Err(Absence::Constant), Err(Absence::Constant))
            );
            assert_eq!(
                (cell.sd.clone(), cell.times_typo.clone()),
                (Ok(0.0), Err(Absence::Constant))
            );
            assert!(cell.is_constant());
        }
    }
    assert_eq!(result.constant.len(), 2);
    let constant: Vec<_> =
        result.warnings.iter().filter(|one| one.kind == WarningKind::Constant).collect();
    assert_eq!((constant.len(), constant[0].subject.as_str()), (1, "flat"));
    // Twins that score the same as their originals do not shift a metric that varies.
    let same = result.cell("bleu", Aspect::Typo).unwrap();
    assert_eq!(
        (same.shift.clone(), same.ties.clone(), same.auc.clone()),
        (Ok(0.0), Ok(1.0), Ok(0.5))
    );
    assert_eq!(same.r.clone().map(|r| r.abs() < 1e-15), Ok(true));
}

#[test]
fn pairs_without_a_score_are_left_out_and_counted() {
    let mut scores = suite_of(&[(Aspect::Cause, 0.5), (Aspect::Typo, 0.1)]);
    let own = &mut scores.aspects[0].scores[0];
    own.originals[3] = absent();
    own.twins[3] = absent();
    own.twins[10] = absent();
    own.twins[11] = Ok(f64::NAN);
    let result = run(&scores);
    let cell = result.cell("union", Aspect::Cause).unwrap();
    assert_eq!((cell.pairs, cell.originals, cell.twins, cell.absent), (397, 397, 397, 3));
    assert_eq!(result.cell("union", Aspect::Typo).unwrap().absent, 0);
    assert_eq!(result.aspects[0].pairs, 400, "what was there, not what was scored");
    let warning = &result.warnings[0];
    assert_eq!((warning.kind, warning.subject.as_str()), (WarningKind::Missing, "union"));
    assert_eq!(warning.message, "texts without a score are left out of cause (3)");

    for value in scores.aspects.iter_mut().flat_map(|own| &mut own.scores[0].twins) {
        *value = absent();
    }
    let result = run(&scores);
    let cell = &result.cells[0];
    assert_eq!((cell.pairs, cell.absent), (0, 400));
    let numbers = [
        cell.auc.clone(),
        cell.shift.clone(),
        cell.shift_low.clone(),
        cell.right_order.clone(),
        cell.ties.clone(),
        cell.r.clone(),
    ];
    assert_eq!(numbers.to_vec(), vec![Err(Absence::Empty); 6]);
    assert_eq!(result.warnings[0].kind, WarningKind::Empty);
}

#[test]
fn one_pair_has_an_order_and_no_spread() {
    let pair = |x: f64, y: f64| SuiteScores {
        columns: metrics(&["m"]),
        aspects: vec![aspect(Aspect::Time, &[(vec![x], vec![y])])],
        ..SuiteScores::default()
    };
    let result = run(&pair(2.0, 1.0));
    let cell = &result.cells[0];
    assert_eq!((cell.pairs, cell.auc.clone(), cell.right_order.clone()), (1, Ok(1.0), Ok(1.0)));
    assert_eq!(
        (cell.shift.clone(), cell.sd.clone()),
        (Err(Absence::Fewer(2)), Err(Absence::Fewer(2)))
    );
    assert_eq!(
        (cell.r.clone(), cell.shift_low.clone()),
        (Err(Absence::TooFew), Err(Absence::Fewer(2)))
    );
    assert_eq!((cell.mean_original.clone(), cell.mean_twin.clone()), (Ok(2.0), Ok(1.0)));
    assert_eq!(result.warnings[0].message.split(',').next(), Some("there is only 1 pair"));
    let tie = &run(&pair(2.0, 2.0)).cells[0];
    assert_eq!(
        (tie.auc.clone(), tie.right_order.clone(), tie.ties.clone()),
        (Ok(0.5), Ok(0.0), Ok(1.0))
    );
}

#[test]
fn a_metric_that_separates_perfectly_without_any_spread_has_no_shift() {
    let scores = SuiteScores {
        columns: metrics(&["m"]),
        aspects: vec![aspect(Aspect::Time, &[(vec![1.0; 30], vec![0.0; 30])])],
        ..SuiteScores::default()
    };
    let cell = &run(&scores).cells[0];
    assert_eq!(
        (cell.auc.clone(), cell.right_order.clone(), cell.sd.clone()),
        (Ok(1.0), Ok(1.0), Ok(0.0))
    );
    assert_eq!(
        (cell.shift.clone(), cell.shift_high.clone()),
        (Err(Absence::NoSpread), Err(Absence::NoSpread))
    );
    assert!((cell.r.clone().unwrap() - 1.0).abs() < 1e-14);
}

#[test]
fn an_aspect_without_pairs_and_a_suite_without_aspects_are_results_too() {
    let scores = SuiteScores {
        columns: metrics(&["m"]),
        aspects: vec![aspect(Aspect::Time, &[(Vec::new(), Vec::new())])],
        ..SuiteScores::default()
    };
    let result = run(&scores);
    assert_eq!((result.cells[0].pairs, result.cells[0].auc.clone()), (0, Err(Absence::Empty)));
    assert_eq!(result.outline(), [(Aspect::Time, Some("no pairs".to_owned()))]);
    let nothing = run(&SuiteScores { columns: metrics(&["m"]), ..SuiteScores::default() });
    assert!(nothing.cells.is_empty() && nothing.outline().is_empty());
}

#[test]
fn infinite_scores_have_an_order_and_no_mean() {
    let infinite = f64::INFINITY;
    let scores = SuiteScores {
        columns: metrics(&["m"]),
        aspects: vec![aspect(
            Aspect::Time,
            &[(vec![infinite, 2.0, infinite, 1.0], vec![1.0, -infinite, infinite, 0.5])],
        )],
        ..SuiteScores::default()
    };
    let result = run(&scores);
    let cell = &result.cells[0];
    assert_eq!((cell.right_order.clone(), cell.ties.clone()), (Ok(0.75), Ok(0.25)));
    // The number of twins that each original beats, where a tie counts half.
    let above: f64 = [3.5, 3.0, 3.5, 2.5].iter().sum();
    assert_eq!(cell.auc, Ok(above / 16.0));
    let numbers = [
        cell.shift.clone(),
        cell.shift_low.clone(),
        cell.r.clone(),
        cell.p_r.clone(),
        cell.sd.clone(),
        cell.times_typo.clone(),
    ];
    assert_eq!(numbers[..5].to_vec(), vec![Err(Absence::Infinite); 5]);
    assert_eq!(
        (cell.mean_original.clone(), cell.mean_twin.clone()),
        (Err(Absence::Infinite), Err(Absence::Infinite))
    );
    assert!(result.warnings.iter().any(|one| one.kind == WarningKind::Infinite));
}

#[test]
fn a_metric_for_which_less_is_better_is_turned() {
    let (originals, twins) = shifted(200, 0.7, 3);
    let turned = |values: &[f64]| values.iter().map(|value| -value).collect::<Vec<f64>>();
    let pairs = (turned(&originals), turned(&twins));
    let scores = SuiteScores {
        columns: vec![
            Column::metric("up", Direction::Higher),
            Column::metric("down", Direction::Lower),
            Column::metric("length", Direction::None),
        ],
        aspects: vec![aspect(
            Aspect::Time,
            &[(originals.clone(), twins.clone()), pairs, (originals, twins)],
        )],
        ..SuiteScores::default()
    };
    let result = run(&scores);
    let [up, down, unknown] = result.cells.as_slice() else { panic!("three cells") };
    assert!(
        up.shift.clone().unwrap() > 0.5
            && up.auc.clone().unwrap() > 0.6
            && up.r.clone().unwrap() > 0.2
    );
    let turned = |cell: &storymeter_meta::suite::SuiteCell| {
        [
            cell.auc.clone(),
            cell.shift.clone(),
            cell.shift_low.clone(),
            cell.right_order.clone(),
            cell.r.clone(),
        ]
    };
    assert_eq!((turned(down), turned(unknown)), (turned(up), turned(up)));
    assert_eq!(down.mean_original.clone().unwrap(), -up.mean_original.clone().unwrap());
    let kinds: Vec<_> = result.warnings.iter().map(|one| (one.kind, &*one.subject)).collect();
    assert_eq!(kinds, [(WarningKind::Direction, "length")]);
}

#[test]
fn shifts_are_multiples_of_what_typos_do() {
    let result = run(&example());
    let typo = result.cell("union", Aspect::Typo).unwrap();
    for cell in &result.cells {
        let times = cell.shift.clone().unwrap() / typo.shift.clone().unwrap().abs();
        assert_eq!(cell.times_typo, Ok(times));
    }
    assert_eq!(typo.times_typo, Ok(1.0));
    let without = run(&suite_of(&[(Aspect::Time, 0.5)]));
    assert_eq!(without.cells[0].times_typo, Err(Absence::NoTypos));
}

#[test]
fn compat_takes_all_originals_for_repetition_and_uses_no_pairs() {
    let mut scores =
        suite_of(&[(Aspect::LexicalRepetition, 1.0), (Aspect::Time, 0.5), (Aspect::Typo, 0.1)]);
    scores.originals = vec![present(&shifted(1000, 0.0, 9).0)];
    scores.originals[0][0] = absent();
    scores.aspects[1].scores[0].originals[4] = absent();
    scores.aspects[2].scores[0].originals[4] = absent();
    let options = SuiteOptions::default().with(|it| it.compat = true);
    let result = analyse(&scores, &options).unwrap();
    let sizes: Vec<_> =
        result.cells.iter().map(|cell| (cell.originals, cell.twins, cell.absent)).collect();
    assert_eq!(sizes, [(999, 400, 1), (399, 400, 1), (399, 399, 2)]);
    for (cell, constant) in result.cells.iter().zip(&result.constant) {
        assert_eq!((cell.pairs, cell.right_order.clone()), (0, Err(Absence::NotPaired)));
        assert_eq!(
            (constant.auc.clone(), constant.shift.clone()),
            (Ok(0.5), Err(Absence::Constant))
        );
    }
    assert_eq!(result.constant[0].originals, 1000);
    assert_eq!(result.cells[0].size(), "999+400");
    assert_eq!(result.signature.get("compat"), Some("yes"));
    // A typo moves the same texts as with pairs, but the interval does not know that.
    let paired = run(&scores);
    let width = |cell: &storymeter_meta::suite::SuiteCell| {
        cell.shift_high.clone().unwrap() - cell.shift_low.clone().unwrap()
    };
    assert_eq!(result.cells[2].shift, paired.cells[2].shift);
    assert_eq!(result.cells[2].r, paired.cells[2].r);
    assert!(width(&result.cells[2]) > 3.0 * width(&paired.cells[2]));
}

#[test]
fn two_samples_of_different_sizes_need_no_compat() {
    let mut scores = suite_of(&[(Aspect::Time, 0.5)]);
    scores.aspects[0].pairing = Pairing::Unpaired;
    scores.aspects[0].scores[0].twins.truncate(30);
    let result = run(&scores);
    assert_eq!((result.aspects[0].pairs, result.aspects[0].twins), (0, 30));
    let cell = &result.cells[0];
    assert_eq!((cell.pairs, cell.originals, cell.twins), (0, 400, 30));
    assert!(cell.shift_low.is_ok() && cell.ties == Err(Absence::NotPaired));
}

#[test]
fn scores_that_do_not_fit_together_are_refused() {
    let message = |scores: &SuiteScores, options: &SuiteOptions| {
        analyse(scores, options).unwrap_err().to_string()
    };
    let usual = SuiteOptions::default();
    let none = SuiteScores::default();
    assert_eq!(message(&none, &usual), "there is no metric to evaluate");

    let mut scores = suite_of(&[(Aspect::Time, 0.5)]);
    scores.aspects[0].scores[0].twins.pop();
    assert_eq!(message(&scores, &usual), "twins of time: 399 scores, but there must be 400");
    scores.aspects[0].scores.clear();
    assert_eq!(message(&scores, &usual), "metrics of time: 0 scores, but there must be 1");

    let mut scores = suite_of(&[(Aspect::Time, 0.5), (Aspect::Time, 0.5)]);
    assert_eq!(message(&scores, &usual), "the name \"time\" is given twice");
    scores.aspects.pop();
    scores.missing.push(MissingAspect { aspect: Aspect::Time, reason: "no file".to_owned() });
    assert_eq!(message(&scores, &usual), "the name \"time\" is given twice");
    scores.missing.clear();
    let compat = SuiteOptions::default().with(|it| it.compat = true);
    assert!(message(&scores, &compat).starts_with("metrics of all originals: 0 scores"));
    let draws = SuiteOptions::default().with(|it| it.resamples = 0);
    assert_eq!(message(&scores, &draws), "the number of draws must be at least 1");
    let sure = SuiteOptions::default().with(|it| it.confidence = 1.5);
    assert!(message(&scores, &sure).contains("confidence is 1.5"));
    scores.columns = metrics(&["a", "a"]);
    assert_eq!(message(&scores, &usual), "the name \"a\" is given twice");
}
