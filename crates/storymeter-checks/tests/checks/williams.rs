//! Williams' tests between HANNA's metrics, corrected and as published (system level, Pearson).
//!
//! The counts for Relevance are reported of the published matrix, but neither the list of its
//! metrics nor the exact way in which it loses signs is. Both were inferred: about a dozen sign
//! rules and several hundred choices among variants of the metrics (which ROUGE-1, which
//! BERTScore...) were tried, and this combination gives all the counts. With BERTScore F1 instead
//! of recall it gives 37 NaN instead of 38. The check keeps the inference from changing; it does
//! not prove it.

use storymeter_checks::{HANNA_SELECTED, Result, shared};
use storymeter_core::read::{hanna_metric_name, hanna_scores};
use storymeter_core::{Role, ScoreTable};
use storymeter_stats::{
    Coefficient, SharedCorrelations, Undefined, WilliamsMatrix, WilliamsRules, mean,
    williams_matrix_of_columns,
};

/// The mean of a column for each system but the human one.
fn system_means(table: &ScoreTable, column: usize) -> Vec<f64> {
    let of_system = |system: &str| -> Vec<f64> {
        let own = table.rows().iter().zip(table.values(column));
        let own = own.filter(|(row, _)| row.system.as_deref() == Some(system));
        own.map(|(_, value)| value.clone().unwrap()).collect()
    };
    let systems = table.systems().into_iter().filter(|system| *system != "Human");
    systems.map(|system| mean(&of_system(system))).collect()
}

fn table() -> Result<ScoreTable> {
    Ok(hanna_scores(&shared("data/annotated/hanna/hanna_metric_scores.csv")?)?)
}

fn the_inferred_sign_rule_gives_the_counts_reported_for_relevance() -> Result {
    let table = table()?;
    let means = |name: &str| {
        let named = |c: &usize| hanna_metric_name(table.columns()[*c].key.as_str()) == name;
        system_means(&table, (0..table.columns().len()).find(named).unwrap())
    };
    let relevance = means("Relevance");
    let scores: Vec<Vec<f64>> = HANNA_SELECTED.iter().map(|name| means(name)).collect();
    let columns: Vec<&[f64]> = scores.iter().map(Vec::as_slice).collect();
    let matrix = |rules| {
        williams_matrix_of_columns(Coefficient::Pearson, &relevance, &columns, rules).unwrap()
    };
    let (corrected, published) =
        (matrix(WilliamsRules::Corrected), matrix(WilliamsRules::Published));
    for (matrix, counts) in [(&corrected, (136, 21, 0)), (&published, (136, 9, 38))] {
        let tests: Vec<_> = matrix.cells().iter().flatten().collect();
        let small = tests.iter().filter(|test| test.p_value < 0.05).count();
        let undefined = matrix.undefined(Undefined::Contradiction);
        assert_eq!((tests.len(), small, undefined), counts);
        assert!(tests.iter().all(|test| test.n == 10));
    }

    let p = |matrix: &WilliamsMatrix, row: &str, column: &str| {
        let place = |name| HANNA_SELECTED.iter().position(|&m| m == name).unwrap();
        format!("{:.3}", matrix.get(place(row), place(column)).unwrap().p_value)
    };
    assert_eq!(p(&published, "ROUGE-1 Recall", "BLANC-Tune-PS"), "0.069");
    assert_eq!(p(&corrected, "ROUGE-1 Recall", "BLANC-Tune-PS"), "0.004");
    Ok(())
}

/// The numbers of `docs/reproduction.md`: pairs whose correlations cannot occur together once signs
/// are lost, those of them that the published formula leaves empty, and significant pairs.
fn lost_signs_make_impossible_triples_of_which_some_get_a_p_value() -> Result {
    let table = table()?;
    let columns = |role: Role| {
        let table = &table;
        (0..table.columns().len()).filter(move |&c| table.columns()[c].role == role)
    };
    let metrics: Vec<Vec<f64>> = columns(Role::Metric).map(|c| system_means(&table, c)).collect();
    let metrics: Vec<&[f64]> = metrics.iter().map(Vec::as_slice).collect();
    assert_eq!(metrics.len(), 72);
    let mut found = Vec::new();
    for criterion in columns(Role::Human) {
        let ratings = system_means(&table, criterion);
        let pearson = Coefficient::Pearson;
        let matrix =
            |rules| williams_matrix_of_columns(pearson, &ratings, &metrics, rules).unwrap();
        let published = matrix(WilliamsRules::Published);
        let (mut tested, mut impossible, mut with_p) = (0, 0, 0);
        for later in 0..metrics.len() {
            for earlier in 0..later {
                let cell = published.get(earlier, later).or(published.get(later, earlier));
                let Some(test) = cell else { continue };
                tested += 1;
                let three = SharedCorrelations::from_columns(
                    pearson,
                    &ratings,
                    metrics[earlier],
                    metrics[later],
                )
                .unwrap();
                assert!(three.are_possible(), "as they are, all triples can occur");
                let later_sign = if earlier > 0 { 1.0 } else { three.second.signum() };
                let sign_lost = SharedCorrelations {
                    first: three.first.abs(),
                    second: three.second.abs(),
                    between: later_sign * three.first.signum() * three.between,
                    ..three
                };
                impossible += usize::from(!sign_lost.are_possible());
                with_p += usize::from(!sign_lost.are_possible() && test.undefined.is_none());
            }
        }
        let significant = |matrix: &WilliamsMatrix| {
            matrix.p_values().iter().flatten().filter(|&&p| p < 0.05).count()
        };
        let corrected = matrix(WilliamsRules::Corrected);
        assert_eq!(corrected.undefined(Undefined::Contradiction), 0);
        assert_eq!(impossible - with_p, published.undefined(Undefined::Contradiction));
        found.push([tested, impossible, with_p, significant(&published), significant(&corrected)]);
    }
    // Counted independently with numpy 2.4.6 and scipy 1.17.1.
    let expected = [
        [2553, 717, 299, 188, 320],
        [2553, 866, 247, 482, 643],
        [2553, 812, 228, 524, 726],
        [2553, 956, 244, 396, 548],
        [2553, 952, 226, 591, 790],
        [2553, 997, 228, 614, 815],
    ];
    assert_eq!(found, expected);
    Ok(())
}

storymeter_checks::checks!(
    the_inferred_sign_rule_gives_the_counts_reported_for_relevance,
    lost_signs_make_impossible_triples_of_which_some_get_a_p_value,
);
