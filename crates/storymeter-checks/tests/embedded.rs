//! What the embedded model must show, on the shared data.

use std::sync::LazyLock;

use storymeter::union::{Agreement, Scorer};
use storymeter_checks::evaluate::{Evaluation, report};

/// The report on the embedded model, made once; `None` (and a line about it) where the data is absent.
fn evaluation() -> Option<&'static Evaluation> {
    static MADE: LazyLock<Option<Evaluation>> = LazyLock::new(|| {
        let made = report(&Scorer::embedded().unwrap()).unwrap();
        Some(made).filter(|made| !made.agreement.is_empty())
    });
    MADE.as_ref()
}

fn row<'a>(
    made: &'a Evaluation,
    set: &str,
    criterion: &str,
    level: &str,
    metric: &str,
) -> &'a Agreement {
    let wanted = [set, criterion, level, metric];
    let found = made
        .agreement
        .iter()
        .find(|row| [&row.set, &row.criterion, &row.level, &row.metric] == wanted);
    found.unwrap_or_else(|| panic!("no row {wanted:?}"))
}

#[test]
fn it_agrees_with_the_readers_of_union_roc() {
    let Some(made) = evaluation() else { return };
    let row = row(made, "union_roc all", "reasonable", "pooled", "union");
    assert!(row.pearson.value >= 0.33, "{row:?}");
    assert!(row.spearman.value >= 0.40, "{row:?}");
    assert!(row.kendall.value >= 0.28, "{row:?}");
}

#[test]
fn it_agrees_better_with_hanna_s_coherence_than_repetition_does() {
    let Some(made) = evaluation() else { return };
    for level in ["story", "pooled"] {
        let of = |metric: &str| row(made, "hanna first 48 prompts", "coherence", level, metric);
        let (union, repetition) = (of("union"), of("repetition-3"));
        assert!(
            union.spearman.value > repetition.spearman.value,
            "{level}: {union:?} and {repetition:?}"
        );
        assert!(
            union.kendall.value > repetition.kendall.value,
            "{level}: {union:?} and {repetition:?}"
        );
        assert!(
            union.pearson.value > repetition.pearson.value,
            "{level}: {union:?} and {repetition:?}"
        );
    }
}

#[test]
fn it_finds_repeated_plots() {
    let Some(made) = evaluation() else { return };
    let found =
        made.diagnosis.iter().find(|d| d.output == "repetition" && d.error == "repeated plots");
    let found = found.unwrap();
    assert!(found.auc >= 0.80 && found.auc_reasonable >= 0.90, "{found:?}");
}

#[test]
fn it_ranks_the_paper_s_examples_at_least_as_well_as_the_paper_s_baselines() {
    let Some(made) = evaluation() else { return };
    assert_eq!(made.examples.len(), 2);
    for table in &made.examples {
        assert!(table.model >= table.best_baseline, "{table:?}");
    }
}

#[test]
fn its_scores_hardly_depend_on_how_a_story_is_written_down() {
    let Some(made) = evaluation() else { return };
    for (variant, spearman) in &made.robustness {
        assert!(*spearman >= 0.9, "{variant}: {spearman}");
    }
}
