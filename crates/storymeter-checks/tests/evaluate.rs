//! The sets that a model is judged on are what the papers say they are.

use storymeter_checks::Result;
use storymeter_checks::evaluate::{
    hanna_machine, other, paper_examples, pooled, union_roc, within_items,
};

fn union_roc_has_the_paper_s_400_stories_and_error_types() -> Result {
    let set = union_roc()?;
    assert_eq!((set.stories.len(), set.human.len()), (400, 400));
    let counted = |error: usize| set.answers.iter().filter(|answers| answers[error] >= 3).count();
    // Table 7: repeated plots, bad coherence, conflicting logic, chaotic scenes.
    assert_eq!([1, 2, 3, 4].map(counted), [24, 38, 61, 23]);
    assert_eq!(set.answers.iter().filter(|answers| answers[0] == 7).count(), 19);
    for (human, answers) in set.human.iter().zip(&set.answers) {
        assert_eq!(*human, answers[0] as f64 / 7.0);
    }
    Ok(())
}

fn the_other_sets_and_hanna_have_their_stories() -> Result {
    let sets = other()?;
    let sizes: Vec<usize> = sets.iter().map(|set| set.stories.len()).collect();
    assert_eq!(sizes, [120, 80, 120, 80, 200, 200, 300]);
    assert!(
        sets.iter().flat_map(|set| &set.criteria).all(|(_, v)| v.iter().all(|x| x.is_finite()))
    );
    let hanna = hanna_machine()?;
    assert_eq!(hanna.stories.len(), 480);
    assert_eq!(hanna.criteria.len(), 7, "six and their mean");
    Ok(())
}

fn the_paper_s_examples_are_read_with_its_baselines() -> Result {
    let [(_, first), (_, tenth)] = paper_examples()?;
    assert_eq!(first.iter().map(|e| e.reasonable).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(first[1].baselines, [0.14, 0.27]);
    assert!(first.iter().all(|e| e.text.starts_with("Jack was at the bar. ")));
    assert_eq!(tenth.iter().filter(|e| e.reasonable).count(), 1);
    assert!(
        tenth[0].text.starts_with("[MALE] had joined the volunteer fire department. His first day")
    );
    assert!(tenth.iter().all(|e| !e.text.contains('(')), "no error type after a story");
    Ok(())
}

fn correlation_within_items_does_not_see_differences_between_them() -> Result {
    // Perfect within each item, opposite between them.
    let scores = [1.0, 2.0, 3.0, 11.0, 12.0, 13.0];
    let human = [4.0, 5.0, 6.0, 1.0, 2.0, 3.0];
    let items: Vec<String> = ["a", "a", "a", "b", "b", "b"].map(String::from).to_vec();
    assert!((within_items(&scores, &human, &items).pearson.value - 1.0).abs() < 1e-12);
    assert!(pooled(&scores, &human).pearson.value < 0.0);
    Ok(())
}

storymeter_checks::checks!(
    union_roc_has_the_paper_s_400_stories_and_error_types,
    the_other_sets_and_hanna_have_their_stories,
    the_paper_s_examples_are_read_with_its_baselines,
    correlation_within_items_does_not_see_differences_between_them,
);
