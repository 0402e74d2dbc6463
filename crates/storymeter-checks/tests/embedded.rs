//! What the embedded model must achieve on the shared data.

use std::sync::LazyLock;

use storymeter::union::{Agreement, Scorer};
use storymeter_checks::Result;
use storymeter_checks::evaluate::{Evaluation, report};

/// The report on the embedded model, which is made once.
fn evaluation() -> Result<&'static Evaluation> {
    static MADE: LazyLock<Result<Evaluation>> = LazyLock::new(|| report(&Scorer::embedded()?));
    MADE.as_ref().map_err(Clone::clone)
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

fn it_agrees_with_the_readers_of_union_roc() -> Result {
    let made = evaluation()?;
    let row = row(made, "union_roc all", "reasonable", "pooled", "union");
    assert!(row.pearson.value >= 0.33, "{row:?}");
    assert!(row.spearman.value >= 0.40, "{row:?}");
    assert!(row.kendall.value >= 0.28, "{row:?}");
    Ok(())
}

fn it_agrees_better_with_hanna_s_coherence_than_repetition_does() -> Result {
    let made = evaluation()?;
    for level in ["story", "pooled"] {
        let by = |metric: &str| row(made, "hanna first 48 prompts", "coherence", level, metric);
        let (union, repetition) = (by("union"), by("repetition-3"));
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
    Ok(())
}

fn it_finds_repeated_plots() -> Result {
    let made = evaluation()?;
    let found =
        made.diagnosis.iter().find(|d| d.output == "repetition" && d.error == "repeated plots");
    let found = found.unwrap();
    assert!(found.auc >= 0.80 && found.auc_reasonable >= 0.90, "{found:?}");
    Ok(())
}

fn it_ranks_the_paper_s_examples_at_least_as_well_as_the_paper_s_baselines() -> Result {
    let made = evaluation()?;
    assert_eq!(made.examples.len(), 2);
    for table in &made.examples {
        assert!(table.model >= table.best_baseline, "{table:?}");
    }
    Ok(())
}

fn its_scores_hardly_depend_on_how_a_story_is_written_down() -> Result {
    let made = evaluation()?;
    assert_eq!(made.robustness.len(), 5);
    for (variant, spearman) in &made.robustness {
        assert!(*spearman >= 0.9, "{variant}: {spearman}");
    }
    Ok(())
}

storymeter_checks::checks!(
    it_agrees_with_the_readers_of_union_roc,
    it_agrees_better_with_hanna_s_coherence_than_repetition_does,
    it_finds_repeated_plots,
    it_ranks_the_paper_s_examples_at_least_as_well_as_the_paper_s_baselines,
    its_scores_hardly_depend_on_how_a_story_is_written_down,
);
