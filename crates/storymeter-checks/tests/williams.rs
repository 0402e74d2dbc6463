//! Williams' tests between HANNA's metrics, correct and as published (system level, Pearson, Relevance).
//!
//! The counts below are reported of the published matrix; the list of metrics behind it and the exact way it loses
//! signs are not. Both were inferred: about a dozen sign rules and several hundred choices among variants of the
//! metrics (which ROUGE-1, which BERTScore...) were tried, and this combination gives all the counts. With BERTScore F1
//! in place of recall it gives 37 NaN instead of 38. The check thus holds the inference fast; it does not prove it.

use storymeter_checks::{HANNA_SELECTED, shared};
use storymeter_core::read::{hanna_metric_name, hanna_scores};
use storymeter_stats::{Coefficient, Matrix, Signs, williams_matrix};

#[test]
fn the_inferred_sign_rule_gives_the_counts_reported_for_relevance() {
    let Some(path) = shared("data/annotated/hanna/hanna_metric_scores.csv") else { return };
    let table = hanna_scores(&path).unwrap();
    let human = table.systems().iter().position(|s| s == "Human").unwrap();
    let means = |name: &str| -> Vec<f64> {
        let column =
            table.columns().iter().position(|c| hanna_metric_name(&c.name) == name).unwrap();
        let systems = (0..table.systems().len()).filter(|&s| s != human);
        systems
            .map(|s| {
                let row = table.row(column, s);
                row.iter().sum::<f64>() / row.len() as f64
            })
            .collect()
    };
    let pearson = |a: &[f64], b: &[f64]| Coefficient::Pearson.value(a, b).unwrap();
    let relevance = means("Relevance");
    let scores: Vec<Vec<f64>> = HANNA_SELECTED.iter().map(|name| means(name)).collect();
    let criterion: Vec<f64> = scores.iter().map(|s| pearson(s, &relevance)).collect();
    let between: Vec<f64> =
        scores.iter().flat_map(|a| scores.iter().map(move |b| pearson(a, b))).collect();
    let between = Matrix::new(&between, HANNA_SELECTED.len(), HANNA_SELECTED.len()).unwrap();

    let cells = |signs| williams_matrix(&criterion, between, relevance.len(), signs).unwrap();
    let summary = |cells: &[Option<f64>]| {
        let tested: Vec<f64> = cells.iter().filter_map(|c| *c).collect();
        let small = tested.iter().filter(|&&p| p < 0.05).count();
        (tested.len(), small, tested.iter().filter(|p| p.is_nan()).count())
    };
    let (correct, published) = (cells(Signs::Correct), cells(Signs::Published));
    assert_eq!(summary(&correct), (136, 21, 0));
    assert_eq!(summary(&published), (136, 9, 38));

    let at = |row: &str, column: &str| {
        let place = |name| HANNA_SELECTED.iter().position(|&m| m == name).unwrap();
        place(row) * HANNA_SELECTED.len() + place(column)
    };
    let rouge_blanc = at("ROUGE-1 Recall", "BLANC-Tune-PS");
    assert_eq!(format!("{:.3}", published[rouge_blanc].unwrap()), "0.069");
    assert_eq!(format!("{:.3}", correct[rouge_blanc].unwrap()), "0.004");
}
